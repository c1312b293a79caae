"""The coordinator's pages: progress, lateness, agreement, and the release of a batch."""

from __future__ import annotations

import re
from collections import Counter
from html import unescape

import pytest

from deployments.web import coordinator_routes
from tasks.review.overview import list_batch_summaries, read_batch_detail
from tests.deployments.web.conftest import BATCH, Desk, MakeDesk
from tests.tasks.review.conftest import make_question
from tests.tasks.review.kit import read_batch, read_outcomes
from warehouse.ledger.engine.moments import now_text
from warehouse.ledger.review import assigning, people


def read_rows(page: str) -> list[list[str]]:
    """The cells of every table row, without tags."""
    rows = re.findall(r"(?s)<tr>(.*?)</tr>", page)
    return [
        [
            " ".join(unescape(re.sub(r"<[^>]*>", " ", cell)).split())
            for cell in re.findall(r"(?s)<t[dh][^>]*>(.*?)</t[dh]>", row)
        ]
        for row in rows
    ]


def test_a_coordinator_sees_how_far_each_batch_discipline_and_annotator_is(make_desk: MakeDesk) -> None:
    desk = make_desk([make_question(1), make_question(2, "Law"), make_question(3, "Law")])
    chen, dai, cora = (desk.sign_in(name) for name in ("chen", "dai", "cora"))
    for place in range(3):
        chen.decide(place, "accept")
    dai.decide(1, "accept")
    assert read_rows(cora.get("/coordination").text)[1][:2] == ["2026-11-web", "open"]
    assert read_rows(cora.get("/coordination").text)[1][3:] == ["4", "6", "0", "0"]
    rows = read_rows(cora.get(f"/coordination/{BATCH}").text)
    by_name = {row[0]: row for row in reversed(rows)}
    assert by_name["Engineering"][1:3] == ["1", "2"]
    assert by_name["Law"][1:3] == ["3", "4"]
    dai_rows = [row for row in rows if row[0] == "dai"]
    assert dai_rows[0][1:4] == ["reviewer", "1", "3"]
    detail = read_batch_detail(desk.ledger, BATCH, now_text())
    assert detail.states == {"accepted": 1, "rejected": 0, "waiting": 2, "disputed": 0}


def test_a_question_without_a_discipline_is_named_so_in_the_readers_language(make_desk: MakeDesk) -> None:
    page = make_desk([make_question(1, None)]).sign_in("cora")
    rows = read_rows(page.get(f"/coordination/{BATCH}", **{"accept-language": "zh"}).text)
    assert [row[0] for row in rows[:2]] == ["学科", "（无学科）"]


def test_an_examiner_coordinates_too_and_starts_there(desk: Desk) -> None:
    examiner = desk.sign_in("xu")
    assert examiner.get("/").headers["location"] == "/coordination"
    assert examiner.get("/coordination").status_code == 200


def test_overdue_work_is_counted_by_person(desk: Desk) -> None:
    desk.sign_in("chen").decide(0, "accept")
    after_all = "2099-01-01T00:00:00.000000+00:00"
    assert [one.overdue_count for one in list_batch_summaries(desk.ledger, after_all)] == [5]
    detail = read_batch_detail(desk.ledger, BATCH, after_all)
    assert {share.name: share.overdue_count for share in detail.annotators} == {"chen": 2, "dai": 3}


def test_agreement_is_that_of_the_command(desk: Desk) -> None:
    for name, third in (("chen", "accept"), ("dai", "reject")):
        one = desk.sign_in(name)
        one.decide(0, "accept")
        one.decide(1, "accept")
        one.decide(2, third, **({"reject_reason": "unclear"} if third == "reject" else {}))
    rows = {row[0]: row for row in read_rows(desk.sign_in("cora").get(f"/coordination/{BATCH}").text)}
    assert rows["All"][1:4] == ["6", "3", "67%"]
    assert rows["chen / dai"][2:5] == ["3", "67%", "0.00"]


