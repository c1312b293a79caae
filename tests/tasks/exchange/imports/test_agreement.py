"""Agreement of raters in a table, against matrices and pairs computed here."""

from __future__ import annotations

import os
from itertools import permutations
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

from deployments.cli import app
from schemas.errors import UsageError
from tasks.exchange.imports.agreement import compute_table_agreement

SHARED = Path(os.environ.get("PROCTOR_SHARED_DATA", Path(__file__).resolve().parents[5] / "shared" / "data"))
DOUBLE_MARKED = SHARED / "judged" / "gaokao_human_double_marked.parquet"

# Krippendorff (2011), section C: four observers, twelve units, gaps; alpha nominal .743, ordinal .815, interval .849.
KRIPPENDORFF = {
    "A": "1 2 3 3 2 1 4 1 2 . . .",
    "B": "1 2 3 3 2 2 4 1 2 5 . 3",
    "C": ". 3 3 3 2 3 4 2 2 5 1 .",
    "D": "1 2 3 3 2 4 4 1 2 5 1 .",
}


def compute_kappa_by_matrix(first: np.ndarray, second: np.ndarray, power: int) -> float:
    """Kappa as 1 less the observed over the expected weight of the confusion matrix."""
    levels, coded = np.unique(np.concatenate([first, second]), return_inverse=True)
    matrix = np.zeros((len(levels), len(levels)))
    np.add.at(matrix, (coded[: len(first)], coded[len(first) :]), 1)
    rows, columns = np.indices(matrix.shape)
    weights = (rows != columns).astype(float) if power == 0 else np.abs(rows - columns).astype(float) ** power
    expected = np.outer(matrix.sum(axis=1), matrix.sum(axis=0)) / matrix.sum()
    return float(1 - (weights * matrix).sum() / (weights * expected).sum())


def compute_alpha_by_pairs(first: np.ndarray, second: np.ndarray, metric: str) -> float:
    """Alpha of two raters without gaps by every pair's distance, within units and in all."""
    values = np.concatenate([first, second])
    levels, counts = np.unique(values, return_counts=True)
    above = np.cumsum(counts)
    # Ordinal: the mid-ranks of two values are as far apart as the squared distance of the metric says.
    place = {
        "nominal": None,
        "ordinal": dict(zip(levels, above - counts / 2, strict=True)),
        "interval": dict(zip(levels, levels, strict=True)),
    }[metric]
    coded = values if place is None else np.array([place[value] for value in values])

    def distance(a: np.ndarray, b: np.ndarray) -> np.ndarray:
        apart: np.ndarray = (a != b).astype(float) if place is None else (a - b) ** 2
        return apart

    size = len(values)
    within = distance(coded[: len(first)], coded[len(first) :]).mean()
    overall = distance(coded[:, None], coded[None, :]).sum() / (size * (size - 1))
    return float(1 - within / overall)


@pytest.mark.skipif(
    not DOUBLE_MARKED.exists(), reason="needs the real data beside the checkout (or PROCTOR_SHARED_DATA)"
)
def test_agreement_of_real_double_marks_is_that_of_another_computation() -> None:
    found = compute_table_agreement(DOUBLE_MARKED, ["item_id", "run"], None, ["human_1", "human_2"])
    table = pl.read_parquet(DOUBLE_MARKED)
    first, second = table["human_1"].to_numpy(), table["human_2"].to_numpy()
    assert (found.unit_count, found.shared_unit_count, found.rater_count) == (1185, 1185, 2)
    (pair,) = found.pairs
    assert pair.percent_agreement == pytest.approx(float((first == second).mean()), abs=1e-9)
    for power, value in enumerate((pair.kappa, pair.kappa_linear, pair.kappa_quadratic)):
        assert value == pytest.approx(compute_kappa_by_matrix(first, second, power), abs=1e-9)
    assert found.pooled.kappa_quadratic == pytest.approx(pair.kappa_quadratic, abs=1e-12)
    for metric in ("nominal", "ordinal", "interval"):
        value = getattr(found, f"alpha_{metric}")
        assert value == pytest.approx(compute_alpha_by_pairs(first, second, metric), abs=1e-9), metric


def write_krippendorff(path: Path) -> Path:
    lines = ["unit,who,value"]
    for who, values in KRIPPENDORFF.items():
        lines += [
            f"{unit},{who},{'' if value == '.' else value}"
            for unit, value in enumerate(values.split(), start=1)
        ]
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


def test_alpha_of_raters_with_gaps_is_the_published_one(tmp_path: Path) -> None:
    path = write_krippendorff(tmp_path / "ratings.csv")
    found = compute_table_agreement(path, ["unit"], "who", ["value"])
    assert found.rating_count == 41
    assert found.alpha_nominal == pytest.approx(0.743, abs=5e-4)
    assert found.alpha_ordinal == pytest.approx(0.815, abs=5e-4)
    assert found.alpha_interval == pytest.approx(0.849, abs=5e-4)
    # All six pairs, and the pool is their mean by shared units.
    assert len(found.pairs) == len(list(permutations("ABCD", 2))) // 2
    shared = np.array([pair.unit_count for pair in found.pairs])
    kappas = np.array([pair.kappa for pair in found.pairs], dtype=float)
    assert found.pooled.kappa == pytest.approx(float((shared * kappas).sum() / shared.sum()), abs=1e-12)


