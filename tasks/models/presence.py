"""That a process makes calls, known to all others: whose call is under way, they wait for."""

from __future__ import annotations

import os
import threading
from uuid import uuid4

from tasks.running.claiming import LEASE_S
from warehouse.ledger.engine.leases.processes import close_lease, name_host, open_lease, renew_lease
from warehouse.ledger.engine.leases.renewal import Renewal
from warehouse.ledger.engine.ledger import Ledger


class Presence:
    """A lease of this process until it is closed; others may send what a closed one left."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._lock = threading.Lock()
        self._holder: str | None = None
        self._renewal: Renewal | None = None

    @property
    def holder(self) -> str:
        """Its name, drawn when it is first asked for."""
        with self._lock:
            if self._holder is None:
                holder = uuid4().hex
                with self._ledger.write() as connection:
                    open_lease(connection, holder, host=name_host(), process_id=os.getpid(), lease_s=LEASE_S)
                self._holder = holder
                self._renewal = Renewal("calls", self._renew, LEASE_S)
            return self._holder

    def close(self) -> None:
        """End it."""
        with self._lock:
            if self._holder is None or self._renewal is None:
                return
            self._renewal.end()
            with self._ledger.write() as connection:
                close_lease(connection, self._holder)
            self._holder = self._renewal = None

    def _renew(self) -> bool:
        # The lock is not taken: who closes holds it while waiting for this thread.
        holder = self._holder
        if holder is not None:
            with self._ledger.write() as connection:
                renew_lease(connection, holder, lease_s=LEASE_S)
        return True
