"""What a user waits for.

It measures commands, a small flow, an exam of 1,000 questions with one simulated candidate, the demo with its server, and the
collection of the tests.

`BENCH_AGAINST=FOLDER` names another checkout with an environment of its own (`make setup` there): the same is measured
there, each step of one right after the same step of the other, so that both see the same machine. Every step has a time
limit; one that runs out of it or fails is shown as such, and the others are still measured.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from types import MappingProxyType
from typing import Any

import psutil
import yaml

from deployments.home import create_home
from deployments.model_server import parse_profile, start_model_server
from schemas.settings import Settings
from schemas.vocabulary import EXAMINED_DISCIPLINES
from tests.benchmarks.history_rows import land_month
from tests.benchmarks.measure import Row, adopting_orphans, measure_tree, print_rows
from tests.benchmarks.year_by_commands import Year, describe_candidates
from tests.benchmarks.year_texts import describe_bank
from warehouse.lake import open_lake

ROOT = Path(__file__).resolve().parents[2]
COMMAND_S, FLOW_S, DEMO_S, COLLECTION_S = 60, 120, 300, 120
QUESTIONS = 1_000


@dataclass(frozen=True)
class Checkout:
    """A working tree with its own environment, and the home in which its commands run here."""

    name: str
    root: Path
    programs: Path
    folder: Path

    @property
    def proctor(self) -> str:
        """The installed command."""
        return str(self.programs / "proctor")

    def environment(self, home: str = "home") -> dict[str, str]:
        """A fresh shell's environment.

        This checkout's programs come first, and modules are compiled once and kept.
        """
        dropped = ("PROCTOR_", "PREFECT_", "PYTEST_", "PYTHON", "VIRTUAL_ENV")
        kept = {k: v for k, v in os.environ.items() if not k.startswith(dropped)}
        kept["PATH"] = os.pathsep.join([str(self.programs), kept.get("PATH", os.defpath)])
        return kept | {"PROCTOR_HOME": str(self.folder / home), "PROCTOR_QUIET": "1"}


def main() -> None:
    """Print CPU and wall seconds of each checkout, line by line."""
    with contextlib.ExitStack() as stack:
        stack.enter_context(adopting_orphans())
        checkouts = [
            Checkout(name, root, programs, Path(stack.enter_context(tempfile.TemporaryDirectory())))
            for name, root, programs in _find_checkouts()
        ]
        servers = [stack.enter_context(_running_server(checkout)) for checkout in checkouts]
        rows = [*_measure_commands(checkouts), *_measure_ingests(checkouts, servers)]
        for checkout in checkouts:
            _stop_server(checkout)
        rows += _measure_exams(checkouts)
        rows += _measure_demos(checkouts)
        rows += _measure_collections(checkouts)
        print_rows("Quick starts (user and system CPU of the whole process tree)", rows)


def _find_checkouts() -> list[tuple[str, Path, Path]]:
    found = [("", ROOT, Path(sys.executable).parent)]
    if against := os.environ.get("BENCH_AGAINST"):
        other = Path(against).resolve()
        programs = other / ".venv" / "bin"
        if not (programs / "proctor").exists():
            raise SystemExit(
                f"BENCH_AGAINST: {programs / 'proctor'} is not there. Run `make setup` in {other}."
            )
        found.append((" (the other checkout)", other, programs))
    return found


def _measure_commands(checkouts: list[Checkout]) -> Iterator[Row]:
    for name, arguments in (
        ("proctor --help", ["--help"]),
        ("proctor sql (the list of questions)", ["sql"]),
        ('proctor sql "select 1"', ["sql", "select 1 as one"]),
        ("proctor status", ["status"]),
    ):
        for checkout in checkouts:
            # The first run compiles modules; the best of the others is shown.
            yield _measure(checkout, name, [checkout.proctor, *arguments], COMMAND_S, repeats=4)


def _measure_ingests(checkouts: list[Checkout], servers: list[psutil.Process | None]) -> Iterator[Row]:
    """One question per run. The first run of each checkout compiles modules and is not shown."""
    for checkout, server in zip(checkouts, servers, strict=True):
        name = "proctor ingest: one new question, server running"
        best: Row | None = None
        for number in range(3):
            paper = checkout.folder / f"paper-{number}.txt"
            paper.write_text(f"一、判断题\n1. 地球绕太阳转第{number}圈。（√）\n", encoding="utf-8")
            before = _count_cpu(server)
            row = _measure(checkout, name, [checkout.proctor, "ingest", str(paper)], FLOW_S)
            if not row.is_measured:
                best = row
                break
            spent = _count_cpu(server) - before
            row = row.with_note(f"its server meanwhile {spent:.1f}")
            if number and (best is None or row.cpu_s < best.cpu_s):
                best = row
        assert best is not None
        yield best


def _measure_exams(checkouts: list[Checkout]) -> Iterator[Row]:
    """One candidate sits one set of a bank of 6,000 questions, one after another.

    The models answer in this process, which is not counted.
    """
    year = Year(candidates=1, months=1, questions=QUESTIONS)
    registry, profile = describe_candidates(year)
    with start_model_server(parse_profile(profile)) as server:
        for checkout in checkouts:
            home = checkout.folder / "exam"
            _make_exam(home, registry)
            changed = {
                "PROCTOR_SIMULATED_URL": server.url,
                "PROCTOR_SET_SIZE": str(QUESTIONS),
                "PROCTOR_LASTING_SETS": "1",
                "PROCTOR_REPEATS": "1",
                "PROCTOR_PROMPT_STYLES": '["zero_shot"]',
            }
            command = [checkout.proctor, "evaluate", "--candidates", "sim-00", "--yes", "--no-server"]
            name = f"proctor evaluate: {QUESTIONS:,} questions, one candidate"
            yield _measure(checkout, name, command, FLOW_S, home="exam", changed=changed)


def _make_exam(home: Path, registry: Mapping[str, Any]) -> None:
    home.mkdir()
    (home / "models.yaml").write_text(yaml.safe_dump(dict(registry)))
    settings = Settings(home=home)
    create_home(settings)
    bank = describe_bank(6 * QUESTIONS, EXAMINED_DISCIPLINES)
    with open_lake(settings) as lake:
        land_month(lake, bank, datetime(2022, 12, 1, tzinfo=UTC))


def _measure_demos(checkouts: list[Checkout]) -> Iterator[Row]:
    """Measure the demo in one cold home for each checkout.

    It covers the command, the models that it starts, and the Prefect server that it starts and stops.
    """
    for checkout in checkouts:
        name = "proctor demo, with its Prefect server"
        yield _measure(checkout, name, [checkout.proctor, "demo"], DEMO_S, home="demo")


def _measure_collections(checkouts: list[Checkout]) -> Iterator[Row]:
    for checkout in checkouts:
        python = str(checkout.programs / "python")
        command = [python, "-m", "pytest", "--collect-only", "-q", f"--rootdir={checkout.root}"]
        yield _measure(checkout, "collecting all tests", command, COLLECTION_S, repeats=2)


def _measure(
    checkout: Checkout,
    name: str,
    command: list[str],
    limit_s: float,
    *,
    repeats: int = 1,
    home: str = "home",
    changed: Mapping[str, str] = MappingProxyType({}),
) -> Row:
    row = measure_tree(
        name + checkout.name,
        command,
        {**checkout.environment(home), **changed},
        limit_s=limit_s,
        folder=checkout.root,
        repeats=repeats,
    )
    print(f"… {row.name}: {row.cpu_s:.2f} CPU s, {row.wall_s:.1f} s {row.note}", flush=True)
    return row


@contextlib.contextmanager
def _running_server(checkout: Checkout) -> Iterator[psutil.Process | None]:
    """A home with a Prefect server.

    The server is None where it did not come up (the flow then shows what it says).
    """
    for arguments, limit_s in ((["init"], COMMAND_S), (["up", "--no-worker"], FLOW_S)):
        row = _measure(checkout, f"(proctor {' '.join(arguments)})", [checkout.proctor, *arguments], limit_s)
        if not row.is_measured:
            break
    try:
        yield _find_server(checkout)
    finally:
        _stop_server(checkout)


def _find_server(checkout: Checkout) -> psutil.Process | None:
    try:
        state = json.loads((checkout.folder / "home" / "prefect" / "server.json").read_text())
        return psutil.Process(state["server_pid"])
    except (OSError, ValueError, KeyError, psutil.NoSuchProcess):
        return None


def _stop_server(checkout: Checkout) -> None:
    with contextlib.suppress(subprocess.TimeoutExpired):
        subprocess.run(
            [checkout.proctor, "down"],
            env=checkout.environment(),
            capture_output=True,
            timeout=COMMAND_S,
            check=False,
        )


def _count_cpu(server: psutil.Process | None) -> float:
    try:
        times = server.cpu_times() if server is not None else None
    except psutil.NoSuchProcess:
        return 0.0
    return times.user + times.system if times is not None else 0.0


if __name__ == "__main__":
    main()
