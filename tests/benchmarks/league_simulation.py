"""A full league of eight simulated candidates, five runs and two domains, over real HTTP.

It shows what the league finds, and its CPU per call.

    python -m tests.benchmarks.league_simulation [--runs 5] [--without-bias]

Known abilities are to come out (Spearman of the ranking with the truth), a planted in-family bias is to be found and none
where none is planted, planted memorised answers are to be flagged and others not. The server runs in a process of its own
and is not counted. Nothing here asserts a figure.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from deployments.model_server.league import is_memorised
from schemas.settings import Settings
from tasks.statistics import compute_spearman
from tests.benchmarks.measure import measure_command, print_rows
from tests.tasks.league.world import ABILITIES, build_profile, write_registry
from warehouse.lake import open_lake

ROOT = Path(__file__).resolve().parents[2]
PROCTOR = str(Path(sys.executable).with_name("proctor"))
DOMAINS = "mathematics,programming"
BIAS = 0.8
MEMORISED = 0.1


def main(arguments: Sequence[str] = ()) -> None:
    """Play the league without and with a planted bias, and print what came out."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--without-bias", action="store_true", help="leave out the second league")
    chosen = parser.parse_args(arguments)
    for bias in (0.0,) if chosen.without_bias else (0.0, BIAS):
        with tempfile.TemporaryDirectory() as name:
            _play(Path(name), chosen.runs, bias)


def measure_bias(evaluations: pl.DataFrame, families: Mapping[str, str]) -> tuple[float, float]:
    """(difference, Welch's t) of in-family and other cells.

    A cell is the mean of judge x answerer less the answerer's mean and the judge's own mean.

    Candidates differ: a cell is compared with what its judge and its answerer have elsewhere, within one domain and scale.
    """
    from scipy import stats

    cells = evaluations.group_by("judge", "answerer").agg(pl.col("score").mean())
    cells = cells.with_columns(
        rest=pl.col("score")
        - pl.col("score").mean().over("answerer")
        - pl.col("score").mean().over("judge")
        + pl.col("score").mean()
    )
    is_own = [families[judge] == families[other] for judge, other in cells.select("judge", "answerer").rows()]
    own = cells.filter(pl.Series(is_own))["rest"].to_numpy()
    others = cells.filter(~pl.Series(is_own))["rest"].to_numpy()
    test = stats.ttest_ind(own, others, equal_var=False)
    return float(own.mean() - others.mean()), float(test.pvalue)


def compute_found(evaluations: pl.DataFrame) -> dict[str, float]:
    """Spearman of the mean scores with the planted abilities, by domain."""
    found: dict[str, float] = {}
    for (domain,), part in evaluations.group_by("domain", maintain_order=True):
        means = dict(part.group_by("answerer").agg(pl.col("score").mean()).rows())
        names = sorted(means)
        truth = [ABILITIES[name][1] for name in names]
        rho = compute_spearman([means[name] for name in names], truth).rho
        assert rho is not None
        found[str(domain)] = rho
    return found


def compute_flagged(answers: pl.DataFrame, flags: pl.DataFrame) -> tuple[int, int, int, int]:
    """(planted, flagged of them, others, flagged of them)."""
    flagged = set(flags.select("league_question_id", "answerer").unique().rows())
    counts = [0, 0, 0, 0]
    for question, answerer, response in answers.select("league_question_id", "answerer", "response").rows():
        place = 0 if is_memorised(response or "") else 2
        counts[place] += 1
        counts[place + 1] += (question, answerer) in flagged
    return counts[0], counts[1], counts[2], counts[3]


def _play(folder: Path, runs: int, bias: float) -> None:
    home = folder / "home"
    write_registry(folder / "models.yaml")
    profile = build_profile(memorised=MEMORISED, family_bias=bias)
    with _Server(folder, profile) as url:
        environment = {
            **{k: v for k, v in os.environ.items() if not k.startswith(("PROCTOR_", "PREFECT_"))},
            "PROCTOR_HOME": str(home),
            "PROCTOR_REGISTRY": str(folder / "models.yaml"),
            "PROCTOR_SIMULATED_URL": url,
            "PROCTOR_QUIET": "1",
        }
        measure_command("init", [PROCTOR, "init"], environment)
        command = [
            PROCTOR, "league", "run", "bench", "--candidates", ",".join(ABILITIES), "--domain", DOMAINS,
            "--runs", str(runs), "--no-server",
        ]  # fmt: skip
        played = measure_command(f"eight candidates x {runs} runs x 2 domains", command, environment)
        again = measure_command("again: nothing left to play", command, environment)
    settings = Settings(home=home)
    with open_lake(settings, read_only=True) as lake:
        evaluations = lake.query("SELECT * FROM league_evaluations WHERE score IS NOT NULL")
        answers = lake.query("SELECT * FROM league_answers")
        flags = lake.query("SELECT * FROM league_flags")
        calls = lake.query("SELECT count(*) FROM llm_calls").item()
    families = {name: family for name, (family, _, _) in ABILITIES.items()}
    print_rows(f"League, in-family bias planted: {bias:g}", [played, again])
    print(
        f"\ncalls: {calls}; CPU per call: {(played.cpu_s - again.cpu_s) / calls * 1000:.2f} ms, landing included "
        f"({played.cpu_s / calls * 1000:.2f} ms with the start of the command)"
    )
    for domain, rho in compute_found(evaluations).items():
        part = evaluations.filter(pl.col("domain") == domain)
        difference, p = measure_bias(part, families)
        print(
            f"{domain}: {part.height} data points; Spearman with the truth {rho:.3f}; "
            f"in-family difference {difference:+.3f} (p = {p:.2g})"
        )
    planted, found, others, wrong = compute_flagged(answers, flags)
    print(
        f"memorised: {found} of {planted} planted flagged ({100 * found / max(1, planted):.1f} %), "
        f"{wrong} of {others} others ({100 * wrong / max(1, others):.1f} %)"
    )


class _Server:
    """The simulated model server in a process of its own."""

    def __init__(self, folder: Path, profile: Mapping[str, Any]) -> None:
        self._folder = folder
        self._profile = profile

    def __enter__(self) -> str:
        profile, ready = self._folder / "profile.yaml", self._folder / "ready"
        profile.write_text(json.dumps(self._profile))
        self._process = subprocess.Popen(
            [sys.executable, "-m", "deployments.model_server", "--profile", str(profile), "--ready-file", str(ready)],
            cwd=ROOT,
            stdout=subprocess.DEVNULL,
        )  # fmt: skip
        while not ready.exists():
            if self._process.poll() is not None:
                raise RuntimeError("The simulated model server did not start.")
            time.sleep(0.05)
        return ready.read_text()

    def __exit__(self, *_: object) -> None:
        self._process.terminate()
        self._process.wait()


if __name__ == "__main__":
    main(sys.argv[1:])
