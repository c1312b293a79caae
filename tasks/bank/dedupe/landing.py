"""From landed decisions and variants to a bank version, reading what changed since the last."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from schemas.lazy import np
from schemas.settings import Settings
from schemas.tables import get_table
from tasks.bank.dedupe.index import ALGORITHM, compute_signatures, frame_signatures
from tasks.bank.dedupe.looks import FindLooks, find_looks, show_looks
from tasks.bank.dedupe.publish import BankBuild, build_bank
from tasks.bank.dedupe.signatures import BANDS
from tasks.running.claiming import hold_work
from warehouse.lake import LOCK_TIMEOUT_S, Batch, Lake

if TYPE_CHECKING:
    from numpy.typing import NDArray


class LakeBank:
    """The latest bank version in a lake with its index: a `likeness.KnownBank`."""

    def __init__(self, lake: Lake, archive: Path) -> None:
        self._lake = lake
        self._archive = archive
        self.version = int(lake.read("bank_version_count").item())
        self.members = lake.read("bank_members")

    def find_keys(self, content_keys: Sequence[str]) -> pl.DataFrame:
        """Entries with one of these keys."""
        params = {"algorithm": ALGORITHM, "content_keys": list(content_keys)}
        return self._lake.read("signatures_with_keys", params)

    def read_bands(self) -> tuple[pl.DataFrame, NDArray[np.uint32]]:
        """Entries that are compared by more than their key, and their bands."""
        found = self._lake.read("signature_bands", {"algorithm": ALGORITHM})
        values = found["bands"].explode() if found.height else pl.Series([], dtype=pl.Int64)
        return found.drop("bands"), values.to_numpy().astype(np.uint32).reshape(-1, BANDS)

    def find_forms(self, question_uuids: Sequence[str]) -> pl.DataFrame:
        """Normal forms of these questions."""
        params = {"algorithm": ALGORITHM, "question_uuids": list(question_uuids)}
        return self._lake.read("signatures_of", params)

    def find_looks(self, sha256s: Sequence[str]) -> Mapping[str, str]:
        """Its pictures and these by the first that looks the same."""
        return find_looks(self._lake, self._archive, sha256s)


def land_bank(lake: Lake, settings: Settings, *, is_rebuilt: bool = False) -> BankBuild | None:
    """Publish the next bank version, or find that nothing changed.

    Returns None when nothing was decided yet. All that belongs to a version lands in one transaction: a
    version that can be named is complete. With `is_rebuilt` the index is computed anew and every lineage
    compared again, whether it changed or not.
    """
    # Two publishers at once would number their versions alike, and the second would replace what the first published.
    with hold_work(settings, "bank", "version", what="publishing the bank", wait_s=LOCK_TIMEOUT_S):
        changed = lake.read("changed_bank_sources")
        known = LakeBank(lake, settings.archive_dir)
        if changed.is_empty() and known.version and not is_rebuilt:
            return _describe_unchanged(known)
        _complete_index(lake, known.find_looks, is_rebuilt=is_rebuilt)
        retired = set(lake.read("retired_questions")["question_uuid"])
        units = {
            name: changed.filter(pl.col("table_name") == name)["unit"].to_list()
            for name in ("review_decisions", "variants", "questions", "bank_retirements")
        }

        def find_occurrences(question_uuids: Sequence[str]) -> pl.DataFrame:
            if lineages is None:
                return lake.read("question_occurrences")
            params = {"question_uuids": list(question_uuids), "document_units": units["questions"]}
            return lake.read("occurrences_of", params)

        lineages: set[str] | None = None
        if known.version and not is_rebuilt:
            lineages = set(
                lake.read(
                    "lineages_of_units",
                    {
                        "decision_units": units["review_decisions"],
                        "variant_units": units["variants"],
                        "retirement_units": units["bank_retirements"],
                    },
                )["lineage_uuid"]
            )
        while True:
            decisions, variants = _read_sources(lake, lineages)
            if decisions.is_empty() and not known.version:
                return None
            build = build_bank(
                decisions,
                variants,
                known,
                now=datetime.now(UTC),
                threshold=settings.near_duplicate_jaccard,
                retired=retired,
                find_occurrences=find_occurrences,
            )
            # What was left out for the sake of a question that leaves now may come back.
            freed = _find_freed(lake, build) - (lineages or set())
            if lineages is None or not freed:
                break
            lineages |= freed
        _land(lake, build, changed)
        return build


def _read_sources(lake: Lake, lineages: set[str] | None) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Decisions and variants of these lineages; of all without."""
    if lineages is None:
        return lake.read("decided_questions"), lake.read("made_variants")
    params = {"lineage_uuids": sorted(lineages)}
    return lake.read("decisions_of_lineages", params), lake.read("variants_of_lineages", params)


