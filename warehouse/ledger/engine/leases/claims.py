"""Claims on paid work, for all processes and hosts of an installation.

The process that holds a claim does the work.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlalchemy import delete, select, update

from warehouse.ledger.engine.inserting import insert_into
from warehouse.ledger.engine.leases.clock import is_lapsed, read_lease_time
from warehouse.ledger.engine.moments import write_moment
from warehouse.ledger.engine.tables import work_claims

if TYPE_CHECKING:
    from sqlalchemy import Connection, Row


@dataclass(frozen=True)
class Claim:
    """Who holds a piece of work, and until when unless it is renewed.

    It also says whether that time was over when the claim was read.
    """

    holder: str
    host: str
    process_id: int
    expires_at: str
    is_expired: bool = False


def read_claim(connection: Connection, kind: str, name: str) -> Claim | None:
    """Who holds the work; null for nobody."""
    row = connection.execute(
        select(
            work_claims.c.holder, work_claims.c.host, work_claims.c.process_id, work_claims.c.expires_at
        ).where(work_claims.c.kind == kind, work_claims.c.name == name)
    ).first()
    return None if row is None else _read_row(connection, row)


def list_claims(connection: Connection, kind: str) -> dict[str, Claim]:
    """Who holds what of a kind, by the name of the work."""
    query = select(
        work_claims.c.name,
        work_claims.c.holder,
        work_claims.c.host,
        work_claims.c.process_id,
        work_claims.c.expires_at,
    ).where(work_claims.c.kind == kind)
    return {row.name: _read_row(connection, row) for row in connection.execute(query).all()}


def take_claim(
    connection: Connection,
    kind: str,
    name: str,
    *,
    holder: str,
    host: str,
    process_id: int,
    lease_s: float,
    instead_of: str | None = None,
) -> bool:
    """Take the work: when it has no holder, or from the holder `instead_of`.

    Returns whether it was taken.
    """
    values = {
        "holder": holder,
        "host": host,
        "process_id": process_id,
        "expires_at": write_moment(read_lease_time(connection) + lease_s),
    }
    if instead_of is None:
        first = insert_into(connection.dialect.name, work_claims).on_conflict_do_nothing()
        row = {"kind": kind, "name": name, **values}
        return connection.execute(first.returning(work_claims.c.name), row).first() is not None
    taken = connection.execute(
        update(work_claims)
        .where(work_claims.c.kind == kind, work_claims.c.name == name, work_claims.c.holder == instead_of)
        .values(**values)
    )
    return taken.rowcount == 1


def take_free(
    connection: Connection,
    kind: str,
    name: str,
    *,
    holder: str,
    host: str,
    process_id: int,
    lease_s: float,
    is_dead: Callable[[str, int], bool],
) -> Claim | None:
    """Take the work where no living process holds it; returns None when it was taken.

    Otherwise it returns who holds the work.

    `is_dead` says of a host and a process whether that process is known to be no more.
    """
    while True:
        found = read_claim(connection, kind, name)
        if found is not None and not found.is_expired and not is_dead(found.host, found.process_id):
            return found
        if take_claim(
            connection,
            kind,
            name,
            holder=holder,
            host=host,
            process_id=process_id,
            lease_s=lease_s,
            instead_of=None if found is None else found.holder,
        ):
            return None


def renew_claim(connection: Connection, kind: str, name: str, *, holder: str, lease_s: float) -> bool:
    """Hold the work for another lease; returns whether it is still held."""
    renewed = connection.execute(
        update(work_claims)
        .where(work_claims.c.kind == kind, work_claims.c.name == name, work_claims.c.holder == holder)
        .values(expires_at=write_moment(read_lease_time(connection) + lease_s))
    )
    return renewed.rowcount == 1


def renew_claims(connection: Connection, *, holder: str, lease_s: float) -> set[tuple[str, str]]:
    """Hold all work of a holder for another lease; returns what is still held, by kind and name."""
    renewed = connection.execute(
        update(work_claims)
        .where(work_claims.c.holder == holder)
        .values(expires_at=write_moment(read_lease_time(connection) + lease_s))
        .returning(work_claims.c.kind, work_claims.c.name)
    )
    return {(kind, name) for kind, name in renewed}


def release_claim(connection: Connection, kind: str, name: str, *, holder: str) -> None:
    """Let go of the work, if it is still held."""
    connection.execute(
        delete(work_claims).where(
            work_claims.c.kind == kind, work_claims.c.name == name, work_claims.c.holder == holder
        )
    )


def _read_row(connection: Connection, row: Row[Any]) -> Claim:
    is_over = is_lapsed(connection, row.expires_at)
    return Claim(row.holder, row.host, row.process_id, row.expires_at, is_over)
