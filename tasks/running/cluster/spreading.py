"""Work in pieces, in this process or on the workers of a Dask cluster (`PROCTOR_DASK`).

In this process the pieces are done one after the other.

What a piece comes to is the same either way, and so is the order of what comes back: only where it is computed differs. A worker is given
the values that a piece needs and nothing else: no path of ours, no key, no address of a store. What fails there is brought back as a value,
because Dask would write an exception and the arguments of its function into the worker's log.
"""

from __future__ import annotations

import hashlib
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar
from uuid import uuid4

from schemas.errors import StoreError, UsageError

if TYPE_CHECKING:
    from schemas.settings import Settings

T = TypeVar("T")

# How long a cluster may be without a worker before whoever waits for it is told.
PATIENCE_S: Final = 60.0
_POLL_S: Final = 2.0
# Pieces under way for each thread of the workers: one is computed while the next is on its way.
_PER_THREAD: Final = 2
_ROOT = Path(__file__).parents[3]
_PACKAGES = ("schemas", "tasks", "warehouse")


class Sealed:
    """A value on its way to or from a worker.

    Nothing of it is shown in logs and on pages of Dask.
    """

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value

    def __repr__(self) -> str:
        return "<sealed>"

    def __reduce__(self) -> tuple[Any, ...]:
        return Sealed, (self.value,)


class Cluster:
    """A connection to a Dask cluster; made by `open_cluster`."""

    def __init__(self, client: Any, address: str, patience_s: float = PATIENCE_S) -> None:
        self._client = client
        self._address = address
        self._patience_s = patience_s

    def count_threads(self) -> int:
        """Threads of all workers; raises StoreError when there is none for too long."""
        give_up_at = time.monotonic() + self._patience_s
        while True:
            threads = sum(self._client.nthreads().values())
            if threads:
                return int(threads)
            if time.monotonic() > give_up_at:
                raise self._explain_lack()
            time.sleep(min(_POLL_S, self._patience_s / 4))

    def compute(self, function: Callable[..., T], *values: Any) -> T:
        """The result of `function` on some worker; raises what `function` raises.

        It may be called from several threads.
        """
        return self._fetch(self._submit(function, values))  # type: ignore[no-any-return]

    def spread(self, function: Callable[..., T], pieces: Iterable[tuple[Any, ...]]) -> Iterator[T]:
        """The result of `function` for each piece, in their order.

        As many pieces are under way as the workers can use.
        """
        most = self.count_threads() * _PER_THREAD
        under_way: deque[Any] = deque()
        try:
            for piece in pieces:
                under_way.append(self._submit(function, piece))
                if len(under_way) >= most:
                    yield self._fetch(under_way.popleft())
            while under_way:
                yield self._fetch(under_way.popleft())
        finally:
            for future in under_way:
                future.cancel()

    def _submit(self, function: Callable[..., Any], values: tuple[Any, ...]) -> Any:
        # A name of its own for each: nothing of a piece is in it, and equal pieces are not taken for one.
        return self._client.submit(
            run_piece, Sealed((describe_code(), function, values)), key=f"piece-{uuid4().hex}", pure=False
        )

    def _fetch(self, future: Any) -> Any:
        """Wait for a piece as long as there is a worker that could compute it."""
        from distributed import TimeoutError as LateError

        lonely_since: float | None = None
        while True:
            try:
                how, value = future.result(timeout=_POLL_S).value
                break
            except LateError:
                now = time.monotonic()
                lonely_since = None if self._client.nthreads() else lonely_since or now
                if lonely_since is not None and now - lonely_since > self._patience_s:
                    raise self._explain_lack() from None
            except Exception as error:
                # A worker that cannot even read the piece, one that died of it several times, a scheduler that is gone.
                raise StoreError(
                    f"The Dask cluster at {self._address} could not compute a piece of the work ({type(error).__name__}). Are its workers "
                    "of this version of Proctor, with memory enough? Nothing is lost: start them again, then run the command again."
                ) from None
        if how == "done":
            return value
        if how == "other code":
            raise UsageError(
                f"A worker of the Dask cluster at {self._address} runs other code than this process ({value}; here {describe_code()}). Start "
                "scheduler and workers again from this version of Proctor."
            )
        raise value

    def _explain_lack(self) -> StoreError:
        return StoreError(
            f"The Dask cluster at {self._address} has had no worker for {self._patience_s:g} s. Start one (`dask worker {self._address}`), or "
            "leave PROCTOR_DASK empty; then run the command again. Nothing is lost."
        )


