"""Replies that were paid for, read back without calling anybody."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection, select

from warehouse.ledger.engine.tables import llm_calls


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
