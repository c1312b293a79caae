"""What the check of the audit log finds."""

from __future__ import annotations

from typing import NamedTuple

from warehouse.ledger.engine.logs.chain import FIRST_HASH


class LogFinding(NamedTuple):
    """Something that is not as it was written.

    Attributes:
        name: what kind of change; docs/attacks.md lists the kinds.
        where: the entry, session, run, set, user or file.
        number: the entry of the log, where it is one.
    """

    name: str
    where: str
    reason: str
    number: int | None = None


class Seen(NamedTuple):
    """What an earlier check found as it was written, and is not read again.

    Attributes:
        session_ids: sessions whose answers were those of the log, and their calls as they were closed.
        set_ids: sets that were as they were drawn.
        number: the entry up to which the chain was followed.
        again_after: the entry after which some are read once more.
        again_until: the last of these.
    """

    session_ids: frozenset[str] = frozenset()
    set_ids: frozenset[str] = frozenset()
    number: int = 0
    entry_hash: str = FIRST_HASH
    again_after: int = 0
    again_until: int = 0
