"""Control answers go with the responses of a run, land apart, and are asked once."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from tasks.judging import prompts
from tasks.judging.controls import estimate_controls
from tasks.judging.controls.drawing import CONTROL_SHARES
from tasks.judging.controls.landing import RunControls
from tasks.judging.judge import PutResponse, join_questions, judge_responses
from tasks.models import CallFailed, CallReply, CallRequest
from tasks.models.registry import RegisteredModel, read_registry
from tests.tasks.judging.controls.planned import ANSWERS, ASKED, PlannedRun, open_planned_run
from tests.tasks.judging.simulated_run import make_full_bank, make_responses
from tests.tasks.models.simulation import make_model

SOUND = {"agreement": 1.0}
ROOT = Path(__file__).parents[4]


def test_every_judge_of_a_run_is_given_the_same_control_answers_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with open_planned_run(tmp_path / "home", monkeypatch, first_judge=SOUND, next_judge=SOUND) as run:
        first = run.judge()
        assert (first.judged, first.controls, first.failed) == (2 * ANSWERS, 2 * 60, 0)
        rows = run.read_controls()
        kinds = Counter(rows["kind"])
        wished = {kind: 2 * count for kind, count in CONTROL_SHARES.items()}
        # Where by lot too few questions have a wrong option, kinds after it make up for it.
        assert kinds["wrong_option"] <= wished["wrong_option"] and kinds.total() == sum(wished.values())
        assert all(kinds[kind] == wished[kind] for kind in ("reference", "empty"))
        assert all(kinds[kind] >= wished[kind] for kind in wished if kind != "wrong_option")
        of_judge = [
            part.drop("judge", "landing_unit", "raw", "reason") for part in rows.partition_by("judge")
        ]
        assert of_judge[0].equals(of_judge[1])
        assert set(rows["month"]) == {"2026-11"} and rows["is_simulated"].all()
        # An empty answer gets its stars by rule, as a candidate's does; all others are judged.
        by_rule = rows.filter(pl.col("attempt") == 0)
        assert (set(by_rule["kind"]), set(by_rule["stars"])) == ({"empty"}, {0})
        assert min(rows.filter(kind="reference")["stars"]) >= 2
        assert max(rows.filter(pl.col("kind") != "reference")["stars"]) <= 1
        # Of the run's own questions, and in no table of responses or scores.
        own = run.lake.query("select distinct question_uuid from sets")["question_uuid"]
        assert set(rows["question_uuid"]) <= set(own)
        assert run.lake.query("select count(*) from judgements").item() == 2 * ANSWERS
        assert run.server.state.requests == {"first-judge": ANSWERS + ASKED, "next-judge": ANSWERS + ASKED}
        landed = run.lake.query("select max(landed_at) from landings").item()

        for named in ("", None):
            again = run.judge(named)
            assert (again.judged, again.controls, dict(again.calls)) == (0, 0, {})
        assert run.lake.query("select max(landed_at) from landings").item() == landed
        assert run.lake.run_named("landings_count_their_rows").is_empty()
        assert run.lake.run_named("stars_are_null_exactly_when_unparsed").is_empty()
        calls = run.lake.query("select count(*) from llm_calls where purpose = 'judge'").item()
        assert calls == 2 * (ANSWERS + ASKED)


@pytest.mark.long
def test_another_wording_is_given_them_again_beside_the_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with open_planned_run(tmp_path / "home", monkeypatch, first_judge=SOUND) as run:
        run.judge()
        monkeypatch.setattr(prompts, "VERSION", "2")
        monkeypatch.setitem(prompts.PROMPTS, "en", "Mark it. " + prompts.PROMPTS["en"])
        assert run.judge().controls == 60
        rows = run.read_controls()
        parts = rows.with_columns(wording=pl.col("prompt_version").str.head(1)).partition_by("wording")
        assert [part.height for part in parts] == [60, 60]
        drop = ("wording", "prompt_version", "landing_unit")
        assert parts[0].drop(drop).equals(parts[1].drop(drop))


@pytest.mark.long
def test_in_batches_they_lie_among_the_others_and_come_to_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with open_planned_run(tmp_path / "single", monkeypatch, first_judge=SOUND) as run:
        run.judge()
        expected = count_stars(run)
    with open_planned_run(tmp_path / "batch", monkeypatch, {"seconds": 3600}, first_judge=SOUND) as run:
        first = run.judge_in_batches()
        assert (first.judged, first.controls, first.pending) == (0, 0, ANSWERS + ASKED)
        assert run.server.state.batches.created == 1
        run.server.state.batches.traits = replace(run.server.state.batches.traits, seconds=0)
        second = run.judge_in_batches()
        assert (second.judged, second.controls, second.pending) == (ANSWERS, 60, 0)
        assert count_stars(run) == expected


def count_stars(run: PlannedRun) -> Counter[tuple[Any, ...]]:
    """How many of each kind have passed."""
    rows = run.read_controls().select("judge", "kind", pl.col("stars") >= 2, "attempt", "is_simulated")
    return Counter(rows.rows())


KILLED = """
import asyncio, os, signal, sys
from pathlib import Path
from schemas.settings import Settings
from tasks.judging.landing import judge_landed
from tasks.judging import landing
from tasks.judging.controls.landing import RunControls
from tasks.running import Progress
from warehouse.lake.store import open_lake
from warehouse.ledger.engine.opening import open_ledger

