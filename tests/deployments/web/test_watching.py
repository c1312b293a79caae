"""Runs and answers: who sees what, numbers that move, filters, and every look logged."""

from __future__ import annotations

import base64
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any
from urllib.parse import quote

import polars as pl
import pytest
from fastapi.routing import APIRoute
from starlette.routing import Mount

from deployments.web import answer_routes, run_routes
from schemas.vocabulary import ROLES
from tasks.watching import ProgressReading
from tasks.watching.answers import AnswerFilter, AnswerLine, cut_page, filter_lines, read_answer
from tasks.watching.answers.lines import GivenStars
from tests.deployments.web.watched_home import (
    EXPLANATION,
    MODEL,
    REASON,
    REFERENCE,
    RUN,
    SEARCHED,
    Watched,
    draw_picture,
)
from warehouse.ledger.engine.tables import access_log

SESSION = f"{RUN}/{MODEL}/zero_shot/1"
ANSWERS = f"/runs/{RUN}/answers?model={MODEL}"
ANSWER = f"/runs/{RUN}/answer?model={MODEL}&session={quote(SESSION, safe='')}&seq=1"
PROOF = ANSWER.replace("/answer?", "/proof?")
BEHIND = f"/answers-of?edition={quote(RUN, safe='')}/1&model={MODEL}&style=zero_shot"

EVERYBODY = dict.fromkeys((*ROLES, "nobody"), "yes")
SIGNED_IN = dict.fromkeys(ROLES, "yes") | {"nobody": "sign in"}
COORDINATING = dict.fromkeys(ROLES, "not there") | {"admin": "yes", "examiner": "yes", "nobody": "sign in"}
GUIDED = COORDINATING | {"annotator": "yes"}
WATCHING = dict.fromkeys(("admin", "examiner", "analyst"), "yes") | {
    "annotator": "refused", "candidate": "refused", "nobody": "sign in",
}  # fmt: skip
PROVING = WATCHING | {"analyst": "refused"}
# Each route of the application: who may go there at all. What belongs to one person (a question given to an annotator, a round to
# rate) is not there for others who are signed in, whatever their role: test_attacks.
ROUTES: Mapping[str, Mapping[str, str]] = {
    "GET /sign-in": EVERYBODY,
    "POST /sign-in": EVERYBODY,
    "GET /sign-in/{kind_name}": EVERYBODY,
    "GET /sign-in/{kind_name}/back": EVERYBODY,
    "GET /sign-in/{kind_name}/out": EVERYBODY,
    "POST /sign-out": SIGNED_IN,
    "GET /session": SIGNED_IN,
    "GET /account": SIGNED_IN,
    "POST /account": SIGNED_IN,
    "GET /language/{language}": EVERYBODY,
    "GET /": SIGNED_IN,
    "GET /review/{batch_id}/list/{queue}": SIGNED_IN,
    "GET /review/{batch_id}/next/{queue}": SIGNED_IN,
    "GET /marks": SIGNED_IN,
    "GET /marks/{work_id}": SIGNED_IN,
    "GET /marks/{work_id}/{key}": SIGNED_IN,
    "GET /marks/{work_id}/{key}/card": SIGNED_IN,
    "POST /marks/{work_id}/{key}/mark": SIGNED_IN,
    "POST /marks/{work_id}/hand-in": SIGNED_IN,
    "GET /coordination": COORDINATING,
    "GET /coordination/{batch_id}": COORDINATING,
    "POST /coordination/{batch_id}/reassign": COORDINATING,
    "POST /coordination/{batch_id}/release": COORDINATING,
    "GET /messages": COORDINATING,
    "GET /messages/{batch_id}/{reference}": COORDINATING,
    "POST /messages/{batch_id}/{reference}": COORDINATING,
    "GET /guidelines": GUIDED,
    "POST /guidelines": COORDINATING,
    "POST /guidelines/read": GUIDED,
    "GET /papers": COORDINATING,
    "GET /papers/{document_id}": COORDINATING,
    "GET /papers/{document_id}/page/{number}": COORDINATING,
    "GET /papers/{document_id}/picture/{sha256}": COORDINATING,
    "GET /papers/{document_id}/second-reading": COORDINATING,
    "POST /papers/estimate": COORDINATING,
    "POST /papers/second-reading": COORDINATING,
    "POST /papers/{document_id}/reading": COORDINATING,
    "POST /papers/{document_id}/correction": COORDINATING,
    "POST /papers/{document_id}/release": COORDINATING,
    "GET /runs": WATCHING,
    "GET /runs/progress": WATCHING,
    "GET /runs/{run_id}": WATCHING,
    "GET /runs/{run_id}/answers": WATCHING,
    "POST /runs/{run_id}/answers": WATCHING,
    "GET /runs/{run_id}/answer": WATCHING,
    "GET /runs/{run_id}/proof": PROVING,
    "GET /results": WATCHING,
    "GET /costs": WATCHING,
    "GET /costs/{form}": WATCHING,
    "GET /report/{name:path}": WATCHING,
    "GET /answers-of": WATCHING,
}
ADDRESSES = {
    "GET /runs/{run_id}/answers": ANSWERS,
    "POST /runs/{run_id}/answers": ANSWERS,
    "GET /runs/{run_id}/answer": ANSWER,
    "GET /runs/{run_id}/proof": PROOF,
    "GET /costs/{form}": "/costs/csv",
    "GET /report/{name:path}": "/report/",
    "GET /answers-of": BEHIND,
}
NAMES = {"admin": "cora", "examiner": "xu", "analyst": "anna", "annotator": "chen", "candidate": "candidate:alpha"}  # fmt: skip


