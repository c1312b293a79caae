"""Boxes to be ticked, written as lettered options and their key.

The boxes are `☑ 正确  □ 错误`, `□ A 甲  ☑ B 乙`, `- [x] B. git log`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from tasks.ingest.layout.indexed_lines import IndexedLines
from tasks.ingest.layout.pieces import Piece, rewrite

_LETTERS = "ABCDEFGHIJ"
_TICKED = "☑☒✅🗹◉"
_BOX = re.compile(rf"(?:^\s*(?:[-*+]\s+)?|(?<=\s))(?P<box>[{_TICKED}□☐◻▢]|\[[ xX√✓]?\](?=\s))\s*(?=\S)")
_LABEL = re.compile(r"[（(]?([A-J])\s*(?:[)）.．、:：]\s*|(?=[\s\u4e00-\u9fff]))")


def write_ticks(lines: IndexedLines) -> IndexedLines:
    """Write the boxes of every question as options `A. …`, and ticks as a line `答案：B`.

    The line is written where some boxes of a paper are ticked. Boxes on a line of their own each that nobody ticked and
    no letter follows are left to the rules for options.
    """
    pieces = lines.pieces
    groups = _find_groups(lines)
    if not groups:
        return lines
    ticked = [group for group in groups if any(box.is_ticked for box in group)]
    is_keyed = len(ticked) >= 0.5 * len(groups) and any(
        not box.is_ticked for group in ticked for box in group
    )
    changed: dict[int, Piece] = {}
    keys: dict[int, Piece] = {}
    for group in groups:
        if not (
            is_keyed or any(box.letter for box in group) or len({box.piece for box in group}) < len(group)
        ):
            continue
        for place, box in reversed(list(enumerate(group))):
            piece = changed.get(box.piece, pieces[box.piece])
            mark = f"{'  ' if box.begin else ''}{_LETTERS[place]}. "
            changed[box.piece] = rewrite(piece, box.end, mark, box.begin)
        chosen = "".join(_LETTERS[place] for place, box in enumerate(group) if box.is_ticked)
        if is_keyed and chosen:
            last = pieces[group[-1].piece]
            text = f"答案：{chosen}"
            keys[group[-1].piece] = replace(
                last, text=text, start=max(last.start, last.end - 1), sources=(last.end - 1,) * len(text),
                kind="body", label_length=0,
            )  # fmt: skip
    written: list[Piece] = []
    for index, piece in enumerate(pieces):
        written.append(changed.get(index, piece))
        if index in keys:
            written.append(keys[index])
    return IndexedLines(written)


class _Box:
    """A box before an option.

    It holds its line, where it begins, where the option's text begins, and the letter between them.
    """

    def __init__(self, piece: int, begin: int, end: int, letter: str, is_ticked: bool) -> None:
        self.piece, self.begin, self.end, self.letter, self.is_ticked = piece, begin, end, letter, is_ticked


_STARTS = frozenset(f"-*+[{_TICKED}□☐◻▢")


def _find_groups(lines: IndexedLines) -> list[list[_Box]]:
    """The boxes of every question.

    They are on lines that follow each other and begin with a box, below a line that does not.
    """
    groups: list[list[_Box]] = []
    last = -2
    for index in lines.open_with(_STARTS):
        text = lines.pieces[index].text
        if lines.pieces[index].kind == "table":
            continue
        matches = list(_BOX.finditer(text))
        if not matches or text[: matches[0].start("box")].strip(" \t-*+"):
            continue
        boxes: list[_Box] = []
        for match in matches:
            label = _LABEL.match(text, match.end())
            sign = match.group("box")
            boxes.append(
                _Box(
                    index,
                    match.start("box") if boxes else 0,
                    label.end() if label else match.end(),
                    label.group(1) if label else "",
                    sign in _TICKED or sign[1:2] in ("x", "X", "√", "✓"),
                )
            )
        if groups and last == index - 1 and (not boxes[0].letter or boxes[0].letter != "A"):
            groups[-1].extend(boxes)
        else:
            groups.append(boxes)
        last = index
    return [
        group
        for group in groups
        if 2 <= len(group) <= len(_LETTERS) and group[0].piece > 0 and _counts(group)
    ]


def _counts(group: Sequence[_Box]) -> bool:
    """Whether the letters, where there are any, run from A."""
    letters = "".join(box.letter for box in group)
    return not letters or letters == _LETTERS[: len(group)]
