"""Rows of the lake's tables from the ledger's; tokens, leases and the seed stay there."""

from __future__ import annotations

import hashlib
from datetime import date, datetime
from typing import TYPE_CHECKING, Final

import polars as pl

from schemas.tables import get_table

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from sqlalchemy import RowMapping

    from warehouse.ledger.exam.closed import ClosedSession
    from warehouse.ledger.exam.sittings import PlannedRun

_OF_SESSION: Final = (
    "session_id",
    "run_id",
    "model",
    "organisation",
    "prompt_style",
    "repeat",
    "month",
    "bank_version",
    "is_simulated",
)


def describe_run(run: PlannedRun, *, is_whole: bool) -> dict[str, object]:
    """A run for `runs`; of its secret seed only the hash lands.

    It lands as closed when `is_whole`: everything that it closed is in the lake already.
    """
    return _pick(
        "runs",
        {
            **run.as_values(),
            "repetition": run.repetition or None,
            "status": run.status if is_whole else "open",
            "seed_hash": hashlib.sha256(run.seed.encode()).hexdigest(),
            "closed_at": run.closed_at if is_whole else None,
        },
    )


def describe_models(run: PlannedRun) -> list[dict[str, object]]:
    """The models of a run for `models`, as they were registered when it was planned."""
    rows = []
    for model in run.plan["models"].values():
        released = model["release_date"]
        own = {
            "run_id": run.run_id,
            "model": model["name"],
            "release_date": None if released is None else date.fromisoformat(released),
            "team": model.get("team"),
        }
        rows.append(_pick("models", {**model, **own}))
    return rows


def describe_set_question(row: RowMapping) -> dict[str, object]:
    """A question of a set for `sets`; of the secret key of its draw only the hash lands."""
    key = row["draw_key"]
    return _pick(
        "sets", {**row, "draw_hash": None if key is None else hashlib.sha256(key.encode()).hexdigest()}
    )


def describe_session(session: ClosedSession, answered_count: int) -> dict[str, object]:
    """A closed session, of whose questions so many have an answer, as a row of `sessions`."""
    own = {"organisation": session.organisation_name, "answered_count": answered_count}
    return _pick("sessions", {**session.as_values(), **own})


def frame_sat_rows(names: Sequence[str], rows: Sequence[tuple[Any, ...]]) -> pl.DataFrame:
    """Allocations with their answers, as `read_sat_rows` gives them."""
    kinds = get_table("responses").polars_schema
    schema = {name: kinds.get(name, pl.String()) for name in names}
    frame = pl.DataFrame(rows, schema=schema, orient="row", strict=False)
    # A session has a few moments, and rows by the thousand.
    moments = frame["allocated_at"].unique().to_list()
    read = [None if one is None else datetime.fromisoformat(one) for one in moments]
    kind = get_table("allocations").polars_schema["allocated_at"]
    return frame.with_columns(
        pl.col("allocated_at").replace_strict(moments, pl.Series(read, dtype=kind), return_dtype=kind)
    )


def frame_asked_rows(rows: Sequence[tuple[Any, ...]]) -> pl.DataFrame:
    """What sets ask, by set and lineage."""
    names = ("set_id", "lineage_uuid", "question_uuid", "discipline")
    return pl.DataFrame(
        [row[: len(names)] for row in rows], schema=dict.fromkeys(names, pl.String), orient="row"
    )


def frame_sessions(sessions: Sequence[ClosedSession]) -> pl.DataFrame:
    """What rows of questions and answers have of their session."""
    kinds = get_table("responses").polars_schema
    names = [name for name in _OF_SESSION if name != "organisation"]
    rows = [(*(getattr(one, name) for name in names), one.organisation_name) for one in sessions]
    schema = {name: kinds[name] for name in (*names, "organisation")}
    return pl.DataFrame(rows, schema=schema, orient="row")


def fit_frame(table: str, frame: pl.DataFrame) -> pl.DataFrame:
    """The table's own columns of a frame that has them, in their types."""
    contract = get_table(table)
    return frame.select(
        pl.col(one.name).cast(contract.polars_schema[one.name]) for one in contract.own_columns
    )


def describe_call(row: RowMapping, session: ClosedSession) -> dict[str, object]:
    """A paid call of a session for `llm_calls`."""
    return _pick("llm_calls", {**row, "month": session.month})


def describe_access(row: RowMapping) -> dict[str, object]:
    """An entry of the audit log for `access_log`; the entry's hash covers what else it fixes."""
    return _pick("access_log", {**row})


def _pick(table: str, held: Mapping[str, Any]) -> dict[str, object]:
    """The held values of a row of a table; moments, which the ledger keeps as text, as moments."""
    return {
        column.name: datetime.fromisoformat(held[column.name])
        if column.type == "timestamp" and held[column.name] is not None
        else held[column.name]
        for column in get_table(table).own_columns
    }
