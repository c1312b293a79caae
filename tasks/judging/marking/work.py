"""What people mark besides reviewing: stars, classes of failures, verdicts on a league.

One shape for the three kinds, so that one page serves them. What is marked lands where its workbook lands.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from tasks.questions import QuestionContent

Kind = Literal["rating", "label", "league"]
KINDS: tuple[Kind, ...] = ("rating", "label", "league")


@dataclass(frozen=True)
class MarkItem:
    """One thing to be marked, without a word on whose it is.

    Attributes:
        key: by which it is known in its work; it tells nothing.
        marks: what may be given.
        question: the question with its reference; null where `texts` hold it.
        texts: further texts by the name of their heading, in order: the response, a league's question and its standard.
        landed: the mark that this person gave before and that has landed; empty for none.
        hint: what a model thought; empty for nothing.
        needs_note: marks that are refused without a note.
    """

    key: str
    marks: tuple[str, ...]
    question: QuestionContent | None = field(default=None, repr=False)
    texts: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    landed: str = ""
    hint: str = ""
    needs_note: tuple[str, ...] = ()


@dataclass(frozen=True)
class Work:
    """One person's work of one kind.

    It is a round of a calibration, a sample of failures, or what waits in a league.

    Attributes:
        kind: of `KINDS`.
        name: the round (`first/1`), the sample, or the league.
        items: what is to be marked, by key, in the order in which it is shown.
    """

    kind: Kind
    name: str
    person: str
    items: Mapping[str, MarkItem] = field(repr=False)

    @property
    def work_id(self) -> str:
        """By which addresses call it."""
        return name_work(self.kind, self.name)


@dataclass(frozen=True)
class WorkSummary:
    """What waits for somebody before texts are read: how many items, and how many have landed."""

    kind: Kind
    name: str
    item_count: int
    landed_count: int

    @property
    def work_id(self) -> str:
        """By which addresses call it."""
        return name_work(self.kind, self.name)


def name_work(kind: str, name: str) -> str:
    """Sixteen hexadecimal digits for a work of a kind."""
    return hashlib.sha256(f"{kind}\0{name}".encode()).hexdigest()[:16]


def order_items(items: Sequence[MarkItem]) -> dict[str, MarkItem]:
    """By key: an order that tells nothing, the same whenever the work is opened."""
    return {item.key: item for item in sorted(items, key=lambda item: item.key)}
