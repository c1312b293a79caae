"""Practice: any candidate's token sits public questions, of which nothing is kept."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from fastapi.testclient import TestClient

from deployments.exam_api.app import create_app
from schemas.vocabulary import LANGUAGES, QUESTION_TYPES
from tasks.exam import HttpCaller
from tasks.exam.outside import Credentials, OutsideProgress, OutsideSitter, SittingState
from tasks.exam.practice import PRACTICE, PracticeRoom
from tests.deployments.exam_api.test_app import ask_token, bearer, code_of, held
from tests.tasks.exam.doors import serve_app
from tests.tasks.exam.kit import mark_answer, read_questions
from tests.tasks.exam.world import World
from warehouse.ledger.engine.ledger import Ledger

COUNTED = ("allocations", "responses", "exposures", "set_claims", "sets", "sessions", "runs", "llm_calls")


def count_rows(ledger: Ledger) -> dict[str, int]:
    with ledger.read() as connection:
        return {
            name: connection.exec_driver_sql(f"select count(*) from {name}").scalar_one() for name in COUNTED
        }


def test_a_candidate_practises_by_the_rules_and_sees_each_result(client: TestClient, world: World) -> None:
    before = count_rows(world.ledger)
    admin = ask_token(client, "ada")
    password = "a password of alpha"
    client.patch("/users/candidate:alpha", json={"password": password}, headers=bearer(admin))
    token = ask_token(client, "candidate:alpha", password=password)
    opened = client.post("/sessions/practice/open", json={}, headers=bearer(token))
    lease = opened.json()
    assert (opened.status_code, lease["session_id"], lease["answered_count"]) == (200, PRACTICE, 0)
    assert lease["question_count"] == len(read_questions())
    again = client.post("/sessions/practice/open", json={}, headers=bearer(token))
    assert code_of(again) == (403, "session_in_use")
    url, asked = (
        "/sessions/practice/answers",
        client.get("/sessions/practice/next", headers=held(token, lease)),
    )
    first = asked.json()["question"]
    assert (first["seq"], first["is_repeat"], first["content"]["question_type"]) == (1, False, "true_false")
    assert "answer" not in first["content"]
    early = client.post(url, json={"seq": 2, "response": "true"}, headers=held(token, lease))
    assert code_of(early) == (409, "not_delivered")
    reply = client.post(
        url, json={"seq": 1, "response": "True, it expands.", "wants_next": True}, headers=held(token, lease)
    ).json()
    assert reply["result"] == {
        "is_correct": True,
        "read_as": "true",
        "answer": "true",
        "explanation": read_questions()[0].explanation,
    }
    assert reply["question"]["seq"] == 2
    twice = client.post(url, json={"seq": 1, "response": "false"}, headers=held(token, lease))
    assert code_of(twice) == (409, "already_answered")
    renewed = client.post("/sessions/practice/renew", headers=held(token, lease)).json()
    assert renewed["answered_count"] == 1
    resumed = client.post(
        "/sessions/practice/open", json={"lease_secret": lease["secret"]}, headers=bearer(token)
    ).json()
    assert (resumed["generation"], resumed["answered_count"]) == (2, 1)
    assert code_of(client.get("/sessions/practice/next", headers=held(token, lease))) == (403, "lease_lost")
    assert client.get("/sessions/practice/next", headers=held(token, resumed)).json()["question"]["is_repeat"]
    # Whoever is no candidate has no practice, and the bank has heard of nothing.
    assert code_of(client.post("/sessions/practice/open", json={}, headers=bearer(admin))) == (
        403,
        "permission_missing",
    )
    assert count_rows(world.ledger) == before


def test_the_client_sits_practice_to_its_end_and_begins_again_with_whoever_answers_now(
    world: World, tmp_path: Path
) -> None:
    told: list[OutsideProgress] = []
    questions = read_questions()

    async def know(question: dict[str, Any]) -> dict[str, Any]:
        known = questions[question["seq"] - 1]
        wrong = question["seq"] == 2
        return {"response": "true" if wrong else "".join(known.answer)}

    async def guess(question: dict[str, Any]) -> dict[str, Any]:
        return {
            "response": "I do not know.",
            "finish_reason": "a word that is longer than what a column holds",
        }

    async def run(folder: Path, url: str, answer: Any) -> None:
        token = world.token("s-1", permissions=("sit", "list_own_sessions"))
        async with HttpCaller(url) as caller:
            with SittingState(folder, url, PRACTICE) as state:
                shown = Credentials(token=token)
                sitter = OutsideSitter(caller, shown, PRACTICE, state, answer, progress=told.append)
                assert (await sitter.sit()).is_finished

    with serve_app(create_app(world.settings, ledger=world.ledger)) as url:
        asyncio.run(run(tmp_path / "one", url, know))
        asyncio.run(run(tmp_path / "one", url, guess))
    results = [one.result and one.result["is_correct"] for one in told]
    unmarked = [None] * len(questions)
    assert results == [True, False, True, True, *unmarked[4:], *unmarked]


def test_the_public_questions_are_of_every_type_and_language_with_their_answers() -> None:
    questions = read_questions()
    assert {question.question_type for question in questions} == set(QUESTION_TYPES)
    assert {question.language for question in questions} == set(LANGUAGES)
    for question in questions:
        assert question.answer and question.explanation, question.stem
        if question.question_type in ("true_false", "multiple_choice"):
            assert mark_answer(question, "".join(question.answer)).is_correct is True
            # Nothing could be read, which is not wrong: a judge reads the whole response.
            assert mark_answer(question, "I do not know.").is_correct is None
            assert mark_answer(question, " \n").is_correct is False
    assert (
        mark_answer(questions[2], "The answer is B because a queue is first in, first out.").is_correct
        is None
    )
    assert mark_answer(questions[3], "BD").answer == "BD"
    assert mark_answer(questions[3], "B").is_correct is False


def test_a_lease_of_practice_ends_and_memory_is_bounded(monkeypatch: Any) -> None:
    monkeypatch.setattr("tasks.exam.practice.room.MOST_SEATS", 2)
    now = [1000.0]
    room = PracticeRoom(60.0, clock=lambda: now[0])
    lease = room.open("one", None)
    assert room.ask("one", lease) is not None
    now[0] += 61
    room.open("one", None)
    room.open("two", None)
    assert len(room._seats) == 2
    room.open("three", None)
    assert list(room._seats) == ["two", "three"]
