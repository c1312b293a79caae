"""The small season of the report's tests.

It is landed in a real lake, session by session, as the stages do it.
"""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from warehouse.lake import Batch, Lake

UNITS = {
    "runs": ("run_id",),
    "models": ("run_id",),
    "sets": ("set_id",),
    "sessions": ("session_id",),
    "allocations": ("session_id",),
    "responses": ("session_id",),
    "judgements": ("session_id", "judge", "prompt_version"),
    "judge_controls": ("run_id", "judge", "prompt_version"),
    "calibration": ("occasion",),
    "llm_calls": ("call_key",),
}


def land_frames(lake: Lake, frames: Mapping[str, pl.DataFrame]) -> None:
    """Land every table's rows by the unit that its stage lands."""
    for table, frame in frames.items():
        if frame.is_empty():
            continue
        parts = frame.partition_by(UNITS[table], as_dict=True)
        lake.land_together([Batch(table, "/".join(map(str, key)), rows) for key, rows in parts.items()])
