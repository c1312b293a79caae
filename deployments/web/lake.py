"""The lake as the web pages need it.

It is opened when a page first asks, for reading; for landing marks it is open only while they land.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from schemas.settings import Settings
from warehouse.lake import Lake, open_lake


class LakeDoor:
    """One connection for reading, kept open.

    Queues and decisions never use it, so that they wait for no lake.
    """

    def __init__(self, settings: Settings) -> None:
        # Whoever asks for a page can wait, and is told to; the server does not.
        self._settings = settings.model_copy(update={"store_wait_s": 0.0})
        self._lock = threading.Lock()
        self._lake: Lake | None = None

    def read(self) -> Lake:
        """The lake, opened for reading only; raises StoreError where there is none."""
        with self._lock:
            if self._lake is None:
                self._lake = open_lake(self._settings, read_only=True)
            return self._lake

    @contextmanager
    def write(self) -> Iterator[Lake]:
        """The lake for one landing."""
        with open_lake(self._settings) as lake:
            yield lake

    def close(self) -> None:
        """Give the connection back."""
        with self._lock:
            if self._lake is not None:
                self._lake.close()
                self._lake = None
