"""Runs, sets, sessions, allocations and responses: every statement that the exam sends to the ledger."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from sqlalchemy import (
    BindParameter,
    Connection,
    Row,
    RowMapping,
    and_,
    bindparam,
    delete,
    func,
    literal,
    select,
    text,
    update,
)
from sqlalchemy.exc import IntegrityError

from schemas.errors import ConflictError
from warehouse.ledger.statements import HotStatement, parse_json
from warehouse.ledger.tables import (
    access_log,
    allocations,
    exposures,
    llm_calls,
    organisations,
    responses,
    runs,
    sessions,
    set_claims,
    set_numbers,
    sets,
    users,
)

# SQLite allows 32,766 parameters in a statement; lists of names stay far below.
_MOST_NAMES = 500

# --- planning ------------------------------------------------------------------------------------------------


def lock_season(connection: Connection, season: str) -> None:
    """Let one planner at a time number the sets of a season (SQLite holds everything already)."""
    if connection.dialect.name == "postgresql":
        key = int.from_bytes(hashlib.sha256(f"season {season}".encode()).digest()[:8], "big", signed=True)
        connection.execute(text("select pg_advisory_xact_lock(:key)"), {"key": key})


def read_run(connection: Connection, run_id: str) -> RowMapping | None:
    """The run, with its secret seed; null when there is none."""
    return connection.execute(select(runs).where(runs.c.run_id == run_id)).mappings().first()


def list_runs(
    connection: Connection, *, month: str | None = None, is_simulated: bool | None = None
) -> list[RowMapping]:
    """Runs in the order in which they were planned."""
    query = select(runs).order_by(runs.c.planned_at, runs.c.run_id)
    if month is not None:
        query = query.where(runs.c.month == month)
    if is_simulated is not None:
        query = query.where(runs.c.is_simulated.is_(is_simulated))
    return list(connection.execute(query).mappings())


def list_open_runs(connection: Connection) -> list[str]:
    """The ids of the runs that are not closed, in the order in which they were planned."""
    query = select(runs.c.run_id).where(runs.c.status == "open").order_by(runs.c.planned_at, runs.c.run_id)
    return list(connection.execute(query).scalars())


def read_season_sets(connection: Connection, season: str) -> list[tuple[int, str, frozenset[str]]]:
    """Number, id and lineages of every set of a season, in order of number."""
    lineages: dict[tuple[int, str], set[str]] = {}
    rows = connection.execute(
        select(set_numbers.c.set_number, set_numbers.c.set_id, sets.c.lineage_uuid)
        .join(sets, sets.c.set_id == set_numbers.c.set_id)
        .where(set_numbers.c.season == season)
    )
    for number, set_id, lineage in rows:
        lineages.setdefault((number, set_id), set()).add(lineage)
    return [(number, set_id, frozenset(found)) for (number, set_id), found in sorted(lineages.items())]


def read_exposures(
    connection: Connection, organisation_names: Iterable[str], since: str
) -> dict[str, set[str]]:
    """The lineages that each organisation has met at or after `since`."""
    found: dict[str, set[str]] = {name: set() for name in organisation_names}
    rows = connection.execute(
        select(exposures.c.organisation, exposures.c.lineage_uuid).where(
            exposures.c.organisation.in_(sorted(found)), exposures.c.exposed_at >= since
        )
    )
    for organisation, lineage in rows:
        found[organisation].add(lineage)
    return found


def read_met_lineages(connection: Connection, *, prefix: str, is_prefixed: bool) -> set[str]:
    """The lineages that anybody has met: among organisations whose key begins with `prefix`, or among the others."""
    condition = exposures.c.organisation.startswith(prefix, autoescape=True)
    query = select(exposures.c.lineage_uuid).where(condition if is_prefixed else ~condition).distinct()
    return set(connection.execute(query).scalars())


def read_sittings(connection: Connection, models: Iterable[str]) -> list[Row[Any]]:
    """(model, set_id, prompt_style, is_reference, run_id) of every session of these models."""
    names = sorted(set(models))
    query = select(
        sessions.c.model,
        sessions.c.set_id,
        sessions.c.prompt_style,
        sessions.c.is_reference,
        sessions.c.run_id,
    )
    return list(connection.execute(query.where(sessions.c.model.in_(names))))


def read_allocated_counts(connection: Connection) -> list[Row[Any]]:
    """(organisation, user_id, allocated) over all sessions."""
    return list(
        connection.execute(
            select(
                sessions.c.organisation,
                sessions.c.user_id,
                func.sum(sessions.c.question_count).label("allocated"),
            ).group_by(sessions.c.organisation, sessions.c.user_id)
        )
    )


def write_run(connection: Connection, row: Mapping[str, Any]) -> None:
    """Add a run."""
    connection.execute(runs.insert(), dict(row))


def write_sets(
    connection: Connection, rows: Sequence[Mapping[str, Any]], items: Sequence[Mapping[str, Any]]
) -> None:
    """Add the numbers of new sets, and what is in them."""
    if rows:
        connection.execute(set_numbers.insert(), [dict(row) for row in rows])
        connection.execute(sets.insert().inline(), [dict(item) for item in items])


def write_claim(
    connection: Connection,
    *,
    organisation: str,
    set_id: str,
    model: str,
    repeat: int,
    run_id: str,
    at: str,
    rested_before: str,
) -> None:
    """Claim a set for an organisation and expose its lineages to it, once.

    A lineage met before `rested_before` may return; one met since violates the primary key (ConflictError).
    """
    lineages = select(sets.c.lineage_uuid).where(sets.c.set_id == set_id)
    connection.execute(
        delete(exposures).where(
            exposures.c.organisation == organisation,
            exposures.c.exposed_at < rested_before,
            exposures.c.lineage_uuid.in_(lineages),
        )
    )
    connection.execute(
        exposures.insert().from_select(
            ["organisation", "lineage_uuid", "set_id", "exposed_at"],
            select(literal(organisation), sets.c.lineage_uuid, literal(set_id), literal(at)).where(
                sets.c.set_id == set_id
            ),
        )
    )
    connection.execute(
        delete(set_claims).where(
            set_claims.c.organisation == organisation,
            set_claims.c.set_id == set_id,
            set_claims.c.claimed_at < rested_before,
        )
    )
    connection.execute(
        set_claims.insert().values(
            organisation=organisation, set_id=set_id, model=model, repeat=repeat, run_id=run_id, claimed_at=at
        )
    )


def write_sessions(
    connection: Connection, rows: Sequence[Mapping[str, Any]], orders: Iterable[Sequence[Mapping[str, Any]]]
) -> None:
    """Add sessions, and the secret order of each."""
    if rows:
        connection.execute(sessions.insert(), [dict(row) for row in rows])
    for order in orders:
        connection.execute(allocations.insert().inline(), [dict(item) for item in order])


def write_run_closed(connection: Connection, run_id: str, at: str) -> bool:
    """Close an open run; false when it was closed before."""
    statement = update(runs).where(runs.c.run_id == run_id, runs.c.status == "open")
    return connection.execute(statement.values(status="closed", closed_at=at)).rowcount == 1


# --- the protocol's hot path ---------------------------------------------------------------------------------

_SESSION: BindParameter[str] = bindparam("session")
_RESPONSE_COLUMNS: Final = tuple(column.name for column in responses.c)


class Seat(NamedTuple):
    """A session as it stands, and the role of who asks for it (null when the ledger does not know them)."""

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
    access_hash: str | None
    candidate_limit: int | None
    organisation_limit: int | None
    role: str | None
    is_active: bool | None


_ELSEWHERE: Final = {
    "candidate_limit": users.c.question_limit,
    "organisation_limit": organisations.c.question_limit,
    "role": users.c.role,
    "is_active": users.c.is_active,
}
_SEAT = HotStatement(
    select(
        *((_ELSEWHERE[name] if name in _ELSEWHERE else sessions.c[name]).label(name) for name in Seat._fields)
    )
    .select_from(
        sessions.outerjoin(users, users.c.user_id == bindparam("caller")).outerjoin(
            organisations, organisations.c.organisation == sessions.c.organisation
        )
    )
    .where(sessions.c.session_id == _SESSION)
)
_LOCK = HotStatement(select(sessions.c.session_id).where(sessions.c.session_id == _SESSION).with_for_update())
_CONTENT = HotStatement(
    select(sets.c.content)
    .select_from(
        allocations.join(
            sets,
            and_(sets.c.set_id == bindparam("set"), sets.c.lineage_uuid == allocations.c.lineage_uuid),
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
        access_hash=bindparam("head"),
    )
)
_RESPONSE = HotStatement(
    responses.insert().inline().values({name: bindparam(name) for name in _RESPONSE_COLUMNS})
)


def read_seat(connection: Connection, session_id: str, caller: str) -> Seat | None:
    """The session as it stands, held until the transaction ends, with the caller's role; null when there is none."""
    if connection.dialect.name == "postgresql":
        _LOCK.run(connection, {"session": session_id}).close()
    row = _SEAT.fetch_first(connection, {"session": session_id, "caller": caller})
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


