"""What a ledger that lost commits still says: open sessions, unused replies, known rows."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from sqlalchemy import Connection, func, select

from warehouse.ledger.engine.logs.public_log import list_public_entries
from warehouse.ledger.engine.statements import iter_chunks
from warehouse.ledger.engine.tables import llm_calls, responses, reviews, run_seals, sessions


def list_open_sessions(connection: Connection) -> list[str]:
    """Sessions that were opened and are not closed."""
    query = select(sessions.c.session_id).where(sessions.c.status == "open").order_by(sessions.c.session_id)
    return [str(name) for name in connection.execute(query).scalars()]


def list_unanswered_replies(connection: Connection) -> list[tuple[str, int]]:
    """Open sessions that have more finished calls than answers, with how many more."""
    calls = (
        select(func.count())
        .where(llm_calls.c.unit == sessions.c.session_id, llm_calls.c.status == "done")
        .scalar_subquery()
    )
    answers = select(func.count()).where(responses.c.session_id == sessions.c.session_id).scalar_subquery()
    query = select(sessions.c.session_id, calls - answers).where(sessions.c.status == "open", calls > answers)
    return [(str(name), int(count)) for name, count in connection.execute(query)]


def list_known_calls(connection: Connection, call_keys: Sequence[str]) -> set[str]:
    """Which of these calls the ledger has."""
    return {
        str(key)
        for keys in iter_chunks(sorted(call_keys))
        for key in connection.execute(
            select(llm_calls.c.call_key).where(llm_calls.c.call_key.in_(keys))
        ).scalars()
    }


def list_known_reviews(connection: Connection, batch_ids: Collection[str]) -> set[tuple[str, str, str]]:
    """Batch, question and annotator of every decision of these batches."""
    columns = (reviews.c.batch_id, reviews.c.question_uuid, reviews.c.annotator)
    return {
        (str(batch), str(question), str(annotator))
        for ids in iter_chunks(sorted(batch_ids))
        for batch, question, annotator in connection.execute(
            select(*columns).where(reviews.c.batch_id.in_(ids))
        )
    }


def list_unsealed_runs(connection: Connection) -> list[str]:
    """Runs that the public log says are committed to, and of which the ledger has no seal."""
    kept = {str(name) for name in connection.execute(select(run_seals.c.run_id)).scalars()}
    return sorted({str(step.body["run"]) for step in list_public_entries(connection, ["commit"])} - kept)
