"""Paid LLM calls.

They are started before they are sent, done with their reply, or failed with an error class. A call that is under way
belongs to whoever started it, as long as that process lives (process_leases): others wait for it. Functions take a
Connection and run inside the caller's transaction. The three on the hot path are compiled once per engine and sent
as driver SQL: SQLAlchemy's own execution would cost more than SQLite's.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from sqlalchemy import BindParameter, Connection, RowMapping, bindparam, func, select, union, update

from warehouse.ledger.engine.inserting import insert_into
from warehouse.ledger.engine.leases.processes import read_lease
from warehouse.ledger.engine.moments import now_text
from warehouse.ledger.engine.statements import HotStatement, Later, iter_chunks
from warehouse.ledger.engine.tables import NOT_EXAM, call_batches, llm_calls, runs
from warehouse.ledger.exam.archives import sum_archived_usd

# A call in a batch is held by the batch, under this name of it; these are the states in which the batch may still answer.
BATCH_PREFIX = "batch-"
OPEN_STATES = ("gathering", "creating", "created")


@dataclass(frozen=True)
class NewCall:
    """What is known of a call before it is sent."""

    call_key: str
    purpose: str
    run_id: str | None
    unit: str | None
    endpoint: str
    model: str
    holder: str | None = None


@dataclass(frozen=True)
class FoundCall:
    """What the ledger already knew of a call.

    It is `done` with its reply, `started` (killed in flight) or `failed`. `is_held` says that another process makes the call at
    this moment, `is_batched` that it is in a batch under way, which no process need be at work on.
    """

    status: str
    reply: dict[str, Any] | None
    input_tokens: int | None
    output_tokens: int | None
    cost_usd: float | None
    latency_ms: float | None
    attempts: int
    holder: str | None
    is_held: bool = False
    is_batched: bool = False

    @property
    def is_free(self) -> bool:
        """Whether nobody else has the call under way."""
        return not (self.is_held or self.is_batched)


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
    holder: str | None = None


_CALLS = llm_calls.c
_BY_KEY = _CALLS.call_key == bindparam("key")
_FOUND = tuple(name for name in FoundCall.__dataclass_fields__ if name not in ("is_held", "is_batched"))
_FIRST = (*NewCall.__dataclass_fields__, "status", "attempts", "started_at")
_LAST = (
    *(name for name in FinishedCall.__dataclass_fields__ if name not in ("call_key", "holder")),
    "finished_at",
)
_FIND = HotStatement(select(*(_CALLS[name] for name in _FOUND)).where(_BY_KEY))
_NEW: dict[str, BindParameter[Any]] = {name: bindparam(f"new_{name}") for name in _LAST}
_FINISH = HotStatement(update(llm_calls).values(_NEW).where(_BY_KEY, _CALLS.status != bindparam("done")))
_BOOK = HotStatement(update(llm_calls).where(_BY_KEY).values(extra_usd=_CALLS.extra_usd + bindparam("extra")))
_HOLD = HotStatement(select(_CALLS.call_key).where(_BY_KEY).with_for_update())
_BOOK_SECOND = HotStatement(
    update(llm_calls)
    .where(_BY_KEY, _CALLS.status == bindparam("done"))
    .values(extra_usd=_CALLS.extra_usd + bindparam("extra"))
)
_FAIL = HotStatement(
    update(llm_calls)
    .values(_NEW)
    .where(
        _BY_KEY,
        _CALLS.status == bindparam("started"),
        _CALLS.holder.is_not_distinct_from(bindparam("holder")),
    )
)


@cache
def _write_start(dialect: str) -> HotStatement:
    first: dict[str, BindParameter[Any]] = {name: bindparam(name) for name in _FIRST}
    return HotStatement(insert_into(dialect, llm_calls).values(first).on_conflict_do_nothing())


def begin_call(connection: Connection, call: NewCall) -> Later[bool]:
    """Write the `started` row of an unknown call; false for a known one (see `start_call`)."""
    values = {**vars(call), "status": "started", "attempts": 0, "started_at": now_text()}
    written = _write_start(connection.dialect.name).run(connection, values)
    return Later(lambda: written.rowcount == 1)


def start_call(
    connection: Connection, call: NewCall, *, price_lost: Callable[[], float] = float
) -> FoundCall | None:
    """Write the `started` row and return what was there before: null for a new call.

    A `done` call is returned with its reply and left as it is: it must not be sent again. So is one that a living process has
    under way, with `is_held`, and one in a batch under way, with `is_batched`. What `price_lost` says is booked where the call
    was in flight when its process ended: the most that it may have cost.
    """
    while True:
        found = find_call(connection, call.call_key)
        if found is None:
            if begin_call(connection, call).read():
                return None
            # Another process wrote the row since, and the insert waited for its commit.
            continue
        if found.status == "done":
            return found
        if found.status == "started" and found.holder not in (None, call.holder):
            if str(found.holder).startswith(BATCH_PREFIX) and _is_under_way(connection, str(found.holder)):
                return replace(found, is_batched=True)
            if read_lease(connection, str(found.holder)) is not None:
                return replace(found, is_held=True)
        if _take_over(connection, call, found, price_lost() if found.status == "started" else 0.0):
            return found


def _take_over(connection: Connection, call: NewCall, found: FoundCall, extra_usd: float) -> bool:
    """Start the call once more; false where another process did so since it was found."""
    taken = connection.execute(
        update(llm_calls)
        .where(
            _CALLS.call_key == call.call_key,
            _CALLS.status == found.status,
            _CALLS.holder.is_not_distinct_from(found.holder),
        )
        .values(status="started", error=None, holder=call.holder, extra_usd=_CALLS.extra_usd + extra_usd)
    )
    return taken.rowcount == 1


def _is_under_way(connection: Connection, batch_id: str) -> bool:
    query = select(call_batches.c.state).where(call_batches.c.batch_id == batch_id)
    return connection.execute(query).scalar_one_or_none() in OPEN_STATES


def find_call(connection: Connection, call_key: str) -> FoundCall | None:
    """What the ledger knows of a call; null for nothing."""
    row = _FIND.run(connection, {"key": call_key}).first()
    if row is None:
        return None
    found = FoundCall(*row)
    return replace(found, reply=json.loads(found.reply)) if isinstance(found.reply, str) else found


def finish_call(connection: Connection, call: FinishedCall) -> Later[bool]:
    """Write what came of a call; where it was done already, only the cost of the later one."""
    values = {
        f"new_{name}": value for name, value in vars(call).items() if name not in ("call_key", "holder")
    }
    values["new_reply"] = None if call.reply is None else json.dumps(call.reply, ensure_ascii=False)
    values |= {"new_finished_at": now_text(), "key": call.call_key}
    if call.status != "done":
        values |= {"started": "started", "holder": call.holder}
        failed = _FAIL.run(connection, values)
        return Later(lambda: failed.rowcount == 1)
    if call.cost_usd:
        # Before the reply is written: a call that is done by that is no second one. Two replies may come at once.
        if connection.dialect.name == "postgresql":
            _HOLD.run(connection, {"key": call.call_key})
        second = {"key": call.call_key, "done": "done", "extra": call.cost_usd}
        _BOOK_SECOND.run(connection, second)
    finished = _FINISH.run(connection, values | {"done": "done"})
    return Later(lambda: finished.rowcount == 1)


def add_extra_usd(connection: Connection, call_key: str, extra_usd: float) -> None:
    """Book a call's cost beyond its reply: attempts without a bill at most, a second reply."""
    _BOOK.run(connection, {"key": call_key, "extra": extra_usd})


