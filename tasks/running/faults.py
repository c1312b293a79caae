"""Keep content out of Prefect when something of ours breaks.

Prefect stores the text of an exception in its database, which any user of its server may read. The message of a
foreign exception may quote a question, an answer or a key; our own errors never do.
"""

from __future__ import annotations

import errno
import functools
import logging
import os
import traceback
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, ParamSpec, TypeVar

from schemas.errors import ProctorError, StoreError, is_interruption
from schemas.settings import load_settings
from tasks.running.counts import render_counts
from tasks.running.log_lines import LogFile
from warehouse.stores.away import until_there
from warehouse.stores.whole_files import name_place

# Prefect forwards this logger to the flow run (deployments/flow_runs/server/local_server.py); our own file has every line. It never prints:
# errors stand in the sentence of the command.
log = logging.getLogger("proctor")
log.setLevel(logging.INFO)
log.propagate = False
log.addHandler(LogFile())

# What a system says of a disk that is full, broken or only read, and of a place that is somebody else's: no fault of ours.
_REFUSED: Final = frozenset(
    {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EROFS, errno.EACCES, errno.EPERM}
)
P = ParamSpec("P")
T = TypeVar("T")


class InternalFault(ProctorError):
    """Something of ours broke; the frames are in the fault log, without any values."""


def hide_content(function: Callable[P, T]) -> Callable[P, T]:
    """Let our own errors pass, and replace any other by an InternalFault.

    The InternalFault names only where the error happened. A file or disk that the system refuses is a StoreError that names it.

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
            if isinstance(error, OSError) and error.errno in _REFUSED and (place := name_place(error)):
                log.error("%s broke with %s", function.__name__, type(error).__name__)
                raise StoreError(
                    f"{place} cannot be used: {error.strerror}. Make room or mend it, then run the command again: what was landed is kept."
                ) from None
            kept = _write_fault(function.__name__, error)
            frame = traceback.extract_tb(error.__traceback__)[-1]
            place = f"{Path(frame.filename).name}:{frame.lineno}"
            fault = InternalFault(
                f"{function.__name__} broke with {type(error).__name__} at {place}. What was landed is kept. "
                f"{kept}, then run the command again."
            )
            log.error("%s broke with %s", function.__name__, type(error).__name__)
        else:
            log.info("%s finished: %s", function.__name__, render_counts(result))
            return result
        raise fault from None

    return guarded


def _write_fault(name: str, error: BaseException) -> str:
    """Keep the frames; returns where they are, and what to do with them."""
    path = load_settings().home / "logs" / "faults.log"
    frames = [
        f"  {frame.filename}:{frame.lineno} in {frame.name}\n"
        for frame in traceback.extract_tb(error.__traceback__)
    ]
    text = f"{datetime.now(UTC).isoformat()} {name}: {type(error).__module__}.{type(error).__name__}\n{''.join(frames)}"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        with os.fdopen(descriptor, "a", encoding="utf-8") as file:
            file.write(text)
    except OSError as refusal:
        # What is raised from here would show the error itself, and with it what that quotes.
        return f"Its frames could not be kept in {path} ({refusal.strerror}): make room or mend it"
    return f"The frames are in {path}; report them"
