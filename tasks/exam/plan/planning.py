"""Plan a run: which candidates sit which sets, in how many sessions, at what cost, and what the bank has left.

`plan_run` is a preview and writes nothing. `publishing.publish_plan` computes the same plan again inside one transaction
that holds the season and the organisations, claims the sets, and fixes the secret order of every session (SPEC §5.1).
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from typing import TYPE_CHECKING

import polars as pl

from schemas.errors import GateError, UsageError
from schemas.settings import Settings
from tasks.exam.plan.allotment import (
    SIMULATED_PREFIX,
    Allotment,
    PlanRequest,
    Sitter,
    allot_sets,
    key_organisation,
)
from tasks.exam.plan.cost import TokenEstimate
from tasks.exam.plan.drawing import compute_shares, index_bank
from tasks.exam.plan.due import list_due
from tasks.exam.plan.quotas import check_quotas
from tasks.exam.plan.run_plan import RunPlan, parse_published
from tasks.exam.plan.state import read_state
from warehouse.ledger import exam as ledger_exam
from warehouse.ledger.engine import Ledger

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from tasks.models.registry import RegisteredModel, Registry


def plan_run(
    ledger: Ledger,
    settings: Settings,
    registry: Registry,
    bank: pl.DataFrame,
    *,
    month: str,
    is_simulated: bool,
    run_id: str | None = None,
    candidates: Sequence[str] | None = None,
    outside: Sequence[str] = (),
    policy: str | None = None,
    seed: str | None = None,
    estimate: TokenEstimate | None = None,
    is_reference_renewed: bool = False,
    is_bridging: bool = True,
) -> RunPlan:
    """Preview a run; nothing is written.

    Args:
        ledger: where sets, exposures and earlier sittings are read.
        settings: set size, disciplines, styles, repeats, policy, limits.
        registry: the models.
        bank: the lake's `bank` rows of one version.
        month: YYYY-MM.
        is_simulated: whether the run is a simulation; a simulated candidate can only sit such a run.
        run_id: name of the run; a published one is returned as it is. Default: the month, numbered when taken.
        candidates: registry names; default those that are due.
        outside: candidates that sit through the exam API with their own client; these make `unique` the default policy.
        policy: `shared` or `unique`; default the setting.
        seed: injected by tests; default a fresh secret.
        estimate: tokens per question, for the cost.
        is_reference_renewed: let the reference answer sets again that it has answered (prompts or judge changed).
        is_bridging: let a former reference sit this run too when the reference has changed.

    Raises:
        GateError: the bank, or a limit, cannot satisfy the run; the message has the numbers by discipline.
        UsageError: a parameter is wrong.
    """
    with ledger.read() as connection:
        run_id = run_id or _next_run_id(connection, month, is_simulated)
        published = ledger_exam.read_run(connection, run_id)
    if published is not None:
        return parse_published(published)
    if candidates is None:
        candidates = [due.model.name for due in list_due(ledger, registry, month, is_simulated=is_simulated)]
    names = [*dict.fromkeys([*candidates, *outside])]
    reference = registry.reference(settings.reference_model)
    sitters = [registry.get(name) for name in names]
    _check_kinds([*sitters, reference], is_simulated=is_simulated)
    chosen_policy = policy or ("unique" if outside else settings.set_policy)
    if chosen_policy not in ("shared", "unique"):
        raise UsageError(f"Set policy {chosen_policy!r} is unknown. Use `shared` or `unique`.")
    if not settings.prompt_styles or not settings.disciplines:
        raise UsageError(
            "A run needs at least one prompt style and one discipline; see PROCTOR_PROMPT_STYLES."
        )
    index = index_bank(bank, settings.disciplines)
    bridged = _find_former_reference(
        ledger, registry, reference, is_simulated=is_simulated, is_bridging=is_bridging
    )
    request = PlanRequest(
        run_id=run_id,
        month=month,
        index=index,
        bank=bank,
        shares=compute_shares(settings.set_size, settings.disciplines),
        set_size=settings.set_size,
        policy=chosen_policy,
        is_capped=settings.cap_small_disciplines,
        rest_months=settings.rest_months,
        styles=settings.prompt_styles,
        repeats=settings.repeats,
        candidates=tuple(_make_sitter(model) for model in sorted(sitters, key=lambda model: model.name)),
        references=tuple(_make_sitter(model) for model in (reference, bridged) if model is not None),
        models={model.name: model for model in [*sitters, reference, *([bridged] if bridged else [])]},
        outside=frozenset(outside),
        is_simulated=is_simulated,
        is_reference_renewed=is_reference_renewed,
        pending_window=settings.pending_window,
        budget_usd=settings.budget_usd,
        seed=seed or secrets.token_hex(16),
        estimate=estimate or TokenEstimate(),
    )
    with ledger.read() as connection:
        return compute_plan(connection, request)[0]


def compute_plan(connection: Connection, request: PlanRequest) -> tuple[RunPlan, Allotment]:
    """The plan that follows from the request and from what the ledger holds now, with the allotment that it rests on.

    Raises GateError when the bank, or a quota, cannot satisfy it.
    """
    state = read_state(connection, request)
    allotment = allot_sets(request, state)
    check_quotas(connection, allotment)
    cost_by_model: dict[str, float] = {}
    unpriced: dict[str, None] = {}
    for session in allotment.sessions:
        cost = request.estimate.compute_cost(request.models[session.model], session.prompt_style)
        if cost is None:
            unpriced[session.model] = None
        cost_by_model[session.model] = (
            cost_by_model.get(session.model, 0.0) + (cost or 0.0) * session.question_count
        )
    plan = RunPlan(
        run_id=request.run_id,
        month=request.month,
        season=request.season,
        bank_version=request.index.bank_version,
        policy=request.policy,
        set_size=request.set_size,
        shares=dict(request.shares),
        styles=tuple(request.styles),
        repeats=request.repeats,
        candidates=tuple(sitter.model for sitter in request.candidates),
        outside=tuple(sorted(request.outside)),
        reference_model=request.references[0].model,
        bridged_reference=request.references[1].model if len(request.references) > 1 else None,
        is_simulated=request.is_simulated,
        sets=tuple(allotment.sets),
        sessions=tuple(allotment.sessions),
        call_count=sum(session.question_count for session in allotment.sessions),
        cost_usd=sum(cost_by_model.values()),
        cost_by_model=cost_by_model,
        unpriced=tuple(unpriced),
        sets_left=allotment.sets_left,
        exempt=allotment.exempt,
        budget_usd=request.budget_usd,
        request=request,
    )
    return plan, allotment


def _check_kinds(models: Sequence[RegisteredModel], *, is_simulated: bool) -> None:
    if is_simulated:
        return
    for model in models:
        if model.is_simulated:
            raise UsageError(
                f"{model.name!r} is simulated and cannot take part in a real run. Plan a simulated run, or leave it out."
            )


def _make_sitter(model: RegisteredModel) -> Sitter:
    return Sitter(
        model=model.name,
        user_id=f"candidate:{model.name}",
        organisation=key_organisation(model.organisation, is_simulated=model.is_simulated),
    )


def _find_former_reference(
    ledger: Ledger, registry: Registry, reference: RegisteredModel, *, is_simulated: bool, is_bridging: bool
) -> RegisteredModel | None:
    """The reference of the last run when it is another one and no run has bridged the two yet."""
    with ledger.read() as connection:
        rows = ledger_exam.list_runs(connection, is_simulated=is_simulated)
    if not is_bridging or not rows or rows[-1]["reference_model"] == reference.name:
        return None
    former = str(rows[-1]["reference_model"])
    if former not in registry.models:
        raise GateError(
            f"The reference changes from {former!r} to {reference.name!r}, and {former!r} is no longer registered. "
            "Register it again so that both sit a bridging run, or plan without bridging."
        )
    return registry.get(former)


def _next_run_id(connection: Connection, month: str, is_simulated: bool) -> str:
    first = f"{SIMULATED_PREFIX.rstrip(':')}-{month}" if is_simulated else month
    number, run_id = 1, first
    while ledger_exam.read_run(connection, run_id) is not None:
        number += 1
        run_id = f"{first}-{number}"
    return run_id
