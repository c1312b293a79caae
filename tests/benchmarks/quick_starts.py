"""What a user waits for: commands, a small flow, the demo with its server, and the collection of the tests.

`BENCH_AGAINST=FOLDER` names another checkout with an environment of its own (`make setup` there): the same is measured
there in turns, so that both see the same machine.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

import psutil

from tests.benchmarks.measure import Row, measure_command, print_rows

ROOT = Path(__file__).resolve().parents[2]


def main() -> None:
    """Print CPU and wall seconds of each checkout, line by line."""
    checkouts = [(ROOT, Path(sys.executable).parent)]
    if against := os.environ.get("BENCH_AGAINST"):
        checkouts.append((Path(against), Path(against) / ".venv" / "bin"))
    measured = [_measure_commands(checkout, programs) for checkout, programs in checkouts]
    demos = [_measure_demo(programs) for _, programs in checkouts]
    collected = [_measure_collection(checkout, programs) for checkout, programs in checkouts]
    columns = [
        [*rows, demo, collection] for rows, demo, collection in zip(measured, demos, collected, strict=True)
    ]
    rows = [
        replace(row, name=row.name + (" (the other checkout)" if place else ""))
        for line in zip(*columns, strict=True)
        for place, row in enumerate(line)
    ]
    print_rows("Quick starts (CPU of the command and what it waits for)", rows)


def _measure_commands(checkout: Path, programs: Path) -> list[Row]:
    proctor = str(programs / "proctor")
    with tempfile.TemporaryDirectory() as folder:
        environment = _make_environment(Path(folder) / "home")
        # Modules that were never run are compiled first; that is not what is measured.
        measure_command("", [proctor, "init"], environment)
        measure_command("", [proctor, "up", "--no-worker"], environment)
        try:
            rows = [
                measure_command("proctor --help", [proctor, "--help"], environment, repeats=3),
                measure_command(
                    'proctor sql "select 1"', [proctor, "sql", "select 1 as one"], environment, 3
                ),
                measure_command("proctor status", [proctor, "status"], environment, 3),
            ]
            flows = [_measure_ingest(proctor, Path(folder), environment, number) for number in range(4)]
            rows.append(min(flows[1:], key=lambda row: row.cpu_s))
        finally:
            subprocess.run([proctor, "down"], env=environment, check=True, capture_output=True)
    return rows


def _measure_ingest(proctor: str, folder: Path, environment: dict[str, str], number: int) -> Row:
    paper = folder / f"paper-{number}.txt"
    paper.write_text(f"一、判断题\n1. 地球绕太阳转第{number}圈。（√）\n", encoding="utf-8")
    name = "proctor ingest: one new question, server running"
    return measure_command(name, [proctor, "ingest", str(paper)], environment)


def _measure_demo(programs: Path) -> Row:
    """The whole tree: the command, the models that it starts and waits for, and the Prefect server."""
    proctor = str(programs / "proctor")
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder) / "home"
        environment = _make_environment(home)
        row = measure_command(
            "proctor demo, with its Prefect server", [proctor, "demo", "--keep-server"], environment
        )
        state = json.loads((home / "prefect" / "server.json").read_text())
        server = psutil.Process(state["server_pid"]).cpu_times()
        subprocess.run([proctor, "down"], env=environment, check=True, capture_output=True)
    server_s = server.user + server.system + server.children_user + server.children_system
    return replace(row, cpu_s=row.cpu_s + server_s, note=f"of which the server {server_s:.1f}")


def _measure_collection(checkout: Path, programs: Path) -> Row:
    command = [str(programs / "python"), "-m", "pytest", "--collect-only", "-q", f"--rootdir={checkout}"]
    return measure_command(
        "collecting all tests", ["env", "-C", str(checkout), *command], dict(os.environ), repeats=2
    )


def _make_environment(home: Path) -> dict[str, str]:
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("PROCTOR_", "PREFECT_"))}
    return kept | {"PROCTOR_HOME": str(home), "PROCTOR_QUIET": "1"}


if __name__ == "__main__":
    main()
