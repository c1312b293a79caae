"""One process at a time on a piece of work that would be paid for twice.

It is a job of the ledger that is held while it is done.

What a killed process held is taken over at once on this host, and from another host when its lease has run out.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from uuid import uuid4

from schemas.errors import StoreError
from schemas.ledger.engine import Job
from warehouse.ledger.engine.leases.jobs import Worker, end_jobs, hold_job, make_job, renew_jobs
from warehouse.ledger.engine.leases.processes import name_host
from warehouse.ledger.engine.leases.renewal import Renewal
from warehouse.ledger.engine.ledger import Ledger

LEASE_S = 90.0
# How often who waits for a piece of work asks again.
POLL_S = 0.5


@contextmanager
def claim_work(ledger: Ledger, kind: str, name: str, *, what: str, wait_s: float = 0.0) -> Iterator[None]:
    """Hold the work `name` of a kind while the block runs.

    It waits up to `wait_s` for another holder first.

    Raises StoreError when another process holds it (`what` says in words what that one is doing), or has taken it over because
    this one could not renew its lease in time.
    """
    give_up_at = time.monotonic() + wait_s
    while True:
        with hold_if_free(ledger, make_job(kind, name)) as held:
            if isinstance(held, Renewal):
                yield
                break
        if time.monotonic() >= give_up_at:
            raise StoreError(
                f"Process {held.process_id} on {held.host} is {what}. Wait for it, or end it first."
            )
        time.sleep(min(POLL_S, max(0.01, give_up_at - time.monotonic())))
    if held.is_lost:
        raise StoreError(
            f"Another process has taken over {what}: this one did not renew its claim within {LEASE_S:g} s. What was paid for is kept."
        )


@contextmanager
def hold_if_free(ledger: Ledger, job: Job) -> Iterator[Renewal | Job]:
    """Hold a job while the block runs, unless a living process holds it already.

    Gives what renews it, or the job as that process holds it.
    """
    worker = make_worker()
    with ledger.write() as connection:
        found = hold_job(connection, job, worker)
    if found is not None:
        yield found
        return

    def renew() -> bool:
        with ledger.write() as connection:
            return bool(renew_jobs(connection, worker))

    renewal = Renewal(f"job-{job.kind}", renew, LEASE_S)
    try:
        yield renewal
    finally:
        renewal.end()
        with ledger.write() as connection:
            end_jobs(connection, job.kind, [job.name], worker.holder)


def make_worker() -> Worker:
    """The process as one that takes jobs; each call is a holder of its own."""
    return Worker(uuid4().hex, name_host(), os.getpid(), LEASE_S)
