"""Texts that are no more.

A reader that needs one is informed when it was erased, instead of reading nothing as an empty answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from schemas.errors import UsageError

if TYPE_CHECKING:
    import polars as pl

    from warehouse.lake import Lake


def refuse_erased(lake: Lake, session_ids: Sequence[str] | None = None, *, run_id: str | None = None) -> None:
    """Raise UsageError where texts of one of these sessions, or of this run, were erased."""
    asked = {"session_ids": None if session_ids is None else list(session_ids), "run_id": run_id}
    found = lake.read("erased_sessions", asked)
    if found.is_empty():
        return
    last: Any = found["erased_at"].max()
    raise UsageError(
        f"The texts of {found.height} of the sessions that are asked for (the first: {found['session_id'][0]}) were erased on "
        f"{last:%Y-%m-%d}: they can no longer be read, judged, rated or labelled. Their stars and scores stay. Draw again from the "
        "others, or name another run."
    )


def leave_out_erased(lake: Lake, rows: pl.DataFrame) -> pl.DataFrame:
    """The rows whose session has its texts, in their order."""
    erased = lake.read("erased_sessions", {"session_ids": rows["session_id"].unique().to_list()})
    return rows.join(erased, on="session_id", how="anti", maintain_order="left")


def keep_readable(lake: Lake, rows: pl.DataFrame) -> pl.DataFrame:
    """The same; UsageError where none of any is left."""
    left = leave_out_erased(lake, rows)
    if left.is_empty():
        refuse_erased(lake, rows["session_id"].unique().to_list())
    return left
