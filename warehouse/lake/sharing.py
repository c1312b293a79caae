"""Attach the lake once for a whole piece of work, instead of once for each of its steps.

Attaching costs a tenth of a CPU second and more: extensions are loaded and the catalog is read. Within `share_lake`, the
first opening attaches, and every other one takes a connection of its own to the same DuckDB, with its own transactions.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from threading import RLock
from typing import NamedTuple

from schemas.settings import Settings
from warehouse.lake.attach import ALIAS
from warehouse.lake.duck import duckdb
from warehouse.stores.blocks import block


class _Lake(NamedTuple):
    """Which lake, attached by which process: a child must not use what its parent opened."""

    pid: int
    home: str
    catalog: str
    data: str


@dataclass
class _Shared:
    depth: int = 0
    connections: dict[_Lake, duckdb.DuckDBPyConnection] = field(default_factory=dict)
    lock: RLock = field(default_factory=RLock)


_SHARED = _Shared()


@block
def share_lake() -> Generator[None]:
    """Within the block this process attaches each lake once; blocks nest, threads share."""
    with _SHARED.lock:
        _SHARED.depth += 1
    try:
        yield
    finally:
        with _SHARED.lock:
            _SHARED.depth -= 1
            if _SHARED.depth == 0:
                while _SHARED.connections:
                    lake, connection = _SHARED.connections.popitem()
                    if lake.pid == os.getpid():
                        connection.close()


def is_shared() -> bool:
    """Whether a lake that is opened now is to be shared."""
    return _SHARED.depth > 0


def connect_shared(
    settings: Settings, attach: Callable[[], duckdb.DuckDBPyConnection]
) -> duckdb.DuckDBPyConnection:
    """A connection of its own to the shared DuckDB, which `attach` makes first."""
    lake = _Lake(os.getpid(), str(settings.home.resolve()), settings.catalog_address, settings.data_address)
    with _SHARED.lock:
        if lake not in _SHARED.connections:
            _SHARED.connections[lake] = attach()
        connection = _SHARED.connections[lake].cursor()
    # What belongs to a connection and not to the database.
    connection.execute("SET TimeZone = 'UTC'")
    connection.execute("SET enable_progress_bar = false")
    connection.execute(f"USE {ALIAS}")
    return connection
