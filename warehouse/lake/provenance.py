"""Who lands: the version of the code and the flow run, which every row of `landings` names."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, version

_FLOW_RUN_ID: ContextVar[str | None] = ContextVar("flow_run_id", default=None)


@contextmanager
def landing_provenance(flow_run_id: str | None) -> Iterator[None]:
    """Within the block, coroutines too, what lands is landed by this flow run (None: by none)."""
    token = _FLOW_RUN_ID.set(flow_run_id)
    try:
        yield
    finally:
        _FLOW_RUN_ID.reset(token)


def read_flow_run_id() -> str | None:
    """The flow run that is landing; None outside a flow."""
    return _FLOW_RUN_ID.get()


@lru_cache(maxsize=1)
def read_code_version() -> str:
    """Version of Proctor as installed; `unknown` when it never was."""
    try:
        return version("proctor")
    except PackageNotFoundError:
        return "unknown"
