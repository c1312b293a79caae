"""Plan a run: which candidates sit which sets, in how many sessions and at what cost.

`plan_run` is a preview and writes nothing. `publishing.publish_plan` computes the same plan again inside one transaction
that holds the run's identity, the season and the organisations, claims the sets, and fixes the secret order of every
session (SPEC §5.1).
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Final

import polars as pl

from schemas import patterns as re
from schemas.errors import GateError, RegistryError, StoreError, UsageError
from schemas.settings import Settings
from tasks.exam.plan.allotment import Allotment, Refusal, allot_sets
from tasks.exam.plan.bank import index_bank
from tasks.exam.plan.due import list_due, read_schedule
from tasks.exam.plan.fingerprint import describe_sitting
from tasks.exam.plan.forecast import forecast_runs
from tasks.exam.plan.key_balance import weigh_keys
from tasks.exam.plan.quotas import find_over_quota
from tasks.exam.plan.reference import find_former_reference
from tasks.exam.plan.request import Chance, PlanRequest, Sitter
from tasks.exam.plan.run_plan import RunPlan, parse_published
from tasks.exam.plan.shares import ShareRule, plan_shares, read_shares
from tasks.exam.plan.state import read_state
from tasks.exam.plan.target import SizeForecast, forecast_sizes
from tasks.exam.plan.wishes import RunWishes
from tasks.exam.public.bank import (
    BankRows,
    FrameRows,
    find_blinding_fault,
    read_blinding_secret,
    read_unchanged,
)
from tasks.models.registry import RegisteredModel, Registry, collect_owners
from warehouse.ledger.engine.ledger import Connection, Ledger
from warehouse.ledger.exam import sittings as ledger_exam
from warehouse.ledger.exam.draws import read_pending_source
from warehouse.ledger.trust import organisations as ledger_organisations
from warehouse.ledger.trust.organisations import SIMULATED_PREFIX, make_key

_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._ -]{0,59}")


def plan_run(
    ledger: Ledger,
    settings: Settings,
    registry: Registry,
    bank: pl.DataFrame | BankRows,
    wishes: RunWishes,
    *,
    chance: Chance | None = None,
    judging: Mapping[str, str] | None = None,
) -> RunPlan:
    """Preview a run; nothing is written.

    Args:
        ledger: where sets, claims and earlier sittings are read.
        settings: set size, disciplines, styles, repeats, policy, intervals, limits; of a fresh draw those that it is shaped to.
        registry: the models and their organisations.
        bank: one version of the bank, or where it is read.
        wishes: which run it is and who sits it; a run that is published is returned as it is.
        chance: what the seed is mixed from, where the run is or was committed to before it is drawn; default a fresh secret.
        judging: what judging rests on, by its name: the reference's sittings depend on it, too.

    Raises:
        GateError: the reference has reached a limit, or the former one is not registered; or the run waits for its draw.
        RegistryError: real and simulated candidates are named together.
        UsageError: a parameter is wrong, or the run is published with other candidates.
    """
    month, candidates, outside = wishes.month, wishes.candidates, wishes.outside
    is_simulated = choose_kind(registry, wishes)
    run_id, repetition = name_run(
        month, is_simulated=is_simulated, run_id=wishes.run_id, repetition=wishes.repetition
    )
    names = None if candidates is None else [*dict.fromkeys([*candidates, *outside])]
    with ledger.read() as connection:
        published = ledger_exam.read_run(connection, run_id)
        pending = read_pending_source(connection, run_id)
    if published is not None:
        plan = parse_published(published)
        check_same_run(plan, names)
        return plan
    if pending and chance is None:
        raise GateError(
            f"Run {run_id} is committed to and not drawn yet: it waits for {pending!r}. Draw it with `proctor exam draw {run_id}`."
        )
    schedule = read_schedule(ledger, registry, settings, month, is_simulated=is_simulated)
    if names is None:
        names = [*dict.fromkeys([*list_due(schedule), *outside])]
    schedule = [
        replace(entry, reason=entry.reason or "named") if entry.model in names else entry
        for entry in schedule
    ]
    reference = registry.reference(settings.reference_model)
    sitters = [registry.sitter(name) for name in names]
    if own := [model.name for model in sitters if model.is_outside and model.name not in outside]:
        raise UsageError(
            f"{own[0]} sits with a client of its own (`base_url: outside` in {registry.path}). Name it with --outside, or register its address."
        )
    with ledger.read() as connection:
        bridged = (
            find_former_reference(connection, registry, reference, is_simulated=is_simulated)
            if wishes.is_bridging
            else None
        )
        organisations, aliases = _name_organisations(connection, registry, is_simulated=is_simulated)
        # A key that was lost is not made again: no set that was drawn before could be disclosed with it.
        if (lost := find_blinding_fault(connection, settings)) is not None:
            raise StoreError(lost)
    references = [model for model in (reference, bridged) if model is not None]
    _check_kinds([*sitters, *references], is_simulated=is_simulated)
    policy = "unique" if outside else settings.set_policy
    if policy not in ("shared", "unique"):
        raise UsageError(f"Set policy {policy!r} is unknown. Use `shared` or `unique`.")
    if not settings.prompt_styles or not settings.disciplines:
        raise UsageError(
            "A run needs at least one prompt style and one discipline; see PROCTOR_PROMPT_STYLES."
        )
    chance = chance or Chance(secrets.token_bytes(32))
    rows = FrameRows(bank) if isinstance(bank, pl.DataFrame) else bank
    index = index_bank(
        rows, settings.disciplines, read_blinding_secret(settings), picture_share=settings.picture_share
    )

    def make_sitter(model: RegisteredModel) -> Sitter:
        owner = registry.organisations.find(model.organisation) or model.organisation
        key = make_key(owner, is_simulated=is_simulated)
        return Sitter(
            model=model.name,
            user_id=f"candidate:{model.name}",
            organisation=aliases.get(key, key),
            fingerprint=describe_sitting(model, judging),
        )

    shares = read_shares(settings.set_shares, settings.disciplines)
    totals = {discipline: index.count(discipline) for discipline in settings.disciplines}
    request = PlanRequest(
        run_id=run_id,
        month=month,
        repetition=repetition,
        index=index,
        rows=rows,
        rule=_plan_shares(settings, totals, shares),
        set_size=sum(shares.values()) if shares else settings.set_size,
        policy=policy,
        candidates=tuple(make_sitter(model) for model in sorted(sitters, key=lambda model: model.name)),
        references=tuple(make_sitter(model) for model in references),
        models={model.name: model for model in [*sitters, *references]},
        organisations=organisations,
        aliases=aliases,
        schedule=schedule,
        outside=frozenset(outside),
        is_simulated=is_simulated,
        settings=settings,
        is_reference_renewed=wishes.is_reference_renewed,
        chance=chance,
        planned_on=chance.committed_at or datetime.now(UTC),
    )
    with ledger.read() as connection:
        plan, allotment = compute_plan(connection, request)
    return _add_keys(plan, allotment, request)


def _plan_shares(
    settings: Settings, totals: Mapping[str, int], shares: Mapping[str, int] | None
) -> ShareRule:
    return plan_shares(
        settings.set_size,
        totals,
        is_capped=settings.cap_small_disciplines,
        lasting_sets=settings.lasting_sets,
        least_share=settings.least_share,
        shares=shares,
    )


def plan_target(
    ledger: Ledger, settings: Settings, request: PlanRequest, answers: pl.DataFrame, target_se: float
) -> tuple[RunPlan, SizeForecast]:
    """The same run with sets that give S an error of `target_se`, and what other sizes come to.

    Nothing is written. Raises GateError where the bank has too few questions; see `forecast_sizes`.
    """
    allotments: list[Allotment] = []

    def make_rule(shares: Mapping[str, int]) -> ShareRule:
        return _plan_shares(settings, request.rule.totals, shares)

    def plan_with(rule: ShareRule) -> tuple[RunPlan, Allotment]:
        size = sum(rule.planned.values())
        with ledger.read() as connection:
            plan, allotment = compute_plan(connection, replace(request, rule=rule, set_size=size))
        allotments.append(allotment)
        return plan, allotment

    with ledger.read() as connection:
        state = read_state(connection, request)
    plan, found = forecast_sizes(
        request,
        state,
        answers,
        target_se,
        least_share=settings.least_share,
        make_rule=make_rule,
        plan_with=plan_with,
    )
    return _add_keys(plan, allotments[0], request), found


def _add_keys(plan: RunPlan, allotment: Allotment, request: PlanRequest) -> RunPlan:
    """The plan with how the keys of its new sets lie."""
    drawn = {item.lineage_uuid for new in allotment.new_sets for item in new.items}
    if not drawn:
        return plan
    contents = read_unchanged(request.index, request.rows, drawn)
    return replace(plan, keys=weigh_keys(allotment.new_sets, contents))


def choose_kind(registry: Registry, wishes: RunWishes) -> bool:
    """Whether a run is one of simulated candidates.

    As wished; else as the candidates named are; else only where there are no real ones. Raises RegistryError
    where real and simulated candidates are named together.
    """
    if wishes.is_simulated is not None:
        return wishes.is_simulated
    if wishes.candidates is None and not wishes.outside:
        return not any(not model.is_simulated for model in registry.callable_candidates())
    names = [*(wishes.candidates or ()), *wishes.outside]
    kinds = {registry.get(name).is_simulated for name in names}
    if len(kinds) > 1:
        raise RegistryError(
            f"Real and simulated candidates cannot sit one run ({', '.join(names)}); examine them in two runs."
        )
    return kinds.pop() if kinds else False


def name_run(
    month: str, *, is_simulated: bool, run_id: str | None = None, repetition: str | None = None
) -> tuple[str, str]:
    """The id of a run, and the repetition that it is (empty: the month's own run).

    A month has one run; a further one exists only under a name that somebody gave. Raises UsageError for two names at once,
    or one that could not stand in an address or a file name.
    """
    if run_id and repetition:
        raise UsageError(
            "Give either the id of the run or the name of a repetition, not both: one makes the other."
        )
    for name in (run_id, repetition):
        if name and not _NAME.fullmatch(name):
            raise UsageError(
                f"{name!r} cannot name a run. Use up to 60 letters, digits, dots, dashes and underscores."
            )
    first = f"{SIMULATED_PREFIX.rstrip(':')}-{month}" if is_simulated else month
    if repetition:
        return f"{first}-{repetition}", repetition
    if not run_id or run_id == first:
        return first, ""
    return run_id, run_id.removeprefix(f"{first}-")


def check_same_run(plan: RunPlan, names: Sequence[str] | None) -> None:
    """Pass when a published run examines every named candidate; else UsageError says the way."""
    others = sorted(set(names or ()) - set(plan.asked_for))
    if others:
        raise UsageError(
            f"Run {plan.run_id!r} is planned for {', '.join(plan.asked_for)}, without {', '.join(others)}. A month has one "
            "run; examine them in a further one that you name: --repetition NAME."
        )


def compute_plan(connection: Connection, request: PlanRequest) -> tuple[RunPlan, Allotment]:
    """The plan that follows from request and ledger; GateError when the reference cannot sit."""
    state = read_state(connection, request)
    refused: list[Refusal] = []
    serving = request
    while True:
        allotment = allot_sets(serving, state)
        over = find_over_quota(connection, serving, allotment)
        if not over:
            break
        refused += over
        gone = {name for refusal in over for name in refusal.candidates}
        serving = replace(
            serving, candidates=tuple(sitter for sitter in serving.candidates if sitter.model not in gone)
        )
    allotment.refused += refused
    return _describe_plan(request, allotment), allotment


def _describe_plan(request: PlanRequest, allotment: Allotment) -> RunPlan:
    cost_by_model: dict[str, float] = {}
    unpriced: dict[str, None] = {}
    for session in allotment.sessions:
        cost = request.estimate.compute_cost(request.models[session.model], session.prompt_style)
        if cost is None:
            unpriced[session.model] = None
        cost_by_model[session.model] = (
            cost_by_model.get(session.model, 0.0) + (cost or 0.0) * session.question_count
        )
    gone = {name for refusal in allotment.refused for name in refusal.candidates}
    served = tuple(sitter.model for sitter in request.candidates if sitter.model not in gone)
    forecast = forecast_runs(request, request.rule, allotment.left, served)
    references = [sitter.model for sitter in request.references]
    return RunPlan(
        run_id=request.run_id,
        month=request.month,
        repetition=request.repetition,
        season=request.season,
        bank_version=request.index.bank_version,
        policy=request.policy,
        set_size=request.set_size,
        shares=dict(request.rule.planned),
        styles=tuple(request.settings.prompt_styles),
        repeats=request.settings.repeats,
        candidates=served,
        outside=tuple(sorted(request.outside - gone)),
        reference_model=references[0],
        bridged_reference=references[1] if len(references) > 1 else None,
        is_simulated=request.is_simulated,
        sets=tuple(allotment.sets),
        sessions=tuple(allotment.sessions),
        call_count=sum(session.question_count for session in allotment.sessions),
        cost_usd=sum(cost_by_model.values()),
        cost_by_model=cost_by_model,
        unpriced=tuple(unpriced),
        refused=tuple(allotment.refused),
        renewed=tuple(allotment.renewed),
        due=tuple(request.schedule),
        forecast=tuple(forecast),
        link=allotment.link,
        budget_usd=request.settings.budget_usd,
        request=request,
    )


def _name_organisations(
    connection: Connection, registry: Registry, *, is_simulated: bool
) -> tuple[dict[str, str], dict[str, str]]:
    """The names of organisations by key, and the keys that their other names stand for.

    The first maps key → name for every organisation of this kind in the registry; the second maps the key of
    another name → key of the one that is meant. The ledger's name stands before the registry's: what was
    published once keeps its spelling.
    """
    owners, aliases = collect_owners(registry, is_simulated=is_simulated)
    known = ledger_organisations.read_aliases(connection)
    aliases = {**known, **{alias: known.get(key, key) for alias, key in aliases.items()}}
    aliases = {alias: key for alias, key in aliases.items() if alias != key}
    names = {aliases.get(key, key): name for key, name in owners.items()}
    return names | ledger_organisations.read_names(connection, names), aliases


def _check_kinds(models: Sequence[RegisteredModel], *, is_simulated: bool) -> None:
    for model in models:
        if model.is_simulated is not is_simulated:
            kinds = ("simulated", "real") if model.is_simulated else ("real", "simulated")
            raise UsageError(
                f"{model.name!r} is {kinds[0]} and cannot take part in a {kinds[1]} run. Plan a {kinds[0]} run, or leave "
                "it out."
            )
