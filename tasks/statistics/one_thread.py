"""Matrix products on one thread."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from threadpoolctl import threadpool_limits


@contextmanager
def on_one_thread() -> Iterator[None]:
    """Small matrix products on one thread: no waiting, and sums in one order on any machine."""
    with threadpool_limits(1, user_api="blas"):
        yield
