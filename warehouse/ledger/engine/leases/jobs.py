"""Jobs: work that one process at a time holds by a lease; done is what has no row."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Connection, delete, select, update

from schemas.ledger.engine import Job
from warehouse.ledger.engine.inserting import insert_into
from warehouse.ledger.engine.leases.clock import is_lapsed, read_lease_time
from warehouse.ledger.engine.leases.processes import is_dead
from warehouse.ledger.engine.many import list_values
from warehouse.ledger.engine.moments import write_moment
from warehouse.ledger.engine.rows import read_row, read_rows
from warehouse.ledger.engine.tables import jobs

_WAITING = {"holder": None, "host": None, "process_id": None, "expires_at": None}


@dataclass(frozen=True)
class Worker:
    """A process that takes jobs.

    Attributes:
        holder: drawn anew for whoever takes jobs in it.
        lease_s: how long it holds what it took, unless it renews.
    """

    holder: str
    host: str
    process_id: int
    lease_s: float


def make_job(
    kind: str,
    name: str,
    run_id: str | None = None,
    *,
    lane: str = "",
    place: int = 0,
    details: Mapping[str, Any] | None = None,
    deferred_by: str = "",
) -> Job:
    """A job that waits, and was not tried yet."""
    told = None if details is None else dict(details)
    return Job(
        kind=kind, name=name, run_id=run_id, lane=lane, place=place, tries=0, problem=None, details=told,
        deferred_by=deferred_by, **_WAITING,
    )  # fmt: skip


def read_job(connection: Connection, kind: str, name: str) -> Job | None:
    """The job; null for one that is done, or was never put here."""
    return read_row(connection, Job, select(jobs).where(jobs.c.kind == kind, jobs.c.name == name))


def list_jobs(connection: Connection, kind: str, run_id: str | None = None) -> list[Job]:
    """The jobs of a kind, or those of a run, in the order in which they are taken."""
    query = select(jobs).where(jobs.c.kind == kind)
    if run_id is not None:
        query = query.where(jobs.c.run_id == run_id)
    return read_rows(connection, Job, query.order_by(*_ORDER))


def list_names(connection: Connection, kind: str, run_id: str | None) -> set[str]:
    """The names of the jobs of a run that are not done, without what they are begun with."""
    query = select(jobs.c.name).where(jobs.c.kind == kind, jobs.c.run_id == run_id)
    return set(connection.execute(query).scalars())


def list_waiting(
    connection: Connection, *, worker: str, closed_lanes: str, most_tries: int
) -> list[tuple[str, str]]:
    """The kinds and runs of jobs that wait for the worker, less closed lanes and failures."""
    query = select(jobs.c.kind, jobs.c.run_id).where(
        jobs.c.run_id.is_not(None),
        jobs.c.holder.is_(None),
        jobs.c.tries < most_tries,
        (jobs.c.deferred_by == "") | (jobs.c.deferred_by != worker),
        ~jobs.c.lane.startswith(closed_lanes),
    )
    return [
        (kind, run_id) for kind, run_id in connection.execute(query.distinct().order_by("run_id", "kind"))
    ]


def is_held(connection: Connection, job: Job) -> bool:
    """Whether a process holds the job that is there, as far as anybody knows."""
    if job.holder is None or job.host is None or job.process_id is None or job.expires_at is None:
        return False
    return not is_dead(job.host, job.process_id) and not is_lapsed(connection, job.expires_at)


def defer_jobs(connection: Connection, waiting: Sequence[Job]) -> None:
    """Put jobs here to wait; one that waits already gets the new lane (batches or not)."""
    if waiting:
        first = insert_into(connection.dialect.name, jobs)
        moved = {"lane": first.excluded.lane, "deferred_by": first.excluded.deferred_by}
        first = first.on_conflict_do_update(
            index_elements=[jobs.c.kind, jobs.c.name],
            set_=moved,
            where=jobs.c.holder.is_(None)
            & ((jobs.c.lane != moved["lane"]) | (jobs.c.deferred_by != moved["deferred_by"])),
        )
        connection.execute(first, [job.as_values() for job in waiting])


def free_jobs(connection: Connection, kind: str | None = None) -> int:
    """Let jobs of holders that are gone wait again; how many; who is ending one counts not."""
    held = select(jobs).where(jobs.c.holder.is_not(None))
    if kind is not None:
        held = held.where(jobs.c.kind == kind)
    gone = [job for job in read_rows(connection, Job, held) if not is_held(connection, job)]
    for job in gone:
        same = (
            jobs.c.kind == job.kind,
            jobs.c.name == job.name,
            jobs.c.holder == job.holder,
            jobs.c.expires_at == job.expires_at,
        )
        if connection.execute(select(jobs.c.name).where(*same).with_for_update(skip_locked=True)).first():
            connection.execute(update(jobs).where(*same).values(**_WAITING))
    return len(gone)


def take_jobs(
    connection: Connection,
    worker: Worker,
    kind: str,
    most: int,
    *,
    run_id: str | None = None,
    lane: str | None = None,
    names: Collection[str] | None = None,
    most_tries: int | None = None,
) -> list[Job]:
    """Take jobs that wait, those that failed last, without waiting for others' transactions.

    Only those of the run, of the lane, of these names, and that failed less often; null for all.
    """
    chosen = [jobs.c.kind == kind, jobs.c.holder.is_(None)]
    if run_id is not None:
        chosen.append(jobs.c.run_id == run_id)
    if lane is not None:
        chosen.append(jobs.c.lane == lane)
    if names is not None:
        chosen.append(jobs.c.name.in_(list_values(connection, names)))
    if most_tries is not None:
        chosen.append(jobs.c.tries < most_tries)
    query = select(jobs).where(*chosen).order_by(*_ORDER).limit(most).with_for_update(skip_locked=True)
    taken = read_rows(connection, Job, query)
    if taken:
        _hold(connection, _are(kind, [job.name for job in taken], connection), worker)
    return taken


def hold_job(connection: Connection, job: Job, worker: Worker) -> Job | None:
    """Hold the job, made with it; who else holds it, or None. Taking over counts as a try."""
    while True:
        held = job.replace(**_hold_values(connection, worker))
        first = insert_into(connection.dialect.name, jobs).on_conflict_do_nothing().returning(jobs.c.name)
        if connection.execute(first, held.as_values()).first() is not None:
            return None
        found = read_job(connection, job.kind, job.name)
        if found is None:
            continue
        if is_held(connection, found):
            return found
        same = (jobs.c.kind == job.kind) & (jobs.c.name == job.name)
        same &= jobs.c.holder.is_(None) if found.holder is None else jobs.c.holder == found.holder
        if _hold(connection, same, worker, tries=found.tries + 1):
            return None


def renew_jobs(connection: Connection, worker: Worker) -> set[tuple[str, str]]:
    """Hold all that the worker has for another lease; what it still has, by kind and name."""
    mine = select(jobs.c.kind, jobs.c.name).where(jobs.c.holder == worker.holder)
    # In one order, as whoever else locks several: two that wait for each other would be broken off.
    kept = connection.execute(mine.order_by(jobs.c.kind, jobs.c.name).with_for_update()).all()
    if kept:
        _hold(connection, jobs.c.holder == worker.holder, worker)
    return {(kind, name) for kind, name in kept}


def end_jobs(connection: Connection, kind: str, names: Collection[str], holder: str | None) -> None:
    """Remove jobs that are done, as far as they are still the holder's, or (null) nobody's."""
    connection.execute(delete(jobs).where(_are(kind, names, connection), jobs.c.holder == holder))


def give_back_jobs(
    connection: Connection,
    kind: str,
    names: Collection[str],
    holder: str | None,
    *,
    problem: str | None = None,
    tries: int = 1,
) -> None:
    """Let jobs wait again that are still the holder's; a `problem` counts as failed tries."""
    failed = {} if problem is None else {"problem": problem, "tries": jobs.c.tries + tries}
    connection.execute(
        update(jobs)
        .where(_are(kind, names, connection), jobs.c.holder == holder)
        .values(**_WAITING, **failed)
    )


def withdraw_jobs(connection: Connection, kind: str, run_id: str | None = None) -> None:
    """Remove the jobs of a kind that wait, or those of a run."""
    which = (jobs.c.kind == kind) & jobs.c.holder.is_(None)
    if run_id is not None:
        which &= jobs.c.run_id == run_id
    connection.execute(delete(jobs).where(which))


def _are(kind: str, names: Collection[str], connection: Connection) -> ColumnElement[bool]:
    return (jobs.c.kind == kind) & jobs.c.name.in_(list_values(connection, names))


def _hold(connection: Connection, which: ColumnElement[bool], worker: Worker, **more: Any) -> bool:
    values = _hold_values(connection, worker) | more
    return connection.execute(update(jobs).where(which).values(**values)).rowcount > 0


def _hold_values(connection: Connection, worker: Worker) -> dict[str, Any]:
    return {
        "holder": worker.holder,
        "host": worker.host,
        "process_id": worker.process_id,
        "expires_at": write_moment(read_lease_time(connection) + worker.lease_s),
    }


_ORDER = (jobs.c.tries, jobs.c.place, jobs.c.name)
