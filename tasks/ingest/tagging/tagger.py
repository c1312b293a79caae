"""The learned tagger.

What each line of a paper is, by a conditional random field over all lines.

Its tags are a proposal, one more reading that the contracts of the paper judge. It was trained on readings whose contracts
hold (`python -m tests.benchmarks.ingest_tagger --fit tasks/ingest/tagging/tagger.crf`).
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import lru_cache
from importlib import resources
from typing import TYPE_CHECKING

from tasks.ingest.layout.headings import Heading, read_heading, read_marks
from tasks.ingest.layout.outlines import Outline
from tasks.ingest.layout.pieces import Piece
from tasks.ingest.layout.series import read_series_mark
from tasks.ingest.readers.extraction import Line
from tasks.ingest.tagging.features import describe_lines
from tasks.ingest.words.labels import Label
from tasks.ingest.words.lexicon import find_type_in_title

if TYPE_CHECKING:
    from pycrfsuite import Tagger

# A question begins on the line; it heads a section; it is an option; it goes on with a question; it belongs to none.
START, HEADING, OPTION, INSIDE, OUTSIDE = "S", "H", "O", "I", "X"
MODEL = "tagger.crf"
# So few lines show no form that repeats.
LEAST_LINES = 40
# One question below the other: fewer may be any lines.
LEAST_STARTS = 2
_LONGEST_TITLE = 120


def tag_lines(
    pieces: Sequence[Piece], lines: Sequence[Line], starts: Sequence[int], model: bytes | None = None
) -> list[str]:
    """The tag of every line, none in a paper too short to have a form.

    `model` is another than comes with the program.
    """
    if len(pieces) < LEAST_LINES:
        return [""] * len(pieces)
    tagger, _ = open_model(model)
    return list(tagger.tag(describe_lines(pieces, lines, starts)))


@lru_cache(maxsize=2)
def open_model(model: bytes | None = None) -> tuple[Tagger, bytes]:
    """A tagger, with the bytes that it reads from: it takes no copy of them."""
    from pycrfsuite import Tagger

    data = model or resources.files("tasks.ingest.tagging").joinpath(MODEL).read_bytes()
    tagger = Tagger()
    tagger.open_inmemory(data)
    return tagger, data


def compare_with_tags(pieces: Sequence[Piece], tags: Sequence[str], starts: Collection[int]) -> float:
    """How far the beginnings of a reading's questions are those of the tags.

    The F1 of the two sets, 1.0 without tags.

    A line of difference is none: a number may stand alone above its question.
    """
    if not any(tags):
        return 1.0
    tagged = [place for place, tag in enumerate(tags) if tag == START]
    begun = [place for place, piece in enumerate(pieces) if piece.start in starts]
    agreed = at = 0
    for place in begun:
        while at < len(tagged) and tagged[at] < place - 1:
            at += 1
        if at < len(tagged) and tagged[at] <= place + 1:
            agreed += 1
            at += 1
    return 2 * agreed / max(len(tagged) + len(starts), 1)


def propose_by_tags(pieces: Sequence[Piece], tags: Sequence[str]) -> list[Outline]:
    """The readings that tags make.

    Their questions below the headings that rules find, and below their own.
    """
    numbers: dict[int, tuple[int, int]] = {}
    hidden: set[int] = set()
    headings: dict[int, Heading] = {}
    last = 0
    for place, (piece, tag) in enumerate(zip(pieces, tags, strict=True)):
        if tag == START:
            end, last = _read_number(place, piece, last)
            numbers[piece.start] = (end, last)
        elif tag == HEADING:
            headings[piece.start] = _make_heading(place, piece)
            last = 0 if _begins_again(pieces, tags, place) else last
        elif piece.label is not None:
            hidden.add(piece.start)
    if len(numbers) < LEAST_STARTS:
        return []
    own = Outline(numbers=numbers, hidden=frozenset(hidden - set(headings)), family="learned", given=True)
    if not headings:
        return [own]
    return [
        own,
        Outline(
            headings=headings,
            numbers=numbers,
            hidden=frozenset(hidden),
            alone=True,
            family="learned",
            given=True,
        ),
    ]


def _read_number(place: int, piece: Piece, last: int) -> tuple[int, int]:
    """Where the number of a question ends on its line, and its value.

    The next one where it has none.
    """
    label = piece.label
    if label is not None and not label.is_weak:
        return label.end, label.value
    mark = read_series_mark(place, piece.text)
    if mark is not None:
        return mark.end, mark.value
    if label is not None:
        return label.end, label.value
    return 0, last + 1


def _begins_again(pieces: Sequence[Piece], tags: Sequence[str], place: int) -> bool:
    """Whether the first question below a heading has no number, or the number 1."""
    for piece, tag in zip(pieces[place + 1 :], tags[place + 1 :], strict=True):
        if tag == START:
            return piece.label is None or piece.label.value == 1
    return True


def _make_heading(place: int, piece: Piece) -> Heading:
    known = read_heading(piece.text)
    if known is not None:
        return known
    mark = read_series_mark(place, piece.text)
    title = piece.text[mark.end if mark is not None else 0 :].strip()
    label = Label("cn", mark.value, mark.end, piece.text[: mark.end].strip()) if mark is not None else None
    fine = find_type_in_title(title) if len(title) <= _LONGEST_TITLE else None
    return Heading(label, title, fine, read_marks(title), len(piece.text), is_question=False)
