"""Every table of the lake, by name, in the order of the pipeline."""

from __future__ import annotations

from schemas import (
    bank,
    calibration,
    closed,
    documents,
    editions,
    exam,
    imports,
    judgements,
    juries,
    league,
    league_statistics,
    operations,
    questions,
    reviews,
    scores,
)
from schemas.errors import ContractError
from schemas.table import Table

_IN_ORDER = (
    documents,
    questions,
    reviews,
    bank,
    exam,
    judgements,
    calibration,
    juries,
    editions,
    closed,
    scores,
    imports,
    league,
    league_statistics,
    operations,
)
TABLES: dict[str, Table] = {
    found.name: found for module in _IN_ORDER for found in vars(module).values() if isinstance(found, Table)
}


def get_table(name: str) -> Table:
    """The table of that name; raises ContractError for a name that is not in the contract."""
    try:
        return TABLES[name]
    except KeyError:
        raise ContractError(f"There is no table {name!r}; the tables are {', '.join(TABLES)}.") from None
