"""Variants: augment."""

from __future__ import annotations

import sys
from typing import Annotated, Any

import typer

from deployments.command_line.printing import ask_whether, is_json, print_note, print_result, render_entries
from deployments.commands.checks import check_registry
from deployments.commands.options import NoServer, split_names
from deployments.flow_runs import run_flow
from schemas.errors import UsageError
from schemas.settings import load_settings
from tasks.bank.augment import MODEL_METHODS, estimate_writing, select_methods
from tasks.models.registry import read_registry
from warehouse.lake import open_lake

# What is paid without a question.
ASK_FROM_USD = 1.0


def augment(
    generator: Annotated[
        str,
        typer.Option("--with", help="A model of the registry that writes variants. Default: templates only."),
    ] = "",
    methods: Annotated[
        str,
        typer.Option(
            "--methods",
            help="Comma separated. Templates: multiple_choice_to_true_false, permuted_options, free_response. By a model: "
            "declarative_rewrite, material_to_true_false, paraphrase. Default: the first, and with a model the fourth and fifth.",
        ),
    ] = "",
    batch_id: Annotated[
        str, typer.Option("--batch", help="Only questions of this review batch. Default: every closed batch.")
    ] = "",
    budget_usd: Annotated[
        float | None,
        typer.Option(
            "--budget",
            min=0,
            help="USD that a review batch's variants may cost. Default: PROCTOR_BUDGET_USD.",
        ),
    ] = None,
    is_estimate: Annotated[
        bool, typer.Option("--estimate", help="Show what the model's variants would cost, and write nothing.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask before calls are paid for.")] = False,
    *,
    no_server: NoServer = False,
) -> None:
    """Make variants of every accepted question that has none yet.

    By template, this is part of the review gate's flow.

    What a model writes is held to the rules of `proctor rules list`; 5% of it is drawn for review, and nothing of a batch is used
    before that sample passes. Killed or short of budget, the same command continues: no answered call is paid for again.

    What it will cost is shown first; from 1 USD on it is asked for, or needs --budget or --yes where nobody can be asked.

    Example: proctor augment --with sim-writer --methods declarative_rewrite,material_to_true_false --budget 5
    """
    names = split_names(methods) or []
    # A mistake is reported before a flow starts.
    select_methods(names, with_model=bool(generator))
    estimate: dict[str, Any] = {}
    if generator:
        check_registry([generator])
        estimate = _estimate(generator, names, batch_id, budget_usd)
        if is_estimate:
            print_result(estimate["estimate"])
            return
        _ask(estimate, yes=yes)
    elif is_estimate:
        raise typer.BadParameter("Templates cost nothing; name a model with --with.", param_hint="--estimate")
    result = run_flow(
        "augment",
        without_server=no_server,
        generator=generator,
        methods=names or None,
        batch_id=batch_id,
        budget_usd=budget_usd,
    )
    print_result(
        result | {name: value for name, value in estimate.items() if name == "estimate"},
        lines=render_entries(result),
        then=_name_next_step(result),
    )


def _estimate(generator: str, methods: list[str], batch_id: str, budget_usd: float | None) -> dict[str, Any]:
    """What the model would cost, its limit, and if for real money; printed on standard error."""
    settings = load_settings()
    limit = settings.budget_usd if budget_usd is None else budget_usd
    model = read_registry(settings.registry_path).generator(generator)
    chosen = [name for name in select_methods(methods, with_model=True) if name in MODEL_METHODS]
    with open_lake(settings, read_only=True) as lake:
        found = estimate_writing(lake, model, chosen, batch_id)
    if found.calls:
        price = "at an unknown price" if found.cost_usd is None else f"about ${found.cost_usd:.2f}"
        print_note(
            f"augment: {found.calls} requests to {generator}, {price}; one that does not pass is sent once more"
        )
        dearest = found.dearest_batch_usd
        if limit is not None and dearest is not None and dearest > limit:
            print_note(
                f"  the budget of ${limit:.2f} per review batch will stop it: a batch takes ${dearest:.2f}"
            )
    return {
        "estimate": found.describe(),
        "limit_usd": limit,
        "is_free": not found.calls or model.is_simulated,
    }


def _ask(estimate: dict[str, Any], *, yes: bool) -> None:
    """Ask before paying 1 USD or more, or an unknown price; without a person a limit is needed."""
    cost = estimate["estimate"]["cost_usd"]
    if yes or estimate["is_free"] or (cost is not None and cost < ASK_FROM_USD):
        return
    if sys.stdin.isatty() and not is_json():
        ask_whether("Write them?", abort=True)
    elif estimate["limit_usd"] is None:
        price = "an unknown amount" if cost is None else f"about {cost:.2f} USD"
        raise UsageError(
            f"This would cost {price} and there is no budget. Give --budget USD (or PROCTOR_BUDGET_USD), or --yes."
        )


def _name_next_step(result: dict[str, object]) -> str:
    if result.get("sample_refusal"):
        return "register annotators (`proctor exam user add`), then proctor augment gives them the sample"
    if result.get("sample_batch_id"):
        return "proctor review export workbooks (the sample of what the model wrote)"
    if result.get("waiting_samples"):
        return "register annotators (`proctor exam user add`), then proctor augment gives them the sample"
    return "proctor dedupe puts new variants into the bank"
