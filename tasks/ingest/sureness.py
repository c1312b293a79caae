"""What the OCR of a question's own lines says of it, as notes for those who look at it."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence
from typing import Any

from tasks.ingest.readers.extraction import Line

READ_BY_OCR, UNSURE, DIFFERENT = "ocr", "ocr_unsure", "readings_differ"
# Of 120 questions of scans half were wrong whose characters were read less surely, and one in seventeen of the others.
LEAST_SURE = 0.98
# Of 28 that another program had read before, six of seven were wrong where so little agreed, and none of the others.
LEAST_AGREED = 0.93
# A text layer of which hardly anything agrees was never made from this page.
LEAST_OF_PAGE = 0.5


def note_sureness(questions: Sequence[dict[str, Any]], lines: Sequence[Line], starts: Sequence[int]) -> None:
    """Note of questions that OCR read them, how surely, and whether a scanner read the same.

    `questions` are rows on their way to be landed, `starts` the offsets of the lines in the raw text.
    """
    if all(line.sure is None for line in lines):
        return
    other = {page for page in {line.page for line in lines} if _agreed_on(lines, page) < LEAST_OF_PAGE}
    for row in questions:
        first, last = row["text_start"], row["text_end"]
        if first is None or last is None:
            continue
        begin = max(bisect_left(starts, first + 1) - 1, 0)
        own = [
            line for line in lines[begin : max(bisect_left(starts, last), begin + 1)] if line.sure is not None
        ]
        if not own:
            continue
        found = [READ_BY_OCR]
        if _weigh(own, lambda line: line.sure) < LEAST_SURE:
            found.append(UNSURE)
        if _weigh([line for line in own if line.page not in other], lambda line: line.agreed) < LEAST_AGREED:
            found.append(DIFFERENT)
        row["parse_notes"] = list(dict.fromkeys([*row["parse_notes"], *found]))


def _agreed_on(lines: Sequence[Line], page: int) -> float:
    return _weigh([line for line in lines if line.page == page], lambda line: line.agreed)


def _weigh(lines: Sequence[Line], tell: Callable[[Line], float | None]) -> float:
    """The mean of what is told of lines, by their length; 1 where nothing is."""
    told = [(len(line.text), value) for line in lines if (value := tell(line)) is not None]
    total = sum(size for size, _ in told)
    return sum(size * value for size, value in told) / total if total else 1.0
