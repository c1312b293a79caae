"""Variants: augment."""

from __future__ import annotations

from typing import Annotated

import typer

from deployments.commands.options import AsJson, NoServer, split_names


def add_commands(app: typer.Typer) -> None:
    """Register this module's command."""
    app.command()(augment)


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
    no_server: NoServer = False,
    as_json: AsJson = False,
) -> None:
    """Make variants of every accepted question that has none yet; by template it is part of the review gate's flow.

    What a model writes is held to the rules of `proctor rules list`; 5% of it is drawn for review, and nothing of a batch is used
    before that sample passes. Killed or short of budget, the same command continues: no answered call is paid for again.

    Example: proctor augment --with sim-writer --methods declarative_rewrite,material_to_true_false --budget 5
    """
    from deployments.commands.checks import check_registry
    from deployments.flow_runner import run_flow
    from deployments.output import print_result
    from tasks.augment.methods import select_methods

    names = split_names(methods) or []
    # A mistake is reported before a flow starts.
    select_methods(names, with_model=bool(generator))
    if generator:
        check_registry([generator])
    result = run_flow(
        "augment",
        without_server=no_server,
        generator=generator,
        methods=names or None,
        batch_id=batch_id,
        budget_usd=budget_usd,
    )
    print_result(result, as_json=as_json, then=_name_next_step(result))


def _name_next_step(result: dict[str, object]) -> str:
    if result.get("sample_refusal"):
        return "register annotators (`proctor exam user add`), then proctor augment gives them the sample"
    if result.get("sample_batch_id"):
        return "proctor review export workbooks (the sample of what the model wrote)"
    if result.get("waiting_samples"):
        return "register annotators (`proctor exam user add`), then proctor augment gives them the sample"
    return "proctor dedupe puts new variants into the bank"
