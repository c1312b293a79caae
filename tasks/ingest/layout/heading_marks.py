"""Headings in unusual forms, written as `一、…` and `Part 1: …`, which are read everywhere."""

from __future__ import annotations

from collections.abc import Sequence

from schemas import patterns as re
from tasks.ingest.layout.headings import MARKS_GROUP, STRONG_STYLES, read_heading
from tasks.ingest.layout.pieces import IndexedLines, Piece, is_sign, rewrite
from tasks.ingest.words.labels import KNOWN_NUMBERS, Label, is_sure
from tasks.ingest.words.lexicon import match_exactly

_HEADING = re.compile(
    r"\s*[^\w\s]?\s*(?:第\s*)?([一二三四五六七八九十]{1,3}|[Ⅰ-Ⅻ])\s*(?:大?题|部分)?\s*[^\w\s（(]{0,2}\s*(?=[（(]?[\u4e00-\u9fffA-Z])"
)
_TITLE = re.compile(r"[（(][^（()）]*[)）]|[^\u4e00-\u9fffA-Za-z（(/ -]|\s{2,}")
_HEADING_NUMERAL = re.compile("[一二三四五六七八九十Ⅰ-Ⅻ]")
_HEADING_STARTS = frozenset("第一二三四五六七八九十ⅠⅡⅢⅣⅤⅥⅦⅧⅨⅩⅪⅫ")


def _may_open_heading(first: str) -> bool:
    return first in _HEADING_STARTS or is_sign(first)


# `(20 points) Section 1. Multiple choice`, `（共10分）二、计算题`: what a heading is worth before it
_WORTH_BEFORE = re.compile(rf"\s*(?P<worth>{MARKS_GROUP.pattern})\s*(?=\S)")


def move_worth(lines: IndexedLines) -> IndexedLines:
    """Put what a heading is worth behind it."""
    changed: dict[int, Piece] = {}
    for place in lines.open_with("（([【"):
        piece = lines.pieces[place]
        match = _WORTH_BEFORE.match(piece.text) if piece.kind != "table" else None
        rest = piece.text[match.end() :].strip() if match is not None else ""
        heading = read_heading(rest)
        if match is None or heading is None or not (heading.label or match_exactly(rest)):
            continue
        bare = piece.cut(match.end())
        worth = f" {match['worth'].strip()}"
        moved = rewrite(bare, len(bare.text), worth, len(bare.text.rstrip()))
        changed[place] = moved.begin_at(piece.start)
    return lines.replace(changed)


def write_headings(lines: IndexedLines) -> IndexedLines:
    """Write `一。单选题`, `【一】单选题`, `第一题 单选题`, `二 简答题` as `一、单选题`, where the rest names a type."""
    changed: dict[int, Piece] = {}
    for index in lines.open_where(_may_open_heading):
        piece = lines.pieces[index]
        text = piece.text
        if len(text) > 90 or not _HEADING_NUMERAL.search(text[:6]):
            continue
        match = _HEADING.match(text)
        if match is None or piece.kind == "table":
            continue
        heading = read_heading(text)
        if heading is not None and heading.label is not None and heading.label.style in STRONG_STYLES:
            continue
        title = _TITLE.split(text[match.end() :].strip(), maxsplit=1)[0].strip()
        if title.startswith(("题", "部分")) or match_exactly(title) is None:
            continue
        changed[index] = rewrite(piece, match.end(), f"{match.group(1)}、")
    return lines.replace(changed)


# `★Quick round★`, `== Second part ==`: one sign before and behind a title
_FRAMED = re.compile(r"\s*(?P<sign>[^\w\s]{1,8})\s*(?P<title>\w[^\n]{0,28}?\w)\s*(?P=sign)\s*")
# `【单选题】（共2题）`, `【Terms】`: the name of a type, and what it announces
_BRACKETED = re.compile(
    r"\s*[【\[〔＜〈「『](?P<title>[^】\]〕＞〉」』\n]{2,28})[】\]〕＞〉」』]\s*(?=[（(\[:：]|$)"
)
_NUMERALS = "一二三四五六七八九十"
_HEADING_HAN = re.compile(r"[\u4e00-\u9fff]")
_LEAST_BELOW, _NEAR = 2, 3
_MOST_HEADING = 0.8


