"""Judging in batches: what has ended is collected first, then everything known is landed."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from schemas.settings import Settings
from tasks.judging.landing import judge_landed
from tasks.judging.summary import JudgingSummary
from tasks.models.batches import collect_batches
from tasks.models.registry import read_registry
from tasks.running import Progress
from warehouse.lake import Lake
from warehouse.ledger.engine.ledger import Ledger

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
