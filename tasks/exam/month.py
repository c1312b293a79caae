"""A month's run: which one it is, who sits it, on which bank."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import NamedTuple

import polars as pl

from schemas.errors import GateError, StoreError, UsageError, suggest
from schemas.settings import Settings
from tasks.exam.plan import (
    Chance,
    RunPlan,
    RunWishes,
    SizeForecast,
    check_same_run,
    check_served,
    choose_kind,
    list_due,
    name_run,
    parse_published,
    plan_run,
    plan_target,
    publish_plan,
    read_schedule,
)
from tasks.exam.public.bank import NO_BANK, LakeRows
from tasks.exam.shown_pictures import share_pictures
from tasks.models.budget import compute_worst_cost
from tasks.models.registry import check_callable, read_registry
from warehouse.lake import Lake
from warehouse.ledger.engine.ledger import Ledger
from warehouse.ledger.exam import sittings
from warehouse.ledger.exam.draws import read_pending_source
from warehouse.ledger.exam.plans import DRAW_PREFIX


def read_current_bank(lake: Lake) -> pl.DataFrame:
    """Rows of the latest bank version; raises GateError when none is published."""
    bank = lake.read("latest_bank")
    if bank.is_empty():
        raise GateError(NO_BANK)
    return bank


class Draw(NamedTuple):
    """How a run differs from the month's own."""

    settings: Settings
    repetition: str | None


def shape_draw(settings: Settings, size: int, repetition: str | None) -> Draw:
    """A fresh draw of `size` questions beside the month's own run.

    It is zero-shot, with one repeat, and a repetition is named for it. Several draws of one size are told apart by the
    repetition's name; where that begins with `draw-`, candidates are due as if there were none. A size of 0 is the month's own run, as settings say. Raises UsageError for a size below the number
    of disciplines, which could not hold them all.
    """
    if size == 0:
        return Draw(settings, repetition)
    if size < len(settings.disciplines):
        raise UsageError(
            f"A draw of {size} questions cannot hold {len(settings.disciplines)} disciplines. Draw at least one of each."
        )
    changed = {"set_size": size, "set_shares": {}, "repeats": 1, "prompt_styles": ("zero_shot",)}
    return Draw(settings.model_copy(update=changed), repetition or f"{DRAW_PREFIX}{size}")


def preview_month(
    ledger: Ledger, lake: Lake, settings: Settings, wishes: RunWishes, *, chance: Chance | None = None
) -> RunPlan | None:
    """The plan of the month's run, published or not; None when there is nothing to sit.

    A month has one run. Where it is published, its plan is given back with its own candidates, and `due` says who has become
    due since. Otherwise the candidates named, or those that are due, make it. A further run of the month needs a name
    (`run_id`, or `repetition`; the word `week` names it for the present week, unless there is none to be further to). Simulated candidates sit runs of their own: by
    default they are examined only where the registry has no real ones. `outside` candidates sit through the exam API with
    their own client; their sessions stay open until they have. `chance` is what the seed is mixed from, where it is not fresh.
    Raises UsageError for a fresh draw that is too small (`shape_draw`).
    """
    settings, repetition = shape_draw(settings, wishes.draw, wishes.repetition)
    registry = read_registry(settings.registry_path)
    names = None if wishes.candidates is None else list(wishes.candidates)
    if wishes.outside:
        # A run of outside candidates examines those named and nobody else.
        names = names or []
    sitters = None if names is None else [*names, *wishes.outside]
    is_simulated = choose_kind(registry, wishes)
    if repetition == "week":
        own, _ = name_run(wishes.month, is_simulated=is_simulated)
        # Of a month whose schedule comes late, or that had nobody due, the first run is its own: boards pass over repetitions.
        week = f"week-{datetime.now(UTC).isocalendar().week:02d}"
        repetition = None if _read_published(ledger, own) is None else week
    run_id, _ = name_run(wishes.month, is_simulated=is_simulated, run_id=wishes.run_id, repetition=repetition)
    published = _read_published(ledger, run_id)
    if published is not None:
        check_same_run(published, sitters)
        schedule = read_schedule(
            ledger, registry, settings, published.month, is_simulated=published.is_simulated
        )
        return replace(published, due=tuple(schedule))
    if names is None:
        names = list_due(read_schedule(ledger, registry, settings, wishes.month, is_simulated=is_simulated))
        with ledger.read() as connection:
            # The plan of a run that waits for its draw says so, whoever it was committed to for.
            is_waiting = chance is None and read_pending_source(connection, run_id) is not None
        if not names and not is_waiting:
            return None
    wishes = replace(wishes, candidates=names, run_id=run_id, repetition=None, is_simulated=is_simulated)
    # What reads replies takes longer to load than many a command that only looks at runs.
    from tasks.judging import describe_judging

    return plan_run(
        ledger,
        settings,
        registry,
        LakeRows(lake),
        wishes,
        chance=chance,
        judging=describe_judging(registry, settings, is_simulated=is_simulated),
    )


