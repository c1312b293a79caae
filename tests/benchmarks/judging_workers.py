"""How much sooner do two workers judge a run than one does?

The case is one where the model is what everybody waits for.

    python -m tests.benchmarks.judging_workers [--workers 1,2,4] [--size 40] [--latency 400] [--rounds 2]

Workers are processes of homes of their own on one PostgreSQL ledger and lake, as on several hosts, each with the two calls in flight that
the registry allows it. A run of sixteen sessions (two candidates, eight repetitions) is sat once before each measurement, and not
measured. The time is that of the whole work of all workers, their start included; the bar is 1.7 for two. What they
judged is compared row by row with what one made of it.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import polars as pl

from deployments.model_server import RunningServer, build_answer_key
from schemas.settings import Settings
from tests.tasks.models.simulation import start_server
from tests.tasks.shared_run import (
    CANDIDATES,
    JUDGE,
    make_answerable_bank,
    make_values,
    plan_shared_run,
    read_tables,
    start_worker,
)
from tests.warehouse.ledger.postgresql import PostgresqlServer, start_postgresql

REPEATS = 8


def main(arguments: Sequence[str] = ()) -> None:
    """Judge the same run with each number of workers in turn.

    The times and their ratios are printed.
    """
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--workers", default="1,2")
    parser.add_argument("--size", type=int, default=40)
    parser.add_argument("--latency", type=float, default=400)
    parser.add_argument("--rounds", type=int, default=2)
    chosen = parser.parse_args(arguments)
    counts = [int(word) for word in chosen.workers.split(",")]
    bank = make_answerable_bank(chosen.size)
    answers = len(CANDIDATES) * REPEATS * chosen.size
    print(
        f"\n## {answers:,} answers, a judge that takes {chosen.latency:g} ms, two calls in flight a worker\n"
    )
    found: dict[int, list[float]] = {count: [] for count in counts}
    first: list[dict[str, Any]] | None = None
    with start_postgresql() as server, tempfile.TemporaryDirectory() as folder:
        # By turns, so that other work on the machine meets all alike.
        for round_number in range(chosen.rounds):
            for count in counts:
                place = Path(folder) / f"{round_number}-{count}"
                place.mkdir()
                wall_s, verdicts, shares = measure(server, place, bank, count, chosen.size, chosen.latency)
                first = first or verdicts
                assert verdicts == first, "the workers judged otherwise"
                found[count].append(wall_s)
                print(
                    f"{count} workers: {wall_s:6.1f} s, {answers / wall_s:6.1f} judgements a second; calls {shares}",
                    flush=True,
                )
    alone = statistics.median(found[counts[0]])
    for count in counts[1:]:
        print(
            f"{count} workers are {alone / statistics.median(found[count]):.2f} times as fast as {counts[0]}"
        )


def measure(
    server: PostgresqlServer,
    place: Path,
    bank: pl.DataFrame,
    worker_count: int,
    size: int,
    latency_ms: float,
) -> tuple[float, list[dict[str, Any]], list[int]]:
    """Sit a fresh run, and judge it by so many workers.

    Returns the seconds, the judgements that landed, and the calls of each worker.
    """
    shared = {
        "ledger_url": server.new_ledger_url(),
        "lake_catalog": server.new_catalog(),
        "lake_data": str(place / "data"),
        "secrets": place / "secrets",
        "registry": place / "models.yaml",
    }
    homes = [
        make_values(place / f"home-{number}", size, repeats=REPEATS, **shared)
        for number in range(worker_count)
    ]
    for home in homes:
        home["home"].mkdir()
    plan_shared_run(Settings(**homes[0]), bank)
    with _serve_models(bank, latency_ms) as models:
        _work(homes[:1], models.url, place, "sit")
        started = time.perf_counter()
        shares = _work(homes, models.url, place, "judge")
        wall_s = time.perf_counter() - started
    return wall_s, read_tables(Settings(**homes[0]))["judgements"], shares


@contextmanager
def _serve_models(bank: pl.DataFrame, latency_ms: float) -> Iterator[RunningServer]:
    """Candidates that answer at once, and a judge that thinks."""
    with start_server(
        build_answer_key(bank),
        models={
            **{name: {} for name in CANDIDATES},
            JUDGE: {"kind": "judge", "latency_ms": latency_ms, "latency_spread": 0.3},
        },
    ) as server:
        yield server


def _work(homes: Sequence[dict[str, Any]], url: str, place: Path, what: str) -> list[int]:
    """A worker for each home, all at once; how many calls each sent."""
    notes = [place / f"{what}-{number}.json" for number in range(len(homes))]
    workers = [
        start_worker({**home, "simulated_url": url}, what, path)
        for home, path in zip(homes, notes, strict=True)
    ]
    for worker in workers:
        worker.join()
    assert not any(worker.exitcode for worker in workers)
    return [json.loads(path.read_text("utf-8")).get("sent", 0) for path in notes]


if __name__ == "__main__":
    main(sys.argv[1:])