def write_advance(
    connection: Connection,
    session_id: str,
    *,
    next_seq: int,
    answered_count: int,
    expires_at: float,
    access_hash: str,
) -> None:
    """Move an open session on and renew its lease."""
    _ADVANCE.run(
        connection,
        {
            "session": session_id,
            "next": next_seq,
            "answered": answered_count,
            "expires": expires_at,
            "head": access_hash,
        },
    )


def write_session(connection: Connection, session_id: str, **values: Any) -> None:
    """Set columns of a session (opening, closing, release, head of its chain)."""
    connection.execute(update(sessions).where(sessions.c.session_id == session_id).values(**values))


def write_first_opening(connection: Connection, session_id: str, at: str) -> None:
    """Note the first opening; later ones change nothing."""
    connection.execute(
        update(sessions)
        .where(sessions.c.session_id == session_id, sessions.c.opened_at.is_(None))
        .values(opened_at=at)
    )


_COUNTS: Final = (
    func.coalesce(func.sum(sessions.c.question_count), 0).label("allocated"),
    func.coalesce(func.sum(sessions.c.next_seq - 1 - sessions.c.answered_count), 0).label("pending"),
    func.coalesce(func.sum(sessions.c.answered_count), 0).label("completed"),
)


def count_questions(
    connection: Connection, *, user_id: str | None = None, organisation: str | None = None
) -> tuple[int, int, int]:
    """Questions allocated, pending and completed over the sessions of a candidate or an organisation.

    On a server the organisation's row is held, so that two sessions cannot both take the last one allowed.
    """
    if organisation is not None and connection.dialect.name == "postgresql":
        connection.execute(
            select(organisations.c.organisation)
            .where(organisations.c.organisation == organisation)
            .with_for_update()
        )
    query = select(*_COUNTS)
    if user_id is not None:
        query = query.where(sessions.c.user_id == user_id)
    if organisation is not None:
        query = query.where(sessions.c.organisation == organisation)
    row = connection.execute(query).one()
    return int(row.allocated), int(row.pending), int(row.completed)


