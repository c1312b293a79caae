"""A year by the real commands: which share of each month compares with the other months.

    python -m tests.benchmarks year_by_commands
    python -m tests.benchmarks.year_by_commands [--candidates 7] [--months 12] [--questions 120] [--home DIR] [--set NAME=VALUE]

A bank of plain questions lies in the lake; everything after it is what a month's work does: `proctor evaluate`, `judge` and
`publish`, one month after the other, with simulated candidates over HTTP. Settings are the defaults, except for one prompt style
and one repeat, so that a year takes minutes. A candidate has a known ability, the same all year: its truth is S on a bank without end.
A row counts as equated where `edition_scores.equated_score` is there, in a discipline and over all of them; errors are those of scores over
all. After each month every row of the editions before it is the same bit for bit, or it fails.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import os
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import yaml

from deployments.flow_runs import run_flow
from deployments.home import create_home
from deployments.model_server import build_answer_key, parse_profile, start_model_server
from schemas.settings import Settings, load_settings
from schemas.tables import TABLES
from schemas.vocabulary import EXAMINED_DISCIPLINES
from tests.benchmarks.history_rows import land_month
from tests.benchmarks.year_texts import describe_bank
from warehouse.lake import open_lake

# Questions of the bank by discipline, at least: enough for a year of two sets of 120 a month.
BANK_SIZE = 600
# Logits by which questions differ in difficulty for simulated candidates.
DIFFICULTY_SPREAD = 1.2
# Candidates of one organisation, on average; the reference has an organisation of its own.
PER_ORGANISATION = 3


@dataclass(frozen=True)
class Year:
    """How large the year is, and which settings differ from the defaults."""

    candidates: int = 7
    months: int = 12
    questions: int = 120
    settings: tuple[tuple[str, str], ...] = ()
    seed: str = "year-1"


def main(arguments: Sequence[str] = ()) -> None:
    """Print what each month of the years that are asked for came to."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--candidates", type=int, action="append")
    parser.add_argument("--months", type=int, default=12)
    parser.add_argument("--questions", type=int, default=120)
    parser.add_argument("--seed", default="year-1")
    parser.add_argument("--home", type=Path)
    parser.add_argument("--set", action="append", default=[], help="NAME=VALUE of a setting (PROCTOR_NAME)")
    chosen = parser.parse_args(arguments)
    settings = tuple((name, value) for name, _, value in (one.partition("=") for one in chosen.set))
    for count in chosen.candidates or [7]:
        year = Year(count, chosen.months, chosen.questions, settings, chosen.seed)
        with contextlib.ExitStack() as stack:
            home = chosen.home or Path(stack.enter_context(tempfile.TemporaryDirectory()))
            began = time.process_time()
            found = hold_year(home, year)
            print(render_year(year, found, time.process_time() - began), flush=True)


def hold_year(home: Path, year: Year) -> pl.DataFrame:
    """Hold the months one after the other; a row for each with its anchors and equated rows."""
    share = year.questions // len(EXAMINED_DISCIPLINES)
    size = max(BANK_SIZE, 2 * share * (year.months + 1))
    registry, profile = describe_candidates(year)
    bank = describe_bank(size * len(EXAMINED_DISCIPLINES), EXAMINED_DISCIPLINES)
    settings = hold_months(home, year, bank, registry, profile)
    return read_months(settings, compute_truths(profile))


def compute_truths(profile: Mapping[str, Any]) -> dict[str, float]:
    """The expected S of each simulated candidate, over questions of every difficulty."""
    return {
        name: 100.0
        * float(np.mean([_expect_share(share, one["explanation"]) for share in one["accuracy"].values()]))
        for name, one in profile["models"].items()
        if "accuracy" in one
    }


def _expect_share(accuracy: float, explanation: float) -> float:
    """Share of all stars: 3 for what is right and well explained, 2 for right, some have 1."""
    places, weights = np.polynomial.hermite_e.hermegauss(21)
    ability = np.log(accuracy / (1.0 - accuracy)) * np.sqrt(1.0 + np.pi * DIFFICULTY_SPREAD**2 / 8.0)
    knows = float(weights @ (1.0 / (1.0 + np.exp(DIFFICULTY_SPREAD * places - ability))) / weights.sum())
    return (knows * (2.0 + explanation) + (1.0 - knows) * 0.4 * explanation) / 3.0