def preview_target(
    ledger: Ledger, lake: Lake, settings: Settings, wishes: RunWishes, target_se: float
) -> tuple[RunPlan, SizeForecast] | None:
    """The plan of the month's run with sets for an error of S, and what other sizes come to.

    None when there is nothing to sit. The standard error `target_se`, in points, is that which the last edition's answers make one expect. Raises UsageError where
    the run has its size already, GateError where the bank has too few questions.
    """
    if wishes.draw:
        raise UsageError("A fresh draw has the size that --draw says. Leave out --draw or --target-se.")
    plan = preview_month(ledger, lake, settings, wishes)
    if plan is None:
        return None
    if plan.request is None:
        raise UsageError(
            f"Run {plan.run_id} is planned, with sets of {plan.set_size} questions. Plan a later month, or name a further run: "
            "--repetition NAME."
        )
    answers = lake.read(
        "answer_spreads",
        {"disciplines": list(plan.shares), "month": plan.month, "is_simulated": plan.is_simulated},
    )
    return plan_target(ledger, settings, plan.request, answers, target_se)


def check_run(ledger: Ledger, lake: Lake, run_id: str) -> None:
    """Raise UsageError naming the runs there are, unless `run_id` is one of them."""
    with ledger.read() as connection:
        known = set(sittings.list_run_ids(connection))
    if run_id in known:
        return
    known |= set(lake.read("landed_runs")["run_id"])
    if run_id not in known:
        named = ", ".join(sorted(known)) or "none yet; `proctor evaluate` makes one"
        raise UsageError(f"There is no run {run_id!r}.{suggest(run_id, known)} The runs are: {named}.")


def publish_month(ledger: Ledger, settings: Settings, plan: RunPlan) -> str:
    """Publish a plan that can be sat: every key and address that it needs is there.

    Raises StoreError where the run is planned and the exam API lacks one of its pictures.
    """
    check_served(plan)
    check_reachable(ledger, settings, plan)
    run_id = publish_plan(ledger, plan)
    # What was drawn is known now, and nobody waits for the ledger meanwhile; every later flow does it again.
    if faults := share_pictures(ledger, settings):
        raise StoreError(f"Run {run_id} is planned. {faults[0]}")
    return run_id


def check_reachable(ledger: Ledger, settings: Settings, plan: RunPlan) -> None:
    """Pass when every model that is left to sit in house has key and address.

    Raises RegistryError where one has not, and BudgetError where the run has a budget and it is not known what a call of such a model can cost.
    """
    registry = read_registry(settings.registry_path)
    with ledger.read() as connection:
        closed = {
            one.session_id for one in sittings.list_sessions(connection, run_id=plan.run_id, status="closed")
        }
    needed = {
        session.model
        for session in plan.sessions
        if session.model not in plan.outside and session.session_id not in closed
    }
    models = [registry.get(name) for name in sorted(needed)]
    check_callable(models)
    if plan.budget_usd is not None:
        # The run keeps its budget once it is planned: without prices it could not be sat then.
        for model in models:
            compute_worst_cost(model, [], model.parameters)


def _read_published(ledger: Ledger, run_id: str) -> RunPlan | None:
    with ledger.read() as connection:
        row = sittings.read_run(connection, run_id)
    return None if row is None else parse_published(row)
