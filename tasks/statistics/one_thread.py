"""Matrix products on one thread."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from threadpoolctl import threadpool_limits


@contextmanager
def on_one_thread() -> Iterator[None]:
    """Matrix products of the block, or of a function it decorates, run on one thread.

    Ours are small, so that threads wait for each other longer than they compute; and sums are added in one order whatever
    cores a machine has. NumPy must have been loaded.
    """
    with threadpool_limits(1, user_api="blas"):
        yield
