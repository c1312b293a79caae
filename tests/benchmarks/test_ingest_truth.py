"""Truth as hashes: it judges as the texts do, and says nothing to who has not the paper."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tasks.ingest.confidence import compare_question
from tests.benchmarks.ingest_accuracy import compare, read_paper
from tests.benchmarks.ingest_truth import RECORD, Sealer, check, open_truth, seal_truth, write

PAPER = """一、单项选择题
1. 渡口在汛期由谁管理（ B ）
A. 茶园  B. 驿站  C. 林场  D. 矿井
2. 水渠的坡度取决于（ C ）
A. 灯塔  B. 果园  C. 河床  D. 城墙
二、判断题
3. 粮仓必须建在高处。（ √ ）
三、简答题
4. 简述集市与港口的关系。
答案：集市依靠港口运来的货物，港口因集市而繁荣。
"""


def make_truth(name: str, **changes: Any) -> dict[str, Any]:
    """The truth file of the paper, as a person writes it."""
    options = dict(zip("ABCD", ("茶园", "驿站", "林场", "矿井"), strict=True))
    first = {
        "no": "1",
        "section": "",
        "type": "single_choice",
        "stem": "渡口在汛期由谁管理（ ）",
        "answer": "B",
    }
    judged = {"no": "3", "section": "", "type": "true_false", "stem": "粮仓必须建在高处。", "answer": True}
    free = {
        "no": "4",
        "section": "",
        "type": "short_answer",
        "stem": "简述集市与港口…",
        "answer": "starts:集市依靠港口",
    }
    return {
        "file": name,
        "n_questions": 4,
        "answers_location": "inline",
        "first": [{**first, "options": options, **changes}],
        "last": [judged, free],
    }


@pytest.fixture(scope="module")
def paper(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small paper on the disk."""
    path = tmp_path_factory.mktemp("papers") / "渡口.txt"
    path.write_text(PAPER, encoding="utf-8")
    return path


def judge(paper: Path, truth: dict[str, Any]) -> tuple[dict[str, bool], dict[str, bool]]:
    """What the first question of a truth is worth by its texts and by its hashes."""
    _, questions = read_paper(paper)
    sealer = Sealer(paper.read_bytes())
    opened = open_truth(seal_truth(truth, sealer), questions, sealer, truth["file"])
    return (
        compare_question(truth["first"][0], questions, truth).parts,
        compare_question(opened["first"][0], questions, opened).parts,
    )


@pytest.mark.parametrize(
    ("changes", "wrong"),
    [
        ({}, set()),
        ({"stem": " 渡口，在汛期由谁管理?"}, set()),
        ({"stem": "渡口在旱季由谁管理（ ）"}, {"stem", "options", "answer", "type"}),
        ({"options": {"A": "茶园", "B": "驿站", "C": "林场"}}, {"options"}),
        ({"answer": "C"}, {"answer"}),
        ({"type": "short_answer"}, {"type"}),
        ({"answer": None}, set()),
    ],
    ids=["right", "other_signs", "stem", "an_option_more", "answer", "type", "no_answer_told"],
)
def test_hashes_judge_a_question_as_its_texts_do(
    paper: Path, changes: dict[str, Any], wrong: set[str]
) -> None:
    by_texts, by_hashes = judge(paper, make_truth(paper.name, **changes))
    assert by_hashes == by_texts
    assert {part for part, is_right in by_hashes.items() if not is_right} == wrong


def test_a_whole_paper_is_measured_by_hashes_as_by_texts(paper: Path) -> None:
    truth = make_truth(paper.name)
    document, questions = read_paper(paper)
    sealer = Sealer(paper.read_bytes())
    row = compare(document, questions, truth)
    opened = open_truth(seal_truth(truth, sealer), questions, sealer, paper.name)
    assert compare(document, questions, opened) == row
    assert (row["right_count"], row["listed_count"], row["count"]) == (3, 3, 4)


def test_a_stem_of_a_scan_may_differ_in_a_few_characters(paper: Path) -> None:
    stem = "水渠的坡度取决于河床的走向与两岸的土质（ ）"
    sealer = Sealer(paper.read_bytes())
    truth = make_truth(paper.name, stem=stem, options={}, answer=None, type="short_answer")
    question: dict[str, object] = {
        "material": None,
        "options": [],
        "answer": [],
        "question_type": "short_answer",
    }
    for read, is_known in (("水渠的坡度取决干河床的走向与两岸土质", True), ("水渠的坡度取决于灯塔", False)):
        questions = [{**question, "stem": read, "parse_notes": []}]
        for is_scan in (False, True):
            sealed = seal_truth(truth | {"scan": is_scan}, sealer)
            opened = open_truth(sealed, questions, sealer, paper.name)
            assert compare_question(opened["first"][0], questions, opened).parts["stem"] is (
                is_known and is_scan
            )


def test_an_ambiguous_question_is_not_kept(paper: Path) -> None:
    sealed = seal_truth(make_truth(paper.name, ambiguous=True), Sealer(paper.read_bytes()))
    assert [one["no"] for one in sealed["first"]] == ["3", "4"]


def test_hashes_are_keyed_by_the_bytes_of_the_paper(paper: Path) -> None:
    truth = make_truth(paper.name)
    here, elsewhere = (seal_truth(truth, Sealer(data)) for data in (paper.read_bytes(), b"another paper"))
    assert here["first"][0]["stem"]["whole"][0] == elsewhere["first"][0]["stem"]["whole"][0]
    assert here["first"][0]["stem"]["whole"][1] != elsewhere["first"][0]["stem"]["whole"][1]


def test_written_hashes_are_found_again_by_the_paper(
    paper: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tests.benchmarks.ingest_truth.RECORD", tmp_path / "record.json")
    folder = paper.parent / "truth"
    folder.mkdir(exist_ok=True)
    (folder / f"{paper.name}.json").write_text(json.dumps(make_truth(paper.name)), encoding="utf-8")
    assert write(folder, paper.parent, "known") == "1 papers, 3 questions"
    assert not re.search("[一-鿿]", (tmp_path / "record.json").read_text(encoding="utf-8"))
    assert check(paper.parent)[-1].endswith("3 of 3 right by texts, 3 by hashes")


def test_the_record_holds_no_text_of_a_paper() -> None:
    groups = {"known", "apart", "third", "fourth", "fifth", "sixth"}
    allowed = {*groups, "none", "some", "begins", "holds", "key", "("}

    def walk(value: Any, name: str = "") -> None:
        if isinstance(value, dict):
            for key, one in value.items():
                walk(one, key)
        elif isinstance(value, list):
            for one in value:
                walk(one, name)
        elif isinstance(value, str) and name not in ("no", "type"):
            assert value in allowed or re.fullmatch("[0-9a-f]*", value), value
        elif isinstance(value, str):
            assert re.fullmatch("None|[a-z_]+|[A-Z0-9]{1,4}|[一二三四五六七八]", value), value

    record = json.loads(RECORD.read_text(encoding="utf-8"))
    walk(record)
    assert {one["group"] for one in record.values()} == groups
