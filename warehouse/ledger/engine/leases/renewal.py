"""A thread that renews a lease in the ledger as long as the work goes on."""

from __future__ import annotations

import threading
from collections.abc import Callable

from sqlalchemy.exc import SQLAlchemyError

from schemas.errors import ProctorError
from warehouse.ledger.engine.leases.clock import read_tick
from warehouse.stores.away import not_waiting


class Renewal:
    """A thread that renews something every third of a lease.

    A renewal that the ledger refuses is tried again, sooner.

    Args:
        renew: one renewal; false when there is nothing to renew any more, which ends the thread.
        lease_s: seconds that a renewal holds.
    """

    def __init__(self, name: str, renew: Callable[[], bool], lease_s: float) -> None:
        self._renew = renew
        self._lease_s = lease_s
        self._renewed_at = read_tick()
        self._ended = threading.Event()
        self._lost = False
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    @property
    def is_lost(self) -> bool:
        """Whether what was renewed is another's, or may be after a whole lease without renewal."""
        return self._lost or read_tick() - self._renewed_at > self._lease_s

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
                    self._lost = True
                    return
                self._renewed_at, pause_s = begun, self._lease_s / 3
            except (ProctorError, SQLAlchemyError):
                pause_s = self._lease_s / 20
