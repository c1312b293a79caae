"""A scan that another program has read before.

What its text layer says is put beside what OCR says of the same lines.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from difflib import SequenceMatcher

from tasks.ingest.readers.extraction import Line


def compare_readings(lines: Sequence[Line], others: Sequence[Line]) -> list[Line]:
    """The lines that OCR read with how far those of a text layer agree; the rest as they are.

    Lines of the two are matched by their height on the page, since each program parts a row in its own way.
    """
    by_page: dict[int, list[Line]] = defaultdict(list)
    for line in others:
        if line.box and line.kind != "furniture":
            by_page[line.page].append(line)
    return [
        replace(line, agreed=_compare(line, by_page[line.page]))
        if line.sure is not None and line.box and by_page.get(line.page)
        else line
        for line in lines
    ]


def _compare(line: Line, others: Sequence[Line]) -> float:
    left, top, right, foot = line.box
    beside = [
        other
        for other in others
        if top <= (other.box[1] + other.box[3]) / 2 <= foot and other.box[0] < right and other.box[2] > left
    ]
    said = _fold("".join(other.text for other in sorted(beside, key=lambda other: other.box[0])))
    own = _fold(line.text)
    if not own:
        return 1.0
    matcher = SequenceMatcher(None, own, said, autojunk=False)
    return sum(block.size for block in matcher.get_matching_blocks()) / max(len(own), 1)


def _fold(text: str) -> str:
    return "".join(one for one in text.casefold() if one.isalnum())
