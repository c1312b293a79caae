"""Of the lake, what tests of other rooms need beside its face.

It is one place, so that a room can move what is its own.
"""

from __future__ import annotations

from warehouse.lake.attach import remember_data_path
from warehouse.lake.connecting import connect_duckdb
from warehouse.lake.quoting import quote_name
from warehouse.lake.reading.trial import connect_trial, run_trial
from warehouse.lake.validation import RefusedRow, find_refusals

__all__ = [
    "RefusedRow",
    "connect_duckdb",
    "connect_trial",
    "find_refusals",
    "quote_name",
    "remember_data_path",
    "run_trial",
]
