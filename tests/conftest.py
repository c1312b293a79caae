"""What holds for every test.

On a machine that must have every program (CI), a skipped test is a failure.
"""

from __future__ import annotations

import gc
import os
import signal
import sys
import tempfile
from collections import defaultdict
from collections.abc import Generator, Iterator, Set
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from filelock import FileLock

from tests.shared import SHARED, remove_elsewhere
from tests.warm import PYTHON, start_warm

if TYPE_CHECKING:
    from tests.warehouse.ledger.postgresql import PostgresqlServer

# What is imported and collected stays to the end: looking for garbage in it again and again took a tenth of a run's CPU.
gc.set_threshold(20_000, 20, 50)
# A store that a test takes away is waited for where the test says so.
os.environ.setdefault("PROCTOR_STORE_WAIT_S", "0")

# A run in the background of a shell is born deaf to Ctrl-C, and so would be all that tests start and interrupt.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# Real papers and answers are not part of the project; a clone without them beside it may leave their tests out.
DATA_WORDS = ("PROCTOR_SHARED_DATA",)

# The order in which a whole run goes: what is quick and likely to fail comes first.
_LATER = ("slow", "service", "prefect")

# Fixtures that take seconds to make: what asks for one is one group, whatever its module.
_MADE_ONCE = ("tiny_model", "season_rows", "simulated_season")

_skipped: list[tuple[str, str]] = []
# CPU seconds by module, with those of ended children.
_costs: defaultdict[str, float] = defaultdict(float)
_COST = "cpu_seconds"
_WORTH_SAYING_S = 20.0
_BEFORE = pytest.StashKey[float]()
# The modules that were loaded when the tests had been collected.
LOADED = pytest.StashKey[frozenset[str]]()


def pytest_configure(config: pytest.Config) -> None:
    """Give all workers of a run a folder in common, before they start; it goes with the run."""
    if not hasattr(config, "workerinput"):
        folder = tempfile.TemporaryDirectory(prefix="proctor-tests-", ignore_cleanup_errors=True)
        os.environ[SHARED] = folder.name
        config.add_cleanup(folder.cleanup)
        config.add_cleanup(partial(remove_elsewhere, Path(folder.name)))


@pytest.fixture(autouse=True)
def own_process() -> Iterator[None]:
    """Keep what a process reads once or remembers from reaching the next test.

    This holds whichever worker runs the two tests. It concerns settings, stores that were away, and the output that
    is captured.
    """
    from schemas.settings import load_settings
    from warehouse.stores import away

    load_settings.cache_clear()
    away._absences.clear()
    away._ledger_back_at = None
    yield
    load_settings.cache_clear()
    let_go_of_output()


def let_go_of_output() -> None:
    """Take from absl (rouge-score loads it) the error stream that it found when it was loaded.

    It closes that one when somebody sets up logging, unless it is the stream in use by then. Of a worker of the tests
    it was what captures the output of all later tests: each of them failed with "I/O operation on closed file".
    """
    if absl := sys.modules.get("absl.logging"):
        absl.get_absl_handler().python_handler.setStream(sys.__stderr__)