_CLUSTER: ContextVar[Cluster | None] = ContextVar("cluster", default=None)


@contextmanager
def open_cluster(settings: Settings, *, patience_s: float = PATIENCE_S) -> Iterator[Cluster | None]:
    """Within the block, pieces are computed on the cluster that the settings name.

    Where they name none, this process computes the pieces.

    Raises UsageError when Dask is not installed, StoreError when no scheduler answers.
    """
    address = settings.dask
    if not address:
        yield None
        return
    client = connect(address, patience_s=min(patience_s, 30.0))
    cluster = Cluster(client, address, patience_s)
    token = _CLUSTER.set(cluster)
    try:
        yield cluster
    finally:
        _CLUSTER.reset(token)
        client.close()


def connect(address: str, *, patience_s: float) -> Any:
    """A client of the scheduler at that address.

    With `tls://`, certificates are those of Dask's own settings.
    """
    try:
        import dask
        from distributed import Client
    except ImportError:
        raise UsageError(
            f"PROCTOR_DASK names a cluster ({address}), but Dask is not installed. Install Proctor with its group `cluster` "
            "(pip install 'proctor[cluster]'), or leave PROCTOR_DASK empty."
        ) from None
    # A piece carries its values: they are meant to be large.
    dask.config.set({"distributed.admin.large-graph-warning-threshold": "1GB"})
    try:
        return Client(address, timeout=patience_s, set_as_default=False)
    except (OSError, ValueError, RuntimeError) as error:
        raise StoreError(
            f"No Dask scheduler answers at {address} ({type(error).__name__}). Start it (`dask scheduler`), or leave PROCTOR_DASK empty; then run the "
            "command again."
        ) from None


def find_cluster() -> Cluster | None:
    """The cluster of the block that this is called in; null where pieces are computed here."""
    return _CLUSTER.get()


def spread(function: Callable[..., T], pieces: Iterable[tuple[Any, ...]]) -> Iterator[T]:
    """The result of `function` for each piece (its arguments), in their order.

    The pieces are computed on the cluster where one is open.

    `function` is one of a module: it must follow from its arguments alone.
    """
    cluster = find_cluster()
    if cluster is not None:
        yield from cluster.spread(function, pieces)
        return
    for piece in pieces:
        yield function(*piece)


def run_piece(piece: Sealed) -> Sealed:
    """On a worker: compute a piece. Nothing is raised.

    What failed is a value, for the process that asked.
    """
    code, function, values = piece.value
    if code != describe_code():
        return Sealed(("other code", describe_code()))
    try:
        return Sealed(("done", function(*values)))
    except Exception as error:
        return Sealed(("failed", _make_plain(error)))


def _make_plain(error: Exception) -> Exception:
    """An error that can travel: without its traceback, and named where it is no plain one."""
    import pickle

    error.__traceback__ = error.__cause__ = error.__context__ = None
    try:
        pickle.loads(pickle.dumps(error))  # noqa: S301 - what was pickled here
    except Exception:
        return StoreError(f"A piece of the work failed on a worker ({type(error).__name__}).")
    return error


@cache
def describe_code() -> str:
    """What tells two checkouts of Proctor apart.

    It is the beginning of a hash over the modules that pieces can be of.
    """
    digest = hashlib.sha256()
    for package in _PACKAGES:
        for path in sorted((_ROOT / package).rglob("*.py")):
            digest.update(path.relative_to(_ROOT).as_posix().encode())
            digest.update(path.read_bytes())
    return digest.hexdigest()[:12]
