"""Group commit: together, durable, and each operation on its own."""

from __future__ import annotations

import asyncio
import sqlite3
import subprocess
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection, func, select
from sqlalchemy.exc import IntegrityError

from schemas.errors import StoreError
from tests.warm import ROOT, WarmProcess
from warehouse.ledger.engine import writer
from warehouse.ledger.engine.commits import commit
from warehouse.ledger.engine.ledger import Ledger
from warehouse.ledger.engine.moments import now_text
from warehouse.ledger.engine.opening import open_ledger
from warehouse.ledger.engine.statements import Later
from warehouse.ledger.engine.tables import organisations
from warehouse.ledger.money.calls import NewCall, begin_call


def add(name: str) -> Callable[[Connection], str]:
    def operation(connection: Connection) -> str:
        connection.execute(organisations.insert().values(organisation=name, created_at=now_text()))
        return name

    return operation


def names(ledger: Ledger) -> set[str]:
    with ledger.read() as connection:
        return set(connection.execute(select(organisations.c.organisation)).scalars())


def test_operations_that_wait_together_are_committed_together(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    commits = 0

    def note(connection: Connection, **how: Any) -> None:
        nonlocal commits
        commits += 1
        commit(connection, **how)

    gate = threading.Event()
    first = ledger.writer.submit(lambda _: gate.wait(10))
    waiting = [ledger.writer.submit(add(f"o{number}")) for number in range(100)]
    monkeypatch.setattr(writer, "commit", note)
    gate.set()
    assert first.result(10) is True
    assert [future.result(10) for future in waiting] == [f"o{number}" for number in range(100)]
    assert commits <= 3
    assert names(ledger) == {f"o{number}" for number in range(100)}


def test_an_operation_that_fails_takes_no_other_with_it(ledger: Ledger) -> None:
    async def run() -> list[object]:
        operations = [add("a"), add("b"), add("a"), add("c")]
        return await asyncio.gather(
            *(ledger.writer.run_async(operation) for operation in operations), return_exceptions=True
        )

    outcomes = asyncio.run(run())
    assert [type(outcome) for outcome in outcomes] == [str, str, IntegrityError, str]
    assert names(ledger) == {"a", "b", "c"}


def test_half_of_an_operation_is_never_kept(ledger: Ledger) -> None:
    def half(connection: Connection) -> None:
        add("half")(connection)
        raise RuntimeError("in the middle")

    with pytest.raises(RuntimeError, match="in the middle"):
        ledger.writer.run(half)
    assert names(ledger) == set()


def test_who_asks_after_a_refusal_is_not_given_the_same_one(tmp_path: Path) -> None:
    path = tmp_path / "ledger.sqlite"
    with open_ledger(f"sqlite:///{path}", busy_s=0.1) as ledger:
        other = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
        other.execute("begin immediate")
        later: list[Future[str]] = []

        def free_and_ask(_: Future[str]) -> None:
            other.execute("rollback")
            later.append(ledger.writer.submit(add("after")))

        # Called by the writer's own thread, before it can do anything else.
        refused = ledger.writer.submit(add("before"))
        refused.add_done_callback(free_and_ask)
        assert isinstance(refused.exception(30), StoreError)
        ledger.writer.run(add("last"))
        assert later[0].result(30) == "after"
        other.close()
        assert names(ledger) == {"after", "last"}


def test_a_closed_writer_finishes_its_work_and_takes_no_more(tmp_path: Path) -> None:
    ledger = open_ledger(f"sqlite:///{tmp_path / 'ledger.sqlite'}")
    futures = [ledger.writer.submit(add(f"o{number}")) for number in range(20)]
    ledger.close()
    assert all(future.done() for future in futures)
    with pytest.raises(StoreError, match="closed"):
        ledger.writer.run(add("late"))
    with open_ledger(f"sqlite:///{tmp_path / 'ledger.sqlite'}") as again:
        assert len(names(again)) == 20


WRITER = """
import sys
from pathlib import Path
from warehouse.ledger.engine.moments import now_text
from warehouse.ledger.engine.opening import open_ledger
from warehouse.ledger.engine.tables import organisations
ledger = open_ledger(sys.argv[1])
for number in range(100_000):
    name = f"o{number}"
    ledger.writer.run(lambda c: c.execute(organisations.insert().values(organisation=name, created_at=now_text())) and None)
    print(name, flush=True)
"""


@pytest.fixture
def ledger_url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path / 'ledger.sqlite'}"


@pytest.mark.slow
def test_what_was_acknowledged_survives_a_kill(ledger_url: str, warm_python: str) -> None:
    url = ledger_url
    process = WarmProcess([warm_python, "-c", WRITER, url], cwd=ROOT, stdout=subprocess.PIPE)
    assert process.stdout is not None
    acknowledged = [process.stdout.readline().strip() for _ in range(50)]
    time.sleep(0.05)
    process.kill()
    acknowledged += [line.strip() for line in process.stdout if line.endswith("\n")]
    process.stdout.close()
    process.wait()
    with open_ledger(url) as ledger:
        kept = names(ledger)
        with ledger.read() as connection:
            count = connection.execute(select(func.count()).select_from(organisations)).scalar_one()
    assert set(acknowledged) <= kept
    assert count - len(acknowledged) in (0, 1)


def test_an_operation_whose_caller_was_cancelled_is_kept_and_the_writer_continues(ledger: Ledger) -> None:
    """Ctrl-C cancels the coroutines that wait; the replies that they were writing are paid for."""

    def add_slowly(name: str) -> Callable[[Connection], None]:
        def operation(connection: Connection) -> None:
            time.sleep(0.01)
            connection.execute(organisations.insert().values(organisation=name, created_at=now_text()))

        return operation

    async def cancel_all() -> None:
        tasks = [
            asyncio.create_task(ledger.writer.run_async(add_slowly(f"o{number}"))) for number in range(20)
        ]
        await asyncio.sleep(0.03)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    asyncio.run(cancel_all())
    ledger.writer.run(add_slowly("after"))
    assert names(ledger) == {"after", *(f"o{number}" for number in range(20))}


def test_a_commit_that_writes_the_ledger_alone_leaves_the_exams_file_as_it_is(tmp_path: Path) -> None:
    call = NewCall("key", "exam", None, None, "provider", "model")
    with open_ledger(f"sqlite:///{tmp_path / 'ledger.sqlite'}") as ledger:
        ledger.writer.run(add("first"))
        log = tmp_path / "ledger.exam.sqlite-wal"
        before = (log.stat().st_mtime_ns, log.read_bytes())

        def begin(connection: Connection) -> bool | Later[bool]:
            return begin_call(connection, call)

        begun = ledger.writer.submit(begin, is_of_ledger=True)

        assert begun.result(10) is True
        assert (log.stat().st_mtime_ns, log.read_bytes()) == before
        # Beside one that writes there, both are counted.
        ledger.writer.run(add("second"))
        assert log.read_bytes() != before[1]
