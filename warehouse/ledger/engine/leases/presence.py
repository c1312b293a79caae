"""That a process is at work: what it holds is left to it as long as it renews its lease."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Final, Self
from uuid import uuid4

from sqlalchemy.exc import SQLAlchemyError

from schemas.errors import ProctorError
from warehouse.ledger.engine.leases.clock import read_tick
from warehouse.ledger.engine.leases.processes import close_lease, name_host, open_lease, renew_lease
from warehouse.stores.away import not_waiting

if TYPE_CHECKING:
    from warehouse.ledger.engine.ledger import Ledger

# Seconds that a process is taken to be at work after it has said so.
LEASE_S: Final = 90.0


class Presence:
    """What this process holds calls and jobs by. A context manager.

    At its end they are anybody's. A lease that was not renewed in time, and that another process has ended, is followed by one of another name.
    """

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._lock = threading.Lock()
        self._holder = ""
        self._is_closed = False
        self._renewal: Renewal | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def holder(self) -> str:
        """Its name, drawn when it is first asked for."""
        with self._lock:
            if not self._is_closed and (self._renewal is None or self._renewal.is_over):
                holder = uuid4().hex
                with self._ledger.write() as connection:
                    open_lease(connection, holder, host=name_host(), process_id=os.getpid(), lease_s=LEASE_S)
                self._renewal = Renewal("lease", partial(self._renew, holder), LEASE_S)
                self._holder = holder
            return self._holder

    def has(self, holder: str | None) -> bool:
        """Whether what is held by that name is still ours for certain."""
        return holder == self._holder and self._renewal is not None and not self._renewal.is_lost

    def close(self) -> None:
        """End it; who comes late finds the name under which nothing is held any more."""
        with self._lock:
            self._is_closed = True
            if self._renewal is None:
                return
            self._renewal.end()
            with self._ledger.write() as connection:
                close_lease(connection, self._holder)
            self._renewal = None

    def _renew(self, holder: str) -> bool:
        with self._ledger.write() as connection:
            return renew_lease(connection, holder, lease_s=LEASE_S)


class Renewal:
    """A thread that renews something every third of a lease.

    A renewal that the ledger refuses is tried again, sooner.

    Args:
        renew: one renewal; false when there is nothing to renew any more, which ends the thread.
        lease_s: seconds that a renewal holds.

    Attributes:
        is_over: whether there was nothing to renew any more.
    """

    def __init__(self, name: str, renew: Callable[[], bool], lease_s: float) -> None:
        self.is_over = False
        self._renew = renew
        self._lease_s = lease_s
        self._renewed_at = read_tick()
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    @property
    def is_lost(self) -> bool:
        """Whether what was renewed is another's, or may be after a whole lease without renewal."""
        return self.is_over or read_tick() - self._renewed_at > self._lease_s

    def end(self) -> None:
        """Stop renewing; returns when the thread has ended."""
        self._ended.set()
        self._thread.join()

    def _run(self) -> None:
        pause_s = self._lease_s / 3
        while not self._ended.wait(pause_s):
            begun = read_tick()
            try:
                # Whoever ends the work must not have to wait for this thread.
                with not_waiting():
                    is_held = self._renew()
                if not is_held:
                    self.is_over = True
                    return
                self._renewed_at, pause_s = begun, self._lease_s / 3
            except (ProctorError, SQLAlchemyError):
                pause_s = self._lease_s / 20
