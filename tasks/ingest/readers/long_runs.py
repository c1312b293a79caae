"""Long runs of one sign, limited.

A line of a thousand spaces or dashes says no more than one of a hundred.

Patterns look for blanks and rules from every place of a line, so that the time for such a run grows by its square.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

from tasks.ingest.readers.extraction import Extraction, Line

# Wider than any gap or rule of a printed page.
LONGEST_RUN = 120
# Blanks of any kind, or one sign that is no letter, digit or bar of a table.
_RUN = re.compile(rf"(?<!\s)\s{{{LONGEST_RUN + 1},}}+|([^\w\s|]|_)(?<!\1\1)\1{{{LONGEST_RUN},}}+")


def limit_runs(extraction: Extraction) -> Extraction:
    """The extraction with every run at most LONGEST_RUN long.

    There is a warning where a run was longer.
    """
    count = 0

    def limit(text: str) -> str:
        nonlocal count
        if len(text) <= LONGEST_RUN:
            return text
        text, found = _RUN.subn(_shorten, text)
        count += found
        return text

    extraction.lines = [_limit_line(line, limit(line.text), limit) for line in extraction.lines]
    for sheet in extraction.sheets:
        sheet.rows[:] = [[limit(cell) for cell in row] for row in sheet.rows]
    if extraction.records is not None:
        extraction.records = [_limit_value(record, limit) for record in extraction.records]
    if count:
        extraction.warnings.append(
            f"{count} runs of more than {LONGEST_RUN} equal signs or blanks were read as {LONGEST_RUN} of them."
        )
    return extraction


def _shorten(run: re.Match[str]) -> str:
    return run[0][:LONGEST_RUN]


def _limit_line(line: Line, text: str, limit: Any) -> Line:
    if text == line.text:
        return line
    # What stood out keeps its place: each place moves by what was dropped before it.
    dropped = [(run.start() + LONGEST_RUN, run.end()) for run in _RUN.finditer(line.text)]

    def move(place: int) -> int:
        return place - sum(min(place, last) - first for first, last in dropped if place > first)

    return replace(
        line,
        text=text,
        label_length=move(line.label_length),
        cells=tuple(limit(cell) for cell in line.cells),
        emphasis=tuple((move(first), move(last), kind) for first, last, kind in line.emphasis),
    )


def _limit_value(value: Any, limit: Any) -> Any:
    if isinstance(value, str):
        return limit(value)
    if isinstance(value, dict):
        return {name: _limit_value(part, limit) for name, part in value.items()}
    if isinstance(value, list):
        return [_limit_value(part, limit) for part in value]
    return value
