"""Two processes that lock the same calls and budget never wait for each other."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

import pytest
from sqlalchemy import Connection

from tests.paid_calls import read_calls
from tests.warehouse.ledger.postgresql import PostgresqlServer
from warehouse.ledger.engine.ledger import Ledger
from warehouse.ledger.engine.opening import open_ledger
from warehouse.ledger.engine.writer import LockedRow, name_budget_row, name_call_row
from warehouse.ledger.money.budgets import open_share, reserve_usd
from warehouse.ledger.money.calls import NewCall, start_call

pytestmark = pytest.mark.service
KEYS = ("call-a", "call-b", "call-c")
# Long enough for the other process to come to where it waits; a deadlock shows after a second.
PAUSE_S = 0.3


class Process:
    """A ledger of its own and its operations; a batch that is tried again counts twice."""

    def __init__(self, address: str, holder: str, meeting: threading.Barrier) -> None:
        self.ledger: Ledger = open_ledger(address)
        self.done: list[str] = []
        self._holder = holder
        self._meeting = meeting
        with self.ledger.write() as connection:
            open_share(connection, "run-1", holder, host="here", process_id=1, lease_s=60)

    def list_operations(self) -> list[tuple[Callable[[Connection], Any], LockedRow]]:
        """Start three calls and set money aside, waiting each time for the other's row."""

        def start(key: str) -> Callable[[Connection], Any]:
            call = NewCall(key, "judge", "run-1", "unit", "sim", "sim")
            return self._note(key, lambda connection: start_call(connection, call))

        def reserve(connection: Connection) -> object:
            return reserve_usd(connection, "run-1", self._holder, 0.1, limit_usd=9.0, lease_s=60)

        return [
            *((start(key), name_call_row(key)) for key in KEYS),
            (self._note("budget", reserve), name_budget_row("run-1")),
        ]

    def _note(self, name: str, operation: Callable[[Connection], Any]) -> Callable[[Connection], Any]:
        def noted(connection: Connection) -> Any:
            found = operation(connection)
            self.done.append(name)
            # Broken: the other one waits for this one's rows, as it should.
            with contextlib.suppress(threading.BrokenBarrierError):
                self._meeting.wait(PAUSE_S)
            return found

        return noted


def test_batches_lock_calls_and_the_budget_in_one_order_whatever_order_they_came_in(
    postgresql: PostgresqlServer,
) -> None:
    address = postgresql.new_ledger_url()
    meeting = threading.Barrier(2)
    processes = [Process(address, holder, meeting) for holder in ("one", "other")]
    gate = threading.Event()
    try:
        futures = []
        for process, is_reversed in zip(processes, (False, True), strict=True):
            futures.append(process.ledger.writer.submit(lambda _: gate.wait(20)))
            operations = process.list_operations()
            for operation, row in reversed(operations) if is_reversed else operations:
                futures.append(process.ledger.writer.submit(operation, row))
        gate.set()
        for future in futures:
            future.result(60)
        # Each batch ran once, and from its first row to its last: nobody's transaction was broken off for another's.
        assert [process.done for process in processes] == [[*KEYS, "budget"]] * 2
        with processes[0].ledger.read() as connection:
            assert [row["call_key"] for row in read_calls(connection, run_id="run-1")] == list(KEYS)
    finally:
        gate.set()
        for process in processes:
            process.ledger.close()


def test_operations_on_one_row_keep_their_order(postgresql: PostgresqlServer) -> None:
    gate, done = threading.Event(), list[str]()

    def note(name: str) -> Callable[[Connection], None]:
        return lambda _: done.append(name)

    with open_ledger(postgresql.new_ledger_url()) as ledger:
        futures: list[Future[Any]] = [ledger.writer.submit(lambda _: gate.wait(20))]
        rows = (name_budget_row("run-1"), name_call_row("b"), name_call_row("a"), name_budget_row("run-1"))
        futures += [ledger.writer.submit(note(f"{number} {row.key}"), row) for number, row in enumerate(rows)]
        futures.append(ledger.writer.submit(note("no row")))
        gate.set()
        for future in futures:
            future.result(20)
    assert done == ["no row", "2 a", "1 b", "0 run-1", "3 run-1"]
