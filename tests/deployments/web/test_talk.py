"""Similar questions already decided, messages with coordinators, changed guidelines."""

from __future__ import annotations

import re
import time
from html import unescape
from typing import Any

from httpx2 import Response

from tasks.review import close_batch
from tasks.review.assigning import AssignmentTerms, assign_batch, read_gold_supply
from tasks.review.decisions import GivenDecision
from tasks.review.desk import MOST_CHARACTERS, list_conversations
from tasks.review.recording import Submission, record
from tests.deployments.web.conftest import BATCH, Desk, MakeDesk, Reviewer
from tests.fresh import open_new_lake
from tests.tasks.review.conftest import make_frame, make_question
from tests.tasks.review.kit import Annotator, land_closed_batches
from warehouse.ledger.engine.moments import now_text
from warehouse.ledger.engine.opening import open_ledger

STEM = "Which of these treaties ended the long war between the two river kingdoms ( )."
ALIKE = "Which of these treaties ended the long war between the three river kingdoms ( )."
EARLIER = "2026-10-earlier"


def look_beside(one: Reviewer, number: int) -> str:
    """What stands beside a question, once the index is there."""
    for _ in range(100):
        reply = one.get(one.path(number, "/similar"))
        if reply.status_code != 202:
            return unescape(reply.text)
        time.sleep(0.1)
    raise AssertionError("the index is not made")


def look_at_talk(one: Reviewer, number: int) -> str:
    """What stands of the conversation on a question's card."""
    return unescape(one.get(one.path(number, "/card")).text.partition('class="talk"')[2])


def ask(one: Reviewer, number: int, text: str) -> Response:
    return one.post(one.path(number, "/message"), json={"text": text})


def answer(coordinator: Reviewer, number: int, text: str, to: str) -> Response:
    path = f"/messages/{BATCH}/{coordinator.desk.refer(coordinator.name, number)}"
    return coordinator.post(path, data={"form_token": coordinator.form_token(), "text": text, "to": to})


def settle_earlier(desk: Desk, decision: GivenDecision, stem: str) -> dict[str, Any]:
    """A batch of eva's and fang's on one question, decided alike and closed."""
    who = [Annotator("eva"), Annotator("fang")]
    row = make_question(90, stem=stem)
    frame = make_frame([row])
    assign_batch(desk.ledger, EARLIER, frame, who, desk.settings, now_text())
    uuid = frame["question_uuid"][0]
    given = GivenDecision(uuid, decision.decision, decision.reject_reason, decision.comment)
    handed_in = [
        Submission("file", EARLIER, name, "reviewer", "workbook", [given]) for name in ("eva", "fang")
    ]
    assert not record(desk.ledger, handed_in, now_text()).refusals
    close_batch(desk.ledger, EARLIER, now_text())
    return row


def test_a_similar_question_of_a_closed_batch_is_shown_with_its_decision_and_no_name(
    make_desk: MakeDesk,
) -> None:
    desk = make_desk([make_question(1, stem=STEM), make_question(2)])
    rejected = GivenDecision("", "reject", "factual_error", "there was no such war")
    settle_earlier(desk, rejected, stem=ALIKE)
    beside = look_beside(desk.sign_in("chen"), 0)
    assert ALIKE in beside
    assert "Reject" in beside and "Factual error" in beside and "there was no such war" in beside
    assert "eva" not in beside and "fang" not in beside
    assert "None that you may see." in look_beside(desk.sign_in("chen"), 1)


def test_in_an_open_batch_an_annotator_sees_only_their_own_decision_beside(make_desk: MakeDesk) -> None:
    desk = make_desk([make_question(1, stem=STEM), make_question(2, stem=ALIKE)])
    chen, dai = desk.sign_in("chen"), desk.sign_in("dai")
    assert chen.decide(1, "reject", reject_reason="unclear", comment="which kingdoms?").status_code == 200
    assert "which kingdoms?" in look_beside(chen, 0)
    assert "Your own decision" in look_beside(chen, 0)
    assert ALIKE not in look_beside(dai, 0)


def test_a_batch_that_comes_later_is_found_without_a_new_start(make_desk: MakeDesk) -> None:
    desk = make_desk([make_question(1, stem=STEM)])
    chen = desk.sign_in("chen")
    assert ALIKE not in look_beside(chen, 0)
    settle_earlier(desk, GivenDecision("", "accept"), stem=ALIKE)
    assert ALIKE in look_beside(chen, 0)


