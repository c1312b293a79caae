"""Blocks that hold something: a transaction, a lock, a setting of a connection."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, contextmanager
from functools import wraps
from types import TracebackType
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


def block(function: Callable[P, Generator[T]]) -> Callable[P, AbstractContextManager[T]]:
    """`contextlib.contextmanager` for what holds something, which a Ctrl-C never leaves held.

    One that comes when the generator has taken hold, and the block has not begun or has ended, lets go at once. The library leaves the
    generator to whoever lets go of the traceback last, and until then what ends the work waits for itself.
    """

    @wraps(function)
    def begin(*args: P.args, **kwargs: P.kwargs) -> AbstractContextManager[T]:
        return _Block(function(*args, **kwargs))

    return begin


class _Block(AbstractContextManager[T]):
    def __init__(self, generator: Generator[T]) -> None:
        self._generator = generator
        self._library = contextmanager(lambda: generator)()

    def __enter__(self) -> T:
        try:
            return self._library.__enter__()
        except BaseException:
            self._generator.close()
            raise

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool | None:
        try:
            return self._library.__exit__(kind, error, trace)
        finally:
            self._generator.close()
