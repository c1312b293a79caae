"""One process at a time on a piece of work that would be paid for twice, or published twice.

It is a job of the ledger that is held while it is done. What a killed process held is taken over at once on this host, and from
another host when its lease has run out.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterator
from contextlib import contextmanager

from schemas.errors import StoreError
from schemas.ledger.engine import Job
from schemas.settings import Settings
from warehouse.ledger.engine.leases.jobs import end_jobs, hold_job
from warehouse.ledger.engine.leases.presence import LEASE_S, Presence
from warehouse.ledger.engine.leases.processes import ProcessLease
from warehouse.ledger.engine.ledger import Ledger
from warehouse.ledger.engine.opening import open_ledger

# How often who waits for a piece of work asks again.
POLL_S = 0.5


@contextmanager
def hold_work(settings: Settings, kind: str, name: str, *, what: str, wait_s: float = 0.0) -> Iterator[None]:
    """Hold the work `name` of a kind (`league`, `cgeval` …) while the block runs.

    As `claim_work` does; where the ledger is a file of the home, by another file beside it: no lease lapses while a laptop sleeps.
    """
    if settings.ledger_url is not None:
        with (
            open_ledger(settings.ledger_address) as ledger,
            claim_work(ledger, kind, name, what=what, wait_s=wait_s),
        ):
            yield
        return
    from filelock import FileLock, Timeout

    folder = settings.home / "locks"
    folder.mkdir(parents=True, exist_ok=True)
    lock = FileLock(folder / f"{kind}-{hashlib.sha256(name.encode()).hexdigest()[:16]}.lock")
    try:
        held = lock.acquire(timeout=wait_s)
    except Timeout:
        raise StoreError(f"Another process on this host is {what}. Wait for it, or end it first.") from None
    with held:
        yield


@contextmanager
def claim_work(ledger: Ledger, kind: str, name: str, *, what: str, wait_s: float = 0.0) -> Iterator[None]:
    """Hold the work `name` of a kind while the block runs.

    Another holder is waited for up to `wait_s`. Raises StoreError when another process holds it (`what` says in words what that one is doing), or has taken it over because
    this one could not renew its lease in time.
    """
    with hold_if_free(ledger, Job(kind=kind, name=name), wait_s=wait_s) as held:
        if isinstance(held, ProcessLease):
            raise StoreError(
                f"Process {held.process_id} on {held.host} is {what}. Wait for it, or end it first."
            )
        holder = held.holder
        yield
        if not held.has(holder):
            raise StoreError(
                f"Another process has taken over {what}: this one did not renew its claim within {LEASE_S:g} s. What was paid for is kept."
            )


@contextmanager
def hold_if_free(ledger: Ledger, job: Job, *, wait_s: float = 0.0) -> Iterator[Presence | ProcessLease]:
    """Hold a job while the block runs, unless a living process holds it already.

    Gives what it is held by, or that process once it was waited for.
    """
    give_up_at = time.monotonic() + wait_s
    with Presence(ledger) as presence:
        holder = presence.holder
        while True:
            with ledger.write() as connection:
                other = hold_job(connection, job, holder)
            if other is None or time.monotonic() >= give_up_at:
                break
            time.sleep(min(POLL_S, max(0.01, give_up_at - time.monotonic())))
        try:
            yield other or presence
        finally:
            if other is None:
                with ledger.write() as connection:
                    end_jobs(connection, job.kind, [job.name], holder)
