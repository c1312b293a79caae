"""Records, tables and web pages of any names, known by their shape."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.benchmarks.ingest_accuracy import read_landed
from tests.tasks.ingest.builders import make_xlsx, write

Read = tuple[str, list[str], list[str]]

EXPORTS: list[dict[str, Any]] = yaml.load(
    Path(__file__).with_name("records.yaml").read_text("utf-8"), Loader=yaml.CSafeLoader
)


def read(path: Path) -> list[Read]:
    return [
        (question["stem"], [option["text"] for option in question["options"]], question["answer"])
        for question in read_landed(path)["questions"]
    ]


@pytest.mark.parametrize("case", EXPORTS, ids=lambda case: case["case"])
def test_records_are_read_as_data_sets_and_programs_export_them(tmp_path: Path, case: dict[str, Any]) -> None:
    records, expected = case["records"], [tuple(one) for one in case["read"]]
    assert read(write(tmp_path, "records.json", json.dumps(records, ensure_ascii=False))) == expected
    lines = "\n".join(json.dumps(record, ensure_ascii=False) for record in records)
    assert read(write(tmp_path, "records.jsonl", lines)) == expected


def test_the_passage_of_several_questions_is_the_material_of_each(tmp_path: Path) -> None:
    passages = {
        "data": [
            {
                "title": "How the harbour and its lamp were kept",
                "paragraphs": [
                    {
                        "context": "The keeper lit the lamp in 1820.",
                        "qas": [
                            {"id": "a", "question": "When was the lamp lit?", "answers": [{"text": "1820"}, {"text": "in 1820"}]},
                            {"id": "b", "question": "Who lit it?", "answers": [{"text": "The keeper"}]},
                        ],
                    }
                ],
            }
        ]
    }  # fmt: skip
    questions = read_landed(write(tmp_path, "passages.json", json.dumps(passages)))["questions"]
    assert [(question["material"], question["stem"], question["answer"]) for question in questions] == [
        ("The keeper lit the lamp in 1820.", "When was the lamp lit?", ["1820"]),
        ("The keeper lit the lamp in 1820.", "Who lit it?", ["The keeper"]),
    ]


PAGE = """<!doctype html><html><head><title>Quiz</title></head><body><h1>Quiz</h1><button>Start</button>
<script>
// the questions
const state = { page: 0, done: [] };
const BANK = [
  { id: 1, text: 'Which wind turns the mill?', opts: ['north', "so\\"uth", 'east'], right: 1, },
  { id: 2, text: "Who keeps the lamp?", opts: ['a miller', 'a keeper'], right: 1 }, /* easy */
  { id: 3, text: `What is carried?`, opts: ['salt', 'grain', 'wool'], right: 2 },
];
function start() { return BANK.map(q => q.text); }
</script></body></html>"""


def test_a_quiz_program_gives_the_questions_of_its_script(tmp_path: Path) -> None:
    assert read(write(tmp_path, "quiz.html", PAGE)) == [
        ("Which wind turns the mill?", ["north", 'so"uth', "east"], ["B"]),
        ("Who keeps the lamp?", ["a miller", "a keeper"], ["B"]),
        ("What is carried?", ["salt", "grain", "wool"], ["C"]),
    ]


def test_a_sheet_without_header_is_read_by_what_its_columns_hold(tmp_path: Path) -> None:
    rows = [
        ["1", "Which wind turns the mill?", "north", "south", "", "B", "It is the warmer wind of the two.", "[单选]"],
        ["2", "Who keeps the lamp?", "a miller", "a keeper", "a smith", "B", "He has kept it for twenty years.", "[单选]"],
        ["3", "What is carried?", "salt", "grain", "wool", "AB", "Both are carried to the ship.", "[多选]"],
    ]  # fmt: skip
    questions = read_landed(write(tmp_path, "bank.xlsx", make_xlsx({"S": rows})))["questions"]
    assert [(q["stem"], len(q["options"]), q["answer"], q["explanation"]) for q in questions] == [
        ("Which wind turns the mill?", 2, ["B"], "It is the warmer wind of the two."),
        ("Who keeps the lamp?", 3, ["B"], "He has kept it for twenty years."),
        ("What is carried?", 3, ["A", "B"], "Both are carried to the ship."),
    ]


def test_what_a_column_has_around_its_texts_is_taken_away(tmp_path: Path) -> None:
    rows = [
        ["题目", "选项", "答案"],
        ["1. (单选题, 2分)<p>磨坊由什么<b>推动</b>？</p>", "A:风\nB:雨", "A"],
        ["2. (判断题, 1分)<p>灯塔有人看守。</p>", "A:对\nB:错\nC:无\nD:无", "B"],
        ["3(重复). (单选题, 2分)<p>渡船运什么？</p>", "A:盐\nB:谷", "B"],
    ]
    questions = read_landed(write(tmp_path, "bank.xlsx", make_xlsx({"S": rows})))["questions"]
    assert [
        (q["number_label"], q["question_type"], q["stem"], q["marks"], q["answer"]) for q in questions
    ] == [
        ("1", "multiple_choice", "磨坊由什么推动？", 2.0, ["A"]),
        ("2", "true_false", "灯塔有人看守。", 1.0, ["false"]),
        ("3", "multiple_choice", "渡船运什么？", 2.0, ["B"]),
    ]


def test_the_answers_of_a_user_are_no_key_and_options_may_stand_under_any_name(tmp_path: Path) -> None:
    rows = [
        ["题目", "答案", "用户答案"],
        ["磨坊由什么推动？", "A. 风#B. 雨#C. 雪", "A"],
        ["渡船运什么？", "A. 盐#B. 谷#C. 羊毛", "B"],
        ["灯塔由谁看守？", "A. 磨坊主#B. 守塔人#C. 铁匠", "B"],
    ]
    assert read(write(tmp_path, "bank.xlsx", make_xlsx({"S": rows}))) == [
        ("磨坊由什么推动？", ["风", "雨", "雪"], []),
        ("渡船运什么？", ["盐", "谷", "羊毛"], []),
        ("灯塔由谁看守？", ["磨坊主", "守塔人", "铁匠"], []),
    ]


def test_a_question_printed_again_with_its_key_is_kept_once_with_the_key(tmp_path: Path) -> None:
    paper = [["Question", "A", "B"], ["Who keeps the lamp?", "A] a miller", "B] a keeper"]]
    bank = [["Question", "A", "B", "Answer"], ["Who keeps the lamp?", "a miller", "a keeper", "B"]]
    assert read(write(tmp_path, "sets.xlsx", make_xlsx({"Set 1": paper, "Bank": bank}))) == [
        ("Who keeps the lamp?", ["a miller", "a keeper"], ["B"])
    ]


def test_of_a_question_printed_again_with_another_key_the_keys_disagree(tmp_path: Path) -> None:
    asked = ["Who keeps the lamp?", "a miller", "a keeper"]
    rows = [["Question", "A", "B", "Answer"], [*asked, "B"], [*asked, "A"]]
    questions = read_landed(write(tmp_path, "bank.xlsx", make_xlsx({"S": rows})))["questions"]
    assert [(q["answer"], "keys_disagree" in q["parse_notes"]) for q in questions] == [(["B"], True)]


def test_what_tells_equally_worded_records_apart_is_what_they_ask_about(tmp_path: Path) -> None:
    said = [
        ["It stands on the hill, north of the town.", "The wind turns it."],
        ["It floats at the quay, south of the mill.", "It carries sheep."],
    ]
    records = [
        {
            "uid": f"5fa1-0{place}",
            "question": "What is it?",
            "choices": ["a mill", "a ferry"],
            "answer": "AB"[place],
            "hints": hints,
        }
        for place, hints in enumerate(said)
    ]
    records.append(
        {"uid": "5fa1-07", "question": "Who sails?", "choices": ["a miller", "a skipper"], "answer": "B"}
    )
    questions = read_landed(write(tmp_path, "bank.json", json.dumps(records).encode()))["questions"]
    assert [(q["material"], q["answer"]) for q in questions] == [
        ("It stands on the hill, north of the town.\nThe wind turns it.", ["A"]),
        ("It floats at the quay, south of the mill.\nIt carries sheep.", ["B"]),
        (None, ["B"]),
    ]


def test_options_repeat_their_letters_with_and_without_a_stop(tmp_path: Path) -> None:
    rows = [
        ["题目", "选项1", "选项2", "选项3", "正确答案"],
        ["磨坊由什么推动？", "A.风", "B.雨", "C雪", "A"],
        ["渡船运什么？", "A盐", "B谷", "C羊毛", "B"],
        ["谁值夜班？", "A组", "B.乙队", "丙队", "B"],
    ]
    assert read(write(tmp_path, "bank.xlsx", make_xlsx({"S": rows}))) == [
        ("磨坊由什么推动？", ["风", "雨", "雪"], ["A"]),
        ("渡船运什么？", ["盐", "谷", "羊毛"], ["B"]),
        ("谁值夜班？", ["A组", "乙队", "丙队"], ["B"]),
    ]
