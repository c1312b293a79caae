"""What a run has closed, to be landed: sessions, their sets, answers with questions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import chain
from typing import Any, Final

from sqlalchemy import Connection, RowMapping, and_, bindparam, func, select

from schemas.ledger.exam import Session
from schemas.ledger.row import column
from schemas.vocabulary import UNANSWERED
from warehouse.ledger.engine.rows import read_rows
from warehouse.ledger.engine.statements import HotStatement, iter_chunks
from warehouse.ledger.engine.tables import (
    allocations,
    erased_answers,
    organisations,
    responses,
    runs,
    sessions,
    set_keys,
    set_numbers,
    sets,
)
from warehouse.ledger.exam.archives import list_archives


class ClosedSession(Session):
    """A session with its run's month and bank version, and the organisation's name."""

    month: str = column()
    bank_version: int = column()
    organisation_name: str = column()


def count_closed_sessions(connection: Connection) -> dict[str, int]:
    """Run → its closed sessions, in the order of planning; nothing else of sessions is read."""
    counts = (
        select(sessions.c.run_id, func.count())
        .where(sessions.c.status == "closed")
        .group_by(sessions.c.run_id)
    )
    found = {str(run_id): int(count) for run_id, count in connection.execute(counts)}
    planned = connection.execute(select(runs.c.run_id).order_by(runs.c.planned_at, runs.c.run_id)).scalars()
    return {str(run_id): found.get(run_id, 0) for run_id in planned}


def count_closed_by_month(
    connection: Connection, *, before: str | None = None
) -> dict[str, tuple[int, int, int]]:
    """Closed sessions, questions and responses by month over all runs, or `before` a moment."""
    is_closed = sessions.c.status == "closed"
    if before is not None:
        is_closed = and_(is_closed, sessions.c.closed_at <= before)
    of_sessions = (
        select(runs.c.month, func.count(), func.sum(sessions.c.question_count))
        .join(sessions, sessions.c.run_id == runs.c.run_id)
        .where(is_closed)
        .group_by(runs.c.month)
        .order_by(runs.c.month)
    )
    of_session = select(sessions.c.session_id, runs.c.month).join(runs, runs.c.run_id == sessions.c.run_id)
    closed = dict(connection.execute(of_session.where(is_closed)).tuples().all())
    # By the key's own index, and then the few that were not answered: to read the status of each row costs four times as much.
    counts = select(responses.c.session_id, func.count()).group_by(responses.c.session_id)
    here = dict(connection.execute(counts).tuples().all())
    unanswered = select(responses.c.session_id).where(responses.c.answer_status == UNANSWERED)
    missing = Counter(connection.execute(unanswered).scalars())
    answered: Counter[str] = Counter()
    for name, month in closed.items():
        answered[month] += here.get(name, 0) - missing[name]
    months = dict(connection.execute(select(runs.c.run_id, runs.c.month)).tuples().all())
    for part in list_archives(connection):
        # What has left the ledger was closed long before. After a kill it may have some of it still, and counts that itself.
        if here.keys().isdisjoint(part.session_ids):
            answered[months[part.run_id]] += int(part.sums["answered"])
    return {
        str(month): (int(count), int(total), answered[str(month)])
        for month, count, total in connection.execute(of_sessions)
    }


def has_closed_since(connection: Connection, moment: str) -> bool:
    """Whether a session was closed after a moment (ISO text)."""
    query = select(sessions.c.session_id).where(sessions.c.closed_at > moment)
    return connection.execute(query.limit(1)).first() is not None


def list_closed_sessions(connection: Connection, run_id: str) -> list[ClosedSession]:
    """The closed sessions of a run, the key standing in for an organisation's missing name."""
    name = func.coalesce(organisations.c.name, sessions.c.organisation).label("organisation_name")
    query = (
        select(sessions, runs.c.month, runs.c.bank_version, name)
        .join(runs, runs.c.run_id == sessions.c.run_id)
        .outerjoin(organisations, organisations.c.organisation == sessions.c.organisation)
        .where(sessions.c.run_id == run_id, sessions.c.status == "closed")
        .order_by(sessions.c.session_id)
    )
    return read_rows(connection, ClosedSession, query)


def list_run_sets(connection: Connection, run_id: str) -> list[str]:
    """The sets that a run's sessions sit."""
    query = (
        select(sessions.c.set_id).where(sessions.c.run_id == run_id).distinct().order_by(sessions.c.set_id)
    )
    return list(connection.execute(query).scalars())


def read_set_rows(connection: Connection, set_ids: Sequence[str]) -> list[RowMapping]:
    """One row per lineage of these sets, without content, with the secret key of the draw."""
    query = (
        select(
            set_numbers.c.set_id,
            set_numbers.c.set_number,
            set_numbers.c.season,
            set_numbers.c.bank_version,
            sets.c.lineage_uuid,
            sets.c.question_uuid,
            sets.c.discipline,
            sets.c.is_anchor,
            set_keys.c.draw_key,
            set_numbers.c.is_simulated,
        )
        .join(sets, sets.c.set_id == set_numbers.c.set_id)
        .outerjoin(set_keys, set_keys.c.set_id == set_numbers.c.set_id)
        .order_by(set_numbers.c.set_id, sets.c.lineage_uuid)
    )
    return [
        row
        for names in iter_chunks(set_ids)
        for row in connection.execute(query.where(set_numbers.c.set_id.in_(names))).mappings()
    ]


_SAT_NAMES: Final = (
    *("set_id", "session_id", "seq", "lineage_uuid", "allocated_at"),
    *(column.name for column in responses.c if column.name not in ("session_id", "seq", "call_key")),
    "erasure_id",
)
_SAT: Final = HotStatement(
    select(
        sessions.c.set_id,
        allocations.c.session_id,
        allocations.c.seq,
        allocations.c.lineage_uuid,
        allocations.c.allocated_at,
        *(column for column in responses.c if column.name not in ("session_id", "seq", "call_key")),
        erased_answers.c.erasure_id,
    )
    .select_from(
        allocations.join(sessions, sessions.c.session_id == allocations.c.session_id)
        .outerjoin(
            responses,
            and_(responses.c.session_id == allocations.c.session_id, responses.c.seq == allocations.c.seq),
        )
        .outerjoin(
            erased_answers,
            and_(
                erased_answers.c.session_id == allocations.c.session_id,
                erased_answers.c.seq == allocations.c.seq,
            ),
        )
    )
    .where(allocations.c.session_id == bindparam("session"))
    .order_by(allocations.c.seq)
)


def read_sat_rows(
    connection: Connection, session_ids: Sequence[str]
) -> tuple[tuple[str, ...], list[tuple[Any, ...]]]:
    """Columns, and a tuple for each allocation with its answer and erasure, null where none."""
    rows = (_SAT.run(connection, {"session": session_id}) for session_id in session_ids)
    return _SAT_NAMES, list(chain.from_iterable(rows))


def read_asked_rows(
    connection: Connection, set_ids: Sequence[str], *, with_contents: bool = False
) -> list[tuple[Any, ...]]:
    """(set_id, lineage_uuid, question_uuid, discipline) of what these sets ask, and the content."""
    columns = [sets.c.set_id, sets.c.lineage_uuid, sets.c.question_uuid, sets.c.discipline]
    query = select(*columns, *([sets.c.content] if with_contents else []))
    return [
        tuple(row)
        for part in iter_chunks(set_ids)
        for row in connection.execute(query.where(sets.c.set_id.in_(part)))
    ]
