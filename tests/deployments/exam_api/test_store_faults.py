"""The exam API when its ledger goes away: nothing acknowledged is lost, nor the reverse."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from schemas.errors import ExamError
from tasks.exam.protocol import Answer, ExamProtocol, SeatRules
from tests.deployments.exam_api.test_app import bearer, code_of, held
from tests.tasks.exam.world import World


def begin(client: TestClient, world: World) -> tuple[str, dict[str, str], dict[str, Any]]:
    """An outside candidate that holds its first question: session, headers, question."""
    session_id = world.sessions()[0]["session_id"]
    token = world.token(session_id)
    lease = client.post(f"/sessions/{session_id}/open", json={}, headers=bearer(token)).json()
    headers = held(token, lease)
    question = client.get(f"/sessions/{session_id}/next", headers=headers).json()["question"]
    return session_id, headers, question


@pytest.mark.parametrize("name", ["ledger.sqlite", "ledger.sqlite-wal"])
def test_a_server_whose_ledger_is_gone_acknowledges_no_answer(
    client: TestClient, world: World, tmp_path: Path, name: str
) -> None:
    session_id, headers, question = begin(client, world)
    body = {"seq": question["seq"], "response": "A", "wants_next": True}
    first = client.post(f"/sessions/{session_id}/answers", json=body, headers=headers)
    assert first.status_code == 200
    aside = tmp_path / "aside"
    (tmp_path / name).rename(aside)

    body = {"seq": first.json()["question"]["seq"], "response": "B", "wants_next": True}
    refused = client.post(f"/sessions/{session_id}/answers", json=body, headers=headers)

    assert code_of(refused) == (503, "store_unavailable")
    assert client.get(f"/sessions/{session_id}/next", headers=headers).status_code == 503

    aside.rename(tmp_path / name)
    again = client.post(f"/sessions/{session_id}/answers", json=body, headers=headers)
    assert again.status_code == 200
    assert list(world.answers(session_id).values()) == ["A", "B"]


DAY_S = 86_400.0


@pytest.mark.parametrize("jump_s", [-DAY_S, DAY_S, 30 * DAY_S])
def test_a_clock_that_jumps_loses_no_answer(world: World, jump_s: float) -> None:
    """What a jump ends is refused by name; when the time is right, the session goes on."""
    started = world.now
    protocol = ExamProtocol(world.ledger, world.keys, SeatRules(lease_s=60), clock=world.clock)
    session_id = world.sessions()[0]["session_id"]
    token = world.token(session_id)
    lease = asyncio.run(protocol.open_session(token, session_id))
    given: dict[int, str] = {}
    put = asyncio.run(protocol.next_question(token, lease))
    assert put is not None
    _, following = asyncio.run(protocol.submit_and_next(token, lease, put.seq, Answer("before")))
    given[put.seq] = "before"
    assert following is not None

    world.now = started + jump_s
    try:
        asyncio.run(protocol.submit_answer(token, lease, following.seq, Answer("during")))
        given[following.seq] = "during"
    except ExamError as error:
        assert error.code in (
            "token_expired",
            "token_invalid",
            "lease_expired",
            "deadline_passed",
            "too_late",
        )
    assert world.answers(session_id) == given

    world.now = started + 120
    token = world.token(session_id)
    lease = asyncio.run(protocol.open_session(token, session_id))
    put = asyncio.run(protocol.next_question(token, lease))
    while put is not None:
        given[put.seq] = "after"
        _, put = asyncio.run(protocol.submit_and_next(token, lease, put.seq, Answer("after")))
    assert world.answers(session_id) == given
    assert sorted(given) == list(range(1, 7))
