"""The right to write to a lake: one writer with SQLite's catalog, one of a unit elsewhere.

Rights of units, of merging and of all come first, and then the lake's own lock (`Lake.exclusive`, `Lake.transaction`): two threads that
took them the other way round would wait for each other.
"""

from __future__ import annotations

import zlib
from collections.abc import Generator, Iterable
from contextlib import closing

from schemas.errors import StoreAway, StoreError
from schemas.settings import Settings
from warehouse.lake.attach import catalog_path, is_postgres
from warehouse.stores.away import CATALOG, CONNECT_TIMEOUT_S, is_postgresql_away, quote_refusal
from warehouse.stores.blocks import block

LOCK_TIMEOUT_S = 120.0

# Units share so many locks: a large landing takes them all, two small ones rarely meet.
_STRIPES = 32
# The first half of every advisory lock of ours: others may use the same database.
_CLASS = zlib.crc32(b"proctor lake unit") >> 1


@block
def hold_writer_lock(settings: Settings, timeout_s: float = LOCK_TIMEOUT_S) -> Generator[None]:
    """Hold the right to write to a lake with a SQLite catalog; StoreError after the time."""
    catalog = settings.catalog_address
    if is_postgres(catalog):
        yield
        return
    from filelock import FileLock, Timeout

    path = catalog_path(catalog).with_suffix(".lock")
    lock = FileLock(path)
    try:
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            lock.acquire(timeout=timeout_s, poll_interval=0.005)
        except Timeout:
            raise StoreError(
                f"Another process has been writing to the lake for {timeout_s:g} s (lock {path}). Wait for it, or end it; "
                "then run again."
            ) from None
        except OSError as error:
            raise StoreError(
                f"The lake's folder {path.parent} cannot be written ({type(error).__name__}). Check PROCTOR_HOME and its "
                "permissions."
            ) from None
        yield
    finally:
        # A Ctrl-C may come while it is taken, and before it is given back: what is not held is given back for nothing.
        try:
            lock.release(force=True)
        finally:
            lock.release(force=True)


@block
def hold_units(
    settings: Settings, names: Iterable[str], timeout_s: float = LOCK_TIMEOUT_S
) -> Generator[None]:
    """Hold the right to write these units of a lake with its catalog in PostgreSQL.

    In SQLite every writer is alone anyway. Two processes that landed one unit at once would both find nothing to
    replace, and its rows would be there twice. The server gives the right back when its holder dies. Raises StoreError
    after `timeout_s`.
    """
    stripes = sorted({zlib.crc32(name.encode()) % _STRIPES for name in names})
    with _hold(settings, stripes, timeout_s):
        yield


@block
def hold_merge(settings: Settings, timeout_s: float = LOCK_TIMEOUT_S) -> Generator[None]:
    """Hold the right to merge files, beside landings and other merges; else as `hold_units`."""
    with _hold(settings, [_STRIPES], timeout_s, is_shared=True):
        yield


@block
def hold_all(settings: Settings, timeout_s: float = LOCK_TIMEOUT_S) -> Generator[None]:
    """Hold every right to write, so that files no snapshot names are nobody's at work."""
    with _hold(settings, range(_STRIPES + 1), timeout_s):
        yield


@block
def _hold(
    settings: Settings, stripes: Iterable[int], timeout_s: float, *, is_shared: bool = False
) -> Generator[None]:
    catalog = settings.catalog_address
    if not is_postgres(catalog):
        yield
        return
    import psycopg

    lock = f"SELECT pg_advisory_lock{'_shared' if is_shared else ''}(%s, %s)"
    try:
        connection = psycopg.connect(
            catalog.removeprefix("postgres:"), autocommit=True, connect_timeout=CONNECT_TIMEOUT_S
        )
    except psycopg.Error as error:
        if is_postgresql_away(error):
            raise StoreAway(
                CATALOG, "The lake's catalog in PostgreSQL does not answer; nothing was written."
            ) from None
        raise StoreError(
            f"The lake's catalog in PostgreSQL cannot be opened ({quote_refusal(error)}). Check PROCTOR_LAKE_CATALOG and that "
            "the server runs."
        ) from None
    with closing(connection):
        try:
            connection.execute(f"SET lock_timeout = {int(timeout_s * 1000)}".encode())
            # In one order, the same in every process: no two wait for each other.
            for stripe in stripes:
                connection.execute(lock.encode(), (_CLASS, stripe))
        except psycopg.Error as error:
            if is_postgresql_away(error):
                raise StoreAway(
                    CATALOG, "The lake's catalog in PostgreSQL went away; nothing was written."
                ) from None
            raise StoreError(
                f"Another process has been writing the same units for {timeout_s:g} s ({type(error).__name__}). Wait for it, or "
                "end it; then run again."
            ) from None
        yield
