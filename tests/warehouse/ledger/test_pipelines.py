"""The writer on PostgreSQL: statements go together, and the embedded one's rules hold."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

import pytest
from sqlalchemy import Connection, bindparam
from sqlalchemy.exc import IntegrityError

from schemas.errors import StoreError
from tests.benchmarks.ledger_waits import measure_answers
from tests.warehouse.ledger import test_writer as rules
from tests.warehouse.ledger.postgresql import PostgresqlServer
from tests.warehouse.ledger.slow_link import open_slow_link
from warehouse.ledger.engine.ledger import Ledger
from warehouse.ledger.engine.logs.chain import HASHED, Entry, add_entry, compute_entry_hash
from warehouse.ledger.engine.moments import now_text
from warehouse.ledger.engine.opening import open_ledger
from warehouse.ledger.engine.statements import HotStatement, Later, send_statement
from warehouse.ledger.engine.tables import organisations
from warehouse.ledger.trust.access import read_entries, read_last_id

pytestmark = pytest.mark.service

_PUT = HotStatement(
    organisations.insert().inline().values(organisation=bindparam("name"), created_at=bindparam("at"))
)


@pytest.fixture
def ledger_url(postgresql: PostgresqlServer) -> str:
    return postgresql.new_ledger_url()


@pytest.fixture
def ledger(ledger_url: str) -> Iterator[Ledger]:
    with open_ledger(ledger_url) as opened:
        yield opened


for _name in (
    "test_an_operation_that_fails_takes_no_other_with_it",
    "test_half_of_an_operation_is_never_kept",
    "test_what_was_acknowledged_survives_a_kill",
    "test_an_operation_whose_caller_was_cancelled_is_kept_and_the_writer_continues",
):
    globals()[_name] = getattr(rules, _name)


def test_a_batch_of_writes_is_waited_for_once(postgresql: PostgresqlServer) -> None:
    with open_slow_link(postgresql.folder, 0.0) as link:
        url = postgresql.new_ledger_url().replace(str(postgresql.folder), str(link.folder))
        with open_ledger(url) as ledger:
            ledger.writer.run(lambda connection: add_entry(connection, Entry("list", "first")))
            before = link.wait_count
            for _ in range(10):
                ledger.writer.run(lambda connection: add_entry(connection, Entry("list", "u")))
            assert link.wait_count - before == 10


def test_what_the_server_chains_is_the_chain_that_everybody_computes(ledger: Ledger) -> None:
    """Also of text that JSON escapes, and after an operation that was undone."""
    odd = 'a "quote", a \\ and \u9898\u76ee \U0001f600'

    def fail(connection: Connection) -> None:
        add_entry(connection, Entry("list", "undone"))
        raise RuntimeError

    ledger.writer.run(lambda connection: add_entry(connection, Entry("list", "first")))
    told = ledger.writer.run(lambda connection: add_entry(connection, Entry("list", "u", target=odd, seq=3)))
    with pytest.raises(RuntimeError):
        ledger.writer.run(fail)
    last = ledger.writer.run(lambda connection: add_entry(connection, Entry("list", "u", http_status=403)))
    assert (told.number + 1, len(told.entry_hash)) == (last.number, 64)
    with ledger.read() as connection:
        rows = list(read_entries(connection, 1, read_last_id(ledger)))
    assert [row["user_id"] for row in rows][-3:] == ["first", "u", "u"]
    assert (rows[-2]["target"], rows[-2]["entry_hash"]) == (odd, told.entry_hash)
    for row in rows:
        values = [row[name] for name in HASHED]
        assert row["entry_hash"] == compute_entry_hash(row["previous_hash"], row["number"], values)
    assert [row["previous_hash"] for row in rows[1:]] == [row["entry_hash"] for row in rows[:-1]]


def test_an_operation_may_live_with_a_refusal_of_the_server(ledger: Ledger) -> None:
    """It is carried out once more with a wait after each statement."""

    def try_twice(connection: Connection) -> str:
        rules.add("twice")(connection)
        send_statement(connection, "SAVEPOINT own")
        try:
            rules.add("twice")(connection)
        except IntegrityError:
            send_statement(connection, "ROLLBACK TO SAVEPOINT own")
            return "refused"
        return "taken"

    futures = [ledger.writer.submit(one) for one in (rules.add("before"), try_twice, rules.add("after"))]
    assert [future.result(30) for future in futures] == ["before", "refused", "after"]
    assert rules.names(ledger) == {"before", "twice", "after"}


def put(name: str, pause_s: float = 0.0) -> Callable[[Connection], Any]:
    """Write a row, and wait for nothing but a pause, in which the server may tell of a fault."""

    def operation(connection: Connection) -> Later[str]:
        values = {"name": name, "at": now_text()}
        written = _PUT.run(connection, values)
        time.sleep(pause_s)
        return Later(lambda: f"{name} {written.rowcount}")

    return operation


def test_a_fault_that_is_heard_of_within_its_own_operation_is_that_operations_alone(ledger: Ledger) -> None:
    """Whatever it sends next hears of it, and the batch is not refused as a whole."""

    def put_two(connection: Connection) -> Any:
        put("twice", 0.1)(connection)
        return put("other")(connection)

    ledger.writer.run(put("twice"))
    futures = [ledger.writer.submit(one) for one in (put("before"), put_two, put("after"))]
    assert isinstance(futures[1].exception(30), IntegrityError)
    assert [futures[0].result(), futures[2].result()] == ["before 1", "after 1"]
    assert rules.names(ledger) == {"twice", "before", "after"}


def test_a_statement_that_was_sent_after_a_fault_can_be_sent_again(ledger: Ledger) -> None:
    """However often: the driver prepares it after a few times, and a server skips that too."""

    def put_many(first: str) -> Callable[[Connection], None]:
        def operation(connection: Connection) -> None:
            for number in range(8):
                put(first if number == 0 else f"{first} {number}")(connection)

        return operation

    ledger.writer.run(put("twice"))
    with pytest.raises(IntegrityError):
        ledger.writer.run(put_many("twice"))
    for first in ("a", "b", "c"):
        ledger.writer.run(put_many(first))
    assert len(rules.names(ledger)) == 25


def test_who_lives_with_the_fault_of_another_takes_nobody_with_it(ledger: Ledger) -> None:
    def swallow(connection: Connection) -> str:
        time.sleep(0.1)
        with suppress(IntegrityError):
            put("swallowed")(connection)
        return "went on"

    ledger.writer.run(put("twice"))
    # Both in one batch, however fast it is.
    ledger.writer.submit(lambda _: time.sleep(0.1))
    faulty, other = ledger.writer.submit(put("twice")), ledger.writer.submit(swallow)
    assert isinstance(faulty.exception(30), IntegrityError)
    assert other.result(30) == "went on"
    assert rules.names(ledger) == {"twice", "swallowed"}


def test_of_a_commit_whose_answer_is_lost_nobody_is_told_what_is_not_known(
    postgresql: PostgresqlServer,
) -> None:
    """What was kept is not done twice, and no receipt lacks its entry of the log."""
    with open_slow_link(postgresql.folder, 0.0) as link:
        url = postgresql.new_ledger_url().replace(str(postgresql.folder), str(link.folder))

        def lose(connection: Connection) -> str:
            link.lost = b"COMMIT\0"
            return rules.add("known")(connection)

        def log(connection: Connection) -> Any:
            return add_entry(connection, Entry("list", "u"))

        with open_ledger(url) as ledger:
            ledger.writer.run(lambda connection: add_entry(connection, Entry("list", "first")))
            ledger.writer.submit(lambda _: time.sleep(0.1))
            known, later, logged = (ledger.writer.submit(one) for one in (lose, put("later"), log))
            assert known.result(30) == "known"
            assert isinstance(later.exception(30), StoreError)
            assert isinstance(logged.exception(30), StoreError)
            assert link.lost is None
            assert ledger.writer.run(put("next")) == "next 1"
            assert rules.names(ledger) == {"known", "later", "next"}
            with ledger.read() as connection:
                users = [row["user_id"] for row in read_entries(connection, 1, read_last_id(ledger))]
            assert users[-2:] == ["first", "u"]


def test_a_connection_that_the_server_ended_is_left_without_a_word(ledger_url: str) -> None:
    fell: list[threading.ExceptHookArgs] = []
    former, threading.excepthook = threading.excepthook, fell.append
    try:
        with open_ledger(ledger_url) as ledger:
            ledger.writer.run(lambda connection: add_entry(connection, Entry("list", "first")))
            with ledger.read() as connection:
                connection.exec_driver_sql(
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
                )
    finally:
        threading.excepthook = former
    assert fell == []


def test_an_answer_waits_at_most_four_times_for_the_database() -> None:
    """With its call, budget and entries of the log, without what a sitting takes once."""
    assert measure_answers(session_count=3, question_counts=(8, 24), delay_s=0.0).waits <= 4.0
