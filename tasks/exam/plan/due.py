"""Who is to be examined this month, and why; who will be, and when."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from tasks.exam.plan.fingerprint import compare_entry
from warehouse.ledger.engine.ledger import Ledger
from warehouse.ledger.exam import plans

if TYPE_CHECKING:
    from schemas.settings import Settings
    from tasks.models.registry import RegisteredModel, Registry

# A candidate with another of these is another candidate, whatever its name.


@dataclass(frozen=True)
class Schedule:
    """When a candidate sat last, and when it is to sit again.

    Attributes:
        organisation: its owner, as people know it.
        next_month: month in which it is due; null for one that is released later than the month asked for.
        reason: why it is due now: `new`, `changed` (its registration), `due` (the time is up) or `named`; null when it is not.
    """

    model: str
    organisation: str
    every_months: int
    last_month: str | None
    next_month: str | None
    reason: str | None


def read_schedule(
    ledger: Ledger, registry: Registry, settings: Settings, month: str, *, is_simulated: bool
) -> list[Schedule]:
    """Every candidate of one kind (real or simulated) with what it is due for in `month`.

    New: never planned in any run, and released by the end of the month. Changed: the endpoint's model name, mode or
    parameters differ from those of its last run. Due: its last run is `reexamine_every` months ago. Nobody is due twice in
    a month, and who sits with a client of its own is never due: somebody names it.
    """
    with ledger.read() as connection:
        rows = plans.read_candidate_months(connection)
    last: dict[str, Any] = {}
    for one in sorted(rows, key=lambda row: row.month):
        # Of a month that is made up for after later ones, these say nothing; who sat only in them is not due before.
        if one.month <= month or one.model not in last:
            last[one.model] = one
    sat = {row.model for row in rows if row.month == month}
    reference = settings.reference_model
    found: list[Schedule] = []
    for model in registry.candidates():
        if model.is_simulated is not is_simulated:
            continue
        is_reference = model.name == reference or (reference is None and "reference" in model.roles)
        every = model.reexamine_every or (
            settings.reexamine_reference_every if is_reference else settings.reexamine_every
        )
        entry = Schedule(model.name, model.organisation, every, None, None, None)
        if model.is_outside:
            row = last.get(model.name)
            entry = replace(entry, last_month=None if row is None else row.month)
        elif model.name not in last:
            released = None if model.release_date is None else model.release_date.strftime("%Y-%m")
            if released is None or released <= month:
                entry = replace(entry, next_month=month, reason="new")
            else:
                entry = replace(entry, next_month=released)
        else:
            entry = _examine_again(entry, model, last[model.name], month, has_sat=model.name in sat)
        found.append(entry)
    return found


def list_due(schedule: Collection[Schedule]) -> list[str]:
    """The candidates that are due, by name."""
    return [entry.model for entry in schedule if entry.reason is not None]


def add_months(month: str, count: int) -> str:
    """The month so many months later."""
    year, place = divmod(int(month[:4]) * 12 + int(month[5:]) - 1 + count, 12)
    return f"{year:04d}-{place + 1:02d}"


def _examine_again(
    entry: Schedule, model: RegisteredModel, row: Any, month: str, *, has_sat: bool
) -> Schedule:
    entry = replace(entry, last_month=row.month, next_month=add_months(row.month, entry.every_months))
    if has_sat:
        return entry
    if compare_entry(row.fingerprint, model):
        return replace(entry, next_month=month, reason="changed")
    if entry.next_month is not None and entry.next_month <= month:
        return replace(entry, reason="due")
    return entry
