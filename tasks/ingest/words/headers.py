"""The header row of a table of questions, which readers and tables look for."""

from __future__ import annotations

import re
from collections.abc import Sequence

from tasks.ingest.words.columns import Header, find_header, fold_header

# Header names that, in the middle of a paper, say by themselves that their column holds questions; names like
# `内容` or `Title` also head the tables of data that stems show.
_STRONG_STEM = re.compile(
    r"题|试题|问题|题干|stem|questions?|question (?:text|stem|content)|problems?|prompt", re.IGNORECASE
)


KEY_CELL = re.compile(
    r"^\s*(?:[A-Ja-j](?:[\s,，、;；]*[A-Ja-j]){0,7}|√|×|✓|✗|对|错|正确|错误|T|F|true|false)\s*$",
    re.IGNORECASE,
)


MIN_STEM = 4


def find_question_header(rows: Sequence[Sequence[str]]) -> Header | None:
    """Return the header of a table of questions, or None where the table holds something else."""
    if not rows or max(len(row) for row in rows) < 2:
        return None
    header = find_header(rows)
    if header is None or header.row > 5:
        return None
    stem = fold_header(header.names[header.columns["stem"]])
    offers = len(header.options) >= 2 or "options" in header.columns
    answers = "answer" in header.columns
    is_strong = _STRONG_STEM.search(stem) is not None
    if not (offers or answers) and not (is_strong and ({"number", "type"} & set(header.columns))):
        return None
    if not is_strong and not offers and not _are_keys(rows, header):
        return None
    column = header.columns["stem"]
    stems = [row[column].strip() for row in rows[header.row + 1 :] if column < len(row)]
    return header if any(len(text) >= MIN_STEM for text in stems) else None


def _are_keys(rows: Sequence[Sequence[str]], header: Header) -> bool:
    """Whether the answer column holds letters or judgements, and nothing else."""
    column = header.columns.get("answer")
    if column is None:
        return False
    keys = [row[column] for row in rows[header.row + 1 :] if column < len(row) and row[column].strip()]
    return len(keys) >= 2 and all(KEY_CELL.match(key) for key in keys)
