"""Paid calls for the lake: what they cost and how they went, without prompt or reply."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING

import polars as pl

from schemas.ledger.engine import LandingMark
from schemas.tables import get_table
from tasks.models.client import EXAM_PURPOSE
from warehouse.ledger.engine.ledger import Ledger
from warehouse.ledger.engine.moments import write_moment
from warehouse.ledger.engine.watermarks import read_watermark, write_watermark
from warehouse.ledger.money.calls import count_unit_calls, list_units_since, read_call_months, read_call_rows

if TYPE_CHECKING:
    from warehouse.lake import Lake

# Their calls land with the sessions, when these are closed.

UNITS_PER_LANDING = 500

MARK = "llm_calls"
# A call is dated before its transaction ends, and clocks of two hosts may differ.
_SLACK_S = 3600.0
_OLD_MARK_S = 6 * 3600.0

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
    "extra_usd",
    "latency_ms",
    "answered_by",
)


def read_call_frames(ledger: Ledger, months: Mapping[str, str]) -> dict[str, pl.DataFrame]:
    """Rows of `llm_calls` by unit, none for one without calls; `months` has each unit's."""
    rows: dict[str, list[dict[str, object]]] = {unit: [] for unit in months}
    with ledger.read() as connection:
        calls: Sequence[Mapping[str, object]] = [
            dict(row) for row in read_call_rows(connection, list(months))
        ]
    # A call that failed has no reply to tell by.
    simulated = {(call["unit"], call["model"]) for call in calls if call["is_simulated"]}
    for call in calls:
        unit = str(call["unit"])
        rows[unit].append(
            {name: call[name] for name in _COPIED}
            | {"is_simulated": (unit, call["model"]) in simulated or None}
            | {"started_at": datetime.fromisoformat(str(call["started_at"])), "month": months[unit]}
        )
    table = get_table("llm_calls")
    return {unit: table.frame(found) for unit, found in rows.items()}


def land_paid_calls(ledger: Ledger, lake: Lake) -> dict[str, int]:
    """Land the calls that a stage paid for when it was killed before it landed them.

    Returns the newly landed rows by table. Such a unit has fewer calls in the lake than in the ledger, or some that the lake
    knows only as started. The calls of the exam are not among them. Only units with a call since the last time are looked at;
    where the lake has fewer units than it had then (it was lost, or restored), all of them.
    """
    from warehouse.lake import Batch

    began_at = write_moment(time.time() - _SLACK_S)
    with ledger.read() as connection:
        mark = read_watermark(connection, MARK)
        is_known = mark is not None and _count_landed(lake) >= mark.unit_count
        units = list_units_since(connection, mark.marked_at if mark is not None and is_known else None)
        months = read_call_months(connection, units, without_purpose=EXAM_PURPOSE)
        paid = count_unit_calls(connection, list(months))
    names = _list_units_behind(lake, paid, months)
    landed = 0
    for start in range(0, len(names), UNITS_PER_LANDING):
        frames = read_call_frames(
            ledger, {unit: months[unit] for unit in names[start : start + UNITS_PER_LANDING]}
        )
        landings = lake.land_together(
            [Batch("llm_calls", unit, frame) for unit, frame in frames.items()], stage="reconcile"
        )
        landed += sum(landing.row_count for landing in landings if not landing.is_unchanged)
    # A mark that is not old is left where it is: little lies behind it, and a flow need not wait for the disk.
    if names or not is_known or mark is None or mark.marked_at < write_moment(time.time() - _OLD_MARK_S):
        with ledger.write() as connection:
            watermark = LandingMark(name=MARK, marked_at=began_at, unit_count=_count_landed(lake))
            write_watermark(connection, watermark)
    return {"llm_calls": landed} if landed else {}


def _count_landed(lake: Lake) -> int:
    return int(dict(lake.read("landed_unit_counts").rows()).get("llm_calls", 0))


def _list_units_behind(lake: Lake, paid: Mapping[str, int], months: Mapping[str, str]) -> list[str]:
    if not paid:
        return []
    asked = {"units": sorted(paid), "months": sorted(set(months.values()))}
    whole = {
        (unit, count)
        for unit, count, has_started in lake.read("landed_call_counts", asked).rows()
        if not has_started
    }
    return [unit for unit, count in sorted(paid.items()) if (unit, count) not in whole]
