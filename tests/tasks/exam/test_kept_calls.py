"""A call that gave an answer is kept with it: once, and also where the answer is not."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from schemas.errors import ConflictError, ExamError
from tasks.exam.protocol.machine import ExamProtocol
from tasks.exam.protocol.moves import SeatRules
from tasks.exam.protocol.words import Answer, Lease
from tests.tasks.exam.world import World
from warehouse.ledger.engine.ledger import Connection
from warehouse.ledger.engine.statements import Later
from warehouse.ledger.engine.tables import llm_calls
from warehouse.ledger.money.calls import FinishedCall, NewCall, begin_call, finish_call


class Paid:
    """A session of alpha, and a call for its first question that is under way."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.door = ExamProtocol(
            world.ledger, world.keys, SeatRules(lease_s=60.0, is_in_house=True), clock=world.clock
        )
        self.session_id = world.sessions()[0]["session_id"]
        self.token = world.token(self.session_id)
        self.call = FinishedCall("key", "done", 1, {"text": "true"}, 10, 5, 0.25, 1.5)
        begun = NewCall("key", "exam", world.plan.run_id, self.session_id, "provider", "alpha")

        def begin(connection: Connection) -> bool | Later[bool]:
            return begin_call(connection, begun)

        world.ledger.writer.run(begin)

    def open(self) -> Lease:
        async def opened() -> Lease:
            lease = await self.door.open_session(self.token, self.session_id, "s" * 32)
            await self.door.next_question(self.token, lease)
            return lease

        return asyncio.run(opened())

    def submit(self, lease: Lease, seq: int = 1) -> Any:
        answering = self.door.submit_and_next(self.token, lease, seq, Answer("true"), self.call)
        return asyncio.run(answering)

    def read_call(self) -> tuple[str, float | None, float]:
        """Its status, its cost, and what was paid beside it."""
        with self.world.ledger.read() as connection:
            row = connection.execute(llm_calls.select()).one()
        return row.status, row.cost_usd, row.extra_usd


@pytest.fixture
def paid(world: World) -> Paid:
    return Paid(world)


def test_an_answer_and_its_call_are_one_operation(paid: Paid, monkeypatch: pytest.MonkeyPatch) -> None:
    lease, asked = paid.open(), []
    submit = paid.world.ledger.writer.submit

    def note(*given: Any, **how: Any) -> Any:
        asked.append(paid.read_call())
        return submit(*given, **how)

    monkeypatch.setattr(paid.world.ledger.writer, "submit", note)
    receipt, following = paid.submit(lease)
    assert (receipt.answered_count, following.seq) == (1, 2)
    assert asked == [("started", None, 0.0)]
    assert paid.read_call() == ("done", 0.25, 0.0)
    assert paid.world.answers(paid.session_id) == {1: "true"}


def test_a_call_whose_answer_is_refused_is_kept_all_the_same(paid: Paid) -> None:
    lease = paid.open()
    with pytest.raises(ExamError, match="not been handed out"):
        paid.submit(lease, seq=2)
    assert paid.read_call() == ("done", 0.25, 0.0)
    assert paid.world.answers(paid.session_id) == {}


def test_where_another_reply_is_in_use_the_answer_of_the_second_is_not_stored(paid: Paid) -> None:
    lease, first = paid.open(), FinishedCall("key", "done", 1, {"text": "false"}, 10, 5, 0.5, 1.5)

    def finish(connection: Connection) -> bool | Later[bool]:
        return finish_call(connection, first)

    paid.world.ledger.writer.run(finish)
    with pytest.raises(ConflictError, match="reply is in use"):
        paid.submit(lease)
    assert paid.world.answers(paid.session_id) == {}
    # Both were paid.
    assert paid.read_call() == ("done", 0.5, 0.25)
