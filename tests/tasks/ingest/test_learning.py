"""The confidence fitted again on what review decided, reported before it takes effect."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from schemas.errors import UsageError
from schemas.reviews import REVIEW_DECISIONS
from schemas.settings import Settings
from tasks.ingest.confidence import read_fit
from tasks.ingest.documents import make_options
from tasks.ingest.landing import land_documents
from tasks.ingest.learning import is_read_right, learn_confidence
from tests.tasks.ingest.builders import write
from warehouse.lake import Lake

DECIDED = {"outcome": "accepted", "was_edited": False, "reject_reason": None}
PARSED: dict[str, Any] = {
    "question_type": "multiple_choice", "stem": "s", "material": None,
    "options": [{"label": "A", "text": "a"}], "answer": ["A"],
}  # fmt: skip
ACCEPTED = {f"accepted_{name.removeprefix('question_')}": value for name, value in PARSED.items()}


@pytest.mark.parametrize(
    ("decided", "verdict"),
    [
        ({}, True),
        ({"was_edited": True}, True),
        ({"was_edited": True, "accepted_answer": ["B"]}, False),
        ({"was_edited": True, "accepted_stem": "other"}, False),
        ({"was_edited": True, "accepted_material": ""}, True),
        ({"outcome": "rejected", "reject_reason": "formatting"}, False),
        ({"outcome": "rejected", "reject_reason": "factual_error"}, None),
        ({"outcome": None}, None),
    ],
    ids=["as read", "other fields edited", "key edited", "stem edited", "nothing is nothing", "bad format", "wrong fact", "open"],
)  # fmt: skip
def test_a_decision_says_whether_a_question_was_read_right(
    decided: dict[str, Any], verdict: bool | None
) -> None:
    assert is_read_right(PARSED | ACCEPTED | DECIDED | decided) is verdict


def land_reviewed(lake: Lake, settings: Settings, folder: Path) -> None:
    """Papers whose first half review accepted as read; of the others it corrected the key."""
    for number in range(10):
        source = folder / f"source{number % 4}"
        source.mkdir(parents=True, exist_ok=True)
        lines = [f"{place}. 第{number}卷第{place}个说法是对的。（√）" for place in range(1, 11)]
        write(source, f"{number}.txt", "一、判断题\n" + "\n".join(lines) + "\n")
    land_documents(lake, settings, [folder])
    rows = lake.query(
        "select * exclude (landing_unit) from questions order by document_name, position"
    ).to_dicts()
    names = [column.name for column in REVIEW_DECISIONS.own_columns]
    decisions = [
        {name: row.get(name) for name in names}
        | {
            "batch_id": "b1", "outcome": "accepted", "accept_count": 2, "reject_count": 0, "was_adjudicated": False,
            "was_edited": place % 3 == 0, "revision": row["revision"] + (place % 3 == 0), "answer": ["false"] if place % 3 == 0 else row["answer"],
            "decided_at": datetime(2026, 1, 1, tzinfo=UTC),
        }
        for place, row in enumerate(rows)
    ]  # fmt: skip
    lake.land("review_decisions", "b1", REVIEW_DECISIONS.frame(decisions))


def test_a_fit_on_decisions_is_reported_and_takes_effect_only_when_it_is_applied(
    tmp_path: Path, lake: Lake, settings: Settings
) -> None:
    land_reviewed(lake, settings, tmp_path / "papers")
    options = make_options(settings=settings)
    before = lake.query("select question_uuid, parse_confidence, status from questions order by all")
    report = learn_confidence(lake, [], options, "kim", apply=False)
    assert (report.paper_count, report.question_count, report.is_applied) == (10, 100, False)
    assert report.old_version == read_fit(None).version
    assert "At 0.9 or more: 0 of 100 questions" in report.table  # a third of them was wrong
    assert lake.query("select count(*) as n from confidence_fits")["n"].item() == 0

    for _ in range(2):
        applied = learn_confidence(lake, [], options, "kim", apply=True)
    assert applied.version == report.version
    assert lake.query("select confidence_version, applied_by from confidence_fits").rows() == [
        (report.version, "kim")
    ]
    # what has landed keeps its confidence and the name of its fit until it is read again
    assert lake.query("select question_uuid, parse_confidence, status from questions order by all").equals(
        before
    )
    assert set(lake.query("select confidence_version as v from documents")["v"]) == {report.old_version}
    land_documents(lake, settings, [tmp_path / "papers"], again=True)
    assert set(lake.query("select confidence_version as v from documents")["v"]) == {report.version}
    assert lake.query("select max(parse_confidence) as m from questions")["m"].item() < 0.8


def test_too_little_to_learn_from_is_one_clear_sentence(
    tmp_path: Path, lake: Lake, settings: Settings
) -> None:
    with pytest.raises(UsageError, match="0 questions are known to be right or wrong, and 100 are needed"):
        learn_confidence(lake, [], make_options(settings=settings), "kim", apply=False)
    with pytest.raises(UsageError, match="holds no truth files"):
        learn_confidence(lake, [tmp_path], make_options(settings=settings), "kim", apply=False)


def test_papers_with_truth_files_are_read_and_learnt_from(
    tmp_path: Path, lake: Lake, settings: Settings
) -> None:
    (tmp_path / "truth").mkdir()
    for number in range(10):
        asked = [f"第{number}卷第{place}个说法是对的。" for place in range(1, 13)]
        lines = [f"{place}. {stem}（√）" for place, stem in enumerate(asked, start=1)]
        write(tmp_path, f"{number}.txt", "一、判断题\n" + "\n".join(lines) + "\n")
        listed = [
            {"no": str(place), "section": None, "type": "true_false", "stem": stem, "answer": place % 4 != 0}
            for place, stem in enumerate(asked, start=1)
        ]
        truth = {
            "file": f"{number}.txt",
            "n_questions": 12,
            "answers_location": "in the stem",
            "first": listed,
            "last": [],
        }
        write(tmp_path / "truth", f"{number}.txt.json", json.dumps(truth))
    report = learn_confidence(lake, [tmp_path], make_options(settings=settings), "kim", apply=False)
    assert (report.paper_count, report.question_count) == (10, 120)
    assert "(25%)" in report.table or "(24%)" in report.table or "(26%)" in report.table
