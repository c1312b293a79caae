"""Sitting in a provider's batches: one holds as much as the run's window lets be pending."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from schemas.settings import Settings
from tasks.exam.sitter import SittingProgress
from tasks.exam.sitting import SittingFailure, SittingPart, SittingReport, sit_sessions
from tasks.models.batches import BatchClient
from tasks.models.registry import Registry
from warehouse.ledger.engine.ledger import Ledger


async def sit_in_batches(
    ledger: Ledger,
    settings: Settings,
    registry: Registry,
    client: BatchClient,
    run_id: str,
    *,
    progress: Callable[[SittingProgress], None] | None = None,
) -> tuple[SittingReport, Counter[str]]:
    """Hand in what is answered and submit what is pending.

    Returns the report and what became of the calls. What is too little for a batch is asked for singly at once. A
    provider that takes no batch is a failure of the report.
    """
    answered = 0
    while True:
        report = await sit_sessions(
            ledger, settings, registry, client, run_id, progress=progress, part=SittingPart(in_batches=True)
        )
        answered += report.answer_count
        if not await client.submit():
            break
    report.answer_count = answered
    if client.refused:
        report.failures += [SittingFailure("batch", "batch", problem) for problem in client.problems]
    return report, client.counts + Counter(batched=client.submitted)
