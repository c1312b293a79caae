"""A run under way, by candidate: what a person sees."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from pathlib import Path

import pytest
from sqlalchemy import update

from schemas.errors import ProctorError, UsageError
from schemas.settings import load_settings
from tasks.exam import task
from tasks.exam.protocol.machine import make_protocol
from tasks.exam.protocol.words import Answer
from tasks.exam.run_progress import CandidateProgress, read_run_progress
from tasks.exam.sitting import SittingReport
from tests.tasks.exam.world import (
    World,
    answer_run,
    make_bank,
    make_model,
    make_registry,
    make_settings,
    publish,
)
from warehouse.ledger.engine.ledger import Ledger
from warehouse.ledger.engine.moments import write_moment
from warehouse.ledger.engine.tables import allocations
from warehouse.ledger.money.calls import (
    FinishedCall,
    NewCall,
    add_extra_usd,
    finish_call,
    read_spent_usd,
    start_call,
)


class Gone(ProctorError):
    """The endpoint is away."""


@pytest.fixture
def crowd(ledger: Ledger, tmp_path: Path) -> World:
    """alpha (in house), omega (outside), the reference rho: a set of six each, rho sits both."""
    settings = make_settings(tmp_path / "home")
    settings.home.mkdir()
    registry = make_registry(
        make_model("alpha"), make_model("omega"), make_model("rho", roles=("reference",))
    )
    bank = make_bank()
    plan = publish(ledger, settings, registry, bank, candidates=["alpha"], outside=["omega"])
    return World(ledger, settings, registry, bank, plan, now=time.time())


def test_pace_time_left_cost_and_failures_are_told_by_candidate(crowd: World) -> None:
    session_id = crowd.sessions("alpha")[0]["session_id"]
    token = crowd.token(session_id)

    async def answer(count: int) -> None:
        door = make_protocol(crowd.ledger, crowd.settings, is_in_house=True)
        lease = await door.open_session(token, session_id)
        put = await door.next_question(token, lease)
        for _ in range(count):
            assert put is not None
            _, put = await door.submit_and_next(token, lease, put.seq, Answer("true"))

    asyncio.run(answer(3))
    with crowd.ledger.write() as connection:
        # Questions 1 to 4 were handed out 30 seconds apart; the last one just now.
        for seq in range(1, 5):
            connection.execute(
                update(allocations)
                .where(allocations.c.session_id == session_id, allocations.c.seq == seq)
                .values(delivered_at=write_moment(crowd.now - 30 * (4 - seq)))
            )
        for number, (status, cost, error) in enumerate(
            [("done", 0.25, None), ("done", 0.5, None), ("failed", None, "429"), ("failed", None, "429")]
        ):
            start_call(
                connection, NewCall(f"k{number}", "exam", crowd.plan.run_id, session_id, "own", "alpha")
            )
            finish_call(connection, FinishedCall(f"k{number}", status, cost_usd=cost, error=error))
    found = read_run_progress(crowd.ledger, crowd.plan.run_id, now=crowd.now)
    assert found.candidates[0] == CandidateProgress(
        "alpha",
        is_outside=False,
        session_count=1,
        closed_count=0,
        done=3,
        total=6,
        per_minute=pytest.approx(2.0),  # type: ignore[arg-type]
        left_s=pytest.approx(90.0),  # type: ignore[arg-type]
        cost_usd=0.75,
        failed_calls={"429": 2},
    )
    assert [(one.model, one.is_outside, one.left_s) for one in found.candidates[1:]] == [
        ("omega", True, None),
        ("rho", False, None),
    ]
    assert (found.done, found.total, found.status, found.cost_usd) == (3, 24, "open", 0.75)
    # The cost is the budget's: an attempt whose bill nobody knows counts at its most.
    with crowd.ledger.write() as connection:
        add_extra_usd(connection, "k2", 0.125)
        spent = read_spent_usd(connection, crowd.plan.run_id)
    assert read_run_progress(crowd.ledger, crowd.plan.run_id, now=crowd.now).cost_usd == spent == 0.875
    # The judges' calls are paid from the same budget, in a month as by `proctor judge`; they are no candidate's.
    with crowd.ledger.write() as connection:
        start_call(connection, NewCall("j1", "judge", crowd.plan.run_id, session_id, "own", "delta"))
        finish_call(connection, FinishedCall("j1", "done", cost_usd=1.0))
        add_extra_usd(connection, "j1", 0.5)
        spent = read_spent_usd(connection, crowd.plan.run_id)
    judged = read_run_progress(crowd.ledger, crowd.plan.run_id, now=crowd.now)
    assert judged.cost_usd == spent == 2.375
    assert judged.candidates[0].cost_usd == 0.875
    # A quarter of an hour without a question is a standstill, not a slow pace.
    later = read_run_progress(crowd.ledger, crowd.plan.run_id, now=crowd.now + 901)
    assert (later.candidates[0].per_minute, later.candidates[0].left_s) == (0.0, None)
    with pytest.raises(UsageError, match="There is no run"):
        read_run_progress(crowd.ledger, "2030-01")


def test_what_was_answered_before_counts_when_a_run_is_continued(
    crowd: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """And what others answered meanwhile: this process answers nothing."""

    async def sit_nothing(*_: object, **__: object) -> tuple[SittingReport, Counter[str]]:
        return SittingReport(crowd.plan.run_id, outside_count=1), Counter()

    monkeypatch.delenv("PROCTOR_QUIET", raising=False)
    monkeypatch.setenv("PROCTOR_HOME", str(crowd.settings.home))
    monkeypatch.setenv("PROCTOR_LEDGER_URL", f"sqlite:///{tmp_path / 'ledger.sqlite'}")
    load_settings.cache_clear()
    monkeypatch.setattr(task, "_sit", sit_nothing)
    answer_run(crowd.ledger, crowd.plan.run_id)
    # Whoever sits with a client of their own is named, so that the command says what comes next.
    assert task.sit_run(crowd.plan.run_id)["outside"] == ["omega"]
    assert f"evaluate {crowd.plan.run_id}: answers: 24 of 24 done" in capsys.readouterr().err
