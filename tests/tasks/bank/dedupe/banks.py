"""A bank in memory, version after version, as `build_bank` meets it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from schemas.tables import get_table
from tasks.bank.dedupe.publish import BankBuild
from tasks.bank.dedupe.signatures import BANDS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

KEY = ["question_uuid", "lineage_uuid", "from_version"]


class MemoryBank:
    """What a lake would hold after some builds."""

    def __init__(self) -> None:
        self.version = 0
        self.contents = get_table("bank_contents").frame([])
        self.signatures = get_table("question_signatures").frame([])
        self.exits = get_table("bank_exits").frame([])

    def take(self, build: BankBuild) -> MemoryBank:
        after = MemoryBank()
        after.version = build.version
        after.contents = pl.concat([self.contents, build.contents])
        after.signatures = pl.concat([self.signatures, build.signatures])
        after.exits = pl.concat([self.exits, build.exits])
        return after

    @property
    def rows(self) -> pl.DataFrame:
        return self.contents.join(self.exits, on=KEY, how="anti").sort("question_uuid")

    @property
    def members(self) -> pl.DataFrame:
        return self.rows.select("question_uuid", "lineage_uuid", "revision", "document_id", "from_version")

    def find_keys(self, content_keys: Sequence[str]) -> pl.DataFrame:
        found = self.signatures.filter(pl.col("content_key").is_in(list(content_keys)))
        return found.select(*KEY, "content_key", "normal_answers")

    def read_bands(self) -> tuple[pl.DataFrame, NDArray[np.uint32]]:
        import numpy as np

        found = self.signatures.filter(pl.col("bands").is_not_null())
        values = found["bands"].explode().to_numpy() if found.height else np.empty(0)
        return found.select(KEY), values.astype(np.uint32).reshape(-1, BANDS)

    def find_looks(self, sha256s: Sequence[str]) -> Mapping[str, str]:
        return {sha256: sha256 for sha256 in sha256s}

    def find_forms(self, question_uuids: Sequence[str]) -> pl.DataFrame:
        return self.signatures.filter(pl.col("question_uuid").is_in(list(question_uuids))).drop(
            "bands", "content_key", "algorithm", "revision"
        )
