"""Letters that judge in the language of a paper: `B jika benar, S jika salah`."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from itertools import islice, pairwise
from typing import NamedTuple

from schemas import patterns as re
from tasks.ingest.layout.pieces import IndexedLines, Piece, rewrite
from tasks.ingest.words.answers import read_truth
from tasks.ingest.words.grammar import truth_words
from tasks.ingest.words.labels import Label

_LETTER = r"[A-ZÀ-ÞĀ-ỸΑ-ΩА-Я]"
_ALONE = re.compile(rf"(?<![^\W_]){_LETTER}(?![^\W_])")
_WORD = re.compile(r"[^\W\d_]+")
_JUDGING = frozenset(word.casefold() for words in truth_words() for word in words if word.isalpha())
_OPTION = re.compile(r"\s*[（(]?([A-Za-z])\s*[)）.．、:：]\s*\S")
# So near a word that judges stands its letter.
_NEAR = 3
_ENTRY = re.compile(
    rf"(?<![^\W_])(\d{{1,3}})\s*[.．、:：)）\-–=]{{0,2}}\s*[（(]?({_LETTER})[)）]?(?![^\W_])[\s,，、;；.。|]*"
)
_HELD = re.compile(rf"[（(\[_]\s*({_LETTER})\s*[)）\]_]")
_LONGEST_LEAD, _LONGEST_TOLD = 16, 160


class _Told(NamedTuple):
    """The letters that judge the questions with these numbers, which begin at a line."""

    true: str
    false: str
    place: int
    numbers: frozenset[int]
    # whether no other section counts so
    is_unique: bool


def write_judgements(lines: IndexedLines) -> IndexedLines:
    """Write the letters that a paper says judge its statements as T and F."""
    numbered = [*lines.numbered.items()]
    read = (_read_told(lines, numbered, place, piece.text) for place, piece in enumerate(lines.pieces))
    told = islice(filter(None, read), _MOST_TOLD)
    changed: dict[int, Piece] = {}
    for one in told:
        for place in range(one.place + 1, len(lines.pieces)):
            before = piece = changed.get(place, lines.pieces[place])
            for begin, end, sign in reversed(_list_written(one, piece, lines.labels[place] is not None)):
                piece = rewrite(piece, end, sign, begin)
            if piece is not before:
                changed[place] = piece
    return lines.replace(changed)


# A paper has hardly more sections of statements; a bank that says so of each question would take for ever.
_MOST_TOLD = 20


def _read_told(
    lines: IndexedLines, numbered: Sequence[tuple[int, Label]], place: int, text: str
) -> _Told | None:
    """The two letters of a line that says how to judge; None where it says none.

    `numbered` are the lines with the numbers of questions, in order.
    """
    if len(text) > _LONGEST_TOLD or lines.pieces[place].kind == "table":
        return None
    if _JUDGING.isdisjoint(_WORD.findall(text.casefold())) or {*"ABC"} <= {*_ALONE.findall(text)}:
        return None  # `Choose the correct answer (A, B, C or D). No calculators.`
    words = _WORD.findall(text)
    first = bisect_right(numbered, place, key=lambda one: one[0])
    if place in lines.numbered and [label.value for _, label in numbered[first : first + 2]] != [1, 2]:
        return None  # a statement, and no heading as `Exercise 4. Right or wrong?`
    around = [_OPTION.match(piece.text) for piece in lines.pieces[max(place - 1, 0) : place + 2]]
    letters = [ord(one[1]) if one is not None else 0 for one in around]
    own = _OPTION.match(text)
    if own is not None and (
        any(right == left + 1 for left, right in pairwise(letters))
        or re.search(rf"\s[（(]?{chr(ord(own[1]) + 1)}\s*[)）.．、:：]", text)
    ):
        return None  # `C. A is true but R is false.`, `C) true, false  D) false, true`
    found: dict[str, str] = {}
    for at, word in enumerate(words):
        truth = read_truth(word) if len(word) > 1 and word.casefold() in _JUDGING else None
        near = [one for one in words[max(0, at - _NEAR) : at] if len(one) == 1 and one not in found.values()]
        near = near[-1:] or [one for one in words[at + 1 : at + 1 + _NEAR] if len(one) == 1]
        if truth is not None and truth not in found and near and _ALONE.fullmatch(near[0]):
            found[truth] = near[0]
    found = found if len(found) > 1 else _read_initials(words)
    if len(found) < 2 or len({*found.values()}) < 2:
        return None
    if {truth: read_truth(letter) for truth, letter in found.items()} == {"true": "true", "false": "false"}:
        return None  # known everywhere
    numbers: list[int] = []
    for _, label in islice(numbered, first, None):
        if numbers and label.value != numbers[-1] + 1:
            break
        numbers.append(label.value)
    if not numbers:
        return None
    above = {label.value for at, label in lines.numbered.items() if at < place}
    is_unique = numbers[0] > 1 and above.isdisjoint(numbers)
    return _Told(found["true"], found["false"], place, frozenset(numbers), is_unique)


def _read_initials(words: Sequence[str]) -> dict[str, str]:
    """The first letters of two judging words that stand together: `Benar / Salah`."""
    for one, other in (*pairwise(words), *zip(words, words[2:], strict=False)):
        truths = {read_truth(word) or "": word[0].upper() for word in (one, other) if len(word) > 2}
        if truths.keys() == {"true", "false"}:
            return truths
    return {}


def _list_written(told: _Told, piece: Piece, is_numbered: bool) -> list[tuple[int, int, str]]:
    """Where letters of a line judge questions, and what each says."""
    signs = {told.true: "T", told.false: "F"}
    text = piece.text
    entries = list(_ENTRY.finditer(text))
    own = [one for one in entries if int(one[1]) in told.numbers and one[2] in signs]
    if own and entries[0].start() <= _LONGEST_LEAD and (len(entries) > 1 or is_numbered):
        is_whole = sum(len(one[0]) for one in entries) + entries[0].start() >= len(text.rstrip())
        if told.is_unique or (is_whole and len(own) == len(entries)):
            return [(one.start(2), one.end(2), signs[one[2]]) for one in own]
    held = _HELD.search(text) if is_numbered else None
    if held is not None and held[1] in signs:
        return [(held.start(1), held.end(1), signs[held[1]])]
    return []
