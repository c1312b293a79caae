"""Work that another process holds, for tests of who takes it over."""

from __future__ import annotations

from schemas.ledger.engine import Job
from warehouse.ledger.engine.leases.jobs import hold_job
from warehouse.ledger.engine.leases.processes import open_lease
from warehouse.ledger.engine.ledger import Connection


def hold_elsewhere(
    connection: Connection, job: Job, holder: str = "a", *, host: str = "far", lease_s: float = 90.0
) -> None:
    """Hold a job as a process of another host that renews nothing."""
    open_lease(connection, holder, host=host, process_id=1, lease_s=lease_s)
    assert hold_job(connection, job, holder) is None
