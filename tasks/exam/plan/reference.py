"""Who the reference is, whom it took over from, and whether a run has bridged the two."""

from __future__ import annotations

from typing import TYPE_CHECKING

from schemas.errors import GateError
from warehouse.ledger.exam import plans

if TYPE_CHECKING:
    from tasks.models.registry import RegisteredModel, Registry
    from warehouse.ledger.engine.ledger import Connection


def find_former_reference(
    connection: Connection, registry: Registry, reference: RegisteredModel, *, is_simulated: bool
) -> RegisteredModel | None:
    """The reference before this one; None when a run has bridged the two, or there is none.

    Bridges chain: each joins a reference with the one before it, so that R can be carried over any number of changes. A
    bridge that was left out is made up for by the next run. Raises GateError when the former one is no longer registered.
    """
    rows = plans.read_references(connection, is_simulated=is_simulated)
    former = next(
        (row.reference_model for row in reversed(rows) if row.reference_model != reference.name), None
    )
    bridged = {frozenset((row.reference_model, row.bridged_reference)) for row in rows}
    if former is None or frozenset((reference.name, former)) in bridged:
        return None
    if former not in registry.models:
        raise GateError(
            f"The reference changes from {former!r} to {reference.name!r}, and {former!r} is no longer registered. "
            "Register it again so that both sit a bridging run, or plan without bridging (--no-bridge)."
        )
    return registry.sitter(former)
