"""The public log is written beside the exam API's calls, none of which waits for it."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator

import pytest
from fastapi.testclient import TestClient

from deployments.exam_api import public_log
from deployments.exam_api.app import create_app
from tasks.exam.public.log import name_log_file
from tests.deployments.exam_api.test_app import bearer, held
from tests.tasks.exam.world import World


@pytest.fixture
def pause(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(public_log.PublicLogWriter.__init__, "__defaults__", (0.05,))
    yield


def read_kinds(world: World) -> list[str]:
    path = name_log_file(world.settings)
    kinds = [json.loads(line)["kind"] for line in path.read_text().splitlines()] if path.exists() else []
    return [kind for kind in kinds if kind not in PLANNED]


# The run is sealed as it is planned, and the key of the home is noted before it is used.
PLANNED = {"begin", "commit", "draw", "key"}


def await_kinds(world: World, kinds: list[str]) -> None:
    give_up_at = time.monotonic() + 10
    while read_kinds(world) != kinds:
        assert time.monotonic() < give_up_at, read_kinds(world)
        time.sleep(0.02)


@pytest.mark.usefixtures("pause")
def test_opening_and_closing_are_in_the_file_soon_and_the_rest_at_the_end(world: World) -> None:
    session_id = world.sessions()[0]["session_id"]
    token = world.token(session_id)
    with TestClient(create_app(world.settings, ledger=world.ledger)) as client:
        lease = client.post(f"/sessions/{session_id}/open", json={}, headers=bearer(token)).json()
        await_kinds(world, ["open"])
        headers = held(token, lease)
        client.get(f"/sessions/{session_id}/next", headers=headers)
        for seq in range(1, 7):
            body = {"seq": seq, "response": f"answer {seq}", "wants_next": True}
            assert (
                client.post(f"/sessions/{session_id}/answers", json=body, headers=headers).status_code == 200
            )
    assert read_kinds(world) == ["open", "close"]


@pytest.mark.usefixtures("pause")
def test_a_file_that_is_refused_is_said_once_and_stops_no_sitting(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    path = name_log_file(world.settings)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("another's\n")
    session_id = world.sessions()[0]["session_id"]
    token = world.token(session_id)
    with TestClient(create_app(world.settings, ledger=world.ledger)) as client:
        reply = client.post(f"/sessions/{session_id}/open", json={}, headers=bearer(token))
        assert reply.status_code == 200
        time.sleep(0.3)
        assert (
            client.get(f"/sessions/{session_id}/next", headers=held(token, reply.json())).status_code == 200
        )
    said = [record for record in caplog.records if "public log is not written" in record.getMessage()]
    assert len(said) == 1
    assert path.read_text() == "another's\n"