@pytest.fixture(scope="session")
def warm(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder of a `proctor` that starts warm.

    One server for all workers, which ends with their parent.
    """
    shared, owner = tmp_path_factory.getbasetemp(), os.getpid()
    if "PYTEST_XDIST_WORKER" in os.environ:
        shared, owner = shared.parent, os.getppid()
    with FileLock(shared / "warm.lock"):
        if not (shared / "warm" / "bin" / "proctor").exists():
            (shared / "warm").mkdir(exist_ok=True)
            start_warm(shared / "warm", owner)
    return shared / "warm" / "bin"


@pytest.fixture(scope="session")
def warm_python(warm: Path) -> str:
    """A Python for what ends or kills itself, forked where everything has been imported.

    It is given its environment, folder, input and output. Signals are not passed on.
    """
    return str(warm.with_name(PYTHON))


@pytest.fixture(scope="session")
def postgresql() -> Iterator[PostgresqlServer]:
    """A PostgreSQL server, one per worker: whoever stops or damages one starts its own."""
    from tests.warehouse.ledger.postgresql import start_postgresql

    with start_postgresql() as started:
        yield started


@pytest.fixture(scope="session", autouse=True)
def _statements_are_compiled_once() -> Iterator[None]:
    """Ledgers of a worker share what SQLAlchemy has compiled.

    Every test opens a ledger of its own, and a process otherwise only one: compiling was a sixth of the CPU of their tests.
    """
    from sqlalchemy import Engine
    from sqlalchemy.engine.interfaces import Dialect

    first: dict[object, Engine] = {}

    def share(_: type[Dialect], engine: Engine) -> None:
        dialect: Any = engine.dialect
        if dialect.driver not in ("pysqlite", "psycopg"):
            return
        key = (dialect.driver, dialect._on_connect_isolation_level)
        known = first.get(key)
        if known is None or getattr(known.dialect, "server_version_info", None) is None:
            first[key] = engine
        else:
            # Statements are kept by dialect: the same one, as its first connection found it.
            engine.dialect, engine._compiled_cache = known.dialect, known._compiled_cache

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Dialect, "engine_created", classmethod(share))
        yield


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run quick tests first and end-to-end tests last.

    The tests of a module stay in one worker, which makes its fixtures once.

    End-to-end tests share a demo whatever the worker, so each of them may go anywhere. Those that must stay together take
    minutes: they start first, so that no worker is left alone with them at the end. One makes the demo while there is
    other work for the others, who would only wait for it.
    """
    marks = {item: frozenset(mark.name for mark in item.iter_markers()) for item in items}
    phases = {item: _find_phase(names) for item, names in marks.items()}
    items.sort(
        key=lambda item: (phases[item], "makes_demo" not in marks[item], "xdist_group" not in marks[item])
    )
    for item in items:
        if "xdist_group" not in marks[item]:
            phase = phases[item]
            once = next((name for name in _MADE_ONCE if name in getattr(item, "fixturenames", ())), None)
            name = item.nodeid if phase == len(_LATER) else f"{once or item.nodeid.split('::')[0]} {phase}"
            item.add_marker(pytest.mark.xdist_group(name))


def pytest_collection_finish(session: pytest.Session) -> None:
    """Stop where groups would not stay together, and spare the garbage collector what stays.

    Where groups come apart nothing would fail, but everything would be made several times.

    Pytest 9.2 with xdist 3.8 is such a pair: the name that xdist gives a grouped test is no longer taken.
    """
    if session.config.getoption("loadgroup", False) and not all("@" in item.nodeid for item in session.items):
        raise pytest.UsageError(
            "This pytest and this pytest-xdist do not keep groups together; see constraints.txt."
        )
    session.config.stash[LOADED] = frozenset(sys.modules)
    gc.collect()
    gc.freeze()


def _find_phase(marks: Set[str]) -> int:
    if "makes_demo" in marks:
        return 1
    return max((place for place, name in enumerate(_LATER, start=1) if name in marks), default=0)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Note where a test begins; what a server takes is counted with the test in which it ends."""
    item.stash[_BEFORE] = _measure_cpu()
    return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if report.when == "teardown":
        report.user_properties.append((_COST, _measure_cpu() - item.stash[_BEFORE]))
    return report


def _measure_cpu() -> float:
    return sum(os.times()[:4])


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Remember what was skipped for want of a program, and what a test cost.

    With xdist this runs in the controller.
    """
    _costs[report.nodeid.split("::")[0]] += sum(
        value for name, value in report.user_properties if name == _COST and isinstance(value, float)
    )
    if report.skipped and not hasattr(report, "wasxfail"):
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
        if not any(word in reason for word in DATA_WORDS):
            _skipped.append((report.nodeid, reason))


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Stop the server of the shared demo, and fail a CI run that left tests out.

    Elsewhere, leaving tests out only shortens the run.
    """
    if not hasattr(session.config, "workerinput"):
        _stop_shared_server(session.config)
    # Pytest looks for garbage five times before it ends: not in what ends with the process.
    gc.freeze()
    if os.environ.get("CI") and _skipped and not hasattr(session.config, "workerinput"):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say which tests made the run fail by being skipped, and which modules cost the most."""
    if os.environ.get("CI"):
        for name, reason in _skipped:
            terminalreporter.write_line(f"SKIPPED where nothing may be: {name}: {reason}", red=True)
    total = sum(_costs.values())
    if total > _WORTH_SAYING_S:
        dearest = sorted(_costs.items(), key=lambda one: -one[1])[:10]
        shown = ", ".join(f"{name.removeprefix('tests/')} {cost:.0f}" for name, cost in dearest)
        terminalreporter.write_line(f"{total:.0f} CPU seconds of tests; the dearest modules: {shown}")


def _stop_shared_server(config: pytest.Config) -> None:
    """End what the end-to-end tests of all workers shared (`tests.e2e.conftest.demo`)."""
    factory = getattr(config, "_tmp_path_factory", None)
    base = getattr(factory, "_basetemp", None)
    if base is not None and (base / "demo" / "home").exists():
        from deployments.flow_runs.server import stop_server
        from schemas.settings import Settings

        stop_server(Settings(home=base / "demo" / "home"))
