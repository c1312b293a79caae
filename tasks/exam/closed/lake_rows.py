"""Rows of the lake's tables from the ledger's; tokens, leases and the seed stay there."""

from __future__ import annotations

import hashlib
from datetime import date, datetime
from typing import TYPE_CHECKING

from schemas.tables import get_table
from tasks.exam.answers import extract_answer

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from sqlalchemy import RowMapping

    from tasks.questions import BareQuestion
    from warehouse.ledger.exam.closed import ClosedSession
    from warehouse.ledger.exam.sittings import PlannedRun


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


def describe_allocation(session: ClosedSession, row: Mapping[str, Any]) -> dict[str, object]:
    """A question at its place in a session, for `allocations`."""
    return _pick("allocations", {**row, "run_id": session.run_id, "month": session.month})


def describe_response(
    session: ClosedSession, row: Mapping[str, Any], question: BareQuestion
) -> dict[str, object]:
    """A candidate's answer as a row of `responses`, extracted here; of an erased one no text."""
    response = None if row["erasure_id"] is not None else row["response"]
    own = {
        "organisation": session.organisation_name,
        "response": response,
        "answer": None if response is None else extract_answer(question, response),
    }
    return _pick("responses", {**session.as_values(), **row, **own})


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
