"""A few values kept in memory, the least recently used leaving first."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from typing import Generic, TypeVar

K = TypeVar("K")
V = TypeVar("V")


class Kept(Generic[K, V]):
    """At most `most` values, each for at most `seconds`; safe for threads."""

    def __init__(self, most: int, seconds: float = 3600.0) -> None:
        self._most = most
        self._seconds = seconds
        self._lock = threading.Lock()
        self._values: OrderedDict[K, tuple[float, V]] = OrderedDict()

    def get(self, key: K) -> V | None:
        """The value, or null."""
        with self._lock:
            found = self._values.get(key)
            if found is None or time.monotonic() - found[0] > self._seconds:
                self._values.pop(key, None)
                return None
            self._values.move_to_end(key)
            return found[1]

    def put(self, key: K, value: V) -> None:
        """Keep a value from now on."""
        with self._lock:
            self._values[key] = (time.monotonic(), value)
            self._values.move_to_end(key)
            while len(self._values) > self._most:
                self._values.popitem(last=False)

    def drop(self, key: K) -> None:
        """Forget a value."""
        with self._lock:
            self._values.pop(key, None)
