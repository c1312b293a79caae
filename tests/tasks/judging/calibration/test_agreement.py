"""Calibration against people, on made ratings and on real double marks."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from schemas.errors import UsageError
from schemas.tables import get_table
from tasks.judging.calibration.agreement import (
    choose_primary_judge,
    compute_calibration,
    compute_consensus,
    compute_consensuses,
    compute_judge_means,
    compute_rater_agreement,
    pair_ratings,
)
from tasks.judging.calibration.calibrate import compute_groups
from tasks.judging.calibration.marks import compare_marks, read_marks
from tasks.statistics.agreement import compute_kappa
from tests.warehouse.test_sql_cases import fill_rows

SHARED = Path(os.environ.get("PROCTOR_SHARED_DATA", Path(__file__).resolve().parents[5] / "shared" / "data"))
DOUBLE_MARKED = SHARED / "judged" / "gaokao_human_double_marked.parquet"
NOW = datetime(2026, 10, 1, tzinfo=UTC)


def make_ratings(
    values: dict[int, list[int]], *, session_id: str = "s", number: int = 1, **changes: Any
) -> pl.DataFrame:
    """Ratings by position: one value per rater."""
    rows = [
        {
            "session_id": session_id,
            "seq": seq,
            "rater": f"rater-{place}",
            "round": number,
            "scale": "stars_0_3",
            "value": float(value),
            "rated_at": NOW,
        }
        | changes
        for seq, stars in values.items()
        for place, value in enumerate(stars)
    ]
    return get_table("human_ratings").frame(rows)


def make_judgements(
    stars: dict[int, int], judge: str = "j", model: str = "m", prompt_version: str = "1"
) -> pl.DataFrame:
    """Judgements as they are read for a calibration, with the candidate."""
    return pl.DataFrame(
        [
            {
                "session_id": "s",
                "seq": seq,
                "model": model,
                "judge": judge,
                "prompt_version": prompt_version,
                "judged_stars": value,
            }
            for seq, value in stars.items()
        ]
    )


def calibrate(ratings: pl.DataFrame, judgements: pl.DataFrame, **options: Any) -> pl.DataFrame:
    return compute_calibration(pair_ratings(compute_consensuses(ratings), judgements), **options)


@pytest.mark.parametrize(
    ("values", "stars", "rule"),
    [
        ([3, 3], 3, "majority"),
        ([2, 3], 2, "median"),
        ([0, 3], 1, "median"),
        ([1, 1, 3], 1, "majority"),
        ([0, 2, 3], 2, "median"),
        ([0, 0, 3, 3], 1, "median"),
        ([2, 2, 2, 0, 1], 2, "majority"),
        ([3, 3, 0, 1], 2, "median"),
    ],
)
def test_the_consensus_is_the_majority_else_the_median_rounded_down(
    values: list[int], stars: int, rule: str
) -> None:
    assert compute_consensus(values) == (stars, rule)
    assert compute_consensus(values[::-1]) == (stars, rule)


def test_a_response_that_one_person_rated_has_no_consensus() -> None:
    consensus = compute_consensuses(make_ratings({1: [3], 2: [2, 2], 3: [1, 2, 3]}))
    assert consensus.to_dicts() == [
        {
            "session_id": "s",
            "seq": 2,
            "round": 1,
            "agreed_stars": 2,
            "mean_stars": 2.0,
            "rater_count": 2,
            "rule": "majority",
        },
        {
            "session_id": "s",
            "seq": 3,
            "round": 1,
            "agreed_stars": 2,
            "mean_stars": 2.0,
            "rater_count": 3,
            "rule": "median",
        },
    ]


def test_two_who_differ_by_two_stars_wait_for_an_adjudicator_whose_stars_settle_it() -> None:
    ratings = make_ratings({1: [0, 2], 2: [2, 3]})
    assert compute_consensuses(ratings).select("seq", "agreed_stars", "mean_stars", "rule").rows() == [
        (2, 2, 2.5, "median")
    ]
    settled = make_ratings({1: [2]}, rater="third", is_adjudication=True)
    found = compute_consensuses(pl.concat([ratings, settled]))
    assert found.select("seq", "agreed_stars", "mean_stars", "rater_count", "rule").rows() == [
        (1, 2, 4 / 3, 3, "adjudicated"),
        (2, 2, 2.5, 2, "median"),
    ]


def test_scores_on_another_scale_are_no_stars() -> None:
    assert compute_consensuses(make_ratings({1: [1, 1]}, scale="score_0_1")).is_empty()


def test_a_rating_between_stars_is_refused() -> None:
    with pytest.raises(UsageError, match=r"session s, position 1: a rating of 2\.5"):
        compute_consensuses(make_ratings({1: [2, 2]}, value=2.5))


def test_calibration_has_a_kappa_per_judge_candidate_round_and_weighting() -> None:
    people = {1: [0, 0], 2: [1, 1], 3: [2, 2], 4: [3, 3], 5: [3, 3]}
    ratings = pl.concat([make_ratings(people), make_ratings({1: [0, 0], 2: [3, 3]}, number=2)])
    judgements = pl.concat(
        [
            make_judgements({1: 0, 2: 1, 3: 2, 4: 3, 5: 2}),
            make_judgements({1: 0, 2: 0, 3: 3, 4: 3, 5: 3}, "k"),
        ]
    )
    calibration = calibrate(ratings, judgements)
    assert calibration.select("judge", "model", "round", "weighting", "pair_count").rows() == [
        (judge, "m", number, weighting, count)
        for judge in "jk"
        for number, count in ((1, 5), (2, 2))
        for weighting in ("none", "linear", "quadratic")
    ]
    row = calibration.row(0, named=True)
    assert row["kappa"] == compute_kappa([0, 1, 2, 3, 3], [0, 1, 2, 3, 2], (0, 1, 2, 3))
    assert calibration.columns == [column.name for column in get_table("calibration").own_columns]


def test_families_of_one_name_in_two_organisations_are_two_groups() -> None:
    rows = [
        {"session_id": one, "seq": 1, "organisation": one, "family": "chat", "judged_stars": stars}
        for one, stars in (("North", 3), ("South", 0))
    ]
    pairs = fill_rows(
        get_table("calibration_pairs"), [{"agreed_stars": 0, "mean_stars": 0.0} | row for row in rows]
    )

    groups = compute_groups(pairs).filter(group_kind="family", round=0)

    assert groups.select("group_name", "pair_count", "bias").rows() == [
        ("chat (North)", 1, 3.0), ("chat (South)", 1, 0.0),
    ]  # fmt: skip


def test_every_version_of_a_prompt_has_kappas_of_its_own() -> None:
    ratings = make_ratings({1: [0, 0], 2: [3, 3], 3: [1, 1]})
    judgements = pl.concat(
        [
            make_judgements({1: 0, 2: 3}),
            make_judgements({3: 1}),
            make_judgements({1: 3, 2: 0}, prompt_version="2"),
        ]
    )
    calibration = calibrate(ratings, judgements, occasion="2026-10")
    unweighted = calibration.filter(pl.col("weighting") == "none")
    assert unweighted.select("judge", "prompt_version", "occasion", "kappa", "pair_count").rows() == [
        ("j", "1", "2026-10", 1.0, 3),
        ("j", "2", "2026-10", -1.0, 2),
    ]


def test_a_kappa_that_is_undefined_is_null_and_not_in_the_mean() -> None:
    ratings = make_ratings({1: [3, 3], 2: [3, 3], 11: [0, 0], 12: [3, 3]})
    judgements = pl.concat([make_judgements({1: 3, 2: 3}), make_judgements({11: 0, 12: 3}, model="n")])
    calibration = calibrate(ratings, judgements)
    unweighted = calibration.filter(pl.col("weighting") == "none")
    assert unweighted.select("model", "kappa").rows() == [("m", None), ("n", 1.0)]
    means = compute_judge_means(calibration).filter(pl.col("weighting") == "none").to_dicts()
    assert means == [
        {
            "judge": "j",
            "prompt_version": "1",
            "weighting": "none",
            "mean_kappa": 1.0,
            "kappa_count": 1,
            "pair_count": 2,
        }
    ]


def test_the_judge_that_agrees_most_with_people_is_the_primary_one() -> None:
    ratings = make_ratings({seq: [seq % 4] * 2 for seq in range(12)})
    agreeing = make_judgements({seq: seq % 4 for seq in range(12)}, "zeal")
    erring = make_judgements({seq: 3 if seq % 3 else seq % 4 for seq in range(12)}, "alpha")
    assert choose_primary_judge(calibrate(ratings, pl.concat([erring, agreeing]))) == "zeal"


def test_before_any_calibration_no_judge_is_primary() -> None:
    assert choose_primary_judge(get_table("calibration").frame([])) is None


def test_a_judge_that_was_compared_on_too_few_responses_is_not_primary() -> None:
    ratings = make_ratings({seq: [seq % 4] * 2 for seq in range(12)})
    few = make_judgements({seq: seq for seq in range(3)}, "zeal")
    many = make_judgements({seq: 3 if seq % 3 else seq % 4 for seq in range(12)}, "alpha")
    found = calibrate(ratings, pl.concat([few, many]))
    assert (choose_primary_judge(found), choose_primary_judge(found, 10)) == ("zeal", "alpha")
    assert choose_primary_judge(found, 13) is None


def test_raters_agreement_is_told_by_round() -> None:
    ratings = pl.concat(
        [make_ratings({1: [0, 0], 2: [3, 3], 3: [1, 2]}), make_ratings({1: [2, 2, 3]}, number=2)]
    )
    first, second = compute_rater_agreement(ratings).to_dicts()
    assert (first["round"], first["response_count"], first["agreement_rate"]) == (1, 3, pytest.approx(2 / 3))
    assert (second["round"], second["response_count"], second["agreement_rate"]) == (
        2,
        1,
        pytest.approx(1 / 3),
    )
    assert 0 < first["alpha_nominal"] < first["alpha_ordinal"] < 1


@pytest.mark.skipif(
    not DOUBLE_MARKED.exists(), reason="needs the real data beside the checkout (or PROCTOR_SHARED_DATA)"
)
def test_kappas_of_the_marks_themselves_are_the_published_ones() -> None:
    """The marks as they were given, in halves: .688 unweighted, .920 linear, .984 quadratic."""
    found = compare_marks(read_marks(DOUBLE_MARKED, "human_1", "human_2"))
    assert (found.pair_count, found.left_out) == (1185, 0)
    assert {name: kappa and round(kappa.value, 3) for name, kappa in found.kappas.items()} == {
        "none": 0.688,
        "linear": 0.920,
        "quadratic": 0.984,
    }
    assert found.agreement.value == pytest.approx(0.718, abs=5e-4)


def test_marks_on_an_uneven_scale_stay_apart_and_count_by_their_distance(tmp_path: Path) -> None:
    path = tmp_path / "marks.csv"
    path.write_text("one,other\n0,0\n3,5\n5,3\n5,5\nNaN,3\n", encoding="utf-8")
    found = compare_marks(read_marks(path, "one", "other"))
    assert (found.pair_count, found.left_out, found.step, found.agreement.value) == (4, 1, 1.0, 0.5)
    linear = compute_kappa([0, 3, 5, 5], [0, 5, 3, 5], range(6), "linear")
    assert found.kappas["linear"] is not None
    assert found.kappas["linear"].value == pytest.approx(linear)
    for third, two in (("0.333", "0.667"), ("0.3333", "0.6667"), ("0.333333", "0.666667")):
        path.write_text(f"one,other\n0,1\n{third},{two}\n1,1\n", encoding="utf-8")
        assert compare_marks(read_marks(path, "one", "other")).step == pytest.approx(1 / 3)
    for endless in ("0,inf", "-1e308,1e308"):
        path.write_text(f"one,other\n{endless}\n3,5\n", encoding="utf-8")
        with pytest.raises(UsageError, match="finite numbers"):
            compare_marks(read_marks(path, "one", "other"))
    path.write_text("one,other\n0.5,0.5001\n0,1\n", encoding="utf-8")
    with pytest.raises(UsageError, match="more than 1000 steps"):
        compare_marks(read_marks(path, "one", "other"))
