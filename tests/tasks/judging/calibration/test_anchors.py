"""Anchor responses, judged once a month and paid for once.

An alarm keeps the judge from publishing.
"""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from schemas.errors import UsageError
from schemas.settings import Settings
from tasks.judging.calibration.anchors import DriftSummary, draw_anchors, estimate_watch, read_sets
from tasks.models import CallFailed, CallReply, CallRequest, ModelClient
from tasks.models.registry import RegisteredModel, read_registry
from tests.tasks.editions.kit import find_shut_gates, read_basis
from tests.tasks.judging.calibration import watching
from tests.tasks.judging.test_unparsed import QUESTIONS, Room, open_room
from tests.tasks.models.simulation import start_server

STEADY = {"kind": "judge", "agreement": 0.9, "wobble": 0.2}


def watch(room: Room, month: str) -> DriftSummary:
    return watching.watch(room.ledger, room.lake, room.settings, month)


def test_every_judge_is_asked_once_a_month_and_three_times_in_the_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with open_room(tmp_path, monkeypatch, first_judge=STEADY) as room:
        assert watch(room, "2026-10").judges == []
        room.judge()
        asked = room.requests["first-judge"]
        drawn = draw_anchors(room.lake, "run-1", "autumn", size=QUESTIONS)
        assert draw_anchors(room.lake, "run-1", "autumn", size=QUESTIONS).height == drawn.height == QUESTIONS
        with pytest.raises(UsageError, match="There is an anchor set 'autumn' of 10 responses"):
            draw_anchors(room.lake, "run-1", "autumn", size=5)
        registry = read_registry(room.settings.registry_path)
        (cost,) = estimate_watch(room.lake, room.settings, registry, "2026-10")
        assert (cost["judge"], cost["call_count"]) == ("first-judge", 3 * QUESTIONS)

        first = watch(room, "2026-10")
        assert (first.judged, first.judges, first.alarms) == (3 * QUESTIONS, ["first-judge"], [])
        assert room.requests["first-judge"] == asked + 3 * QUESTIONS
        assert watch(room, "2026-10").judged == 0
        assert room.requests["first-judge"] == asked + 3 * QUESTIONS
        assert estimate_watch(room.lake, room.settings, registry, "2026-10")[0]["call_count"] == 0

        # A month that is made up for later is not what others are compared with.
        found = watch(room, "2026-09")
        assert (found.judged, found.judges) == (0, [])
        assert found.unwatched == ["first-judge (its first month with autumn is 2026-10)"]
        assert estimate_watch(room.lake, room.settings, registry, "2026-09")[0]["call_count"] == 0

        second = watch(room, "2026-11")
        assert (second.judged, second.alarms) == (QUESTIONS, [])
        (row,) = room.lake.run_named("judge_drift_history").to_dicts()
        assert (row["month"], row["first_month"], row["month_count"], row["is_alarm"]) == (
            "2026-11", "2026-10", 1, False,
        )  # fmt: skip
        counted = room.read(
            "select count(*) from llm_calls where purpose = 'drift' and month in ('2026-10', '2026-11')"
        )
        assert counted == [(4 * QUESTIONS,)]
        # A trial's set leaves that of real responses in use, and has none beside a later one.
        assert list(read_sets(room.lake)) == ["autumn"]
        for years, expected in ((-1, ["real", "autumn"]), (1, ["real"])):
            real = drawn.with_columns(
                pl.col("drawn_at").dt.offset_by(f"{years}y"), anchor_set=pl.lit("real"), is_simulated=False
            )
            room.lake.land("anchor_responses", "real", real)
            assert list(read_sets(room.lake)) == expected
        # Judgements of anchors are no judgements of the run.
        assert room.read("select count(*) from judgements") == [(QUESTIONS,)]


