"""Plan a run: which candidates sit which sets, in how many sessions, at what cost, and what the bank has left.

`plan_run` is a preview and writes nothing. `publish_plan` computes the same plan again inside one transaction that
holds the season and the organisations, claims the sets, and fixes the secret order of every session (SPEC §5.1).
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import polars as pl

from schemas.errors import ConflictError, GateError, StoreError, UsageError
from schemas.settings import Settings
from tasks.exam.plan.allotment import (
    SIMULATED_PREFIX,
    Allotment,
    PlannedSession,
    PlanRequest,
    Sitter,
    allot_sets,
    key_organisation,
)
from tasks.exam.plan.cost import TokenEstimate
from tasks.exam.plan.drawing import BankIndex, compute_shares, draw_order, index_bank
from tasks.exam.plan.state import read_state
from tasks.questions.bare import strip_questions
from warehouse.ledger import exam as ledger_exam
from warehouse.ledger import users as ledger_users
from warehouse.ledger.engine import Ledger, now_text

if TYPE_CHECKING:
    from sqlalchemy import Connection, RowMapping

    from tasks.models.registry import RegisteredModel, Registry


@dataclass(frozen=True)
class RunPlan:
    """What a run would be, or is.

    Attributes:
        run_id: name of the run.
        month: YYYY-MM.
        season: the sets that may be shared: one bank version, policy, size and list of disciplines.
        bank_version: bank version drawn from.
        policy: `shared` or `unique`.
        set_size: lineages asked for in a set.
        shares: lineages of a set by discipline.
        styles: prompt styles sat.
        repeats: independent repeats per candidate.
        candidates: names of the candidates, in order.
        outside: those of them that sit with their own client.
        reference_model: the reference candidate.
        bridged_reference: the former reference that sits this run too; null when the reference is unchanged.
        is_simulated: whether the run is a simulation.
        sets: numbers of the sets sat, with whether each is new.
        sessions: all sessions, reference sittings included.
        call_count: questions that will be put.
        cost_usd: expected cost; models without a price count as 0.
        cost_by_model: expected cost by model.
        unpriced: models without a price.
        sets_left: organisation → discipline → sets that could still be drawn for it after this run.
        exempt: organisation of the reference → sets that only its reference sittings met (the rule's one exemption).
        budget_usd: budget of the run.
        is_published: whether the ledger has it.
    """

    run_id: str
    month: str
    season: str
    bank_version: int
    policy: str
    set_size: int
    shares: dict[str, int]
    styles: tuple[str, ...]
    repeats: int
    candidates: tuple[str, ...]
    outside: tuple[str, ...]
    reference_model: str
    bridged_reference: str | None
    is_simulated: bool
    sets: tuple[tuple[int, str, bool], ...]
    sessions: tuple[PlannedSession, ...]
    call_count: int
    cost_usd: float
    cost_by_model: dict[str, float]
    unpriced: tuple[str, ...]
    sets_left: dict[str, dict[str, int]]
    exempt: dict[str, tuple[str, ...]]
    budget_usd: float | None
    is_published: bool = False
    request: PlanRequest | None = field(default=None, repr=False, compare=False)

    @property
    def session_count(self) -> int:
        """How many sessions there are."""
        return len(self.sessions)

    def summary(self) -> dict[str, Any]:
        """The preview as JSON values: counts, cost and what is left; no seed, no question, no lineage."""
        return {
            "run_id": self.run_id,
            "month": self.month,
            "season": self.season,
            "bank_version": self.bank_version,
            "policy": self.policy,
            "set_size": self.set_size,
            "shares": self.shares,
            "styles": list(self.styles),
            "repeats": self.repeats,
            "candidates": list(self.candidates),
            "outside": list(self.outside),
            "reference_model": self.reference_model,
            "bridged_reference": self.bridged_reference,
            "is_simulated": self.is_simulated,
            "sets": [
                {"set_number": number, "set_id": set_id, "is_new": new} for number, set_id, new in self.sets
            ],
            "session_count": self.session_count,
            "reference_session_count": sum(session.is_reference for session in self.sessions),
            "call_count": self.call_count,
            "cost_usd": round(self.cost_usd, 4),
            "cost_by_model": {name: round(cost, 4) for name, cost in self.cost_by_model.items()},
            "unpriced": list(self.unpriced),
            "budget_usd": self.budget_usd,
            "sets_left": self.sets_left,
            "exempt": {name: list(sets) for name, sets in self.exempt.items()},
            "is_published": self.is_published,
        }


@dataclass(frozen=True)
class DueCandidate:
    """A candidate that should sit this month, and why: `new`, `changed` (its registration) or `named`."""

    model: RegisteredModel
    reason: str


def list_due(
    ledger: Ledger,
    registry: Registry,
    month: str,
    *,
    reexamined: Sequence[str] = (),
    is_simulated: bool | None = None,
) -> list[DueCandidate]:
    """The candidates that are due in `month`: those that have not sat in it and are new, changed or named.

    New: never planned in any run, and released by the end of the month. Changed: the endpoint's model name, mode or
    parameters differ from those of its last run. Named: in `reexamined`. `is_simulated` keeps one kind only.
    """
    with ledger.read() as connection:
        rows = ledger_exam.list_runs(connection)
    last: dict[str, Mapping[str, Any]] = {}
    sat: set[str] = set()
    for row in rows:
        for name in row["plan"]["candidates"]:
            last[name] = row["plan"]["models"][name]
            if row["month"] == month:
                sat.add(name)
    for name in reexamined:
        registry.get(name)
    due: list[DueCandidate] = []
    for model in registry.candidates():
        if model.name in sat or (is_simulated is not None and model.is_simulated is not is_simulated):
            continue
        if model.name in reexamined:
            due.append(DueCandidate(model, "named"))
        elif model.name not in last:
            if model.release_date is None or model.release_date.strftime("%Y-%m") <= month:
                due.append(DueCandidate(model, "new"))
        elif any(last[model.name].get(key) != describe_model(model)[key] for key in _IDENTITY):
            due.append(DueCandidate(model, "changed"))
    return due


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
        return _parse_published(published)
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
        return _compute_plan(connection, request)[0]


def publish_plan(ledger: Ledger, plan: RunPlan) -> str:
    """Claim the plan's sets, add its sessions with their secret order, and return the run's id.

    One transaction: all or nothing, and nothing at all when the run is already there. The plan is computed again from
    what the ledger holds now, so that two plans made side by side cannot claim the same lineage.

    Raises:
        GateError: the bank no longer satisfies the plan.
        UsageError: there is no session to sit.
    """
    if plan.is_published:
        return plan.run_id
    request = plan.request
    if request is None or not plan.candidates:
        raise UsageError(
            f"Run {plan.run_id}: no candidate is due in {plan.month}; name candidates to examine them."
        )
    try:
        with ledger.write() as connection:
            if ledger_exam.read_run(connection, plan.run_id) is not None:
                return plan.run_id
            ledger_exam.lock_season(connection, request.season)
            ledger_users.lock_organisations(
                connection, {sitter.organisation for sitter in (*request.candidates, *request.references)}
            )
            if ledger_exam.read_run(connection, plan.run_id) is not None:
                return plan.run_id  # published by another process while this one waited
            current, allotment = _compute_plan(connection, request)
            _write_plan(connection, request, current, allotment)
    except ConflictError:
        raise StoreError(
            f"Run {plan.run_id} was not published: another run claimed the same sets. Nothing was claimed; plan it again."
        ) from None
    return plan.run_id


def read_plan(ledger: Ledger, run_id: str) -> RunPlan:
    """The plan of a published run; raises UsageError when there is none of that name."""
    with ledger.read() as connection:
        row = ledger_exam.read_run(connection, run_id)
    if row is None:
        raise UsageError(f"There is no run {run_id!r}. `proctor exam plan` makes one.")
    return _parse_published(row)


def describe_model(model: RegisteredModel) -> dict[str, Any]:
    """A registered model as JSON values, without address and key variable: kept with the run."""
    return {
        "name": model.name,
        "organisation": model.organisation,
        "family": model.family,
        "release_date": None if model.release_date is None else model.release_date.isoformat(),
        "is_open": model.is_open,
        "mode": model.mode,
        "base_model": model.base_model,
        "endpoint_model": model.endpoint_model,
        "parameters": dict(model.parameters),
        "input_price_usd": model.input_price_usd,
        "output_price_usd": model.output_price_usd,
        "is_simulated": model.is_simulated,
        "provider": model.provider,
    }


_IDENTITY = ("endpoint_model", "mode", "parameters")


def _compute_plan(connection: Connection, request: PlanRequest) -> tuple[RunPlan, Allotment]:
    state = read_state(connection, request)
    allotment = allot_sets(request, state)
    _check_limits(connection, request, allotment)
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


def _write_plan(connection: Connection, request: PlanRequest, plan: RunPlan, allotment: Allotment) -> None:
    at = now_text()
    contents = strip_questions(
        request.bank, [item.question_uuid for new in allotment.new_sets for item in new.items]
    )
    ledger_exam.write_run(
        connection,
        {
            "run_id": plan.run_id,
            "month": plan.month,
            "season": plan.season,
            "bank_version": plan.bank_version,
            "reference_model": plan.reference_model,
            "set_size": plan.set_size,
            "policy": plan.policy,
            "seed": request.seed,
            "budget_usd": plan.budget_usd,
            "status": "open",
            "is_simulated": plan.is_simulated,
            "plan": {
                **plan.summary(),
                "is_published": True,
                "disciplines": list(plan.shares),
                "models": {name: describe_model(model) for name, model in request.models.items()},
                "sessions": [session.describe() for session in plan.sessions],
            },
            "planned_at": at,
            "closed_at": None,
        },
    )
    ledger_exam.write_sets(
        connection,
        [
            {
                "set_id": new.set_id,
                "season": request.season,
                "set_number": new.set_number,
                "bank_version": plan.bank_version,
                "is_simulated": plan.is_simulated,
                "created_at": at,
            }
            for new in allotment.new_sets
        ],
        [
            {
                "set_id": new.set_id,
                "lineage_uuid": item.lineage_uuid,
                "question_uuid": item.question_uuid,
                "discipline": item.discipline,
                "content": contents[item.question_uuid],
            }
            for new in allotment.new_sets
            for item in new.items
        ],
    )
    for claim in allotment.claims:
        ledger_exam.write_claim(
            connection,
            organisation=claim.organisation,
            set_id=claim.set_id,
            model=claim.model,
            repeat=claim.repeat,
            run_id=plan.run_id,
            at=at,
            rested_before=request.rested_before,
        )
    for sitter in (*request.candidates, *request.references):
        ledger_users.ensure_candidate(
            connection,
            user_id=sitter.user_id,
            organisation=sitter.organisation,
            model=sitter.model,
        )
    ledger_exam.write_sessions(
        connection,
        [
            {
                "session_id": session.session_id,
                "run_id": plan.run_id,
                "set_id": session.set_id,
                "user_id": session.user_id,
                "model": session.model,
                "organisation": session.organisation,
                "prompt_style": session.prompt_style,
                "repeat": session.repeat,
                "is_reference": session.is_reference,
                "is_simulated": plan.is_simulated,
                "pending_window": 1 if session.model in request.outside else request.pending_window,
                "question_count": session.question_count,
                "next_seq": 1,
                "answered_count": 0,
                "status": "planned",
                "lease_generation": 0,
            }
            for session in plan.sessions
        ],
        (
            [
                {"session_id": session.session_id, "seq": seq, "lineage_uuid": lineage, "allocated_at": at}
                for seq, lineage in enumerate(
                    draw_order(
                        allotment.lineages[session.set_id], request.seed, f"order|{session.session_id}"
                    ),
                    start=1,
                )
            ]
            for session in plan.sessions
        ),
    )


def _check_limits(connection: Connection, request: PlanRequest, allotment: Allotment) -> None:
    """Quotas: what is allocated to a candidate and to an organisation may not exceed its limit."""
    by_organisation: dict[str, int] = {}
    by_user: dict[str, int] = {}
    for row in ledger_exam.read_allocated_counts(connection):
        by_organisation[row.organisation] = by_organisation.get(row.organisation, 0) + int(row.allocated)
        by_user[row.user_id] = int(row.allocated)
    for session in allotment.sessions:
        by_organisation[session.organisation] = (
            by_organisation.get(session.organisation, 0) + session.question_count
        )
        by_user[session.user_id] = by_user.get(session.user_id, 0) + session.question_count
    limits = ledger_users.read_organisation_limits(
        connection, {session.organisation for session in allotment.sessions}
    )
    for organisation, limit in limits.items():
        if by_organisation[organisation] > limit:
            raise GateError(
                f"Organisation {organisation!r} may be allocated {limit} questions; with this run it would have "
                f"{by_organisation[organisation]}. Raise its limit, or evaluate fewer of its candidates."
            )
    for user_id in sorted({session.user_id for session in allotment.sessions}):
        user = ledger_users.read_user(connection, user_id)
        if user is not None and user.question_limit is not None and by_user[user_id] > user.question_limit:
            raise GateError(
                f"Candidate {user_id!r} may be allocated {user.question_limit} questions; with this run it would have "
                f"{by_user[user_id]}. Raise its limit, or plan fewer repeats."
            )


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


def _parse_published(row: RowMapping) -> RunPlan:
    plan = row["plan"]
    return RunPlan(
        run_id=row["run_id"],
        month=row["month"],
        season=row["season"],
        bank_version=row["bank_version"],
        policy=row["policy"],
        set_size=row["set_size"],
        shares=dict(plan["shares"]),
        styles=tuple(plan["styles"]),
        repeats=plan["repeats"],
        candidates=tuple(plan["candidates"]),
        outside=tuple(plan["outside"]),
        reference_model=row["reference_model"],
        bridged_reference=plan["bridged_reference"],
        is_simulated=row["is_simulated"],
        sets=tuple((item["set_number"], item["set_id"], item["is_new"]) for item in plan["sets"]),
        sessions=tuple(PlannedSession(**session) for session in plan["sessions"]),
        call_count=plan["call_count"],
        cost_usd=plan["cost_usd"],
        cost_by_model=dict(plan["cost_by_model"]),
        unpriced=tuple(plan["unpriced"]),
        sets_left=plan["sets_left"],
        exempt={name: tuple(sets) for name, sets in plan["exempt"].items()},
        budget_usd=row["budget_usd"],
        is_published=True,
    )


__all__ = [
    "BankIndex",
    "DueCandidate",
    "PlannedSession",
    "RunPlan",
    "TokenEstimate",
    "describe_model",
    "list_due",
    "plan_run",
    "publish_plan",
    "read_plan",
]
