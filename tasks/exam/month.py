"""A month's run: which one it is, who sits it, on which bank."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from schemas.errors import GateError, RegistryError, UsageError
from schemas.settings import Settings
from tasks.exam.plan.due import list_due
from tasks.exam.plan.planning import plan_run
from tasks.exam.plan.publishing import publish_plan
from tasks.exam.plan.run_plan import RunPlan
from tasks.models.registry import Registry, check_keys, read_registry
from warehouse.lake.store import Lake
from warehouse.ledger import exam
from warehouse.ledger.engine import Ledger


def read_current_bank(lake: Lake) -> pl.DataFrame:
    """Rows of the latest bank version; raises GateError when none is published."""
    bank = lake.read("latest_bank")
    if bank.is_empty():
        raise GateError(
            "No bank is published yet, so nothing can be examined. Ingest papers and close a review batch first "
            "(`proctor ingest`, `proctor review status`)."
        )
    return bank


def preview_month(
    ledger: Ledger,
    lake: Lake,
    settings: Settings,
    *,
    month: str,
    candidates: Sequence[str] | None = None,
    outside: Sequence[str] = (),
    run_id: str | None = None,
    seed: str | None = None,
) -> RunPlan | None:
    """The plan of the month's run, published or not; None when there is nothing to sit.

    A run of the month that is still open is taken up again, with its own candidates. Otherwise the candidates named,
    or those that are due and have not sat this month, make a new run. Simulated candidates sit runs of their own: by
    default they are examined only where the registry has no real ones. `outside` candidates sit through the exam API with
    their own client; their sessions stay open until they have.
    """
    registry = read_registry(settings.registry_path)
    names = None if candidates is None else list(candidates)
    if outside:
        # A run of outside candidates examines those named and nobody else.
        names = names or []
    sitters = None if names is None else [*names, *outside]
    is_simulated = _choose_kind(registry, sitters)
    if run_id is None:
        run_id = _find_run(ledger, month, sitters, is_simulated)
    if run_id is None and names is None:
        names = [due.model.name for due in list_due(ledger, registry, month, is_simulated=is_simulated)]
        if not names:
            return None
    return plan_run(
        ledger,
        settings,
        registry,
        read_current_bank(lake),
        month=month,
        is_simulated=is_simulated,
        run_id=run_id,
        candidates=names,
        outside=outside,
        seed=seed,
    )


def check_run(ledger: Ledger, lake: Lake, run_id: str) -> None:
    """Raise UsageError naming the runs there are, unless `run_id` is one of them."""
    with ledger.read() as connection:
        known = {str(run["run_id"]) for run in exam.list_runs(connection)}
    if run_id in known:
        return
    known |= set(lake.read("landed_runs")["run_id"])
    if run_id not in known:
        named = ", ".join(sorted(known)) or "none yet; `proctor evaluate` makes one"
        raise UsageError(f"There is no run {run_id!r}. The runs are: {named}.")


def publish_month(ledger: Ledger, settings: Settings, plan: RunPlan) -> str:
    """Publish a plan once every key that it needs is there: nothing is claimed for a run that cannot be sat."""
    registry = read_registry(settings.registry_path)
    needed = {session.model for session in plan.sessions if session.model not in plan.outside}
    check_keys(registry.get(name) for name in sorted(needed))
    return publish_plan(ledger, plan)


def _choose_kind(registry: Registry, names: Sequence[str] | None) -> bool:
    if names is None:
        return not any(not model.is_simulated for model in registry.candidates())
    kinds = {registry.get(name).is_simulated for name in names}
    if len(kinds) > 1:
        raise RegistryError(
            f"Real and simulated candidates cannot sit one run ({', '.join(names)}); examine them in two runs."
        )
    return kinds.pop() if kinds else False


def _find_run(ledger: Ledger, month: str, names: Sequence[str] | None, is_simulated: bool) -> str | None:
    """The latest run of the month that is open, or that examined just these candidates."""
    with ledger.read() as connection:
        rows = exam.list_runs(connection, month=month, is_simulated=is_simulated)
    for row in reversed(rows):
        sat = set(row["plan"]["candidates"])
        if (row["status"] == "open" and (names is None or set(names) <= sat)) or (
            names is not None and set(names) == sat
        ):
            return str(row["run_id"])
    return None
