"""What watchers of a run see: runs under way, what was handed out and answered."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sqlalchemy import Connection, RowMapping, and_, func, select, tuple_

from schemas.ledger.exam import Run
from warehouse.ledger.engine.rows import read_row
from warehouse.ledger.engine.tables import allocations, responses, runs, sessions, sets

# Characters of a text in a list.
_EXCERPT = 240
# SQLite allows 32,766 parameters in a statement; a page has far fewer.
_ROWS_AT_ONCE = 500


def read_run_row(connection: Connection, run_id: str) -> Run | None:
    """The run without its plan and seed; null when there is none."""
    return read_row(connection, Run, select(runs).where(runs.c.run_id == run_id))


def list_handed_out(connection: Connection, run_id: str, model: str) -> list[RowMapping]:
    """One row per question that a candidate was handed in a run, without texts.

    Those that still wait are left out. By prompt style, repeat and position; `answer_status` is null before
    the answer.
    """
    query = (
        select(
            sessions.c.session_id,
            allocations.c.seq,
            sessions.c.set_id,
            sessions.c.prompt_style,
            sessions.c.repeat,
            sets.c.question_uuid,
            allocations.c.lineage_uuid,
            sets.c.discipline,
            responses.c.answer_status,
        )
        .select_from(
            sessions.join(allocations, allocations.c.session_id == sessions.c.session_id)
            .join(
                sets,
                and_(sets.c.set_id == sessions.c.set_id, sets.c.lineage_uuid == allocations.c.lineage_uuid),
            )
            .outerjoin(
                responses,
                and_(
                    responses.c.session_id == allocations.c.session_id, responses.c.seq == allocations.c.seq
                ),
            )
        )
        .where(
            sessions.c.run_id == run_id, sessions.c.model == model, allocations.c.seq < sessions.c.next_seq
        )
        .order_by(sessions.c.prompt_style, sessions.c.repeat, sessions.c.session_id, allocations.c.seq)
    )
    return list(connection.execute(query).mappings())


def read_excerpts(connection: Connection, keys: Sequence[tuple[str, int]]) -> dict[tuple[str, int], str]:
    """How the answers begin that stand at these positions of these sessions."""
    found: dict[tuple[str, int], str] = {}
    for start in range(0, len(keys), _ROWS_AT_ONCE):
        part = keys[start : start + _ROWS_AT_ONCE]
        query = select(
            responses.c.session_id, responses.c.seq, func.substr(responses.c.response, 1, _EXCERPT)
        ).where(tuple_(responses.c.session_id, responses.c.seq).in_(part))
        found |= {(str(session), int(seq)): str(text) for session, seq, text in connection.execute(query)}
    return found


def read_contents(
    connection: Connection, places: Iterable[tuple[str, str]]
) -> dict[tuple[str, str], dict[str, object]]:
    """The bare content of questions by set and lineage; those that are not here are left out."""
    asked = sorted(set(places))
    found: dict[tuple[str, str], dict[str, object]] = {}
    for start in range(0, len(asked), _ROWS_AT_ONCE):
        part = asked[start : start + _ROWS_AT_ONCE]
        query = select(sets.c.set_id, sets.c.lineage_uuid, sets.c.content).where(
            tuple_(sets.c.set_id, sets.c.lineage_uuid).in_(part)
        )
        found |= {(str(name), str(lineage)): content for name, lineage, content in connection.execute(query)}
    return found


def read_set_contents(
    connection: Connection, set_ids: Iterable[str]
) -> dict[tuple[str, str], dict[str, object]]:
    """The bare content of every question of these sets, by set and lineage."""
    query = select(sets.c.set_id, sets.c.lineage_uuid, sets.c.content).where(
        sets.c.set_id.in_(sorted(set(set_ids)))
    )
    return {(str(name), str(lineage)): content for name, lineage, content in connection.execute(query)}


def list_responses_with(connection: Connection, run_id: str, model: str, text: str) -> set[tuple[str, int]]:
    """Where a text stands in a candidate's answers of a run, whatever the case of Latin letters."""
    query = (
        select(responses.c.session_id, responses.c.seq)
        .join(sessions, sessions.c.session_id == responses.c.session_id)
        .where(
            sessions.c.run_id == run_id,
            sessions.c.model == model,
            responses.c.response.icontains(text, autoescape=True),
        )
    )
    return {(str(session), int(seq)) for session, seq in connection.execute(query)}


def read_response(connection: Connection, session_id: str, seq: int) -> RowMapping | None:
    """One answer with what its call came to; null before it is there."""
    hidden = {"session_id", "seq", "signature", "call_key", "prompt_version"}
    query = select(*(column for column in responses.c if column.name not in hidden)).where(
        responses.c.session_id == session_id, responses.c.seq == seq
    )
    return connection.execute(query).mappings().first()