def list_routes(watched: Watched) -> list[str]:
    app: Any = watched.client.app
    return [
        f"{method} {route.path}"
        for route in app.routes
        if isinstance(route, APIRoute) and not isinstance(route, Mount)
        for method in sorted(route.methods or ())
    ]


def read_looks(watched: Watched) -> list[tuple[str, str, str, int | None]]:
    with watched.ledger.read() as connection:
        rows = connection.execute(access_log.select().where(access_log.c.action == "look")).all()
    return [(row.user_id, row.code, row.target, row.seq) for row in rows]


def test_each_route_is_open_to_the_roles_of_the_table_and_to_nobody_else(watched: Watched) -> None:
    routes = list_routes(watched)
    own = [route for route in routes if "/review/{batch_id}/" in route]
    assert [route for route in routes if route not in ROUTES and route not in own] == []
    assert [route for route in ROUTES if route not in routes] == []
    found: dict[tuple[str, str], str] = {}
    expected: dict[tuple[str, str], str] = {}
    for route, table in ROUTES.items():
        if route in ("POST /sign-out", "POST /account", "POST /sign-in"):
            continue  # they take a password or end a session: test_sign_in
        if route.startswith("POST /papers"):
            continue  # they take the token of a session in a header: test_held_papers
        method, path = route.split()
        path = ADDRESSES.get(route, re.sub(r"\{run_id\}", RUN, path))
        path = re.sub(r"\{\w+\}", "x", path)
        for role, answer in table.items():
            if role == "nobody":
                status = watched.client.request(method, path, follow_redirects=False).status_code
                expected[route, role] = "open" if answer == "yes" else "sign in"
                found[route, role] = "sign in" if status in (303, 401) and answer == "sign in" else "open"
                continue
            person = watched.sign_in(NAMES[role])
            reply = (
                person.get(path) if method == "GET" else person.post(path, model=MODEL, is_understood="yes")
            )
            expected[route, role] = answer
            if table is WATCHING:
                words = {200: "yes", 303: "yes", 403: "refused"}
            elif table is PROVING:
                # Its run landed from another ledger: there is nothing to walk through for those who may look.
                words = {404: "yes", 403: "refused"}
            elif re.search("/(coordination|papers|messages|guidelines)", route):
                # A batch, paper or message that is not there is not there for coordinators either; an empty form is one that is read.
                is_closed = answer == "not there" or "{" not in route
                words = {200: "yes", 400: "yes", 404: "not there" if is_closed else "yes"}
            else:
                words = dict.fromkeys((200, 303, 404, 403), "yes")
            found[route, role] = words.get(reply.status_code, str(reply.status_code))
    assert {key: what for key, what in found.items() if what != expected[key]} == {}


def test_whoever_is_refused_learns_no_name_no_number_and_no_text(watched: Watched) -> None:
    for name in ("chen", "candidate:alpha"):
        person = watched.sign_in(name)
        replies = [
            person.get(path)
            for path in (
                "/runs",
                "/runs/progress",
                f"/runs/{RUN}",
                ANSWERS,
                ANSWER,
                "/results",
                "/report/",
                BEHIND,
            )
        ]
        replies.append(person.post(ANSWERS, model=MODEL, text=SEARCHED))
        assert [reply.status_code for reply in replies] == [403] * 9
        text = "".join(reply.text for reply in replies)
        assert [word for word in (MODEL, RUN, SEARCHED, REFERENCE, "alpha", "/runs", "/results") if word in text.replace(name, "")] == []  # fmt: skip
    # Nor whether a run or an answer exists: the role is looked at first.
    assert watched.sign_in("chen").get("/runs/no-such-run").status_code == 403
    assert {"chen", "candidate:alpha"} & {user for user, *_ in read_looks(watched)} == set()


