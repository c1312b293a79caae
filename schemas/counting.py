"""Counts as they are said: `1 question`, `2 questions`."""

from __future__ import annotations


def say_count(count: float, one: str, many: str = "") -> str:
    """The count and what is counted, `one` of it or `many`: by default `one` with an s."""
    shown = f"{count:,}" if isinstance(count, int) else f"{count:g}"
    return f"{shown} {one if count == 1 else many or f'{one}s'}"
