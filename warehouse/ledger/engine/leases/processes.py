"""Processes at work, with leases that tell others whose calls and jobs are under way."""

from __future__ import annotations

from typing import Final, NamedTuple

from sqlalchemy import Connection, delete, func, insert, select, tuple_, update

from warehouse.ledger.engine.leases.clock import is_lapsed, read_lease_time
from warehouse.ledger.engine.moments import write_moment
from warehouse.ledger.engine.tables import jobs, process_leases
from warehouse.stores.hosts import is_dead as is_dead
from warehouse.stores.hosts import name_host as name_host

# Leases that ran out so long ago are removed: nobody asks for a lease that is not there in another way.
_KEPT_S = 86_400.0
# Kind of the job that a worker holds while it lives.
WORKER: Final = "worker"


class ProcessLease(NamedTuple):
    """A process at work."""

    host: str
    process_id: int


def read_lease(connection: Connection, holder: str) -> ProcessLease | None:
    """Which process it is, as long as it lives as far as anybody knows; null for one that ended."""
    columns = process_leases.c
    query = select(columns.host, columns.process_id, columns.expires_at).where(columns.holder == holder)
    row = connection.execute(query).first()
    if row is None or is_dead(row.host, row.process_id) or is_lapsed(connection, row.expires_at):
        return None
    return ProcessLease(row.host, row.process_id)


def count_live_processes(connection: Connection) -> dict[str, int]:
    """Processes at work whose lease lasts, by host; workers that wait are left out."""
    now = write_moment(read_lease_time(connection))
    processes = func.count(process_leases.c.process_id.distinct())
    idle = select(jobs.c.holder).where(jobs.c.kind == WORKER, jobs.c.holder.is_not(None))
    alive = (process_leases.c.expires_at >= now, process_leases.c.holder.not_in(idle))
    query = select(process_leases.c.host, processes).where(*alive)
    return {
        str(host): int(count) for host, count in connection.execute(query.group_by(process_leases.c.host))
    }


def open_lease(connection: Connection, holder: str, *, host: str, process_id: int, lease_s: float) -> None:
    """Begin a lease; those of processes that were killed long ago are removed."""
    now = read_lease_time(connection)
    connection.execute(
        delete(process_leases).where(process_leases.c.expires_at < write_moment(now - _KEPT_S))
    )
    connection.execute(
        insert(process_leases).values(
            holder=holder, host=host, process_id=process_id, expires_at=write_moment(now + lease_s)
        )
    )


def renew_lease(connection: Connection, holder: str, *, lease_s: float) -> bool:
    """Hold the lease for another span, even run out; false where another process has ended it."""
    expires_at = write_moment(read_lease_time(connection) + lease_s)
    mine = process_leases.c.holder == holder
    return connection.execute(update(process_leases).where(mine).values(expires_at=expires_at)).rowcount > 0


def close_lease(connection: Connection, holder: str) -> None:
    """End it: what the process left under way is anybody's, and its jobs wait again.

    Nobody's transaction is waited for: who renews the lease, or ends a job, at this moment is left to it.
    """
    lease = select(process_leases.c.holder).where(process_leases.c.holder == holder)
    ending = process_leases.c.holder.in_(lease.with_for_update(skip_locked=True))
    connection.execute(delete(process_leases).where(ending))
    held = select(jobs.c.kind, jobs.c.name).where(jobs.c.holder == holder, ~lease.exists())
    free = tuple_(jobs.c.kind, jobs.c.name).in_(held.with_for_update(skip_locked=True, of=jobs))
    connection.execute(update(jobs).where(free).values(holder=None))
