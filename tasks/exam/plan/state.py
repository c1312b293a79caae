"""What the ledger says before a run is planned: sets of the season, exposures, earlier sittings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tasks.exam.plan.allotment import SIMULATED_PREFIX, LedgerState, PlanRequest, Sitting
from warehouse.ledger import plans

if TYPE_CHECKING:
    from sqlalchemy import Connection


def read_state(connection: Connection, request: PlanRequest) -> LedgerState:
    """Everything that the allotment depends on besides the request."""
    keys = {sitter.organisation for sitter in (*request.candidates, *request.references)}
    models = {sitter.model for sitter in (*request.candidates, *request.references)}
    sittings = plans.read_sittings(connection, models)
    return LedgerState(
        season_sets=plans.read_season_sets(connection, request.season),
        met=plans.read_exposures(connection, keys, request.rested_before),
        met_by_real=plans.read_met_lineages(connection, prefix=SIMULATED_PREFIX, is_prefixed=False),
        met_by_simulated=plans.read_met_lineages(connection, prefix=SIMULATED_PREFIX, is_prefixed=True),
        sat={(row.model, row.set_id) for row in sittings},
        sittings={Sitting(row.model, row.set_id, row.prompt_style) for row in sittings},
    )
