"""Runs and their sessions, from lake or ledger, how far they are, and what they cost.

A page that asks every few seconds must cost nothing: a reading serves everybody for a while, and for longer the longer it took.
However many tabs are open, and however many calls a run has made, no more than a twentieth of one core goes into it.
"""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass
from typing import Any, Final

import polars as pl

from tasks.exam import RunProgress, list_runs_under_way, read_run_progress
from tasks.watching.access import Sight, is_seen
from warehouse.lake import Lake
from warehouse.ledger.engine.ledger import Ledger
from warehouse.ledger.exam import sittings
from warehouse.ledger.exam.watching import read_run_row

RUNS_PER_PAGE: Final = 24
# No count of runs comes near it, and no database counts rows far beyond.
_MOST_PAGES: Final = 10**9
# Seconds for which a reading serves at least, and how many times longer than it took.
_LEAST_S: Final = 2.0
_REST_FACTOR: Final = 20.0


@dataclass(frozen=True, slots=True)
class WatchedRun:
    """A run.

    Attributes:
        run_id: the run.
        month: its month.
        is_landed: whether its sessions are read from the lake: it is closed, and has landed.
        status: `open` or `closed`.
        bank_version: the bank version that it was drawn from.
        edition_id: its last edition; null where nothing is published.
        judge: the judge whose stars count in it; null before.
        planned_at: when it was planned, as text.
        is_simulated: whether it is simulated.
        marks: what is to be known of its last edition, as in the view edition_marks; null for nothing, and before.
        grade: how that edition is attested, as its operator states it; null where nothing is published.
    """

    run_id: str
    month: str
    is_landed: bool
    status: str
    bank_version: int
    edition_id: str | None
    judge: str | None
    planned_at: str
    is_simulated: bool
    marks: str | None = None
    grade: str | None = None


def list_landed_runs(lake: Lake, page: int) -> tuple[list[WatchedRun], int]:
    """A page of the runs in the lake, the latest first, and how many runs there are."""
    rows = _read_runs(lake, None, RUNS_PER_PAGE, min(max(page - 1, 0), _MOST_PAGES) * RUNS_PER_PAGE)
    return [_make_run(row) for row in rows], int(rows[0]["run_count"]) if rows else 0


def find_run(ledger: Ledger, lake: Lake | None, run_id: str, sight: Sight) -> WatchedRun | None:
    """The run of that name; None where there is none, or none of the models in sight is in it.

    While it is open, and until it lands, it is read from the ledger. `lake` has what is in sight alone.
    """
    with ledger.read() as connection:
        row = read_run_row(connection, run_id)
    is_open = row is not None and row.status == "open"
    landed = [] if lake is None or is_open else _read_runs(lake, run_id, 1, 0)
    if landed:
        return _make_run(landed[0])
    if row is None or (sight is not None and not _list_open_sessions(ledger, run_id, sight)):
        return None
    return WatchedRun(
        run_id, row.month, False, row.status, row.bank_version, None, None, row.planned_at, row.is_simulated
    )


def list_sessions(ledger: Ledger, lake: Lake | None, run: WatchedRun, sight: Sight) -> list[dict[str, Any]]:
    """The sessions of a run, of the candidates in sight, by candidate, prompt style and repeat.

    Each has session_id, model, prompt_style, repeat, status, answered_count, question_count and score (None where
    nothing is published).
    """
    if run.is_landed and lake is not None:
        return lake.read("watched_sessions", {"run_id": run.run_id, "month": run.month}).to_dicts()
    found = _list_open_sessions(ledger, run.run_id, sight)
    return sorted(found, key=lambda row: (row["model"], row["prompt_style"], row["repeat"]))


def _list_open_sessions(ledger: Ledger, run_id: str, sight: Sight) -> list[dict[str, Any]]:
    names = ("session_id", "model", "prompt_style", "repeat", "status", "answered_count", "question_count")
    with ledger.read() as connection:
        rows = sittings.list_sessions(connection, run_id=run_id)
    return [
        {name: getattr(row, name) for name in names} | {"score": None}
        for row in rows
        if is_seen(sight, row.model)
    ]


def _read_runs(lake: Lake, run_id: str | None, limit: int, offset: int) -> list[dict[str, Any]]:
    return lake.read("watched_runs", {"run_id": run_id, "limit": limit, "offset": offset}).to_dicts()


def _make_run(row: dict[str, Any]) -> WatchedRun:
    return WatchedRun(
        row["run_id"],
        row["month"],
        True,
        row["status"],
        row["bank_version"],
        row["edition_id"],
        row["judge"],
        row["planned_at"].isoformat(),
        row["is_simulated"],
        row["marks"],
        row["grade"],
    )


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
        """Every run that is not closed, as planned, at most seconds old."""
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
    """`cost_by_team` of these months, the latest first, from a lake of what is in sight."""
    asked = {"from_month": from_month, "through_month": through_month}
    return lake.run_named("cost_by_team", asked).sort(
        ["month", "team", "model", "purpose"], descending=[True, False, False, False], nulls_last=True
    )
