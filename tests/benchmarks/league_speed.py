"""CPU of a league's statistics.

It measures sparse replays of 60 candidates on 1,000 questions, Tukey's HSD, and a whole league of eight.

python -m tests.benchmarks.league_speed
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from schemas.settings import Settings
from tasks.league.statistics import StatisticsRequest, write_statistics
from tasks.report import render_league
from tasks.statistics.league import compute_one_way, compute_tukey, make_generator
from tasks.statistics.ratings import compute_replays
from tests.benchmarks.measure import Row, print_rows
from tests.tasks.league.statistics.synthetic import Spec, build_league
from warehouse.lake import Batch, open_lake


def measure(name: str, work: Callable[[], object], note: str = "") -> Row:
    """One line: CPU and wall seconds of a call."""
    cpu, wall = time.process_time(), time.perf_counter()
    work()
    return Row(name, time.process_time() - cpu, time.perf_counter() - wall, note)


def main() -> None:
    """Print the table."""
    generator = np.random.default_rng(0)
    lists = np.linspace(1, -1, 60)[None, :] + generator.normal(size=(1000, 60))
    groups = [generator.normal(at / 30, 1.0, 245) for at in range(60)]
    rows = [
        measure(
            "sparse replays, Bradley-Terry, 60 candidates x 1,000 questions, 7 shares x 100",
            lambda: compute_replays(lists, lists.mean(axis=0), make_generator(0, "bench")),
            "should stay under 10 CPU s",
        ),
        measure("Tukey's HSD, 60 candidates, 1,770 pairs", lambda: compute_tukey(compute_one_way(groups))),
    ]
    with tempfile.TemporaryDirectory() as folder, open_lake(Settings(home=Path(folder) / "home")) as lake:
        spec = Spec(runs=5)
        lake.land_together([Batch(name, spec.league_id, frame) for name, frame in build_league(spec).items()])
        rows.append(
            measure(
                "statistics of a league, 8 candidates x 5 runs x 2 domains, landed",
                lambda: write_statistics(lake, spec.league_id, StatisticsRequest()),
                "3,920 scores, 10,000 resamples",
            )
        )
        rows.append(
            measure(
                "its page, two languages",
                lambda: render_league(lake.run_named, spec.league_id, Path(folder)),
                "7 pictures",
            )
        )
    print_rows("A league's statistics", rows)


if __name__ == "__main__":
    main()
