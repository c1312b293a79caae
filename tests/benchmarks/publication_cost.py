"""What does it cost to publish a month after so many others?

Each of 60 candidates sits 1,000 questions in three styles a month. The months before the last are built as they were frozen, straight
in the lake (their answers and judgements are not); the last one is landed whole and published, in a process of its own.

Run: python -m tests.benchmarks.publication_cost [months, default 1,10,37] [candidates, default 60] [questions, default 1000]
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from datetime import datetime, timedelta
from pathlib import Path

import numpy as np
import polars as pl

from schemas.settings import Settings
from schemas.vocabulary import EXAMINED_DISCIPLINES, PROMPT_STYLES
from tests.benchmarks.history_cost import History, read_peak_mb
from tests.benchmarks.history_rows import THRESHOLDS, land_month, number_uuid, publish_month
from warehouse.lake import open_lake


def main(months: str = "1,10,37", candidates: int = 60, questions: int = 1000) -> None:
    """Print one line for each length of the history."""
    for count in map(int, months.split(",")):
        with tempfile.TemporaryDirectory() as folder:
            month, items = _build(Settings(home=Path(folder)), count, candidates, questions)
            code = f"from tests.benchmarks.publication_cost import publish; publish({folder!r}, {month!r})"
            done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
            if done.returncode:
                raise RuntimeError(done.stderr[-2000:])
            found = json.loads(done.stdout.splitlines()[-1])
            print(
                f"month {count}: {found['cpu_s']:.1f} CPU s, peak {found['peak_mb']:,.0f} MB, {found['items']:,} rows of "
                f"edition_items ({items:,} before it), {found['equated']} candidates equated",
                flush=True,
            )


def publish(home: str, month: str) -> None:
    """Publish the last month in this process, and print what it took, imports left out."""
    settings = Settings(home=Path(home))
    with open_lake(settings) as lake:
        lake.query("SELECT 1")
        cpu = time.process_time()
        edition = publish_month(lake, settings, month, is_equated=True)
        cpu = time.process_time() - cpu
        where = f"edition_id = '{edition.edition_id}'"
        items = lake.query(f"SELECT count(*) AS n FROM edition_items WHERE {where}").item()
        equated = lake.query(
            f"SELECT count(equated_score) AS n FROM edition_scores WHERE {where} AND discipline = 'all'"
        ).item()
    print(json.dumps({"cpu_s": cpu, "peak_mb": read_peak_mb(), "items": items, "equated": equated}))


def _build(settings: Settings, months: int, candidates: int, questions: int) -> tuple[str, int]:
    """All months; the last one's name, and the questions that were estimated before it."""
    history, frozen = History(candidates, questions), np.zeros(0, dtype=np.int64)
    month, published = "", 0
    with open_lake(settings) as lake:
        for number in range(months):
            month = f"{2024 + number // 12}-{number % 12 + 1:02d}"
            frames = history.list_frames(number, month)
            planned_at = datetime.fromisoformat(f"{month}-01T02:00:00+00:00")
            if number < months - 1:
                frames = _freeze(frames, history, month, planned_at, is_first=number == 0, frozen=frozen)
                frozen = np.arange(len(history.difficulty))
                published += frames["edition_items"].height
            land_month(lake, frames, planned_at)
    return month, published


