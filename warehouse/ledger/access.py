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

from warehouse.ledger.engine import now_text
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


def keep_heads(connection: Connection, day: str) -> int:
    """Keep the head that every chain had at the end of `day` (YYYY-MM-DD); returns how many heads were new.

    A head once kept is never changed: entries that appear later for its day break the check.
    """
    last = (
        select(func.max(access_log.c.access_id).label("access_id"))
        .where(
            access_log.c.accessed_at >= day, access_log.c.accessed_at < day + "U"
        )  # 'U' sorts after the 'T' of a time
        .group_by(access_log.c.session_id)
        .subquery()
    )
    heads = connection.execute(
        select(access_log.c.session_id, access_log.c.entry_hash).join(
            last, access_log.c.access_id == last.c.access_id
        )
    ).all()
    insert = postgresql.insert if connection.dialect.name == "postgresql" else sqlite.insert
    count = 0
    for session_id, entry_hash in heads:
        count += connection.execute(
            insert(access_heads)
            .values(day=day, session_id=session_id or NO_SESSION, entry_hash=entry_hash, kept_at=now_text())
            .on_conflict_do_nothing()
        ).rowcount
    return count


def keep_past_heads(connection: Connection, now: datetime | None = None) -> int:
    """Keep the heads of every day that is over and has none yet; returns how many heads were new.

    A day is over an hour after midnight: an attempt is dated before its transaction is committed.
    """
    today = ((now or datetime.now(UTC)) - timedelta(hours=1)).date().isoformat()
    day = func.substr(access_log.c.accessed_at, 1, 10)
    days = connection.execute(
        select(day)
        .where(access_log.c.accessed_at < today, day.not_in(select(access_heads.c.day)))
        .distinct()
        .order_by(day)
    ).scalars()
    return sum(keep_heads(connection, found) for found in list(days))


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


def list_access_days(connection: Connection) -> list[str]:
    """The days that have entries in the audit log, oldest first."""
    day = func.substr(access_log.c.accessed_at, 1, 10)
    return list(connection.execute(select(day).distinct().order_by(day)).scalars())


def read_access_rows(connection: Connection, day: str) -> list[RowMapping]:
    """The entries of the audit log of one day (YYYY-MM-DD)."""
    query = (
        select(access_log)
        .where(
            access_log.c.accessed_at >= day, access_log.c.accessed_at < day + "U"
        )  # 'U' sorts after the 'T' of a time
        .order_by(access_log.c.access_id)
    )
    return list(connection.execute(query).mappings())


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