def test_what_a_planted_question_was_made_from_is_not_shown_beside_it(make_desk: MakeDesk) -> None:
    desk = make_desk([])
    row = settle_earlier(desk, GivenDecision("", "accept"), stem=STEM)
    with open_new_lake(desk.settings) as lake:
        lake.land("questions", row["document_id"], make_frame([row]))
        land_closed_batches(desk.ledger, lake, now_text())
        gold = read_gold_supply(desk.settings, lake, 0.5)
    rows = [make_question(1), make_question(2)]
    people = [Annotator("chen"), Annotator("dai")]
    terms = AssignmentTerms(gold=gold)
    summary = assign_batch(desk.ledger, BATCH, make_frame(rows), people, desk.settings, now_text(), terms)
    assert summary.gold_count
    chen = desk.sign_in("chen")
    listed = chen.get(f"/review/{BATCH}/list/questions").text
    for reference in re.findall(rf"/review/{BATCH}/question/([0-9a-f]+)\"", listed):
        path = f"/review/{BATCH}/question/{reference}/similar"
        while (reply := chen.get(path)).status_code == 202:
            time.sleep(0.1)
        assert "None that you may see." in reply.text


def test_a_reviewer_and_a_coordinator_write_to_each_other_and_no_other_reviewer_reads_it(desk: Desk) -> None:
    chen, dai, cora = desk.sign_in("chen"), desk.sign_in("dai"), desk.sign_in("cora")
    assert "Is the map part of it?" in ask(chen, 0, "  Is the map part of it?  ").text
    listed = cora.get("/messages").text
    assert "Waiting for an answer: 1" in listed and "chen" in listed
    assert "Waiting for an answer: 1" in cora.get("/coordination").text
    assert answer(cora, 0, "Yes, see page 3.", "chen").status_code == 303
    assert "Waiting for an answer: 0" in cora.get("/messages").text
    beside = look_at_talk(chen, 0)
    assert beside.index("Is the map part of it?") < beside.index("Yes, see page 3.")
    assert "cora" not in beside
    assert "Yes, see page 3." in chen.get("/").text
    assert "map" not in look_at_talk(dai, 0) and "page 3" not in dai.get("/").text
    assert answer(cora, 0, "The map was left out of the scan.", "").status_code == 303
    assert "left out of the scan" in look_at_talk(dai, 0)


