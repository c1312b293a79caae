"""One process at a time on a piece of work that would be paid for twice, or published twice.

On this host by a file of the home; where the ledger is elsewhere, other homes may share it, and the work is claimed in it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager

from schemas.errors import StoreError
from schemas.settings import Settings


@contextmanager
def hold_work(settings: Settings, kind: str, name: str, *, what: str, wait_s: float = 0) -> Iterator[None]:
    """Hold the work `name` of a kind (`league`, `cgeval` …) while the block runs.

    Work that a dead process holds is let go of.

    Waits up to `wait_s` for another holder, then raises StoreError: `what` says in words what the other one is doing.
    """
    if settings.ledger_url is not None:
        from tasks.running.claiming.claims import claim_work
        from warehouse.ledger.engine.opening import open_ledger

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
        lock.acquire(timeout=wait_s)
    except Timeout:
        raise StoreError(f"Another process on this host is {what}. Wait for it, or end it first.") from None
    try:
        yield
    finally:
        lock.release()