def _freeze(
    frames: dict[str, pl.DataFrame],
    history: History,
    month: str,
    planned_at: datetime,
    *,
    is_first: bool,
    frozen: np.ndarray,
) -> dict[str, pl.DataFrame]:
    """What an edition of the month would have frozen, with the true numbers for the fitted ones."""
    edition = {
        "edition_id": f"{month}/1",
        "month": month,
        "is_simulated": False,
        "landing_unit": f"{month}/1",
    }
    shared = {name: pl.lit(value) for name, value in edition.items()}
    answers = (
        frames["judgements"]
        .filter(pl.col("judge") == "judge-a")
        .join(
            frames["allocations"].select("session_id", "seq", "lineage_uuid", "discipline"),
            on=["session_id", "seq"],
        )
        .join(frames["sessions"].select("session_id", "set_id", "organisation"), on="session_id")
    )
    stars = answers.select(
        "set_id", "model", "prompt_style", "question_uuid", "lineage_uuid", "discipline",
        sat_in_run_id=pl.lit(month),
        unparsed_count=pl.lit(0, dtype=pl.Int64),
        **{f"stars_{star}_count": (pl.col("stars") == star).cast(pl.Int64) for star in range(4)},
        **shared,
    )  # fmt: skip
    keys = ["model", "organisation", "prompt_style"]
    counts = {
        f"{name}_count": pl.lit(value, dtype=pl.Int64)
        for name, value in (("repeat", 1), ("unanswered", 0), ("unparsed", 0))
    }
    whole = (
        pl.concat(
            [
                answers.group_by(*keys, "discipline").agg(score=pl.col("stars").mean() / 3 * 100, n=pl.len()),
                answers.group_by(keys)
                .agg(score=pl.col("stars").mean() / 3 * 100, n=pl.len())
                .with_columns(discipline=pl.lit("all")),
            ],
            how="diagonal",
        )
        .with_columns(
            run_id=pl.lit(month),
            is_reference=pl.col("model") == "c00",
            score_se=pl.lit(1.0),
            **{
                f"{name}_count": pl.col("n").cast(pl.Int64) for name in ("question", "item", "scored", "pair")
            },
            **counts,
            **shared,
        )
        .with_columns(
            **{
                f"equated_{name}": pl.when(prompt_style="zero_shot").then(pl.col("score") + by)
                for name, by in (("score", 0.0), ("low", -2.0), ("high", 2.0))
            },
            score_low=pl.col("score") - 2.0,
            score_high=pl.col("score") + 2.0,
            equated_se=pl.lit(1.0),
        )
        .drop("n")
    )
    new = np.arange(len(frozen), len(history.difficulty))
    names = [number_uuid(int(number)) for number in new]
    items = pl.DataFrame(
        {
            "question_uuid": names,
            "lineage_uuid": names,
            "discipline": [EXAMINED_DISCIPLINES[number % len(EXAMINED_DISCIPLINES)] for number in new],
            "discrimination": history.discrimination[new],
            "difficulty": history.difficulty[new],
        }
    ).with_columns(
        first_month=pl.lit(month),
        answer_count=pl.lit(15, dtype=pl.Int64),
        discrimination_se=pl.lit(0.2),
        difficulty_se=pl.lit(0.4),
        is_misfit=pl.lit(False),
        format=pl.lit("unknown"),
        is_on_form=pl.lit(is_first),
        is_moved=pl.lit(False),
        **shared,
    )
    fits = pl.DataFrame({"discipline": list(EXAMINED_DISCIPLINES)}).with_columns(
        **{f"{name}_count": pl.lit(1, dtype=pl.Int64) for name in ("entry", "question", "answer", "round")},
        **{f"threshold_{star}": pl.lit(float(place)) for star, place in enumerate(THRESHOLDS, start=1)},
        ability_sd=pl.lit(0.3),
        is_converged=pl.lit(True),
        method=pl.lit("chain"),
        scale_edition_id=pl.lit("2024-01/1"),
        asymptotes=pl.lit('{"unknown": [0.01, 0.005, 0.001]}'),
        passage_sd=pl.lit(0.0),
        link_covariances=pl.lit(json.dumps({edition["edition_id"]: 0.0 if is_first else 0.01})),
        **shared,
    )
    standings = whole.filter(discipline="all", prompt_style="zero_shot").select(
        "edition_id", "month", "model", "organisation", "score", "score_low", "score_high", "is_simulated", "landing_unit",
        sat_edition_id="edition_id",
        sat_month="month",
        reference_model=pl.lit("c00"),
        comparability=pl.lit("same_edition"),
        standing_score="equated_score",
    )  # fmt: skip
    head = pl.DataFrame([{**edition, "run_id": month, "planned_at": planned_at}]).with_columns(
        revision=pl.lit(1, dtype=pl.Int64),
        is_repetition=pl.lit(False),
        published_at=pl.lit(planned_at + timedelta(days=2)),
        bank_version=pl.lit(1, dtype=pl.Int64),
        set_size=pl.lit(1000, dtype=pl.Int64),
        reference_model=pl.lit("c00"),
        judge=pl.lit("judge-a"),
        judge_prompt_version=pl.lit("1"),
        is_provisional=pl.lit(True),
        disciplines=pl.lit(list(EXAMINED_DISCIPLINES)),
        weights=pl.lit("{}"),
        candidate_count=pl.lit(60, dtype=pl.Int64),
        unparsed_count=pl.lit(0, dtype=pl.Int64),
        code_version=pl.lit("built"),
        basis_hash=pl.lit("built"),
        root_hash=pl.lit("built"),
    )
    assert set(stars["prompt_style"].unique()) == set(PROMPT_STYLES)
    return {
        "runs": frames["runs"],
        "models": frames["models"],
        "sessions": frames["sessions"],
        "editions": head,
        "edition_stars": stars,
        "edition_scores": whole,
        "edition_items": items,
        "edition_fits": fits,
        "edition_standings": standings,
    }


if __name__ == "__main__":
    main("".join(sys.argv[1:2]) or "1,10,37", *map(int, sys.argv[2:4]))
