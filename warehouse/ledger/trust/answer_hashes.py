"""The hashes of answers by the audit log: the exam API's role may not read their texts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

from sqlalchemy import BindParameter, Connection, bindparam, column, distinct, func, select, table

from schemas.vocabulary import GIVEN_STATUSES
from warehouse.ledger.engine.logs.chain import list_pending_entries
from warehouse.ledger.engine.sides import OPEN_ANSWERS
from warehouse.ledger.engine.statements import HotStatement
from warehouse.ledger.engine.tables import access_log, responses, sessions

_SESSION: Final[BindParameter[str]] = bindparam("session")
_SIZE = HotStatement(
    select(sessions.c.run_id, sessions.c.question_count).where(sessions.c.session_id == _SESSION)
)
_COLUMNS: Final = ("seq", "answer_hash", "session_id", "http_status")
_LOGGED, _OF_OPEN = (
    HotStatement(
        select(log.c.seq, log.c.answer_hash).where(
            log.c.session_id == _SESSION,
            log.c.http_status == bindparam("status"),
            log.c.answer_hash.is_not(None),
        )
    )
    for log in (access_log, table(OPEN_ANSWERS, *(column(name) for name in _COLUMNS)))
)


class SessionEnds(NamedTuple):
    """When a session was opened for the first time, and closed; null for not."""

    session_id: str
    opened_at: str | None
    closed_at: str | None


def read_session_size(connection: Connection, session_id: str) -> tuple[str, int]:
    """The run of a session, and how many questions it has."""
    row = _SIZE.fetch_first(connection, {"session": session_id})
    assert row is not None, "whoever asks has read the session"
    return str(row[0]), int(row[1])


def read_answer_hashes(connection: Connection, session_id: str) -> dict[int, str]:
    """SHA-256 of each answer's text by position, those of the open transaction among them.

    The exam API's role on a server gets none of a session that is closed.
    """
    logged = _OF_OPEN if OPEN_ANSWERS in connection.get_execution_options() else _LOGGED
    hashes: dict[int, str] = dict(logged.run(connection, {"session": session_id, "status": 200}))
    hashes.update(_iter_pending(connection, session_id))
    return hashes


def find_unlogged(connection: Connection, run_id: str) -> list[str]:
    """Sessions of a run with other answers than the audit log: some added, or the log cut."""
    given = (
        select(func.count())
        .where(responses.c.session_id == sessions.c.session_id, responses.c.answer_status.in_(GIVEN_STATUSES))
        .scalar_subquery()
    )
    own = access_log.c.session_id == sessions.c.session_id
    logged = (
        select(func.count(distinct(access_log.c.seq)))
        .where(own, access_log.c.http_status == 200, access_log.c.answer_hash.is_not(None))
        .scalar_subquery()
    )
    query = select(sessions.c.session_id).where(sessions.c.run_id == run_id, given != logged)
    return [str(name) for name in connection.execute(query.order_by(sessions.c.session_id)).scalars()]


def iter_session_ends(connection: Connection) -> Iterator[SessionEnds]:
    """Every session that was opened or closed, and when."""
    columns = [sessions.c[name] for name in SessionEnds._fields]
    query = select(*columns).where(sessions.c.status != "planned").order_by(sessions.c.session_id)
    for row in connection.execute(query):
        yield SessionEnds(*row)


def _iter_pending(connection: Connection, session_id: str) -> Iterator[tuple[int, str]]:
    """Answers whose entries wait for the end of the open transaction."""
    for entry in list_pending_entries(connection):
        if entry.session_id == session_id and entry.answer_hash is not None and entry.http_status == 200:
            assert entry.seq is not None, "an answer has a position"
            yield entry.seq, entry.answer_hash
