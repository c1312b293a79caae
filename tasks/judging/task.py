"""Judging as Prefect sees it: read responses → judge → land; only ids and counts pass."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from schemas.settings import Settings, load_settings
from tasks.judging.landing import judge_landed
from tasks.judging.summary import JudgingSummary
from tasks.models.batches import collect_batches
from tasks.models.registry import read_registry
from tasks.running import Progress
from tasks.running.flow_runs import show_progress, step
from warehouse.lake import Lake, open_lake
from warehouse.ledger.engine.ledger import Ledger
from warehouse.ledger.engine.opening import open_ledger

# A provider that says nothing so often in succession is waited for no longer; the command continues when it is run again.
MOST_SILENT_LOOKS = 20


@dataclass(frozen=True)
class JudgingChoices:
    """What is judged of a run, and by which calls.

    Attributes:
        only_unparsed: what nobody could be read of, and nothing else.
        in_batches: submit calls to the batch endpoints of judges that have one.
        waits: until no call is in a batch any more.
    """

    only_unparsed: bool = False
    in_batches: bool = False
    waits: bool = False


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


async def judge_collected(
    ledger: Ledger,
    lake: Lake,
    settings: Settings,
    run_id: str | None,
    progress: Progress,
    choices: JudgingChoices,
) -> JudgingSummary:
    """Collect batches that have ended, then judge as judge_landed does."""
    registry = read_registry(settings.registry_path)
    total: JudgingSummary | None = None
    silent = 0
    while True:
        collected = await collect_batches(ledger, settings, registry)
        silent = silent + 1 if collected.problems and not collected.counts else 0
        if total is None or collected.counts or not collected.open_batches:
            part = await judge_landed(
                ledger,
                lake,
                settings,
                run_id,
                progress,
                only_unparsed=choices.only_unparsed,
                in_batches=choices.in_batches,
            )
            total = part if total is None else _join(total, part)
        total.calls.update({f"batch_{name}": count for name, count in collected.counts.items()})
        total.notes += [note for note in collected.problems if note not in total.notes]
        if not choices.waits or not total.pending or silent >= MOST_SILENT_LOOKS:
            return total
        await asyncio.sleep(settings.batch_poll_s)


def _join(before: JudgingSummary, after: JudgingSummary) -> JudgingSummary:
    """Two rounds as one: what was done added up, what is left open as the later one found it."""
    after.judged += before.judged
    after.unparsed += before.unparsed
    after.controls += before.controls
    after.resolved += before.resolved
    after.calls.update(before.calls)
    after.notes = before.notes + after.notes
    return after
