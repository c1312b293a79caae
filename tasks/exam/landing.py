"""Carry what the ledger has closed into the lake: sessions, allocations, responses, sets, runs, models, calls, accesses.

A session lands once, when it is closed, together with everything that belongs to it; many sessions share a transaction,
so that files do not stay small. Tokens, leases and the secret seed stay behind (the seed's hash lands).
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING, Any, Final

import polars as pl

from schemas.errors import UsageError
from schemas.tables import get_table
from tasks.exam.answers import extract_answer
from tasks.exam.plan.allotment import name_organisation
from warehouse.ledger import exam
from warehouse.ledger.access import keep_past_heads
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
            raise UsageError(f"There is no run {run_id!r}. `proctor exam plan` makes one.")
        closed = exam.list_closed_sessions(connection, run_id)
        set_ids = [
            set_id
            for set_id in exam.list_run_sets(connection, run_id)
            if set_id not in landed_units.get("sets", frozenset())
        ]
    yield [_batch("runs", run_id, [_describe_run(run)]), _batch("models", run_id, _describe_models(run))]
    for names in _chunk(set_ids, lambda _: run["set_size"], rows_per_chunk):
        with ledger.read() as connection:
            rows = exam.read_set_rows(connection, names)
        yield _group("sets", "set_id", [dict(row) for row in rows], names)
    waiting = [row for row in closed if row["session_id"] not in landed_units.get("sessions", frozenset())]
    for sessions in _chunk(waiting, lambda row: row["question_count"], rows_per_chunk):
        with ledger.read() as connection:
            yield _read_sessions(connection, sessions)


def iter_access_landings(
    ledger: Ledger, landed_days: AbstractSet[str], *, today: date | None = None
) -> Iterator[list[Batch]]:
    """The audit log by day: days that the lake lacks, and the last two again, which may have grown since."""
    recent = (today or datetime.now(UTC).date()) - timedelta(days=1)
    with ledger.read() as connection:
        days = exam.list_access_days(connection)
    for day in days:
        if day in landed_days and day < recent.isoformat():
            continue
        with ledger.read() as connection:
            rows = exam.read_access_rows(connection, day)
        yield [
            _batch(
                "access_log",
                day,
                [
                    _without({**row, "accessed_at": _time(row["accessed_at"])}, "previous_hash")
                    for row in rows
                ],
            )
        ]


def land_run(ledger: Ledger, lake: Lake, run_id: str, *, flow_run_id: str | None = None) -> dict[str, int]:
    """Land what the ledger has of a run and the lake lacks; returns rows newly landed by table."""
    units = {table: lake.units(table) for table in ("sessions", "sets")}
    return _land(lake, iter_landings(ledger, run_id, units), flow_run_id)


def reconcile(ledger: Ledger, lake: Lake, *, flow_run_id: str | None = None) -> dict[str, int]:
    """Land what the ledger has closed and the lake lacks, of all runs, and the audit log; rows newly landed by table.

    Days of the audit log that are over have their heads kept first.
    """
    with ledger.write() as connection:
        keep_past_heads(connection)
    with ledger.read() as connection:
        run_ids = [str(row["run_id"]) for row in exam.list_runs(connection)]
    counts: dict[str, int] = {}
    for run_id in run_ids:
        for table, count in land_run(ledger, lake, run_id, flow_run_id=flow_run_id).items():
            counts[table] = counts.get(table, 0) + count
    access = _land(lake, iter_access_landings(ledger, lake.units("access_log")), flow_run_id)
    return {**counts, **access}


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
    for row in exam.read_response_rows(connection, names):
        session = by_id[row["session_id"]]
        allocations.append(_describe_allocation(session, row))
        if row["answered_at"] is not None:
            responses.append(_describe_response(session, row))
    calls = [_describe_call(row, by_id[row["unit"]]) for row in exam.read_call_rows(connection, names)]
    units = [str(row["unit"]) for row in calls]
    for call in calls:
        del call["unit"]
    return [
        *_group("sessions", "session_id", [_describe_session(row) for row in sessions], names),
        *_group("allocations", "session_id", allocations, names),
        *_group("responses", "session_id", responses, names),
        *_group_by("llm_calls", calls, units, [name for name in names if name in set(units)]),
    ]


def _describe_run(run: RowMapping) -> dict[str, object]:
    return {
        "run_id": run["run_id"],
        "month": run["month"],
        "bank_version": run["bank_version"],
        "reference_model": run["reference_model"],
        "set_size": run["set_size"],
        "policy": run["policy"],
        "status": run["status"],
        "seed_hash": hashlib.sha256(run["seed"].encode()).hexdigest(),
        "planned_at": _time(run["planned_at"]),
        "closed_at": _time(run["closed_at"]),
        "is_simulated": run["is_simulated"],
    }


def _describe_models(run: RowMapping) -> list[dict[str, object]]:
    return [
        {
            "run_id": run["run_id"],
            "model": model["name"],
            "organisation": model["organisation"],
            "family": model["family"],
            "release_date": None
            if model["release_date"] is None
            else date.fromisoformat(model["release_date"]),
            "is_open": model["is_open"],
            "mode": model["mode"],
            "base_model": model["base_model"],
            "endpoint_model": model["endpoint_model"],
            "input_price_usd": model["input_price_usd"],
            "output_price_usd": model["output_price_usd"],
            "is_simulated": model["is_simulated"],
        }
        for model in run["plan"]["models"].values()
    ]


def _describe_session(row: RowMapping) -> dict[str, object]:
    copied = (
        "session_id",
        "run_id",
        "month",
        "set_id",
        "model",
        "prompt_style",
        "repeat",
        "is_reference",
        "status",
        "question_count",
        "answered_count",
        "is_simulated",
    )
    return {
        **{name: row[name] for name in copied},
        "organisation": name_organisation(row["organisation"]),
        "opened_at": _time(row["opened_at"]),
        "closed_at": _time(row["closed_at"]),
    }


def _describe_allocation(session: RowMapping, row: RowMapping) -> dict[str, object]:
    return {
        "run_id": session["run_id"],
        "session_id": row["session_id"],
        "seq": row["seq"],
        "question_uuid": row["question_uuid"],
        "lineage_uuid": row["lineage_uuid"],
        "discipline": row["discipline"],
        "month": session["month"],
        "allocated_at": _time(row["allocated_at"]),
    }


def _describe_response(session: RowMapping, row: RowMapping) -> dict[str, object]:
    return {
        "run_id": session["run_id"],
        "session_id": row["session_id"],
        "seq": row["seq"],
        "question_uuid": row["question_uuid"],
        "lineage_uuid": row["lineage_uuid"],
        "model": session["model"],
        "organisation": name_organisation(session["organisation"]),
        "prompt_style": session["prompt_style"],
        "repeat": session["repeat"],
        "month": session["month"],
        "bank_version": session["bank_version"],
        "prompt_version": row["prompt_version"],
        "response": row["response"],
        "reasoning": row["reasoning"],
        "answer": extract_answer(row["content"], row["response"]),
        "answer_status": row["answer_status"],
        "finish_reason": row["finish_reason"],
        "input_tokens": row["input_tokens"],
        "output_tokens": row["output_tokens"],
        "cost_usd": row["cost_usd"],
        "latency_ms": row["latency_ms"],
        "attempts": row["attempts"],
        "error": row["error"],
        "is_simulated": session["is_simulated"],
    }


def _describe_call(row: RowMapping, session: RowMapping) -> dict[str, object]:
    copied = (
        "call_key",
        "purpose",
        "run_id",
        "unit",
        "model",
        "status",
        "attempts",
        "input_tokens",
        "output_tokens",
        "cost_usd",
        "latency_ms",
    )
    return {
        **{name: row[name] for name in copied},
        "started_at": _time(row["started_at"]),
        "month": session["month"],
    }


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


def _without(row: dict[str, object], name: str) -> dict[str, object]:
    del row[name]
    return row


def _time(text: str | None) -> datetime | None:
    return None if text is None else datetime.fromisoformat(text)
