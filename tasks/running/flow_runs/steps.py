"""Flows and their steps: Prefect's own where Prefect runs them, else plain functions.

Importing Prefect takes most of a second of the processor, and what runs without its server needs nothing of it.
"""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Generic, ParamSpec, TypeVar

from tasks.running.faults import hide_content
from warehouse.lake import landing_provenance

if TYPE_CHECKING:
    from prefect import Flow, Task
    from prefect.client.schemas.objects import FlowRun

P = ParamSpec("P")
T = TypeVar("T")


def is_prefect_here() -> bool:
    """Whether this process has imported Prefect: nothing runs under it where it has not."""
    return sys.modules.get("prefect") is not None


def find_flow_run() -> FlowRun | None:
    """The flow run of Prefect's that this is in; null for none."""
    if not is_prefect_here():
        return None
    from prefect.context import FlowRunContext

    context = FlowRunContext.get()
    return None if context is None else context.flow_run


class Step(Generic[P, T]):
    """A task of Prefect's when a flow run of Prefect's calls it, and a plain function otherwise.

    No content passes to Prefect where it breaks (`hide_content`), and what it lands names its flow run in `landings.flow_run_id`, where
    it has one.

    Attributes:
        fn: the function, which never asks for Prefect.
    """

    def __init__(self, function: Callable[P, T], options: dict[str, Any]) -> None:
        functools.update_wrapper(self, function)
        self.fn = hide_content(_sign_landings(function))
        self._options = {"name": function.__name__} | options

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

    def __init__(self, function: Callable[P, T]) -> None:
        self.name = function.__name__
        self.fn = function

    def make_known(self) -> Flow[P, T]:
        """The same flow as Prefect knows it; imports Prefect."""
        return _make_flow(self.fn)


def step(**options: Any) -> Callable[[Callable[P, T]], Step[P, T]]:
    """Make a function a step of flows; the options are those of Prefect's `task`."""
    return lambda function: Step(function, options)


def flow(function: Callable[P, T]) -> Any:
    """Make a function a flow of its name, whose runs stand in the ledger.

    A worker finds a flow of Prefect's under its name, since it has imported Prefect before it imports the flow.
    """
    return _make_flow(function) if is_prefect_here() else PlainFlow(function)


def make_known(found: Any) -> Flow[..., Any]:
    """A flow as Prefect knows it, wherever it was imported."""
    return found.make_known() if isinstance(found, PlainFlow) else found


def _sign_landings(function: Callable[P, T]) -> Callable[P, T]:
    @functools.wraps(function)
    def signed(*arguments: P.args, **named: P.kwargs) -> T:
        run = find_flow_run()
        with landing_provenance(None if run is None else str(run.id)):
            return function(*arguments, **named)

    return signed


def _make_flow(function: Callable[P, T]) -> Flow[P, T]:
    import prefect

    from tasks.running.flow_runs.task import RECORDED, name_run
    from tasks.running.orchestrator import wait_for_server

    wait_for_server()
    made: Flow[P, T] = prefect.flow(name=function.__name__, flow_run_name=name_run, **RECORDED)(function)
    # Afterwards: parameters and their kinds are those of the function itself.
    made.fn = _begin_at_home(function)
    made.serialize_parameters = _leave_plain(made.serialize_parameters)  # type: ignore[assignment, method-assign]
    return made


def _leave_plain(
    serialize: Callable[[dict[str, Any]], dict[str, Any]],
) -> Callable[[dict[str, Any]], dict[str, Any]]:
    """Make JSON of parameters by Prefect only where they are none yet: it imports FastAPI."""

    def serialized(parameters: dict[str, Any]) -> dict[str, Any]:
        return dict(parameters) if _is_plain(parameters) else serialize(parameters)

    return serialized


def _is_plain(value: object) -> bool:
    """Whether a value is of JSON's own kinds throughout."""
    if type(value) is dict:
        return all(type(name) is str and _is_plain(one) for name, one in value.items())
    if type(value) is list:
        return all(map(_is_plain, value))
    return value is None or type(value) in (str, int, float, bool)


def _begin_at_home(function: Callable[P, T]) -> Callable[P, T]:
    from tasks.running.flow_runs.task import check_place

    @functools.wraps(function)
    def begun(*arguments: P.args, **named: P.kwargs) -> T:
        check_place()
        return function(*arguments, **named)

    # Prefect reads what a kind is called where a function was written, and this one was written here.
    begun.__signature__ = inspect.signature(function, eval_str=True)  # type: ignore[attr-defined]
    return begun
