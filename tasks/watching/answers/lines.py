"""A candidate's answers in a run as lines without texts, and those that are asked for."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Final

from schemas.vocabulary import ANSWER_STATUSES, UNANSWERED

ROWS_PER_PAGE: Final = 50
# Handed out, and the answer has not come yet.
WAITING: Final = "waiting"
STATUSES: Final = (*ANSWER_STATUSES, UNANSWERED, WAITING)
NO_STARS: Final = "none"
STARS: Final = ("0", "1", "2", "3", NO_STARS)
# Judges differ by as many stars.
DISPUTES: Final = (1, 2, 3)

Key = tuple[str, int]


@dataclass(frozen=True, slots=True)
class GivenStars:
    """What a judge gave: 0 to 3 stars; null: its reply could not be read."""

    judge: str
    stars: int | None


@dataclass(frozen=True, slots=True)
class AnswerLine:
    """One question that a candidate was handed.

    Attributes:
        session_id: the session.
        seq: position in it.
        set_id: the set.
        prompt_style: prompt style of the session.
        repeat: repeat of the session.
        question_uuid: the question.
        lineage_uuid: its lineage.
        discipline: its discipline.
        answer_status: what became of it (`STATUSES`).
        marks: what each judge gave, in order of the judges' names.
    """

    session_id: str
    seq: int
    set_id: str
    prompt_style: str
    repeat: int
    question_uuid: str
    lineage_uuid: str
    discipline: str
    answer_status: str
    marks: tuple[GivenStars, ...] = ()

    @property
    def key(self) -> Key:
        """Session and position."""
        return self.session_id, self.seq

    @property
    def distance(self) -> int:
        """Stars between the mildest and the strictest judge; 0 where fewer than two gave any."""
        given = [mark.stars for mark in self.marks if mark.stars is not None]
        return max(given) - min(given) if len(given) > 1 else 0

    def find_stars(self, judge: str | None) -> int | None:
        """The stars of that judge, or of the first where it is null; null where it gave none."""
        return next((mark.stars for mark in self.marks if judge in (None, mark.judge)), None)


@dataclass(frozen=True, slots=True)
class AnswerFilter:
    """Which lines are asked for; null leaves nothing out.

    Attributes:
        session_id: of one session.
        prompt_style: of one prompt style.
        discipline: of one discipline.
        answer_status: of one state.
        stars: `0` to `3` by the judge that counts, or `none`.
        dispute: judges at least so many stars apart.
    """

    session_id: str | None = None
    prompt_style: str | None = None
    discipline: str | None = None
    answer_status: str | None = None
    stars: str | None = None
    dispute: int | None = None


@dataclass(frozen=True, slots=True)
class LinePage:
    """Some of the lines that were found.

    Attributes:
        lines: those of the page.
        found_count: how many were found in all.
        number: which page, from 1.
        page_count: how many pages there are, at least 1.
    """

    lines: tuple[AnswerLine, ...]
    found_count: int
    number: int
    page_count: int


def filter_lines(
    lines: Sequence[AnswerLine], wanted: AnswerFilter, judge: str | None, keys: Collection[Key] | None = None
) -> list[AnswerLine]:
    """The lines asked for, in order; `keys` are where a searched text stands, null: no search."""
    return [
        line
        for line in lines
        if wanted.session_id in (None, line.session_id)
        and wanted.prompt_style in (None, line.prompt_style)
        and wanted.discipline in (None, line.discipline)
        and wanted.answer_status in (None, line.answer_status)
        and (wanted.stars is None or wanted.stars == _name_stars(line.find_stars(judge)))
        and (wanted.dispute is None or line.distance >= wanted.dispute)
        and (keys is None or line.key in keys)
    ]


def cut_page(found: Sequence[AnswerLine], number: int) -> LinePage:
    """The page of that number, or the nearest that there is."""
    count = -(-len(found) // ROWS_PER_PAGE) or 1
    number = min(max(number, 1), count)
    start = (number - 1) * ROWS_PER_PAGE
    return LinePage(tuple(found[start : start + ROWS_PER_PAGE]), len(found), number, count)


def _name_stars(stars: int | None) -> str:
    return NO_STARS if stars is None else str(stars)
