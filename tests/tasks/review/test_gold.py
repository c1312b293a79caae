from __future__ import annotations

import json
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from openpyxl import load_workbook

from schemas.settings import Settings
from schemas.tables import get_table
from tasks.questions import QuestionContent
from tasks.review.agreement import read_votes
from tasks.review.assigning.annotators import Annotator
from tasks.review.assigning.assignment import AssignmentSummary, AssignmentTerms, assign_batch
from tasks.review.assigning.gold import (
    GoldSupply,
    judge_gold,
    make_gold,
    read_gold_rows,
    read_gold_scores,
    read_gold_supply,
)
from tasks.review.batch import read_decisions
from tasks.review.channels.label_studio.writing import export_label_studio
from tasks.review.channels.workbook import layout
from tasks.review.channels.workbook.writing import export_batch
from tasks.review.closing import close_batch
from tasks.review.decisions.decision import Edit, GivenDecision
from tasks.review.desk.queue import read_work
from tasks.review.landing import land_closed_batches
from tasks.review.overview.progress import is_complete, read_progress
from tasks.review.recording.desk import record
from tests.tasks.review.conftest import (
    AFTER_ALL,
    LATER,
    NOW,
    give,
    make_frame,
    make_question,
    make_submission,
)
from warehouse.lake import Lake, open_lake
from warehouse.ledger.engine.ledger import Ledger
from warehouse.ledger.review import assigning
from warehouse.ledger.review import gold as review_gold

KEY = b"k" * 64
FIVE = [Annotator(name) for name in ("chen", "dai", "eva", "fang", "gu")]


def settle(number: int, outcome: str = "accepted") -> dict[str, Any]:
    """A row of `settled_questions`."""
    row = make_question(number, stem=f"Settled {number}: ( ).")
    return row | {"batch_id": "old", "outcome": outcome}


SETTLED = [settle(number, "rejected" if number % 4 == 0 else "accepted") for number in range(101, 161)]
SUPPLY = GoldSupply(SETTLED, 0.2, KEY)
FRESH = [make_question(number) for number in range(1, 26)]


def assign(ledger: Ledger, settings: Settings, supply: GoldSupply = SUPPLY) -> AssignmentSummary:
    roomy = settings.model_copy(update={"review_daily_quota": 50})
    return assign_batch(ledger, "b1", make_frame(FRESH), FIVE, roomy, NOW, AssignmentTerms(gold=supply))


def read_planted(ledger: Ledger) -> list[dict[str, Any]]:
    with ledger.read() as connection:
        return read_gold_rows(connection, "b1")


def test_everybody_gets_their_share_to_accept_and_to_reject(ledger: Ledger, settings: Settings) -> None:
    summary = assign(ledger, settings)
    rows = read_planted(ledger)
    assert Counter(row["annotator"] for row in rows) == dict.fromkeys([one.user_id for one in FIVE], 2)
    assert summary.loads == dict.fromkeys(sorted(one.user_id for one in FIVE), 12)
    assert summary.gold_count == len({row["question_uuid"] for row in rows})
    by_person = {(row["annotator"], row["expected"]) for row in rows}
    assert len(by_person) == 10, "everybody meets both kinds"


def test_the_draw_follows_from_the_key_and_from_nothing_else(
    ledger: Ledger, settings: Settings, tmp_path: Path
) -> None:
    assign(ledger, settings)
    rows = read_planted(ledger)
    kinds = {
        tuple(make_gold(row, key, "b1").kind for row in SETTLED) for key in (KEY, KEY, b"x" * 64, b"y" * 64)
    }
    assert len(kinds) == 3
    assert {row["kind"] for row in rows} <= {"accepted", "rejected", "spoiled"}
    assert {make_gold(row, KEY, "b1").kind for row in SETTLED} == {"accepted", "rejected", "spoiled"}


@pytest.mark.parametrize(
    ("settled_in", "tried"),
    # What is read again in another batch is known no more: nobody is tried by it.
    [("old", {"eva", "fang", "gu"}), ("earlier", set())],
)
def test_nobody_is_tried_by_a_question_that_they_have_read_or_that_is_doubted(
    ledger: Ledger, settings: Settings, settled_in: str, tried: set[str]
) -> None:
    two = [Annotator("chen"), Annotator("dai")]
    old = [row for row in SETTLED[:4] if row["outcome"] == "accepted"]
    papers = make_frame([{name: row[name] for name in FRESH[0]} for row in old])
    assign_batch(ledger, "old", papers, two, settings, NOW)
    for name in ("chen", "dai"):
        record(
            ledger,
            [make_submission(name, *(give(row["question_uuid"], "accept") for row in old), batch_id="old")],
            NOW,
        )
    assign(ledger, settings, GoldSupply([row | {"batch_id": settled_in} for row in old], 0.2, KEY))
    assert {row["annotator"] for row in read_planted(ledger)} == tried


