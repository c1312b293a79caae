"""The right to write to a lake whose catalog is a SQLite file: one writer at a time."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from schemas.errors import StoreError
from schemas.settings import Settings
from warehouse.lake.attach import catalog_path, is_postgres

LOCK_TIMEOUT_S = 120.0


@contextmanager
def hold_writer_lock(settings: Settings, timeout_s: float = LOCK_TIMEOUT_S) -> Iterator[None]:
    """Hold the right to write to a lake with a SQLite catalog; with PostgreSQL there is nothing to hold.

    The operating system gives it back when its holder dies. Raises StoreError after `timeout_s`.
    """
    catalog = settings.catalog_address
    if is_postgres(catalog):
        yield
        return
    from filelock import FileLock, Timeout

    path = catalog_path(catalog).with_suffix(".lock")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        lock = FileLock(path)
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
    try:
        yield
    finally:
        lock.release()
