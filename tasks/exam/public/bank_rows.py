"""Questions of a bank version with their content, a part of the bank at a time."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any, Final, Protocol

import polars as pl

from warehouse.lake.store import Lake

# Of a bank of 228,604 questions a part has some 15 MB of text.
_PARTS: Final = 8


class BankRows(Protocol):
    """Where the content of a bank version is read: columns of `warehouse/sql/reads/bank_lineages.sql`."""

    def iter_parts(self) -> Iterator[pl.DataFrame]:
        """All questions, in parts that hold whole lineages."""

    def read_lineages(self, lineage_uuids: Collection[str]) -> pl.DataFrame:
        """The questions of some lineages."""


class FrameRows:
    """A bank version that is in memory."""

    def __init__(self, bank: pl.DataFrame) -> None:
        self._bank = bank

    def iter_parts(self) -> Iterator[pl.DataFrame]:
        """All of it."""
        yield self._bank

    def read_lineages(self, lineage_uuids: Collection[str]) -> pl.DataFrame:
        """The questions of some lineages."""
        return self._bank.filter(pl.col("lineage_uuid").is_in(sorted(set(lineage_uuids))))


class LakeRows:
    """The latest bank version in the lake."""

    def __init__(self, lake: Lake) -> None:
        self._lake = lake

    def iter_parts(self) -> Iterator[pl.DataFrame]:
        """All questions, in parts of a few megabytes."""
        for part in range(_PARTS):
            yield self._read("bank_part", {"part": part, "part_count": _PARTS})

    def read_lineages(self, lineage_uuids: Collection[str]) -> pl.DataFrame:
        """The questions of some lineages."""
        return self._read("bank_lineages", {"lineage_uuids": sorted(set(lineage_uuids))})

    def _read(self, name: str, parameters: dict[str, Any]) -> pl.DataFrame:
        with self._lake.one_thread():
            return self._lake.read(name, parameters)
