"""Keys below all questions, told by their numbers alone: `KEY: 1b 2c | 7 a,b,d  9 = 125`."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate, pairwise
from typing import NamedTuple

from schemas import patterns as re
from tasks.ingest.layout.key_lines import read_key_line
from tasks.ingest.layout.pieces import IndexedLines, Piece, rewrite
from tasks.ingest.words.grammar import answer_mark, answer_name

_OPTION_A = re.compile(r"\s*[（(\[]?[Aa]\s*[)）\].．、:：]\s*\S")
# a number that is no part of another, of a decimal or of a word
_TOKEN = re.compile(r"(?<![\w.,/×÷=+\-])(\d{1,3})(?![\d%]|[.,/]\d)")
_LEADS, _TAILS = (
    re.compile(r"\s*[.．、:：)）\]=\-–—|>]{0,3}\s*"),
    re.compile(r"(?<![\s,，;；、|])[\s,，;；、|]+\Z"),
)
_LETTERS = re.compile(
    r"[（(]?\s*+([A-Ja-j](?:\s*+(?:(?:[,，、/&+]|and|und|et|y)\s*+)?[A-Ja-j]){0,7})\s*+[)）]?[.。]?"
)
_LEAST_ASKED, _LEAST_CHOICES, _MOST_FOUND, _MOST_TOKENS = 5, 3, 0.8, 400
_LONGEST_TITLE = 60
# what a number lacks before it, and what it gains by standing first in its line or behind a wide gap
_SKIPPED, _FIRST, _APART = 0.6, 0.3, 0.2
# two chains that differ by less are equally good
_SURE = 0.05
_OPERATORS = tuple("=+×÷≈≤≥*^")


class _Token(NamedTuple):
    """A number in the text of an answer part: its value, where it stands, and what it is worth."""

    value: int
    begin: int
    end: int
    worth: float


def write_key_chain(lines: IndexedLines) -> IndexedLines:
    """Write an answer part that no other form reads as a line for each of its numbers.

    They are those of the questions above it in their order, and what stands behind those of choices are letters.
    """
    opened = _find_part(lines)
    if opened is None:
        return lines
    asked = [(place, label.value) for place, label in lines.numbered.items() if place < opened]
    values = [value for _, value in asked]
    if len(values) < _LEAST_ASKED or values != [*range(1, len(values) + 1)]:
        return lines
    part = lines.pieces[opened:]
    read = {entry.number for piece in part for entry in read_key_line(_cut_mark(piece.text))}
    read |= {label.value for place, label in lines.numbered.items() if place >= opened}
    if len(read.intersection(values)) >= _MOST_FOUND * len(values) or any(
        one.kind == "table" for one in part
    ):
        return lines
    text = "\n".join(piece.text for piece in part)
    chain = _find_chain(text, len(values))
    if len(chain) < _MOST_FOUND * len(values):
        return lines
    ends = [token.begin for token in chain[1:]] + [len(text)]
    said = {
        token.value: _TAILS.sub("", text[_skip_lead(text, token.end) : end])
        for token, end in zip(chain, ends, strict=True)
    }
    bounds = [*(place for place, _ in asked), opened]
    choices = [
        value
        for (first, last), value in zip(pairwise(bounds), values, strict=True)
        if any(_OPTION_A.match(piece.text) for piece in lines.pieces[first + 1 : last])
    ]
    keyed = sum(_LETTERS.fullmatch(said.get(value, "")) is not None for value in choices)
    if len(choices) < _LEAST_CHOICES or keyed < _MOST_FOUND * len(choices):
        return lines
    return IndexedLines([*lines.pieces[:opened], *_write(part, text, chain, ends, {*choices})])


def _find_part(lines: IndexedLines) -> int | None:
    """Where the last part that says it holds answers begins; a number may stand in its line."""
    for place in range(len(lines.pieces) - 1, 0, -1):
        text = lines.pieces[place].text
        is_title = (
            len(text) <= _LONGEST_TITLE
            and lines.labels[place] is None
            and answer_name().search(text[: _LONGEST_TITLE // 2]) is not None
        )
        if is_title or ((mark := answer_mark().match(text)) is not None and mark[1]):
            return place
    return None


def _cut_mark(text: str) -> str:
    mark = answer_mark().match(text)
    return text[mark.end() :] if mark is not None else text


def _find_chain(text: str, count: int) -> list[_Token]:
    """The numbers of a text that count from 1 to `count`, as many and as well apart as can be.

    Something stands behind each of them. [] where other numbers would do as well: `4 = 6, 5 = 7, 6, 7 = 3`.
    """
    answered = [0, *accumulate(map(str.isalnum, text))]
    tokens = [
        _Token(int(match[1]), match.start(), match.end(), _weigh(text, match.start()))
        for match in _TOKEN.finditer(text)
        if 0 < int(match[1]) <= count and not text[: match.start()].rstrip(" ").endswith(_OPERATORS)
    ][:_MOST_TOKENS]
    best: list[tuple[float, int]] = []
    is_tied: list[bool] = []
    for at, token in enumerate(tokens):
        before = [
            (best[other][0] - _SKIPPED * (token.value - tokens[other].value - 1), other)
            for other in range(at)
            if tokens[other].value < token.value and answered[token.begin] > answered[tokens[other].end]
        ]
        (worth, other), *others = sorted([(-_SKIPPED * (token.value - 1), -1), *before], reverse=True)
        best.append((token.worth + worth, other))
        is_tied.append(bool(others) and worth - others[0][0] < _SURE)
    ends = sorted(
        ((best[at][0], at) for at, token in enumerate(tokens) if answered[-1] > answered[token.end]),
        reverse=True,
    )
    chain: list[_Token] = []
    at = ends[0][1] if ends else -1
    if len(ends) > 1 and ends[0][0] - ends[1][0] < _SURE:
        return []
    while at >= 0:
        if is_tied[at]:
            return []
        chain.append(tokens[at])
        at = best[at][1]
    return chain[::-1]


def _skip_lead(text: str, begin: int) -> int:
    lead = _LEADS.match(text, begin)
    return lead.end() if lead is not None else begin


def _weigh(text: str, begin: int) -> float:
    before = text[max(begin - 2, 0) : begin]
    if not before or before.endswith("\n"):
        return 1 + _FIRST
    return 1 + (_APART if before.isspace() or before[0] in "|;；,，、:：" else 0)


def _write(
    part: Sequence[Piece], text: str, chain: Sequence[_Token], ends: Sequence[int], choices: set[int]
) -> list[Piece]:
    """The lines of an answer part: what opens it, and one for each number with those below."""
    begins = [0]
    for piece in part[:-1]:
        begins.append(begins[-1] + len(piece.text) + 1)

    def take(first: int, last: int) -> list[Piece]:
        taken: list[Piece] = []
        for at in range(bisect_right(begins, first) - 1, len(part)):
            begin, end = max(first - begins[at], 0), min(last - begins[at], len(part[at].text))
            if end <= 0 and begins[at] >= last:
                break
            if part[at].text[begin:end].strip():
                taken.append(part[at].cut(begin, end))
        return taken

    written = take(0, chain[0].begin)
    for token, end in zip(chain, ends, strict=True):
        own = take(token.begin, token.end + len(_TAILS.sub("", text[token.end : end])))
        begin = _skip_lead(own[0].text, token.end - token.begin)
        key = _LETTERS.fullmatch(_TAILS.sub("", own[0].text[begin:])) if token.value in choices else None
        mark = f"{token.value}. "
        if key is not None:
            letters = "".join(re.findall(r"(?<![^\W_])[A-Ja-j](?![^\W_])|[A-J]", key[1])).upper()
            own[0] = rewrite(own[0], len(own[0].text), f"{mark}{letters}")
        else:
            own[0] = rewrite(own[0], begin, mark)
        written += own
    return written
