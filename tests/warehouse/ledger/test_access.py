"""The audit log cannot be changed, reordered or cut off without a trace; the chains of before the one chain neither."""

from __future__ import annotations

from typing import Any

import pytest
from sqlalchemy import Connection, delete, select, update

from tasks.exam.log.check import check_ledger
from warehouse.ledger.chain import CALLER, Caller, Entry, add_entry, name_account
from warehouse.ledger.engine import Ledger, now_text
from warehouse.ledger.former_chains import compute_former_hash
from warehouse.ledger.tables import access_heads, access_log, runs, sessions, set_numbers

FIRST = "0" * 64
DAY = "2026-10-31"


def add_session(connection: Connection, session_id: str) -> None:
    if connection.execute(select(runs.c.run_id)).first() is None:
        connection.execute(
            runs.insert().values(
                run_id="r",
                month="2026-11",
                season="s",
                bank_version=1,
                reference_model="rho",
                set_size=1,
                policy="shared",
                is_simulated=False,
                planned_at=now_text(),
            )
        )
        connection.execute(
            set_numbers.insert().values(
                set_id="set",
                season="s",
                set_number=1,
                bank_version=1,
                is_simulated=False,
                created_at=now_text(),
            )
        )
    connection.execute(
        sessions.insert().values(
            session_id=session_id,
            run_id="r",
            set_id="set",
            user_id="u",
            model=session_id,
            organisation="o",
            prompt_style="zero_shot",
            repeat=1,
            is_reference=False,
            is_simulated=False,
            question_count=1,
        )
    )


def note(connection: Connection, session_id: str | None, action: str, head: str, second: int) -> str:
    """An entry as the former form wrote it; returns the chain's new head."""
    at = f"{DAY}T12:00:{second:02d}.000000+00:00"
    entry_hash = compute_former_hash(head, "u", session_id, action, 403, "session_in_use", at)
    connection.execute(
        access_log.insert().values(
            user_id="u",
            session_id=session_id,
            action=action,
            http_status=403,
            code="session_in_use",
            previous_hash=head,
            entry_hash=entry_hash,
            accessed_at=at,
        )
    )
    return entry_hash


@pytest.fixture
def log(ledger: Ledger) -> Ledger:
    """Two former chains of three entries, interleaved, one of attempts that name no session, and the one chain after them."""
    heads: dict[str | None, str] = {"a": FIRST, "b": FIRST, None: FIRST}
    with ledger.write() as connection:
        add_session(connection, "a")
        add_session(connection, "b")
        for second, action in enumerate(("one", "two", "three")):
            for session_id in ("a", "b", None):
                heads[session_id] = note(connection, session_id, action, heads[session_id], second)
        for session_id in ("a", "b"):
            own = sessions.c.session_id == session_id
            connection.execute(update(sessions).where(own).values(access_hash=heads[session_id]))
    with ledger.write() as connection:
        add_entry(connection, Entry("list", "u"))
        add_entry(connection, Entry("list", "u"))
    return ledger


def check(ledger: Ledger) -> list[tuple[str, str, str]]:
    with ledger.read() as connection:
        found = check_ledger(connection).findings
    return [(finding.name, finding.where, finding.reason) for finding in found]


def entry(connection: Connection, session_id: str | None, action: str) -> Any:
    chain = access_log.c.session_id.is_(None) if session_id is None else access_log.c.session_id == session_id
    return connection.execute(select(access_log).where(chain, access_log.c.action == action)).one()


def test_an_untouched_log_is_whole_and_the_one_chain_begins_with_the_former_heads(log: Ledger) -> None:
    assert check(log) == []
    with log.read() as connection:
        begin = connection.execute(select(access_log).where(access_log.c.number == 1)).one()
    assert begin.action == "begin_chain"
    assert begin.digest is not None


@pytest.mark.parametrize("session_id", ["a", None])
@pytest.mark.parametrize(
    "change",
    [{"http_status": 200}, {"user_id": "somebody"}, {"code": None}, {"accessed_at": f"{DAY}T00:00:00+00:00"}],
)
def test_a_changed_former_entry_is_found(
    log: Ledger, session_id: str | None, change: dict[str, object]
) -> None:
    with log.write() as connection:
        found = entry(connection, session_id, "two")
        place = access_log.c.access_id == found.access_id
        connection.execute(update(access_log).where(place).values(**change))
    where = session_id or "no session"
    assert check(log) == [("former_entry_changed", where, "was changed after it was written")]


@pytest.mark.parametrize("action", ["one", "two"])
def test_a_former_entry_taken_out_is_found(log: Ledger, action: str) -> None:
    with log.write() as connection:
        found = entry(connection, "a", action)
        connection.execute(delete(access_log).where(access_log.c.access_id == found.access_id))
    assert check(log) == [("former_entry_changed", "a", "does not follow the entry before it")]


def test_a_former_chain_cut_off_with_its_head_is_found_by_the_first_entry_of_the_one_chain(
    log: Ledger,
) -> None:
    with log.write() as connection:
        found, before = entry(connection, "a", "three"), entry(connection, "a", "two")
        connection.execute(delete(access_log).where(access_log.c.access_id == found.access_id))
        own = sessions.c.session_id == "a"
        connection.execute(update(sessions).where(own).values(access_hash=before.entry_hash))
    reason = "the log of before the one chain is not what it was"
    assert check(log) == [("former_log_changed", "entry 1", reason)]


def test_heads_kept_by_day_still_hold(log: Ledger) -> None:
    with log.write() as connection:
        head = entry(connection, "a", "three").entry_hash
        values = {"day": DAY, "session_id": "a", "entry_hash": head, "kept_at": now_text()}
        connection.execute(access_heads.insert().values(**values))
    assert check(log) == []
    with log.write() as connection:
        connection.execute(update(access_heads).values(entry_hash=FIRST))
    assert check(log) == [("former_entry_changed", "a", f"differs from the head kept for {DAY}")]


def test_all_former_chains_taken_out_are_found(log: Ledger) -> None:
    with log.write() as connection:
        connection.execute(delete(access_log).where(access_log.c.number.is_(None)))
        connection.execute(update(sessions).values(access_hash=None))
    assert ("former_log_changed", "entry 1") in {(name, where) for name, where, _ in check(log)}


def test_a_clock_set_back_is_no_finding(log: Ledger) -> None:
    with log.write() as connection:
        for at in ("2030-01-01T00:00:00.000000+00:00", "2001-01-01T00:00:00.000000+00:00"):
            add_entry(connection, Entry("list", "u", accessed_at=at))
    assert check(log) == []


def test_an_operation_that_fails_leaves_no_entry_and_the_others_of_its_batch_stay_in_one_chain(
    ledger: Ledger,
) -> None:
    def fail(connection: Connection) -> None:
        add_entry(connection, Entry("fails", "u"))
        raise ValueError

    futures = []
    for number in range(20):
        futures.append(
            ledger.writer.submit(
                lambda connection, name=f"n{number}": add_entry(connection, Entry(name, "u"))
            )
        )
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
