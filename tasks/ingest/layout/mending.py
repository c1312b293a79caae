"""Lines mended before their marks are read: signs before labels, broken brackets, numbers inside lines, upright margins."""

from __future__ import annotations

import re
from dataclasses import replace

from tasks.ingest.layout.pieces import Piece, rewrite

_DECORATION = re.compile(
    r"\s*(?:\[image\]|[^\w\s（()）\[【〔「“”‘’\"'$\\+\-–—.。,，、;；:：?？!！/<>=|#&@%^~`{}]|_{3,})+\s*"
    r"(?=(?:\d{1,3}|[A-Ja-j]|[一二三四五六七八九十]{1,3})\s*[.．、:：)）]|[（(\[【][A-J\d一二三四五六七八九十]{1,2}[)）\]】]|"
    r"(?:答案|参考答案|正确答案|解析|【答案】|【解析】|Answers?|Ans)\s*[:：]|【|第)"
)


def drop_decoration(piece: Piece) -> Piece:
    """Drop a picture, a star, a bullet or a rule before a label: `★1.`, `[image]A.`, `____二、`; √ and × stay."""
    if piece.text[:1].isalnum():
        return piece
    match = _DECORATION.match(piece.text)
    if match is None or any(sign in match.group(0) for sign in "√×✓✗✔✘☑☒○◯□☐▢*"):
        return piece
    return replace(piece.cut(match.end()), start=piece.start)


def join_brackets(pieces: list[Piece]) -> list[Piece]:
    """Join `（` on a line of its own, as converters leave it, with the line that it opens."""
    joined: list[Piece] = []
    for piece in pieces:
        if joined and joined[-1].text.strip() in ("（", "(", "【", "[") and piece.kind != "table":
            opening = joined.pop()
            sign = opening.text.strip()
            piece = replace(
                piece, text=sign + piece.text.lstrip(), start=opening.start,
                sources=(opening.start, *piece.sources[len(piece.text) - len(piece.text.lstrip()) :]), label_length=0,
            )  # fmt: skip
        joined.append(piece)
    return joined


_INSIDE = re.compile(r"(?<=[\s。.；;])第\s*(\d{1,3})\s*题(?=\s*[,，.、:：]|\s)")


def part_lines(pieces: list[Piece]) -> list[Piece]:
    """Begin a line at `第 18 题` inside one, where it is the next number of a paper that counts so."""
    labels = [piece.label for piece in pieces if piece.label is not None and piece.label.style == "word"]
    if len(labels) < 5:
        return pieces
    parted: list[Piece] = []
    last = 0
    for piece in pieces:
        rest = piece
        while True:
            label = rest.label
            last = label.value if label is not None and label.style == "word" else last
            inside = next((one for one in _INSIDE.finditer(rest.text) if int(one.group(1)) == last + 1), None)
            if inside is None or not rest.text[: inside.start()].strip():
                break
            parted.append(rest.cut(0, inside.start()))
            rest = rest.cut(inside.start())
        parted.append(rest)
    return parted


def drop_upright(pieces: list[Piece]) -> list[Piece]:
    """Drop what is printed from top to bottom in a page's margin: four lines or more of one character each."""
    is_single = [len(piece.text.strip()) == 1 and not piece.text.strip().isascii() for piece in pieces]
    kept: list[Piece] = []
    place = 0
    while place < len(pieces):
        end = place
        while end < len(pieces) and is_single[end]:
            end += 1
        if end - place < 4:
            kept.extend(pieces[place : max(end, place + 1)])
        place = max(end, place + 1)
    return kept


_LOOKS_LIKE_ONE = re.compile(r"\s*(?P<one>[Il|丨])\s*[.．、,，]\s*(?=\S)")


def mend_first(pieces: list[Piece]) -> list[Piece]:
    """Write `I. ` as `1. ` where 2 and 3 follow it as the next numbers: what a scanner makes of a one."""
    for index, piece in enumerate(pieces):
        match = _LOOKS_LIKE_ONE.match(piece.text) if piece.text.lstrip()[:1] in "Il|丨" else None
        if match is None:
            continue
        following = [
            other.label.value
            for other in pieces[index + 1 : index + 60]
            if other.label is not None and other.label.style == "num" and not other.label.is_weak
        ]
        before = [
            other.label for other in pieces[:index] if other.label is not None and other.label.style == "num"
        ]
        if following[:2] == [2, 3] and not before:
            return [*pieces[:index], rewrite(piece, match.end(), "1. "), *pieces[index + 1 :]]
    return pieces