def test_planted_questions_are_of_the_disciplines_and_languages_of_the_work(
    ledger: Ledger, settings: Settings
) -> None:
    others = [row | {"discipline": "Law"} for row in SETTLED[:30]]
    strange = [row | {"language": "zh"} for row in SETTLED[30:50]]
    assign(ledger, settings, GoldSupply([*others, *strange, *SETTLED[50:]], 0.2, KEY))
    usual = {row["question_uuid"] for row in SETTLED[50:]}
    assert {row["source_uuid"] for row in read_planted(ledger)} <= usual


def test_without_a_settled_question_nothing_is_planted(ledger: Ledger, settings: Settings) -> None:
    assert assign(ledger, settings, GoldSupply((), 0.2, KEY)).gold_count == 0


def test_nothing_that_an_annotator_gets_tells_the_planted_from_the_others(
    ledger: Ledger, settings: Settings, tmp_path: Path
) -> None:
    assign(ledger, settings)
    planted = {row["question_uuid"] for row in read_planted(ledger)}
    work = read_work(ledger, "b1", "chen", "reviewer")
    assert len(work) == 12
    assert len(planted & work.keys()) == 2
    assert {one.item.revision for one in work.values()} == {1}
    assert len({frozenset(one.item.as_row("b1")["content"]) for one in work.values()}) == 1
    with ledger.read() as connection:
        rows = assigning.read_assignments(connection, "b1", "chen")
    assert len({(row["role"], row["assigned_at"], row["due_at"]) for row in rows}) == 1

    export_batch(ledger, "b1", tmp_path)
    sheet = load_workbook(tmp_path / "review-b1-chen.xlsx")[layout.SHEET]
    shapes = {
        tuple((cell.has_style, cell.data_type, cell.protection.locked) for cell in row)
        for row in sheet.iter_rows(min_row=2)
    }
    assert len(shapes) == 1
    export_label_studio(ledger, tmp_path)
    tasks = json.loads((tmp_path / "label-studio-b1-chen.json").read_text("utf-8"))
    assert len(tasks) == 12
    assert len({(*task, *task["data"], *task["data"]["proctor"]) for task in tasks}) == 1


@pytest.mark.parametrize(
    ("kind", "decision", "answer", "result"),
    [
        ("accepted", "accept", None, "right"),
        ("accepted", "reject", None, "false_alarm"),
        ("accepted", "edit", ["C"], "false_alarm"),
        ("rejected", "accept", None, "missed"),
        ("rejected", "reject", None, "right"),
        ("rejected", "edit", ["C"], "right"),
        ("spoiled", "accept", None, "missed"),
        ("spoiled", "reject", None, "right"),
        ("spoiled", "edit", ["A"], "right"),
        ("spoiled", "edit", ["C"], "missed"),
    ],
)
def test_a_fault_is_seen_by_a_rejection_and_by_the_right_correction(
    kind: str, decision: str, answer: list[str] | None, result: str
) -> None:
    content = QuestionContent.from_row(make_question(1))  # The key is B
    edit = None if answer is None else Edit.from_row({"answer": answer})
    given = GivenDecision("u", decision, edit=edit)
    assert judge_gold(kind, ["A"] if kind == "spoiled" else None, content, given) == result
    if kind == "accepted" and decision == "edit":
        other = GivenDecision("u", "edit", edit=Edit.from_row({"explanation": "because"}))
        assert judge_gold(kind, None, content, other) == "right"


