"""A session while it is sat: the protocol's hot path, and what opens and closes it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from sqlalchemy import BindParameter, Connection, and_, bindparam, func, select, text, update
from sqlalchemy.exc import IntegrityError

from schemas.errors import ConflictError
from warehouse.ledger.engine.logs.chain import Entry, add_entry
from warehouse.ledger.engine.logs.digests import digest_text
from warehouse.ledger.engine.statements import HotStatement, parse_json
from warehouse.ledger.engine.tables import allocations, organisations, responses, runs, sessions, sets, users

_SESSION: BindParameter[str] = bindparam("session")
_RESPONSE_COLUMNS: Final = tuple(column.name for column in responses.c)


class Seat(NamedTuple):
    """A session as it stands, and the role of the user who asks for it.

    The role is None when the ledger does not know the user. It comes with what a move needs besides, so that one statement reads
    all of it: the bare content at `next_seq`, and how far the position that was asked for is.
    """

    session_id: str
    set_id: str
    user_id: str
    organisation: str
    prompt_style: str
    pending_window: int
    question_count: int
    next_seq: int
    answered_count: int
    status: str
    lease_generation: int
    lease_hash: str | None
    lease_expires_at: float | None
    public_key: str | None
    candidate_limit: int | None
    organisation_limit: int | None
    role: str | None
    is_active: bool | None
    deadline_at: str | None
    question_s: float | None
    close_reason: str | None
    planned_at: str
    next_content: Any
    delivered_at: str | None
    answer_status: str | None

    @property
    def place(self) -> SeatPosition:
        """How far the position is that was asked for."""
        return SeatPosition(self.delivered_at, self.answer_status)


class SeatPosition(NamedTuple):
    """A position: when its question was handed out, what became of the answer (None: none)."""

    delivered_at: str | None
    answer_status: str | None


_ASKED: Final = allocations.alias("asked")
_ELSEWHERE: Final = {
    "candidate_limit": users.c.question_limit,
    "organisation_limit": organisations.c.question_limit,
    "public_key": users.c.public_key,
    "role": users.c.role,
    "is_active": users.c.is_active,
    "planned_at": runs.c.planned_at,
    "next_content": sets.c.content,
    "delivered_at": _ASKED.c.delivered_at,
    "answer_status": responses.c.answer_status,
}
_SEAT = HotStatement(
    select(
        *((_ELSEWHERE[name] if name in _ELSEWHERE else sessions.c[name]).label(name) for name in Seat._fields)
    )
    .select_from(
        sessions.join(runs, runs.c.run_id == sessions.c.run_id)
        .outerjoin(users, users.c.user_id == bindparam("caller"))
        .outerjoin(organisations, organisations.c.organisation == sessions.c.organisation)
        .outerjoin(
            allocations,
            and_(allocations.c.session_id == sessions.c.session_id, allocations.c.seq == sessions.c.next_seq),
        )
        .outerjoin(
            sets, and_(sets.c.set_id == sessions.c.set_id, sets.c.lineage_uuid == allocations.c.lineage_uuid)
        )
        .outerjoin(
            _ASKED, and_(_ASKED.c.session_id == sessions.c.session_id, _ASKED.c.seq == bindparam("position"))
        )
        .outerjoin(
            responses,
            and_(responses.c.session_id == sessions.c.session_id, responses.c.seq == bindparam("position")),
        )
    )
    .where(sessions.c.session_id == _SESSION)
)
_LOCK = HotStatement(select(sessions.c.session_id).where(sessions.c.session_id == _SESSION).with_for_update())
_CONTENT = HotStatement(
    select(sets.c.content)
    .select_from(
        allocations.join(
            sets, and_(sets.c.set_id == bindparam("set"), sets.c.lineage_uuid == allocations.c.lineage_uuid)
        )
    )
    .where(allocations.c.session_id == _SESSION, allocations.c.seq == bindparam("position"))
)
_PENDING = HotStatement(
    select(allocations.c.seq)
    .select_from(
        allocations.outerjoin(
            responses,
            and_(responses.c.session_id == allocations.c.session_id, responses.c.seq == allocations.c.seq),
        )
    )
    .where(
        allocations.c.session_id == _SESSION,
        allocations.c.seq < bindparam("before"),
        responses.c.seq.is_(None),
    )
    .order_by(allocations.c.seq)
)
_PLACE = HotStatement(
    select(allocations.c.delivered_at, responses.c.answer_status)
    .select_from(
        allocations.outerjoin(
            responses,
            and_(responses.c.session_id == allocations.c.session_id, responses.c.seq == allocations.c.seq),
        )
    )
    .where(allocations.c.session_id == _SESSION, allocations.c.seq == bindparam("position"))
)
_DELIVER = HotStatement(
    update(allocations)
    .where(allocations.c.session_id == _SESSION, allocations.c.seq == bindparam("position"))
    .values(delivered_at=bindparam("at"))
)
_ADVANCE = HotStatement(
    update(sessions)
    .where(sessions.c.session_id == _SESSION)
    .values(
        next_seq=bindparam("next"),
        answered_count=bindparam("answered"),
        lease_expires_at=bindparam("expires"),
    )
)
_RESPONSE = HotStatement(
    responses.insert().inline().values({name: bindparam(name) for name in _RESPONSE_COLUMNS})
)


def read_seat(connection: Connection, session_id: str, caller: str, position: int = 0) -> Seat | None:
    """The session, held until the transaction ends, with the caller's role; None without one."""
    if connection.dialect.name == "postgresql":
        _LOCK.run(connection, {"session": session_id})
    asked = {"session": session_id, "caller": caller, "position": position}
    row = _SEAT.fetch_first(connection, asked)
    return None if row is None else Seat._make(row)


