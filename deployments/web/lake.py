"""The lake for the pages: open for reading since first asked, for writing while marks land."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final, Generic, TypeVar

from starlette.exceptions import HTTPException
from starlette.requests import Request

from schemas.errors import StoreError
from schemas.settings import Settings
from tasks.ingest import PaperAsRead, open_paper
from tasks.watching import Sight
from warehouse.lake import Lake, open_lake, open_narrow_lake

# Teams whose lakes are kept open at once; who comes after them waits half a second longer.
_MOST_SIGHTS: Final = 8
K = TypeVar("K")
V = TypeVar("V")


class LakeDoor:
    """A reading connection kept open, one per watching team; no queue or decision waits for it."""

    def __init__(self, settings: Settings) -> None:
        # Whoever asks for a page can wait, and is told to; the server does not.
        self._settings = settings.model_copy(update={"store_wait_s": 0.0})
        self._lock = threading.Lock()
        self._lakes: OrderedDict[Sight, Lake] = OrderedDict()

    def read(self, sight: Sight) -> Lake:
        """The lake for reading, with the rows in sight; raises StoreError where there is none."""
        with self._lock:
            if sight not in self._lakes:
                self._lakes[sight] = (
                    open_lake(self._settings, read_only=True)
                    if sight is None
                    else open_narrow_lake(self._settings, sight)
                )
            self._lakes.move_to_end(sight)
            # Somebody may be reading from one that leaves: it closes when they let go of it.
            while len(self._lakes) > _MOST_SIGHTS:
                self._lakes.popitem(last=False)
            return self._lakes[sight]

    @contextmanager
    def write(self) -> Iterator[Lake]:
        """The lake for one landing."""
        with open_lake(self._settings) as lake:
            yield lake

    def close(self) -> None:
        """Give the connections back."""
        with self._lock:
            while self._lakes:
                self._lakes.popitem()[1].close()


def find_door(request: Request) -> LakeDoor:
    """The lake of this server."""
    door: LakeDoor = request.app.state.lake
    return door


def read_lake(request: Request) -> Lake:
    """The lake for reading, as coordinators see it."""
    return find_door(request).read(sight=None)


def open_asked(request: Request, document_id: str) -> PaperAsRead:
    """The paper that the address names; 404 for none."""
    try:
        paper = open_paper(read_lake(request), document_id)
    except StoreError:
        paper = None
    if paper is None:
        raise HTTPException(404)
    return paper


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
