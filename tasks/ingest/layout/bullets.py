"""Options without letters.

Such options stand after bullets, or after `T、` and `F、`. They are written as `A. `, `B. ` … where several questions
of a paper print them the same way.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from tasks.ingest.layout.indexed_lines import IndexedLines
from tasks.ingest.layout.pieces import Piece, rewrite
from tasks.ingest.words.answers import read_truth
from tasks.ingest.words.grammar import truth_word

_BULLET = re.compile(r"\s*(?P<sign>[•·●▪■◆◇➢❖○◦\uf000-\uf0ff*+\-–])(?:\s+)(?=\S)")
_LETTERS = "ABCDEFGHIJ"
_MIN_GROUPS = 3
_TRUTH = re.compile(
    rf"(?P<lead>^|\s)(?P<label>[TFYN]|{truth_word()})\s*[.、．)）:：]\s*(?P<word>{truth_word()}|是|否)(?=\s|$)"
)
# without one of these the pattern above, which begins anywhere, matches nothing
_TRUTH_WORD = re.compile(rf"[.、．)）:：]\s*(?:{truth_word()}|是|否)(?=\s|$)")
_OPTION = re.compile(r"\s*[（(\[]?(?P<letter>[A-J])\s*[)）\].．、:：]\s*")


def write_unlettered(lines: IndexedLines) -> IndexedLines:
    """Write options after bullets, or after T and F, with letters."""
    return _write_bullets(_write_truths(lines))


def _write_truths(lines: IndexedLines) -> IndexedLines:
    """Write `T、对` and `F、错`, `true. 正确` and `false. 错误` as the options A and B."""
    if _TRUTH_WORD.search(lines.text) is None:
        return lines
    changed: dict[int, Piece] = {}
    for index, piece in enumerate(lines.pieces):
        match = _TRUTH.search(piece.text) if _TRUTH_WORD.search(piece.text) else None
        while match is not None:
            letter = "A" if read_truth(match.group("label")) == "true" else "B"
            mark = f"{'  ' if match.start('label') else ''}{letter}. "
            piece = rewrite(piece, match.start("word"), mark, match.start("label"))
            match = _TRUTH.search(piece.text, match.start("label") + len(mark))
            changed[index] = piece
    return lines.replace(changed)


def _write_bullets(lines: IndexedLines) -> IndexedLines:
    pieces = lines.pieces
    marks = {index: _BULLET.match(pieces[index].text) for index in lines.open_with_sign()}
    signs = {index: match.group("sign") for index, match in marks.items() if match is not None}
    usual = Counter(signs.values()).most_common(1)
    if not usual or usual[0][1] < 2 * _MIN_GROUPS:
        return lines
    sign = usual[0][0]
    groups: list[list[int]] = []
    for index, own in signs.items():
        if own != sign:
            continue
        if (groups and groups[-1][-1] == index - 1) or (
            groups and index - groups[-1][-1] == 2 and pieces[index - 1].wraps
        ):
            groups[-1].append(index)
        else:
            groups.append([index])
    offered = [group for group in groups if 2 <= len(group) <= 8 and group[0] > 0]
    if len(offered) < max(_MIN_GROUPS, 0.7 * len(groups)) or not _ask(offered, pieces):
        return lines
    return lines.replace(
        {
            index: rewrite(pieces[index], match.end(), f"{_LETTERS[place]}. ")
            for group in offered
            for place, index in enumerate(group)
            if (match := marks[index]) is not None
        }
    )


_QUESTION = re.compile(
    r"[？?]|_{2,}|[（(]\s*[)）]|[:：]\s*$|(?i:choose|select|which|what)|选择|下列|哪|的是|\.\.\.\s*$"
)


def _ask(groups: Sequence[Sequence[int]], pieces: Sequence[Piece]) -> bool:
    """Whether most lists stand below a line that asks, and no letters stand in the paper.

    Otherwise they list points.
    """
    asking = sum(
        1
        for group in groups
        if any(_QUESTION.search(piece.text) for piece in pieces[max(0, group[0] - 3) : group[0]])
    )
    lettered = sum(1 for piece in pieces if _OPTION.match(piece.text))
    return asking >= 0.6 * len(groups) and lettered < len(groups)
