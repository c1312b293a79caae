"""A reading of a paper as its contracts see it, and what one of them finds."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from tasks.ingest.content.drafts import Draft
from tasks.ingest.contracts import Breach
from tasks.ingest.layout.key_lines import KeyEntry
from tasks.ingest.layout.pieces import Piece
from tasks.ingest.layout.series import Repeated
from tasks.ingest.words.labels import Label
from tasks.ingest.words.lexicon import FineType


@dataclass(frozen=True)
class Stretch:
    """The lines below one heading, as far as contracts ask for them.

    `index` is what the drafts of the section carry; `place` the heading's offset in the raw text. `heading` is its line,
    `lead` what stands between it and the first question. `is_question`: the heading is itself one question.
    """

    index: int
    place: int
    number: int | None = None
    style: str = ""
    fine: FineType | None = None
    heading: str = ""
    lead: str = ""
    parent: int | None = None
    is_question: bool = False

    @property
    def name(self) -> str:
        """What a sentence calls the section."""
        return " ".join(self.heading.split())[:40] or "the beginning"


def measure_alike(stretches: Sequence[Stretch]) -> float:
    """The share of headings without a type whose mark means what it means before most others.

    `一.` to `八.` are questions or head lists of them, all alike; what names its type says what it is.
    """
    untyped = [(one.style, one.is_question) for one in stretches if one.number is not None and not one.fine]
    usual = Counter(style for style, is_question in untyped if is_question)
    total = Counter(style for style, _ in untyped)
    alike = sum(max(usual[style], count - usual[style]) for style, count in total.items())
    return alike / len(untyped) if untyped else 1.0


@dataclass
class Reading:
    """What one reading of a paper came to.

    `pieces` are all its lines, `keys` the printed answers that match no question, `answer_parts` the starts of the lines
    that answers were read from.
    """

    drafts: Sequence[Draft]
    pieces: Sequence[Piece]
    stretches: Sequence[Stretch] = ()
    keys: Sequence[KeyEntry] = ()
    answer_parts: Collection[int] = field(default_factory=frozenset)
    found_before: Repeated | None = None

    @cached_property
    def repeated(self) -> Repeated:
        """What repeats in the lines, as another reading of them found it or as it is found now."""
        return self.found_before or Repeated(self.pieces)

    @property
    def labels(self) -> dict[int, Label]:
        """The numbers that open lines, by the offset of the line."""
        return self.repeated.labels

    @cached_property
    def by_section(self) -> dict[int, list[Draft]]:
        """The questions of each section, in order."""
        found: dict[int, list[Draft]] = defaultdict(list)
        for draft in self.drafts:
            found[draft.section].append(draft)
        return dict(found)

    @cached_property
    def _spans(self) -> tuple[list[Draft], list[int]]:
        drafts = sorted(
            (draft for draft in self.drafts if draft.end > draft.start), key=lambda draft: draft.start
        )
        return drafts, [draft.start for draft in drafts]

    def touches(self, piece: Piece) -> bool:
        """Whether a question begins on a line or holds its beginning."""
        drafts, starts = self._spans
        place = piece.start
        at = bisect_right(starts, place)
        if at < len(starts) and starts[at] < piece.end:
            return True
        # questions that share options or a passage overlap: look back a little
        return any(drafts[index].end > place for index in range(at - 1, max(-1, at - 13), -1))

    def find_last(self, place: int) -> Draft | None:
        """The question that began last before a place, where the place is still in it."""
        drafts, starts = self._spans
        at = bisect_right(starts, place) - 1
        draft = drafts[at] if at >= 0 else None
        return draft if draft is not None and draft.end > place else None

    def find_line(self, place: int) -> Piece:
        """The line on which a place stands."""
        lines = self.repeated.in_order
        return lines[max(bisect_right(lines, place, key=lambda piece: piece.start) - 1, 0)]

    @cached_property
    def inside(self) -> dict[int, list[Piece]]:
        """The lines of each question below its first, by the identity of its draft."""
        found: dict[int, list[Piece]] = defaultdict(list)
        drafts, starts = self._spans
        at = -1
        begins = [*map(float, starts), math.inf]
        begin, end = math.inf, 0
        held: list[Piece] = []
        for piece in self.repeated.in_order:
            start = piece.start
            if begins[at + 1] <= start:
                at = bisect_right(starts, start) - 1
                begin, end, held = drafts[at].start, drafts[at].end, found[id(drafts[at])]
            if begin < start < end:
                held.append(piece)
        return {key: held for key, held in found.items() if held}


@dataclass
class ContractCheck:
    """The breaches of one contract, whose name it has.

    `checked`: the paper says, or shows, something that this contract holds it to. `missing` counts the questions that a
    breach says were not found. `doubted` are the questions that a breach concerns, `notes` the reasons in their
    `parse_notes`.
    """

    name: str
    checked: bool = False
    breaches: list[Breach] = field(default_factory=list)
    missing: int = 0
    doubted: list[Draft] = field(default_factory=list)
    notes: list[tuple[Draft, str]] = field(default_factory=list)

    def doubt(self, draft: Draft, note: str = "") -> None:
        """Let a question be one that this contract doubts, for a reason where it has a code."""
        self.doubted.append(draft)
        if note:
            self.notes.append((draft, note))

    def breach(self, place: int, size: int, words: str, section: int | None = None, name: str = "") -> None:
        """Let the contract be one that is not kept; what is asked for is that of `Breach`."""
        self.breaches.append(Breach(name or self.name, place, size, words, section))

    def miss(self, place: int, size: int, words: str, section: int | None = None, name: str = "") -> None:
        """The same where so many questions were not found."""
        self.missing += size
        self.breach(place, size, words, section, name)

    def doubt_all(
        self,
        drafts: Sequence[Draft],
        words: str,
        section: int | None = None,
        note: str = "",
        name: str = "",
    ) -> None:
        """Doubt questions together, in one breach at the first; without any nothing is broken."""
        for draft in drafts:
            self.doubt(draft, note)
        if drafts:
            self.breach(drafts[0].start, len(drafts), words, section, name)
