"""A judge is tried with wrong answers that speak to it.

The trial shows how many stars each way of speaking wins.
"""

from __future__ import annotations

from schemas.settings import Settings
from tasks.judging.addresses import list_trials, summarise_trials
from tasks.judging.controls import ask_trials
from tasks.models.registry import RegisteredModel
from warehouse.ledger.engine.ledger import Ledger


async def try_judge(ledger: Ledger, settings: Settings, judge: RegisteredModel) -> list[dict[str, object]]:
    """Ask the judge for stars of every trial, and report what each address won.

    This is done once for each month and version of the judge's prompt.

    A reply paid for before is taken from the ledger. Raises CallFailed and BudgetError.
    """
    trials = list_trials()
    return summarise_trials(trials, await ask_trials(ledger, settings, judge, trials))
