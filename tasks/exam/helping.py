"""A worker sits sessions of a run that another process conducts."""

from __future__ import annotations

import asyncio

from schemas.settings import Settings
from tasks.exam.plan import read_plan
from tasks.exam.public.log import keep_public_log
from tasks.exam.sitting import SittingPart, SittingReport, sit_sessions
from tasks.models import ModelClient
from tasks.models.budget import open_budget
from tasks.models.registry import check_callable, read_registry
from tasks.running import Progress
from warehouse.ledger.engine.ledger import Ledger


def help_to_sit(ledger: Ledger, settings: Settings, run_id: str) -> dict[str, int]:
    """Sit what waits of the run until nothing does; returns counts."""
    plan = read_plan(ledger, run_id)
    registry = read_registry(settings.registry_path)
    # A host without a key helps nobody, and takes no session whose try it would use up.
    check_callable(registry.models[name] for name in plan.candidates if name in registry.models)

    async def sit(progress: Progress) -> SittingReport:
        budget = open_budget(ledger, plan.budget_usd, run_id)
        async with ModelClient(ledger, settings, budget=budget) as client:
            part = SittingPart(is_helping=True)
            return await sit_sessions(
                ledger, settings, registry, client, run_id, progress=lambda _: progress.advance(), part=part
            )

    with Progress(f"help {run_id}: answers") as progress:
        report = asyncio.run(sit(progress))
    keep_public_log(ledger, settings)
    return {"answers": report.answer_count}
