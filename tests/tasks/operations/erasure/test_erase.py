"""What is erased is gone from every byte of a home, and stays provable."""

from __future__ import annotations

import asyncio
import shutil
import socket
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from sqlalchemy import Connection, delete, func, select, update

from deployments.flow_runs import run_flow
from schemas.errors import GateError, UsageError
from schemas.ledger.engine import Backup, Job
from schemas.settings import Settings, load_settings
from tasks.bank.exchange import export_run_records
from tasks.editions import find_changed_editions
from tasks.exam.closed import find_changed_sessions
from tasks.exam.log import check_log
from tasks.exchange.editions import iter_sittings, read_edition
from tasks.models import CALL
from tasks.operations.erasure.scope import Scope, plan_erasure
from tasks.running import Progress
from tasks.running.claiming import claim_work
from tasks.watching import find_run
from tasks.watching.answers import list_answers, read_answer, read_excerpts
from tests.deployments.test_cli import invoke
from tests.second_verifier.verify import verify as verify_again
from tests.tasks.editions.kit import freeze_edition, prove_edition, read_basis
from tests.tasks.exam.kit import verify
from tests.tasks.exam.world import MONTH, make_bank, make_model, make_registry, publish
from tests.tasks.judging.calibration.watching import estimate_watch, read_sets, watch_judges
from tests.tasks.judging.kit import judge_landed, read_put_responses
from tests.tasks.operations.erasure.conftest import (
    CHECKS,
    JUDGE,
    LATER,
    MARKERS,
    erase,
    find_marked,
    hold_home,
    read_faults,
)
from warehouse.lake import Lake, open_lake
from warehouse.lake.upkeep import check_landings
from warehouse.ledger.engine import tables as t
from warehouse.ledger.engine.copies.backups import note_backup
from warehouse.ledger.engine.leases.clock import Time
from warehouse.ledger.engine.leases.jobs import hold_job, list_jobs
from warehouse.ledger.engine.leases.processes import name_host, open_lease
from warehouse.ledger.engine.ledger import Ledger
from warehouse.ledger.engine.logs.public_log import read_public_entries
from warehouse.ledger.engine.opening import open_ledger
from warehouse.ledger.trust import editions
from warehouse.ledger.trust.erasures import list_borrowers, list_run_sessions

RUN = MONTH


