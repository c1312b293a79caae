"""Rows of the lake's tables from the ledger's; tokens, leases and the seed stay there."""

from __future__ import annotations

import hashlib
from datetime import date, datetime
from typing import TYPE_CHECKING

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
    return {
        "run_id": run.run_id,
        "month": run.month,
        "repetition": run.repetition or None,
        "bank_version": run.bank_version,
        "reference_model": run.reference_model,
        "set_size": run.set_size,
        "policy": run.policy,
        "status": run.status if is_whole else "open",
        "seed_hash": hashlib.sha256(run.seed.encode()).hexdigest(),
        "planned_at": _time(run.planned_at),
        "closed_at": _time(run.closed_at) if is_whole else None,
        "is_simulated": run.is_simulated,
    }


def describe_models(run: PlannedRun) -> list[dict[str, object]]:
    """The models of a run for `models`, as they were registered when it was planned."""
    return [
        {
            "run_id": run.run_id,
            "model": model["name"],
            "organisation": model["organisation"],
            "family": model["family"],
            "release_date": None
            if model["release_date"] is None
            else date.fromisoformat(model["release_date"]),
            "is_open": model["is_open"],
            "mode": model["mode"],
            "base_model": model["base_model"],
            "endpoint_model": model["endpoint_model"],
            "team": model.get("team"),
            "input_price_usd": model["input_price_usd"],
            "output_price_usd": model["output_price_usd"],
            "is_simulated": model["is_simulated"],
        }
        for model in run.plan["models"].values()
    ]


def describe_set_question(row: RowMapping) -> dict[str, object]:
    """A question of a set for `sets`; of the secret key of its draw only the hash lands."""
    key = row["draw_key"]
    return {name: value for name, value in row.items() if name != "draw_key"} | {
        "draw_hash": None if key is None else hashlib.sha256(key.encode()).hexdigest()
    }


def describe_session(session: ClosedSession, answered_count: int) -> dict[str, object]:
    """A closed session, of whose questions so many have an answer, as a row of `sessions`."""
    copied = (
        "session_id",
        "run_id",
        "month",
        "set_id",
        "model",
        "prompt_style",
        "repeat",
        "is_reference",
        "status",
        "question_count",
        "close_reason",
        "is_simulated",
    )
    return {
        **{name: getattr(session, name) for name in copied},
        "answered_count": answered_count,
        "organisation": session.organisation_name,
        "opened_at": _time(session.opened_at),
        "closed_at": _time(session.closed_at),
        "deadline_at": _time(session.deadline_at),
    }


def describe_allocation(session: ClosedSession, row: Mapping[str, Any]) -> dict[str, object]:
    """A question at its place in a session, for `allocations`."""
    return {
        "run_id": session.run_id,
        "session_id": row["session_id"],
        "seq": row["seq"],
        "question_uuid": row["question_uuid"],
        "lineage_uuid": row["lineage_uuid"],
        "discipline": row["discipline"],
        "month": session.month,
        "allocated_at": _time(row["allocated_at"]),
    }


def describe_response(
    session: ClosedSession, row: Mapping[str, Any], question: BareQuestion
) -> dict[str, object]:
    """What a candidate answered, as a row of `responses`; the answer is extracted here.

    For an erased answer no text lands, because none is there.
    """
    is_erased = row["erasure_id"] is not None
    return {
        "run_id": session.run_id,
        "session_id": row["session_id"],
        "seq": row["seq"],
        "question_uuid": row["question_uuid"],
        "lineage_uuid": row["lineage_uuid"],
        "model": session.model,
        "organisation": session.organisation_name,
        "prompt_style": session.prompt_style,
        "repeat": session.repeat,
        "month": session.month,
        "bank_version": session.bank_version,
        "prompt_version": row["prompt_version"],
        "response": None if is_erased else row["response"],
        "reasoning": row["reasoning"],
        "answer": None if is_erased else extract_answer(question, row["response"]),
        "answer_status": row["answer_status"],
        "finish_reason": row["finish_reason"],
        "input_tokens": row["input_tokens"],
        "output_tokens": row["output_tokens"],
        "cost_usd": row["cost_usd"],
        "latency_ms": row["latency_ms"],
        "attempts": row["attempts"],
        "error": row["error"],
        "is_simulated": session.is_simulated,
    }


def describe_call(row: RowMapping, session: ClosedSession) -> dict[str, object]:
    """A paid call of a session for `llm_calls`, with the unit that it is landed with."""
    copied = (
        "call_key",
        "purpose",
        "run_id",
        "unit",
        "model",
        "status",
        "attempts",
        "input_tokens",
        "output_tokens",
        "cost_usd",
        "latency_ms",
    )
    return {
        **{name: row[name] for name in copied},
        "started_at": _time(row["started_at"]),
        "month": session.month,
    }


def describe_access(row: RowMapping) -> dict[str, object]:
    """An entry of the audit log as a row of `access_log`.

    What else the entry fixes stays in the ledger: the entry's hash covers it.
    """
    copied = ("access_id", "user_id", "session_id", "action", "http_status", "code", "entry_hash")
    return {**{name: row[name] for name in copied}, "accessed_at": _time(row["accessed_at"])}


def _time(text: str | None) -> datetime | None:
    return None if text is None else datetime.fromisoformat(text)
