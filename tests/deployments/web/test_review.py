"""An annotator's queue: what waits, what a decision does, and what is never lost."""

from __future__ import annotations

import re
import time
from datetime import UTC, datetime
from html import unescape
from typing import Any

import pytest
from sqlalchemy import update

from deployments.web.pages import count_days
from tasks.questions import QuestionContent
from tasks.review import close_batch
from tasks.review.assigning import write_annotator
from tasks.review.channels import parse_decision
from tasks.review.decisions import Edit, GivenDecision
from tasks.review.recording import Submission, record
from tests.deployments.web.conftest import BATCH, Desk, MakeDesk, Reviewer
from tests.tasks.review.conftest import make_question
from warehouse.ledger.engine.moments import now_text
from warehouse.ledger.engine.tables import reviews
from warehouse.ledger.review.desk import read_draft
from warehouse.ledger.review.withdrawal import BatchedDocument, delete_work


def read_card(page: str) -> dict[str, str]:
    """The data of the card on a page."""
    tag = re.search(r'<article class="card"[^>]*>', page)
    assert tag is not None
    return {name: unescape(value) for name, value in re.findall(r'data-([a-z-]+)="([^"]*)"', tag[0])}


def follow_next(one: Reviewer, queue: str = "questions") -> list[str]:
    """The references that a queue leads through, from its first question on."""
    reply = one.get(f"/review/{BATCH}/next/{queue}")
    found: list[str] = []
    reference = reply.headers["location"].rsplit("/", 1)[1]
    while reference and reference not in found:
        found.append(reference)
        reference = read_card(one.get(f"/review/{BATCH}/question/{reference}/card").text)["next"]
    return found


def test_a_queue_is_read_in_the_order_of_its_papers(make_desk: MakeDesk) -> None:
    """Not in the order of identifiers: the next question of a paper stands below the one before."""
    first, second = "0b8f1f0e-3d7c-5e0e-9c52-7b1f6a4d2c10", "1c8f1f0e-3d7c-5e0e-9c52-7b1f6a4d2c10"
    rows = [make_question(n, document_id=second) for n in (2, 1)] + [
        make_question(n, document_id=first) for n in (12, 3)
    ]
    desk = make_desk(rows)
    chen = desk.sign_in("chen")
    assert follow_next(chen) == [desk.refer("chen", place) for place in (3, 2, 1, 0)]


def test_questions_without_an_answer_wait_in_a_queue_of_their_own(make_desk: MakeDesk) -> None:
    desk = make_desk([make_question(1), make_question(2, answer=[]), make_question(3)])
    chen = desk.sign_in("chen")
    assert follow_next(chen) == [desk.refer("chen", 0), desk.refer("chen", 2)]
    assert follow_next(chen, "unanswered") == [desk.refer("chen", 1)]
    card = read_card(chen.get(chen.path(1)).text)
    assert (
        card["accept-fault"] == "it cannot be accepted as it stands: the answer is empty; edit or reject it"
    )
    assert chen.decide(1, "accept").status_code == 422
    assert chen.decide(1, "edit", edit={"answer": ["A"]}).status_code == 200


def test_what_is_due_first_comes_first(desk: Desk) -> None:
    from sqlalchemy import update

    from warehouse.ledger.engine.tables import review_assignments as table

    with desk.ledger.write() as connection:
        late = {"question_uuid": desk.questions[2]["question_uuid"]}
        connection.execute(update(table).filter_by(**late).values(due_at="2020-01-01T00:00:00.000000+00:00"))
    chen = desk.sign_in("chen")
    assert follow_next(chen)[0] == desk.refer("chen", 2)
    assert "overdue" in chen.get("/").text


def test_a_decision_lands_as_the_desk_records_it_from_any_channel(desk: Desk) -> None:
    """Through the web and the desk alone the same rows, but for channel and moment."""
    chen, uuids = desk.sign_in("chen"), [row["question_uuid"] for row in desk.questions]
    edited = {
        "stem": "A better stem ( ).",
        "explanation": "Because.",
        "options": desk.questions[1]["options"],
    }
    assert chen.decide(0, "accept").json()["is_new"] is True
    assert chen.decide(1, "edit", edit=edited, comment="  clearer  ").status_code == 200
    assert chen.decide(2, "reject", reject_reason="unclear").status_code == 200
    given = [
        GivenDecision(uuids[0], "accept"),
        GivenDecision(
            uuids[1], "edit", None, "clearer", Edit(stem="A better stem ( ).", explanation="Because.")
        ),
        GivenDecision(uuids[2], "reject", "unclear"),
    ]
    record(desk.ledger, [Submission("file", BATCH, "dai", "reviewer", "workbook", given)], now_text())
    found = desk.decisions()
    assert [found["chen", place].given for place in range(3)] == given
    assert [found["dai", place].given for place in range(3)] == given
    assert {found[who, 0].channel for who in ("chen", "dai")} == {"web", "workbook"}