def read_content(connection: Connection, session_id: str, set_id: str, seq: int) -> dict[str, Any]:
    """The bare content at a position of a session that sits `set_id`."""
    row = _CONTENT.fetch_first(connection, {"session": session_id, "set": set_id, "position": seq})
    assert row is not None, "every allocation has an item in its set"
    content: dict[str, Any] = parse_json(row[0])
    return content


def read_pending_seqs(connection: Connection, session_id: str, before: int) -> list[int]:
    """Positions below `before` that have no answer, in order."""
    return [int(row[0]) for row in _PENDING.run(connection, {"session": session_id, "before": before})]


def read_place(connection: Connection, session_id: str, seq: int) -> SeatPosition:
    """How far a position of a session is."""
    row = _PLACE.fetch_first(connection, {"session": session_id, "position": seq})
    assert row is not None, "the position is one of the session"
    return SeatPosition._make(row)


def write_delivery(connection: Connection, session_id: str, seq: int, at: str) -> None:
    """Note that a question was handed out for the first time."""
    _DELIVER.run(connection, {"session": session_id, "position": seq, "at": at})


def write_response(connection: Connection, row: Mapping[str, Any]) -> None:
    """Store a response (all columns); raises ConflictError when the question has one."""
    try:
        _RESPONSE.run(connection, row)
    except IntegrityError:
        raise ConflictError(
            "This position has a response, and the first one stays. Ask for the next question."
        ) from None


def write_mark(
    connection: Connection, session_id: str, seq: int, status: str, at: str, error: str | None = None
) -> None:
    """Note that a question stays without an answer, and why; ConflictError when it has one."""
    marked = dict.fromkeys(_RESPONSE_COLUMNS) | {
        "session_id": session_id,
        "seq": seq,
        "response": "",
        "answer_status": status,
        "error": error,
        "prompt_version": "none",
        "answered_at": at,
    }
    write_response(connection, marked)


def write_advance(
    connection: Connection, session_id: str, *, next_seq: int, answered_count: int, expires_at: float
) -> None:
    """Move an open session on and renew its lease."""
    _ADVANCE.run(
        connection,
        {"session": session_id, "next": next_seq, "answered": answered_count, "expires": expires_at},
    )


def write_session(connection: Connection, session_id: str, **values: Any) -> None:
    """Set columns of a session (opening, closing, release)."""
    connection.execute(update(sessions).where(sessions.c.session_id == session_id).values(**values))


def write_first_opening(connection: Connection, session_id: str, at: str) -> bool:
    """Note the first opening; later ones change nothing, and give false."""
    first = (
        update(sessions)
        .where(sessions.c.session_id == session_id, sessions.c.opened_at.is_(None))
        .values(opened_at=at)
    )
    return connection.execute(first).rowcount == 1


# Any number that no other lock of the ledger has: those are hashes of sessions.
_HOLD_QUOTAS: Final = text("select pg_advisory_xact_lock(1701)")
_COUNTS: Final = (
    func.coalesce(func.sum(sessions.c.question_count), 0).label("allocated"),
    func.coalesce(func.sum(sessions.c.next_seq - 1 - sessions.c.answered_count), 0).label("pending"),
    func.coalesce(func.sum(sessions.c.answered_count), 0).label("completed"),
)


class QuestionCounts(NamedTuple):
    """Questions of some sessions, by how far they are."""

    allocated: int
    pending: int
    completed: int


def hold_quotas(connection: Connection) -> None:
    """Be the only one who hands out under a limit until commit: one lock, so no circle."""
    if connection.dialect.name == "postgresql":
        connection.execute(_HOLD_QUOTAS)


def count_questions(
    connection: Connection, *, user_id: str | None = None, organisation: str | None = None
) -> QuestionCounts:
    """Questions allocated, pending and completed of a candidate or an organisation."""
    query = select(*_COUNTS)
    if user_id is not None:
        query = query.where(sessions.c.user_id == user_id)
    if organisation is not None:
        query = query.where(sessions.c.organisation == organisation)
    row = connection.execute(query).one()
    return QuestionCounts(int(row.allocated), int(row.pending), int(row.completed))


def write_run_closed(connection: Connection, run_id: str, at: str) -> bool:
    """Close an open run; false when it was closed before."""
    statement = update(runs).where(runs.c.run_id == run_id, runs.c.status == "open")
    if connection.execute(statement.values(status="closed", closed_at=at)).rowcount != 1:
        return False
    add_entry(connection, Entry("close_run", target=run_id, digest=digest_text(at), is_by_caller=True))
    return True
