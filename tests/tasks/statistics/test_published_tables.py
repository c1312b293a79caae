"""The published tables of LLMEval-Fair and LLMEval-3 put through the views that make ours.

The tables stand in for the scores of single repeats and disciplines; everything above them is the SQL that is shipped.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import duckdb
import polars as pl
import pytest

from warehouse.lake.queries import read_queries
from warehouse.lake.trial import connect_trial

PUBLISHED = Path(__file__).parent / "published"
REFERENCE = "Doubao-1.5-Thinking-Pro"
REFERENCE_SCORE = 93.67
# Names of the ten columns of table 8 as the bank writes its disciplines.
DISCIPLINES = {
    name: name.replace("_", " ").title() for name in pl.read_csv(PUBLISHED / "scores.csv").columns[3:]
}


@pytest.fixture
def trial() -> Iterator[duckdb.DuckDBPyConnection]:
    connection = connect_trial()
    connection.execute(
        "INSERT INTO runs BY NAME SELECT 'r1' AS run_id, '2025-09' AS month, now() AS planned_at, 1 AS bank_version, "
        f"'{REFERENCE}' AS reference_model, false AS is_simulated"
    )
    yield connection
    connection.close()


def put_scores(trial: duckdb.DuckDBPyConnection, scores: pl.DataFrame) -> None:
    """Replace `edition_repeat_scores` by published S: model, prompt_style, score."""
    shape = trial.execute("SELECT * FROM edition_repeat_scores").pl().clear()
    rows = scores.select(
        "model",
        "prompt_style",
        "score",
        pl.lit("r1").alias("run_id"),
        pl.lit("2025-09").alias("month"),
        pl.lit(REFERENCE).alias("reference_model"),
        (pl.col("model") == REFERENCE).alias("is_reference"),
        pl.concat_str("model", "prompt_style").alias("session_id"),
        pl.col("score").alias("pair_stars"),
        pl.lit(REFERENCE_SCORE).alias("reference_pair_stars"),
        pl.lit(True).alias("is_complete"),
        pl.lit(False).alias("is_provisional"),
        pl.lit(False).alias("is_simulated"),
    )
    replace_view(trial, "edition_repeat_scores", pl.concat([shape, rows], how="diagonal_relaxed"))


def put_disciplines(trial: duckdb.DuckDBPyConnection, published: pl.DataFrame) -> None:
    """Replace `discipline_scores` by the ten published columns."""
    shape = trial.execute("SELECT * FROM discipline_scores").pl().clear()
    rows = (
        published.unpivot(
            DISCIPLINES, index="model", variable_name="discipline", value_name="discipline_score"
        )
        .with_columns(pl.col("discipline").replace(DISCIPLINES))
        .with_columns(
            pl.lit("2025-09").alias("month"),
            pl.lit("zero_shot").alias("prompt_style"),
            pl.lit(False).alias("is_simulated"),
        )
    )
    replace_view(trial, "discipline_scores", pl.concat([shape, rows], how="diagonal_relaxed"))


def replace_view(trial: duckdb.DuckDBPyConnection, name: str, frame: pl.DataFrame) -> None:
    trial.register("published_rows", frame.to_arrow())
    trial.execute(f"DROP VIEW {name}")
    trial.execute(f"CREATE TABLE {name} AS SELECT * FROM published_rows")
    trial.unregister("published_rows")


def read_published(name: str) -> pl.DataFrame:
    return pl.read_csv(PUBLISHED / f"{name}.csv")


def test_every_published_relative_score_is_s_over_the_references(trial: duckdb.DuckDBPyConnection) -> None:
    published = read_published("scores")
    put_scores(trial, published.with_columns(pl.lit("zero_shot").alias("prompt_style")))

    found = trial.execute("SELECT model, relative_score AS ours FROM leaderboards").pl()

    compared = published.join(found, on="model")
    assert compared.height == 59
    # Some printed R were made from an unrounded S: half a cent more than rounding.
    assert (compared["ours"] - compared["relative_score"]).abs().max() <= 0.015


def test_s_is_the_sum_of_the_ten_disciplines_in_every_published_row(trial: duckdb.DuckDBPyConnection) -> None:
    published = read_published("scores")
    put_scores(trial, published.with_columns(pl.lit("zero_shot").alias("prompt_style")))
    put_disciplines(trial, published)

    columns = " + ".join(DISCIPLINES)
    found = trial.execute(f"SELECT model, score, {columns} AS total FROM leaderboards").pl()

    assert found.height == 59
    assert (found["score"] - found["total"]).abs().max() <= 0.015


def test_the_published_order_is_the_order_of_s(trial: duckdb.DuckDBPyConnection) -> None:
    published = read_published("scores")
    put_scores(trial, published.with_columns(pl.lit("zero_shot").alias("prompt_style")))

    best = trial.execute(
        "SELECT rank, model, round(relative_score, 2) FROM leaderboards ORDER BY rank LIMIT 3"
    ).fetchall()

    assert best == [(1, REFERENCE, 100.0), (2, "DeepSeek-R1", 97.40), (3, "Gemini-2.5-Pro", 97.22)]


def test_the_published_variances_over_three_styles_are_population_variances(
    trial: duckdb.DuckDBPyConnection,
) -> None:
    published = read_published("styles")
    styles = published.select("model", "zero_shot", "few_shot", "chain_of_thought")
    put_scores(trial, styles.unpivot(index="model", variable_name="prompt_style", value_name="score"))

    found = trial.execute(
        read_queries("analyses")["style_stability"].body, {"month": None, "simulated": None}
    ).pl()

    compared = published.join(found, on="model")
    difference = (compared["style_variance"] - compared["variance"]).abs()
    assert compared.height == 13
    # Three rows were made from means rounded first.
    assert difference.max() < 0.0097
    assert (difference <= 0.005 + 1e-9).sum() == 10
    sample_variance = compared["style_variance"] * 3 / 2
    assert (sample_variance - compared["variance"]).abs().min() > 0.1
    assert (compared["style_mean"] - compared["mean"]).abs().max() <= 0.0085
