"""What the ledger holds of what the audit log's entries fix, for the check of the log."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from sqlalchemy import Connection, Row, bindparam, func, select
from sqlalchemy.exc import DBAPIError

from warehouse.ledger.engine.logs.digests import digest_responses, digest_text, digest_texts, read_set_digest
from warehouse.ledger.engine.statements import HotStatement, iter_chunks
from warehouse.ledger.engine.tables import (
    access_log,
    allocations,
    budget_limits,
    ended_tokens,
    llm_calls,
    organisations,
    responses,
    run_plans,
    runs,
    sessions,
    set_keys,
    set_numbers,
    sets,
)
from warehouse.ledger.exam.archives import find_session, list_archives
from warehouse.ledger.exam.closed import list_run_sets


def list_sessions(connection: Connection, session_ids: Sequence[str] | None = None) -> list[Row[Any]]:
    """(session_id, run_id, status, answered_count, deadline_at) of these or all, by id."""
    query = select(
        sessions.c.session_id,
        sessions.c.run_id,
        sessions.c.status,
        sessions.c.answered_count,
        sessions.c.deadline_at,
    )
    query = query.order_by(sessions.c.session_id)
    if session_ids is None:
        return list(connection.execute(query))
    return [
        row
        for names in iter_chunks(session_ids)
        for row in connection.execute(query.where(sessions.c.session_id.in_(names)))
    ]


def read_session_states(connection: Connection) -> dict[str, list[Any]]:
    """Closed session → its row, counts and archive, which tell unread whether it is as it was."""
    parts = {name: part.rows_hash for part in list_archives(connection) for name in part.session_ids}
    counts = [
        dict(
            connection.execute(select(table.c.session_id, func.count()).group_by(table.c.session_id))
            .tuples()
            .all()
        )
        for table in (allocations, responses, access_log)
    ]
    units = (
        select(llm_calls.c.unit, func.count()).where(llm_calls.c.unit.is_not(None)).group_by(llm_calls.c.unit)
    )
    closed = set(
        connection.execute(select(sessions.c.session_id).where(sessions.c.status == "closed")).scalars()
    )
    calls: Counter[str] = Counter()
    for unit, count in connection.execute(units):
        calls[find_session(unit, closed) or unit] += count
    query = select(sessions).where(sessions.c.status == "closed").order_by(sessions.c.session_id)
    return {
        str(row.session_id): [
            *row,
            *(count.get(row.session_id, 0) for count in (*counts, calls)),
            parts.get(row.session_id),
        ]
        for row in connection.execute(query)
    }


def read_set_states(connection: Connection) -> dict[str, list[Any]]:
    """Set → its numbers, and how many questions the ledger has of it."""
    counts = dict(
        connection.execute(select(sets.c.set_id, func.count()).group_by(sets.c.set_id)).tuples().all()
    )
    query = select(set_numbers).order_by(set_numbers.c.set_id)
    return {str(row.set_id): [*row, counts.get(row.set_id, 0)] for row in connection.execute(query)}


def list_runs(connection: Connection) -> list[Row[Any]]:
    """(run_id, status, closed_at, seed) of every run, by id."""
    query = select(runs.c.run_id, runs.c.status, runs.c.closed_at, run_plans.c.seed)
    query = query.outerjoin(run_plans, run_plans.c.run_id == runs.c.run_id)
    return list(connection.execute(query.order_by(runs.c.run_id)))


def list_draw_keys(connection: Connection) -> dict[str, str]:
    """Set → the secret that its draw follows from; empty where there is none."""
    query = select(set_numbers.c.set_id, set_keys.c.draw_key)
    query = query.outerjoin(set_keys, set_keys.c.set_id == set_numbers.c.set_id)
    return {str(set_id): str(key or "") for set_id, key in connection.execute(query)}


def find_changed_sets(connection: Connection, run_id: str) -> list[str]:
    """Sets of a run's sessions that are not as they were drawn; without those no entry names."""
    found = []
    for set_id in list_run_sets(connection, run_id):
        entry = (
            select(access_log.c.digest)
            .where(access_log.c.target == set_id, access_log.c.action == "draw_set")
            .where(access_log.c.number.is_not(None), access_log.c.http_status == 200)
            .where(access_log.c.seq.is_(None))
            .order_by(access_log.c.access_id.desc())
        )
        drawn = connection.execute(entry.limit(1)).scalar()
        if drawn is not None and drawn != read_set_digest(connection, set_id):
            found.append(set_id)
    return found


