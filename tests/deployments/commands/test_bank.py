"""The commands of the bank, in process, on a small bank."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from schemas.settings import Settings
from tasks.bank import retire_question
from tasks.bank.dedupe import land_bank
from tests.deployments.test_cli import invoke
from tests.fresh import open_new_lake
from tests.tasks.bank.augment.conftest import make_accepted
from tests.tasks.bank.dedupe.test_landing import STEMS, land_batch
from warehouse.lake import open_lake

KEPT = make_accepted(STEMS[0])


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("bank") / "home"
    settings = Settings(home=folder)
    with open_new_lake(settings) as lake:
        land_batch(lake, "b1", KEPT, make_accepted(STEMS[1], discipline="Law"))
        land_bank(lake, settings)
    assert invoke(folder, "init", "--json").exit_code == 0
    return folder


def test_the_bank_is_looked_at_compared_and_thinned_by_commands(home: Path, tmp_path: Path) -> None:
    shown = json.loads(invoke(home, "bank", "--json").stdout)
    assert [row["question_count"] for row in shown["versions"]] == [10]
    assert {row["name"] for row in shown["augmentation"]} >= {"Law", "Engineering", "all"}

    card = json.loads(invoke(home, "bank", "show", KEPT["question_uuid"][:8], "--json").stdout)
    assert (card["question_uuid"], len(card["lineage"])) == (KEPT["question_uuid"], 5)
    assert "lineage: 5" in invoke(home, "bank", "show", KEPT["question_uuid"]).stdout

    done = invoke(home, "bank", "retire", KEPT["question_uuid"], "--reason", "the key is wrong", "--yes")
    assert "version 2 is without 5 questions" in done.stdout
    public = (home / "public" / "log.jsonl").read_text()
    retired = json.loads(public.splitlines()[-1])
    assert (retired["kind"], retired["body"]) == (
        "retire",
        {"count": 5, "bank_version": 2, "reason": "the key is wrong"},
    )
    # How many left, never which.
    assert KEPT["question_uuid"] not in public
    difference = json.loads(invoke(home, "bank", "diff", "1", "--json").stdout)
    assert (difference["after"], difference["counts"]) == (2, {"left": 5})
    refused = invoke(home, "bank", "diff", "7")
    assert (refused.exit_code, "The versions are: 1, 2." in refused.stderr) == (2, True)

    out = tmp_path / "law.parquet"
    exported = json.loads(invoke(home, "bank", "export", str(out), "--json").stdout)
    assert (exported["rows"], exported["with_answers"]) == (5, False)
    assert "answer" not in pl.read_parquet(out).columns
    lines = json.loads(invoke(home, "bank", "export", str(tmp_path / "law.jsonl"), "--json").stdout)
    assert (lines["format"], pl.read_ndjson(tmp_path / "law.jsonl").height) == ("jsonl", 5)
    refused = invoke(home, "bank", "export", str(tmp_path / "law.csv"))
    assert (refused.exit_code, "law.csv would hold parquet" in refused.stderr) == (2, True)
    assert not (tmp_path / "law.csv").exists()
    back = invoke(home, "bank", "restore", KEPT["question_uuid"], "--reason", "it was right", "--yes")
    assert "version 3 has 5 questions more" in back.stdout
    restored = json.loads((home / "public" / "log.jsonl").read_text().splitlines()[-1])
    assert (restored["kind"], restored["body"]) == (
        "restore",
        {"count": 5, "bank_version": 3, "reason": "it was right"},
    )
    versions = json.loads(invoke(home, "bank", "versions", "--json").stdout)
    assert [row["bank_version"] for row in versions] == [1, 2, 3]
    # What left and came back as it was is no edit.
    assert json.loads(invoke(home, "bank", "diff", "1", "--json").stdout)["counts"] == {}
    # Whoever was killed before the public log said so says it the next time, and once.
    lines = len((home / "public" / "log.jsonl").read_text().splitlines())
    with open_lake(Settings(home=home)) as lake:
        retire_question(lake, Settings(home=home), KEPT["question_uuid"], "wrong")
    for _ in range(2):
        invoke(home, "bank", "retire", KEPT["question_uuid"], "--reason", "wrong", "--yes")
    added = [json.loads(line) for line in (home / "public" / "log.jsonl").read_text().splitlines()[lines:]]
    assert [one["body"] for one in added] == [{"count": 5, "bank_version": 4, "reason": "wrong"}]
    # Nothing is told to have come back that had not, whatever else came in with the version.
    variant = next(
        row["question_uuid"] for row in card["lineage"] if row["question_uuid"] != KEPT["question_uuid"]
    )
    invoke(home, "bank", "retire", variant, "--reason", "wrong, too", "--yes")
    with open_lake(Settings(home=home)) as lake:
        land_batch(lake, "b2", make_accepted(STEMS[2], discipline="Law"))
    back = invoke(home, "bank", "restore", variant, "--reason", "it was right", "--yes")
    assert (
        "version 5 has nothing new of it: another question says the same, or its original is" in back.stdout
    )


@pytest.mark.parametrize("suffix", [".csv", ".jsonl", ".parquet"])
def test_duplicates_of_any_table_are_found_without_a_home(suffix: str, tmp_path: Path) -> None:
    rows = [
        ("下列哪一项属于可再生能源,并且在我国西北地区分布广泛?", "煤炭", "风能"),
        ("下列哪一項屬於可再生能源，並且在我國西北地區分布廣泛？", "风能", "煤炭"),
        ("请问：下列哪一项属于可再生能源,并且在我国西北地区分布广泛?", "煤炭", "风能"),
        ("下列哪一项属于可再生能源,并且在我国西北地区分布广泛?", "水煤气", "天然气"),
    ]
    table = pl.DataFrame(rows, schema=["asked", "A", "B"], orient="row")
    path = tmp_path / f"questions{suffix}"
    writers: dict[str, Callable[[Path], object]] = {
        ".csv": table.write_csv,
        ".jsonl": table.write_ndjson,
        ".parquet": table.write_parquet,
    }
    writers[suffix](path)
    done = invoke(None, "dedupe", "check", str(path), "--text", "asked", "--options", "A,B", "--json")
    found = json.loads(done.stdout)
    assert (found["rows"], found["duplicates"]) == (4, 2)
    assert [(row["cluster"], row["row"], row["is_kept"], row["method"]) for row in found["clusters"]] == [
        (1, 1, True, None),
        (1, 2, False, "exact"),
        (1, 3, False, "near"),
    ]
    assert found["clusters"][1]["reason"] == "it comes first in the file"
    assert 0.8 <= found["clusters"][2]["similarity"] < 1


def test_rows_without_a_text_are_no_copies_of_each_other_and_lists_are_no_text(tmp_path: Path) -> None:
    path = tmp_path / "q.jsonl"
    rows = ({"asked": None}, {"asked": " "}, {"asked": "One?", "options": ["a", None]})
    path.write_text("\n".join(map(json.dumps, rows)))
    done = invoke(None, "dedupe", "check", str(path), "--text", "asked", "--options", "options", "--json")
    assert json.loads(done.stdout) == {"rows": 3, "duplicates": 0, "clusters": []}
    done = invoke(None, "dedupe", "check", str(path), "--text", "options")
    assert (done.exit_code, "'options' holds lists" in done.stderr) == (2, True)


def test_offered_answers_that_are_numbers_are_compared_as_they_are_written(tmp_path: Path) -> None:
    path = tmp_path / "q.csv"
    path.write_text(
        "asked,A,B\nWhich is written right?,1.50,2\nWhich is written right?,1.5,2\n", encoding="utf-8"
    )
    done = invoke(None, "dedupe", "check", str(path), "--text", "asked", "--options", "A,B", "--json")
    assert json.loads(done.stdout)["duplicates"] == 0


def test_a_column_that_is_not_there_is_named(tmp_path: Path) -> None:
    (tmp_path / "q.csv").write_text("question\nOne?\n")
    done = invoke(None, "dedupe", "check", str(tmp_path / "q.csv"), "--text", "stem")
    assert (done.exit_code, "The columns are question" in done.stderr) == (2, True)
