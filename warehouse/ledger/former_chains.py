"""The chains of sessions of before the one chain: one for each session, and one for attempts that named none.

They are kept as they were written and still checked: each entry against the one before it, the last one against the head kept
with the session, those of a day against the head kept for it. The first entry of the one chain holds all their last hashes.
"""

from __future__ import annotations

import hashlib
import json
from typing import NamedTuple

from sqlalchemy import Connection, Row, select

from warehouse.ledger.chain import FIRST_HASH, digest_former_heads
from warehouse.ledger.tables import access_heads, sessions

# Where kept heads have the chain of the attempts that name no session.
NO_SESSION = ""


class Break(NamedTuple):
    """Where a former chain is not what was written: the chain, the entry (null at its end), and what was found."""

    session_id: str
    access_id: int | None
    reason: str


class FormerChains:
    """Checks the entries of former chains as they come, in the order of their numbers."""

    def __init__(self) -> None:
        self.breaks: list[Break] = []
        self._ends: dict[str, str] = {}
        self._day_ends: dict[tuple[str, str], tuple[int, str]] = {}
        self._broken: set[str] = set()

    def add(self, row: Row[tuple[object, ...]]) -> None:
        """Check the next entry."""
        chain = row.session_id or NO_SESSION
        if chain not in self._broken:
            expected = compute_former_hash(
                row.previous_hash or "",
                row.user_id,
                row.session_id,
                row.action,
                row.http_status,
                row.code,
                row.accessed_at,
            )
            if row.previous_hash != self._ends.get(chain, FIRST_HASH):
                self._note(chain, row.access_id, "does not follow the entry before it")
            elif row.entry_hash != expected:
                self._note(chain, row.access_id, "was changed after it was written")
        self._ends[chain] = row.entry_hash
        self._day_ends[(chain, row.accessed_at[:10])] = (row.access_id, row.entry_hash)

    def finish(self, connection: Connection) -> str | None:
        """Check the ends; returns the SHA-256 over them that the one chain begins with, null where there are none."""
        heads = connection.execute(
            select(sessions.c.session_id, sessions.c.access_hash).where(sessions.c.access_hash.is_not(None))
        )
        for session_id, head in heads:
            if self._ends.get(session_id) != head and session_id not in self._broken:
                self._note(session_id, None, "ends before the last entry that was written")
        for kept in connection.execute(select(access_heads)):
            found = self._day_ends.get((kept.session_id, kept.day))
            if found is None or found[1] != kept.entry_hash:
                self._note(
                    kept.session_id,
                    None if found is None else found[0],
                    f"differs from the head kept for {kept.day}",
                )
        return digest_former_heads(self._ends)

    def _note(self, chain: str, access_id: int | None, reason: str) -> None:
        self._broken.add(chain)
        self.breaks.append(Break(chain, access_id, reason))


def compute_former_hash(
    previous_hash: str,
    user_id: str | None,
    session_id: str | None,
    action: str,
    status: int,
    code: str | None,
    at: str,
) -> str:
    """SHA-256 over the previous hash of the chain and the entry, as hexadecimal text."""
    entry = json.dumps([previous_hash, user_id, session_id, action, status, code, at], separators=(",", ":"))
    return hashlib.sha256(entry.encode()).hexdigest()