def _find_freed(lake: Lake, build: BankBuild) -> set[str]:
    if build.exits.is_empty():
        return set()
    left = sorted(set(build.exits["question_uuid"]))
    return set(lake.read("dropped_for", {"question_uuids": left})["lineage_uuid"])


def _land(lake: Lake, build: BankBuild, changed: pl.DataFrame) -> None:
    unit = str(build.version)
    batches = []
    if not build.is_unchanged:
        batches += [
            Batch("bank_contents", unit, build.contents),
            Batch("question_signatures", f"{unit}/{ALGORITHM}", build.signatures),
            Batch("bank_exits", unit, build.exits),
            Batch("bank_versions", unit, build.bank_versions),
            Batch("duplicates", unit, build.duplicates),
        ]
    elif build.duplicates.height:
        before = lake.read("duplicates_of_version", {"bank_version": build.version})
        both = pl.concat([build.duplicates, before]).unique(
            ["dropped_uuid", "dropped_document_id", "kept_uuid"], keep="first", maintain_order=True
        )
        batches.append(Batch("duplicates", unit, both))
    if changed.height:
        publication = int(lake.read("publication_count").item()) + 1
        taken = changed.select(
            pl.lit(publication, pl.Int64).alias("publication"),
            pl.lit(build.version, pl.Int64).alias("bank_version"),
            "table_name",
            "unit",
            "content_hash",
        )
        batches.append(Batch("bank_sources", str(publication), taken))
    if batches:
        lake.land_together(batches, stage="dedupe")


def _complete_index(lake: Lake, looks: FindLooks, *, is_rebuilt: bool) -> None:
    """Compute what the index lacks: all of it after another algorithm or an earlier version."""
    counts = lake.read("signature_count", {"algorithm": ALGORITHM})
    if counts["entry_count"].item() == counts["indexed_count"].item() and not is_rebuilt:
        return
    missing = lake.read(
        "entries_without_signature", {"algorithm": "none at all" if is_rebuilt else ALGORITHM}
    )
    batches = []
    for (version,), entries in missing.group_by("from_version", maintain_order=True):
        shown = show_looks(entries, pl.Series(range(entries.height)), looks)
        frame = frame_signatures(entries, compute_signatures(shown))
        batches.append(Batch("question_signatures", f"{version}/{ALGORITHM}", frame))
    empty = get_table("question_signatures").frame([])
    named = {batch.unit for batch in batches}
    batches += [
        Batch("question_signatures", unit, empty)
        for unit in sorted(lake.units("question_signatures") - named)
        if not unit.endswith(ALGORITHM)
    ]
    if batches:
        lake.land_together(batches, stage="dedupe")


def _describe_unchanged(known: LakeBank) -> BankBuild:
    def empty(name: str) -> pl.DataFrame:
        return get_table(name).frame([])

    return BankBuild(
        version=known.version,
        is_unchanged=True,
        contents=empty("bank_contents"),
        signatures=empty("question_signatures"),
        exits=empty("bank_exits"),
        duplicates=empty("duplicates"),
        bank_versions=empty("bank_versions"),
        question_count=known.members.height,
        refused={},
        retired_lineages=[],
    )
