"""Conversion, near-duplicates and scores of texts on a Dask cluster.

The cluster has one or two workers and is compared with the process itself.

    python -m tests.benchmarks.dask_speed [--papers 200] [--questions 60000] [--pairs 20000]

Wall seconds, since the work moves to other processes, and the CPU of all of them. Workers have a thread each and share this machine's cores
with whoever asks them: on two cores two workers can gain little, and the figures say what the way there costs.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import polars as pl
import psutil

from schemas.settings import Settings
from tasks.ingest import list_sources, make_options
from tasks.ingest.documents import parse_sources
from tasks.running.cluster import open_cluster
from tests.benchmarks.large_bank import make_large_bank
from tests.dask_cluster import start_dask_cluster
from tests.tasks.bank.kit import compute_signatures
from tests.tasks.gscore.kit import score_surface

PAPERS = Path(__file__).parents[2] / "deployments/demo/papers"


def main(arguments: Sequence[str] = ()) -> None:
    """Do the three with no, one and two workers, and print a line for each."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--papers", type=int, default=200)
    parser.add_argument("--questions", type=int, default=60_000)
    parser.add_argument("--pairs", type=int, default=20_000)
    chosen = parser.parse_args(arguments)
    found = list_sources([PAPERS])
    sources = [found[number % len(found)] for number in range(chosen.papers)]
    bank = make_large_bank(chosen.questions).decisions.with_columns(method=pl.lit("original"))
    texts = bank["stem"].head(chosen.pairs).to_list()
    others = texts[::-1]
    work: dict[str, Callable[[], object]] = {
        f"{chosen.papers} papers converted": lambda: list(parse_sources(sources, make_options(), 2)),
        f"{chosen.questions:,} questions signed": lambda: compute_signatures(bank),
        f"{chosen.pairs:,} pairs scored": lambda: score_surface(texts, others, "cgeval-paper"),
    }
    print("\n## On a Dask cluster\n")
    for workers in (0, 1, 2):
        with _cluster_of(workers) as settings:
            for name, do in work.items():
                before, started = _read_cpu(), time.perf_counter()
                with open_cluster(settings):
                    do()
                print(
                    f"{workers} workers  {name:28} {time.perf_counter() - started:6.1f} s, {_read_cpu() - before:6.1f} CPU s of all processes",
                    flush=True,
                )


@contextmanager
def _cluster_of(workers: int) -> Iterator[Settings]:
    with tempfile.TemporaryDirectory() as folder:
        if not workers:
            yield Settings(home=Path(folder))
            return
        with start_dask_cluster(Path(folder) / "dask", workers) as cluster:
            yield Settings(home=Path(folder), dask=cluster.address)


def _read_cpu() -> float:
    """CPU of this process and all below it, ended ones included."""
    own = psutil.Process()
    times = [own.cpu_times(), *(child.cpu_times() for child in own.children(recursive=True))]
    return (
        sum(found.user + found.system for found in times) + times[0].children_user + times[0].children_system
    )


if __name__ == "__main__":
    main(sys.argv[1:])
