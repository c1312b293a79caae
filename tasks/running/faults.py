"""Keep content out of Prefect when something of ours breaks.

Prefect stores the text of an exception in its database, which any user of its server may read. The message of a
foreign exception may quote a question, an answer or a key; our own errors never do.
"""

from __future__ import annotations

import functools
import logging
import os
import traceback
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import ParamSpec, TypeVar

from schemas.errors import ProctorError, is_interruption
from schemas.settings import load_settings
from tasks.running.counts import render_counts
from tasks.running.log_lines import LogFile
from warehouse.stores.away import until_there

# Prefect forwards this logger to the flow run (deployments/flow_runs/server/local_server.py); our own file has every line. It never prints:
# errors stand in the sentence of the command.
log = logging.getLogger("proctor")
log.setLevel(logging.INFO)
log.propagate = False
log.addHandler(LogFile())

P = ParamSpec("P")
T = TypeVar("T")


class InternalFault(ProctorError):
    """Something of ours broke; the frames are in the fault log, without any values."""


def hide_content(function: Callable[P, T]) -> Callable[P, T]:
    """Let our own errors pass, and replace any other by an InternalFault.

    The InternalFault names only where the error happened.

    Start and end are logged, with ids and counts of the result, or with what our own error says. The frames and the exception's type go to
    `PROCTOR_HOME/logs/faults.log` (mode 0600), never its message.
    """

    @functools.wraps(function)
    def guarded(*arguments: P.args, **named: P.kwargs) -> T:
        log.info("%s started", function.__name__)
        try:
            # Done again from its beginning where a store went away in its midst: what was acknowledged is found there.
            result = until_there(lambda: function(*arguments, **named))
        except ProctorError as error:
            log.error("%s ended with %s: %s", function.__name__, type(error).__name__, error)
            raise
        except Exception as error:
            if is_interruption(error):
                raise KeyboardInterrupt from None
            path = _write_fault(function.__name__, error)
            frame = traceback.extract_tb(error.__traceback__)[-1]
            place = f"{Path(frame.filename).name}:{frame.lineno}"
            fault = InternalFault(
                f"{function.__name__} broke with {type(error).__name__} at {place}. What was landed is kept. "
                f"The frames are in {path}; report them, then run the command again."
            )
            log.error("%s broke with %s", function.__name__, type(error).__name__)
        else:
            log.info("%s finished: %s", function.__name__, render_counts(result))
            return result
        raise fault from None

    return guarded


def _write_fault(name: str, error: BaseException) -> Path:
    path = load_settings().home / "logs" / "faults.log"
    path.parent.mkdir(parents=True, exist_ok=True)
    frames = [
        f"  {frame.filename}:{frame.lineno} in {frame.name}\n"
        for frame in traceback.extract_tb(error.__traceback__)
    ]
    text = f"{datetime.now(UTC).isoformat()} {name}: {type(error).__module__}.{type(error).__name__}\n{''.join(frames)}"
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    with os.fdopen(descriptor, "a", encoding="utf-8") as file:
        file.write(text)
    return path
