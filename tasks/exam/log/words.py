"""What the check of the audit log finds."""

from __future__ import annotations

from typing import NamedTuple


class LogFinding(NamedTuple):
    """Something that is not as it was written.

    Attributes:
        name: what kind of change; docs/attacks.md lists the kinds.
        where: the entry, session, run, set, user or file.
        reason: a sentence.
        number: the entry of the log, where it is one.
    """

    name: str
    where: str
    reason: str
    number: int | None = None