def test_the_same_ratings_in_any_form_give_the_same_figures(tmp_path: Path) -> None:
    path = write_krippendorff(tmp_path / "ratings.csv")
    long = pl.read_csv(path)
    long.write_ndjson(tmp_path / "ratings.jsonl")
    long.pivot(on="who", index="unit", values="value").write_parquet(tmp_path / "wide.parquet")
    expected = compute_table_agreement(path, ["unit"], "who", ["value"])
    assert compute_table_agreement(tmp_path / "ratings.jsonl", ["unit"], "who", ["value"]) == expected
    assert compute_table_agreement(tmp_path / "wide.parquet", ["unit"], None, list("ABCD")) == expected


def test_what_is_no_number_among_ratings_is_a_gap(tmp_path: Path) -> None:
    path = tmp_path / "ratings.csv"
    path.write_text("u,a,b\n1,1,2\n2,NaN,3\n3,2,2\n", encoding="utf-8")
    found = compute_table_agreement(path, ["u"], None, ["a", "b"])
    assert (found.rating_count, found.shared_unit_count, found.categories) == (5, 2, [1.0, 2.0, 3.0])


def test_units_that_look_like_numbers_are_names(tmp_path: Path) -> None:
    path = tmp_path / "ratings.csv"
    path.write_text("u,who,r\n007,1,3\n7,2,0\n07,1,2\n07,2,2\n", encoding="utf-8")
    found = compute_table_agreement(path, ["u"], "who", ["r"])
    assert (found.unit_count, found.shared_unit_count, found.categories) == (3, 1, [0.0, 2.0, 3.0])


def test_a_rating_of_nothing_or_by_nobody_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "ratings.csv"
    for text, says in (
        ("u,who,r\n1,A,1\n,A,2\n,B,2\n", "rating 2: the unit \\(u\\) is empty"),
        ("u,who,r\n1,A,1\n1,,1\n", "rating 2: who is empty"),
        ('u,who,r\n1,A,1\n" ",A,2\n', "rating 2: the unit \\(u\\) is empty"),
        ('u,who,r\n1,A,1\n1,"",1\n', "rating 2: who is empty"),
    ):
        path.write_text(text, encoding="utf-8")
        with pytest.raises(UsageError, match=says):
            compute_table_agreement(path, ["u"], "who", ["r"])


def test_words_have_the_order_that_is_named(tmp_path: Path) -> None:
    path = tmp_path / "words.csv"
    path.write_text("u,a,b\n1,poor,fair\n2,fair,fair\n3,good,poor\n4,good,good\n", encoding="utf-8")
    found = compute_table_agreement(path, ["u"], None, ["a", "b"], ["poor", "fair", "good"])
    places = {"poor": 0, "fair": 1, "good": 2}
    first, second = (np.array([places[word] for word in words]) for words in (
        ("poor", "fair", "good", "good"), ("fair", "fair", "poor", "good")
    ))  # fmt: skip
    assert found.pooled.kappa_linear == pytest.approx(compute_kappa_by_matrix(first, second, 1), abs=1e-12)
    assert found.alpha_ordinal == pytest.approx(compute_alpha_by_pairs(first, second, "ordinal"), abs=1e-12)
    assert found.alpha_interval is None
    with pytest.raises(UsageError, match="not among those of --order"):
        compute_table_agreement(path, ["u"], None, ["a", "b"], ["poor", "good"])
    # As words 100% stood before 85%.
    for text, says in (
        ("u,a,b\n1,85%,100%\n2,90%,85%\n", "85% is a percentage"),
        ("u;a;b\n1;8,5;10,5\n2;9,5;8,5\n", "8,5 is a number with a comma"),
    ):
        path.write_text(text, encoding="utf-8")
        with pytest.raises(UsageError, match=f"the rating {says}"):
            compute_table_agreement(path, ["u"], None, ["a", "b"])


@pytest.mark.parametrize(
    ("units", "rater", "ratings", "message"),
    [
        (["unit"], "who", ["stars"], "has no column 'stars'. It has unit, who, value"),
        (["who"], "who", ["value"], "A rated the unit 'A' twice"),
        (["unit"], None, ["value"], "Without --rater each rater has a column"),
        (["unit"], "who", ["value", "unit"], "give --rating once"),
    ],
)
def test_a_table_that_says_nothing_is_refused_with_what_to_do(
    tmp_path: Path, units: list[str], rater: str | None, ratings: list[str], message: str
) -> None:
    path = write_krippendorff(tmp_path / "ratings.csv")
    with pytest.raises(UsageError, match=message):
        compute_table_agreement(path, units, rater, ratings)


def test_the_command_prints_pairs_the_pool_and_alpha(tmp_path: Path) -> None:
    path = write_krippendorff(tmp_path / "ratings.csv")
    done = CliRunner().invoke(
        app, ["agreement", str(path), "--unit", "unit", "--rater", "who", "--rating", "value"]
    )
    assert done.exit_code == 0, done.output
    assert "all pairs" in done.stdout
    assert "A / B" in done.stdout
    assert "Krippendorff's alpha: nominal 0.7434, ordinal 0.8154, interval 0.8491" in done.stdout
