"""Tokens ended before their time: single ones, and all of a user's until a moment."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Final, NamedTuple

from sqlalchemy import Connection, delete, select

from warehouse.ledger.engine.logs.chain import Entry, add_entry
from warehouse.ledger.engine.moments import write_moment
from warehouse.ledger.engine.statements import HotStatement, Later
from warehouse.ledger.engine.tables import ended_tokens

# No token lives longer (`token_longest_s` ends there), so no earlier row is needed.
_LONGEST_NEEDED_S: Final = 366 * 86_400
_ENDED = HotStatement(select(ended_tokens.c.kind, ended_tokens.c.name, ended_tokens.c.issued_until))


class EndedTokens(NamedTuple):
    """What was ended.

    Attributes:
        token_ids: tokens ended one by one (claim `jti`).
        users: by user, the Unix time until which all tokens issued to them are ended.
    """

    token_ids: frozenset[str]
    users: Mapping[str, float]


def read_ended_tokens(connection: Connection) -> Later[EndedTokens]:
    """Everything that was ended and could still be shown."""
    found = _ENDED.run(connection, {})

    def read() -> EndedTokens:
        rows = list(found)
        return EndedTokens(
            frozenset(name for kind, name, _ in rows if kind == "token"),
            {name: until for kind, name, until in rows if kind == "user"},
        )

    return Later(read)


def end_token(connection: Connection, token_id: str, now: float) -> None:
    """End one token; it stays ended while it could be shown, whatever the clock says."""
    _replace(connection, "token", token_id, now)


def end_user_tokens(connection: Connection, user_id: str, now: float) -> None:
    """End a user's tokens that were issued until `now`; what was ended before stays so."""
    _replace(connection, "user", user_id, now)


def digest_end(kind: str, name: str, issued_until: float) -> str:
    """What the audit log keeps of an end."""
    return hashlib.sha256(f"{kind} {name} {issued_until!r}".encode()).hexdigest()


def _replace(connection: Connection, kind: str, name: str, now: float) -> None:
    oldest = write_moment(now - _LONGEST_NEEDED_S)
    connection.execute(delete(ended_tokens).where(ended_tokens.c.ended_at < oldest))
    same = (ended_tokens.c.kind == kind, ended_tokens.c.name == name)
    before = connection.execute(select(ended_tokens.c.issued_until).where(*same)).scalar()
    # The clock may have been set back since.
    now = now if before is None else max(now, before)
    connection.execute(delete(ended_tokens).where(*same))
    connection.execute(
        ended_tokens.insert().values(kind=kind, name=name, issued_until=now, ended_at=write_moment(now))
    )
    entry = Entry("end_token", code=kind, target=name, digest=digest_end(kind, name, now), is_by_caller=True)
    add_entry(connection, entry)
