"""From landed decisions and variants to a landed bank version."""

from __future__ import annotations

from datetime import UTC, datetime

from schemas.settings import Settings
from tasks.dedupe.publish import BankBuild, build_bank
from tasks.holds import hold_work
from warehouse.lake.locks import LOCK_TIMEOUT_S
from warehouse.lake.store import Batch, Lake


def land_bank(lake: Lake, settings: Settings) -> BankBuild | None:
    """Publish the next bank version, or find that nothing changed; None when nothing is accepted yet.

    Bank, duplicates and version land in one transaction: a version that can be named is complete.
    """
    # Two publishers at once would number their versions alike, and the second would replace what the first published.
    with hold_work(settings, "bank", "version", what="publishing the bank", wait_s=LOCK_TIMEOUT_S):
        decisions = lake.read("decided_questions")
        if decisions.is_empty():
            return None
        build = build_bank(
            decisions,
            lake.read("made_variants"),
            lake.read("latest_bank"),
            now=datetime.now(UTC),
            threshold=settings.near_duplicate_jaccard,
            occurrences=lake.read("question_occurrences"),
        )
        unit = str(build.version)
        batches = [Batch("duplicates", unit, build.duplicates)]
        if not build.is_unchanged:
            batches += [Batch("bank", unit, build.bank), Batch("bank_versions", unit, build.bank_versions)]
        lake.land_together(batches, stage="dedupe")
        return build