def test_planted_questions_are_decided_like_others_and_never_counted_as_reviews(
    ledger: Ledger, settings: Settings
) -> None:
    assign(ledger, settings)
    planted = {row["question_uuid"] for row in read_planted(ledger)}
    for one in FIVE:
        work = read_work(ledger, "b1", one.user_id, "reviewer")
        # chen accepts everything; the others do what is known to be right.
        expected = {row["question_uuid"]: row["expected"] for row in read_planted(ledger)}
        words = {uuid: "accept" if one.user_id == "chen" else expected.get(uuid, "accept") for uuid in work}
        record(ledger, [make_submission(one.user_id, *(give(*pair) for pair in words.items()))], LATER)
    with ledger.read() as connection:
        assert planted <= {one.question_uuid for one in read_decisions(connection, "b1")}
    assert is_complete(ledger, "b1")
    progress = read_progress(ledger, "b1", LATER)
    assert (progress.question_count, progress.states) == (25, {"accepted": 25})
    assert {(one.assigned_count, one.decided_count) for one in progress.annotators} == {(12, 12)}
    assert not planted & {vote.question_uuid for vote in read_votes(ledger)}
    scores = {one.annotator: one for one in read_gold_scores(ledger, "b1")}
    assert {name: (one.right_count, one.missed_count) for name, one in scores.items()} == {
        "chen": (1, 1),
        "dai": (2, 0),
        "eva": (2, 0),
        "fang": (2, 0),
        "gu": (2, 0),
    }
    # Wilson's interval for 1 of 2 (Wilson 1927): 0.0945 to 0.9055.
    assert (scores["chen"].low, scores["chen"].high) == pytest.approx((0.0945, 0.9055), abs=5e-5)
    closed = close_batch(ledger, "b1", LATER)
    for frame in (closed.assignments, closed.reviews, closed.decisions):
        assert not planted & set(frame["question_uuid"])
    assert closed.gold.height == 10


def test_a_batch_is_complete_without_the_decisions_on_planted_questions(
    ledger: Ledger, settings: Settings
) -> None:
    assign(ledger, settings)
    with ledger.read() as connection:
        planted = review_gold.read_gold_uuids(connection, "b1")
    for one in FIVE:
        work = read_work(ledger, "b1", one.user_id, "reviewer").keys() - planted
        record(ledger, [make_submission(one.user_id, *(give(uuid, "accept") for uuid in work))], LATER)
    assert is_complete(ledger, "b1")
    assert {one.right_rate for one in read_gold_scores(ledger)} == {None}


@pytest.fixture
def lake(settings: Settings) -> Any:
    with open_lake(settings) as opened:
        yield opened


def test_from_the_lake_and_back_planted_questions_land_apart(
    ledger: Ledger, settings: Settings, lake: Lake
) -> None:
    """A first batch settles the questions that try the second, which lands them as no review."""
    old = [make_question(number) for number in range(1, 5)]
    lake.land("questions", old[0]["document_id"], make_frame(old))
    roomy = settings.model_copy(update={"review_daily_quota": 50})
    two = [Annotator("chen"), Annotator("dai")]
    assign_batch(ledger, "first", make_frame(old), two, roomy, NOW)
    for name in ("chen", "dai"):
        words = [
            GivenDecision(row["question_uuid"], "reject", "factual_error")
            if place == 0
            else give(row["question_uuid"], "accept")
            for place, row in enumerate(old)
        ]
        record(ledger, [make_submission(name, *words, batch_id="first")], NOW)
    land_closed_batches(ledger, lake, LATER)

    supply = read_gold_supply(roomy, lake, 0.5)
    assert Counter(row["outcome"] for row in supply.rows) == {"accepted": 3, "rejected": 1}
    assert {row["document_name"] for row in supply.rows} == {"paper.docx"}
    assert read_gold_supply(roomy, lake, 0.5) == supply, "the key of the home stays"
    assert (settings.home / "secrets" / "review_gold").stat().st_mode & 0o077 == 0
    retired = {name: old[1][name] for name in ("question_uuid", "lineage_uuid")}
    retired |= {"is_retired": True, "reason": "the key is wrong", "retired_at": datetime.now(UTC)}
    lake.land("bank_retirements", "retired", get_table("bank_retirements").frame([retired]))
    assert [row for row in supply.rows if row["question_uuid"] != old[1]["question_uuid"]] == (
        read_gold_supply(roomy, lake, 0.5).rows
    )
    others = [Annotator("eva"), Annotator("fang")]
    summary = assign_batch(
        ledger, "b1", make_frame(FRESH[10:14]), others, roomy, NOW, AssignmentTerms(gold=supply)
    )
    assert summary.gold_count > 0
    for one in others:
        work = read_work(ledger, "b1", one.user_id, "reviewer")
        record(ledger, [make_submission(one.user_id, *(give(uuid, "accept") for uuid in work))], LATER)
    land_closed_batches(ledger, lake, AFTER_ALL)
    landed = lake.query(
        "SELECT count(*) FILTER (question_uuid IN (SELECT question_uuid FROM gold_reviews)) AS planted, count(*) AS all_of_them "
        "FROM reviews WHERE batch_id = 'b1'"
    )
    assert landed.rows() == [(0, 8)]
    gold = lake.query(
        "SELECT annotator, count(*) AS n FROM gold_reviews GROUP BY annotator ORDER BY annotator"
    )
    assert gold.rows() == [("eva", 2), ("fang", 2)]
