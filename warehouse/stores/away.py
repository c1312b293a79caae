"""Waiting for stores that do not answer.

There is one way of waiting for PostgreSQL, the object store and Prefect's server.

Whoever talks to a store raises `StoreAway` when it does not answer and nothing of the operation was kept; `until_there` does the
operation again until the store is back, for as long as the setting `store_wait_s` says. It is put round the beginning of every
transaction, round whole transactions where the code has them as one piece, and round every task of a flow. A store that answers
with a refusal (a wrong password, another installation, damage) raises another error, and nobody waits for it.
"""

from __future__ import annotations

import logging
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Final, TypeVar

from schemas import patterns as re
from schemas.errors import StoreAway, StoreError, is_interruption
from schemas.settings import load_settings

T = TypeVar("T")
Listener = Callable[[str], None]

LEDGER: Final = "ledger"
CATALOG: Final = "lake catalog"
OBJECTS: Final = "object store"
PREFECT: Final = "Prefect server"
EXAM: Final = "exam API"

# A host that is gone answers nothing at all.
CONNECT_TIMEOUT_S: Final = 10
SAY_EVERY_S: Final = 60.0
# After an absence everybody renews within a third of a lease; nobody's lease counts as run out before that.
GRACE_S: Final = 90.0
# A single try may fail as late as this: clients make connections again by themselves, with pauses and time limits of their own.
_LONGEST_TRY_S: Final = 180.0
_FIRST_PAUSE_S: Final = 0.1
_LONGEST_PAUSE_S: Final = 1.0

# SQLSTATEs of a PostgreSQL that goes down, comes up, has no place left, or whose connection broke (its appendix A).
_AWAY_STATES: Final = (
    "57P01",
    "57P02",
    "57P03",
    "57P05",
    "53300",
    "08000",
    "08001",
    "08003",
    "08004",
    "08006",
)
# What libpq and the server say of the same where there is no SQLSTATE; a refusal (password, role, database) is none of it.
_AWAY_WORDS: Final = re.compile(
    r"connection refused|no such file or directory|timeout expired|timed out|could not translate host name"
    r"|name or service not known|temporary failure in name resolution|no route to host|network is unreachable|host is unreachable"
    r"|connection reset|broken pipe|server closed the connection|connection (?:has been |was |is )?(?:closed|lost|bad)"
    r"|connection not open|terminating connection|starting up|shutting down|in recovery mode|not yet accepting connections"
    r"|too many clients|remaining connection slots|unable to connect to postgres|ssl syscall error|eof detected|no connection to the server",
    re.I,
)
_REFUSED_WORDS: Final = re.compile(
    r"authentication|no password supplied|no pg_hba|does not exist|permission denied|certificate|not permitted",
    re.I,
)
# What libpq quotes of a server that lets nobody in by this role, password or database; it shows no password.
_REFUSAL: Final = re.compile(r".*failed: (?:[A-Z]+: +)?(.+)")

log = logging.getLogger("proctor.stores")


@dataclass
class _Absence:
    began: float
    said: float


_WAITS: ContextVar[bool] = ContextVar("waits", default=True)
_lock = threading.Lock()
_absences: dict[str, _Absence] = {}
_listeners: list[Listener] = []
# When the ledger came back last: it alone holds leases.
_ledger_back_at: float | None = None


def until_there(
    attempt: Callable[[], T],
    *,
    stores: tuple[str, ...] = (),
    wait_s: float | None = None,
    ended: threading.Event | None = None,
) -> T:
    """What `attempt` returns, done again while it raises StoreAway.

    Args:
        attempt: an operation that may be done again wherever it raised StoreAway.
        stores: what has answered when it returns, besides what raised StoreAway before.
        wait_s: seconds that a store is waited for; null for the setting. 0: StoreAway is raised at once.
        ended: set by whoever no longer needs the result; the wait ends at once.

    Raises StoreError when a store stayed away for longer, and StoreAway where nothing is waited for: also within `not_waiting`,
    and while Ctrl-C or a signal ends the work.
    """
    is_cleanup = (handled := sys.exc_info()[1]) is not None and is_interruption(handled)
    began: float | None = None
    pause_s = _FIRST_PAUSE_S
    seen: set[str] = set()
    while True:
        started = time.monotonic()
        try:
            result = attempt()
        except StoreAway as away:
            longest_s = load_settings().store_wait_s if wait_s is None else wait_s
            is_over = is_cleanup or (ended is not None and ended.is_set()) or _is_interrupted()
            if longest_s <= 0 or is_over or not _WAITS.get():
                raise
            now = time.monotonic()
            if began is None or now - started > max(longest_s, _LONGEST_TRY_S):
                # It worked for a long time in between: this is another absence.
                began, pause_s = now, _FIRST_PAUSE_S
            if now - began >= longest_s:
                raise _give_up(away.store, now - began) from None
            seen.add(away.store)
            note_away(away.store, longest_s)
            _pause(min(pause_s, began + longest_s - now), ended)
            pause_s = min(2 * pause_s, _LONGEST_PAUSE_S)
        else:
            for store in (*stores, *seen):
                note_back(store)
            return result


