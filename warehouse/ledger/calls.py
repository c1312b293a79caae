"""Paid LLM calls: started before they are sent, done with their reply, failed with an error class.

Functions take a Connection and run inside the caller's transaction. The three on the hot path are compiled once per
engine and sent as driver SQL: SQLAlchemy's own execution would cost more than SQLite's.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy import (
    ClauseElement,
    Connection,
    CursorResult,
    RowMapping,
    bindparam,
    func,
    insert,
    select,
    update,
)
from sqlalchemy.engine import Dialect

from warehouse.ledger.engine import now_text
from warehouse.ledger.statements import iter_chunks
from warehouse.ledger.tables import llm_calls, runs


@dataclass(frozen=True)
class NewCall:
    """What is known of a call before it is sent."""

    call_key: str
    purpose: str
    run_id: str | None
    unit: str | None
    endpoint: str
    model: str


@dataclass(frozen=True)
class FoundCall:
    """What the ledger already knew of a call: `done` with its reply, `started` (killed in flight) or `failed`."""

    status: str
    reply: dict[str, Any] | None
    input_tokens: int | None
    output_tokens: int | None
    cost_usd: float | None
    latency_ms: float | None
    attempts: int


@dataclass(frozen=True)
class FinishedCall:
    """What came of a call."""

    call_key: str
    status: str
    attempts: int = 0
    reply: dict[str, Any] | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    cost_usd: float | None = None
    latency_ms: float | None = None
    error: str | None = None


def start_call(connection: Connection, call: NewCall) -> FoundCall | None:
    """Write the `started` row and return what was there before: null for a new call.

    A `done` call is returned with its reply and left as it is: it must not be sent again.
    """
    statements = _statements(connection)
    row = statements.find.run(connection, {"key": call.call_key}).first()
    if row is None:
        statements.start.run(
            connection, {**vars(call), "status": "started", "attempts": 0, "started_at": now_text()}
        )
        return None
    found = FoundCall(*row)
    if isinstance(found.reply, str):
        found = replace(found, reply=json.loads(found.reply))
    if found.status != "done":
        statements.restart.run(connection, {"new_status": "started", "new_error": None, "key": call.call_key})
    return found


def finish_call(connection: Connection, call: FinishedCall) -> None:
    """Write what came of a call; a call that is already done is left as it is: its reply is the one in use."""
    values = {f"new_{name}": value for name, value in vars(call).items() if name != "call_key"}
    values["new_reply"] = None if call.reply is None else json.dumps(call.reply, ensure_ascii=False)
    values |= {"new_finished_at": now_text(), "key": call.call_key, "done": "done"}
    _statements(connection).finish.run(connection, values)


def read_calls(
    connection: Connection, *, run_id: str | None = None, units: Sequence[str] | None = None
) -> list[dict[str, Any]]:
    """The calls of a run, or of some units, without their replies, oldest first."""
    columns = [column for column in llm_calls.c if column.name != "reply"]
    query = select(*columns).order_by(llm_calls.c.started_at, llm_calls.c.call_key)
    if run_id is not None:
        query = query.where(llm_calls.c.run_id == run_id)
    if units is not None:
        query = query.where(llm_calls.c.unit.in_(list(units)))
    return [dict(row) for row in connection.execute(query).mappings()]


def read_call_rows(connection: Connection, units: Sequence[str]) -> list[RowMapping]:
    """The paid calls of these units, without prompt or reply."""
    query = select(*(column for column in llm_calls.c if column.name not in ("reply", "error", "endpoint")))
    return [
        row
        for names in iter_chunks(units)
        for row in connection.execute(
            query.where(llm_calls.c.unit.in_(names)).order_by(llm_calls.c.unit, llm_calls.c.call_key)
        ).mappings()
    ]


def count_unit_calls(connection: Connection) -> dict[str, int]:
    """Calls by the unit that they are landed with; answered from the index alone, whatever the replies weigh."""
    query = (
        select(llm_calls.c.unit, func.count()).where(llm_calls.c.unit.is_not(None)).group_by(llm_calls.c.unit)
    )
    return {unit: int(count) for unit, count in connection.execute(query)}


def read_call_months(connection: Connection, units: Sequence[str], *, without_purpose: str) -> dict[str, str]:
    """The month under which the calls of each unit are landed: the run's, else that of the first call.

    Units whose calls were made for `without_purpose` are left out.
    """
    first = func.substr(func.min(llm_calls.c.started_at), 1, 7)
    query = (
        select(llm_calls.c.unit, func.coalesce(func.min(runs.c.month), first))
        .outerjoin(runs, runs.c.run_id == llm_calls.c.run_id)
        .where(llm_calls.c.purpose != without_purpose)
        .group_by(llm_calls.c.unit)
        .order_by(llm_calls.c.unit)
    )
    return {
        unit: month
        for names in iter_chunks(units)
        for unit, month in connection.execute(query.where(llm_calls.c.unit.in_(names)))
    }


def read_spent_usd(connection: Connection, run_id: str) -> float:
    """What the calls of a run have cost so far."""
    query = select(func.coalesce(func.sum(llm_calls.c.cost_usd), 0.0)).where(llm_calls.c.run_id == run_id)
    return float(connection.execute(query).scalar_one())


def count_calls(connection: Connection, run_id: str) -> dict[str, int]:
    """Calls of a run by status. `started` ones, while nothing runs, were in flight at a kill and may have been billed."""
    query = (
        select(llm_calls.c.status, func.count())
        .where(llm_calls.c.run_id == run_id)
        .group_by(llm_calls.c.status)
    )
    counts = dict.fromkeys(("started", "done", "failed"), 0)
    for status, count in connection.execute(query):
        counts[status] = count
    return counts


class _Statement:
    """A statement compiled once, run as driver SQL with its values by name."""

    def __init__(self, statement: ClauseElement, dialect: Dialect) -> None:
        compiled = statement.compile(dialect=dialect)
        self.sql = str(compiled)
        names = getattr(compiled, "positiontup", None)
        self.names: tuple[str, ...] | None = None if names is None else tuple(names)

    def run(self, connection: Connection, values: Mapping[str, Any]) -> CursorResult[Any]:
        if self.names is None:
            return connection.exec_driver_sql(self.sql, dict(values))
        return connection.exec_driver_sql(self.sql, tuple([values[name] for name in self.names]))


@dataclass(frozen=True)
class _Statements:
    find: _Statement
    start: _Statement
    restart: _Statement
    finish: _Statement


_compiled: dict[str, _Statements] = {}


def _statements(connection: Connection) -> _Statements:
    """The hot statements for this engine's dialect."""
    dialect = connection.dialect
    statements = _compiled.get(dialect.name)
    if statements is None:
        statements = _compiled[dialect.name] = _compile_statements(dialect)
    return statements


def _compile_statements(dialect: Dialect) -> _Statements:
    calls = llm_calls.c
    by_key = calls.call_key == bindparam("key")
    first = (*NewCall.__dataclass_fields__, "status", "attempts", "started_at")
    last = (*(name for name in FinishedCall.__dataclass_fields__ if name != "call_key"), "finished_at")
    found = [calls[name] for name in FoundCall.__dataclass_fields__]
    return _Statements(
        find=_Statement(select(*found).where(by_key), dialect),
        start=_Statement(insert(llm_calls).values({name: bindparam(name) for name in first}), dialect),
        restart=_Statement(
            update(llm_calls)
            .values(status=bindparam("new_status"), error=bindparam("new_error"))
            .where(by_key),
            dialect,
        ),
        finish=_Statement(
            update(llm_calls)
            .values({name: bindparam(f"new_{name}") for name in last})
            .where(by_key, calls.status != bindparam("done")),
            dialect,
        ),
    )