def test_of_many_decisions_agreement_is_computed_when_asked_for(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("chen", "dai"):
        desk.sign_in(name).decide(0, "accept")
    monkeypatch.setattr(coordinator_routes, "MOST_VOTES_AT_ONCE", 1)
    cora = desk.sign_in("cora")
    page = cora.get(f"/coordination/{BATCH}").text
    assert "Compute it now" in page
    assert "100%" not in page
    assert "100%" in cora.get(f"/coordination/{BATCH}?agreement=1").text


def test_questions_by_state_are_those_of_the_gate(desk: Desk) -> None:
    """Questions waiting, agreed, disputed by decision and by correction, counted by pattern."""

    def states() -> dict[str, int]:
        with desk.ledger.read() as connection:
            outcomes = read_outcomes(connection, read_batch(connection, BATCH))
        counted = read_batch_detail(desk.ledger, BATCH, now_text()).states
        assert {name: n for name, n in counted.items() if n} == Counter(one.state for one in outcomes)
        return counted

    chen, dai = desk.sign_in("chen"), desk.sign_in("dai")
    assert states()["waiting"] == 3
    chen.decide(0, "accept")
    dai.decide(0, "accept")
    chen.decide(1, "accept")
    assert states() == {"accepted": 1, "rejected": 0, "waiting": 2, "disputed": 0}
    dai.decide(1, "reject", reject_reason="unclear")
    chen.decide(2, "edit", edit={"stem": "One wording"})
    seen = dai.decide(2, "edit", edit={"stem": "Another wording"}).json()["seen"]
    assert states() == {"accepted": 1, "rejected": 0, "waiting": 0, "disputed": 2}
    dai.decide(2, "edit", seen=seen, edit={"stem": "One wording"})
    assert states() == {"accepted": 2, "rejected": 0, "waiting": 0, "disputed": 1}


def test_releasing_closes_early_keeps_what_is_settled_and_starts_what_follows(desk: Desk) -> None:
    for name in ("chen", "dai"):
        desk.sign_in(name).decide(0, "accept")
    cora = desk.sign_in("cora")
    token = cora.form_token()
    path = f"/coordination/{BATCH}/release"
    assert cora.post(path, data={"form_token": token}).status_code == 400
    assert cora.post(path, data={"form_token": token, "is_understood": "yes"}).status_code == 303
    # Doing it twice does it once.
    assert cora.post(path, data={"form_token": token, "is_understood": "yes"}).status_code == 303
    assert desk.continued == [BATCH]
    with desk.ledger.read() as connection:
        batch = assigning.read_batch(connection, BATCH)
    assert batch is not None
    assert batch.status == "closed"
    assert desk.sign_in("dai").decide(1, "accept").status_code == 410


def test_a_batch_that_is_not_there_is_not_found(desk: Desk) -> None:
    assert desk.sign_in("cora").get("/coordination/no-such").status_code == 404


def test_a_coordinator_moves_the_open_work_of_somebody_who_drops_out(desk: Desk) -> None:
    chen, fang, cora = (desk.sign_in(name) for name in ("chen", "fang", "cora"))
    chen.decide(0, "accept")
    path = f"/coordination/{BATCH}/reassign"
    sent = {"annotator": "chen", "is_understood": "yes", "form_token": cora.form_token()}
    assert fang.post(path, data=sent | {"form_token": fang.form_token()}).status_code == 404
    assert cora.post(path, data=sent | {"form_token": "0" * 64}).status_code == 403
    assert cora.post(path, data={**sent, "is_understood": ""}).status_code == 400
    assert cora.post(path, data=sent | {"annotator": "nobody"}).status_code == 404
    there = cora.post(path, data=sent).headers["location"]
    assert there == f"/coordination/{BATCH}?moved=2&left=0"
    assert "2 questions were moved" in cora.get(there).text
    with desk.ledger.read() as connection:
        rows = assigning.read_assignments(connection, BATCH)
    assert sum(row["annotator"] == "chen" for row in rows) == 1
    assert {row["annotator"] for row in rows} > {"chen", "dai"}
    assert all(row["place"] > 0 for row in rows), "moved work stands where it stood"
    assert chen.get(chen.path(1)).status_code == 404
    assert cora.get(f"/coordination/{BATCH}?moved=x&left=1").status_code == 200


def test_everybody_sees_the_quota_of_their_own(desk: Desk) -> None:
    with desk.ledger.write() as connection:
        people.write_profile(connection, "chen", {"daily_quota": 12})
    assert "0 of 12" in desk.sign_in("chen").get("/").text
    assert "0 of 50" in desk.sign_in("dai").get("/").text