# --- lists ---------------------------------------------------------------------------------------------------


def list_sessions(
    connection: Connection,
    *,
    run_id: str | None = None,
    user_id: str | None = None,
    session_id: str | None = None,
    status: str | None = None,
) -> list[RowMapping]:
    """Sessions by run, candidate user, id or status, in a fixed order; without lease and chain."""
    hidden = {"lease_hash", "access_hash"}
    query = select(*(column for column in sessions.c if column.name not in hidden)).order_by(
        sessions.c.run_id, sessions.c.model, sessions.c.repeat, sessions.c.prompt_style, sessions.c.session_id
    )
    for column, value in (
        (sessions.c.run_id, run_id),
        (sessions.c.user_id, user_id),
        (sessions.c.session_id, session_id),
        (sessions.c.status, status),
    ):
        if value is not None:
            query = query.where(column == value)
    return list(connection.execute(query).mappings())


def count_sessions(connection: Connection, run_id: str) -> dict[str, int]:
    """Sessions of a run by status."""
    rows = connection.execute(
        select(sessions.c.status, func.count()).where(sessions.c.run_id == run_id).group_by(sessions.c.status)
    )
    return {str(status): int(count) for status, count in rows}


# --- landing -------------------------------------------------------------------------------------------------


def list_closed_sessions(connection: Connection, run_id: str) -> list[RowMapping]:
    """The closed sessions of a run with the run's month and bank version."""
    query = (
        select(sessions, runs.c.month, runs.c.bank_version)
        .join(runs, runs.c.run_id == sessions.c.run_id)
        .where(sessions.c.run_id == run_id, sessions.c.status == "closed")
        .order_by(sessions.c.session_id)
    )
    return list(connection.execute(query).mappings())


