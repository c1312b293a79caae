"""What holds for every test: on a machine that must have every program (CI), a skipped test is a failure."""

from __future__ import annotations

import os

import pytest

# Real papers and answers are not part of the project; a clone without them beside it may leave their tests out.
DATA_WORDS = ("PROCTOR_SHARED_DATA",)

_skipped: list[tuple[str, str]] = []


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Remember what was skipped for want of a program (with xdist this runs in the controller)."""
    if report.skipped and not hasattr(report, "wasxfail"):
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
        if not any(word in reason for word in DATA_WORDS):
            _skipped.append((report.nodeid, reason))


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Fail a CI run that left tests out; elsewhere a missing program only shortens the run."""
    if os.environ.get("CI") and _skipped and not hasattr(session.config, "workerinput"):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say which tests made the run fail by being skipped."""
    if os.environ.get("CI"):
        for name, reason in _skipped:
            terminalreporter.write_line(f"SKIPPED where nothing may be: {name}: {reason}", red=True)
