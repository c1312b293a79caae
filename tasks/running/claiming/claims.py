"""A claim in the ledger on a piece of work that would be paid for twice.

One process of an installation at a time holds it.

A claim is held by a lease that is renewed while the work goes on. The claim of a process that was killed on this host is
taken over at once, that of another host when its lease has run out.
"""

from __future__ import annotations

import os
import platform
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from functools import cache
from pathlib import Path
from types import TracebackType
from typing import Self
from uuid import uuid4

from schemas.errors import StoreError
from warehouse.ledger.engine.leases.claims import (
    Claim,
    list_claims,
    read_claim,
    release_claim,
    renew_claim,
    renew_claims,
    take_free,
)
from warehouse.ledger.engine.leases.renewal import Renewal
from warehouse.ledger.engine.ledger import Ledger
from warehouse.ledger.engine.writer import Operation, name_claim_row

LEASE_S = 90.0
# How often who waits for a piece of work asks again.
POLL_S = 0.5
# Inode of the name space of processes that every Linux begins with (PROC_PID_INIT_INO).
_FIRST_SPACE = 0xEFFFFFFC


@contextmanager
def claim_work(
    ledger: Ledger, kind: str, name: str, *, what: str, lease_s: float = LEASE_S, wait_s: float = 0.0
) -> Iterator[None]:
    """Hold the work `name` of a kind while the block runs.

    It waits up to `wait_s` for another holder first.

    Raises StoreError when another process holds it (`what` says in words what that one is doing), or has taken it over because
    this one could not renew its lease in time.
    """
    holder = uuid4().hex
    _wait_for(ledger, kind, name, holder, what, lease_s, wait_s)
    with _renewed(ledger, kind, name, holder, lease_s) as renewal:
        yield
    if renewal.is_lost:
        raise StoreError(
            f"Another process has taken over {what}: this one did not renew its claim within {lease_s:g} s. What was paid for is kept."
        )


@contextmanager
def hold_if_free(ledger: Ledger, kind: str, name: str, *, lease_s: float = LEASE_S) -> Iterator[bool]:
    """Hold the work while the block runs, unless a living process holds it already.

    Gives whether it was taken.
    """
    holder = uuid4().hex
    with ledger.write() as connection:
        is_ours = _take(kind, name, holder, lease_s)(connection) is None
    with _renewed(ledger, kind, name, holder, lease_s) if is_ours else nullcontext():
        yield is_ours


@contextmanager
def hold_if_orphaned(ledger: Ledger, kind: str, name: str, *, lease_s: float = LEASE_S) -> Iterator[bool]:
    """Wait until the work is let go of, or take it over from a holder that is gone.

    Where the holder is gone without a word, the work is taken over while the block runs.

    Gives whether it was taken over. What nobody holds was let go of before.
    """
    while True:
        with ledger.read() as connection:
            found = read_claim(connection, kind, name)
        if found is None:
            yield False
            return
        if found.is_expired or is_dead(found.host, found.process_id):
            with hold_if_free(ledger, kind, name, lease_s=lease_s) as is_ours:
                if is_ours:
                    yield True
                    return
        time.sleep(POLL_S)


@contextmanager
def _renewed(ledger: Ledger, kind: str, name: str, holder: str, lease_s: float) -> Iterator[Renewal]:
    """Renew a claim that was taken as long as the block runs, then let go of it."""

    def renew() -> bool:
        with ledger.write() as connection:
            return renew_claim(connection, kind, name, holder=holder, lease_s=lease_s)

    renewal = Renewal(f"claim-{kind}", renew, lease_s)
    try:
        yield renewal
    finally:
        renewal.end()
        with ledger.write() as connection:
            release_claim(connection, kind, name, holder=holder)


def _wait_for(
    ledger: Ledger, kind: str, name: str, holder: str, what: str, lease_s: float, wait_s: float
) -> None:
    give_up_at = time.monotonic() + wait_s
    while True:
        with ledger.write() as connection:
            found = _take(kind, name, holder, lease_s)(connection)
        if found is None:
            return
        if time.monotonic() >= give_up_at:
            raise StoreError(
                f"Process {found.process_id} on {found.host} is {what}. Wait for it, or end it first."
            )
        time.sleep(min(POLL_S, max(0.01, give_up_at - time.monotonic())))


def _take(kind: str, name: str, holder: str, lease_s: float) -> Operation[Claim | None]:
    """The operation that takes the work where no living process holds it.

    Otherwise the operation returns who holds the work.
    """
    return lambda connection: take_free(
        connection,
        kind,
        name,
        holder=holder,
        host=name_host(),
        process_id=os.getpid(),
        lease_s=lease_s,
        is_dead=is_dead,
    )


