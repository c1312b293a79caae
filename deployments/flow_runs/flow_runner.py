"""Run a flow of ours from a command: on a Prefect server, or as plain Python without one."""

from __future__ import annotations

import importlib
import os
import sys
from typing import TYPE_CHECKING, Any

from deployments.command_line.printing import print_note
from deployments.flow_runs.server import (
    PrefectServer,
    build_environment,
    create_prefect_home,
    read_state,
    start_server,
)
from deployments.home import check_host
from schemas.errors import FlowError, ProctorError
from schemas.settings import Settings, load_settings

if TYPE_CHECKING:
    from httpx import HTTPStatusError
    from prefect import Flow

DRAIN_TIMEOUT_S = 10.0
# A password that the server does not take, and an address at which there is no Prefect.
_REFUSED = (401, 403, 404)


def run_flow(
    name: str, *, without_server: bool = False, must_succeed: bool = False, **parameters: Any
) -> Any:
    """Run `flows/<name>.py` in this process and return what it returns (ids and counts).

    Uses the server named by PREFECT_API_URL, or this home's own, which is started where it does not run and stays. With
    `without_server`, or the setting of that name, the flow runs as plain Python and Prefect's API is never called.
    A flow in which nothing succeeded has Failed; what it counted is returned all the same, or raised (FlowError) where it
    `must_succeed`. Any other ProctorError raised inside the flow is raised again as it is, and raised where the server refuses us.
    """
    from tasks.running.flow_runs import run_plainly
    from warehouse.lake import share_lake

    check_host(load_settings())
    try:
        with share_lake():
            if without_server or load_settings().no_server:
                return run_plainly(_import_flow(name), parameters)
            return load_flow(name)(**parameters)
    except FlowError as error:
        if must_succeed:
            raise
        print_note(str(error))
        return error.result
    except ProctorError:
        raise
    except Exception as error:
        cause = _find_cause(error)
        if cause is None:
            raise
        raise cause from None


def load_flow(name: str) -> Flow[..., Any]:
    """Import a flow with Prefect's environment set first: Prefect reads it once, on import."""
    prepare_prefect()
    import prefect  # noqa: F401 - a flow is Prefect's where Prefect was imported before it

    from tasks.running.flow_runs import make_known

    return make_known(_import_flow(name))


def prepare_prefect() -> None:
    """Set Prefect's environment for this process, once, with a server that answers."""
    if "prefect" in sys.modules and "PREFECT_API_URL" in os.environ:
        return
    settings = load_settings()
    if os.environ.get("PREFECT_API_URL"):
        create_prefect_home(settings)
        variables = build_environment(settings, None)
        # The person's own server comes with the person's own profile.
        for variable in ("PREFECT_HOME", "PREFECT_PROFILES_PATH"):
            del variables[variable]
    else:
        variables = build_environment(settings, _find_server(settings))
    os.environ.update(variables)


def explain_answer(error: HTTPStatusError) -> ProctorError:
    """A Prefect server that answers, and does not do what its client asks of it, in a sentence."""
    shown = PrefectServer(str(error.request.url)).shown
    return ProctorError(
        f"The Prefect server answered {error.response.status_code} at {shown}. Check PREFECT_API_URL, its address, and that "
        "PREFECT_API_AUTH_STRING is its password."
    )


def send_what_is_left() -> None:
    """Wait until Prefect has the lines and events of this process.

    This is called before the server that they go to is stopped.

    At its end a process tries to send them for more than a minute to a server that is no longer there.
    """
    if "prefect" not in sys.modules:
        return
    from prefect.events.worker import EventsWorker
    from prefect.logging.handlers import APILogWorker

    for worker in (APILogWorker, EventsWorker):
        worker.drain_all(timeout=DRAIN_TIMEOUT_S)


def _find_server(settings: Settings) -> Any:
    """The server of this home; started, and left running, where there is none."""
    state = read_state(settings)
    if state is None:
        print_note(
            "Starting a Prefect server for this home (20 s on a quiet machine, up to a minute on a busy one). It stays for the commands that follow; "
            "`proctor down` stops it."
        )
    return start_server(settings, with_worker=False)


def _import_flow(name: str) -> Any:
    return getattr(importlib.import_module(f"flows.{name}"), name)


def _find_cause(error: BaseException) -> ProctorError | None:
    """What of ours is behind an error, or a Prefect server that refuses; None for neither."""
    # Without a server nothing has imported it, and what a flow asks of models is no call of Prefect's.
    prefect = sys.modules.get("prefect.exceptions")
    seen: BaseException | None = error
    while seen is not None:
        if isinstance(seen, ProctorError):
            return seen
        if (
            prefect
            and isinstance(seen, prefect.PrefectHTTPStatusError)
            and seen.response.status_code in _REFUSED
        ):
            return explain_answer(seen)
        seen = seen.__cause__ or seen.__context__
    return None