def test_as_long_a_message_as_its_field_takes_is_written_however_many_lines_it_has(desk: Desk) -> None:
    text = "line\n" * (MOST_CHARACTERS // 5 - 1) + "lines"
    cora = desk.sign_in("cora")
    assert len(text) == MOST_CHARACTERS
    assert answer(cora, 0, text.replace("\n", "\r\n"), "chen").status_code == 303
    assert answer(cora, 0, text + "\r\nx", "chen").status_code == 400


def test_messages_are_there_after_a_restart_and_the_same_one_is_written_once(desk: Desk) -> None:
    chen = desk.sign_in("chen")
    for _ in range(2):
        assert ask(chen, 0, "Which edition?").status_code == 200
    with open_ledger(desk.settings.ledger_address) as again, again.read() as connection:
        from tasks.review.desk import read_shown_messages

        found = read_shown_messages(connection, BATCH, "cora", "coordinator")
    (messages,) = found.values()
    assert [(one.name, one.to, one.text) for one in messages] == [("chen", "chen", "Which edition?")]


def test_what_is_no_message_is_refused(desk: Desk) -> None:
    chen, cora = desk.sign_in("chen"), desk.sign_in("cora")
    assert [ask(chen, 0, text).status_code for text in ("  ", "x" * 4001)] == [400, 400]
    assert chen.post(chen.path(0, "/message"), json={"text": 7}).status_code == 400
    assert answer(cora, 0, "To whom?", "nobody").status_code == 400
    assert chen.get("/messages").status_code == 404
    close_batch(desk.ledger, BATCH, now_text(), early=True)
    assert ask(chen, 0, "Too late?").status_code == 410
    assert answer(cora, 0, "Too late.", "chen").status_code == 409
    assert "The batch is closed" in look_at_talk(chen, 0)


def test_what_nobody_can_answer_any_more_waits_for_no_answer(desk: Desk) -> None:
    chen, cora = desk.sign_in("chen"), desk.sign_in("cora")
    ask(chen, 0, "Is the map part of it?")
    assert "waits for an answer" in chen.get("/").text
    close_batch(desk.ledger, BATCH, now_text(), early=True)
    assert "Waiting for an answer: 0" in cora.get("/messages").text
    assert "Waiting for an answer: 1" not in cora.get("/coordination").text
    for page in (cora.get("/messages").text, chen.get("/").text):
        assert "waits for an answer" not in page and ">answered<" not in page
        assert ">closed<" in page
    (one,) = list_conversations(desk.ledger)
    assert (one.is_waiting, one.is_answered) == (False, False)


def test_messages_of_a_closed_batch_land_and_candidates_have_no_way_to_them(desk: Desk) -> None:
    chen, candidate = desk.sign_in("chen"), desk.sign_in("candidate:alpha")
    ask(chen, 1, "Is this still taught?")
    for path in ("/messages", "/guidelines", chen.path(1, "/similar")):
        assert candidate.get(path).status_code in (303, 403, 404)
    close_batch(desk.ledger, BATCH, now_text(), early=True)
    with open_new_lake(desk.settings) as lake:
        land_closed_batches(desk.ledger, lake, now_text())
        rows = lake.query(
            "SELECT batch_id, number, annotator, author, is_coordinator, message FROM review_messages"
        )
        assert rows.rows() == [(BATCH, 1, "chen", "chen", False, "Is this still taught?")]
        land_closed_batches(desk.ledger, lake, now_text())
        assert lake.query("SELECT count(*) FROM review_messages").item() == 1


def read_guidelines(one: Reviewer, version: int, then: str = "/") -> Response:
    form = {"form_token": one.form_token(), "version": str(version), "then": then}
    return one.post("/guidelines/read", data=form)


def publish(coordinator: Reviewer, changes: str, changes_zh: str = "") -> Response:
    form = {"form_token": coordinator.form_token(), "changes": changes, "changes_zh": changes_zh}
    return coordinator.post("/guidelines", data=form)


def test_a_change_of_the_guidelines_is_shown_until_it_is_read_and_named_on_what_is_decided(
    desk: Desk,
) -> None:
    chen, dai, cora = desk.sign_in("chen"), desk.sign_in("dai"), desk.sign_in("cora")
    chen.decide(0, "accept")
    assert publish(cora, "A missing figure is unclear.", "缺图按表述不清退回。").status_code == 303
    led = chen.get(chen.path(1)).headers["location"]
    assert led.startswith("/guidelines?then=/review/")
    assert "A missing figure is unclear." in chen.get(led).text
    assert "缺图按表述不清退回。" in chen.get(led, **{"accept-language": "zh-CN"}).text
    assert chen.get("/").status_code == 303
    assert read_guidelines(chen, 1, chen.path(1)).headers["location"] == chen.path(1)
    assert chen.get("/").status_code == chen.get(chen.path(1)).status_code == 200
    chen.decide(1, "accept")
    dai.decide(0, "accept")
    publish(cora, "A second change.")
    read_guidelines(dai, 2)
    dai.decide(1, "accept")
    found = desk.decisions()
    versions = {place: found[place].guideline_version for place in found}
    assert versions == {("chen", 0): None, ("chen", 1): 1, ("dai", 0): None, ("dai", 1): 2}
    assert "read by 2" in cora.get("/guidelines").text and "read by 1" in cora.get("/guidelines").text
    # A coordinator is not held up by what they published; whoever has read all of it sees all of it.
    assert cora.get("/coordination").status_code == 200
    assert "A second change." in dai.get("/guidelines").text


def test_guidelines_are_published_by_coordinators_alone(desk: Desk) -> None:
    chen, cora = desk.sign_in("chen"), desk.sign_in("cora")
    assert publish(chen, "Everything is right.").status_code == 404
    assert publish(cora, " ").status_code == 400
    assert [read_guidelines(chen, number).status_code for number in (1, 99)] == [400, 400]
    publish(cora, "One.")
    publish(cora, "One.")
    assert len(re.findall(r"Version \d", cora.get("/guidelines").text)) == 1