def hold_months(
    home: Path,
    year: Year,
    bank: Mapping[str, pl.DataFrame],
    registry: Mapping[str, Any],
    profile: Mapping[str, Any],
) -> Settings:
    """The months of these candidates on this bank; returns the settings of the home."""
    months = [f"{2026 + number // 12}-{number % 12 + 1:02d}" for number in range(year.months)]
    home.mkdir(parents=True, exist_ok=True)
    (home / "models.yaml").write_text(yaml.safe_dump(dict(registry)))
    environment = {
        "PROCTOR_HOME": str(home),
        "PROCTOR_NO_SERVER": "true",
        "PROCTOR_SET_SIZE": str(year.questions),
        "PROCTOR_REPEATS": "1",
        "PROCTOR_PROMPT_STYLES": '["zero_shot"]',
        **{f"PROCTOR_{name.upper()}": value for name, value in year.settings},
    }
    with _environment(environment):
        settings = load_settings()
        create_home(settings)
        with open_lake(settings) as lake:
            land_month(lake, bank, datetime(2022, 12, 1, tzinfo=UTC))
            rows = lake.read("latest_bank")
        with (
            start_model_server(parse_profile(profile), build_answer_key(rows)) as server,
            _environment({"PROCTOR_SIMULATED_URL": server.url}),
        ):
            frozen: dict[tuple[str, str], int] = {}
            for month in months:
                _hold_month(month, list(registry["models"])[: year.candidates])
                frozen = _check_frozen(settings, frozen)
        return settings


def describe_candidates(year: Year) -> tuple[dict[str, Any], dict[str, Any]]:
    """Registry and profile: the last candidate is the reference, and is the best."""
    random = np.random.default_rng(31)
    owners = max(2, round((year.candidates - 1) / PER_ORGANISATION)) if year.candidates > 10 else 5
    accuracy = np.clip(random.normal(0.62, 0.12, year.candidates), 0.3, 0.85)
    accuracy[-1] = 0.88
    models, simulated = {}, {}
    for number in range(year.candidates):
        is_last = number == year.candidates - 1
        name = f"sim-{number:02d}"
        owner = "Reference House" if is_last else f"House {number % owners:02d}"
        models[name] = {
            "provider": "simulated", "organisation": owner, "release_date": "2025-12-01", "is_open": False,
            "parameters": {"temperature": 0}, "input_price_usd": 0.0, "output_price_usd": 0.0,
            "roles": ["candidate", "reference"] if is_last else ["candidate"],
        }  # fmt: skip
        shares = np.clip(accuracy[number] + random.normal(0, 0.04, len(EXAMINED_DISCIPLINES)), 0.2, 0.95)
        simulated[name] = {
            "owned_by": owner,
            "accuracy": dict(zip(EXAMINED_DISCIPLINES, map(float, shares), strict=True)),
            "explanation": float(np.clip(0.6 + accuracy[number] / 4, 0, 1)),
        }
    models["sim-judge"] = {
        "provider": "simulated", "organisation": "Bureau", "roles": ["judge"], "parameters": {"temperature": 0},
        "input_price_usd": 0.0, "output_price_usd": 0.0,
    }  # fmt: skip
    simulated["sim-judge"] = {"kind": "judge", "owned_by": "Bureau", "agreement": 1.0}
    organisations = dict.fromkeys(sorted({str(one["organisation"]) for one in models.values()}))
    providers = {"simulated": {"base_url": "simulated", "max_concurrency": 32}}
    return (
        {"providers": providers, "organisations": organisations, "models": models},
        {"seed": year.seed, "models": simulated},
    )


