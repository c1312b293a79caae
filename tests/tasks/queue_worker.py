"""A process that conducts a run, or helps with it, on a host of its own name.

It does so as `proctor worker` does, without Prefect.

Imported by the fork server of shared_run.py. A host is a name space of names (`unshare --uts`) with the host's name in it.
"""

from __future__ import annotations

import asyncio
import ctypes
import os
from collections import Counter
from multiprocessing.context import ForkServerProcess
from typing import Any

from deployments.flow_runs.server import do_jobs
from schemas.ledger.engine import Job
from schemas.settings import Settings, load_settings
from tasks.running import Progress
from tasks.running.claiming import hold_if_free
from tasks.running.sharing import WORKER_VARIABLE
from tests.tasks.judging.calibration.watching import watch
from tests.tasks.judging.kit import judge_landed
from tests.tasks.league.world import play
from tests.tasks.shared_run import RUN, _sit, fork_context
from warehouse.lake import open_lake
from warehouse.ledger.engine.leases.processes import WORKER, name_host
from warehouse.ledger.engine.opening import open_ledger

_CLONE_NEWUTS = 0x04000000


def enter_host(name: str) -> None:
    """Give the process a host name of its own."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(_CLONE_NEWUTS) != 0:
        raise OSError(ctypes.get_errno(), "no name space of names can be made here")
    libc.sethostname(name.encode(), len(name))
    name_host.cache_clear()


def start_process(values: dict[str, Any], what: str, name: str, host: str) -> ForkServerProcess:
    """Start a process of a worker.

    It conducts the run (`conduct`; `sit`: without judging), plays the league `one` (`league`), watches the judges in a month
    (`drift`), or helps until it is killed (`help`).
    """
    process = fork_context().Process(target=_run, args=(values, what, name, host))
    process.start()
    return process


def _run(values: dict[str, Any], what: str, name: str, host: str) -> None:
    values = dict(values)
    os.environ |= {
        "PROCTOR_SIMULATED_URL": values.pop("simulated_url"),
        "PROCTOR_QUIET": "1",
        "PROCTOR_HOME": str(values["home"]),
        WORKER_VARIABLE: name,
    }
    load_settings.cache_clear()
    enter_host(host)
    settings = Settings(**values)
    match what:
        case "help":
            _help(settings, name)
        case "league" | "drift":
            _ask(settings, what)
        case _:
            _conduct(settings, judges=what == "conduct")


def _conduct(settings: Settings, *, judges: bool) -> None:
    with open_ledger(settings.ledger_address) as ledger, open_lake(settings) as lake:
        asyncio.run(_sit(ledger, lake, settings, Counter()))
        if judges:
            with Progress("judge") as progress:
                asyncio.run(judge_landed(ledger, lake, settings, RUN, progress))


def _ask(settings: Settings, what: str) -> None:
    with open_ledger(settings.ledger_address) as ledger, open_lake(settings) as lake:
        if what == "league":
            assert play(ledger, lake, settings, "one").is_complete
        else:
            assert watch(ledger, lake, settings, "2026-12").failure is None


def _help(settings: Settings, name: str) -> None:
    """Take jobs until it is killed."""
    with open_ledger(settings.ledger_address) as ledger, hold_if_free(ledger, Job(kind=WORKER, name=name)):
        while True:
            do_jobs(settings, name)
