"""What a transaction gathers while it runs, and writes last, before it is committed.

The logs that are chained are written so (`public_log.py`, `chain.py`): their order is the order of the commits. Each says here how
its entries are written; who commits (`ledger.py`, `writer.py`) knows none of them.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Any, Final, Generic, TypeVar

from sqlalchemy import Connection

from warehouse.stores.blocks import block

T = TypeVar("T")

# Where a connection keeps what its transaction has gathered, while one is open that may gather.
_GATHERED: Final = "gathered"

# What was gathered, in its order, each entry with its log.
Gathered = list[tuple["GatheredLog[Any]", Any]]


class GatheredLog(Generic[T]):
    """A log that transactions add entries to.

    Attributes:
        name: what it is called in errors: `the audit log`.
        place: its place among the logs that one transaction writes, the same in every process: each holds its head until the
            commit, and nobody may wait for another in a circle.
    """

    def __init__(self, name: str, place: int, write: Callable[[Connection, list[T]], None]) -> None:
        self.name = name
        self.place = place
        self._write = write

    def add(self, connection: Connection, entry: T) -> None:
        """Write an entry with the open transaction of the ledger, else RuntimeError."""
        gathered: Gathered | None = connection.info.get(_GATHERED)
        if gathered is None:
            raise RuntimeError(f"an entry of {self.name} was written outside a transaction of the ledger")
        gathered.append((self, entry))

    def list_pending(self, connection: Connection) -> list[T]:
        """The entries that wait for the end of the open transaction."""
        return [entry for log, entry in connection.info.get(_GATHERED, ()) if log is self]

    def write_pending(self, connection: Connection) -> None:
        """Write them."""
        self._write(connection, self.list_pending(connection))


@block
def gathering(connection: Connection) -> Generator[Gathered]:
    """A transaction in which logs gather their entries; what leaves the list is not written."""
    # Kept by hand: a connection that was lost gives it no more.
    info = connection.info
    info[_GATHERED] = gathered = Gathered()
    try:
        yield gathered
    finally:
        info.pop(_GATHERED, None)


def is_gathering(connection: Connection) -> bool:
    """Whether a transaction of the ledger that writes is open."""
    return _GATHERED in connection.info


def write_gathered(connection: Connection) -> None:
    """Write what the transaction gathered for each log; the last thing before it is committed."""
    logs = {log for log, _ in connection.info[_GATHERED]}
    for log in sorted(logs, key=lambda log: log.place):
        log.write_pending(connection)