def render_year(year: Year, months: pl.DataFrame, cpu_s: float) -> str:
    """What each month came to, in lines, and the share of equated rows from the second month on."""
    differing = ", ".join(f"{name}={value}" for name, value in year.settings) or "default settings"
    lines = [
        f"\n## {year.candidates} candidates, {year.months} months, sets of {year.questions} ({differing}; {cpu_s:.0f} CPU s)\n",
        f"{'month':<9}{'sets':>5}{'anchors':>10}{'rows':>7}{'equated':>9}{'over all':>10}{'error':>7}{'S off':>8}{'off':>7}{'held':>6}"
        "  withheld",
    ]
    for row in months.iter_rows(named=True):
        error, off, held = (
            "" if row[name] is None else f"{row[name]:.2f}"
            for name in ("equated_se", "equated_off", "held_share")
        )
        lines.append(
            f"{row['month']:<9}{row['set_count']:>5}{row['anchor_count']:>4} /{row['question_count']:>5}{row['row_count']:>6}"
            f"{row['equated_count']:>9}{row['whole_equated_count']:>5} /{row['whole_count']:>3}{error:>8}{row['score_off']:>8.2f}"
            f"{off:>7}{held:>6}  {row['withheld'] or ''}"
        )
    later = months.slice(1)
    if later.height:
        share = int(later["equated_count"].sum()) / int(later["row_count"].sum())
        lines.append(f"from the second month on: {share:.1%} of the rows are equated")
    return "\n".join(lines)


def _hold_month(month: str, candidates: list[str]) -> None:
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        run = run_flow("evaluate", month=month, candidates=candidates)
        run_flow("judge", run_id=run["run_id"])
        run_flow("publish", run_id=run["run_id"])


def _check_frozen(settings: Settings, before: Mapping[tuple[str, str], int]) -> dict[tuple[str, str], int]:
    """A sum of the rows of each table and edition, bit for bit.

    Raises ValueError where a later month changed one.
    """
    found: dict[tuple[str, str], int] = {}
    with open_lake(settings, read_only=True) as lake:
        for table in ("editions", *(name for name in TABLES if name.startswith("edition_"))):
            sums = lake.query(
                f"SELECT edition_id, sum(hash(t))::VARCHAR AS total FROM {table} AS t GROUP BY edition_id"
            )
            found |= {(table, edition): int(total) for edition, total in sums.iter_rows()}
    if changed := sorted(key for key, total in before.items() if found.get(key) != total):
        raise ValueError(f"A later month changed what was published: {changed}.")
    return found


def read_months(settings: Settings, truths: Mapping[str, float]) -> pl.DataFrame:
    """A row for each month: sets, what is equated, why not, how far from the truth."""
    known = pl.DataFrame({"model": list(truths), "truth": list(truths.values())})
    with open_lake(settings, read_only=True) as lake:
        rows = lake.query(
            """
            SELECT month, count(*) AS row_count, count(equated_score) AS equated_count,
                count(*) FILTER (discipline = 'all') AS whole_count,
                count(equated_score) FILTER (discipline = 'all') AS whole_equated_count,
                median(equated_se) FILTER (discipline = 'all') AS equated_se
            FROM edition_scores GROUP BY month ORDER BY month
            """
        )
        whole = lake.query("SELECT * FROM edition_scores WHERE discipline = 'all'").join(known, on="model")
        fits = lake.query("SELECT month, any_value(withheld) AS withheld FROM edition_fits GROUP BY month")
        sets = lake.query(
            """
            SELECT r.month, count(DISTINCT t.set_id) AS set_count, count(*) AS question_count,
                count(*) FILTER (t.is_anchor) AS anchor_count
            FROM sets AS t JOIN (
                SELECT DISTINCT run_id, set_id FROM sessions
            ) AS s USING (set_id) JOIN runs AS r USING (run_id)
            GROUP BY r.month ORDER BY r.month
            """
        )
    truth = pl.col("truth")
    off = whole.group_by("month").agg(
        score_off=((pl.col("score") - truth) ** 2).mean().sqrt(),
        equated_off=((pl.col("equated_score") - truth) ** 2).mean().sqrt(),
        held_share=truth.is_between("equated_low", "equated_high").mean(),
    )
    return sets.join(rows, on="month").join(off, on="month").join(fits, on="month", how="left").sort("month")


@contextlib.contextmanager
def _environment(values: dict[str, str]) -> Iterator[None]:
    before = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    load_settings.cache_clear()
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
        load_settings.cache_clear()


if __name__ == "__main__":
    import sys

    main(sys.argv[1:])