def read_call_rows(connection: Connection, units: Sequence[str]) -> list[RowMapping]:
    """The paid calls of these units, without prompt or reply but for whose it is."""
    query = select(
        *(column for column in llm_calls.c if column.name not in ("reply", "error", "endpoint")),
        llm_calls.c.reply["answered_by"].as_string().label("answered_by"),
        llm_calls.c.reply["is_simulated"].as_boolean().label("is_simulated"),
    )
    return [
        row
        for names in iter_chunks(units)
        for row in connection.execute(
            query.where(llm_calls.c.unit.in_(names)).order_by(llm_calls.c.unit, llm_calls.c.call_key)
        ).mappings()
    ]


def list_units_since(connection: Connection, since: str | None) -> list[str]:
    """Units with a call since `since` (None: all), less the exam's, which land by session."""
    queries = [
        select(llm_calls.c.unit).where(llm_calls.c.unit.is_not(None), NOT_EXAM, moment >= (since or ""))
        for moment in (llm_calls.c.started_at, llm_calls.c.finished_at)
    ]
    return sorted(str(unit) for unit in connection.execute(union(*queries)).scalars())


def count_unit_calls(connection: Connection, units: Sequence[str]) -> dict[str, int]:
    """Unit → its calls, for those that have any, by the index alone."""
    query = select(llm_calls.c.unit, func.count()).group_by(llm_calls.c.unit)
    return {
        unit: int(count)
        for names in iter_chunks(units)
        for unit, count in connection.execute(query.where(llm_calls.c.unit.in_(names)))
    }


def read_call_months(connection: Connection, units: Sequence[str], *, without_purpose: str) -> dict[str, str]:
    """The month under which each unit's calls land: the run's, else that of the first call."""
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
    """What a run's calls have cost so far; attempts without a bill at the most they could."""
    cost = func.coalesce(llm_calls.c.cost_usd, 0.0) + llm_calls.c.extra_usd
    query = select(func.coalesce(func.sum(cost), 0.0)).where(llm_calls.c.run_id == run_id)
    return float(connection.execute(query).scalar_one()) + sum_archived_usd(connection, run_id=run_id)


def read_provider_spent_usd(connection: Connection, provider: str) -> float:
    """What all calls of a provider, every one looked at, have cost so far."""
    cost = func.coalesce(llm_calls.c.cost_usd, 0.0) + llm_calls.c.extra_usd
    query = select(func.coalesce(func.sum(cost), 0.0)).where(llm_calls.c.endpoint == provider)
    return float(connection.execute(query).scalar_one()) + sum_archived_usd(connection, endpoint=provider)


def read_replies(connection: Connection, unit: str) -> dict[str, dict[str, Any]]:
    """A unit's finished calls by key: `text`, `status`, what else came back, and `cost_usd`."""
    query = select(llm_calls.c.call_key, llm_calls.c.reply, llm_calls.c.cost_usd).where(
        llm_calls.c.unit == unit, llm_calls.c.status == "done"
    )
    return {
        call_key: {**(reply or {}), "cost_usd": cost_usd}
        for call_key, reply, cost_usd in connection.execute(query)
    }


def read_first_start(connection: Connection, unit: str) -> str | None:
    """When the first call of a unit was started (ISO text); null for a unit without calls."""
    query = (
        select(llm_calls.c.started_at)
        .where(llm_calls.c.unit == unit)
        .order_by(llm_calls.c.started_at)
        .limit(1)
    )
    return connection.execute(query).scalar_one_or_none()