@pytest.fixture(scope="module")
def erased_home(judged_home: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The home with its month erased by the command; only read or copied."""
    home = tmp_path_factory.mktemp("erased") / "home"
    hold_home(judged_home, home)
    named = ("--month", MONTH, "--reason", "kept long enough", "--as", "cora", "--yes")
    done = invoke(home, "erase", *named, PROCTOR_OBJECTION_DAYS="0")
    assert done.exit_code == 0, done.output
    return home


@pytest.fixture
def erased(erased_home: Path, tmp_path: Path) -> Settings:
    return hold_home(erased_home, tmp_path / "home")


def test_no_byte_of_a_home_holds_what_was_erased(erased: Settings, judged_home: Path, tmp_path: Path) -> None:
    """No byte of what was erased remains in the home.

    This covers answers, reasoning, reasons and replies that quote them, cached replies, and bounds of columns in
    the lake's catalog.
    """
    before = find_marked(hold_home(judged_home, tmp_path / "before"))
    assert {place.split(": ")[0] for place in before} >= {
        "ledger.sqlite",
        "ledger.exam.sqlite",
        "lake/catalog.sqlite",
        "table responses",
        "table judgements",
        "table error_labels",
        "table quarantine",
    }
    assert {marker for marker in MARKERS if any(marker in place for place in before)} == set(MARKERS)
    assert find_marked(erased) == []
    with open_lake(erased, read_only=True) as lake:
        # What was put aside is still counted, and says which row it was.
        (aside,) = lake.query("select row_key, row_json from quarantine").rows()
        assert aside[0] == aside[1]
    with open_ledger(erased.ledger_address) as ledger, ledger.read() as connection:
        assert connection.scalar(select(func.count()).where(t.llm_calls.c.reply.is_not(None))) == 0


def test_what_was_erased_is_still_proven(erased: Settings, erased_home: Path, judged_home: Path) -> None:
    assert read_faults(erased) == set()
    with open_ledger(erased.ledger_address) as ledger, open_lake(erased) as lake:
        (erasure,) = check_log(ledger, erased).erasures
        assert (erasure.erased_by, erasure.reason, erasure.cause) == ("cora", "kept long enough", "policy")
        assert [lake.run_named(name).height for name in CHECKS] == [0, 0, 0]
        assert (check_landings(lake).changed, find_changed_sessions(ledger, lake)) == ([], [])
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
    """Its root is over every number of it; its public files have the hash of every answer."""
    folder = erased.home / "public" / "editions" / f"{RUN}-1"
    files = {path.name: path.read_bytes() for path in folder.iterdir()}
    with open_ledger(erased.ledger_address) as ledger, open_lake(erased) as lake:
        (published,) = lake.read("run_revisions").iter_rows(named=True)
        basis = read_basis(lake.read, RUN, erased.disciplines)
        edition = freeze_edition(lake.read, basis, now=published["published_at"])
        assert edition.frames["edition_scores"].height > 0
        assert edition.frames["editions"]["root_hash"].to_list() == [published["root_hash"]]
        shutil.rmtree(folder)
        assert prove_edition(ledger, lake, erased, published) is not None
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == files


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
        run = find_run(ledger, lake, RUN, None)
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


def test_a_month_goes_on_without_the_anchor_responses_that_were_erased(
    erased: Settings, judged_home: Path, tmp_path: Path
) -> None:
    from tests.tasks.exam.world import make_registry

    with open_ledger(erased.ledger_address) as ledger, open_lake(erased) as lake:
        told = asyncio.run(watch_judges(ledger, lake, erased, make_registry(), "2027-01"))
        assert (told.judged, str(told.failure).partition(",")[0]) == (
            0,
            "The texts of all responses of the anchor set 'anchors' were erased",
        )
        assert estimate_watch(lake, erased, make_registry(), "2027-01") == []
        one = lake.query("select * exclude landing_unit from erasures limit 1")
    # Where a part of the set was erased, the rest of it is judged.
    with open_lake(hold_home(judged_home, tmp_path / "other")) as lake:
        gone = str(one["session_id"][0])
        pool = lake.query("select * exclude landing_unit from anchor_responses")
        rows = [pool.with_columns(session_id=pl.lit(name)) for name in (gone, "another")]
        lake.land("anchor_responses", "anchors", pl.concat(rows))
        lake.land("erasures", str(one["erasure_id"][0]), one)
        assert read_sets(lake)["anchors"]["session_id"].to_list() == ["another"]


Tampering = Callable[[Connection], Any]
TAMPERED: dict[str, tuple[Tampering, str]] = {
    "a text that was put back": (lambda c: c.execute(update(t.responses).values(response="another")), "answer_restored"),
    "reasoning that was put back": (lambda c: c.execute(update(t.responses).values(reasoning="another")), "answer_restored"),
    "a cost that was changed afterwards": (lambda c: c.execute(update(t.responses).values(cost_usd=9.0)), "answer_account_changed"),
    "a hash of a text that was never given": (
        lambda c: c.execute(update(t.erased_answers).values(answer_hash="ab" * 32)),
        "answer_changed",
    ),
    "an erasure in another's name": (lambda c: c.execute(update(t.erasures).values(erased_by="xu")), "erasure_changed"),
    "an erasure for another reason": (lambda c: c.execute(update(t.erasures).values(reason="none")), "erasure_changed"),
    "an answer left out of the erasure": (
        lambda c: c.execute(delete(t.erased_answers).where(t.erased_answers.c.seq == 1)),
        "answer_changed",
    ),
    "an erasure that is gone": (lambda c: (c.execute(delete(t.erasures)), c.execute(delete(t.erased_answers))), "erasure_missing"),
}  # fmt: skip


def test_every_tampering_with_what_was_erased_is_found(erased: Settings) -> None:
    class Undone(Exception):
        """The tampering is looked at and taken back."""

    from tests.tasks.exam.kit import check_ledger

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
            {"ledger", "responses", "judgements", "error_labels"},
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


def test_a_kill_between_the_two_files_leaves_no_call_that_nothing_says_was_erased(
    settings: Settings, tmp_path: Path
) -> None:
    """The ledger's file is committed before the exam's, and a full disk may refuse that alone."""

    def be_killed(_: str) -> None:
        raise Killed

    def read_replies() -> set[str]:
        with open_ledger(settings.ledger_address) as ledger, ledger.read() as connection:
            query = select(t.llm_calls.c.call_key).where(t.llm_calls.c.reply.is_not(None))
            return set(connection.execute(query).scalars())

    file = settings.home / "ledger.exam.sqlite"
    before = read_replies()
    shutil.copyfile(file, tmp_path / "exam.sqlite")
    with pytest.raises(Killed):
        erase(settings, step=be_killed)
    shutil.copyfile(tmp_path / "exam.sqlite", file)
    assert (read_replies(), read_faults(settings)) == (before, set())
    assert len(erase(settings).erasures) == 1
    assert (find_marked(settings), read_faults(settings)) == ([], set())


def plan_gamma(
    ledger: Ledger, settings: Settings, month: str, *, newcomer: str = "gamma", **wishes: Any
) -> Any:
    """A month of a newcomer alone, on the set that the reference has answered in `MONTH`."""
    rho = make_model("rho", roles=("candidate", "reference"))
    models = (make_model(name) for name in ("alpha", "beta", "gamma", "delta"))
    registry = make_registry(*models, rho)
    return publish(ledger, settings, registry, make_bank(), month=month, candidates=(newcomer,), **wishes)


def test_what_a_later_run_borrows_of_the_reference_is_kept_as_long_as_what_is_its_own(
    settings: Settings,
) -> None:
    with open_ledger(settings.ledger_address) as ledger, open_lake(settings) as lake:
        assert {one.model for one in plan_gamma(ledger, settings, "2026-12").sessions} == {"gamma"}
        with pytest.raises(GateError, match="Run 2026-12 rests on what rho answered in run 2026-11"):
            plan_erasure(ledger, lake, settings, Scope(month=MONTH), now=LATER)
        # Of the others nothing is borrowed.
        plan_erasure(ledger, lake, settings, Scope(model="alpha"), now=LATER)
        # A month that nobody sat is never published: nothing waits for it once it is closed.
        with ledger.write() as connection:
            later = update(t.runs).where(t.runs.c.run_id == "2026-12")
            connection.execute(later.values(status="closed"))
        plan_erasure(ledger, lake, settings, Scope(month=MONTH), now=LATER)


def test_a_run_in_which_the_reference_sat_rests_on_no_answers_of_another_run(settings: Settings) -> None:
    """Neither the month before nor the one with all answered again keeps the other."""
    with open_ledger(settings.ledger_address) as ledger:
        later = plan_gamma(ledger, settings, "2026-12", is_reference_renewed=True)
        assert {one.model for one in later.sessions} == {"gamma", "rho"}
        with ledger.write() as connection:
            connection.execute(update(t.sessions).values(status="closed"))
        with ledger.read() as connection:
            for run_id in (MONTH, "2026-12"):
                own = [one.session_id for one in list_run_sessions(connection, run_id)]
                assert list_borrowers(connection, own) == {}


def test_a_run_that_is_due_and_must_wait_keeps_nothing_else_from_being_done(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The deployment says what waits, and closed runs leave the ledger as on any other day."""
    with open_ledger(settings.ledger_address) as ledger:
        plan_gamma(ledger, settings, "2026-12")
    for name, value in (("HOME", str(settings.home)), ("KEEP_RAW_MONTHS", "12"), ("NO_SERVER", "1")):
        monkeypatch.setenv(f"PROCTOR_{name}", value)
    for module in ("erasure.scope", "erasure.erase", "archiving.archive"):
        monkeypatch.setattr(f"tasks.operations.{module}.read_time", lambda _: Time(LATER.timestamp()))
    load_settings.cache_clear()
    done = run_flow("erase", without_server=True)
    assert (done["due"], done["erased"], done["archived"]) == (1, 0, 1)


def test_the_reference_answers_a_set_again_when_its_answers_were_erased(erased: Settings) -> None:
    """Another judge could not be asked about them, and R would rest on the candidates alone."""
    with open_ledger(erased.ledger_address) as ledger:
        assert {one.model for one in plan_gamma(ledger, erased, "2026-12").sessions} == {"gamma", "rho"}


def test_what_was_answered_before_what_was_erased_serves_no_run_again(settings: Settings) -> None:
    """Editions read the last sitting before a run, and none before that one."""
    with open_ledger(settings.ledger_address) as ledger, ledger.write() as connection:
        sat = select(t.sessions).where(t.sessions.c.model == "rho")
        first = dict(connection.execute(sat).mappings().one())
        run = dict(connection.execute(select(t.runs)).mappings().one())
        connection.execute(t.runs.insert(), run | {"run_id": "earlier", "month": "2026-10"})
        connection.execute(
            t.sessions.insert(),
            first | {"session_id": "s-earlier", "run_id": "earlier", "answered_count": 0},
        )
        moved = update(t.runs).where(t.runs.c.run_id == "earlier")
        connection.execute(moved.values(planned_at="2026-10-01T00:00:00.000000+00:00"))
    erase(settings, Scope(month=MONTH))
    with open_ledger(settings.ledger_address) as ledger:
        assert {one.model for one in plan_gamma(ledger, settings, "2026-12").sessions} == {"gamma", "rho"}


def test_what_the_policy_is_about_to_erase_is_not_borrowed_by_one_run_after_the_other(
    settings: Settings,
) -> None:
    keeping = settings.model_copy(update={"keep_raw_months": 12})
    with open_ledger(settings.ledger_address) as ledger:
        assert {one.model for one in plan_gamma(ledger, keeping, "2026-12").sessions} == {"gamma"}
        with ledger.write() as connection:
            connection.execute(update(t.runs).values(planned_at="2020-01-01T00:00:00.000000+00:00"))
        delta = plan_gamma(ledger, keeping, "2027-01", newcomer="delta")
        assert {one.model for one in delta.sessions} == {"delta", "rho"}


def test_a_call_whose_process_was_killed_is_erased_with_the_answer_that_it_shows(settings: Settings) -> None:
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    asked = {"request": {"messages": [{"role": "user", "content": MARKERS[0]}]}}
    with open_ledger(settings.ledger_address) as ledger, ledger.write() as connection:
        open_lease(connection, "killed", host=name_host(), process_id=gone.pid, lease_s=90.0)
        hold_job(connection, Job(kind=CALL, name="a", run_id="drift/autumn/2026-12", details=asked), "killed")
    erase(settings)
    with open_ledger(settings.ledger_address) as ledger, ledger.read() as connection:
        assert list_jobs(connection, CALL) == []
    assert find_marked(settings) == []


def test_only_an_admin_erases_and_only_when_told_to(
    settings: Settings, capfd: pytest.CaptureFixture[str]
) -> None:
    home = settings.home

    def run(*arguments: str, days: int = 0) -> tuple[int, str]:
        done = invoke(home, "erase", *arguments, PROCTOR_OBJECTION_DAYS=str(days))
        return done.exit_code, done.output + capfd.readouterr().out

    kept = Backup(
        backup_id="b1", folder="/mnt/kept/november", host="host-a", begun_at="2026-11-20T10:00:00+00:00"
    )
    # Older than those that were rotated away since, and the one that is there: it is named all the same.
    gone = [
        kept.replace(backup_id=f"c{day}", host=socket.gethostname(), begun_at=f"2026-12-{day}T10:00:00+00:00")
        for day in range(10, 31)
    ]
    with open_ledger(settings.ledger_address) as ledger, ledger.write() as connection:
        for backup in (kept, *gone):
            note_backup(connection, backup)
    code, said = run("--month", MONTH, days=30)
    assert (code, "can be objected to until" in said) == (3, True)
    code, said = run("--model", "alpha")
    assert code == 0, said
    for words in (
        f"Run {MONTH} ({MONTH}/1): 6 answers in 1 session of alpha.",
        "judgements: 6 rows",
        "/mnt/kept/november on host-a, begun 2026-11-20T10:00",
        "Nothing was erased",
    ):
        assert words in said
    # Whoever must erase is not told that it is done where only the name is wrong.
    code, said = run("--model", "alhpa")
    assert (code, "There is no session of candidate alhpa" in said) == (2, True)
    for who in ("", "xu", "nobody"):
        code, said = run("--model", "alpha", "--reason", "they asked", "--as", who, "--yes")
        assert (code, "only an admin erases" in said) == (2, True)
    code, said = run("--model", "alpha", "--as", "cora", "--yes")
    assert (code, "give --reason" in said) == (2, True)
    assert run("--policy")[0] == run()[0] == run("--again", "--month", MONTH)[0] == 2


@pytest.mark.long
def test_the_audit_tells_who_erased_what_and_why(
    erased_home: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    audit = invoke(erased_home, "exam", "audit")
    said = audit.output + capfd.readouterr().out
    assert audit.exit_code == 0
    assert f"18 answers of run {MONTH} were erased on " in said
    assert "by cora (policy): kept long enough" in said
    assert invoke(erased_home, "exam", "audit", MONTH).exit_code == 0
    assert invoke(erased_home, "exam", "verify").exit_code == 0
