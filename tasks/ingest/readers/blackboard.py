"""Questions as Blackboard takes them in: a line each, its parts between tabs."""

from __future__ import annotations

from collections.abc import Sequence

from tasks.ingest.readers.extraction import Extraction
from tasks.ingest.readers.gift import ask_pairs, offer_choices, read_markup_text

_FREE = {"ESS": "essay", "SR": "short_answer", "NUM": "short_answer", "FIB": "short_answer"}
_OTHER = ("FIB_PLUS", "FIL", "OP", "ORD", "JUMBLED_SENTENCE", "QUIZ_BOWL")
_TYPES = frozenset((*_FREE, *_OTHER, "MC", "MA", "TF", "MAT"))


def find_blackboard(text: str) -> Extraction | None:
    """The questions of a file whose lines all begin with one of Blackboard's types, or None."""
    rows = [line.rstrip().split("\t") for line in text.splitlines() if line.strip()]
    if len(rows) < 2 or any(len(row) < 2 or row[0].strip().upper() not in _TYPES for row in rows):
        return None
    records: list[dict[str, str]] = []
    unread: list[str] = []
    for kind, *cells in rows:
        found = _read_row(kind.strip().upper(), [read_markup_text(cell) for cell in cells])
        unread += [] if found else [kind]
        records += found
    extraction = Extraction(converter="blackboard", converter_version="1", records=[*records])
    extraction.leave_unread(unread)
    return extraction


def _read_row(kind: str, cells: Sequence[str]) -> list[dict[str, str]]:
    stem, *rest = cells
    if kind in ("MC", "MA"):
        pairs = zip(rest[::2], rest[1::2], strict=False)
        return [
            {"question": stem} | offer_choices([(text, flag.casefold() == "correct") for text, flag in pairs])
        ]
    answer = rest[0] if rest else ""
    if kind == "TF":
        return [{"question": stem, "type": "true_false", "answer": answer}]
    if kind == "MAT":
        return ask_pairs(stem, [*zip(rest[::2], rest[1::2], strict=False)])
    if kind in _FREE:
        is_gap = kind == "FIB" and "__" in stem
        return [{"question": stem, "type": "fill_in_the_blank" if is_gap else _FREE[kind], "answer": answer}]
    return []