def test_the_same_decision_sent_again_changes_nothing(desk: Desk) -> None:
    chen = desk.sign_in("chen")
    first = chen.decide(0, "accept").json()
    before = desk.decisions()
    # As after a lost reply: the page has not heard of the first.
    again = chen.decide(0, "accept", seen=None).json()
    assert (again["seen"], again["is_new"]) == (first["seen"], False)
    assert desk.decisions() == before


def test_a_stale_window_overwrites_nothing_and_shows_what_stands(desk: Desk) -> None:
    chen = desk.sign_in("chen")
    stands = chen.decide(0, "reject", reject_reason="unclear", comment="which shelf?").json()["seen"]
    stale = chen.decide(0, "accept", seen=None)
    assert (stale.status_code, stale.json()) == (
        409,
        {"code": "conflict", "seen": stands, "stands": "Reject · Unclear · which shelf?"},
    )
    assert desk.decisions()["chen", 0].given.decision == "reject"
    assert chen.decide(0, "accept", seen=stands).status_code == 200
    assert desk.decisions()["chen", 0].given.decision == "accept"


def test_undo_leads_back_one_decision_at_a_time_and_lets_it_change(desk: Desk) -> None:
    chen = desk.sign_in("chen")
    moments = [chen.decide(place, "accept").json()["seen"] for place in (0, 1)]
    last = chen.get(f"/review/{BATCH}/previous").json()["reference"]
    earlier = chen.get(f"/review/{BATCH}/previous?before={moments[1].replace('+', '%2B')}").json()[
        "reference"
    ]
    assert [last, earlier] == [desk.refer("chen", 1), desk.refer("chen", 0)]
    assert (
        chen.get(f"/review/{BATCH}/previous?before={moments[0].replace('+', '%2B')}").json()["reference"]
        is None
    )
    card = read_card(chen.get(chen.path(1)).text)
    assert card["seen"] == moments[1]
    assert chen.decide(1, "reject", seen=card["seen"], reject_reason="duplicate").json()["is_new"] is False


def test_a_draft_is_there_on_another_device_until_it_is_decided(desk: Desk) -> None:
    chen = desk.sign_in("chen")
    draft = {"comment": "half a thou", "form": {"values": {"stem": "x"}}, "at": 5}
    assert chen.post(chen.path(0, "/draft"), json={"draft": draft}).status_code == 200
    elsewhere = desk.sign_in("chen")
    card = read_card(elsewhere.get(elsewhere.path(0)).text)
    assert '"half a thou"' in card["draft"]
    assert "half a thou" not in desk.sign_in("dai").get(desk.sign_in("dai").path(0)).text
    chen.decide(0, "accept")
    assert read_card(chen.get(chen.path(0)).text)["draft"] == ""


def test_a_draft_leaves_with_its_question(desk: Desk) -> None:
    chen, uuid = desk.sign_in("chen"), desk.questions[0]["question_uuid"]
    chen.post(chen.path(0, "/draft"), json={"draft": {"form": {"values": {"stem": "A shelf holds ( )."}}}})
    with desk.ledger.write() as connection:
        delete_work(connection, BatchedDocument(BATCH, (uuid,), 0))
        assert read_draft(connection, BATCH, uuid, "chen") is None
    assert chen.post(chen.path(0, "/draft"), json={"draft": {}}).status_code == 404


def test_a_dispute_goes_to_an_adjudicator_who_sees_both_opinions_without_names(desk: Desk) -> None:
    chen, dai = desk.sign_in("chen"), desk.sign_in("dai")
    chen.decide(0, "edit", edit={"answer": ["A"]}, comment="the key is A")
    dai.decide(0, "reject", reject_reason="factual_error")
    judge = next(
        one for name in ("eva", "fang") if (one := desk.sign_in(name)).get(one.path(0)).status_code == 200
    )
    assert follow_next(judge, "disputes") == [desk.refer(judge.name, 0)]
    page = judge.get(judge.path(0)).text
    opinions = page[page.index("What the reviewers decided") : page.index('class="question"')]
    assert "the key is A" in opinions
    assert "Factual error" in opinions
    assert "<del>B</del><ins>A</ins>" in opinions
    assert not {"chen", "dai"} & set(re.findall(r"\w+", opinions))
    # A reviewer never sees what another one decided.
    assert (
        "Factual error"
        not in re.sub(r"(?s)<section class=\"decide\".*?</section>", "", chen.get(chen.path(0)).text).split(
            "data-words"
        )[0]
    )
    assert judge.decide(0, "accept").status_code == 200
    assert desk.decisions()[judge.name, 0].channel == "adjudication"


def test_the_last_decision_starts_what_follows_and_once(desk: Desk) -> None:
    chen, dai = desk.sign_in("chen"), desk.sign_in("dai")
    for place in range(3):
        assert chen.decide(place, "accept").json()["is_complete"] is False
    for place in range(2):
        dai.decide(place, "accept")
    assert desk.continued == []
    assert dai.decide(2, "accept").json()["is_complete"] is True
    assert desk.continued == [BATCH]


