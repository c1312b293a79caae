from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from schemas.errors import UsageError
from tasks.questions.forms.record import (
    JudgeRecord,
    QuestionRecord,
    build_records,
    export_records,
    import_records,
)
from tests.tasks.bank.augment.conftest import make_accepted, make_frame

UUID = "a4b92619-f0ac-5abc-8def-9f11ce3b4704"
RECORD: dict[str, Any] = {
    "category": "Engineering",
    "sub_category": "Computer Science",
    "question_uuid": UUID,
    "dialog": [{"role": "user", "content": "Is it?"}],
    "hint": False,
    "response": "It is.",
    "judge": {"judge": "3, because.", "stars": 3, "reason": "because"},
}

TEXT = st.none() | st.text(max_size=20)
RECORDS = st.builds(
    QuestionRecord,
    category=TEXT,
    sub_category=TEXT,
    question_uuid=st.uuids().map(str),
    dialog=st.lists(
        st.fixed_dictionaries(
            {"role": st.sampled_from(["system", "user", "assistant"]), "content": st.text(max_size=20)}
        ),
        min_size=1,
        max_size=3,
    ).map(tuple),
    hint=st.booleans(),
    response=TEXT,
    judge=st.none() | st.builds(JudgeRecord, judge=TEXT, stars=st.none() | st.integers(0, 3), reason=TEXT),
)


@settings(deadline=None)
@given(records=st.lists(RECORDS, max_size=5))
def test_what_was_exported_is_imported_again(records: list[QuestionRecord], tmp_path_factory: Any) -> None:
    path = tmp_path_factory.mktemp("records") / "records.jsonl"
    assert export_records(records, path) == len(records)
    assert import_records(path) == records


def test_a_record_has_the_keys_of_the_figure_in_its_order(tmp_path: Path) -> None:
    export_records(
        [QuestionRecord("Law", None, UUID, ({"role": "user", "content": "?"},))], tmp_path / "r.jsonl"
    )
    row = json.loads((tmp_path / "r.jsonl").read_text(encoding="utf-8"))
    assert list(row) == ["category", "sub_category", "question_uuid", "dialog", "hint", "response", "judge"]


def test_the_keys_of_the_published_figure_are_read(tmp_path: Path) -> None:
    row = {
        **{key: RECORD[key] for key in ("category", "sub_category", "question_uuid", "hint")},
        "dialog": RECORD["dialog"][0],
        "gpt4res": RECORD["response"],
        "gpt4judge": RECORD["judge"],
    }
    (tmp_path / "r.jsonl").write_text(json.dumps(row), encoding="utf-8")
    (record,) = import_records(tmp_path / "r.jsonl")
    assert (record.response, record.judge) == ("It is.", JudgeRecord("3, because.", 3, "because"))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"question_uuid": "7"}, "line 1: question_uuid is no UUID"),
        ({"hint": "no"}, "line 1: hint is not true or false"),
        ({"dialog": []}, "line 1: dialog is no list of turns"),
        ({"dialog": [{"role": "ghost", "content": "x"}]}, "line 1: a turn of dialog needs a role"),
        ({"judge": {"stars": 4}}, "line 1: stars are not 0, 1, 2, 3 or null"),
        ({"judge": {"stars": True}}, "line 1: stars are not 0, 1, 2, 3 or null"),
        ({"response": 3}, "line 1: response is not text"),
        ({"answer": "B"}, "line 1: unknown keys answer"),
    ],
)
def test_a_faulty_record_is_refused_by_line_and_key(
    tmp_path: Path, changes: dict[str, Any], message: str
) -> None:
    (tmp_path / "r.jsonl").write_text(json.dumps(RECORD | changes), encoding="utf-8")
    with pytest.raises(UsageError) as refusal:
        import_records(tmp_path / "r.jsonl")
    assert message in str(refusal.value)


def test_all_faulty_lines_are_named_at_once_and_a_cut_file_is_refused(tmp_path: Path) -> None:
    text = json.dumps(RECORD)
    (tmp_path / "r.jsonl").write_text("\n".join([text, "{}", text[:40]]), encoding="utf-8")
    with pytest.raises(UsageError) as refusal:
        import_records(tmp_path / "r.jsonl")
    assert "Correct what is listed (2)" in str(refusal.value)
    assert "line 2: question_uuid is no UUID" in str(refusal.value)
    assert "line 3: no JSON object" in str(refusal.value)


def test_a_file_that_is_no_text_is_refused(tmp_path: Path) -> None:
    (tmp_path / "r.jsonl").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(UsageError, match="cannot be read as UTF-8"):
        import_records(tmp_path / "r.jsonl")


def test_records_join_responses_and_judgements_and_never_hold_the_reference_answer() -> None:
    answered = make_accepted(explanation="SECRET-EXPLANATION", answer=["C"])
    open_one = make_accepted("Which is prime? ( )", sub_discipline=None)
    responses = pl.DataFrame(
        {
            "question_uuid": [answered["question_uuid"]],
            "session_id": ["s1"],
            "seq": [4],
            "prompt_style": ["few_shot"],
            "response": ["C, since."],
        }
    )
    judgements = pl.DataFrame(
        {
            "session_id": ["s1", "s1"],
            "seq": [4, 4],
            "raw": ["stars: 3", "??"],
            "stars": [3, None],
            "reason": ["right", None],
        }
    )
    records = build_records(make_frame(answered, open_one), responses, judgements)
    assert [(record.question_uuid, record.response, record.judge) for record in records] == [
        (answered["question_uuid"], "C, since.", JudgeRecord("stars: 3", 3, "right")),
        (answered["question_uuid"], "C, since.", JudgeRecord("??", None, None)),
        (open_one["question_uuid"], None, None),
    ]
    assert answered["stem"] in records[0].dialog[-1]["content"]
    assert len(records[0].dialog[-1]["content"]) > len(records[2].dialog[-1]["content"])
    assert not any("SECRET" in turn["content"] for record in records for turn in record.dialog)