@contextmanager
def not_waiting() -> Iterator[None]:
    """Within the block, a store that is away is an error at once.

    This is for what is tried again anyway, such as the renewal of a lease.
    """
    token = _WAITS.set(False)
    try:
        yield
    finally:
        _WAITS.reset(token)


def note_away(store: str, longest_s: float) -> None:
    """Say that a store is waited for: at once, then every minute."""
    now = time.monotonic()
    with _lock:
        absence = _absences.get(store)
        if absence is None:
            _absences[store] = _Absence(now, now)
            text = f"The {store} does not answer; it is waited for, up to {_describe_span(longest_s)}."
        elif now - absence.said >= SAY_EVERY_S:
            absence.said = now
            text = f"The {store} has not answered for {_describe_span(now - absence.began)}; it is still waited for."
        else:
            return
    _say(text, logging.WARNING)


def note_back(store: str) -> None:
    """Say that a store answers again, if it was away; costs nothing otherwise."""
    global _ledger_back_at
    if store not in _absences:
        return
    with _lock:
        absence = _absences.pop(store, None)
        if absence is None:
            return
        now = time.monotonic()
        if store == LEDGER:
            _ledger_back_at = now
    _say(
        f"The {store} answers again after {_describe_span(now - absence.began)}; work continues.",
        logging.INFO,
    )


def add_listener(listener: Listener) -> None:
    """Let somebody say aloud what the log says of stores that are waited for."""
    if listener not in _listeners:
        _listeners.append(listener)


def was_away_lately() -> bool:
    """Whether the ledger came back only a short time ago.

    The time is so short that other processes may not have renewed their leases yet.
    """
    return _ledger_back_at is not None and time.monotonic() - _ledger_back_at < GRACE_S


def is_postgresql_away(error: BaseException | None) -> bool:
    """Whether an error means that the PostgreSQL server does not answer.

    The error is one of psycopg, or of DuckDB about PostgreSQL. A refusal does not mean this.
    """
    state = getattr(error, "sqlstate", None)
    if state is not None:
        return state in _AWAY_STATES
    text = str(error)
    return _AWAY_WORDS.search(text) is not None and _REFUSED_WORDS.search(text) is None


def quote_refusal(error: BaseException | None) -> str:
    """Why a PostgreSQL server refuses a connection, in its words; else the error's class."""
    said = _REFUSAL.findall(str(error))
    return str(said[-1]).strip() if said else type(error).__name__


def _give_up(store: str, waited_s: float) -> StoreError:
    with _lock:
        _absences.pop(store, None)
    text = f"The {store} has not answered for {_describe_span(waited_s)}"
    _say(f"{text}; it is waited for no longer.", logging.ERROR)
    return StoreError(
        f"{text} (PROCTOR_STORE_WAIT_S). What was acknowledged is kept. Start it, or correct its address, then run the same again."
    )


def _is_interrupted() -> bool:
    """Whether Ctrl-C has come while an event loop runs.

    It cancels tasks, and what they do to end must not wait.
    """
    runner = getattr(getattr(signal.getsignal(signal.SIGINT), "func", None), "__self__", None)
    return bool(getattr(runner, "_interrupt_count", 0))


def _pause(seconds: float, ended: threading.Event | None) -> None:
    # Ctrl-C ends either at once in the main thread; in another one it is `ended` that does.
    if ended is None:
        time.sleep(seconds)
    else:
        ended.wait(seconds)


def _say(text: str, level: int) -> None:
    log.log(level, "%s", text)
    for listener in _listeners:
        listener(text)


def _describe_span(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 120 else f"{seconds / 60:.0f} minutes"
