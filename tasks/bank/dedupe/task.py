"""Deduplication as Prefect sees it: decisions and variants → bank version → land."""

from __future__ import annotations

from schemas.settings import load_settings
from tasks.bank.dedupe.landing import land_bank
from tasks.bank.dedupe.publish import count_left_out
from tasks.running.flow_runs import RETRIED, step
from warehouse.lake import open_lake


@step(**RETRIED)
def publish_bank(is_rebuilt: bool = False) -> dict[str, object]:
    """Publish the bank's next version without duplicates; the same content is the same version."""
    settings = load_settings()
    with open_lake(settings) as lake:
        build = land_bank(lake, settings, is_rebuilt=is_rebuilt)
    if build is None:
        return {"bank_version": 0, "bank_is_unchanged": True}
    return {
        "bank_version": build.version,
        "bank_is_unchanged": build.is_unchanged,
        "bank_questions": build.question_count,
        "entered": build.contents.height,
        "left": build.exits.height,
        "duplicates": count_left_out(build.duplicates),
        "refused_by_rule": dict(build.refused),
        "retired_lineages": len(build.retired_lineages),
    }
