"""A judge is tried with wrong answers that speak to it.

The trial shows how many stars each way of speaking wins.
"""

from __future__ import annotations

import asyncio

from schemas.settings import Settings
from tasks.judging.addresses import list_trials, summarise_trials
from tasks.judging.asking import find_asking
from tasks.models import CallRequest, ModelClient
from tasks.models.registry import RegisteredModel
from warehouse.ledger.engine.ledger import Ledger

PURPOSE = "judge_trial"


async def try_judge(ledger: Ledger, settings: Settings, judge: RegisteredModel) -> list[dict[str, object]]:
    """Ask the judge for stars of every trial, and report what each address won.

    This is done once for each month and version of the judge's prompt.

    A reply paid for before is taken from the ledger. Raises CallFailed and BudgetError.
    """
    trials = list_trials()
    asking = find_asking(judge)
    async with ModelClient(ledger, settings) as client:
        replies = await asyncio.gather(
            *[
                client.complete(
                    judge,
                    CallRequest(
                        purpose=PURPOSE,
                        messages=asking.write_messages(trial.question, trial.response),
                        unit=f"judge-trial/{judge.name}/prompt-{asking.wording}",
                        parameters=dict(asking.parameters),
                    ),
                )
                for trial in trials
            ]
        )
    return summarise_trials(trials, [asking.parse_reply(reply.text).stars for reply in replies])
