"""Boxes beside what is offered, written one to a line, ticked where it is right."""

from __future__ import annotations

from itertools import pairwise

from schemas import patterns as re
from tasks.ingest.layout.pieces import IndexedLines, Piece, is_sign, rewrite
from tasks.ingest.words.answers import read_truth
from tasks.ingest.words.grammar import answer_name, truth_word, truth_words
from tasks.ingest.words.labels import parse_label

_SQUARE = re.compile(r"\s*(?:[-*+]\s+)?\[\s?(?P<tick>[xX✓✔√]?)\s?\]\s+(?=\S)")
_LEAST_SQUARES = 3


def write_boxes(lines: IndexedLines) -> IndexedLines:
    """Write `[x]` and `[ ]` before lines as boxes where there are several of both."""
    found = lines.find(_SQUARE, "[-*+")
    ticked = sum(1 for match in found.values() if match["tick"])
    is_unticked = not ticked and len(found) >= 2 * _LEAST_SQUARES
    if is_unticked and any(parse_label(lines.pieces[at].text[one.end() :]) for at, one in found.items()):
        return lines  # `[ ] 1. …`: the place for what judges a statement
    if min(ticked, len(found) - ticked) < _LEAST_SQUARES and not is_unticked:
        return lines
    return lines.write(found, lambda match: "☑ " if match["tick"] else "☐ ")


# `□ a) the mill`: a box to cross before an option with its letter
_LETTERED_BOX = re.compile(r"\s*[□☐◻○◯]\s*(?=[（(]?[A-Ja-j]\s*[)）.．、]\s*\S)")
_TICKED = re.compile(r"[☑☒✓✔■●]\s*[（(]?[A-Ja-j]\s*[)）.．、]")
_LEAST_BOXES = 3


def drop_lettered_boxes(lines: IndexedLines) -> IndexedLines:
    """Drop the empty boxes before options that have letters, where none of them is ticked."""
    found = lines.find(_LETTERED_BOX, "□☐◻○◯")
    if len(found) < _LEAST_BOXES or _TICKED.search(lines.text) is not None:
        return lines
    return lines.replace({place: lines.pieces[place].cut(match.end()) for place, match in found.items()})


_SAID_BOX = re.compile(r"\s*(?P<said>[^\W\d_]+(?:\s[^\W\d_]+){0,2})\s*[!:：]?\s*(?P<box>[○◯□☐▢☑☒])\s*(?=\S)")
_BOX = re.compile(r"\s*[○◯□☐▢☑☒]\s*(?=\S)")
_LEAST_SAID = 3


# `True ☐  False ☐`, `对（ ）错（ ）`, `[ ] yes / [ ] no`: two judgements, each with a place for a tick on the same side
_PLACE = r"(?:[○◯□☐▢☑☒]|\[\s?[xX✓✔√]?\s?\]|[（(]\s{0,4}[xX✓✔√]?\s{0,4}[)）]|(?<!_)_{2,8}(?!_))"
_JUDGE, _GAP = rf"(?<![^\W\d_])(?:{truth_word()}|[TF]\b|是|否)", r"\s{0,24}+"
_PAIRS = tuple(
    rf"{first}{_GAP}[/|,，、]?{_GAP}{second}"
    for first, second in (
        (rf"(?P<one>{_JUDGE}){_GAP}(?P<first>{_PLACE})", rf"(?P<other>{_JUDGE}){_GAP}(?P<second>{_PLACE})"),
        (rf"(?P<first>{_PLACE}){_GAP}(?P<one>{_JUDGE})", rf"(?P<second>{_PLACE}){_GAP}(?P<other>{_JUDGE})"),
    )
)
_JUDGING = tuple(re.compile(rf"(?:^|(?<=[\s。.?？!！:：])){pair}\s*$") for pair in _PAIRS)
# the same between the number of a statement and the statement: `3. ☒ True  ☐ False  Hands are clean.`
_JUDGED = tuple(re.compile(rf"{pair}\s*[:：.]?\s+(?=\S)") for pair in _PAIRS)
_LONGEST_JUDGING = 90
_TICK = re.compile(r"[xX✓✔√☑☒]")