def list_limits(connection: Connection) -> dict[str, int | None]:
    """Organisation → the most questions that it may be handed; null for no limit."""
    query = select(organisations.c.organisation, organisations.c.question_limit)
    return {str(name): limit for name, limit in connection.execute(query)}


def list_ends(connection: Connection) -> dict[tuple[str, str], float]:
    """(kind, name) → the Unix time until which tokens are ended."""
    query = select(ended_tokens.c.kind, ended_tokens.c.name, ended_tokens.c.issued_until)
    return {(str(kind), str(name)): float(until) for kind, name, until in connection.execute(query)}


def list_budgets(connection: Connection) -> list[Row[Any]]:
    """(run_id, limit_usd, reason, set_by, set_at) of every limit that was set, in order."""
    names = ("run_id", "limit_usd", "reason", "set_by", "set_at")
    query = select(*(budget_limits.c[name] for name in names)).order_by(budget_limits.c.number)
    return list(connection.execute(query))


_RESPONSES = HotStatement(
    select(responses).where(responses.c.session_id == bindparam("session")).order_by(responses.c.seq)
)
_ALLOCATIONS = HotStatement(
    select(
        allocations.c.seq, allocations.c.lineage_uuid, allocations.c.allocated_at, allocations.c.delivered_at
    )
    .where(allocations.c.session_id == bindparam("session"))
    .order_by(allocations.c.seq)
)
_SEQ, _TEXT = map(tuple(responses.c.keys()).index, ("seq", "response"))
# All but the text as SQLite writes it, for half of the price of the row: what `digest_response` covers of it, in other letters where
# one is beyond ASCII, or a number of many digits.
_TEXTS = HotStatement(
    select(
        responses.c.seq,
        responses.c.response,
        func.json_array(*(column for column in responses.c if column.name != "response")),
    )
    .where(responses.c.session_id == bindparam("session"))
    .order_by(responses.c.seq)
)


class SessionContent(NamedTuple):
    """The questions and answers of a session, by position.

    Attributes:
        allocations: position, lineage, when it was planned, and when it was handed out for the first time; null for not.
        answers: position, a hash of all but the text, and the SHA-256 of the text, empty for what is no text. The first is the digest that
            the log has of the answer, or another: then only its row tells.
    """

    allocations: list[tuple[int, str, str, str | None]]
    answers: list[tuple[int, str, str]]

    @property
    def order(self) -> list[str]:
        """The lineages."""
        return [lineage for _, lineage, _, _ in self.allocations]

    @property
    def deliveries(self) -> dict[int, str]:
        """Position → when its question was first handed out; those that were not are left out."""
        return {seq: at for seq, _, _, at in self.allocations if at is not None}


def read_session_content(connection: Connection, session_id: str) -> SessionContent:
    """What the ledger has of a session's questions and answers."""
    allotted: Any = list(_ALLOCATIONS.run(connection, {"session": session_id}))
    if connection.dialect.name == "sqlite":
        # SQLite refuses to write bytes, which only a changed row has: at once for the first row, else where it is read.
        with suppress(DBAPIError, sqlite3.OperationalError):
            rows = list(_TEXTS.run(connection, {"session": session_id}))
            return _make_content(allotted, rows, digest_texts([rest for _, _, rest in rows]))
    answers = read_responses(connection, session_id)
    given = [(row[_SEQ], row[_TEXT]) for row in answers]
    return _make_content(allotted, given, digest_responses(answers))


def read_responses(connection: Connection, session_id: str) -> list[tuple[Any, ...]]:
    """Every column of every response of a session, marks of the exam included, by position."""
    return list(_RESPONSES.run(connection, {"session": session_id}))


def _make_content(
    allotted: list[tuple[int, str, str, str | None]], given: Sequence[Sequence[Any]], digests: list[str]
) -> SessionContent:
    # Nothing has the hash of what is no text, which only a changed row has.
    texts = [row[1] for row in given]
    if all(isinstance(text, str) for text in texts):
        hashes = digest_texts(texts)
    else:
        hashes = [digest_text(text) if isinstance(text, str) else "" for text in texts]
    return SessionContent(allotted, [*zip([row[0] for row in given], digests, hashes, strict=True)])