def test_the_report_is_served_with_the_way_from_its_numbers_to_answers(
    watched: Watched, monkeypatch: pytest.MonkeyPatch
) -> None:
    analyst = watched.sign_in("anna")
    assert "proctor report" in analyst.get("/report/").text
    home = watched.world.settings.home
    monkeypatch.setenv("PROCTOR_HOME", str(home))
    folder = home / "reports"
    from tasks.report import render_reports

    render_reports.fn(str(folder))
    page = analyst.get("/report/")
    assert page.text.count("<nav") == (folder / "index.html").read_text("utf-8").count("<nav") + 1
    assert 'data-answers="/answers-of"' in page.text
    assert 'href="/results"' in page.text
    assert "unsafe-eval" in page.headers["content-security-policy"]
    assert analyst.get("/report/data/board.js").headers["content-type"].startswith("text/javascript")
    for path in ("../ledger.sqlite", "data/../../models.yaml", "data", "no-page.html", "index.htm"):
        assert analyst.get(f"/report/{path}").status_code == 404, path
    (folder / "linked.html").symlink_to(home / "models.yaml")
    assert analyst.get("/report/linked.html").status_code == 404
    # A number leads to the answers that it counts, of the run in which they were given.
    for discipline in ("", "&discipline=Law"):
        reply = analyst.get(f"{BEHIND}{discipline}")
        assert reply.status_code == 303
        expected = f"/runs/{RUN}/answers?model={MODEL}&style=zero_shot{discipline}"
        assert reply.headers["location"] == expected
        assert analyst.get(expected).status_code == 200
    for wrong in (f"{BEHIND}x", BEHIND.replace(MODEL, "nobody"), f"{BEHIND}&discipline=Magic"):
        assert analyst.get(wrong).status_code == 404


def test_an_examiner_sees_reference_and_reasons_and_an_analyst_neither(watched: Watched) -> None:
    pages = {name: watched.sign_in(name).get(ANSWER).text for name in ("cora", "xu", "anna")}
    secrets = (REFERENCE, EXPLANATION, REASON)
    assert {name: [word in page for word in secrets] for name, page in pages.items()} == {
        "cora": [True] * 3, "xu": [True] * 3, "anna": [False] * 3,
    }  # fmt: skip
    assert "Where is" in pages["anna"]
    assert "An answer at 1" in pages["anna"]
    assert "judge-a" in pages["anna"]
    assert "of 3 stars" in pages["anna"]
    assert "shown to examiners only" in pages["anna"]
    lists = (
        watched.sign_in("anna").get(ANSWERS).text
        + watched.sign_in("anna").post(ANSWERS, model=MODEL, text="place").text
    )
    assert [word for word in secrets if word in lists] == []
    # What an answer says of itself is text, and stays text.
    assert watched.sign_in("anna").post(ANSWERS, model=MODEL, text=REFERENCE).text.count('class="whole"') == 0


def test_the_page_of_costs_says_in_words_what_calls_were_for(
    watched: Watched, monkeypatch: pytest.MonkeyPatch
) -> None:
    counts = dict.fromkeys(run_routes._SUMMED, 1)
    row = {"month": RUN[-7:], "team": None, "model": MODEL, **counts}
    calls = pl.DataFrame([{**row, "purpose": purpose} for purpose in ("exam", "later")])
    monkeypatch.setattr(run_routes, "read_costs", lambda *_: calls)
    page = watched.sign_in("anna").get("/costs", **{"accept-language": "zh"}).text
    assert [word for word in ("考试作答", "exam", "later") if f"<td>{word}</td>" in page] == [
        "考试作答",
        "later",
    ]
    # Where a browser has no field for months, it is a text: its form is said and checked before it is sent.
    assert page.count('placeholder="2026-01" pattern="[0-9]{4}-(0[1-9]|1[0-2])"') == 2


def test_what_was_read_as_true_or_false_is_said_in_the_readers_language(
    watched: Watched, monkeypatch: pytest.MonkeyPatch
) -> None:
    def read_false(*given: Any, **more: Any) -> Any:
        whole = read_answer(*given, **more)
        assert whole.response is not None
        return replace(whole, response={**whole.response, "answer": "false"})

    monkeypatch.setattr(answer_routes, "read_answer", read_false)
    page = watched.sign_in("anna").get(ANSWER, **{"accept-language": "zh"}).text
    assert "<h3>提取的答案</h3>错</div>" in page


