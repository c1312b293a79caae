"""What the ledger says before a run is planned: sets of the season, exposures, earlier sittings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tasks.exam.plan.allotment import SIMULATED_PREFIX, LedgerState, PlanRequest, SeasonSet
from warehouse.ledger import exam as ledger_exam

if TYPE_CHECKING:
    from sqlalchemy import Connection


def read_state(connection: Connection, request: PlanRequest) -> LedgerState:
    """Everything that the allotment depends on beside the request."""
    keys = {sitter.organisation for sitter in (*request.candidates, *request.references)}
    models = {sitter.model for sitter in (*request.candidates, *request.references)}
    sittings = ledger_exam.read_sittings(connection, models)
    return LedgerState(
        season_sets=[
            SeasonSet(number, set_id, lineages)
            for number, set_id, lineages in ledger_exam.read_season_sets(connection, request.season)
        ],
        met=ledger_exam.read_exposures(connection, keys, request.rested_before),
        met_by_real=ledger_exam.read_met_lineages(connection, prefix=SIMULATED_PREFIX, is_prefixed=False),
        met_by_simulated=ledger_exam.read_met_lineages(connection, prefix=SIMULATED_PREFIX, is_prefixed=True),
        sat={(row.model, row.set_id) for row in sittings},
        sittings={(row.model, row.set_id, row.prompt_style) for row in sittings},
    )
