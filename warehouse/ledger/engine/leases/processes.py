"""Processes that make calls, with leases that tell others whose work is under way."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import Connection, delete, func, insert, select, update

from warehouse.ledger.engine.leases.clock import is_lapsed, read_lease_time
from warehouse.ledger.engine.moments import write_moment
from warehouse.ledger.engine.tables import process_leases

# Leases that ran out so long ago are removed: nobody asks for a lease that is not there in another way.
_KEPT_S = 86_400.0


@dataclass(frozen=True)
class ProcessLease:
    """A process that makes calls: its lease's end, and whether that was over when read."""

    holder: str
    host: str
    process_id: int
    expires_at: str
    is_expired: bool = False


def read_lease(connection: Connection, holder: str) -> ProcessLease | None:
    """The lease of a process; null for one that ended, or never began."""
    columns = (process_leases.c[name] for name in ("holder", "host", "process_id", "expires_at"))
    row = connection.execute(select(*columns).where(process_leases.c.holder == holder)).first()
    if row is None:
        return None
    return ProcessLease(
        row.holder, row.host, row.process_id, row.expires_at, is_lapsed(connection, row.expires_at)
    )


def count_live_processes(connection: Connection) -> dict[str, int]:
    """Processes whose lease lasts, by host."""
    now = write_moment(read_lease_time(connection))
    query = select(process_leases.c.host, func.count()).where(process_leases.c.expires_at >= now)
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


def renew_lease(connection: Connection, holder: str, *, lease_s: float) -> None:
    """Hold the lease for another span, even run out, unless the work was taken over."""
    connection.execute(
        update(process_leases)
        .where(process_leases.c.holder == holder)
        .values(expires_at=write_moment(read_lease_time(connection) + lease_s))
    )


def close_lease(connection: Connection, holder: str) -> None:
    """End it: what the process left under way is anybody's."""
    connection.execute(delete(process_leases).where(process_leases.c.holder == holder))
