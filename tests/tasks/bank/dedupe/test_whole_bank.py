"""A real bank of 56,244 questions by the commands that a user types, and by brute force."""

from __future__ import annotations

import json
import os
from collections import defaultdict
from pathlib import Path

import polars as pl
import pytest

from tasks.bank.dedupe.exact import fold_traditional
from tasks.bank.dedupe.near import compute_grams, compute_jaccard
from tests.deployments.test_cli import invoke
from tests.tasks.questions.normal_form_yardstick import normalise_plainly

SHARED = Path(os.environ.get("PROCTOR_SHARED_DATA", "../shared/data"))
BANK = SHARED / "bank" / "question_bank.parquet"

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(
        not BANK.exists(),
        reason="needs ../shared/data/bank (or PROCTOR_SHARED_DATA), which is not part of the project",
    ),
]

# What a question asks, as brute force sees it: its stem and its options in any order.
Asked = tuple[str, tuple[str, ...]]


def list_asked(texts: list[str | None], options: list[list[str]]) -> list[Asked]:
    """The plain normal form of every question, text by text."""
    forms: dict[str, str] = {}

    def fold(text: str) -> str:
        if text not in forms:
            forms[text] = fold_traditional(normalise_plainly(text))
        return forms[text]

    return [
        (fold(text or ""), tuple(sorted(map(fold, offered))))
        for text, offered in zip(texts, options, strict=True)
    ]


def check_groups(path: Path, asked: list[Asked], text: str) -> int:
    """Compare `proctor dedupe check` with brute force; returns the groups of equal questions."""
    done = invoke(None, "dedupe", "check", str(path), "--text", text, "--options", "options", "--json")
    assert done.exit_code == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["rows"] == len(asked)
    cluster_of = {row["row"]: row["cluster"] for row in found["clusters"]}
    groups: dict[Asked, list[int]] = defaultdict(list)
    for number, one in enumerate(asked, start=1):
        groups[one].append(number)
    # Every group is found: its questions are together in one cluster.
    equal = [rows for rows in groups.values() if len(rows) > 1]
    assert [rows for rows in equal if len({cluster_of.get(row, -row) for row in rows}) > 1] == []
    # And none more: what is called equal is, and what is called near is as near as it says.
    for row in found["clusters"]:
        if row["is_kept"]:
            continue
        left, right = asked[row["row"] - 1], asked[row["kept_row"] - 1]
        if row["method"] == "exact":
            assert left == right
        else:
            assert left != right
            jaccard = compute_jaccard(compute_grams(left[0]), compute_grams(right[0]))
            assert row["similarity"] == pytest.approx(jaccard)
            assert jaccard >= 0.8
    left_out = {row["row"] for row in found["clusters"] if not row["is_kept"]}
    assert len(left_out) == found["duplicates"]
    assert len({asked[row - 1] for row in range(1, len(asked) + 1) if row not in left_out}) == len(
        asked
    ) - len(left_out)
    return len(equal)


def test_every_group_of_equal_questions_in_a_real_bank_is_found_and_no_other() -> None:
    bank = pl.read_parquet(BANK)
    options = [[str(text) for text in json.loads(packed)] if packed else [] for packed in bank["options"]]
    assert check_groups(BANK, list_asked(bank["question"].to_list(), options), "question") > 1_000


def test_a_real_bank_is_read_in_validated_and_searched_for_duplicates(tmp_path: Path) -> None:
    home = tmp_path / "home"
    bank = pl.read_parquet(BANK)
    (tmp_path / "papers").mkdir()
    for (source,), part in bank.group_by("source", maintain_order=True):
        part.write_ndjson(tmp_path / "papers" / f"{source}.jsonl")
    assert invoke(home, "init", "--json").exit_code == 0
    taken = invoke(home, "ingest", str(tmp_path / "papers"), "--no-server", "--json")
    summary = json.loads(taken.stdout)
    assert taken.exit_code == 0, summary["problems"]
    assert summary["documents"] == {"parsed": bank["source"].n_unique()}
    assert summary["quarantined_rows"] == 0

    rows = tmp_path / "questions.parquet"
    columns = "question_uuid, question_type, stem, material, options, answer"
    query = f"SELECT {columns} FROM questions ORDER BY document_id, position"
    rows.write_bytes(invoke(home, "sql", query, "--format", "parquet").stdout_bytes)
    questions = pl.read_parquet(rows)
    assert questions.height == summary["question_count"]
    # What is missing was in its file twice, word for word.
    assert 0.95 < questions.height / bank.height < 1

    checked = invoke(home, "rules", "check", "--json", "--out", str(tmp_path / "pages"))
    broken = json.loads(checked.stdout)
    assert broken["originals"] == questions.height
    unanswered = pl.col("answer").list.eval(pl.element().str.strip_chars() != "").list.any()
    assert broken["broken"]["answer_is_not_empty"] == questions.filter(unanswered.not_()).height

    offered = [[option["text"] for option in options or ()] for options in questions["options"].to_list()]
    assert check_groups(rows, list_asked(questions["stem"].to_list(), offered), "stem") > 100
