"""Jobs: work that one process at a time holds by its lease; done is what has no row."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from sqlalchemy import ColumnElement, Connection, delete, select, update

from schemas.ledger.engine import Job
from warehouse.ledger.engine.inserting import insert_into
from warehouse.ledger.engine.leases.processes import ProcessLease, close_lease, read_lease
from warehouse.ledger.engine.many import list_values
from warehouse.ledger.engine.rows import read_row, read_rows
from warehouse.ledger.engine.tables import jobs


def read_job(connection: Connection, kind: str, name: str) -> Job | None:
    """The job; null for one that is done, or was never put here."""
    return read_row(connection, Job, select(jobs).where(jobs.c.kind == kind, jobs.c.name == name))


def list_jobs(connection: Connection, kind: str, run_id: str | None = None) -> list[Job]:
    """The jobs of a kind, or those of a run, in the order in which they are taken."""
    return read_rows(connection, Job, select(jobs).where(*_are(kind, run_id)).order_by(*_ORDER))


def list_waiting(
    connection: Connection, *, worker: str, closed_lanes: str, most_tries: int
) -> list[tuple[str, str]]:
    """The kinds and runs of jobs that wait for the worker, less closed lanes and failures.

    Those whose holder is gone wait again.
    """
    free_jobs(connection)
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


def list_holders(connection: Connection, kind: str, run_id: str) -> dict[str, str | None]:
    """Who holds each job of a run that is not done, by the job's name; null: nobody that lives."""
    free_jobs(connection)
    query = select(jobs.c.name, jobs.c.holder).where(*_are(kind, run_id))
    return {str(row.name): row.holder for row in connection.execute(query)}


def is_held(connection: Connection, job: Job) -> bool:
    """Whether a process holds the job that is there, as far as anybody knows."""
    return job.holder is not None and read_lease(connection, job.holder) is not None


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


def free_jobs(connection: Connection) -> int:
    """Let jobs wait again whose holders are gone; of how many holders."""
    held = select(jobs.c.holder).where(jobs.c.holder.is_not(None)).distinct()
    holders = connection.execute(held).scalars().all()
    gone = [holder for holder in holders if read_lease(connection, str(holder)) is None]
    for holder in gone:
        close_lease(connection, str(holder))
    return len(gone)


def take_jobs(
    connection: Connection,
    holder: str,
    kind: str,
    most: int,
    *,
    run_id: str | None = None,
    lane: str | None = None,
    names: Collection[str] | None = None,
    most_tries: int | None = None,
) -> list[Job]:
    """Take jobs that wait, those that failed last, without waiting for others' transactions.

    Only those of the run, of the lane, of these names, and that failed less often; null for all. Where none waits, those of
    holders that are gone do.
    """
    chosen = [*_are(kind, run_id), jobs.c.holder.is_(None)]
    if lane is not None:
        chosen.append(jobs.c.lane == lane)
    if names is not None:
        chosen.append(jobs.c.name.in_(list_values(connection, names)))
    if most_tries is not None:
        chosen.append(jobs.c.tries < most_tries)
    query = select(jobs).where(*chosen).order_by(*_ORDER).limit(most).with_for_update(skip_locked=True)
    taken = read_rows(connection, Job, query)
    if not taken and free_jobs(connection):
        taken = read_rows(connection, Job, query)
    if taken:
        named = _named(connection, kind, [job.name for job in taken])
        connection.execute(update(jobs).where(named).values(holder=holder))
    return [job.replace(holder=holder) for job in taken]


def hold_job(connection: Connection, job: Job, holder: str) -> ProcessLease | None:
    """Hold the job, made with it; who else holds it, or None. Taking over counts as a try."""
    while True:
        first = insert_into(connection.dialect.name, jobs).on_conflict_do_nothing().returning(jobs.c.name)
        if connection.execute(first, job.replace(holder=holder).as_values()).first() is not None:
            return None
        found = read_job(connection, job.kind, job.name)
        if found is None:
            continue
        if found.holder is not None:
            if (lease := read_lease(connection, found.holder)) is not None:
                return lease
            close_lease(connection, found.holder)
        same = (*_are(job.kind), jobs.c.name == job.name, jobs.c.holder.is_(None))
        values = {"holder": holder, "tries": found.tries + 1}
        if connection.execute(update(jobs).where(*same).values(values)).rowcount > 0:
            return None


def end_jobs(connection: Connection, kind: str, names: Collection[str], holder: str) -> None:
    """Remove jobs that are done, as far as they are still the holder's."""
    connection.execute(delete(jobs).where(_named(connection, kind, names), jobs.c.holder == holder))


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
    mine = (_named(connection, kind, names), jobs.c.holder == holder)
    connection.execute(update(jobs).where(*mine).values(holder=None, **failed))


def withdraw_jobs(connection: Connection, kind: str, run_id: str | None = None) -> None:
    """Remove the jobs of a kind that nobody at work holds, or those of a run."""
    free_jobs(connection)
    connection.execute(delete(jobs).where(*_are(kind, run_id), jobs.c.holder.is_(None)))


def _are(kind: str, run_id: str | None = None) -> list[ColumnElement[bool]]:
    return [jobs.c.kind == kind] if run_id is None else [jobs.c.kind == kind, jobs.c.run_id == run_id]


def _named(connection: Connection, kind: str, names: Collection[str]) -> ColumnElement[bool]:
    return (jobs.c.kind == kind) & jobs.c.name.in_(list_values(connection, names))


_ORDER = (jobs.c.tries, jobs.c.place, jobs.c.name)
