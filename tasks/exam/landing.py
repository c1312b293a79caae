"""Carry what the ledger has closed into the lake: sessions, allocations, responses, sets, runs, models, calls, accesses.

A session lands once, when it is closed, together with everything that belongs to it; many sessions share a transaction,
so that files do not stay small.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING, Any, Final

import polars as pl

from schemas.errors import UsageError
from schemas.tables import get_table
from tasks.exam.lake_rows import (
    describe_access,
    describe_allocation,
    describe_call,
    describe_models,
    describe_response,
    describe_run,
    describe_session,
    describe_set_question,
)
from warehouse.ledger import access, calls, closed, exam
from warehouse.ledger.engine import Ledger

if TYPE_CHECKING:
    from sqlalchemy import Connection, RowMapping

    from warehouse.lake.store import Batch, Lake

# Rows of a transaction, counted in the larger of its tables: fewer give small files, many more give nothing.
ROWS_PER_CHUNK: Final = 20_000


def iter_landings(
    ledger: Ledger,
    run_id: str,
    landed_units: Mapping[str, AbstractSet[str]],
    *,
    rows_per_chunk: int = ROWS_PER_CHUNK,
) -> Iterator[list[Batch]]:
    """What is to be landed of a run, as lists of batches that each belong in one transaction.

    `landed_units` names what the lake has, by table (`sessions`, `sets`); sessions and sets are landed once, the run and
    its models whenever asked (the same content changes nothing). Raises UsageError for an unknown run.
    """
    with ledger.read() as connection:
        run = exam.read_run(connection, run_id)
        if run is None:
            raise UsageError(f"There is no run {run_id!r}. `proctor evaluate` makes one.")
        sessions = closed.list_closed_sessions(connection, run_id)
        set_ids = [
            set_id
            for set_id in closed.list_run_sets(connection, run_id)
            if set_id not in landed_units.get("sets", frozenset())
        ]
    yield [_batch("runs", run_id, [describe_run(run)]), _batch("models", run_id, describe_models(run))]
    for names in _chunk(set_ids, lambda _: run["set_size"], rows_per_chunk):
        with ledger.read() as connection:
            rows = closed.read_set_rows(connection, names)
        yield _group("sets", "set_id", [describe_set_question(row) for row in rows], names)
    waiting = [row for row in sessions if row["session_id"] not in landed_units.get("sessions", frozenset())]
    for chunk in _chunk(waiting, lambda row: row["question_count"], rows_per_chunk):
        with ledger.read() as connection:
            yield _read_sessions(connection, chunk)


def iter_access_landings(
    ledger: Ledger, landed_days: AbstractSet[str], *, today: date | None = None
) -> Iterator[list[Batch]]:
    """The audit log by day: days that the lake lacks, and the last two again, which may have grown since."""
    recent = (today or datetime.now(UTC).date()) - timedelta(days=1)
    with ledger.read() as connection:
        days = access.list_access_days(connection)
    for day in days:
        if day in landed_days and day < recent.isoformat():
            continue
        with ledger.read() as connection:
            rows = access.read_access_rows(connection, day)
        yield [
            _batch(
                "access_log",
                day,
                [describe_access(row) for row in rows],
            )
        ]


def land_run(ledger: Ledger, lake: Lake, run_id: str, *, flow_run_id: str | None = None) -> dict[str, int]:
    """Land what the ledger has of a run and the lake lacks; returns rows newly landed by table."""
    units = {table: lake.units(table) for table in ("sessions", "sets")}
    return _land(lake, iter_landings(ledger, run_id, units), flow_run_id)


def land_closed_sessions(ledger: Ledger, lake: Lake, *, flow_run_id: str | None = None) -> dict[str, int]:
    """Land what the ledger has closed and the lake lacks, of all runs; returns rows newly landed by table."""
    with ledger.read() as connection:
        run_ids = [str(row["run_id"]) for row in exam.list_runs(connection)]
    counts: Counter[str] = Counter()
    for run_id in run_ids:
        counts.update(land_run(ledger, lake, run_id, flow_run_id=flow_run_id))
    return dict(counts)


def land_access_log(ledger: Ledger, lake: Lake, *, flow_run_id: str | None = None) -> dict[str, int]:
    """Anchor the days of the audit log that are over, and land what the lake lacks; returns rows newly landed."""
    with ledger.write() as connection:
        access.keep_past_heads(connection)
    return _land(lake, iter_access_landings(ledger, lake.units("access_log")), flow_run_id)


def _land(lake: Lake, chunks: Iterator[list[Batch]], flow_run_id: str | None) -> dict[str, int]:
    counts: dict[str, int] = {}
    for batches in chunks:
        for landing in lake.land_together(batches, stage="evaluate", flow_run_id=flow_run_id):
            if not landing.is_unchanged:
                counts[landing.table] = counts.get(landing.table, 0) + landing.row_count
    return counts


def _read_sessions(connection: Connection, sessions: Sequence[RowMapping]) -> list[Batch]:
    """Everything of these sessions, one batch per session and table."""
    names = [row["session_id"] for row in sessions]
    by_id = {row["session_id"]: row for row in sessions}
    allocations: list[dict[str, object]] = []
    responses: list[dict[str, object]] = []
    for row in closed.read_response_rows(connection, names):
        session = by_id[row["session_id"]]
        allocations.append(describe_allocation(session, row))
        if row["answered_at"] is not None:
            responses.append(describe_response(session, row))
    paid = [describe_call(row, by_id[row["unit"]]) for row in calls.read_call_rows(connection, names)]
    units = [str(row["unit"]) for row in paid]
    for call in paid:
        del call["unit"]
    return [
        *_group("sessions", "session_id", [describe_session(row) for row in sessions], names),
        *_group("allocations", "session_id", allocations, names),
        *_group("responses", "session_id", responses, names),
        *_group_by("llm_calls", paid, units, [name for name in names if name in set(units)]),
    ]


def _batch(table: str, unit: str, rows: Sequence[dict[str, object]]) -> Batch:
    from warehouse.lake.store import Batch

    return Batch(table, unit, get_table(table).frame(rows))


def _group(table: str, key: str, rows: list[dict[str, object]], units: Sequence[str]) -> list[Batch]:
    return _group_by(table, rows, [str(row[key]) for row in rows], units)


def _group_by(
    table: str, rows: list[dict[str, object]], keys: Sequence[str], units: Sequence[str]
) -> list[Batch]:
    """One frame for all, then a slice per unit: building a frame costs more than cutting one."""
    from warehouse.lake.store import Batch

    frame = get_table(table).frame(rows).with_columns(pl.Series("landing_key", keys, dtype=pl.String))
    slices = {str(name[0]): part for name, part in frame.partition_by("landing_key", as_dict=True).items()}
    empty = frame.clear()
    return [Batch(table, unit, slices.get(unit, empty).drop("landing_key")) for unit in units]


def _chunk(items: Sequence[Any], count_rows: Callable[[Any], int], most_rows: int) -> Iterator[list[Any]]:
    """Lists of items whose rows together reach `most_rows`; the last may stay below."""
    chunk: list[Any] = []
    row_count = 0
    for item in items:
        chunk.append(item)
        row_count += count_rows(item)
        if row_count >= most_rows:
            yield chunk
            chunk, row_count = [], 0
    if chunk:
        yield chunk
