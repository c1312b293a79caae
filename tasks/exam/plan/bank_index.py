"""A bank version as a draw sees it: lineages by discipline, and the questions of each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import polars as pl

from schemas.errors import ContractError, GateError

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
    """

    bank_version: int
    lineage_uuids: Sequence[str]
    positions: Mapping[str, int]
    spans: Mapping[str, tuple[int, int]]
    questions: ListColumn
    truths: ListColumn

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

    def make_mask(self) -> NDArray[np.bool_]:
        """A mask over positions with nothing in it."""
        return np.zeros(len(self.lineage_uuids), dtype=np.bool_)

    def locate(self, lineages: Iterable[str]) -> NDArray[np.int64]:
        """The positions of those lineages that this bank version has in its disciplines."""
        found = np.array([self.positions.get(lineage, -1) for lineage in lineages], dtype=np.int64)
        return found[found >= 0]


def index_bank(bank: pl.DataFrame, disciplines: Sequence[str]) -> BankIndex:
    """Index the rows of one bank version (`bank` columns: lineage, question, discipline, method, answer).

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
            "lineage_uuid", "question_uuid", "discipline", pl.when(is_statement).then(key).alias("truth")
        )
        .unique("question_uuid")
        .sort("lineage_uuid", "question_uuid")
        .group_by("lineage_uuid", maintain_order=True)
        .agg("question_uuid", "truth", pl.col("discipline").drop_nulls().first())
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
    )
