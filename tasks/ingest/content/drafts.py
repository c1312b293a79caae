"""A question on its way from a paper to a row."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields

from tasks.ingest.layout.pieces import Piece
from tasks.ingest.words.lexicon import FineType

# what a key answers, and what is answered in words
KEYED_TYPES = ("multiple_choice", "true_false", "fill_in_the_blank")
FREE_TYPES = ("short_answer", "essay", "calculation", "material_analysis")


@dataclass
class Draft:
    """A question as split from its paper, not yet given an id. Offsets are into the raw text."""

    number_label: str = ""
    value: int | None = None
    section: int = 0
    section_number: int | None = None
    section_parent: int | None = None
    fine: FineType | None = None
    question_type: str = ""
    stem: str = ""
    material: str | None = None
    options: list[tuple[str, str]] = field(default_factory=list)
    answer: list[str] = field(default_factory=list)
    explanation: str | None = None
    marks: float | None = None
    start: int = 0
    end: int = 0
    notes: list[str] = field(default_factory=list)
    discipline: str | None = None
    sub_discipline: str | None = None
    unmarked: list[Piece] = field(default_factory=list)
    number_keys: list[int] = field(default_factory=list)
    starred: list[str] = field(default_factory=list)
    # the lines of every option, which know where they stand in the raw text
    option_pieces: list[tuple[str, list[Piece]]] = field(default_factory=list)
    # whether the picture at the end of the stem was printed below the last option
    has_picture_below: bool = False
    # whether its cell for an answer holds nothing but a place to write
    leaves_place: bool = False

    def copy(self) -> Draft:
        """A draft that can be changed without changing this one."""
        # not copy(): every reading of a paper asks for every question, and it takes three times as long
        other = object.__new__(Draft)
        own = other.__dict__
        own.update(self.__dict__)
        for name in _LISTS:
            own[name] = own[name][:]
        return other


_LISTS = tuple(one.name for one in fields(Draft) if one.default_factory is list)


def by_section(drafts: Sequence[Draft], holds: Callable[[Draft], bool] = lambda _: True) -> list[list[Draft]]:
    """The questions of each section for which something holds."""
    groups: dict[int, list[Draft]] = {}
    for draft in drafts:
        if holds(draft):
            groups.setdefault(draft.section, []).append(draft)
    return list(groups.values())