def test_a_runs_page_says_how_its_edition_is_attested(watched: Watched) -> None:
    assert "self-attested, by its operator alone" in watched.sign_in("xu").get(f"/runs/{RUN}").text


def test_pictures_of_an_answered_question_are_seen_by_those_who_see_the_text_that_names_them(
    watched: Watched,
) -> None:
    pages = {name: watched.sign_in(name).get(ANSWER).text for name in ("xu", "anna")}
    asked, explained = (
        f'src="data:image/png;base64,{base64.b64encode(draw_picture(word)).decode()}"'
        for word in ("asked", "explained")
    )
    assert {name: (asked in page, explained in page) for name, page in pages.items()} == {
        "xu": (True, True), "anna": (True, False),
    }  # fmt: skip
    # They have no address of their own, that somebody else could ask for.
    assert "/picture/" not in "".join(pages.values())
    annotator = watched.sign_in("chen").get(ANSWER)
    assert (annotator.status_code, asked in annotator.text) == (403, False)


def test_every_look_at_content_is_in_the_audit_log_without_a_word_of_it(watched: Watched) -> None:
    before = len(read_looks(watched))
    xu, anna = watched.sign_in("xu"), watched.sign_in("anna")
    for path in ("/runs", "/runs/progress", f"/runs/{RUN}", "/results"):
        assert xu.get(path).status_code == 200  # numbers and names: no look at content
    xu.get(ANSWER)
    anna.get(ANSWER)
    anna.get(ANSWERS)
    anna.post(ANSWERS, model=MODEL, text=SEARCHED)
    assert read_looks(watched)[before:] == [
        ("xu", "answer_with_reference", SESSION, 1),
        ("anna", "answer", SESSION, 1),
        ("anna", "answers", f"{RUN} {MODEL}", None),
        ("anna", "search", f"{RUN} {MODEL}", None),
    ]
    with watched.ledger.read() as connection:
        rows = connection.execute(access_log.select()).all()
    assert not any(word in str(row) for row in rows for word in (SEARCHED, REFERENCE, "Where is"))


def count_lines(page: str) -> int:
    return page.count('class="whole"')


def test_from_a_cell_of_the_results_down_to_the_answers_behind_it(watched: Watched) -> None:
    anna = watched.sign_in("anna")
    results = anna.get("/results").text
    links = [one.replace("&amp;", "&") for one in re.findall(r'href="(/runs/[^"]+)"', results)]
    cell = next(one for one in links if f"model={MODEL}" in one and "discipline=Law" in one)
    page = anna.get(cell).text
    # One question of law.
    assert count_lines(page) == 1
    answer = re.search(r'class="whole" href="([^"]+)"', page)
    assert answer is not None
    assert "An answer at" in anna.get(answer[1].replace("&amp;", "&")).text
    # Every cell leads somewhere, the whole score of every candidate too.
    assert {anna.get(one).status_code for one in links[:12]} == {200}


def test_a_search_finds_questions_and_answers_and_stands_in_no_address(watched: Watched) -> None:
    anna = watched.sign_in("anna")
    page = anna.post(ANSWERS, model=MODEL, text=SEARCHED.upper())
    # One question in the sessions of the three prompt styles.
    assert count_lines(page.text) == 3
    # It is a page that one can come back to; in another session there is no such search.
    there = str(page.url)
    assert SEARCHED.lower() not in there.lower()
    assert [count_lines(one.get(there).text) for one in (anna, watched.sign_in("anna"))] == [3, 30]
    assert not any(
        SEARCHED.lower() in one.lower() for one in re.findall(r'(?:href|action)="([^"]*)"', page.text)
    )
    assert count_lines(anna.post(ANSWERS, model=MODEL, text="answer at 7").text) == 3
    assert count_lines(anna.post(ANSWERS, model=MODEL, text="%").text) == 0
    assert anna.post(ANSWERS, model=MODEL, text="' OR 1=1 --").status_code == 200


def test_what_there_is_not_is_404_and_no_fault(watched: Watched) -> None:
    xu = watched.sign_in("xu")
    paths = (
        "/runs/none", f"/runs/{RUN}/answers?model=none", ANSWERS + "&discipline=Alchemy", ANSWERS + "&stars=4", ANSWERS + "&dispute=x",
        ANSWER + "0", ANSWER.replace("zero_shot", "none"), "/results?month=1999-01", "/results?month=x", f"/runs/{RUN}/answer",
    )  # fmt: skip
    assert {path: xu.get(path).status_code for path in paths} == {
        path: 404 if path != ANSWER + "0" else 200 for path in paths
    }
    assert xu.get(f"/runs/{RUN}/answers").headers["location"] == f"/runs/{RUN}"
    assert xu.get(ANSWERS + "&page=99999999999").status_code == 200


