"""The end of a run."""

from __future__ import annotations

from schemas.errors import GateError, UsageError
from warehouse.ledger import exam, seats
from warehouse.ledger.engine import Ledger, now_text


def close_run(ledger: Ledger, run_id: str) -> bool:
    """Close a run whose sessions are all closed; false when it was closed before.

    Raises UsageError for an unknown run and GateError when sessions are still to be sat.
    """
    with ledger.write() as connection:
        if exam.read_run(connection, run_id) is None:
            raise UsageError(f"There is no run {run_id!r}. `proctor evaluate` makes one.")
        counts = exam.count_sessions(connection, run_id)
        unfinished = sum(count for status, count in counts.items() if status != "closed")
        if unfinished:
            raise GateError(
                f"Run {run_id}: {unfinished} of {sum(counts.values())} sessions are not closed. Let them be sat "
                "(`proctor exam sit`) before closing the run."
            )
        return seats.write_run_closed(connection, run_id, now_text())
