"""Moments as the ledger keeps them."""

from __future__ import annotations

from datetime import UTC, datetime


def now_text() -> str:
    """The present moment in UTC as ISO text with microseconds: sorts as it reads."""
    return datetime.now(UTC).isoformat(timespec="microseconds")


def write_moment(now: float) -> str:
    """A moment (Unix time) in the form of now_text."""
    return datetime.fromtimestamp(now, UTC).isoformat(timespec="microseconds")
