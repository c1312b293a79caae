"""Published results recomputed from what they were made of, by commands as typed."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from schemas.settings import Settings
from tests.deployments.test_cli import invoke
from tests.fresh import open_new_lake
from warehouse.ledger.engine.opening import open_ledger

SHARED = Path(os.environ.get("PROCTOR_SHARED_DATA", Path(__file__).resolve().parents[5] / "shared" / "data"))
pytestmark = pytest.mark.skipif(
    not (SHARED / "llmeval1").exists(),
    reason="needs the real data beside the checkout (or PROCTOR_SHARED_DATA)",
)


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("imports") / "home"
    settings = Settings(home=home)
    open_new_lake(settings).close()
    open_ledger(settings.ledger_address).close()
    return home


def run(home: Path, *arguments: str) -> Any:
    done = invoke(home, *arguments, "--json")
    assert done.exit_code == 0, done.stderr
    return json.loads(done.stdout)


def test_llmeval_1_s_leaderboard_comes_out_of_its_raw_marks(home: Path) -> None:
    """70 of 72 values and 72 of 72 ranks agree; the two misses are the published table's."""
    raw = SHARED / "llmeval1" / "pointwise_gpt4.csv"
    mapping = ("--map", "model=llm_name", "--map", "item_id=question_uuid", "--map", "mark=score")
    first = run(home, "import", "scores", str(raw), "--benchmark", "llmeval-1", *mapping)
    assert (first["rows"], first["models"], first["is_unchanged"]) == (27_420, 12, False)
    assert run(home, "import", "scores", str(raw), "--benchmark", "llmeval-1", *mapping)["is_unchanged"]
    rows = run(home, "sql", "imported_leaderboard", "--param", "benchmark=llmeval-1")
    renamed = {"Baichuan-7B-Align": "Chat-Baichuan-7B"}
    found = {(renamed.get(row["model"], row["model"]), row["metric"]): row for row in rows}
    published = pl.read_csv(SHARED / "llmeval1" / "pointwise_gpt4_leaderboard.csv")
    metrics = [name for name in published.columns if name != "llm_name" and not name.endswith("_rank")]
    values, ranks, misses = 0, 0, set()
    for row in published.iter_rows(named=True):
        for metric in metrics:
            ours = found[(row["llm_name"], metric)]
            values += ours["score"] == row[metric]
            ranks += ours["rank"] == row[f"{metric}_rank"]
            if ours["score"] != row[metric]:
                misses.add((row["llm_name"], metric))
    assert misses == {("ChatGLM-6B", "logicality"), ("MOSS-w-Plugin-16B", "informativeness")}
    assert (values, ranks) == (70, 72)


def test_livebench_s_categories_come_out_of_its_items(home: Path) -> None:
    path = SHARED / "judged" / "livebench_per_item_2025-08.parquet"
    run(
        home,
        "import",
        "scores",
        str(path),
        "--benchmark",
        "livebench",
        "--map",
        "item_id=question_id",
        "--map",
        "mark=score",
    )
    rows = run(home, "sql", "imported_categories", "--param", "benchmark=livebench")
    items = pl.read_parquet(path)
    tasks = items.group_by("model", "category", "task").agg(pl.col("score").mean())
    expected = {
        (model, category): score
        for model, category, score in tasks.group_by("model", "category")
        .agg(pl.col("score").mean())
        .iter_rows()
    }
    found = {(row["model"], row["category"]): row["score"] for row in rows if row["category"] != "all"}
    assert found == pytest.approx(expected)
    assert {row["model"] for row in rows if row["category"] == "all"} == set(items["model"])


def test_an_imported_history_is_ranked_by_day_as_an_independent_computation_ranks_it(home: Path) -> None:
    path = SHARED / "longitudinal" / "lmarena_rating_history.parquet"
    options = (
        "--benchmark",
        "arena",
        "--source",
        "lmarena",
        "--map",
        "scored_on=date",
        "--map",
        "score=rating",
    )
    assert run(home, "import", "external", str(path), *options)["rows"] == 3809
    rows = run(home, "sql", "external_history", "--param", "benchmark=arena")
    frame = pl.read_parquet(path)
    expected = {
        (f"{day[:4]}-{day[4:6]}-{day[6:]}", model): rank
        for day, model, rank in frame.with_columns(
            rank=pl.col("rating").rank("min", descending=True).over("date").cast(pl.Int64)
        )
        .select("date", "model", "rank")
        .iter_rows()
    }
    assert {(str(row["scored_on"])[:10], row["model"]): row["rank"] for row in rows} == expected