def test_a_form_of_elsewhere_searches_nothing(watched: Watched) -> None:
    xu = watched.sign_in("xu")
    assert xu.post(ANSWERS, model=MODEL, text="x", form_token="0" * 64).status_code == 403


def test_numbers_of_a_run_under_way_move_and_one_reading_serves_every_tab(watched: Watched) -> None:
    app: Any = watched.client.app
    xu = watched.sign_in("xu")
    assert "No run is under way" not in xu.get("/runs").text
    assert xu.get(f"/runs?page={10**20}").status_code == 200
    session_id = watched.answer(2)
    app.state.progress = ProgressReading(watched.ledger)
    [run] = xu.get("/runs/progress").json()["runs"]
    alpha = run["candidates"][0]
    assert (alpha["model"], alpha["counted"], alpha["sessions"]) == ("alpha", "2 / 6", "0 / 1")
    assert float(alpha["per_minute"].replace(",", "")) > 0
    for _ in range(5):
        xu.get("/runs/progress")
    assert app.state.progress.count == 1
    # What is handed out is seen while the run is under way, what still waits is not; nothing of a reference is there.
    there = f"/runs/{watched.world.plan.run_id}/answers?model=alpha"
    page = xu.get(there).text
    assert count_lines(page) == 3
    order = watched.world.order(session_id)
    assert [stem in page for stem in order] == [True] * 3 + [False] * 3
    shown = xu.get(f"/runs/{watched.world.plan.run_id}/answer?model=alpha&session={session_id}&seq=1").text
    assert order[0] in shown
    assert (
        xu.get(f"/runs/{watched.world.plan.run_id}/answer?model=alpha&session={session_id}&seq=4").status_code
        == 404
    )
    assert count_lines(xu.post(there, model="alpha", text=order[1]).text) == 1


def make_line(seq: int, *marks: int | None, **changed: Any) -> AnswerLine:
    values: dict[str, Any] = {"session_id": "s", "seq": seq, "set_id": "set", "prompt_style": "zero_shot", "repeat": 1, "question_uuid": "q", "lineage_uuid": "q", "discipline": "Law", "answer_status": "answered"}  # fmt: skip
    given = tuple(GivenStars(f"judge-{place}", stars) for place, stars in enumerate(marks))
    return AnswerLine(**{**values, **changed}, marks=given)


def test_filters_find_what_they_name() -> None:
    lines = [
        make_line(1, 3, 3), make_line(2, 0, 2), make_line(3, None, 1), make_line(4, discipline="Arts"),
        make_line(5, 1, 0, session_id="t", prompt_style="few_shot", answer_status="truncated"),
    ]  # fmt: skip

    def find(judge: str | None = None, **wanted: Any) -> list[int]:
        return [line.seq for line in filter_lines(lines, AnswerFilter(**wanted), judge)]

    assert find() == [1, 2, 3, 4, 5]
    assert find(discipline="Arts") == [4]
    assert find(session_id="t") == find(prompt_style="few_shot") == find(answer_status="truncated") == [5]
    assert find(stars="0") == [2]
    assert find("judge-1", stars="0") == [5]
    assert find(stars="none") == [3, 4]
    assert find(dispute=1) == [2, 5]
    assert find(dispute=2) == [2]
    assert [line.seq for line in filter_lines(lines, AnswerFilter(), None, {("s", 2), ("s", 5)})] == [2]


def test_sessions_of_one_style_and_repeat_are_told_apart_by_their_ids() -> None:
    lines = [
        make_line(1),
        make_line(1, session_id="t"),
        make_line(1, session_id="u", prompt_style="few_shot"),
    ]
    assert answer_routes.list_choices(lines)["session"] == [
        ("u", ("few_shot", 1), ""), ("s", ("zero_shot", 1), "s"), ("t", ("zero_shot", 1), "t"),
    ]  # fmt: skip


def test_a_page_that_there_is_not_is_the_nearest() -> None:
    lines = [make_line(number) for number in range(1, 102)]
    assert [(cut_page(lines, number).number, len(cut_page(lines, number).lines)) for number in (0, 2, 9)] == [
        (1, 50), (2, 50), (3, 1),
    ]  # fmt: skip
    assert cut_page([], 1).page_count == 1
