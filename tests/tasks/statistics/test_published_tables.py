"""The published tables of LLMEval-Fair and LLMEval-3 put through what makes our numbers now.

A published row stands in for a candidate with one question per discipline, whose stars are its printed score in it: S and R
come from the estimators of an edition, ranks too, and everything above the frozen tables is the SQL that is shipped.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import duckdb
import numpy as np
import polars as pl
import pytest

from schemas.tables import get_table
from tasks.statistics.cells import StarRows
from tasks.statistics.score import MOST_STARS
from tasks.statistics.scores.comparisons import compute_pairs
from tasks.statistics.scores.intervals import Scores, compute_scores
from tasks.statistics.scores.ranks import compute_ranks
from tests.warehouse.lake.kit import connect_trial
from warehouse.lake.reading.queries import read_queries

PUBLISHED = Path(__file__).parent / "published"
REFERENCE = "Doubao-1.5-Thinking-Pro"
EDITION = "r1/1"
MONTH = "2025-09"
PLANNED_AT = datetime(2025, 9, 1, tzinfo=UTC)
# Names of the ten columns of table 8 as the bank writes its disciplines.
DISCIPLINES = {
    name: name.replace("_", " ").title() for name in pl.read_csv(PUBLISHED / "scores.csv").columns[3:]
}
WEIGHTS = np.full(len(DISCIPLINES), 1 / len(DISCIPLINES))


@pytest.fixture
def trial() -> Iterator[duckdb.DuckDBPyConnection]:
    connection = connect_trial()
    edition = {
        "edition_id": EDITION, "run_id": "r1", "month": MONTH, "revision": 1, "is_repetition": False,
        "planned_at": PLANNED_AT, "published_at": PLANNED_AT, "bank_version": 1, "set_size": 10,
        "reference_model": REFERENCE, "judge": "j", "judge_prompt_version": "1", "is_provisional": False,
        "disciplines": list(DISCIPLINES.values()), "weights": "{}", "candidate_count": 59, "unparsed_count": 0,
        "code_version": "0", "basis_hash": "0", "root_hash": "0", "is_simulated": False,
    }  # fmt: skip
    put_rows(connection, "editions", [edition])
    yield connection
    connection.close()


def make_rows(published: pl.DataFrame) -> StarRows:
    """One question per discipline; its stars are the printed score in it."""
    count, disciplines = published.height, len(DISCIPLINES)
    code = np.tile(np.arange(disciplines), count)
    stars = published.select(list(DISCIPLINES)).to_numpy() * MOST_STARS / 10
    return StarRows(
        candidate=np.repeat(np.arange(count), disciplines),
        discipline=code,
        question=code,
        lineage=code,
        stars=stars.ravel(),
    )


def estimate(published: pl.DataFrame) -> Scores:
    return compute_scores(
        make_rows(published),
        WEIGHTS,
        candidate_count=published.height,
        reference=published["model"].to_list().index(REFERENCE),
    )


def rank(published: pl.DataFrame, scores: Scores) -> list[int]:
    pairs = compute_pairs(make_rows(published), WEIGHTS, candidate_count=published.height)
    found = compute_ranks(
        scores.score.value, pairs.first, pairs.second, pairs.differences.difference, pairs.together.p_value
    )
    return [int(value) for value in found.rank]


def put_scores(trial: duckdb.DuckDBPyConnection, published: pl.DataFrame) -> None:
    """Fill `edition_scores` with what the estimators make of the published disciplines."""
    scores = estimate(published)
    assert scores.relative is not None
    ranks = rank(published, scores)
    rows = []
    for index, model in enumerate(published["model"]):
        whole = {
            "score": scores.score.value[index],
            "relative_score": scores.relative.relative.value[index],
            "rank": ranks[index],
        }
        rows.append(describe(model, "zero_shot", "all") | whole)
        rows += [
            describe(model, "zero_shot", name) | {"score": scores.discipline_score[index, code] * 10}
            for code, name in enumerate(DISCIPLINES.values())
        ]
    put_rows(trial, "edition_scores", rows)


def describe(model: str, style: str, discipline: str) -> dict[str, object]:
    counts = ("repeat", "question", "item", "scored", "unanswered", "unparsed", "pair")
    return {
        "edition_id": EDITION, "run_id": "r1", "month": MONTH, "model": model, "organisation": "o", "prompt_style": style,
        "discipline": discipline, "is_reference": model == REFERENCE, "is_simulated": False,
        **{f"{name}_count": 1 for name in counts},
    }  # fmt: skip


def put_rows(trial: duckdb.DuckDBPyConnection, table: str, rows: list[dict[str, object]]) -> None:
    trial.register("published_rows", get_table(table).frame(rows).to_arrow())
    trial.execute(f"INSERT INTO {table} BY NAME SELECT * FROM published_rows")
    trial.unregister("published_rows")


def read_published(name: str) -> pl.DataFrame:
    return pl.read_csv(PUBLISHED / f"{name}.csv")


def measure_sizes(differences: pl.Series) -> tuple[float, float]:
    """The size of the least difference and of the largest."""
    least, largest = differences.abs().min(), differences.abs().max()
    assert isinstance(least, float) and isinstance(largest, float)
    return least, largest


def test_every_published_relative_score_is_s_over_the_references(trial: duckdb.DuckDBPyConnection) -> None:
    published = read_published("scores")
    put_scores(trial, published)

    found = trial.execute("SELECT model, relative_score AS ours FROM leaderboards").pl()

    compared = published.join(found, on="model")
    assert compared.height == 59
    # Some printed R were made from an unrounded S: half a cent more than rounding.
    assert measure_sizes(compared["ours"] - compared["relative_score"])[1] <= 0.015


def test_s_is_the_sum_of_the_ten_disciplines_in_every_published_row(trial: duckdb.DuckDBPyConnection) -> None:
    published = read_published("scores")
    put_scores(trial, published)

    columns = " + ".join(DISCIPLINES)
    found = trial.execute(f"SELECT model, score AS ours, {columns} AS total FROM leaderboards").pl()

    compared = published.join(found, on="model")
    assert compared.height == 59
    assert measure_sizes(compared["score"] - compared["total"])[1] <= 0.015
    assert measure_sizes(compared["ours"] - compared["total"])[1] <= 1e-9


def test_the_published_order_is_the_order_of_s(trial: duckdb.DuckDBPyConnection) -> None:
    published = read_published("scores")
    put_scores(trial, published)

    best = trial.execute(
        "SELECT rank, model, round(relative_score, 2) FROM leaderboards ORDER BY rank LIMIT 3"
    ).fetchall()

    assert best == [(1, REFERENCE, 100.0), (2, "DeepSeek-R1", 97.40), (3, "Gemini-2.5-Pro", 97.22)]


def test_the_published_variances_over_three_styles_are_population_variances(
    trial: duckdb.DuckDBPyConnection,
) -> None:
    published = read_published("styles")
    styles = published.select("model", "zero_shot", "few_shot", "chain_of_thought")
    rows = styles.unpivot(index="model", variable_name="prompt_style", value_name="score")
    put_rows(
        trial,
        "edition_scores",
        [
            describe(row["model"], row["prompt_style"], "all") | {"score": row["score"]}
            for row in rows.iter_rows(named=True)
        ],
    )

    found = trial.execute(
        read_queries("analyses")["style_stability"].body, {"month": None, "simulated": None}
    ).pl()

    compared = published.join(found, on="model")
    difference = (compared["style_variance"] - compared["variance"]).abs()
    assert compared.height == 13
    # Three rows were made from means rounded first.
    assert measure_sizes(difference)[1] < 0.0097
    assert (difference <= 0.005 + 1e-9).sum() == 10
    sample_variance = compared["style_variance"] * 3 / 2
    assert measure_sizes(sample_variance - compared["variance"])[0] > 0.1
    assert measure_sizes(compared["style_mean"] - compared["mean"])[1] <= 0.0085
