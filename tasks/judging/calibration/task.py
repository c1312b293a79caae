"""Calibration as Prefect sees it: one occasion, by its name. Only counts pass through."""

from __future__ import annotations

import asyncio

from schemas.settings import load_settings
from tasks.judging.calibration.anchors import watch_judges
from tasks.judging.calibration.calibrate import calibrate_judges, list_runs
from tasks.judging.calibration.correction import correct_edition
from tasks.models.registry import read_registry
from tasks.running.flow_runs import RETRIED, step
from warehouse.lake import open_lake
from warehouse.ledger.engine.opening import open_ledger


@step()
def compare_judges(occasion: str = "") -> dict[str, object]:
    """Compare every judge with the people of an occasion; an empty one is that drawn last."""
    settings = load_settings()
    with open_lake(settings) as lake:
        registry = read_registry(settings.registry_path)
        least = settings.judge_ratings_gate
        summary = calibrate_judges(lake, registry, occasion or None, least_ratings=least)
    return {
        "occasion": summary.occasion,
        "drawn_responses": summary.drawn,
        "settled_responses": summary.settled,
        "compared_responses": summary.paired,
        "judges": list(summary.judges),
        "run_ids": list(summary.run_ids),
        "is_new": summary.is_new,
    }


@step(**RETRIED)
def correct_scores(run_id: str = "", occasion: str = "") -> dict[str, object]:
    """Correct the last edition of a run, or of those that an occasion (the last) drew from."""
    with open_lake(load_settings()) as lake:
        run_ids = [run_id] if run_id else list_runs(lake, occasion or None)
        counts = {name: correct_edition(lake, name) for name in run_ids}
    return {"corrected_scores": sum(counts.values())}


@step()
def watch_anchors(month: str) -> dict[str, object]:
    """Let every judge in use judge the anchor set again, once a month."""
    settings = load_settings()
    with open_ledger(settings.ledger_address) as ledger, open_lake(settings) as lake:
        summary = asyncio.run(
            watch_judges(ledger, lake, settings, read_registry(settings.registry_path), month)
        )
    return {
        "anchor_set": summary.anchor_set,
        "anchor_judgements": summary.judged,
        "watched_judges": summary.judges,
        "changed_judges": summary.alarms,
        "unwatched_judges": summary.unwatched,
        "anchor_calls": dict(summary.calls),
        "anchor_failure": summary.failure,
    }