class SharedWork:
    """Pieces of work of one kind that several processes share.

    Each piece is one process's at a time.

    An async context manager; whatever is still held at its end is let go of.
    """

    def __init__(self, ledger: Ledger, kind: str, *, lease_s: float = LEASE_S) -> None:
        self._ledger = ledger
        self._kind = kind
        self._lease_s = lease_s
        self._holder = uuid4().hex
        self._held: set[str] = set()
        self._lock = threading.Lock()
        self._renewal = Renewal(f"claims-{kind}", self._renew, lease_s)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, _type: type[BaseException] | None, _value: BaseException | None, _trace: TracebackType | None
    ) -> None:
        self._renewal.end()
        for name in sorted(self._held):
            await self.release(name)

    async def take(self, name: str) -> bool:
        """Claim a piece; false when a living process has it."""
        found = await self._ledger.writer.run_async(
            _take(self._kind, name, self._holder, self._lease_s),
            name_claim_row(self._kind, name),
        )
        if found is None:
            with self._lock:
                self._held.add(name)
        return found is None

    async def find_free(self, names: Sequence[str]) -> set[str]:
        """Those of the pieces that no other living process has at this moment.

        This takes one look at the ledger.
        """
        claims = await self._ledger.writer.run_async(lambda connection: list_claims(connection, self._kind))
        held = {
            name
            for name, claim in claims.items()
            if claim.holder != self._holder
            and not claim.is_expired
            and not is_dead(claim.host, claim.process_id)
        }
        return set(names) - held

    def holds(self, name: str) -> bool:
        """Whether a piece is still ours.

        A process that was stopped for a whole lease may have lost it.
        """
        return name in self._held and not self._renewal.is_lost

    async def release(self, name: str) -> None:
        """Let go of a piece."""
        with self._lock:
            self._held.discard(name)
        await self._ledger.writer.run_async(
            lambda connection: release_claim(connection, self._kind, name, holder=self._holder),
            name_claim_row(self._kind, name),
        )

    def _renew(self) -> bool:
        with self._lock:
            before = set(self._held)
        if before:
            with self._ledger.write() as connection:
                kept = renew_claims(connection, holder=self._holder, lease_s=self._lease_s)
            with self._lock:
                self._held -= before - {name for _, name in kept}
        return True


class HeldPieces:
    """Pieces of work of one kind that several processes share, as in SharedWork.

    This is for code that does not wait in a loop of events.

    A context manager; several pieces are taken in one transaction, and whatever is still held at its end is let go of.
    """

    def __init__(self, ledger: Ledger, kind: str, *, lease_s: float = LEASE_S) -> None:
        self._ledger = ledger
        self._kind = kind
        self._lease_s = lease_s
        self._holder = uuid4().hex
        self._held: set[str] = set()
        self._lock = threading.Lock()
        self._renewal = Renewal(f"claims-{kind}", self._renew, lease_s)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, _type: type[BaseException] | None, _value: BaseException | None, _trace: TracebackType | None
    ) -> None:
        self._renewal.end()
        self.release(sorted(self._held))

    def take(self, names: Sequence[str]) -> set[str]:
        """Claim pieces; gives those that no other living process has."""
        with self._ledger.write() as connection:
            taken = {
                name
                for name in names
                if _take(self._kind, name, self._holder, self._lease_s)(connection) is None
            }
        with self._lock:
            self._held |= taken
        return taken

    def release(self, names: Sequence[str]) -> None:
        """Let go of pieces."""
        if not names:
            return
        with self._lock:
            self._held -= set(names)
        with self._ledger.write() as connection:
            for name in names:
                release_claim(connection, self._kind, name, holder=self._holder)

    def _renew(self) -> bool:
        with self._lock:
            has_any = bool(self._held)
        if has_any:
            with self._ledger.write() as connection:
                renew_claims(connection, holder=self._holder, lease_s=self._lease_s)
        return True


@cache
def name_host() -> str:
    """The name of this host; in a container, with the number of its processes' own name space.

    A process can be looked for only where its number means the same: two containers may have one name.
    """
    with suppress(OSError):
        space = Path("/proc/self/ns/pid").stat().st_ino
        if space != _FIRST_SPACE:
            return f"{platform.node()}/{space}"
    return platform.node()


def is_dead(host: str, process_id: int) -> bool:
    """Whether a process was on this host and is there no more."""
    if host != name_host():
        return False
    try:
        os.kill(process_id, 0)
    except ProcessLookupError:
        return True
    except PermissionError:
        return False
    return False
