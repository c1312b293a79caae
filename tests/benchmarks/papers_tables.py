"""How far are the papers' printed tables from what the code makes of their numbers?

Printed values go through the estimators and queries that make ours; what the authors released goes through the imports. Each line is
the largest difference of a table. A mean of printed values may differ by their rounding: half of the last digit that is printed.

Run: python -m tests.benchmarks.papers_tables
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import openpyxl
import polars as pl

from schemas.settings import Settings
from tasks.exchange.imports import import_table
from tasks.league.statistics import ImportRequest, StatisticsRequest, import_scores, write_statistics
from tests.fresh import open_new_lake
from tests.tasks.exchange.imports.test_published_tables import JUDGES, KAPPAS
from tests.tasks.gscore.published import TABLES_2_TO_8
from tests.tasks.statistics.test_published_tables import DISCIPLINES, PUBLISHED, estimate
from warehouse.lake import Lake

SHARED = Path(os.environ.get("PROCTOR_SHARED_DATA", Path(__file__).resolve().parents[3] / "shared" / "data"))

# League of LLMs, table 4 (mean of 0 to 100) and table 6 (overlap of the top k).
LEAGUE_TABLE_4 = {
    "gemini-2.5-pro-exp": 89.6, "o3-mini": 79.5469, "deepseek-r1": 77.9061, "gpt-4.1": 76.6082, "o1": 76.3347,
    "deepseek-v3": 67.249, "claude-3-7-sonnet": 60.2163, "qwen2.5-max": 55.551,
}  # fmt: skip
LEAGUE_TABLE_6 = {2: 0.5469, 3: 0.6339, 4: 0.7067}
# LLMEval-3, table 9: R on three draws of 1,000, on 2,000 and on 4,000; its mean and variance.
LLMEVAL_TABLE_9 = (
    (96.48, 96.87, 98.10, 98.02, 97.53, 97.40, 0.51), (92.21, 92.58, 93.93, 94.15, 93.45, 93.26, 0.71),
    (88.08, 90.21, 91.50, 90.69, 90.48, 90.19, 1.63), (84.13, 85.31, 86.69, 85.56, 86.18, 85.57, 0.95),
)  # fmt: skip


@dataclass(frozen=True)
class Difference:
    """The largest difference of a table of a paper, on the scale that it prints.

    Attributes:
        key: paper and table, as `papers_tables.yaml` names them.
        what: what is compared.
        count: values that are compared.
        largest: the largest difference, ours less the printed one.
    """

    key: str
    what: str
    count: int
    largest: float


def list_differences() -> Iterator[Difference]:
    """Every table whose numbers are at hand.

    Those that were released are left out where the files are not there.
    """
    yield from _compare_llmeval()
    yield from _compare_cgeval()
    if SHARED.is_dir():
        for compare in (_compare_released_scores, _compare_released_overlaps, _compare_first_season):
            yield from _on_new_lake(compare)


def main() -> None:
    """Print a line for each."""
    for one in list_differences():
        print(f"{one.key:<24}{one.count:>5} values  {one.largest:+10.4f}  {one.what}", flush=True)


def _find_largest(key: str, what: str, ours: object, printed: object) -> Difference:
    difference = np.asarray(ours, dtype=float).ravel() - np.asarray(printed, dtype=float).ravel()
    return Difference(key, what, len(difference), float(difference[np.argmax(np.abs(difference))]))


def _compare_llmeval() -> Iterator[Difference]:
    scores = pl.read_csv(PUBLISHED / "scores.csv")
    found = estimate(scores)
    assert found.relative is not None
    yield _find_largest("llmeval/table-8", "S from its ten disciplines", found.score.value, scores["score"])
    # Of printed S: R from disciplines of two digits would add their rounding.
    reference = scores.filter(pl.col("relative_score") == 100)["score"][0]
    yield _find_largest(
        "llmeval/table-8", "R from printed S", scores["score"] / reference * 100, scores["relative_score"]
    )
    yield _find_largest(
        "llmeval/table-1",
        "disciplines of 0 to 10",
        found.discipline_score,
        scores.select(list(DISCIPLINES)).to_numpy(),
    )
    styles = pl.read_csv(PUBLISHED / "styles.csv")
    three = styles.select("zero_shot", "few_shot", "chain_of_thought").to_numpy()
    yield _find_largest("llmeval/table-2", "mean of three styles", three.mean(axis=1), styles["mean"])
    yield _find_largest(
        "llmeval/table-2", "population variance of three styles", three.var(axis=1), styles["variance"]
    )
    draws = np.array(LLMEVAL_TABLE_9)
    yield _find_largest("llmeval/table-9", "mean of five draws", draws[:, :5].mean(axis=1), draws[:, 5])
    yield _find_largest(
        "llmeval/table-9", "sample variance of five draws", draws[:, :5].var(axis=1, ddof=1), draws[:, 6]
    )
    yield _find_largest(
        "llmeval/table-9", "population variance of five draws", draws[:, :5].var(axis=1), draws[:, 6]
    )
    kappas = np.array([[float(value) for value in line.split(",")[1:]] for line in KAPPAS.splitlines()])
    printed = (0.493, 0.495, 0.902, 0.447, 0.401, 0.893)
    yield _find_largest(
        "llmeval/table-10", f"mean kappa of {', '.join(JUDGES)} in two rounds", kappas.mean(axis=0), printed
    )


def _compare_cgeval() -> Iterator[Difference]:
    values = np.array(list(TABLES_2_TO_8.values()))
    yield _find_largest("cgeval/table-2", "mean of tables 3 to 8", values[:, :6].mean(axis=1), values[:, 6])


def _on_new_lake(compare: Callable[[Lake, Path], Iterator[Difference]]) -> list[Difference]:
    with tempfile.TemporaryDirectory() as folder:
        settings = Settings(home=Path(folder) / "home")
        with open_new_lake(settings) as lake:
            return list(compare(lake, Path(folder)))


def _compare_released_scores(lake: Lake, _: Path) -> Iterator[Difference]:
    import_scores(lake, [SHARED / "league" / "score.xlsx"], ImportRequest("lol", "programming"))
    write_statistics(lake, "lol", StatisticsRequest(resamples=200, repeats=2))
    rows = lake.run_named("league_ranking", {"league_id": "lol"})
    ours = {
        name: score
        for model, score in rows.select("model", "score").iter_rows()
        for name in LEAGUE_TABLE_4
        if str(model).startswith(name)
    }
    yield _find_largest(
        "league/table-4",
        "mean score of the released runs",
        [ours[name] for name in LEAGUE_TABLE_4],
        list(LEAGUE_TABLE_4.values()),
    )
    book = openpyxl.load_workbook(SHARED / "league" / "score.xlsx", data_only=True)
    released = {str(row[0]): row[1] for row in list(book["Sheet1"].iter_rows(values_only=True))[1:]}
    yield _find_largest(
        "league/figure-4",
        "mean score beside the released mean",
        [ours[name] for name in released],
        list(released.values()),
    )


def _compare_released_overlaps(lake: Lake, _: Path) -> Iterator[Difference]:
    request = ImportRequest("lol", "mathematics", scale="borda")
    import_scores(lake, [SHARED / "league" / name for name in ("Radar.xlsx", "TOP-k.xlsx")], request)
    write_statistics(lake, "lol", StatisticsRequest(resamples=200, repeats=2))
    found = dict(lake.run_named("league_top_k", {"league_id": "lol"}).select("k", "overlap").iter_rows())
    yield _find_largest(
        "league/table-6",
        "overlap of the released runs",
        [found[k] for k in LEAGUE_TABLE_6],
        list(LEAGUE_TABLE_6.values()),
    )


def _compare_first_season(lake: Lake, folder: Path) -> Iterator[Difference]:
    """LLMEval-1's leaderboard from its 27,420 marks, as `proctor import scores` reads them."""
    marks = SHARED / "llmeval1" / "pointwise_gpt4.csv"
    mapping = {"model": "llm_name", "item_id": "question_uuid", "mark": "score"}
    import_table(lake, marks, "scores", "llmeval-1", mapping)
    rows = lake.run_named("imported_leaderboard", {"benchmark": "llmeval-1", "digits": 3})
    printed = pl.read_csv(SHARED / "llmeval1" / "pointwise_gpt4_leaderboard.csv")
    both = rows.filter(pl.col("metric") == "accuracy").join(printed, left_on="model", right_on="llm_name")
    yield _find_largest("llmeval-1/accuracy", "mean mark of each model", both["score"], both["accuracy"])


if __name__ == "__main__":
    main()
