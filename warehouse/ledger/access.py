"""The audit log: one hash chain per session, its heads kept daily.

Each entry's hash covers the entry and the hash before it, so that an entry cannot be changed, moved or taken out
without breaking its chain; the head kept with the session and the heads kept daily show when the end was cut off.
Attempts that name no session form one chain of their own.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from sqlalchemy import Connection, RowMapping, bindparam, func, select, text, update
from sqlalchemy.dialects import postgresql, sqlite

from warehouse.ledger.engine import Ledger, now_text
from warehouse.ledger.statements import HotStatement
from warehouse.ledger.tables import access_heads, access_log, sessions

FIRST_HASH = "0" * 64
# Where kept heads have the chain of the attempts that name no session.
NO_SESSION = ""
_PAGE = 20_000

_INSERT = HotStatement(
    access_log.insert()
    .inline()
    .values({column.name: bindparam(column.name) for column in access_log.c if column.name != "access_id"})
)


@dataclass(frozen=True)
class ChainFault:
    """One place where the audit log is not what was written.

    Attributes:
        session_id: the chain; empty for attempts that name no session.
        access_id: the first entry that does not fit; null where entries are missing at the end.
        reason: what was found.
    """

    session_id: str
    access_id: int | None
    reason: str


def append_access(
    connection: Connection,
    *,
    user_id: str | None,
    session_id: str | None,
    action: str,
    status: int,
    code: str | None,
    previous_hash: str | None,
    at: str | None = None,
) -> str:
    """Write one entry after `previous_hash` and return its hash, the chain's new head.

    The caller holds the chain (the session's row) and stores the new head there. `at` defaults to the present.
    """
    at = at or now_text()
    previous = previous_hash or FIRST_HASH
    entry_hash = compute_entry_hash(previous, user_id, session_id, action, status, code, at)
    _INSERT.run(
        connection,
        {
            "user_id": user_id,
            "session_id": session_id,
            "action": action,
            "http_status": status,
            "code": code,
            "previous_hash": previous,
            "entry_hash": entry_hash,
            "accessed_at": at,
        },
    )
    return entry_hash


def append_access_at_head(
    connection: Connection,
    *,
    user_id: str | None,
    session_id: str | None,
    action: str,
    status: int,
    code: str | None,
) -> None:
    """Write an entry for an attempt whose session is not held: finds the chain's head itself."""
    if connection.dialect.name == "postgresql":
        key = int.from_bytes(
            hashlib.sha256((session_id or NO_SESSION).encode()).digest()[:8], "big", signed=True
        )
        connection.execute(text("select pg_advisory_xact_lock(:key)"), {"key": key})
        connection.execute(
            select(sessions.c.session_id).where(sessions.c.session_id == session_id).with_for_update()
        ).all()
    entry_hash = append_access(
        connection,
        user_id=user_id,
        session_id=session_id,
        action=action,
        status=status,
        code=code,
        previous_hash=_read_head(connection, session_id),
    )
    if session_id is not None:
        connection.execute(
            update(sessions).where(sessions.c.session_id == session_id).values(access_hash=entry_hash)
        )


def compute_entry_hash(
    previous_hash: str,
    user_id: str | None,
    session_id: str | None,
    action: str,
    status: int,
    code: str | None,
    at: str,
) -> str:
    """SHA-256 over the previous hash and the entry, as hexadecimal text."""
    entry = json.dumps([previous_hash, user_id, session_id, action, status, code, at], separators=(",", ":"))
    return hashlib.sha256(entry.encode()).hexdigest()


def keep_past_heads(ledger: Ledger, now: datetime | None = None) -> int:
    """Keep the head that every chain had at the end of each day that is over; returns how many heads were new.

    Days are kept in order, so only those after the last kept one are read, and the ledger is held only to write. A day is over
    an hour after midnight: an attempt is dated before its transaction is committed. A head once kept is never changed: entries
    that appear later for its day break the check.
    """
    today = ((now or datetime.now(UTC)) - timedelta(hours=1)).date().isoformat()
    with ledger.read() as connection:
        last_day = connection.execute(select(func.max(access_heads.c.day))).scalar() or ""
        heads = [
            {
                "day": day,
                "session_id": session_id or NO_SESSION,
                "entry_hash": entry_hash,
                "kept_at": now_text(),
            }
            for day in _list_days(connection, last_day, today)
            for session_id, entry_hash in _read_day_heads(connection, day)
        ]
    if not heads:
        return 0
    insert = sqlite.insert if ledger.is_sqlite else postgresql.insert
    statement = insert(access_heads).on_conflict_do_nothing()
    with ledger.write() as connection:
        return sum(
            len(connection.execute(statement.values(**head).returning(access_heads.c.day)).all())
            for head in heads
        )


def verify_access_log(connection: Connection) -> list[ChainFault]:
    """Check every chain against its links, its head and its kept heads; empty when the log is whole."""
    kept: dict[tuple[str, str], str] = {
        (row.session_id, row.day): row.entry_hash for row in connection.execute(select(access_heads))
    }
    heads: dict[str, str] = {
        row.session_id: row.access_hash
        for row in connection.execute(
            select(sessions.c.session_id, sessions.c.access_hash).where(sessions.c.access_hash.is_not(None))
        )
    }
    faults: list[ChainFault] = []
    ends: dict[str, str] = {}
    day_ends: dict[tuple[str, str], tuple[int, str]] = {}
    broken: set[str] = set()
    for row in _read_entries(connection):
        chain = row["session_id"] or NO_SESSION
        expected = compute_entry_hash(
            row["previous_hash"] or "",
            row["user_id"],
            row["session_id"],
            row["action"],
            row["http_status"],
            row["code"],
            row["accessed_at"],
        )
        if chain not in broken:
            if row["previous_hash"] != ends.get(chain, FIRST_HASH):
                broken.add(chain)
                faults.append(ChainFault(chain, row["access_id"], "does not follow the entry before it"))
            elif row["entry_hash"] != expected:
                broken.add(chain)
                faults.append(ChainFault(chain, row["access_id"], "was changed after it was written"))
        ends[chain] = row["entry_hash"]
        day_ends[(chain, row["accessed_at"][:10])] = (row["access_id"], row["entry_hash"])
    for chain, head in heads.items():
        if ends.get(chain) != head and chain not in broken:
            faults.append(ChainFault(chain, None, "ends before the last entry that was written"))
    for (chain, day), head in kept.items():
        found = day_ends.get((chain, day))
        if found is None or found[1] != head:
            faults.append(
                ChainFault(chain, found[0] if found else None, f"differs from the head kept for {day}")
            )
    return faults


def read_last_id(ledger: Ledger) -> int:
    """The number of the last entry of the audit log, 0 when there is none; no entry below it is still to come.

    On a server numbers are given out before their transactions end: those under way are waited for.
    """
    last = select(func.coalesce(func.max(access_log.c.access_id), 0))
    if ledger.is_sqlite:
        with ledger.read() as connection:
            return int(connection.execute(last).scalar_one())
    with ledger.write() as connection:
        connection.execute(text("lock table access_log in share mode"))
        return int(connection.execute(last).scalar_one())


def count_entries(connection: Connection, first_id: int, last_id: int) -> int:
    """How many entries have numbers from `first_id` to `last_id`."""
    query = select(func.count()).where(access_log.c.access_id.between(first_id, last_id))
    return int(connection.execute(query).scalar_one())


def read_entries(connection: Connection, first_id: int, last_id: int) -> list[RowMapping]:
    """The entries with numbers from `first_id` to `last_id`, in order."""
    query = (
        select(access_log)
        .where(access_log.c.access_id.between(first_id, last_id))
        .order_by(access_log.c.access_id)
    )
    return list(connection.execute(query).mappings())


def _list_days(connection: Connection, after: str, before: str) -> list[str]:
    """The days with entries between two days (both left out), oldest first; found one by one in the index."""
    days: list[str] = []
    while True:
        next_at = connection.execute(
            select(func.min(access_log.c.accessed_at)).where(
                access_log.c.accessed_at >= (after and after + "U"),  # 'U' sorts after the 'T' of a time
                access_log.c.accessed_at < before,
            )
        ).scalar()
        if next_at is None:
            return days
        after = str(next_at)[:10]
        days.append(after)


def _read_day_heads(connection: Connection, day: str) -> list[tuple[str | None, str]]:
    """Every chain's last entry of a day: session (null for attempts that name none) and hash."""
    last = (
        select(func.max(access_log.c.access_id).label("access_id"))
        .where(access_log.c.accessed_at >= day, access_log.c.accessed_at < day + "U")
        .group_by(access_log.c.session_id)
        .subquery()
    )
    query = select(access_log.c.session_id, access_log.c.entry_hash).join(
        last, access_log.c.access_id == last.c.access_id
    )
    return [(row.session_id, row.entry_hash) for row in connection.execute(query)]


def _read_head(connection: Connection, session_id: str | None) -> str | None:
    chain = access_log.c.session_id.is_(None) if session_id is None else access_log.c.session_id == session_id
    return connection.execute(
        select(access_log.c.entry_hash).where(chain).order_by(access_log.c.access_id.desc()).limit(1)
    ).scalar()


def _read_entries(connection: Connection) -> Iterator[RowMapping]:
    """All entries in order, a page at a time: the log may be longer than memory."""
    last = 0
    while True:
        page = (
            connection.execute(
                select(access_log)
                .where(access_log.c.access_id > last)
                .order_by(access_log.c.access_id)
                .limit(_PAGE)
            )
            .mappings()
            .all()
        )
        yield from page
        if len(page) < _PAGE:
            return
        last = page[-1]["access_id"]
