"""Coroutines that wait for the writer: results, errors, cancellations, one wake-up."""

from __future__ import annotations

import asyncio
import sqlite3
from concurrent.futures import Future
from typing import Any

import pytest
from sqlalchemy import bindparam
from sqlalchemy.exc import IntegrityError, OperationalError

from warehouse.ledger.engine.ledger import Ledger
from warehouse.ledger.engine.moments import now_text
from warehouse.ledger.engine.statements import HotStatement, send_statement
from warehouse.ledger.engine.tables import organisations
from warehouse.ledger.engine.wakeups import await_done


def test_what_is_done_together_is_told_with_one_wake_up(monkeypatch: pytest.MonkeyPatch) -> None:
    async def run() -> tuple[list[Any], int]:
        loop, futures = asyncio.get_running_loop(), [Future[int]() for _ in range(50)]
        tasks = [asyncio.create_task(await_done(future)) for future in futures]
        await asyncio.sleep(0)
        woken: list[object] = []
        wake = loop.call_soon_threadsafe

        def note(*call: Any) -> object:
            woken.append(call)
            return wake(*call)

        monkeypatch.setattr(loop, "call_soon_threadsafe", note)
        tasks[7].cancel()
        await asyncio.sleep(0)

        def complete() -> None:
            for number, future in enumerate(futures):
                if number == 7:
                    assert future.cancelled()
                elif number == 9:
                    future.set_exception(ValueError("nine"))
                else:
                    future.set_result(number)

        complete()  # before the loop has its turn, as a commit is beside a busy loop
        outcomes = await asyncio.gather(*tasks, return_exceptions=True)
        return list(outcomes), len(woken)

    outcomes, wake_ups = asyncio.run(run())
    assert isinstance(outcomes[7], asyncio.CancelledError)
    assert isinstance(outcomes[9], ValueError)
    assert [one for one in outcomes if isinstance(one, int)] == [n for n in range(50) if n not in (7, 9)]
    assert wake_ups == 1


def test_a_loop_that_is_gone_is_no_error_for_the_writer() -> None:
    future: Future[int] = Future()
    loop = asyncio.new_event_loop()

    async def wait_shortly() -> None:
        task = asyncio.create_task(await_done(future))
        await asyncio.sleep(0)
        task.cancel()

    future.set_running_or_notify_cancel()
    loop.run_until_complete(wait_shortly())
    loop.close()
    future.set_result(1)


def test_an_error_of_the_driver_is_raised_as_sqlalchemys_without_the_values(ledger: Ledger) -> None:
    columns = ("organisation", "name", "created_at")
    insert = HotStatement(organisations.insert().inline().values({name: bindparam(name) for name in columns}))
    row = {"organisation": "lab", "name": "SECRET-VALUE", "created_at": now_text()}
    with ledger.engine.connect() as connection:
        if connection.dialect.name == "sqlite":
            assert insert.run(connection, row).rowcount == 1
            with pytest.raises(IntegrityError) as caught:
                insert.run(connection, row)
            assert isinstance(caught.value.orig, sqlite3.IntegrityError)
            assert "SECRET-VALUE" not in str(caught.value)
            with pytest.raises(OperationalError):
                send_statement(connection, "RELEASE SAVEPOINT never_made")
