"""Keys in words that nobody listed: what repeats once a question and says labels.

`Richtig ist B.`, `Answer to Question 4` above `(B) is correct.`, `……故选B。` are written as `Answer: B`.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, replace

from tasks.ingest.layout.indexed_lines import IndexedLines
from tasks.ingest.layout.pieces import Piece, rewrite

_MIN_TIMES = 3
_MIN_SHARE = 0.5  # of the option lists that have no key yet
_FIRST = re.compile(r"(?:^|\s)[（(\[]?[Aa]\s*[)）.．、:：\]]\s*\S")
_SECOND = re.compile(r"(?:^|\s)[（(\[]?[Bb]\s*[)）.．、:：\]]\s*\S")
_LETTERS = r"(?:[A-J](?:\s*(?:[,，、&]|and)?\s*[A-J]){0,5}|(?<=[（(\[])[a-j](?=[)）\]]))"
# a key that stands alone, within the first words of a line
_OPENING = re.compile(
    rf"([^\n]{{0,40}}?)[（(\[]?(?<![A-Za-z0-9])({_LETTERS})(?![A-Za-z0-9'’])[)）\]]?\s*[.．。:：,，;；]?"
)
_CLOSING = re.compile(rf"([\u4e00-\u9fff]{{2}}\s*[:：]?\s*|[A-Za-z]+\s*[:：]\s*)({_LETTERS})\s*[.。]?\s*$")
_KNOWN = re.compile(r"\s*(?:答案：|Answer:)")
_HAN = re.compile(r"[\u4e00-\u9fff]")
_DIGITS = re.compile(r"\d+")
_WORD = re.compile(r"[A-Za-z]{2}|[^\W\d_A-Za-z]")


@dataclass(frozen=True)
class _Key:
    """A line that may give a key: its place, its letters, and where the text after them begins."""

    piece: int
    letters: str
    end: int


def write_repeated_keys(lines: IndexedLines) -> IndexedLines:
    """Write the keys that a paper prints once a question, in words of its own, as answers.

    It is done where they follow most of the lists of options, and say different letters.
    """
    pieces = lines.pieces
    firsts = [place for place, piece in enumerate(pieces) if _FIRST.search(piece.text) is not None]
    known = sum(1 for piece in pieces if _KNOWN.match(piece.text) is not None)
    if len(firsts) < _MIN_TIMES or known > _MIN_SHARE * len(firsts):
        return lines
    seconds = [place for place, piece in enumerate(pieces) if _SECOND.search(piece.text) is not None]
    opening, closing = _find_forms(pieces)
    for forms, writes in ((opening, True), (closing, False)):
        found = max(forms.values(), key=len, default=[])
        if _is_one_each(found, firsts, seconds, len(firsts) - known):
            return _write(lines, found, is_whole=writes)
    return lines


def _find_forms(pieces: Sequence[Piece]) -> tuple[dict[str, list[_Key]], dict[str, list[_Key]]]:
    """The lines with a key by what stands before it: at their beginning, or at their end."""
    opening: dict[str, list[_Key]] = {}
    closing: dict[str, list[_Key]] = {}
    for place, piece in enumerate(pieces):
        text = piece.text
        match = _OPENING.match(text) if piece.kind != "table" else None
        if match is not None:
            before = _DIGITS.sub("#", match.group(1).casefold()).strip()
            if not _WORD.search(before) and place and _continues(pieces[place - 1].text, match.group(2)):
                continue  # `D. None of these` below option C
            if not _WORD.search(before):
                # nothing but signs before it: two words after it must repeat
                after = text[match.end() :].casefold().split()[:2]
                before = f"{before}… {' '.join(after)}" if len(after) == 2 else ""
            if before:
                opening.setdefault(before, []).append(_Key(place, match.group(2), match.end()))
        tail = _CLOSING.search(text[-24:]) if len(text) > 24 or match is None else None
        if tail is not None:
            closing.setdefault(tail.group(1).strip(), []).append(_Key(place, tail.group(2), len(text)))
    return opening, closing


_OPTION = re.compile(r"\s*[（(\[]?([A-Ja-j])\s*[)）.．、:：\]]")


def _continues(above: str, letters: str) -> bool:
    """Whether a letter is the next one after that of the option above."""
    option = _OPTION.match(above)
    return option is not None and len(letters) == 1 and ord(letters) == ord(option.group(1)) + 1


def _is_one_each(found: Sequence[_Key], firsts: Sequence[int], seconds: Sequence[int], count: int) -> bool:
    """Whether the keys stand after most lists of options, one each, and are not always the same."""
    if len(found) < max(_MIN_TIMES, _MIN_SHARE * count) or len({key.letters for key in found}) < 2:
        return False
    owners = [bisect_left(firsts, key.piece) for key in found]
    offered = sum(
        1
        for key, owner in zip(found, owners, strict=True)
        if owner and bisect_left(seconds, key.piece) > bisect_left(seconds, firsts[owner - 1])
    )
    return len(set(owners)) >= 0.9 * len(found) and offered >= 0.9 * len(found)


def _write(lines: IndexedLines, found: Sequence[_Key], *, is_whole: bool) -> IndexedLines:
    pieces = lines.pieces
    above = [_DIGITS.sub("#", pieces[key.piece - 1].text.casefold()).strip() for key in found]
    usual = max(set(above), key=above.count)
    # `Answer to Question 3`, on a line of its own above each of them
    has_heading = is_whole and above.count(usual) >= 0.7 * len(found) and _WORD.search(usual) is not None
    written: list[Piece] = []
    by_place = {key.piece: key for key in found}
    for place, piece in enumerate(pieces):
        key = by_place.get(place)
        if key is None:
            written.append(piece)
            continue
        letters = re.sub(
            r"[^A-J]|(?i:and)", "", key.letters.upper() if len(key.letters) == 1 else key.letters
        )
        mark = ("答案：" if _HAN.search(piece.text) is not None else "Answer: ") + letters
        if is_whole:
            if has_heading and written and _DIGITS.sub("#", written[-1].text.casefold()).strip() == usual:
                written.pop()
            gap = " " if piece.text[key.end :].strip() else ""
            written.append(rewrite(piece, key.end, f"{mark}{gap}"))
        else:
            last = max(piece.start, piece.end - 1)
            written.append(piece)
            written.append(
                replace(
                    piece, text=mark, start=last, sources=(last,) * len(mark), kind="body", label_length=0
                )
            )
    return IndexedLines(written)
