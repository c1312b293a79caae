"""The end of sessions and of a run.

They end with the last answer, by force, or because the deadline has passed. A session that is closed unfinished keeps
what was answered. What was not counts 0 stars: as `error` where the call to an in-house candidate had failed for good,
else as unanswered.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from schemas.errors import GateError, UsageError, suggest
from schemas.settings import Settings
from tasks.exam.protocol import Deadlines
from tasks.exam.public import add_closing
from warehouse.ledger.engine.leases.clock import Time, check_clock, read_time
from warehouse.ledger.engine.ledger import Ledger
from warehouse.ledger.engine.moments import now_text, write_moment
from warehouse.ledger.exam import deadlines, seats, sittings
from warehouse.ledger.trust.seals import seal_closing

LONGEST_REASON = 200
BY_FORCE = "forced"
BY_DEADLINE = "deadline"


@dataclass(frozen=True)
class ClosingReport:
    """What was closed unfinished.

    Attributes:
        unanswered_count: questions of theirs without an answer; they count 0.
        error_count: how many of these are without one because the call had failed.
        run_ids: the runs that are closed now, their last session being closed.
    """

    session_ids: tuple[str, ...] = ()
    unanswered_count: int = 0
    error_count: int = 0
    run_ids: tuple[str, ...] = ()


def close_run(ledger: Ledger, run_id: str) -> bool:
    """Close a run whose sessions are all closed; false when it was. UsageError, GateError else."""
    with ledger.write() as connection:
        sittings.require_run(connection, run_id)
        counts = sittings.count_sessions(connection, run_id)
        unfinished = sum(count for status, count in counts.items() if status != "closed")
        if unfinished:
            raise GateError(
                f"Run {run_id}: {unfinished} of {sum(counts.values())} sessions are not closed. Let them be sat "
                "(`proctor exam sit`), or close them as they are (`proctor exam close`)."
            )
        return seats.write_run_closed(connection, run_id, now_text())


def set_deadlines(ledger: Ledger, settings: Settings, run_id: str | None = None) -> int:
    """Set the deadlines of those sessions of a run that have none yet; returns how many.

    Without a run, the sessions of all open runs get theirs. Deadlines are counted from now. Raises ClockError
    where the clock cannot be believed.
    """
    limits = Deadlines.from_settings(settings)
    with ledger.write() as connection:
        return deadlines.write_deadlines(
            connection,
            run_id=run_id,
            deadline_at=write_moment(read_time(connection).now + limits.session_s),
            question_s=limits.question_s,
        )


def force_close(ledger: Ledger, target: str, reason: str) -> ClosingReport:
    """Close a session, or every session of a run, as it stands.

    What is closed already stays as it is. Raises UsageError for an unknown run or session, and for a reason that
    is empty or longer than 200 characters.
    """
    reason = reason.strip()
    if not reason or len(reason) > LONGEST_REASON:
        raise UsageError(
            f"A session is closed for a reason of 1 to {LONGEST_REASON} characters; this one has {len(reason)}. It is kept, and "
            "shown beside the scores."
        )
    with ledger.read() as connection:
        run_id = deadlines.read_run_of(connection, target)
        names = deadlines.list_unfinished(connection, target=target)
        known = sittings.list_run_ids(connection) if run_id is None else ()
    if run_id is None:
        raise UsageError(
            f"There is no run and no session {target!r}.{suggest(target, known)} `proctor exam sessions` lists all."
        )
    return _close_all(ledger, names, reason, BY_FORCE, [run_id])


def close_overdue(ledger: Ledger, *, now: float | None = None) -> ClosingReport:
    """Close overdue sessions and finished runs; ClockError where the clock alone says so."""
    if now is None:
        check_clock(ledger)
    with ledger.read() as connection:
        clock = read_time(connection) if now is None else Time(now)
        names = [
            row.session_id
            for row in deadlines.list_overdue(connection, before=write_moment(clock.now))
            if clock.has_passed(row.deadline_at, since=row.planned_at)
        ]
        run_ids = sittings.list_open_runs(connection)
    return _close_all(ledger, names, "the deadline had passed", BY_DEADLINE, run_ids)


def _close_all(
    ledger: Ledger, names: Sequence[str], reason: str, code: str, run_ids: Sequence[str]
) -> ClosingReport:
    """Close each session in its own transaction: candidates of the others then never wait long."""
    closed = {
        name: left for name in names if (left := _close_session(ledger, name, reason, code)) is not None
    }
    return ClosingReport(
        tuple(closed),
        sum(left.unanswered for left in closed.values()),
        sum(left.errors for left in closed.values()),
        tuple(run_id for run_id in run_ids if _close_if_done(ledger, run_id)),
    )


class _Left(NamedTuple):
    """Questions without an answer, and how many of them have none because the call had failed."""

    unanswered: int
    errors: int


def _close_session(ledger: Ledger, session_id: str, reason: str, code: str) -> _Left | None:
    """Close a session as it stands; null when its last answer came first."""
    with ledger.write() as connection:
        seat = seats.read_seat(connection, session_id, caller="")
        if seat is None or seat.status == "closed":
            return None
        at = now_text()
        left = deadlines.read_unanswered(connection, session_id)
        failed = [row for row in left if row["error"] is not None]
        for row in failed:
            seats.write_mark(connection, session_id, row["seq"], "error", at, row["error"])
        seats.write_session(
            connection,
            session_id,
            status="closed",
            answered_count=seat.answered_count + len(failed),
            closed_at=at,
            close_reason=reason,
        )
        seal_closing(connection, session_id, code)
        add_closing(connection, session_id, code)
        return _Left(len(left), len(failed))


def _close_if_done(ledger: Ledger, run_id: str) -> bool:
    """Close a run when none of its sessions is left open; false else, or when it was closed."""
    with ledger.write() as connection:
        counts = sittings.count_sessions(connection, run_id)
        if set(counts) != {"closed"}:
            return False
        return seats.write_run_closed(connection, run_id, now_text())
