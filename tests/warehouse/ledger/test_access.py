"""The audit log cannot be changed, reordered or cut off without a trace."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import Connection, delete, select, update

from warehouse.ledger.access import (
    ChainFault,
    append_access_at_head,
    compute_entry_hash,
    keep_past_heads,
    verify_access_log,
)
from warehouse.ledger.engine import Ledger, now_text
from warehouse.ledger.tables import access_heads, access_log, runs, sessions, set_numbers


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


def note(connection: Connection, session_id: str | None, action: str) -> None:
    append_access_at_head(
        connection, user_id="u", session_id=session_id, action=action, status=403, code="session_in_use"
    )


@pytest.fixture
def log(ledger: Ledger) -> Ledger:
    """Two chains of three entries, interleaved, and one of attempts that name no session."""
    with ledger.write() as connection:
        add_session(connection, "a")
        add_session(connection, "b")
        for action in ("one", "two", "three"):
            for session_id in ("a", "b", None):
                note(connection, session_id, action)
    return ledger


def check(ledger: Ledger) -> list[ChainFault]:
    with ledger.read() as connection:
        return verify_access_log(connection)


def entry(connection: Connection, session_id: str | None, action: str) -> Any:
    chain = access_log.c.session_id.is_(None) if session_id is None else access_log.c.session_id == session_id
    return connection.execute(select(access_log).where(chain, access_log.c.action == action)).one()


def test_an_untouched_log_is_whole(log: Ledger) -> None:
    assert check(log) == []


@pytest.mark.parametrize("session_id", ["a", None])
@pytest.mark.parametrize(
    "change",
    [
        {"http_status": 200},
        {"user_id": "somebody"},
        {"code": None},
        {"accessed_at": "2020-01-01T00:00:00+00:00"},
    ],
)
def test_a_changed_entry_is_found(log: Ledger, session_id: str | None, change: dict[str, object]) -> None:
    with log.write() as connection:
        found = entry(connection, session_id, "two")
        connection.execute(
            update(access_log).where(access_log.c.access_id == found.access_id).values(**change)
        )
    assert check(log) == [ChainFault(session_id or "", found.access_id, "was changed after it was written")]


def test_an_entry_changed_with_its_hash_breaks_the_next_one(log: Ledger) -> None:
    with log.write() as connection:
        found = entry(connection, "a", "two")
        forged = compute_entry_hash(found.previous_hash, "x", "a", "two", 200, None, found.accessed_at)
        connection.execute(
            update(access_log)
            .where(access_log.c.access_id == found.access_id)
            .values(user_id="x", http_status=200, code=None, entry_hash=forged)
        )
        following = entry(connection, "a", "three")
    assert check(log) == [ChainFault("a", following.access_id, "does not follow the entry before it")]


@pytest.mark.parametrize("action", ["one", "two"])
def test_an_entry_taken_out_is_found(log: Ledger, action: str) -> None:
    with log.write() as connection:
        found = entry(connection, "a", action)
        connection.execute(delete(access_log).where(access_log.c.access_id == found.access_id))
    faults = check(log)
    assert [(fault.session_id, fault.reason) for fault in faults] == [
        ("a", "does not follow the entry before it")
    ]


def test_an_end_cut_off_is_found_by_the_head_kept_with_the_session(log: Ledger) -> None:
    with log.write() as connection:
        found = entry(connection, "a", "three")
        connection.execute(delete(access_log).where(access_log.c.access_id == found.access_id))
    assert check(log) == [ChainFault("a", None, "ends before the last entry that was written")]


def _rewrite_head(connection: Connection) -> None:
    """Whoever can cut the log can also rewrite the session's head: only the head of the day remains."""
    found = entry(connection, "a", "three")
    before = entry(connection, "a", "two")
    connection.execute(delete(access_log).where(access_log.c.access_id == found.access_id))
    connection.execute(
        update(sessions).where(sessions.c.session_id == "a").values(access_hash=before.entry_hash)
    )


def _cut_chain_without_session(connection: Connection) -> None:
    found = entry(connection, None, "three")
    connection.execute(delete(access_log).where(access_log.c.access_id == found.access_id))


@pytest.mark.parametrize(
    ("tamper", "chain"),
    [(_rewrite_head, "a"), (_cut_chain_without_session, "")],
    ids=["head too", "no session"],
)
def test_what_a_kept_head_covers_cannot_be_cut_off(
    log: Ledger, tamper: Callable[[Connection], None], chain: str
) -> None:
    day = now_text()[:10]
    assert keep_past_heads(log, datetime.now(UTC) + timedelta(days=2)) == 3
    with log.write() as connection:
        tamper(connection)
    faults = check(log)
    assert [(fault.session_id, fault.reason) for fault in faults] == [
        (chain, f"differs from the head kept for {day}")
    ]


def test_a_head_is_kept_once(log: Ledger) -> None:
    later = datetime.now(UTC) + timedelta(days=2)
    assert [keep_past_heads(log, later), keep_past_heads(log, later)] == [3, 0]
    with log.read() as connection:
        kept = {row.session_id: row.entry_hash for row in connection.execute(select(access_heads))}
        assert kept == {
            chain or "": entry(connection, chain, "three").entry_hash for chain in ("a", "b", None)
        }


def test_days_that_are_over_have_their_heads_kept_an_hour_after_midnight(log: Ledger) -> None:
    now = datetime.now(UTC)
    midnight = datetime(now.year, now.month, now.day, tzinfo=UTC) + timedelta(days=1)
    assert keep_past_heads(log, midnight - timedelta(hours=1)) == 0
    assert keep_past_heads(log, midnight + timedelta(minutes=59)) == 0
    assert keep_past_heads(log, midnight + timedelta(minutes=61)) == 3
    assert keep_past_heads(log, midnight + timedelta(days=3)) == 0
    assert check(log) == []
