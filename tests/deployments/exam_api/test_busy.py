"""A ledger that another process holds: callers hear of it in seconds."""

from __future__ import annotations

import sqlite3
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from fastapi.testclient import TestClient
from pydantic import SecretStr

from deployments.exam_api import app as exam_app
from tests.deployments.exam_api.test_app import bearer, code_of
from tests.tasks.exam.kit import check_ledger
from tests.tasks.exam.world import World
from warehouse.ledger.engine.sides import name_exam_file


def test_a_locked_ledger_is_answered_in_seconds_whoever_asks_and_however_many(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exam_app, "LONGEST_WAIT_S", 0.5)
    path = tmp_path / "ledger.sqlite"
    settings = world.settings.model_copy(update={"ledger_url": SecretStr(f"sqlite:///{path}")})
    session_id = str(world.sessions()[0]["session_id"])
    headers = bearer(world.token(session_id, permissions=("sit", "list_own_sessions")))
    with TestClient(exam_app.create_app(settings), raise_server_exceptions=False) as client:
        assert client.get("/sessions", headers=headers).status_code == 200
        holder = sqlite3.connect(name_exam_file(path), isolation_level=None)
        holder.execute("begin immediate")

        def ask(path: str) -> tuple[float, int, str]:
            began = time.monotonic()
            reply = client.get(path, headers=headers)
            return time.monotonic() - began, reply.status_code, reply.headers.get("retry-after", "")

        with ThreadPoolExecutor(12) as pool:
            found = list(pool.map(ask, ["/sessions", f"/sessions/{session_id}"] * 6))
        refused = client.get("/sessions", headers=headers)
        # What needs no ledger is answered all the while.
        assert client.get("/health").status_code == 200
        holder.execute("rollback")
        holder.close()
        assert code_of(refused) == (503, "store_unavailable")
        assert [one[1:] for one in found] == [(503, "2")] * 12
        # Nobody waits for one lock after another: at most for that of the batch before and their own.
        assert max(one[0] for one in found) < 6
        assert client.get(f"/sessions/{session_id}", headers=headers).status_code == 200
    with world.ledger.read() as connection:
        assert check_ledger(connection).findings == ()
