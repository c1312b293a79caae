"""Contracts on the text: something claims every line, a paper that asks gives questions."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from schemas import patterns as re
from tasks.ingest.contracts.asking import has_title
from tasks.ingest.contracts.readings import ContractCheck, Reading
from tasks.ingest.layout.headings import FIRST_OPTION, is_chapter, read_heading
from tasks.ingest.layout.key_lines import read_key_line
from tasks.ingest.layout.options import offers_letters, offers_options_in
from tasks.ingest.layout.pieces import Piece
from tasks.ingest.layout.rules import names_rules
from tasks.ingest.words.labels import PARTS, Label, form_of, is_sure
from tasks.ingest.words.once import once_a_paper
from tasks.ingest.words.signs import ends_asking, ends_with_mark

_COUNTING = ("num", "paren", "nump", "word", "bracket", "sub", "capnum", "circ")
# Below this share of claimed text a paper was hardly understood; a cover, a form and instructions stay within it.
MIN_COVERAGE = 0.6
MIN_TEXT = 1_000
# Without any question, so much text must have a reason to be none.
_MIN_NOTHING = 120
NOTHING_FOUND = "nothing_found"
_SHOWN = 8
_USUAL_LENGTH = 150


def keep_claimed(reading: Reading, found: ContractCheck) -> None:
    """Every numbered line and most of the text belong to a question, a heading or a key."""
    found.checked = bool(reading.drafts)
    left = find_unclaimed(reading)
    unclaimed, lost, total = left.numbered, left.lost, left.total
    if not reading.drafts:
        return
    lists = _list_offers(left)
    if lists:
        found.miss(
            lists[0].start,
            len(lists),
            f"{len(lists)} lists of options belong to no question (from {lists[0].text.strip()[:20]!r}, character "
            f"{lists[0].start} of the text, on).",
            name="options_claimed",
        )
    asking = [
        piece for place, piece in left.lines.items() if place not in left.told and ends_with_mark(piece.text)
    ]
    if len(asking) >= _LEAST_ASKING:
        # a passage may ask, too: no reading is better for having fewer of them
        found.breach(
            asking[0].start,
            len(asking),
            f"{len(asking)} lines ask and belong to no question (from {asking[0].text.strip()[:20]!r}, character "
            f"{asking[0].start} of the text, on).",
            name="asking_claimed",
        )
    if unclaimed:
        places = ", ".join(str(piece.start) for piece in unclaimed[:_SHOWN])
        more = " …" if len(unclaimed) > _SHOWN else ""
        found.miss(
            unclaimed[0].start,
            len(unclaimed),
            f"{len(unclaimed)} numbered lines belong to no question, heading or key "
            f"(at characters {places}{more} of the text).",
            name="numbered_lines",
        )
    if total > MIN_TEXT and lost > (1 - MIN_COVERAGE) * total:
        length = sum(draft.end - draft.start for draft in reading.drafts) / len(reading.drafts)
        found.missing = max(found.missing, int(lost / max(length, _USUAL_LENGTH)))
        words = f"{lost} of {total} characters belong to no question, heading or key."
        found.breach(0, lost, words, name="claimed_text")
        found.notes += [(draft, "paper_hardly_covered") for draft in reading.drafts]


def keep_passages(reading: Reading, found: ContractCheck) -> None:
    """No passage above questions holds a list of options: what offers them is a question.

    `… corresponding to:` names a list of the passage.
    """
    for material, draft in {one.material: one for one in reversed(reading.drafts) if one.material}.items():
        lines = [Piece(line, 0, len(line), ()) for line in material.split("\n")]
        found.checked = True
        for at, line in enumerate(lines):
            is_named = at > 0 and lines[at - 1].text.rstrip().endswith((":", "："))
            if (
                at
                and not is_named
                and FIRST_OPTION.match(line.text)
                and offers_letters(lines[at : at + _MOST_LINES])
            ):
                words = f"The text above question {draft.number_label or draft.stem[:20]!r} offers options ({line.text[:20]!r})."
                found.miss(draft.start, 1, words)
                break


_LEAST_ASKING = 2
# A series of so many marks is one, where most of it is claimed by nothing.
_LEAST_SERIES, _MOST_FREE = 3, 0.6


def keep_series(reading: Reading, found: ContractCheck) -> None:
    """What is numbered on through several questions counts or heads something: `题一.`, `题二.`."""
    found.checked = bool(reading.drafts)
    if not reading.drafts:
        return
    starts = sorted([*(draft.start for draft in reading.drafts), *(one.place for one in reading.stretches)])
    for run in reading.repeated.runs:
        pieces = [reading.pieces[mark.place] for mark in run]
        free = [piece for piece in pieces if not _begins_in(starts, piece) and not _is_answer(reading, piece)]
        holders = {id(reading.find_last(piece.start)) for piece in free}
        if len(free) < max(_LEAST_SERIES, _MOST_FREE * len(run)) or len(holders) < 2:
            continue
        found.missing = max(found.missing, len(free))
        found.breach(
            free[0].start,
            len(free),
            f"{len(free)} lines are numbered on from {free[0].text.strip()[:12]!r} through the paper "
            f"and are neither questions nor headings.",
        )


def _begins_in(starts: Sequence[int], piece: Piece) -> bool:
    at = bisect_left(starts, piece.start)
    return at < len(starts) and starts[at] < piece.end


def _is_answer(reading: Reading, piece: Piece) -> bool:
    return piece.start in reading.answer_parts or _is_known(piece)


def keep_found(reading: Reading, found: ContractCheck) -> None:
    """A text that is long enough, and no key of another paper, holds questions."""
    found.checked = True
    total = sum(len(piece.text) for piece in reading.pieces)
    if reading.drafts or reading.keys or total < _MIN_NOTHING:
        return
    unclaimed = find_unclaimed(reading).numbered
    found.missing = max(1, len(unclaimed))
    found.breach(
        reading.pieces[0].start,
        total,
        f"No question was found in {total} characters, of whose lines {len(unclaimed)} are numbered"
        f"{_asking(reading.pieces)}.",
        name=NOTHING_FOUND,
    )


def _asking(pieces: Sequence[Piece]) -> str:
    asking = sum(1 for piece in pieces if ends_asking(piece.text))
    return f" and {asking} ask or leave a blank" if asking else ""


class Unclaimed(NamedTuple):
    """What nothing claims of a text: its numbered lines, all by their places, its characters.

    `told` are the places of those whose words stand in a passage, an option or an answer; `total` are all characters of the text.
    """

    numbered: list[Piece]
    lines: dict[int, Piece]
    told: frozenset[int]
    lost: int
    total: int


def find_unclaimed(reading: Reading) -> Unclaimed:
    """What belongs to no question, heading or key."""
    first = min((draft.start for draft in reading.drafts), default=0)
    heads = {stretch.place for stretch in reading.stretches if stretch.heading}
    unclaimed: list[Piece] = []
    rows: list[Piece] = []
    lines: dict[int, Piece] = {}
    spoken: set[int] = set()
    total = lost = 0
    told: _Told | None = None
    known = reading.repeated.known
    in_rules = False
    own = reading.find_line(first).label if reading.drafts and reading.pieces else None
    if own is not None and (
        own.style in PARTS
        or any(
            piece.start < first
            and piece.label
            and _is_like(piece.label, own)
            and _SENTENCE.search(piece.text)
            for piece in reading.pieces
        )
    ):
        own = (
            None  # rules for candidates are sentences, terms in the form of the questions below them are not
        )
    for place, piece in enumerate(reading.pieces):
        total += len(piece.text)
        start = piece.start
        if reading.touches(piece) or start in reading.answer_parts or start in heads:
            continue
        if place not in known:
            known[place] = _is_known(piece)
        in_rules = start < first and (in_rules or names_rules(piece.text))
        if piece.kind == "table" and start > first and _ROW.match(piece.text):
            rows.append(piece)
        if known[place] or in_rules:
            continue
        told = told or _Told(reading)
        body = piece.text if piece.label is None else piece.text[piece.label.end :]
        lines[place] = piece
        if told.has(_fold(body)) or told.has(_fold(piece.text)):
            spoken.add(place)
            continue  # in a passage, a list of options or an answer that stands elsewhere than its question
        lost += len(piece.text)
        is_alike = own is not None and piece.label is not None and _is_like(piece.label, own)
        is_rule = start < first and not is_alike and not _asks(reading.pieces, place)
        if (is_sure(piece.label, _COUNTING) or is_alike) and not is_rule:
            unclaimed.append(piece)
    numbered = [*unclaimed, *(rows if len(rows) >= _LEAST_ROWS else ())]
    return Unclaimed(numbered, lines, frozenset(spoken), lost, total)


# a first option, whatever closes its letter, and how many lines a list of them has at most
_FIRST, _MOST_LINES = re.compile(r"\s*[（(\[]?A(?=\s*[)）\].．、:：]|\s+[^\sa-z])"), 14


def _list_offers(left: Unclaimed) -> list[Piece]:
    """The first lines of lists of options that nothing claims.

    Where all their words stand in other questions the line above them must ask, and be claimed by nothing: what several
    questions share stands in each.
    """
    found: list[Piece] = []
    begins = [place for place, piece in left.lines.items() if _FIRST.match(piece.text)]
    for first, following in pairwise([*begins, begins[-1] + _MOST_LINES if begins else 0]):
        limit = min(following, first + _MOST_LINES)
        end = next((at for at in range(first + 1, limit) if at not in left.lines), limit)
        above = left.lines.get(first - 1)
        is_asked = above is not None and first - 1 not in left.told and ends_asking(above.text)
        texts = [left.lines[place].text for place in range(first, end)]
        if (is_asked or not left.told.issuperset(range(first, end))) and offers_options_in(texts, True):
            found.append(left.lines[first])
    return found


# a row of a table that counts a text, and how many are no accident
_ROW, _LEAST_ROWS = re.compile(r"\s*+\d{1,3}\s*+[.．、)）]?\s*+\|?\s*+[^|\s][^|]{15,}+\|"), 3


class _Told:
    """The lines of all that questions hold besides their stems, folded."""

    def __init__(self, reading: Reading) -> None:
        drafts = reading.drafts
        texts = (_tell_texts(one.material, one.explanation, *one.answer, *one.options) for one in drafts)
        self._text = "\n".join(filter(None, texts))
        self._known = dict.fromkeys(self._text.split("\n"), True)

    def has(self, folded: str) -> bool:
        """Whether a folded text is part of a line."""
        # Looked for once: large papers have as many lines as texts that are asked for, and what is short is often the same.
        if folded not in self._known:
            self._known[folded] = len(folded) < _FOLDED and folded in self._text
        return self._known[folded]


@once_a_paper
def _tell_texts(*texts: str | tuple[str, str] | None) -> str:
    """The lines of texts, and of options with their labels and without, folded."""
    plain = [
        text for one in texts if one for text in ([one] if isinstance(one, str) else ["".join(one), one[1]])
    ]
    return "\n".join([_fold(line) for text in plain if text for line in text.split("\n")])


def _asks(pieces: Sequence[Piece], place: int) -> bool:
    """Whether a numbered line asks, offers or stands in a list below a title with marks."""
    if any(ends_asking(piece.text) or FIRST_OPTION.match(piece.text) for piece in pieces[place : place + 2]):
        return True
    first = place
    while first and is_sure(label := pieces[first].label, _COUNTING) and label.value > 1:
        first -= 1
        while first and not is_sure(pieces[first].label, _COUNTING):
            first -= 1
    return has_title(pieces, pieces[first].start)


def _is_like(label: Label, own: Label) -> bool:
    """Whether a label is as sure as another, and of its form."""
    return form_of(label) == form_of(own) and label.is_weak <= own.is_weak


_SENTENCE = re.compile(r"[。.!！;；]\s*$")
_SIGNS, _FOLDED = re.compile(r"[\W_]+"), 24


def _fold(text: str) -> str:
    return _SIGNS.sub("", text[:60])[:_FOLDED]


def _is_known(piece: Piece) -> bool:
    """A heading, a chapter or a key line: read, though part of no question."""
    text = piece.text
    return (
        piece.kind in ("table", "questions")
        or len(text.strip()) < 2
        or is_chapter(text)
        or len(read_key_line(text)) > 0
        or (len(text) < 200 and read_heading(text) is not None)
    )
