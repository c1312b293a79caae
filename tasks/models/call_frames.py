"""Paid calls for the lake: what they cost and how they went, without prompt or reply."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

import polars as pl

from schemas.tables import get_table
from warehouse.ledger.engine import Ledger
from warehouse.ledger.exam import read_call_rows

_COPIED = (
    "call_key",
    "purpose",
    "run_id",
    "model",
    "status",
    "attempts",
    "input_tokens",
    "output_tokens",
    "cost_usd",
    "latency_ms",
)


def read_call_frames(ledger: Ledger, months: Mapping[str, str]) -> dict[str, pl.DataFrame]:
    """Rows of `llm_calls` by unit; `months` gives the month of every unit asked for.

    A unit without calls has an empty frame.
    """
    rows: dict[str, list[dict[str, object]]] = {unit: [] for unit in months}
    with ledger.read() as connection:
        calls: Sequence[Mapping[str, object]] = [
            dict(row) for row in read_call_rows(connection, list(months))
        ]
    for call in calls:
        unit = str(call["unit"])
        rows[unit].append(
            {name: call[name] for name in _COPIED}
            | {"started_at": datetime.fromisoformat(str(call["started_at"])), "month": months[unit]}
        )
    table = get_table("llm_calls")
    return {unit: table.frame(found) for unit, found in rows.items()}
