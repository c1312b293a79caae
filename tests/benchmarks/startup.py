"""Start-up: `proctor --help`, questions to the lake, and a flow with and without a server."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.benchmarks.measure import Row, measure_command, print_rows

PROCTOR = str(Path(sys.executable).with_name("proctor"))


def main() -> None:
    """Print wall and CPU seconds, best of three for the quick ones."""
    with tempfile.TemporaryDirectory() as folder:
        environment = os.environ | {"PROCTOR_HOME": folder, "PROCTOR_QUIET": "1"}
        paper = Path(folder) / "paper.txt"
        paper.write_text("一、判断题\n1. 地球绕太阳转。（√）\n", encoding="utf-8")
        rows = [
            measure_command("proctor --help", [PROCTOR, "--help"], environment, repeats=3),
            measure_command("proctor init (new home)", [PROCTOR, "init"], environment),
            measure_command(
                "proctor sql (one query)", [PROCTOR, "sql", "select 1 as one"], environment, repeats=3
            ),
            measure_command("proctor status", [PROCTOR, "status"], environment, repeats=3),
            measure_command(
                "a flow without a server", [PROCTOR, "ingest", str(paper), "--no-server"], environment
            ),
            measure_command("proctor up --no-worker", [PROCTOR, "up", "--no-worker"], environment),
        ]
        try:
            paper.write_text("一、判断题\n1. 月球绕地球转。（√）\n", encoding="utf-8")
            rows.append(
                measure_command("a flow with `proctor up`", [PROCTOR, "ingest", str(paper)], environment)
            )
        finally:
            subprocess.run([PROCTOR, "down"], env=environment, check=True, capture_output=True)
    print_rows(
        "Start-up (CPU of the command and what it waits for; a background server's is not counted)", rows
    )


__all__ = ["Row", "main"]

if __name__ == "__main__":
    main()
