"""Whether what was found asks anything, looked at as a whole.

Rules for candidates, plans of a course, notes and statistics are numbered like questions. One line that does not ask may
still be a question; a list of which hardly any line asks or offers anything is none.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence

from schemas import patterns as re
from tasks.ingest.content.drafts import Draft
from tasks.ingest.contracts.readings import ContractCheck, Reading
from tasks.ingest.layout.headings import read_heading
from tasks.ingest.layout.pieces import Piece
from tasks.ingest.words.grammar import asking, asks_by_topic
from tasks.ingest.words.points import COUNTS_POINTS
from tasks.ingest.words.signs import asks_by_sign

NOTHING_ASKS = "nothing_asks"
# At most so large a share of a list that is none asks by chance.
_CHANCE, _MOST, _HARDLY = 0.25, 0.6, 0.05
_LEAST_LIST = 3
# As far as a text is searched for what asks.
_SHOWN = 1_500


def asks(draft: Draft) -> bool:
    """Whether a question asks, offers, leaves a blank, or has marks, an answer or a type."""
    return shows(draft) or _says(draft)


def _says(draft: Draft) -> bool:
    return asking().search(draft.stem[:_SHOWN]) is not None


def shows(draft: Draft) -> bool:
    """Whether a question shows by more than its words that it is one."""
    return bool(draft.material) or _shows_itself(draft)


def _shows_itself(draft: Draft) -> bool:
    return bool(
        (len(draft.options) > 1 and draft.number_label)  # a list of any kind looks like options
        or draft.answer
        or draft.leaves_place
        or draft.marks is not None
        or draft.fine is not None
        or draft.question_type == "true_false"  # without a title, because it offers both judgements
        or asks_by_sign(draft.stem[:_SHOWN])
        or _EQUATION.fullmatch(draft.stem[:_SHOWN])
    )


# `3x + 1 = 16`: to be solved
_EQUATION = re.compile(
    r"(?=[^=<>≤≥]*[=<>≤≥])(?=\D*\d)(?:(?<![^\W\d_])[A-Za-z]{1,2}(?![^\W\d_])|[\d\s+\-−–*/×÷·^().,=<>≤≥≈√π²³|])++"
)


def is_no_paper(drafts: Sequence[Draft]) -> bool:
    """Whether hardly any of what was found asks, or too little, and by its words alone.

    A text above it makes no statement a question: news under numbers have as many.
    """
    asking_count = sum(map(asks, drafts))
    alone_count = sum(_shows_itself(draft) or _says(draft) for draft in drafts)
    if not drafts or asking_count <= _CHANCE * len(drafts) or alone_count <= _HARDLY * len(drafts):
        return bool(drafts)
    return asking_count <= _MOST * len(drafts) and len(drafts) >= _LEAST_LIST and not any(map(shows, drafts))


def list_silent(reading: Reading) -> frozenset[int]:
    """The first lines of what was numbered and asks nothing, list by list."""
    starts = sorted(draft.start for draft in _find_silent(reading))
    return frozenset(
        piece.start
        for piece in reading.pieces
        if (at := bisect_left(starts, piece.start)) < len(starts) and starts[at] < piece.end
    )


def keep_asking(reading: Reading, found: ContractCheck) -> None:
    """What was found asks: no list of it is one of rules, notes or subjects."""
    found.checked = bool(reading.drafts)
    silent = _find_silent(reading)
    whole = is_no_paper(reading.drafts)
    odd = reading.drafts if whole else silent
    if odd:
        count, asking_count = len(odd), sum(map(asks, odd))
        found.doubt_all(
            odd,
            f"{count} numbered passages were found, of which {asking_count} ask or offer anything: "
            + ("this is no paper, or its questions stand elsewhere." if whole else "they are rather rules."),
            name=NOTHING_ASKS if whole else "",
        )
    titles = [draft for draft in reading.drafts if _is_mere_title(draft)]
    found.doubt_all(
        titles,
        f"{len(titles)} lines without a number ask nothing: what stands below them was taken as their answer.",
        name="titles",
    )
    code = [draft for draft in reading.drafts if _CODE.search(draft.stem) is not None and not shows(draft)]
    if len(code) >= _LEAST_CODE:
        words = f"{len(code)} numbered lines are lines of a program: a question holds its listing."
        found.doubt_all(code, words, name="code")


# what ends a statement or a block, and how many such lines are no accident
_CODE, _LEAST_CODE = re.compile(r"[;{}]\s*$"), 5


def _is_mere_title(draft: Draft) -> bool:
    """Whether a line is a question only by what stands below it: nothing on it asks."""
    return (
        not draft.number_label
        and "answer_without_mark" in draft.notes
        and not draft.options
        and not asks_by_topic(draft.stem)
        and asking().search(draft.stem) is None
    )


def _find_silent(reading: Reading) -> list[Draft]:
    """The questions of lists that stand first, hardly ask, and have no title with marks.

    A list ends where its section does or its numbers start again. Statements to judge and terms to explain do not ask
    either; they stand below a title, or between questions that do.
    """
    silent: list[Draft] = []
    rest = list(reading.drafts)
    while rest:
        size = 1
        while size < len(rest) and _goes_on(rest[size - 1], rest[size]):
            size += 1
        one, rest = rest[:size], rest[size:]
        if len(one) < _LEAST_LIST or not is_no_paper(one) or has_title(reading.pieces, one[0].start):
            break
        silent += one
    return silent


def _goes_on(before: Draft, draft: Draft) -> bool:
    return before.section == draft.section and (before.value or 0) < (draft.value or 0)


_TITLE = re.compile(COUNTS_POINTS)
_LINES_ABOVE = 4


def has_title(pieces: Sequence[Piece], place: int) -> bool:
    """Whether a title with marks, or the name of a type, stands on the lines above a place."""
    index = bisect_left(pieces, place, key=lambda piece: piece.start)
    return any(
        _TITLE.search(piece.text) is not None or read_heading(piece.text) is not None
        for piece in pieces[max(index - _LINES_ABOVE, 0) : index]
        if len(piece.text) < 90
    )
