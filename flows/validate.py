"""What has landed is held to its rules again."""

from __future__ import annotations

from tasks.operations.validation import validate_lake
from tasks.running.flow_runs import flow, publish_summary


@flow
def validate(table: str = "", month: str = "", must_hold: bool = False) -> dict[str, object]:
    """Run the Great Expectations suite of every table over what has landed, and write Data Docs.

    Args:
        table: table to check; empty for every table.
        month: month as YYYY-MM; empty for every month.
        must_hold: fail when a row breaks a rule, so that a nightly run is seen to have failed; else the rows are counted.
    """
    result = validate_lake(table, month, must_hold)
    publish_summary(result)
    return result
