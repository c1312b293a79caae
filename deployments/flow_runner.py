"""Run a flow of ours from a command, on the local server if there is one."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Callable
from typing import Any

from deployments.local_server import build_environment, create_prefect_home, read_state
from deployments.output import print_note
from schemas.errors import ProctorError
from schemas.settings import load_settings


def run_flow(name: str, **parameters: Any) -> Any:
    """Run `flows/<name>.py` in this process and return what it returns (ids and counts).

    Uses the server that `proctor up` started, or the one named by PREFECT_API_URL; without either, Prefect starts an
    ephemeral one, and the command says so. A ProctorError raised inside the flow is raised again as it is.
    """
    flow = load_flow(name)
    try:
        return flow(**parameters)
    except ProctorError:
        raise
    except Exception as error:
        cause = _find_cause(error)
        if cause is not None:
            raise cause from None
        if isinstance(error, RuntimeError) and "Prefect API server" in str(error):
            raise ProctorError(
                "The Prefect server of this command did not start in time, and nothing was done. Start one that stays "
                "with `proctor up`, then run the command again."
            ) from None
        raise


def load_flow(name: str) -> Callable[..., Any]:
    """Import a flow with Prefect's environment set first: Prefect reads it once, on import."""
    prepare_prefect()
    return getattr(importlib.import_module(f"flows.{name}"), name)  # type: ignore[no-any-return]


def prepare_prefect() -> None:
    """Set Prefect's environment for this process, once."""
    if "prefect" in sys.modules:
        return
    settings = load_settings()
    create_prefect_home(settings)
    state = read_state(settings)
    own = os.environ.get("PREFECT_API_URL")
    variables = build_environment(settings, None if own else state)
    for variable, value in variables.items():
        if own and variable in ("PREFECT_HOME", "PREFECT_PROFILES_PATH"):
            continue
        os.environ[variable] = value
    if not own and state is None:
        print_note(
            "No Prefect server is running for this PROCTOR_HOME: starting one for this command (about 20 s). "
            "`proctor up` starts one that stays."
        )


def _find_cause(error: BaseException) -> ProctorError | None:
    seen: BaseException | None = error
    while seen is not None:
        if isinstance(seen, ProctorError):
            return seen
        seen = seen.__cause__ or seen.__context__
    return None