def write_framed(lines: IndexedLines) -> IndexedLines:
    """Write framed titles as headings, where they head questions."""
    bracketed = _find_bracketed(lines)
    if bracketed and len(lines.numbered) < _LEAST_BELOW * (len(bracketed) - _count_again(lines, bracketed)):
        return _write_types(lines, [place for place, _ in bracketed])
    titles = bracketed or _find_framed(lines)
    changed: dict[int, Piece] = {}
    # a title that comes again heads the answers to its section
    numbers: dict[str, int] = {}
    for place, match in titles:
        title = match["title"].strip()
        number = numbers.setdefault(title, len(numbers) + 1)
        if number > len(_NUMERALS):
            return lines
        text = lines.pieces[place].text
        piece = rewrite(lines.pieces[place], len(text[: match.end()].rstrip()), "", match.end("title"))
        changed[place] = rewrite(piece, match.start("title"), _number_heading(number, title))
    return lines.replace(changed)


def _number_heading(number: int, title: str) -> str:
    return f"{_NUMERALS[number - 1]}、" if _HEADING_HAN.search(title) else f"Part {number}: "


_LONGEST_TITLE = 90


def write_bracketed_headings(lines: IndexedLines) -> IndexedLines:
    """Write `【1】次の…` as `一、次の…` where questions count on through such lines.

    Each stands right above a number that is one more than the last above it, and more numbers than brackets are so counted.
    Below the last number the brackets that come again head the answers.
    """
    brackets: list[tuple[int, Label]] = []
    again: list[tuple[int, Label]] = []
    last = 0
    for place, label in enumerate(lines.labels):
        if not is_sure(label, ("bracket", "num")) or lines.pieces[place].kind == "table":
            continue
        if label.style == "num":
            if label.value == 1 and last:
                break  # the answers
            if label.value != last + 1 and not again:
                return lines
            last = max(last, label.value)
            continue
        is_next = label.value == len(brackets) + 1 and not again
        below = lines.labels[place + 1] if place + 1 < len(lines.labels) else None
        if is_next and is_sure(below, ("num",)) and below.value == last + 1:
            if len(lines.pieces[place].text) > _LONGEST_TITLE:
                return lines
            brackets.append((place, label))
        elif brackets and label.value <= len(brackets):
            again.append((place, label))
        else:
            return lines
    if not 1 < len(brackets) < min(last, len(_NUMERALS) + 1):
        return lines
    return lines.replace(
        {
            place: rewrite(
                lines.pieces[place], label.end, _number_heading(label.value, lines.pieces[place].text)
            )
            for place, label in (*brackets, *again)
        }
    )


def _count_again(lines: IndexedLines, titles: Sequence[tuple[int, re.Match[str]]]) -> int:
    """How many of the titles come again in their order, above answers that count from 1 again."""
    names = [match["title"].strip() for _, match in titles]
    half = len(names) // 2
    if names[:half] != names[half:]:
        return 0
    label = lines.labels[titles[half][0] + 1] if titles[half][0] + 1 < len(lines.labels) else None
    return half if label is not None and label.value == 1 else 0


def _find_framed(lines: IndexedLines) -> list[tuple[int, re.Match[str]]]:
    """The titles between signs below which questions count from 1 again."""
    found: dict[str, list[tuple[int, re.Match[str]]]] = {}
    for place in lines.open_with_sign():
        label = lines.labels[place + 1] if place + 1 < len(lines.pieces) else None
        match = (
            _FRAMED.fullmatch(lines.pieces[place].text) if label is not None and label.value == 1 else None
        )
        if match is not None:
            found.setdefault(match["sign"], []).append((place, match))
    titles = max(found.values(), key=len, default=[])
    return titles if len(titles) > 1 else []


def _find_bracketed(lines: IndexedLines) -> list[tuple[int, re.Match[str]]]:
    """The names of types in brackets, where each heads questions and other headings do not."""
    titles = [
        (place, match)
        for place, match in lines.find(_BRACKETED, "【[〔＜〈「『").items()
        if match_exactly(match["title"].strip()) is not None
    ]
    heads = [
        place
        for place, _ in titles
        if any(
            label is not None and label.style in KNOWN_NUMBERS
            for label in lines.labels[place + 1 : place + 1 + _NEAR]
        )
    ]
    # below every question it is what a platform says of its type
    return titles if len(heads) >= _MOST_HEADING * len(titles) else []


def _write_types(lines: IndexedLines, titles: Sequence[int]) -> IndexedLines:
    """Write names of types that stand right above nearly every question behind its number."""
    changed: dict[int, Piece] = {}
    for place in titles:
        label = lines.labels[place + 1]
        if label is None or label.style not in KNOWN_NUMBERS:
            return lines
        tag = lines.pieces[place].text.strip()
        changed[place + 1] = rewrite(lines.pieces[place + 1], label.end, f"{tag} ", label.end)
    return lines.replace(changed, set(titles))