def test_a_server_that_ended_in_between_starts_what_follows_when_it_starts_again(make_desk: MakeDesk) -> None:
    from fastapi.testclient import TestClient

    from deployments.web.app import create_app

    desk = make_desk()
    for name in ("chen", "dai"):
        for place in range(3):
            desk.sign_in(name).decide(place, "accept")
    started: list[str] = []
    with TestClient(create_app(desk.settings, ledger=desk.ledger, continue_batch=started.append)):
        assert started == [BATCH]


def test_a_closed_batch_takes_nothing_and_leaves_the_list_of_work(desk: Desk) -> None:
    chen = desk.sign_in("chen")
    close_batch(desk.ledger, BATCH, now_text(), early=True)
    assert (chen.decide(0, "accept").status_code, chen.decide(0, "accept").json()) == (
        410,
        {"code": "closed"},
    )
    assert BATCH not in chen.get("/").text


def test_today_counts_decisions_of_every_batch_and_days_left_are_shown(desk: Desk) -> None:
    chen = desk.sign_in("chen")
    assert "Today 0 of 50" in chen.get("/").text
    chen.decide(0, "accept")
    page = chen.get("/").text
    assert "Today 1 of 50" in page
    assert "1 of 3 decided" in page
    assert "30 days left" in page


def test_a_day_is_that_of_the_dates_that_are_shown_wherever_the_server_stands(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Days left and what was done today were by another calendar than the date beside them."""
    now = datetime.now(UTC)
    chen = desk.sign_in("chen")
    chen.decide(0, "accept")
    with desk.ledger.write() as connection:
        connection.execute(update(reviews).values(decided_at=f"{now:%Y-%m-%d}T00:00:00.000000+00:00"))
    # So far west that its day began a moment ago.
    monkeypatch.setenv("TZ", f"AAA{now:%H:%M}")
    time.tzset()
    try:
        assert "Today 1 of 50" in chen.get("/").text
        assert count_days("2026-12-16T00:00:00.000000+00:00", f"2026-12-15T{now:%H:%M}:59.000000+00:00") == 1
    finally:
        monkeypatch.undo()
        time.tzset()


def test_who_has_done_the_day_s_share_is_told_to_stop(desk: Desk) -> None:
    write_annotator(desk.ledger, "chen", daily_quota=1)
    chen = desk.sign_in("chen")
    assert "are done" not in chen.get("/").text
    chen.decide(0, "accept")
    assert "Today&#39;s 1 are done (1)" in chen.get("/").text
    assert 'data-quota="1"' in chen.get(chen.path(1)).text


def test_everything_an_annotator_sees_is_in_their_language(make_desk: MakeDesk) -> None:
    desk = make_desk([make_question(1, parse_notes=["key_by_format"]), make_question(2, answer=[])])
    chen = desk.sign_in("chen")
    page = chen.get(chen.path(0), **{"accept-language": "zh-CN"}).text
    shown = unescape(re.sub(r"<[^>]*>", " ", page))
    assert "正确选项仅以加粗、颜色、下划线或底色标出。" in shown
    english = set(re.findall(r"[A-Za-z]{3,}", shown)) - {"Proctor", "Ctrl", "Enter", "Esc", "English", "chen"}
    assert english <= set(re.findall(r"[A-Za-z]{3,}", desk.questions[0]["stem"])) | {"paper", "docx"}
    reply = chen.post(
        chen.path(1, "/decision"), json={"decision": "accept"}, headers={"accept-language": "zh"}
    )
    assert reply.json()["faults"][0]["message"] == "不能直接通过：答案为空；请修改或退回。"


def test_the_list_has_pages_and_every_state(make_desk: MakeDesk) -> None:
    desk = make_desk([make_question(1, stem="Is $x^2<0$?"), *(make_question(number) for number in (2, 3))])
    chen = desk.sign_in("chen")
    chen.decide(1, "reject", reject_reason="unclear")
    page = chen.get(f"/review/{BATCH}/list/questions").text
    assert ("<msup>" in page, "$" in page) == (True, False)
    states = re.findall(r"<td>(?:<span class=\"\w+\">)?([A-Za-z]+)(?:</span>)?</td></tr>", page)
    assert states == ["open", "Reject", "open"]
    for number in (-7, 7, 10**20):
        assert "open" in chen.get(f"/review/{BATCH}/list/questions?page={number}").text
    assert chen.get(f"/review/{BATCH}/list/nonsense").status_code == 404


def test_what_a_page_sends_unchanged_is_no_correction() -> None:
    row: dict[str, Any] = make_question(1, explanation="As it was.")
    content = QuestionContent.from_row(row)
    sent = {"decision": "edit", "edit": {"stem": row["stem"], "explanation": None, "answer": ["B"]}}
    given, faults = parse_decision(sent, row["question_uuid"], content)
    assert faults == []
    assert given == GivenDecision(row["question_uuid"], "edit", edit=Edit(emptied=frozenset({"explanation"})))
