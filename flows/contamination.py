"""Candidates complete questions from memory."""

from __future__ import annotations

from tasks.contamination import replay_questions
from tasks.operations.reconcile import reconcile_stores
from tasks.running.flow_runs import flow, publish_summary, require_budget


@flow
def contamination(
    replay_id: str,
    models: list[str],
    sources: list[str],
    size: int = 1_000,
    columns: dict[str, str] | None = None,
) -> dict[str, object]:
    """Replay questions with a blank to models, three completions of each.

    Args:
        replay_id: name of the replay; the same name continues it.
        models: registered models to ask.
        sources: `bank`, and paths of files with public sets.
        size: questions drawn from each source.
        columns: names of a file's columns where they are not the usual ones.
    """
    require_budget()
    reconcile_stores()
    result = replay_questions(replay_id, models, sources, size, columns)
    publish_summary(result)
    return result
