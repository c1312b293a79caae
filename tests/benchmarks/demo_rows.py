"""How many rows every analysis has after the demo, and after all that it can fill.

    python -m tests.benchmarks.demo_rows [--home DIR]

Makes the demo in an empty home (or goes on with that of a demo), counts, fills the rest by `proctor demo --everything`, counts again,
and writes both numbers of each analysis where the page of the papers' tables takes them from (`make docs`).
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import yaml

from deployments.demo import ROW_COUNTS, count_rows
from schemas.settings import Settings

_PROCTOR = [str(Path(sys.executable).with_name("proctor")), "demo", "--json"]


def main(arguments: Sequence[str] | None = None) -> None:
    """Count, write, and print what has no row."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--home", type=Path)
    chosen = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        home = chosen.home or Path(folder) / "home"
        found = []
        for further in ([], ["--everything"]):
            environment = {**os.environ, "PROCTOR_HOME": str(home)}
            subprocess.run([*_PROCTOR, *further], env=environment, check=True, stdout=subprocess.DEVNULL)
            found.append(count_rows(Settings(home=home)).row_counts)
    rows = {name: [one[name] for one in found] for name in sorted(found[0])}
    ROW_COUNTS.write_text(yaml.safe_dump(rows, default_flow_style=None, width=100), encoding="utf-8")
    print(
        f"{len(rows)} analyses; without a row: {', '.join(name for name, both in rows.items() if not both[1])}"
    )


if __name__ == "__main__":
    main()
