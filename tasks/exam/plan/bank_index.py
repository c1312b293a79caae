"""A bank version as a draw sees it: lineages by discipline, their public names, and the slots of each."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import polars as pl

from schemas.errors import ContractError, GateError
from tasks.exam.public.blinding import lineage_name

if TYPE_CHECKING:
    from numpy.typing import NDArray

# Statements that are made from the options of a choice: their keys say which option was taken.
_MADE_FROM_CHOICES: Final = ("multiple_choice_to_true_false", "declarative_rewrite")


class ListColumn:
    """A column of lists, of which a few are looked at: Python's own objects for all of a bank would be tens of megabytes."""

    def __init__(self, column: pl.Series) -> None:
        self._column = column

    def __getitem__(self, position: int) -> list[Any]:
        found: list[Any] = self._column[position].to_list()
        return found

    def __iter__(self) -> Iterator[list[Any]]:
        for position in range(len(self._column)):
            yield self[position]


@dataclass(frozen=True)
class BankIndex:
    """A bank version as the draw sees it. A lineage is known by its position: disciplines follow each other.

    Attributes:
        bank_version: its version.
        lineage_uuids: lineage by position; sorted within a discipline.
        positions: lineage → its position.
        spans: discipline → first position and the one after the last.
        questions: by position, the lineage's questions, sorted.
        truths: by position and question, `true` or `false` for a statement made from a choice, else null.
        revisions: by position and question, its revision.
        names: by position, the 32 bytes that stand for the lineage in what is published.
        secret: what names and salts are made with.
    """

    bank_version: int
    lineage_uuids: Sequence[str]
    positions: Mapping[str, int]
    spans: Mapping[str, tuple[int, int]]
    questions: ListColumn
    truths: ListColumn
    revisions: ListColumn
    names: Sequence[bytes] = field(repr=False)
    secret: bytes = field(repr=False)

    def count(self, discipline: str) -> int:
        """The lineages of a discipline."""
        first, end = self.spans[discipline]
        return end - first

    def count_unmet(self, met: NDArray[np.bool_]) -> dict[str, int]:
        """Discipline → lineages that are not in the mask."""
        return {
            discipline: int(end - first - np.count_nonzero(met[first:end]))
            for discipline, (first, end) in self.spans.items()
        }

    def list_slots(self, position: int) -> list[str]:
        """The question that each slot of a lineage holds; see `weigh_questions`."""
        return [
            question
            for question, weight in zip(
                self.questions[position], weigh_questions(self.truths[position]), strict=True
            )
            for _ in range(weight)
        ]

    def make_mask(self) -> NDArray[np.bool_]:
        """A mask over positions with nothing in it."""
        return np.zeros(len(self.lineage_uuids), dtype=np.bool_)

    def locate(self, lineages: Iterable[str]) -> NDArray[np.int64]:
        """The positions of those lineages that this bank version has in its disciplines."""
        found = np.array([self.positions.get(lineage, -1) for lineage in lineages], dtype=np.int64)
        return found[found >= 0]


def weigh_questions(truths: Sequence[str | None]) -> list[int]:
    """How many slots each question of a lineage has, by its truth; one slot is drawn, each with the same probability.

    Statements made from a choice are mostly false, because most options are wrong: true and false ones have equal weight
    together, and the weight of all statements is their share of the questions. A lineage whose statements all have one truth
    is asked in another form, where it has one.
    """
    counts = Counter(truths)
    others, true, false = counts[None], counts["true"], counts["false"]
    if not true or not false:
        return [0 if others and truth is not None else 1 for truth in truths]
    of_truth = {None: 2 * true * false, "true": (true + false) * false, "false": (true + false) * true}
    # Without other forms their weight has no part in it.
    divisor = math.gcd(*(weight for truth, weight in of_truth.items() if counts[truth]))
    return [of_truth[truth] // divisor for truth in truths]


def index_bank(bank: pl.DataFrame, disciplines: Sequence[str], secret: bytes) -> BankIndex:
    """Index the rows of one bank version (`bank` columns: lineage, question, revision, discipline, method, answer).

    A lineage belongs to the discipline of its first question by UUID. Raises GateError for an empty bank and
    ContractError for several versions at once.
    """
    if bank.is_empty():
        raise GateError("The bank version has no questions. Publish a bank version first (`proctor dedupe`).")
    versions = bank["bank_version"].unique().to_list()
    if len(versions) != 1:
        raise ContractError(f"A run draws from one bank version; the frame holds {sorted(versions)}.")
    key = pl.col("answer").list.first()
    is_statement = pl.col("method").is_in(_MADE_FROM_CHOICES) & key.is_in(["true", "false"])
    order = {discipline: place for place, discipline in enumerate(disciplines)}
    grouped = (
        bank.select(
            "lineage_uuid",
            "question_uuid",
            "revision",
            "discipline",
            pl.when(is_statement).then(key).alias("truth"),
        )
        .sort("lineage_uuid", "question_uuid")
        # The first of several lineages that hold it, whatever the order of the rows: a draw must be repeatable.
        .unique("question_uuid", keep="first", maintain_order=True)
        .group_by("lineage_uuid", maintain_order=True)
        .agg("question_uuid", "truth", "revision", pl.col("discipline").drop_nulls().first())
        .filter(pl.col("discipline").is_in(list(disciplines)))
        .with_columns(pl.col("discipline").replace_strict(order, return_dtype=pl.Int64).alias("place"))
        .sort("place", "lineage_uuid")
    )
    lineages = grouped["lineage_uuid"].to_list()
    counts = dict(grouped.group_by("place").len().iter_rows())
    spans: dict[str, tuple[int, int]] = {}
    first = 0
    for place, discipline in enumerate(disciplines):
        spans[discipline] = (first, first + int(counts.get(place, 0)))
        first = spans[discipline][1]
    return BankIndex(
        bank_version=int(versions[0]),
        lineage_uuids=lineages,
        positions={lineage: position for position, lineage in enumerate(lineages)},
        spans=spans,
        questions=ListColumn(grouped["question_uuid"]),
        truths=ListColumn(grouped["truth"]),
        revisions=ListColumn(grouped["revision"]),
        names=[lineage_name(secret, lineage) for lineage in lineages],
        secret=secret,
    )
