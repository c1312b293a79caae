"""Texts and names as they stand in SQL."""

from __future__ import annotations


def quote_text(text: str) -> str:
    """`text` as a SQL literal."""
    return "'" + text.replace("'", "''") + "'"


def quote_name(name: str) -> str:
    """`name` as a SQL identifier."""
    return '"' + name.replace('"', '""') + '"'
