"""Who is to be examined this month, and why."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from tasks.exam.plan.run_plan import describe_model
from warehouse.ledger import exam as ledger_exam
from warehouse.ledger.engine import Ledger

if TYPE_CHECKING:
    from tasks.models.registry import RegisteredModel, Registry

# A candidate with another of these is another candidate, whatever its name.
_IDENTITY: Final = ("endpoint_model", "mode", "parameters")


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
