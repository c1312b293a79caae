"""Who conducts a month's run, and which workers are asked to help with it."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any
from uuid import uuid4

import pytest

from deployments.flow_runs.server import serve_worker
from deployments.home import create_home
from schemas.errors import UsageError
from schemas.settings import Settings, load_settings
from tasks.running.sharing.conductor import CLAIM, conducting, require_run, succeeding
from tasks.running.sharing.names import WORKER_VARIABLE
from warehouse.ledger.engine.leases.claims import read_claim
from warehouse.ledger.engine.opening import open_ledger


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    monkeypatch.setenv("PROCTOR_HOME", str(tmp_path / "home"))
    load_settings.cache_clear()
    create_home(load_settings())
    return load_settings()


def test_a_run_is_conducted_once_and_let_go_of_at_its_end(home: Settings) -> None:
    with open_ledger(home.ledger_address) as ledger:

        def is_conducted() -> bool:
            with ledger.read() as connection:
                return read_claim(connection, CLAIM, "2026-11") is not None

        with conducting("2026-11"):
            assert is_conducted()
            with conducting("2026-11"):
                pass
            assert is_conducted(), "a second flow works beside the first and takes nothing from it"
        assert not is_conducted()
        with succeeding("2026-11") as is_left:
            assert not is_left
        with conducting(""):
            pass
    with pytest.raises(UsageError, match="no run was named"):
        require_run("")


class Client:
    """Prefect's API as far as it is asked here; what it was asked for is kept."""

    def __init__(self) -> None:
        self.asked: list[dict[str, Any]] = []

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def read_deployment_by_name(self, name: str) -> Any:
        assert name == "helper/helper"
        return SimpleNamespace(id="the-deployment", work_pool_name="proctor")

    def read_work_queues(self, work_pool_name: str) -> list[Any]:
        assert work_pool_name == "proctor"
        return [SimpleNamespace(name=name) for name in ("default", "host-1", "host-2", "host-3", "gone")]

    def read_workers_for_work_pool(self, pool: str) -> list[Any]:
        assert pool == "proctor"
        known = {
            "host-1": "ONLINE",
            "host-2": "ONLINE",
            "host-3": "ONLINE",
            "gone": "OFFLINE",
            "plain": "ONLINE",
        }
        return [SimpleNamespace(name=name, status=status) for name, status in known.items()]

    def create_flow_run_from_deployment(self, deployment_id: str, **given: Any) -> None:
        self.asked.append(given)


def test_every_other_worker_that_lives_and_has_a_queue_of_its_own_is_asked_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # What is tested is whom the task asks in a run of a deployment.
    from prefect.client.schemas.objects import FlowRun  # noqa: TID251
    from prefect.context import FlowRunContext  # noqa: TID251

    from tasks.running.sharing import task

    client, run = Client(), FlowRun(id=uuid4(), flow_id=uuid4(), deployment_id=uuid4())
    monkeypatch.setattr(task, "get_client", lambda **_: client)
    monkeypatch.setenv(WORKER_VARIABLE, "host-1")
    assert task.ask_for_help.fn("2026-11", "2026-11") == {"helpers": 0}, "a command asks nobody"
    with FlowRunContext.model_construct(flow_run=run):  # type: ignore[call-arg]  # no more of it is read
        assert task.ask_for_help.fn("", "2026-11") == {"helpers": 0}
        assert task.ask_for_help.fn("2026-11", "2026-11") == {"helpers": 2}
    assert client.asked == [
        {
            "parameters": {"run_id": "2026-11", "month": "2026-11", "sharers": 3},
            "work_queue_name": name,
            "idempotency_key": f"{run.id}-{name}",
        }
        for name in ("host-2", "host-3")
    ]


def test_a_worker_needs_a_server_and_a_name_of_its_own(
    home: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PREFECT_API_URL", raising=False)
    with pytest.raises(UsageError, match="PREFECT_API_URL"):
        serve_worker(home, "host-1")
    with pytest.raises(UsageError, match="cannot be the name"):
        serve_worker(home, "default")
