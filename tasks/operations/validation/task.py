"""Validation as Prefect sees it, in counts: read in pieces → run the suites → write pages."""

from __future__ import annotations

from dataclasses import asdict

from schemas.errors import ContractError
from schemas.settings import load_settings
from tasks.operations.validation.landed import BrokenRule, validate_landed
from tasks.operations.validation.stores import check_stores
from tasks.running import Progress, choose_month
from tasks.running.flow_runs import step
from warehouse.lake import open_lake
from warehouse.ledger.engine.opening import open_ledger

BROKEN_NAMED = 20


@step()
def validate_lake(table: str = "", month: str = "", must_hold: bool = False) -> dict[str, object]:
    """Hold what has landed to its rules, with pages; with `must_hold`, ContractError."""
    settings = load_settings()
    month = month and choose_month(month)
    with open_lake(settings, read_only=True) as lake, Progress("validate: rows") as progress:
        validation = validate_landed(
            lake, settings.home / "validation", table=table, month=month, advance=progress.advance
        )
    if must_hold and validation.broken:
        raise ContractError(_describe(validation.broken, str(validation.page)))
    return {
        "tables": {one.table.name: one.row_count for one in validation.counts},
        "row_count": sum(one.row_count for one in validation.counts),
        "broken": [asdict(one) for one in validation.broken],
        "page": str(validation.page),
    }


@step()
def check_all_stores() -> dict[str, object]:
    """Run every check of the lake, and compare rows by month with the ledger.

    It also looks for scheduled runs that did not happen. Raises ContractError with what is wrong. The run that
    looks is no missed one: its own deployment is left out.
    """
    settings = load_settings()
    with open_ledger(settings.ledger_address) as ledger, open_lake(settings, read_only=True) as lake:
        found = check_stores(ledger, lake, left_out=("checks",))
    if problems := found.problems:
        more = len(problems) - BROKEN_NAMED
        raise ContractError(
            f"{len(problems)} findings: {'; '.join(problems[:BROKEN_NAMED])}{f'; and {more} more' if more > 0 else ''}."
        )
    return {"checks_passed": len(found.checks), "compared_months": found.months, "missed_runs": 0}


def _describe(broken: list[BrokenRule], page: str) -> str:
    named = "; ".join(f"{b.table}, unit {b.unit}: {b.rule} ({b.row_count})" for b in broken[:BROKEN_NAMED])
    more = len(broken) - BROKEN_NAMED
    return (
        f"Rows that have landed break rules of their table: {named}{f'; and {more} more' if more > 0 else ''}. "
        f"The pages are at {page}. Land these units again, or correct the rule in schemas/."
    )
