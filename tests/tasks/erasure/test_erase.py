"""What is erased is gone from every byte of a home, and stays provable; whatever needs a text says that it was erased."""

from __future__ import annotations

import asyncio
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from sqlalchemy import Connection, delete, update

from schemas.errors import GateError, UsageError
from schemas.settings import Settings
from tasks.bank_exchange.records import export_run_records
from tasks.claims import claim_work
from tasks.edition_exchange.sittings import iter_sittings, read_edition
from tasks.editions.publish import Revision
from tasks.editions.roots import publish_and_keep_root
from tasks.editions.verify import find_changed_editions
from tasks.erasure.erase import erase_texts, finish_erasures, land_erasures
from tasks.erasure.scope import Scope, find_due_runs, plan_erasure
from tasks.exam.landing import land_run
from tasks.exam.log.check import check_log
from tasks.exam.public.check import check_public_log
from tasks.exam.public.verifier import verify
from tasks.judging.landing import judge_landed, read_put_responses
from tasks.progress import Progress
from tasks.watching.answers import list_answers, read_answer, read_excerpts
from tasks.watching.runs import find_run
from tests.fresh import open_new_lake
from tests.second_verifier.verify import verify as verify_again
from tests.tasks.erasure.conftest import JUDGE, LATER, MARKERS, find_marked, hold_home
from tests.tasks.exam.world import MONTH
from warehouse.lake.integrity import check_landings
from warehouse.lake.store import Lake, open_lake
from warehouse.ledger import editions
from warehouse.ledger import tables as t
from warehouse.ledger.engine import Ledger, open_ledger
from warehouse.ledger.public_log import read_public_entries

ROOT = Path(__file__).parents[3]
RUN = MONTH
CHECKS = (
    "what_was_erased_has_no_text",
    "no_answer_is_without_its_text_unless_it_was_erased",
    "landings_count_their_rows",
)


def erase(settings: Settings, scope: Scope | None = None, **values: Any) -> Any:
    given = {"reason": "kept long enough", "erased_by": "cora", "now": LATER, **values}
    return erase_texts(settings, scope or Scope(month=MONTH), **given)


