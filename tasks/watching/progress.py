"""How far the runs under way are, read once for all who watch.

A page that asks every few seconds must cost nothing.

A reading serves everybody for a while, and for longer the longer it took: however many tabs are open, and however many calls a
run has made, no more than a twentieth of one core goes into it.

What the models in sight cost by month, with the judging of their answers.
"""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, Final

from tasks.exam import RunProgress, list_runs_under_way, read_run_progress
from tasks.watching.access import Sight
from warehouse.lake import Lake
from warehouse.ledger.engine.ledger import Ledger

if TYPE_CHECKING:
    import polars as pl

# Seconds for which a reading serves at least, and how many times longer than it took.
_LEAST_S: Final = 2.0
_REST_FACTOR: Final = 20.0


def narrow_progress(run: RunProgress, sight: Sight) -> RunProgress | None:
    """A run's progress of the candidates in sight, sums too; None where none of them is in it."""
    if sight is None:
        return run
    narrowed = run.keep_candidates(sight)
    return narrowed if narrowed.candidates else None


class ProgressReading:
    """The progress of all open runs; safe for threads."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._lock = threading.Lock()
        self._serves_until = 0.0
        self._found: list[RunProgress] = []
        self.count = 0

    def read(self) -> list[RunProgress]:
        """Every run that is not closed, in the order in which they were planned.

        What is returned is at most seconds old.
        """
        with self._lock:
            begun = time.monotonic()
            if begun >= self._serves_until:
                self._found = [
                    read_run_progress(self._ledger, name) for name in list_runs_under_way(self._ledger)
                ]
                self.count += 1
                ended = time.monotonic()
                self._serves_until = ended + max(_LEAST_S, _REST_FACTOR * (ended - begun))
            return self._found


def read_costs(lake: Lake, from_month: str | None, through_month: str | None) -> pl.DataFrame:
    """The rows of the analysis `cost_by_team` of these months, the latest month first.

    `lake` has what is in sight alone.
    """
    asked = {"from_month": from_month, "through_month": through_month}
    return lake.run_named("cost_by_team", asked).sort(
        ["month", "team", "model", "purpose"], descending=[True, False, False, False], nulls_last=True
    )
