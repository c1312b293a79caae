"""Controls before a run: a judge tried with our own questions, and what they will cost."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import yaml

from schemas.settings import Settings
from schemas.vocabulary import LANGUAGES
from tasks.judging.addresses import Trial
from tasks.judging.asking import find_asking, list_judges
from tasks.judging.controls.drawing import ControlQuestion, count_asked, draw_controls
from tasks.judging.costs import compute_mean_cost, estimate_judging, read_past_costs
from tasks.judging.judge import MOST_TRIES, ask_stars
from tasks.models import CallRequest, ModelClient
from tasks.models.registry import RegisteredModel, Registry
from tasks.questions import QuestionContent
from tasks.statistics.agreement import ControlVerdict, compute_controls
from warehouse.ledger.engine.ledger import Ledger

if TYPE_CHECKING:
    from warehouse.lake import Lake

PURPOSE: Final = "judge_trial"
TRIAL_CONTROLS: Final = 30
_SEED: Final = "control trial 1"
_FILE = Path(__file__).with_name("questions.yaml")


async def ask_trials(
    ledger: Ledger,
    settings: Settings,
    judge: RegisteredModel,
    trials: Sequence[Trial],
    *,
    most_tries: int = 1,
) -> list[int | None]:
    """The judge's stars for each; None where its replies could not be read.

    A reply paid for before, in this month and by this version of the prompt, is taken from the ledger. Raises CallFailed and BudgetError.
    """
    asking = find_asking(judge)
    async with ModelClient(ledger, settings) as client:
        asked = await asyncio.gather(
            *[
                ask_stars(
                    client,
                    judge,
                    CallRequest(
                        purpose=PURPOSE,
                        messages=asking.write_messages(trial.question, trial.response),
                        unit=f"judge-trial/{judge.name}/prompt-{asking.wording}",
                        parameters=dict(asking.parameters),
                    ),
                    most_tries=most_tries,
                )
                for trial in trials
            ]
        )
    return [one.stars for one in asked]


def list_control_trials() -> list[Trial]:
    """Thirty control answers to built-in questions, half of them Chinese; always the same."""
    return [
        Trial(control.kind, control.question.content, control.response)
        for language in LANGUAGES
        for control in draw_controls(
            list_built_in(language), TRIAL_CONTROLS // len(LANGUAGES), _SEED, is_asked=True
        )
    ]


async def try_controls(
    ledger: Ledger, settings: Settings, judge: RegisteredModel
) -> tuple[ControlVerdict, list[dict[str, Any]]]:
    """Ask the judge for stars of the built-in control answers; what they say, with a row a kind."""
    trials = list_control_trials()
    given = await ask_trials(ledger, settings, judge, trials, most_tries=MOST_TRIES)
    stars: Mapping[str, list[int | None]] = {name: [] for name in dict.fromkeys(one.name for one in trials)}
    for trial, one in zip(trials, given, strict=True):
        stars[trial.name].append(one)
    verdict = compute_controls(stars, settings.control_wrong_gate)
    rows = [
        {
            "kind": one.kind,
            "answers": one.count,
            "mean_stars": one.mean_stars,
            "unread": one.unread_count,
            "p_value": one.p_value,
        }
        for one in verdict.kinds
    ]
    return verdict, rows


def list_built_in(language: str) -> list[ControlQuestion]:
    """The built-in questions of a language."""
    found = []
    for row in yaml.safe_load(_FILE.read_text(encoding="utf-8"))[language]:
        content = QuestionContent.from_row({"language": language, "options": [], **row})
        found.append(ControlQuestion(content.stem, content.stem, str(content.discipline), content))
    return found


def estimate_controls(
    lake: Lake, settings: Settings, registry: Registry, month: str, *, is_simulated: bool
) -> list[dict[str, object]]:
    """What control answers add by judge: calls, and USD by past cost, else by price, or null."""
    judges = list_judges(registry, settings, is_simulated=is_simulated)
    count = count_asked(settings.judge_controls)
    rows: list[dict[str, object]] = []
    for judge, past in zip(judges, read_past_costs(lake, judges, month).values(), strict=True):
        mean = compute_mean_cost(past)
        cost = estimate_judging(judge, count) if mean is None else mean * count
        rows.append({"judge": judge.name, "call_count": count, "cost_usd": cost})
    return rows