@pytest.fixture(scope="module")
def erased_home(judged_home: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The home with its month erased; only read or copied."""
    home = tmp_path_factory.mktemp("erased") / "home"
    erase(hold_home(judged_home, home))
    return home


@pytest.fixture
def erased(erased_home: Path, tmp_path: Path) -> Settings:
    return hold_home(erased_home, tmp_path / "home")


def read_faults(settings: Settings) -> set[str]:
    with open_ledger(settings.ledger_address) as ledger:
        found = {finding.name for finding in check_log(ledger, settings).findings}
        return found | {finding.name for finding in check_public_log(ledger, settings).findings}


def test_no_byte_of_a_home_holds_what_was_erased(settings: Settings) -> None:
    """Answers, reasoning, reasons and replies that quote them, cached replies, bounds of columns in the lake's catalog."""
    before = find_marked(settings)
    assert {place.split(": ")[0] for place in before} >= {
        "ledger.sqlite",
        "ledger.exam.sqlite",
        "lake/catalog.sqlite",
        "table responses",
        "table judgements",
    }
    assert {marker for marker in MARKERS if any(marker in place for place in before)} == set(MARKERS)
    done = erase(settings)
    assert [(one.run_id, one.session_count, one.answer_count) for one in done.erasures] == [(RUN, 3, 18)]
    assert find_marked(settings) == []


def test_what_was_erased_is_still_proven(erased: Settings, erased_home: Path, judged_home: Path) -> None:
    assert read_faults(erased) == set()
    with open_ledger(erased.ledger_address) as ledger, open_lake(erased) as lake:
        (erasure,) = check_log(ledger, erased).erasures
        assert (erasure.erased_by, erasure.reason, erasure.cause) == ("cora", "kept long enough", "policy")
        assert [lake.run_named(name).height for name in CHECKS] == [0, 0, 0]
        assert check_landings(lake).changed == []
        with ledger.read() as connection:
            (entry,) = read_public_entries(connection, RUN, ("erasure",))
            roots = editions.read_roots(connection)
        assert find_changed_editions(lake, roots) == []
    body = entry.body
    assert (body["sessions"], body["session_count"], body["answer_count"]) == (None, 3, 18)
    found = verify(str(erased.home / "public"))
    assert found.faults == []
    assert any("the texts of 18 answers were erased" in note for note in found.notes)
    assert verify_again(erased.home / "public") == []
    for folder in ("runs", "editions", "banks"):
        for path in sorted((judged_home / "public" / folder).rglob("*")):
            if path.is_file():
                place = path.relative_to(judged_home)
                assert (erased_home / place).read_bytes() == path.read_bytes(), place


def test_an_edition_that_is_computed_again_has_the_same_numbers_and_roots(erased: Settings) -> None:
    with open_ledger(erased.ledger_address) as ledger, open_lake(erased) as lake:
        again = Revision(reason="computed again after the erasure")
        assert publish_and_keep_root(ledger, lake, erased, RUN, again).edition_id == f"{RUN}/2"
        for table in ("edition_scores", "edition_pairs", "edition_stars", "edition_sessions"):
            drawn = lake.query(
                f"select * exclude (edition_id, landing_unit), edition_id as of_edition from {table}"
            )
            first, second = (
                drawn.filter(pl.col("of_edition") == f"{RUN}/{number}").drop("of_edition")
                for number in (1, 2)
            )
            names = [name for name in first.columns if name != "revision"]
            assert not first.is_empty() or table == "edition_pairs"
            assert first.select(names).sort(names[:6]).equals(second.select(names).sort(names[:6])), table
        with ledger.read() as connection:
            first_body, second_body = (
                entry.body for entry in read_public_entries(connection, RUN, ("edition",))
            )
        for name in ("answers_root", "judgements_root"):
            assert first_body[name] == second_body[name]
    assert verify(str(erased.home / "public")).faults == []


def test_who_needs_a_text_hears_that_it_was_erased(erased: Settings, tmp_path: Path) -> None:
    today = datetime.now(UTC).strftime("%Y-%m-%d")
    with open_ledger(erased.ledger_address) as ledger, open_lake(erased) as lake:
        sessions = lake.query("select session_id from sessions")["session_id"].to_list()
        with pytest.raises(UsageError, match=f"were erased on {today}"):
            read_put_responses(lake, sessions, [MONTH])
        questions = lake.query("select * from bank where bank_version = 1")
        with pytest.raises(UsageError, match="were erased on"):
            export_run_records(lake, questions, RUN, tmp_path / "records.jsonl")
        sitting = next(iter_sittings(lake, read_edition(lake, RUN), with_answers=True))
        assert {sample.answer["response"] for sample in sitting.samples} == {f"(erased on {today})"}
        assert {sample.reason for sample in sitting.samples} == {None}
        assert {sample.score_status for sample in sitting.samples} == {"scored"}
        run = find_run(ledger, lake, RUN)
        assert run is not None
        lines = list_answers(ledger, lake, run, "alpha")
        excerpt = read_excerpts(ledger, lake, run, lines)[lines[0].key]
        assert (excerpt.answer, excerpt.erased_at is None) == ("", False)
        whole = read_answer(ledger, lake, run, lines[0], with_reference=True)
        assert whole.response is not None
        assert (whole.response["response"], whole.response["erased_at"] is None) == (None, False)
        assert [one["stars"] is None for one in whole.judgements] == [False]
        shown = lake.query("select response, answer_status, erased_at from current_responses")
        assert shown["response"].null_count() == shown.height == 18
        assert shown["erased_at"].null_count() == 0


def test_nothing_erased_is_judged_again_as_an_empty_answer(
    erased: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    from tests.tasks.exam.world import make_model, make_registry

    registry = make_registry(replace(make_model("another", roles=("judge",)), name="another"))
    monkeypatch.setattr("tasks.judging.landing.read_registry", lambda _: registry)
    with open_ledger(erased.ledger_address) as ledger, open_lake(erased) as lake:
        with Progress("judge") as progress, pytest.raises(UsageError, match="were erased on"):
            asyncio.run(judge_landed(ledger, lake, erased, RUN, progress))
        with Progress("judge") as progress:
            assert asyncio.run(judge_landed(ledger, lake, erased, None, progress)).judged == 0
        assert lake.query("select distinct judge from judgements")["judge"].to_list() == [JUDGE]


def test_a_lake_that_was_lost_or_is_older_knows_of_the_erasure(erased: Settings, judged_home: Path) -> None:
    elsewhere = erased.model_copy(update={"home": erased.home / "new"})
    with open_ledger(erased.ledger_address) as ledger, open_new_lake(elsewhere) as lake:
        land_run(ledger, lake, RUN)
        assert land_erasures(ledger, lake) == {"erasures": 3}
        assert land_erasures(ledger, lake) == {}
        rows = lake.query("select distinct response, reasoning, answer, answer_status from responses").rows()
        assert rows == [(None, None, None, "answered")]
        assert [lake.run_named(name).height for name in CHECKS] == [0, 0, 0]
    # A lake of before the erasure, beside a ledger of after it.
    older = hold_home(judged_home, erased.home / "older")
    with open_ledger(erased.ledger_address) as ledger, open_lake(older) as lake:
        land_erasures(ledger, lake)
        assert lake.run_named(CHECKS[0]).height == 36
    both = older.model_copy(update={"ledger_url": _secret(erased.ledger_address)})
    finish_erasures(both, every=True)
    with open_lake(both) as lake:
        assert lake.run_named(CHECKS[0]).height == 0


def _secret(url: str) -> Any:
    from pydantic import SecretStr

    return SecretStr(url)


def test_a_candidate_takes_its_answers_back_and_the_policy_takes_the_rest(settings: Settings) -> None:
    (first,) = erase(settings, Scope(model="alpha"), reason="alpha's owner asked for it").erasures
    assert (first.cause, first.session_count, first.answer_count) == ("withdrawal", 1, 6)
    with open_lake(settings) as lake:
        left = lake.query("select distinct model from responses where response is not null order by 1")
        assert left["model"].to_list() == ["beta", "rho"]
        assert set(lake.query("select distinct model from judgements where reason is null")["model"]) == {
            "alpha"
        }
        keeping = settings.model_copy(update={"keep_raw_months": 12})
        assert find_due_runs(lake, settings, LATER) == ()
        assert find_due_runs(lake, keeping, datetime.now(UTC) + timedelta(days=300)) == ()
        due = find_due_runs(lake, keeping, LATER)
    assert due == (RUN,)
    (second,) = erase(settings, Scope(run_ids=due)).erasures
    assert (second.cause, second.session_count) == ("policy", 2)
    with pytest.raises(UsageError, match="no text left to erase"):
        erase(settings, Scope(run_ids=due))
    with open_ledger(settings.ledger_address) as ledger, ledger.read() as connection:
        bodies = [entry.body for entry in read_public_entries(connection, RUN, ("erasure",))]
    assert [body["sessions"] is None for body in bodies] == [False, True]
    assert verify(str(settings.home / "public")).faults == []
    assert (verify_again(settings.home / "public"), read_faults(settings)) == ([], set())
    assert find_marked(settings) == []


Tampering = Callable[[Connection], Any]
TAMPERED: dict[str, tuple[Tampering, str]] = {
    "a text that was put back": (
        lambda c: c.execute(update(t.responses).values(response="another")),
        "answer_restored",
    ),
    "reasoning that was put back": (
        lambda c: c.execute(update(t.responses).values(reasoning="another")),
        "answer_restored",
    ),
    "a cost that was changed afterwards": (
        lambda c: c.execute(update(t.responses).values(cost_usd=9.0)),
        "answer_account_changed",
    ),
    "a hash of a text that was never given": (
        lambda c: c.execute(update(t.erased_answers).values(answer_hash="ab" * 32)),
        "answer_changed",
    ),
    "an erasure in another's name": (
        lambda c: c.execute(update(t.erasures).values(erased_by="xu")),
        "erasure_changed",
    ),
    "an erasure for another reason": (
        lambda c: c.execute(update(t.erasures).values(reason="none")),
        "erasure_changed",
    ),
    "an answer left out of the erasure": (
        lambda c: c.execute(delete(t.erased_answers).where(t.erased_answers.c.seq == 1)),
        "answer_changed",
    ),
    "an erasure that is gone": (
        lambda c: (c.execute(delete(t.erasures)), c.execute(delete(t.erased_answers))),
        "erasure_missing",
    ),
}


def test_every_tampering_with_what_was_erased_is_found(erased: Settings) -> None:
    class Undone(Exception):
        """The tampering is looked at and taken back."""

    from tasks.exam.log.check import check_ledger

    with open_ledger(erased.ledger_address) as ledger:
        for name, (tamper, expected) in TAMPERED.items():
            with pytest.raises(Undone), ledger.write() as connection:
                tamper(connection)
                assert expected in {one.name for one in check_ledger(connection).findings}, name
                raise Undone


def test_a_text_that_is_nulled_without_an_erasure_is_found(settings: Settings) -> None:
    with open_ledger(settings.ledger_address) as ledger:
        one = t.responses.c.seq == 1
        with ledger.write() as connection:
            connection.execute(update(t.responses).where(one).values(response=""))
        assert read_faults(settings) == {"answer_changed"}
        # Nor is it believed because somebody writes that it was.
        with ledger.write() as connection:
            session = connection.execute(t.responses.select().where(one)).first().session_id  # type: ignore[union-attr]
            connection.execute(
                t.erased_answers.insert().values(
                    session_id=session, seq=1, erasure_id="x", answer_hash="ab" * 32, kept_digest="ab" * 32
                )
            )
        assert "answer_changed" in read_faults(settings)
    # An erasure now would erase the evidence.
    with pytest.raises(GateError, match="is not as the audit log has it"):
        erase(settings)


def test_what_is_under_way_or_can_be_objected_to_is_refused(settings: Settings) -> None:
    def plan(ledger: Ledger, lake: Lake, now: datetime = LATER) -> Any:
        return plan_erasure(ledger, lake, settings, Scope(month=MONTH), now=now)

    with open_ledger(settings.ledger_address) as ledger, open_lake(settings) as lake:
        (run,) = plan(ledger, lake)
        assert (run.answer_count, run.editions, set(run.tables)) == (
            18,
            (f"{RUN}/1",),
            {"ledger", "responses", "judgements"},
        )
        assert run.tables["responses"][0] == run.tables["judgements"][0] == 18
        with pytest.raises(GateError, match="can be objected to until"):
            plan(ledger, lake, datetime.now(UTC))
        with (
            claim_work(ledger, "judge", RUN, what="judging"),
            pytest.raises(GateError, match="is being read"),
        ):
            plan(ledger, lake)
        with ledger.write() as connection:
            connection.execute(update(t.runs).values(status="open"))
        with pytest.raises(GateError, match="is not closed"):
            plan(ledger, lake)
        with ledger.write() as connection:
            connection.execute(update(t.runs).values(status="closed"))
            connection.execute(delete(t.public_log).where(t.public_log.c.kind == "disclose"))
        with pytest.raises(GateError, match="not disclosed yet"):
            plan(ledger, lake)
    with pytest.raises(UsageError, match="give --reason"):
        erase(settings, reason=" ")
    assert find_marked(settings) != []


class Killed(BaseException):
    """The process ends here."""


@pytest.mark.parametrize("place", ["ledger", "files"])
def test_killed_in_the_middle_it_is_finished_by_doing_it_again(settings: Settings, place: str) -> None:
    def be_killed(step: str) -> None:
        if step.startswith(place):
            raise Killed

    with pytest.raises(Killed):
        erase(settings, step=be_killed)
    assert read_faults(settings) == set()
    with pytest.raises(UsageError, match="no text left"):
        erase(settings)
    (done,) = finish_erasures(settings).erasures
    assert done.finished_at is not None
    assert finish_erasures(settings).erasures == ()
    assert (find_marked(settings), read_faults(settings)) == ([], set())


KILLED = """
import os, signal, sys
from tests.tasks.erasure.conftest import LATER, settings_of
from tasks.erasure.erase import erase_texts
from tasks.erasure.scope import Scope

left = int(sys.argv[2])
def step(name):
    global left
    left -= 1
    if left < 0:
        os.kill(os.getpid(), signal.SIGKILL)
erase_texts(settings_of(sys.argv[1]), Scope(month="2026-11"), reason="r", erased_by="cora", now=LATER, step=step)
"""


@pytest.mark.long
@pytest.mark.parametrize("steps", range(5))
def test_killed_for_good_after_any_step_nothing_is_doubled(settings: Settings, steps: int) -> None:
    done = subprocess.run(
        [sys.executable, "-c", KILLED, str(settings.home), str(steps)],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert done.returncode == -signal.SIGKILL, done.stderr[-2000:]
    finish_erasures(settings)
    with open_lake(settings) as lake:
        assert lake.query("select count(*) as n from erasures")["n"][0] == 3
        assert lake.query("select count(*) as n from responses")["n"][0] == 18
        assert check_landings(lake).changed == []
    assert (find_marked(settings), read_faults(settings)) == ([], set())
    assert verify(str(settings.home / "public")).faults == []