def test_what_one_judge_does_not_take_stops_neither_it_nor_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    profiles: dict[str, Any] = {"first_judge": STEADY, "next_judge": STEADY}
    with open_room(tmp_path, monkeypatch, ("first-judge", "next-judge"), **profiles) as room:
        draw_anchors(room.lake, "run-1", "autumn", size=QUESTIONS)
        complete = ModelClient.complete
        refused: dict[str, set[str]] = {"first-judge": set(), "next-judge": set()}

        async def refuse(client: ModelClient, judge: RegisteredModel, request: CallRequest) -> CallReply:
            asked = str(request.messages)
            # The first judge does not take one response, then next to none.
            if judge.name == "first-judge" and len(refused[judge.name]) < most:
                refused[judge.name].add(asked)
            if asked in refused[judge.name]:
                raise CallFailed("too long", call_key="", error="400 too_long", attempts=1)
            return await complete(client, judge, request)

        monkeypatch.setattr(ModelClient, "complete", refuse)
        most = 1
        assert watch(room, "2026-09").judges == ["first-judge", "next-judge"]
        unread = "select judge, count(*) from anchor_judgements where stars is null group by judge"
        assert room.read(unread) == [("first-judge", 3)]
        watch(room, "2026-10")
        counted = room.read("select judge, response_count from judge_drift order by judge")
        assert counted == [("first-judge", QUESTIONS - 1), ("next-judge", QUESTIONS)]
        most = QUESTIONS
        found = watch(room, "2026-11")
        assert (found.judges, found.failure) == (["next-judge"], "too long")


def test_of_a_judge_that_fails_nothing_more_is_asked_while_the_next_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    profiles: dict[str, Any] = {"first_judge": STEADY, "next_judge": STEADY}
    with open_room(tmp_path, monkeypatch, ("first-judge", "next-judge"), **profiles) as room:
        draw_anchors(room.lake, "run-1", "autumn", size=QUESTIONS)
        complete = ModelClient.complete
        failed: list[str] = []

        async def fail(client: ModelClient, judge: RegisteredModel, request: CallRequest) -> CallReply:
            if judge.name == "first-judge":
                if not failed:
                    failed.append(judge.name)
                    raise CallFailed("no key", call_key="", error="401", attempts=1)
                await asyncio.sleep(0.05)
            return await complete(client, judge, request)

        monkeypatch.setattr(ModelClient, "complete", fail)
        found = watch(room, "2026-09")
        assert (found.judges, found.failure) == (["next-judge"], "no key")
        assert room.requests["first-judge"] == 0
        assert room.requests["next-judge"] == 3 * QUESTIONS == found.calls["sent"]


def test_a_judge_that_has_changed_shuts_the_gate_until_a_new_set_is_drawn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with open_room(tmp_path, monkeypatch, first_judge={**STEADY, "agreement": 0.0, "leniency": -1.0}) as room:
        room.judge()
        draw_anchors(room.lake, "run-1", "autumn", size=QUESTIONS)
        watch(room, "2026-08")
        watch(room, "2026-09")
        assert list_shut(room) == []
        drifted = start_server(b"", models={"first-judge": {**STEADY, "drift": 1.0}})
        with drifted as changed, monkeypatch.context() as later:
            later.setenv("PROCTOR_SIMULATED_URL", changed.url)
            assert watch(room, "2026-10").alarms == ["first-judge"]
        assert list_shut(room) == ["drift"]
        # The alarm keeps from publishing and changes no number.
        basis = read_basis(room.lake.read, "run-1", ["Philosophy"])
        assert basis.hash() == replace(basis, drift=None).hash()
        draw_anchors(room.lake, "run-1", "winter", size=QUESTIONS)
        assert list_shut(room) == ["drift"]
        watch(room, "2026-10")
        assert list_shut(room) == []


@pytest.mark.long
def test_a_kill_before_the_landing_pays_for_nothing_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with open_room(tmp_path, monkeypatch, first_judge=STEADY) as room:
        draw_anchors(room.lake, "run-1", "autumn", size=QUESTIONS)
        landed = room.lake.land_together

        def die(batches: Any, **options: Any) -> Any:
            raise KeyboardInterrupt

        monkeypatch.setattr(room.lake, "land_together", die)
        with pytest.raises(KeyboardInterrupt):
            watch(room, "2026-10")
        asked = room.requests["first-judge"]
        assert asked == QUESTIONS
        monkeypatch.setattr(room.lake, "land_together", landed)
        assert watch(room, "2026-10").judged == 3 * QUESTIONS
        assert room.requests["first-judge"] == 3 * QUESTIONS


def list_shut(room: Room) -> list[str]:
    basis = read_basis(room.lake.read, "run-1", ["Philosophy"])
    settings: Settings = room.settings
    return [gate.gate for gate in find_shut_gates(basis, settings) if gate.gate == "drift"]
