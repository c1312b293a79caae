"""Questions of a bank version, some hundred at a time, for a draw and for their content."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any, Final, Protocol

import polars as pl

from schemas.errors import GateError
from tasks.questions.identity import name_passage
from warehouse.lake import Lake

Take = Callable[[Sequence[Sequence[Any]]], None]

NO_BANK: Final = (
    "No bank is published yet, so nothing can be examined. Ingest papers and close a review batch first "
    "(`proctor ingest`, `proctor review status`)."
)
INDEXED: Final = (
    *("bank_version", "question_uuid", "revision", "lineage_uuid", "discipline"),
    *("method", "answer", "passage", "has_pictures"),
)
HELD: Final = (
    *("bank_version", "lineage_uuid", "question_uuid", "revision", "question_type", "language"),
    *("stem", "material", "options", "answer", "pictures"),
)
_AT_ONCE: Final = 2_000


class BankRows(Protocol):
    """Where a bank version is read."""

    def feed_index(self, take: Take) -> None:
        """Give `take` every question as a draw sees it, by parts: rows of `INDEXED`."""

    def feed_former(self, take: Take) -> None:
        """Give `take` what earlier versions asked about, by parts: rows of lineage and `passage`."""

    def feed_contents(self, take: Take) -> None:
        """Give `take` every question with its content, by parts: rows of `HELD`."""

    def read_lineages(self, lineage_uuids: Collection[str]) -> pl.DataFrame:
        """The questions of some lineages: columns of `warehouse/sql/reads/bank_lineages.sql`."""

    def read_alt_texts(self, sha256s: Collection[str]) -> dict[str, str]:
        """What pictures show, by hash: of those of which somebody said it."""


class FrameRows:
    """A bank version that is in memory."""

    def __init__(self, bank: pl.DataFrame) -> None:
        if "passage" not in bank.columns:
            bank = bank.with_columns(passage=_name_passages(bank))
        if "pictures" not in bank.columns:
            bank = bank.with_columns(pictures=pl.lit(None, pl.Null))
        if "has_pictures" not in bank.columns:
            bank = bank.with_columns(
                has_pictures=pl.Series([bool(one) for one in bank["pictures"].to_list()], dtype=pl.Boolean)
            )
        self._bank = bank

    def feed_index(self, take: Take) -> None:
        """Every question as a draw sees it."""
        self._feed(INDEXED, take)

    def feed_former(self, take: Take) -> None:
        """Nothing: a bank in memory has no earlier version."""

    def feed_contents(self, take: Take) -> None:
        """Every question with its content."""
        self._feed(HELD, take)

    def read_lineages(self, lineage_uuids: Collection[str]) -> pl.DataFrame:
        """The questions of some lineages."""
        return self._bank.filter(pl.col("lineage_uuid").is_in(sorted(set(lineage_uuids))))

    def read_alt_texts(self, sha256s: Collection[str]) -> dict[str, str]:
        """Nothing: a bank in memory knows of no papers."""
        return {}

    def _feed(self, names: Sequence[str], take: Take) -> None:
        for part in self._bank.select(names).iter_slices(_AT_ONCE):
            take(part.rows())


def _name_passages(bank: pl.DataFrame) -> pl.Series:
    """`passage` as in `warehouse/sql/reads/bank_index.sql`."""
    if "material" not in bank.columns:
        return pl.Series([None] * bank.height, dtype=pl.String)
    return pl.Series(map(name_passage, bank["material"]), dtype=pl.String)


class LakeRows:
    """The latest bank version in the lake."""

    def __init__(self, lake: Lake) -> None:
        self._lake = lake

    def feed_index(self, take: Take) -> None:
        """Every question as a draw sees it; raises GateError when no bank is published."""
        with self._lake.one_thread():
            if not self._lake.feed("bank_index", take):
                raise GateError(NO_BANK)

    def feed_former(self, take: Take) -> None:
        """What questions that have left the bank, or were edited, asked about."""
        with self._lake.one_thread():
            self._lake.feed("former_passages", take)

    def feed_contents(self, take: Take) -> None:
        """Every question with its content."""
        with self._lake.one_thread():
            self._lake.feed("bank_contents_now", take)

    def read_lineages(self, lineage_uuids: Collection[str]) -> pl.DataFrame:
        """The questions of some lineages."""
        with self._lake.one_thread():
            return self._lake.read("bank_lineages", {"lineage_uuids": sorted(set(lineage_uuids))})

    def read_alt_texts(self, sha256s: Collection[str]) -> dict[str, str]:
        """What pictures show, by hash."""
        with self._lake.one_thread():
            rows = self._lake.read_rows("picture_alt_texts", {"sha256s": sorted(sha256s)})
        return {str(sha256): str(alt_text) for sha256, alt_text in rows}
