"""Judges asked in batches give what single calls give, and what is unread is passed on."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from deployments.model_server import RunningServer, parse_profile, start_model_server
from schemas.settings import Settings
from tasks.judging.summary import JudgingSummary
from tasks.judging.task import JudgingChoices, judge_collected
from tasks.running import Progress
from tests.fresh import copy_home
from tests.tasks.judging.test_unparsed import MUTE, QUESTIONS, SOUND, make_home
from warehouse.lake import Lake, open_lake
from warehouse.ledger.engine.ledger import Ledger
from warehouse.ledger.engine.opening import open_ledger

REGISTRY = """
providers:
  simulated: {base_url: simulated}
models:
  first-judge:
    provider: simulated
    organisation: Lab
    roles: [judge]
    parameters: {max_tokens: 300}
    input_price_usd: 1.0
    output_price_usd: 2.0
    batch: {least_requests: 1}
  next-judge:
    provider: simulated
    organisation: Lab
    roles: [judge]
    parameters: {max_tokens: 300}
    input_price_usd: 1.0
    output_price_usd: 2.0
    batch: {}
"""
HARSH = {"kind": "judge", "unparsed": 0.4}


class Room:
    """A landed session, two judges that take batches, and the means to ask them."""

    def __init__(self, ledger: Ledger, lake: Lake, settings: Settings, server: RunningServer) -> None:
        self.ledger, self.lake, self.settings, self.server = ledger, lake, settings, server

    def judge(self, **options: Any) -> JudgingSummary:
        with Progress("judge: responses") as progress:
            return asyncio.run(
                judge_collected(
                    self.ledger, self.lake, self.settings, "run-1", progress, JudgingChoices(**options)
                )
            )

    def read_judgements(self) -> pl.DataFrame:
        return self.lake.query(
            "select * exclude (judged_at, cost_usd) from judgements order by session_id, seq, judge, occasion"
        )

    def read_cost(self) -> float:
        return float(self.lake.query("select sum(cost_usd) from judgements").item())


@contextmanager
def open_room(
    folder: Path, monkeypatch: pytest.MonkeyPatch, batches: dict[str, Any] | None = None, **judges: Any
) -> Iterator[Room]:
    settings = Settings(home=folder, judges=("first-judge",), batch_poll_s=0.05, budget_usd=1.0)
    models = {name.replace("_", "-"): profile for name, profile in judges.items()}
    copy_home(make_home(), settings)
    settings.registry_path.write_text(REGISTRY, "utf-8")
    with (
        open_ledger(settings.ledger_address) as ledger,
        open_lake(settings) as lake,
        start_model_server(
            parse_profile({"seed": "test", "batches": batches or {}, "models": models}), b""
        ) as server,
    ):
        monkeypatch.setenv("PROCTOR_SIMULATED_URL", server.url)
        yield Room(ledger, lake, settings, server)


def test_judging_in_batches_lands_what_judging_singly_lands_at_half_the_price(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with open_room(tmp_path / "single", monkeypatch, first_judge=HARSH, next_judge=SOUND) as room:
        single = room.judge()
        expected, cost_usd = room.read_judgements(), room.read_cost()
    with open_room(
        tmp_path / "batch", monkeypatch, {"expired": 1}, first_judge=HARSH, next_judge=SOUND
    ) as room:
        batched = room.judge(in_batches=True, waits=True)
        assert room.server.state.batches.created > 2
        # The next judge had too few questions for a batch of its own.
        assert (room.server.state.requests["first-judge"], room.server.state.requests["next-judge"]) == (
            0,
            single.resolved,
        )
        assert room.read_judgements().equals(expected)
        assert cost_usd / 2 < room.read_cost() < cost_usd * 0.7
    shared = ("judged", "unparsed", "resolved", "unresolved", "failed", "failure", "pending")
    assert single.resolved > 0
    assert [getattr(batched, name) for name in shared] == [getattr(single, name) for name in shared]


def test_a_command_that_does_not_wait_says_what_is_pending_and_the_next_one_lands_it_however_it_is_called(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with open_room(tmp_path, monkeypatch, {"seconds": 3600}, first_judge=SOUND) as room:
        first = room.judge(in_batches=True)
        assert (first.judged, first.pending, first.failed, first.failure) == (0, QUESTIONS, 0, None)
        assert first.calls["batched"] == QUESTIONS
        second = room.judge()
        assert (second.judged, second.pending, second.failed) == (0, QUESTIONS, 0)
        traits = room.server.state.batches.traits
        room.server.state.batches.traits = replace(traits, seconds=0)
        third = room.judge()
        assert (third.judged, third.pending, third.calls["batch_done"]) == (QUESTIONS, 0, QUESTIONS)
        assert room.server.state.requests["first-judge"] == 0


@pytest.mark.long
def test_a_judge_is_asked_again_in_batches_before_the_next_one_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with open_room(tmp_path, monkeypatch, first_judge=MUTE, next_judge=MUTE) as room:
        room.judge(in_batches=True, waits=True)
        created = room.server.state.batches.created
        room.server.state.batches.traits = replace(room.server.state.batches.traits, seconds=3600)
        again = room.judge(in_batches=True, only_unparsed=True)
        # One judge's batch is under way: nobody else is asked before it has ended.
        assert (again.pending, room.server.state.batches.created) == (QUESTIONS, created + 1)
