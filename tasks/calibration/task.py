"""Calibration as Prefect sees it: one occasion, by its name. Counts only pass through Prefect."""

from __future__ import annotations

from prefect import task

from schemas.settings import load_settings
from tasks.calibration.calibrate import calibrate_judges
from tasks.calibration.correction import correct_edition
from tasks.faults import hide_content
from tasks.flow_runs.task import sign_landings
from tasks.models.registry import read_registry
from warehouse.lake.store import open_lake


@task(name="compare_judges")
@hide_content
@sign_landings
def compare_judges(occasion: str = "") -> dict[str, object]:
    """Compare every judge with the people of an occasion; an empty one is that drawn last."""
    settings = load_settings()
    with open_lake(settings) as lake:
        summary = calibrate_judges(lake, read_registry(settings.registry_path), occasion or None)
    return {
        "occasion": summary.occasion,
        "drawn_responses": summary.drawn,
        "settled_responses": summary.settled,
        "compared_responses": summary.paired,
        "judges": list(summary.judges),
        "run_ids": list(summary.run_ids),
        "is_new": summary.is_new,
    }


@task(name="correct_scores")
@hide_content
@sign_landings
def correct_scores(run_ids: list[str]) -> dict[str, object]:
    """Correct the last editions of these runs for their judge; a run without an edition or without ratings has none."""
    with open_lake(load_settings()) as lake:
        counts = {run_id: correct_edition(lake, run_id) for run_id in run_ids if run_id}
    return {"corrected_scores": sum(counts.values())}