def die(*_):
    os.kill(os.getpid(), signal.SIGKILL)

if sys.argv[3] == "before they land":
    RunControls.land = die
else:
    real = RunControls.land
    def land(self, rows):
        real(self, rows)
        die()
    RunControls.land = land
settings = Settings(home=Path(sys.argv[1]), judges=("first-judge",))
with open_ledger(settings.ledger_address) as ledger, open_lake(settings) as lake:
    asyncio.run(judge_landed(ledger, lake, settings, sys.argv[2] or None, Progress("judge")))
"""


@pytest.mark.parametrize(
    "moment", ["before they land", pytest.param("after they landed", marks=pytest.mark.long)]
)
@pytest.mark.long
def test_a_killed_judging_pays_for_no_control_answer_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, moment: str, warm_python: str
) -> None:
    with open_planned_run(tmp_path / "home", monkeypatch, first_judge=SOUND) as run:
        done = subprocess.run(
            [warm_python, "-c", KILLED, str(run.settings.home), run.run_id, moment], cwd=ROOT, env=os.environ
        )
        assert done.returncode == -signal.SIGKILL
        assert run.read_controls().height == (0 if moment == "before they land" else 60)
        # Begun once, they are finished by whoever judges next, whether the run is named or not.
        run.judge(None)
        assert run.read_controls().height == 60
        assert run.lake.query("select count(*) from judgements").item() == ANSWERS
        assert run.server.state.requests["first-judge"] == ANSWERS + ASKED
        assert run.lake.run_named("landings_count_their_rows").is_empty()


def test_none_are_asked_where_none_are_wanted_and_what_was_begun_later_and_lost_is_finished(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with open_planned_run(tmp_path / "home", monkeypatch, first_judge=SOUND) as run:
        registry = read_registry(run.settings.registry_path)

        def estimate(month: str = "2026-12") -> list[dict[str, object]]:
            return estimate_controls(run.lake, run.settings, registry, month, is_simulated=True)

        # 900 tokens at 1 USD and 150 at 2 USD per million; later what judgements have cost.
        told = {"judge": "first-judge", "call_count": ASKED, "cost_usd": pytest.approx(56 * 0.0012)}
        assert estimate() == [told]
        wanted = run.settings
        run.settings = wanted.model_copy(update={"judge_controls": 0})
        unwanted = run.judge()
        assert (unwanted.judged, unwanted.controls, run.read_controls().height) == (ANSWERS, 0, 0)
        run.settings = wanted
        # Nobody pays for what was judged before because no run was named; by naming it they are had.
        assert run.judge(None).controls == 0
        with monkeypatch.context() as patched:
            patched.setattr(RunControls, "land", lambda *_: None)
            named = run.judge()
        assert (named.judged, run.read_controls().height) == (0, 0)
        assert run.judge(None).controls == 60
        assert run.server.state.requests["first-judge"] == ANSWERS + ASKED
        mean = run.lake.query(
            "select avg(cost_usd) from llm_calls where purpose = 'judge' and not starts_with(landing_unit, 'controls/')"
        ).item()
        assert estimate() == [told | {"cost_usd": pytest.approx(56 * mean)}]
        # Of the year before, however much lies behind it.
        assert estimate("2028-01") == [told]
        assert estimate_controls(run.lake, run.settings, registry, "2026-12", is_simulated=False) == []


class Recorder:
    """A client that notes the order of its calls, and can fail at one."""

    def __init__(self, fails_at: str = "") -> None:
        self.asked: list[str] = []
        self.archive = Path()
        self._fails_at = fails_at

    async def complete(self, model: RegisteredModel, request: CallRequest) -> CallReply:
        parts = prompts.extract_judged(request.messages)
        assert parts is not None
        self.asked.append(parts.response)
        await asyncio.sleep(0)
        if self._fails_at and self._fails_at == parts.response:
            raise CallFailed("It failed.", call_key="key", error="500", attempts=1)
        return CallReply("key", '{"stars": 3, "reason": "r"}', None, "stop", "answered", 1, 1, 0.0, 1.0, 1)


def put_controls(count: int) -> list[PutResponse]:
    responses = join_questions(
        make_responses([(f"control {number}", "answered") for number in range(count)]), make_full_bank(count)
    )
    return [
        replace(PutResponse.from_row(row), session_id="controls/run-1")
        for row in responses.iter_rows(named=True)
    ]


async def gather(client: Any, **options: Any) -> list[list[dict[str, object]]]:
    sessions = [
        join_questions(
            make_responses([(f"{name} {number}", "answered") for number in range(20)], session_id=name),
            make_full_bank(20),
        )
        for name in ("s1", "s2")
    ]
    return [
        rows
        async for rows in judge_responses(
            client, [make_model("j", roles=("judge",))], pl.concat(sessions), **options
        )
    ]


def test_they_are_asked_among_the_responses_of_all_sessions() -> None:
    client = Recorder()
    units = asyncio.run(gather(client, mixed_in=put_controls(10)))
    assert [unit[0]["session_id"] for unit in units] == ["s1", "s2", "controls/run-1"] or [
        unit[0]["session_id"] for unit in units
    ] == ["s2", "s1", "controls/run-1"]
    assert [len(unit) for unit in units] == [20, 20, 10]
    places = [place for place, text in enumerate(client.asked) if text.startswith("control")]
    # Five with each session, none of them in a row of all, and responses before, between and after.
    assert [place < 25 for place in places].count(True) == 5
    assert places != list(range(places[0], places[0] + 10))
    own = [text for text in client.asked if not text.startswith("control")]
    assert own == [f"s1 {number}" for number in range(20)] + [f"s2 {number}" for number in range(20)]


def test_one_that_fails_leaves_no_session_unjudged_and_is_reported() -> None:
    from tasks.judging.judge import JudgingIncomplete

    units: list[list[dict[str, object]]] = []

    async def judge() -> None:
        sessions = join_questions(make_responses([("a", "answered")] * 3), make_full_bank(3))
        client: Any = Recorder("control 1")
        async for rows in judge_responses(client, [make_model("j")], sessions, mixed_in=put_controls(4)):
            units.append(rows)

    with pytest.raises(JudgingIncomplete, match="1 of the sessions to judge are incomplete"):
        asyncio.run(judge())
    assert [len(unit) for unit in units] == [3]
