"""The audit log is one chain: what is put beside it, and what fails, leaves it whole."""

from __future__ import annotations

from functools import partial

import pytest
from sqlalchemy import Connection, select

from tests.tasks.exam.kit import check_ledger
from warehouse.ledger.engine.ledger import Ledger
from warehouse.ledger.engine.logs.chain import CALLER, FIRST_HASH, Caller, Entry, add_entry, name_account
from warehouse.ledger.engine.moments import now_text
from warehouse.ledger.engine.tables import access_log


@pytest.fixture
def log(ledger: Ledger) -> Ledger:
    """A ledger with two entries after the one that begins the chain."""
    with ledger.write() as connection:
        add_entry(connection, Entry("list", "u"))
        add_entry(connection, Entry("list", "u"))
    return ledger


def check(ledger: Ledger) -> list[tuple[str, str, str]]:
    with ledger.read() as connection:
        found = check_ledger(connection).findings
    return [(finding.name, finding.where, finding.reason) for finding in found]


def test_an_untouched_log_is_whole_and_begins_with_its_beginning(log: Ledger) -> None:
    assert check(log) == []
    with log.read() as connection:
        begin = connection.execute(select(access_log).where(access_log.c.number == 1)).one()
    assert (begin.action, begin.target, begin.digest, begin.previous_hash) == (
        "begin_chain",
        None,
        None,
        FIRST_HASH,
    )


def test_an_entry_put_beside_the_chain_is_found(log: Ledger) -> None:
    with log.write() as connection:
        put = access_log.insert().values(
            user_id="u", action="submit", http_status=200, entry_hash=FIRST_HASH, accessed_at=now_text()
        )
        made = connection.execute(put).inserted_primary_key
        assert made is not None
        row = made[0]
    assert check(log) == [("entry_unchained", f"row {row}", "it has no place in the chain")]


def test_a_chain_that_begins_with_another_entry_is_found(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("warehouse.ledger.engine.logs.chain._begin", lambda _connection: [])
    with ledger.write() as connection:
        add_entry(connection, Entry("list", "u"))
    assert check(ledger) == [("entry_changed", "entry 1", "the log does not begin with it")]


def test_a_clock_set_back_is_no_finding(log: Ledger) -> None:
    with log.write() as connection:
        for at in ("2030-01-01T00:00:00.000000+00:00", "2001-01-01T00:00:00.000000+00:00"):
            add_entry(connection, Entry("list", "u", accessed_at=at))
    assert check(log) == []


def test_an_operation_that_fails_leaves_no_entry_and_the_others_of_its_batch_stay_in_one_chain(
    ledger: Ledger,
) -> None:
    def fail(connection: Connection) -> Entry:
        add_entry(connection, Entry("fails", "u"))
        raise ValueError

    futures = []
    for number in range(20):
        futures.append(ledger.writer.submit(partial(add_entry, entry=Entry(f"n{number}", "u"))))
        futures.append(ledger.writer.submit(fail))
    written = [future.result() for future in futures[::2]]
    assert all(isinstance(future.exception(), ValueError) for future in futures[1::2])
    assert [found.number for found in written] == list(range(2, 22))
    with ledger.read() as connection:
        kept = connection.execute(select(access_log.c.action).order_by(access_log.c.number)).scalars().all()
    assert kept == ["begin_chain", *(f"n{number}" for number in range(20))]
    assert check(ledger) == []


def test_an_entry_outside_a_transaction_is_refused(ledger: Ledger) -> None:
    with ledger.read() as connection, pytest.raises(RuntimeError):
        add_entry(connection, Entry("list"))


def test_entries_name_who_acts_and_from_where(ledger: Ledger) -> None:
    token = CALLER.set(Caller("eve", "192.0.2.7"))
    try:
        by_writer = ledger.writer.run(
            lambda connection: add_entry(connection, Entry("add_user", is_by_caller=True))
        )
    finally:
        CALLER.reset(token)
    with ledger.write() as connection:
        by_command = add_entry(connection, Entry("add_user", is_by_caller=True))
        by_nobody = add_entry(connection, Entry("list"))
    assert [(found.user_id, found.address) for found in (by_writer, by_command, by_nobody)] == [
        ("eve", "192.0.2.7"),
        (name_account(), None),
        (None, None),
    ]
