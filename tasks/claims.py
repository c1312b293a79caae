"""One process of an installation at a time on a piece of work that would be paid for twice: a claim in the ledger.

A claim is held by a lease that is renewed while the work goes on. The claim of a process that was killed on this host is
taken over at once, that of another host when its lease has run out.
"""

from __future__ import annotations

import os
import platform
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from uuid import uuid4

from schemas.errors import ConflictError, StoreError
from warehouse.ledger.claims import read_claim, release_claim, renew_claim, take_claim
from warehouse.ledger.engine import Ledger

LEASE_S = 90.0


@contextmanager
def claim_work(
    ledger: Ledger, kind: str, name: str, *, what: str, lease_s: float = LEASE_S
) -> Iterator[None]:
    """Hold the work `name` of a kind while the block runs.

    Raises StoreError when another process holds it (`what` says in words what that one is doing), or has taken it over because
    this one could not renew its lease in time.
    """
    holder = uuid4().hex
    _take(ledger, kind, name, holder, what, lease_s)
    ended, lost = threading.Event(), threading.Event()

    def renew() -> None:
        while not ended.wait(lease_s / 3):
            with ledger.write() as connection:
                if not renew_claim(connection, kind, name, holder=holder, lease_s=lease_s):
                    lost.set()
                    return

    thread = threading.Thread(target=renew, name=f"claim-{kind}", daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
        with ledger.write() as connection:
            release_claim(connection, kind, name, holder=holder)
    if lost.is_set():
        raise StoreError(
            f"Another process has taken over {what}: this one did not renew its claim within {lease_s:g} s. What was paid for is kept."
        )


def _take(ledger: Ledger, kind: str, name: str, holder: str, what: str, lease_s: float) -> None:
    try:
        with ledger.write() as connection:
            found = read_claim(connection, kind, name)
            is_free = found is None or found.is_expired or is_dead(found.host, found.process_id)
            if is_free and take_claim(
                connection,
                kind,
                name,
                holder=holder,
                host=platform.node(),
                process_id=os.getpid(),
                lease_s=lease_s,
                instead_of=None if found is None else found.holder,
            ):
                return
    except ConflictError:
        found = None
    where = "Another process" if found is None else f"Process {found.process_id} on {found.host}"
    raise StoreError(f"{where} is {what}. Wait for it, or end it first.")


def is_dead(host: str, process_id: int) -> bool:
    """Whether a process was on this host and is there no more."""
    if host != platform.node():
        return False
    try:
        os.kill(process_id, 0)
    except ProcessLookupError:
        return True
    except PermissionError:
        return False
    return False
