"""Numbers before stems and answers, labels and boxes before options."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from itertools import pairwise

from tasks.ingest.layout.pieces import Piece, say
from tasks.ingest.readers.extraction import PICTURE_MARK
from tasks.ingest.second_reader.finder import read_core

# a sign, a word or a tag in brackets, `n.`
_BEFORE_NUMBER = r"[\W_]*(?:第\s*|[^\W\d_]{1,12}[\s.\]】)）:：]{0,3}(?:n[.°]|no\.?|nr\.?|#)?\s*)?"


def cut_number(piece: Piece, number: str) -> Piece:
    """A line without its question's number: `3.`, `**Q3.**`, `第3题`, `[单选]3.`, `Problem n. 3`."""
    core = read_core(number)
    if not core:
        return piece
    text = unicodedata.normalize("NFKC", piece.text)
    if len(text) != len(piece.text):
        text = piece.text
    match = re.match(
        rf"(?P<before>{_BEFORE_NUMBER})0*{re.escape(core)}(?P<close>\s*(?:题|小题)?[^\w\s(\[“\"'$]*\s*(?:[-–—]\s+)?)",
        text,
    )
    rest = piece.text[match.end() :] if match is not None else ""
    if match is None or not rest.strip():
        return piece
    close = match["close"].strip()
    has_word = any(map(str.isalpha, match["before"].replace("第", "")))
    if rest[0].isdigit() and piece.text[match.end() - 1] in ".-0123456789":
        return piece  # `5.5 m`
    begins = not rest[0].isascii() or rest[0].isupper() or not rest[0].isalnum()
    if has_word and not close and not begins:
        return piece  # `In 3 minutes`
    if not core.isascii() and not close and "一" <= core[0] <= "龥":
        return piece  # `第一次世界大战`
    if core.isascii() and core.isalpha() and not close and not (has_word and core.isupper() and begins):
        return piece  # `Hi i am`, but `Part VI Suppose that`
    is_parted = bool(match["close"]) or not rest[0].isascii() or not rest[0].isalnum()
    return piece.cut(match.end()) if is_parted else piece


def cut_key_number(piece: Piece, number: str) -> Piece:
    """A printed answer without its question's number before it; `3.5 m` and `3 m` are answers."""
    core = read_core(number)
    match = (
        re.match(
            rf"[\s(（\[【*]*(?:第\s*)?0*{re.escape(core)}\s*题?\s*[.．、:：)）\]】]+(?!\d)\s*(?=\S)",
            piece.text,
        )
        if core
        else None
    )
    return piece if match is None else piece.cut(match.end())


def leave_out_bars(piece: Piece) -> Piece:
    """A row of a table as text: an answer has no cells."""
    return piece if piece.kind != "table" else say(piece, " ".join(piece.text.replace(" | ", " ").split()))


_BOX = re.compile(r"\s*(?:[-*•·+]\s+)?(?:[□☐☑☒○◯●◉✓✔✅❌✗✘]️?|\[[ xX√✓]?\]|\([ xX√✓]?\))*\s*")


# the second, third … label of options, however they are labelled
_DRESSES = (
    "ABCDEFGHIJ",
    "abcdefghij",
    "①②③④⑤⑥⑦⑧⑨⑩",
    tuple(str(number) for number in range(1, 11)),
    ("i", "ii", "iii", "iv", "v"),
)


def cut_labels(options: Sequence[tuple[str, list[Piece]]]) -> list[tuple[str, list[Piece]]]:
    """Options without boxes, and without labels where all have one of the same kind."""
    cleared = []
    for letter, pieces in options:
        match = _BOX.match(pieces[0].text) if pieces else None
        rest = [pieces[0].cut(match.end()), *pieces[1:]] if match is not None else pieces
        cleared.append((letter, rest if rest and rest[0].text.strip() else pieces))
    if not all(pieces for _, pieces in cleared):
        return cleared
    for dress in (*_DRESSES, _read_dress([pieces[0].text for _, pieces in cleared])):
        matches = [
            re.match(
                rf"(?:{PICTURE_MARK.pattern})?\s*[(（\[【<]?\s*{re.escape(label)}(?P<close>\s*[)）\]】>.．、:：\-–]*[\s|]*)(?=[^\s|①-⑩])",
                pieces[0].text,
            )
            for label, (_, pieces) in zip(dress, cleared, strict=False)
        ]
        found = [match for match in matches if match is not None]
        if len(found) < len(cleared):
            continue
        rests = [pieces[0].text[match.end() :] for match, (_, pieces) in zip(found, cleared, strict=True)]
        is_wide = not any(rest[0].isascii() for rest in rests)
        if all(match["close"] for match in found) or is_wide or not dress[0].isascii():
            return [
                (letter, [pieces[0].cut(match.end()), *pieces[1:]])
                for match, (letter, pieces) in zip(found, cleared, strict=True)
            ]
    return [(letter, [cut_letter(pieces[0], letter), *pieces[1:]]) for letter, pieces in cleared]


_OTHER_LETTER = re.compile(r"\s*[(（\[]?([^\W\d_])\s*[)）\].．、:：]")


def _read_dress(texts: Sequence[str]) -> tuple[str, ...]:
    """The labels of options in another alphabet, `а) б) в)`; () where they do not go up."""
    found = [match[1] for text in texts if (match := _OTHER_LETTER.match(text)) is not None]
    goes_up = all(one < other for one, other in pairwise(found))
    return tuple(found) if len(found) == len(texts) and goes_up else ()


def cut_letter(piece: Piece, letter: str) -> Piece:
    """An option without its letter, where others were pointed at without theirs."""
    match = re.match(
        rf"\s*(?:[(（\[【]\s*{letter}\s*[)）\]】]|{letter}\s*[)）.．、:：]|{letter}\s*(?=[\u2e80-\U0003ffff]))\s*(?=\S)",
        piece.text,
        re.IGNORECASE,
    )
    return piece if match is None else piece.cut(match.end())
