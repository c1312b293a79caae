"""Flows and their steps: Prefect's own where Prefect runs them, else plain functions.

Importing Prefect takes most of a second of the processor, and what runs without its server needs nothing of it.
"""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Generic, ParamSpec, TypeVar

if TYPE_CHECKING:
    from prefect import Flow, Task

P = ParamSpec("P")
T = TypeVar("T")


def is_prefect_here() -> bool:
    """Whether this process has imported Prefect: nothing runs under it where it has not."""
    return sys.modules.get("prefect") is not None


class Step(Generic[P, T]):
    """A task of Prefect's when a flow run of Prefect's calls it, and a plain function otherwise.

    Attributes:
        fn: the function, which never asks for Prefect.
    """

    def __init__(self, function: Callable[P, T], options: dict[str, Any]) -> None:
        functools.update_wrapper(self, function)
        self.fn = function
        self._options = options

    def __call__(self, *arguments: P.args, **named: P.kwargs) -> T:
        """Do it; Prefect records it in a run of its own."""
        if is_prefect_here():
            from prefect.context import FlowRunContext

            if FlowRunContext.get() is not None:
                return self._task(*arguments, **named)
        return self.fn(*arguments, **named)

    @functools.cached_property
    def _task(self) -> Task[P, T]:
        from prefect import task

        return task(**self._options)(self.fn)


class PlainFlow(Generic[P, T]):
    """A flow in a process without Prefect.

    Attributes:
        name: the flow's name.
        fn: its function.
    """

    def __init__(self, function: Callable[P, T], options: dict[str, Any]) -> None:
        self.name: str = options["name"]
        self.fn = function
        self._options = options

    def make_known(self) -> Flow[P, T]:
        """The same flow as Prefect knows it; imports Prefect."""
        return _make_flow(self.fn, self._options)


def step(**options: Any) -> Callable[[Callable[P, T]], Step[P, T]]:
    """Make a function a step of flows; the options are those of Prefect's `task`."""
    return lambda function: Step(function, options)


def flow(**options: Any) -> Callable[[Callable[P, T]], Any]:
    """Make a function a flow; the options are those of Prefect's decorator of this name.

    A worker finds a flow of Prefect's under its name, since it has imported Prefect before it imports the flow.
    """

    def known(function: Callable[P, T]) -> Any:
        return _make_flow(function, options) if is_prefect_here() else PlainFlow(function, options)

    return known


def make_known(found: Any) -> Flow[..., Any]:
    """A flow as Prefect knows it, wherever it was imported."""
    return found.make_known() if isinstance(found, PlainFlow) else found


def _make_flow(function: Callable[P, T], options: dict[str, Any]) -> Flow[P, T]:
    import prefect

    from tasks.running.orchestrator import wait_for_server

    wait_for_server()
    made: Flow[P, T] = prefect.flow(**options)(function)
    # Afterwards: parameters and their kinds are those of the function itself.
    made.fn = _begin_at_home(function)
    return made


def _begin_at_home(function: Callable[P, T]) -> Callable[P, T]:
    from tasks.running.flow_runs.task import check_place

    @functools.wraps(function)
    def begun(*arguments: P.args, **named: P.kwargs) -> T:
        check_place()
        return function(*arguments, **named)

    # Prefect reads what a kind is called where a function was written, and this one was written here.
    begun.__signature__ = inspect.signature(function, eval_str=True)  # type: ignore[attr-defined]
    return begun