def _part_judging(piece: Piece) -> list[Piece]:
    """A stem and its two judgements as boxes on lines of their own; [] for any other line."""
    text = piece.text
    begin = max(len(text) - _LONGEST_JUDGING, 0)
    found = next((match for one in _JUDGING if (match := one.search(text, begin)) is not None), None)
    first = piece.label.end if piece.label is not None and not piece.label.is_weak else -1
    if found is None and first >= 0:
        found = next((match for one in _JUDGED if (match := one.match(text, first)) is not None), None)
    if found is None or read_truth(found["one"]) == read_truth(found["other"]):
        return []
    is_last = found.end() >= len(text.rstrip())
    stem = piece.cut(0, found.start()) if is_last else rewrite(piece, found.end(), "", found.start())
    return [stem] * (stem.text.strip() != "") + [
        rewrite(piece.cut(*found.span(word)), 0, "☑ " if _TICK.search(found[place]) else "☐ ")
        for word, place in (("one", "first"), ("other", "second"))
    ]


# `oxidation   ☐`: a box to tick behind what it chooses
_BOX_BEHIND = re.compile(r"(?P<said>\S.*?)(?:\s*\t\s*|\s{2,})(?P<box>[○◯□☐▢☑☒])\s*")


def turn_boxes(lines: IndexedLines) -> IndexedLines:
    """Put boxes that close lines before them, where lines below one another have such."""
    found = {
        place: match
        for place, piece in enumerate(lines.pieces)
        if piece.kind != "table"
        and piece.text.rstrip()[-1:] in "○◯□☐▢☑☒"
        and (match := _BOX_BEHIND.fullmatch(piece.text)) is not None
        and _BOX.match(piece.text) is None
    }
    beside = {place for place in found if place - 1 in found or place + 1 in found}
    if len(beside) < _LEAST_SQUARES:
        return lines
    return lines.replace(
        {
            place: rewrite(lines.pieces[place].cut(*found[place].span("said")), 0, f"{found[place]['box']} ")
            for place in beside
        }
    )


_NEXT_BOX = re.compile(r"(?:(?<=\s\s)|(?<=\t))[○◯□☐▢☑☒]\s*(?=[^\W_])")


def part_boxes(lines: IndexedLines) -> IndexedLines:
    """Give each box of a line that begins with one, `□ north   □ south`, its own line.

    So with the two that judge, wherever their boxes stand: `Hands are clean. True ☐  False ☐`.
    """
    parts: dict[int, list[Piece]] = {}
    for place, piece in enumerate(lines.pieces):
        if piece.kind == "table":
            continue
        begins = [match.start() for match in _NEXT_BOX.finditer(piece.text)] if _BOX.match(piece.text) else []
        if judging := _part_judging(piece):
            parts[place] = judging
        elif begins:
            parts[place] = [piece.cut(first, last) for first, last in pairwise((0, *begins, len(piece.text)))]
    return lines.part(parts)


_SAID_ABOVE = re.compile(r"\s*(?P<said>[^\W\d_]+(?:\s[^\W\d_]+){0,2})\s*[!:：]?\s*")


def _join_said(lines: IndexedLines) -> IndexedLines:
    """Put `Correct!` before the box below it, where some such lines stand between boxes."""
    pieces = lines.pieces
    found = [
        place
        for place in lines.find(_BOX, is_sign)
        if place
        and (match := _SAID_ABOVE.fullmatch(pieces[place - 1].text)) is not None
        and truth_words()[0] & {*match["said"].casefold().split()}
        and (pieces[place - 1].text.rstrip().endswith("!") or answer_name().search(match["said"]))
    ]
    between = sum(1 for place in found if place > 1 and _BOX.match(pieces[place - 2].text) is not None)
    if len(found) < _LEAST_SAID or not between:
        return lines
    return lines.replace(
        {place: rewrite(pieces[place], 0, f"{pieces[place - 1].text.strip()} ") for place in found},
        {place - 1 for place in found},
    )


def tick_right(lines: IndexedLines) -> IndexedLines:
    """Tick the boxes that a platform calls right (`Correct answer □ True`), no others."""
    lines = _join_said(lines)
    said = {
        place: match
        for place, piece in enumerate(lines.pieces)
        if (match := _SAID_BOX.match(piece.text)) is not None
    }
    right = {
        place: match
        for place, match in said.items()
        if truth_words()[0] & {*match["said"].casefold().split()}
    }
    if len(right) < _LEAST_SAID:
        return lines
    return lines.replace(
        {
            place: rewrite(lines.pieces[place], match.end(), "☑ " if place in right else "□ ")
            for place, match in {**lines.find(_BOX, is_sign), **said}.items()
        }
    )