def list_run_sets(connection: Connection, run_id: str) -> list[str]:
    """The sets that a run's sessions sit."""
    query = (
        select(sessions.c.set_id).where(sessions.c.run_id == run_id).distinct().order_by(sessions.c.set_id)
    )
    return list(connection.execute(query).scalars())


def read_set_rows(connection: Connection, set_ids: Sequence[str]) -> list[RowMapping]:
    """One row per lineage of these sets, without content."""
    query = (
        select(
            set_numbers.c.set_id,
            set_numbers.c.set_number,
            set_numbers.c.season,
            set_numbers.c.bank_version,
            sets.c.lineage_uuid,
            sets.c.question_uuid,
            sets.c.discipline,
            set_numbers.c.is_simulated,
        )
        .join(sets, sets.c.set_id == set_numbers.c.set_id)
        .order_by(set_numbers.c.set_id, sets.c.lineage_uuid)
    )
    return [
        row
        for names in _chunks(set_ids)
        for row in connection.execute(query.where(set_numbers.c.set_id.in_(names))).mappings()
    ]


def read_response_rows(connection: Connection, session_ids: Sequence[str]) -> list[RowMapping]:
    """One row per allocation of these sessions: question, discipline, content, and the response's columns (null if none)."""
    query = (
        select(
            allocations.c.session_id,
            allocations.c.seq,
            allocations.c.lineage_uuid,
            allocations.c.allocated_at,
            sets.c.question_uuid,
            sets.c.discipline,
            sets.c.content,
            *(column for column in responses.c if column.name not in ("session_id", "seq", "call_key")),
        )
        .select_from(
            allocations.join(sessions, sessions.c.session_id == allocations.c.session_id)
            .join(
                sets,
                and_(
                    sets.c.set_id == sessions.c.set_id,
                    sets.c.lineage_uuid == allocations.c.lineage_uuid,
                ),
            )
            .outerjoin(
                responses,
                and_(
                    responses.c.session_id == allocations.c.session_id, responses.c.seq == allocations.c.seq
                ),
            )
        )
        .order_by(allocations.c.session_id, allocations.c.seq)
    )
    return [
        row
        for names in _chunks(session_ids)
        for row in connection.execute(query.where(allocations.c.session_id.in_(names))).mappings()
    ]


def read_call_rows(connection: Connection, units: Sequence[str]) -> list[RowMapping]:
    """The paid calls of these units, without prompt or reply."""
    query = select(*(column for column in llm_calls.c if column.name not in ("reply", "error", "endpoint")))
    return [
        row
        for names in _chunks(units)
        for row in connection.execute(
            query.where(llm_calls.c.unit.in_(names)).order_by(llm_calls.c.unit, llm_calls.c.call_key)
        ).mappings()
    ]


def read_access_rows(connection: Connection, day: str) -> list[RowMapping]:
    """The entries of the audit log of one day (YYYY-MM-DD)."""
    query = (
        select(access_log)
        .where(
            access_log.c.accessed_at >= day, access_log.c.accessed_at < day + "U"
        )  # 'U' sorts behind the 'T' of a time
        .order_by(access_log.c.access_id)
    )
    return list(connection.execute(query).mappings())


def list_access_days(connection: Connection) -> list[str]:
    """The days that have entries in the audit log, oldest first."""
    day = func.substr(access_log.c.accessed_at, 1, 10)
    return list(connection.execute(select(day).distinct().order_by(day)).scalars())


def _chunks(names: Sequence[str]) -> Iterator[Collection[str]]:
    for start in range(0, len(names), _MOST_NAMES):
        yield names[start : start + _MOST_NAMES]
