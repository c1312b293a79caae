"""The paid calls that a ledger has, as tests look at them."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from sqlalchemy import select

from warehouse.ledger.engine.tables import llm_calls

if TYPE_CHECKING:
    from sqlalchemy import Connection


def read_calls(connection: Connection, *, run_id: str | None = None) -> list[dict[str, Any]]:
    """All calls, or those of a run, without their replies, oldest first."""
    columns = [column for column in llm_calls.c if column.name != "reply"]
    query = select(*columns).order_by(llm_calls.c.started_at, llm_calls.c.call_key)
    if run_id is not None:
        query = query.where(llm_calls.c.run_id == run_id)
    return [dict(row) for row in connection.execute(query).mappings()]


def count_calls(connection: Connection, run_id: str) -> dict[str, int]:
    """Calls of a run by status; while nothing runs, `started` ones were in flight at a kill."""
    found = Counter(call["status"] for call in read_calls(connection, run_id=run_id))
    return {status: found[status] for status in ("started", "done", "failed")}
