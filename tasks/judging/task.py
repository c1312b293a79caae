"""Judging as Prefect sees it: read responses → judge → land; only ids and counts pass."""

from __future__ import annotations

import asyncio

from schemas.settings import load_settings
from tasks.judging.batched import JudgingChoices, judge_collected
from tasks.running import Progress
from tasks.running.flow_runs import show_progress, step
from warehouse.lake import open_lake
from warehouse.ledger.engine.opening import open_ledger


@step()
@show_progress
def judge_run(
    run_id: str = "", only_unparsed: bool = False, in_batches: bool = False, waits: bool = False
) -> dict[str, object]:
    """Judge what a run's candidates answered and no judge has judged.

    An empty id means every run. `only_unparsed` asks again for what nobody could be read of, and judges nothing else.
    `in_batches` submits the calls to the batch endpoints of judges that have one; `waits` stays until they have ended.
    """
    settings = load_settings()
    with (
        open_ledger(settings.ledger_address) as ledger,
        open_lake(settings) as lake,
        Progress("judge: responses") as progress,
    ):
        summary = asyncio.run(
            judge_collected(
                ledger,
                lake,
                settings,
                run_id or None,
                progress,
                JudgingChoices(only_unparsed, in_batches, waits),
            )
        )
    return {
        "judged_responses": summary.judged,
        "unparsed_judgements": summary.unparsed,
        "judged_controls": summary.controls,
        "resolved_responses": summary.resolved,
        "unresolved_responses": summary.unresolved,
        "failed_judgements": summary.failed,
        "pending_calls": summary.pending,
        "failure": summary.failure,
        "notes": summary.notes,
        "judges": sorted(set(summary.judges)),
        "judge_calls": dict(summary.calls),
    }
