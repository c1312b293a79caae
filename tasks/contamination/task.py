"""Contamination replays as Prefect sees them: models, sources and counts only."""

from __future__ import annotations

import asyncio

from schemas.settings import load_settings
from tasks.contamination.replay import ReplayRequest, replay_sources
from tasks.models.registry import read_registry
from tasks.running.flow_runs import step
from warehouse.lake import open_lake
from warehouse.ledger.engine.opening import open_ledger


@step()
def replay_questions(
    replay_id: str,
    models: list[str],
    sources: list[str],
    size: int = 1_000,
    columns: dict[str, str] | None = None,
) -> dict[str, object]:
    """Replay these sources (`bank` or files) to these models, each question three times."""
    settings = load_settings()
    registry = read_registry(settings.registry_path)
    chosen = [registry.get(name) for name in models]
    request = ReplayRequest(replay_id, chosen, sources, size, columns or {})
    with open_ledger(settings.ledger_address) as ledger, open_lake(settings) as lake:
        summary = asyncio.run(replay_sources(ledger, lake, settings, request))
    return {
        "replay_id": summary.replay_id,
        "replayed_questions": summary.questions,
        "questions_without_span": summary.without_span,
        "begun_otherwise": summary.begun_otherwise,
        "completions": summary.completions,
        "completions_refused": summary.refused,
        "models": summary.models,
        "replay_calls": dict(summary.calls),
    }
