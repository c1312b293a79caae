"""The exam as Prefect sees it: plan, sit, land. Ids and counts only pass through Prefect."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable

from schemas.settings import Settings, load_settings
from tasks.exam.closed import close_overdue, land_access_log, land_closed_sessions, set_deadlines
from tasks.exam.log import keep_head, note_keys
from tasks.exam.log.signing import open_signer
from tasks.exam.month import preview_month, publish_month
from tasks.exam.plan import RunWishes, read_plan
from tasks.exam.public.draws import disclose_closed_runs
from tasks.exam.public.log import keep_public_log
from tasks.exam.run_progress import read_run_progress
from tasks.exam.sitter import SittingProgress
from tasks.exam.sitting import SittingFailure, SittingPart, SittingReport, sit_sessions
from tasks.models import ModelClient
from tasks.models.batches import BatchClient, collect_batches
from tasks.models.budget import open_budget
from tasks.models.registry import Registry, read_registry
from tasks.running import Progress
from tasks.running.approvals import ApprovalNeeded
from tasks.running.flow_runs import RETRIED, show_progress, step
from warehouse.lake import open_lake
from warehouse.ledger.engine.ledger import Ledger
from warehouse.ledger.engine.opening import open_ledger


@step()
def plan_month(wishes: RunWishes) -> dict[str, object]:
    """Plan the month's run and publish it; an empty id where nobody is due or it waits."""
    settings = load_settings()
    with open_ledger(settings.ledger_address) as ledger, open_lake(settings, read_only=True) as lake:
        plan = preview_month(ledger, lake, settings, wishes)
        if plan is None:
            return {"run_id": ""}
        note_keys(ledger, settings, open_signer(settings))
        try:
            published = publish_month(ledger, settings, plan)
        except ApprovalNeeded as waiting:
            return {"run_id": "", "waits_for": str(waiting)}
        keep_public_log(ledger, settings)
        set_deadlines(ledger, settings, published)
        return {"run_id": published, "repetition": plan.repetition}


@step()
@show_progress
def sit_run(run_id: str, in_batches: bool = False) -> dict[str, object]:
    """Let every in-house candidate of the run answer what it has not answered yet.

    Workers that are free sit beside this process. `in_batches` submits the questions that are pending to the
    batch endpoints of candidates that have one.
    """
    if not run_id:
        return {
            "sessions": 0,
            "answers": 0,
            "calls": {},
            "open_sessions": [],
            "pending_sessions": 0,
            "outside": [],
        }
    settings = load_settings()
    with open_ledger(settings.ledger_address) as ledger:
        plan = read_plan(ledger, run_id)
        with Progress(f"evaluate {run_id}: answers", plan.call_count) as progress:
            # What was answered before counts, and what other processes answer meanwhile.
            progress.reach(read_run_progress(ledger, run_id).done)
            report, calls = asyncio.run(
                _sit(ledger, run_id, plan.budget_usd, progress, in_batches=in_batches)
            )
            progress.reach(read_run_progress(ledger, run_id).done)
        keep_public_log(ledger, settings)
    return {
        "sessions": report.session_count,
        "answers": report.answer_count,
        "calls": dict(calls),
        "open_sessions": [
            {"session_id": failure.session_id, "model": failure.model, "reason": failure.reason}
            for failure in report.failures
        ],
        "pending_sessions": report.pending_count,
        # Those of them that have something left to sit.
        "outside": sorted(plan.outside) if report.outside_count else [],
    }


@step(**RETRIED)
def close_overdue_sessions() -> dict[str, object]:
    """Close the sessions whose deadline has passed; what is unanswered in them counts 0."""
    settings = load_settings()
    with open_ledger(settings.ledger_address) as ledger:
        note_keys(ledger, settings, open_signer(settings))
        set_deadlines(ledger, settings)
        report = close_overdue(ledger)
        if report.session_ids:
            keep_head(ledger, settings)
        disclose_closed_runs(ledger, settings)
        keep_public_log(ledger, settings)
    return {"overdue_sessions": len(report.session_ids), "unanswered_questions": report.unanswered_count}


@step(**RETRIED)
def land_run(run_id: str) -> dict[str, object]:
    """Disclose what closed runs were drawn from, then land what has closed in the ledger."""
    if not run_id:
        return {"landed_rows": {}}
    settings = load_settings()
    with open_ledger(settings.ledger_address) as ledger, open_lake(settings) as lake:
        disclose_closed_runs(ledger, settings)
        return {"landed_rows": land_closed_sessions(ledger, lake) | land_access_log(ledger, lake)}


@step(**RETRIED)
def collect_provider_batches() -> dict[str, object]:
    """Book what providers have answered in batches; one that cannot be asked is asked again."""
    settings = load_settings()
    with open_ledger(settings.ledger_address) as ledger:
        collected = asyncio.run(collect_batches(ledger, settings, read_registry(settings.registry_path)))
    return {
        "open_batches": collected.open_batches,
        "collected_calls": dict(collected.counts),
        "batch_problems": len(collected.problems),
    }


async def _sit(
    ledger: Ledger, run_id: str, budget_usd: float | None, progress: Progress, *, in_batches: bool
) -> tuple[SittingReport, Counter[str]]:
    settings = load_settings()
    registry = read_registry(settings.registry_path)
    await collect_batches(ledger, settings, registry)
    budget = open_budget(ledger, budget_usd, run_id)

    def count(_: SittingProgress) -> None:
        progress.advance()

    if not in_batches:
        async with ModelClient(ledger, settings, budget=budget) as client:
            report = await sit_sessions(ledger, settings, registry, client, run_id, progress=count)
            return report, client.counts
    async with BatchClient(ledger, settings, budget=budget) as batching:
        return await sit_in_batches(ledger, settings, registry, batching, run_id, progress=count)


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
