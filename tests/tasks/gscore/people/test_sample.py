"""Samples for people, and the agreement of Gscore with the scores that people gave.

Their workbooks go into and out of the lake.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from openpyxl import load_workbook

from schemas.errors import UsageError, WorkbookError
from schemas.settings import Settings
from schemas.tables import get_table
from tasks.gscore.cgeval import read_references
from tasks.gscore.people.agreement import compute_sample_agreement
from tasks.gscore.people.rating_workbook import export_rating_workbook, land_ratings
from tasks.gscore.people.sample import draw_sample, read_sample, write_sample
from tasks.review.marking import compute_key
from tests.fresh import open_new_lake
from tests.tasks.gscore.world import write_question_file, write_reference_file
from warehouse.lake import Lake

MODELS = ("alpha", "beta", "gamma")


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(home=tmp_path / "home")


@pytest.fixture
def questions(tmp_path: Path) -> pl.DataFrame:
    found = write_question_file(tmp_path / "questions.csv")
    write_reference_file(tmp_path / "references.csv", found)
    return found.with_row_index("seq", offset=1).with_columns(pl.col("seq").cast(pl.Int64))


@pytest.fixture
def references(questions: pl.DataFrame, tmp_path: Path) -> pl.DataFrame:
    return read_references(tmp_path / "references.csv", questions)


@pytest.fixture
def lake(settings: Settings) -> Iterator[Lake]:
    settings.home.mkdir(parents=True)
    with open_new_lake(settings) as opened:
        yield opened


def make_answers(questions: pl.DataFrame, model: str) -> pl.DataFrame:
    return questions.with_columns(
        model=pl.lit(model),
        run_id=pl.lit("r"),
        session_id=pl.lit(f"cgeval/r/{model}"),
        response=pl.format("{} answers {}", pl.lit(model), "seq"),
    )


def draw(questions: pl.DataFrame, references: pl.DataFrame, **changes: Any) -> pl.DataFrame:
    answers = [make_answers(questions, model) for model in MODELS]
    return draw_sample(answers, references, **{"seed": 3, "size": 26, **changes})


def fill(path: Path, scores: Mapping[str, object]) -> None:
    """Write scores by key into the workbook, as a person would."""
    book = load_workbook(path)
    sheet = book["scores"]
    for row in sheet.iter_rows(min_row=2):
        row[5].value = scores.get(str(row[0].value))  # type: ignore[assignment]
    book.save(path)


def test_a_sample_has_the_subjects_in_their_shares_and_one_model_per_question(
    questions: pl.DataFrame, references: pl.DataFrame
) -> None:
    sample = draw(questions, references)
    assert sample["question_uuid"].n_unique() == sample.height == 26
    shares = dict(sample["subject"].value_counts().rows())
    pool = dict(questions["subject"].value_counts().rows())
    assert all(abs(shares[name] - count / 2) <= 1 for name, count in pool.items())
    assert set(sample["model"]) == set(MODELS)
    assert sample.equals(draw(questions, references))
    assert not sample.equals(draw(questions, references, seed=4))
    with pytest.raises(UsageError, match="fewer than the 53"):
        draw(questions, references, size=53)


def test_only_questions_with_a_reference_are_drawn(questions: pl.DataFrame, references: pl.DataFrame) -> None:
    sample = draw(questions, references.head(10), size=10)
    assert set(sample["question_uuid"]) == set(questions["cgeval_id"].head(10))
    with pytest.raises(UsageError, match="No model has answered"):
        draw_sample([], references, 1)


def test_a_kept_sample_is_not_replaced_by_another(
    settings: Settings, questions: pl.DataFrame, references: pl.DataFrame
) -> None:
    sample = draw(questions, references)
    assert write_sample(settings, "human", sample) is True
    assert write_sample(settings, "human", sample) is False
    with pytest.raises(UsageError, match="another sample named 'human'"):
        write_sample(settings, "human", draw(questions, references, seed=9))
    assert read_sample(settings, "human").equals(sample)
    with pytest.raises(UsageError, match="there are: human"):
        read_sample(settings, "other")
    with pytest.raises(UsageError, match="not a name for a sample"):
        write_sample(settings, "../x", sample)


def test_ratings_land_once_and_a_blank_is_no_rating(
    lake: Lake, questions: pl.DataFrame, references: pl.DataFrame, tmp_path: Path
) -> None:
    sample, path = draw(questions, references), tmp_path / "ratings.xlsx"
    export_rating_workbook(sample, path)
    keys = [compute_key(*pair) for pair in sample.select("question_uuid", "model").iter_rows()]
    fill(path, {key: number % 11 / 10 for number, key in enumerate(keys[:-1])})

    found = land_ratings(lake, path, sample, "human", "li")
    again = land_ratings(lake, path, sample, "human", "li")
    assert (found["ratings"], found["left_empty"], found["is_unchanged"]) == (25, 1, False)
    assert again["is_unchanged"] is True
    rows = lake.query("select * from human_ratings")
    first = sample.row(0, named=True)
    kept = rows.filter(session_id=first["session_id"], seq=first["seq"]).row(0, named=True)
    assert (kept["rater"], kept["round"], kept["scale"], kept["value"]) == ("li", 1, "score_0_1", 0.0)
    assert rows.height == 25


def test_a_faulty_workbook_lands_nothing(
    lake: Lake, questions: pl.DataFrame, references: pl.DataFrame, tmp_path: Path
) -> None:
    sample, path = draw(questions, references), tmp_path / "ratings.xlsx"
    export_rating_workbook(sample, path)
    keys = [compute_key(*pair) for pair in sample.select("question_uuid", "model").iter_rows()]
    fill(path, dict.fromkeys(keys, 0.5) | {keys[3]: 7})
    with pytest.raises(WorkbookError, match="column F"):
        land_ratings(lake, path, sample, "human", "li")
    with pytest.raises(UsageError, match="no rater"):
        land_ratings(lake, path, sample, "human", " ")
    assert lake.query("select * from human_ratings").is_empty()


def test_agreement_is_of_every_part_and_of_the_mean_of_the_raters(
    lake: Lake, questions: pl.DataFrame, references: pl.DataFrame, tmp_path: Path
) -> None:
    with pytest.raises(UsageError, match="No answer has both"):
        compute_sample_agreement(lake.run_named, "human")
    sample = draw(questions, references)
    keys = [compute_key(*pair) for pair in sample.select("question_uuid", "model").iter_rows()]
    for rater, shift in (("li", 0), ("wu", 1)):
        path = tmp_path / f"{rater}.xlsx"
        export_rating_workbook(sample, path)
        fill(path, {key: min(10, number // 3 + shift) / 10 for number, key in enumerate(keys)})
        land_ratings(lake, path, sample, "human", rater)
    scored = sample.with_row_index("place").select(
        "run_id", "session_id", "seq", "model", "category", "subject",
        item_id="question_uuid",
        is_simulated=pl.lit(True),
        chrf=pl.col("place") / 30,
        # the other way round than people
        bleu4=1 - pl.col("place") / 30,
        profile=pl.lit("standard"),
        similarity_model=pl.lit("none"),
    )  # fmt: skip
    lake.land("gscores", "unit", get_table("gscores").frame(scored.to_dicts()))

    found = compute_sample_agreement(lake.run_named, "human", resample_count=50)
    rows = {row["metric"]: row for row in found.to_dicts()}
    assert rows["chrf"]["pair_count"] == 26
    assert rows["chrf"]["spearman_rho"] == pytest.approx(0.99, abs=0.02)
    assert rows["bleu4"]["kendall_tau"] == pytest.approx(-rows["chrf"]["kendall_tau"])
    assert rows["chrf"]["kendall_low"] <= rows["chrf"]["kendall_tau"] <= rows["chrf"]["kendall_high"]
    # Nothing has a Gscore without a model: there is no correlation, and none is invented.
    assert (rows["gscore"]["kendall_tau"], rows["gscore"]["left_out_count"]) == (None, 26)
    assert found["is_simulated"].all()
    assert found.equals(compute_sample_agreement(lake.run_named, "human", resample_count=50))
    with pytest.raises(UsageError, match="'other'"):
        compute_sample_agreement(lake.run_named, "other")
