"""CG-Eval's printed numbers come out again."""

from __future__ import annotations

import re
from collections.abc import Callable

import polars as pl
import pytest

from tasks.gscore.calculation.items import score_calculations
from tasks.gscore.metrics.batch import score_surface
from tasks.gscore.metrics.profiles import compute_gscore
from tasks.gscore.metrics.reference import SurfaceScores, score_surface_by_reference
from tests.tasks.gscore.published import TABLE_9, TABLE_9_TEXTS, TABLES_2_TO_8, PrintedRow
from tests.warehouse.lake.kit import connect_trial
from warehouse.lake.reading.queries import read_queries

Score = Callable[[list[str], list[str], str], SurfaceScores]


@pytest.mark.parametrize("score", [score_surface, score_surface_by_reference])
@pytest.mark.parametrize("example", sorted(TABLE_9_TEXTS))
def test_the_paper_profile_gives_the_printed_metrics_of_table_9(score: Score, example: int) -> None:
    reference, response = TABLE_9_TEXTS[example]
    printed = next(row for row in TABLE_9 if row.example == example)

    scores = score([reference], [response], "cgeval-paper")

    assert scores.bleu4[0] == pytest.approx(printed.bleu4, abs=1e-9)
    assert scores.rouge2[0] == pytest.approx(printed.rouge2, abs=1e-9)
    assert scores.chrf[0] == pytest.approx(printed.chrf, abs=1e-9)


def test_the_standard_profile_gives_other_numbers_for_the_same_texts() -> None:
    reference, response = TABLE_9_TEXTS[1]
    paper = score_surface([reference], [response], "cgeval-paper")
    standard = score_surface([reference], [response], "standard")

    assert standard.bleu4[0] == pytest.approx(0.685056, abs=1e-6)
    assert standard.rouge2[0] == pytest.approx(0.8, abs=1e-9)
    assert standard.chrf[0] == pytest.approx(0.78882, abs=1e-5)
    assert paper.rouge2[0] == pytest.approx(20 / 21, abs=1e-12)


@pytest.mark.parametrize("row", TABLE_9, ids=lambda row: f"example {row.example}")
def test_every_printed_gscore_is_the_weighted_sum_of_its_row(row: PrintedRow) -> None:
    assert compute_gscore(row.bleu4, row.rouge2, row.chrf, row.similarity) == pytest.approx(
        row.gscore, abs=1e-9
    )


def test_the_printed_rouge_of_long_references_is_a_share_of_distinct_bigrams() -> None:
    reference = "mRNA是信使RNA，是翻译的模板；tRNA是转运RNA，在翻译时转运氨基酸；rRNA是核糖体RNA，是组成核糖体的基本成分。"
    bigrams = {reference[i : i + 2] for i in range(len(reference) - 1)}
    response = "".join(sorted(bigrams)[: len(bigrams) // 2])  # repeats nothing of the reference's counts
    found = len(bigrams & {response[i : i + 2] for i in range(len(response) - 1)})

    assert len(bigrams) < len(reference) - 1
    assert score_surface([reference], [response], "cgeval-paper").rouge2[0] == pytest.approx(
        found / len(bigrams)
    )


def test_table_2_is_the_unweighted_mean_of_tables_3_to_8() -> None:
    categories = ("science", "humanities", "judicial", "medical", "accountant", "mathematics")
    # Categories of unequal size: an average over questions would not give table 2.
    rows = pl.DataFrame(
        [
            {"model": model, "category": category, "gscore": value / 100}
            for model, values in TABLES_2_TO_8.items()
            for index, (category, value) in enumerate(zip(categories, values[:6], strict=True))
            for _ in range(index + 1)
        ]
    )
    with connect_trial() as trial:
        trial.register("printed", rows.to_arrow())
        trial.execute("INSERT INTO gscores BY NAME SELECT * FROM printed")
        means = trial.execute(read_queries("analyses")["gscore_by_category"].body).pl()
    overall = dict(means.filter(pl.col("category").is_null()).select("model", "gscore").iter_rows())

    assert set(overall) == set(TABLES_2_TO_8)
    for model, values in TABLES_2_TO_8.items():
        # six printed values and their printed mean are each rounded by up to 0.005
        assert overall[model] == pytest.approx(values[6], abs=0.01), model


TABLE_10 = [
    # kind, reference, its final answer, model output, extracted, standardised, printed Gscore
    (
        "word_problem",
        "解：\n甲袋化肥重量= (22+2) ÷2=12 (千克)\n答: 甲袋化肥重12千克, 乙袋化肥重20千克, 丙袋化肥重10千克。",
        "24千克，8千克，22千克",
        "解: 设甲乙丙三袋化肥的重量分别为x千克,y千克,z 千克。\nx + y = 32\n最终答案: 24千克,8千克,22千克。",
        "24千克,8千克,22千克。",
        "24千克,8千克,22千克",
        1.0,
    ),
    (
        "word_problem",
        "解：\n总份数为47+48+45=140\n一班植树560×47/140=188 (棵)\n答: 一、二、三班分别植树188棵、192棵、180棵。",
        "188棵，192棵，180棵",
        "解: 首先，我们需要计算出三个班的总人数。\n最终答案: 188棵, 192棵, 180棵。",
        "188棵, 192棵, 180棵。",
        "188棵,192棵,180棵",
        1.0,
    ),
    (
        "derivation",
        r"\left(\frac{1}{3}\right)^{-1}-\log_{2} 8+\left(0.5^{-2}-2\right) \times\left(\frac{27}{8}\right)^{\frac{2}{3}}=\frac{9}{2}",
        r"\frac{9}{2}",
        "首先，我们可以将每个部分分开计算。\n所以，原式的值为 \\frac{9}{2}。\n最终答案: \\frac{9}{2}",
        r"\frac{9}{2}",
        r"\frac{9}{2}",
        1.0,
    ),
]


@pytest.mark.parametrize(
    ("kind", "reference", "expected", "response", "answer", "standard", "gscore"), TABLE_10
)
def test_table_10_is_extracted_standardised_and_scored_as_printed(
    kind: str, reference: str, expected: str, response: str, answer: str, standard: str, gscore: float
) -> None:
    items = pl.DataFrame(
        {"kind": [kind], "reference": [reference], "reference_answer": [expected], "response": [response]}
    )
    row = score_calculations(items, symbolic_time_limit=None).row(0, named=True)

    assert re.sub(r"\s", "", row["answer"]) == re.sub(r"\s", "", answer)
    assert row["standard_answer"] == standard
    assert (row["accuracy"], row["gscore"]) == (1.0, gscore)
