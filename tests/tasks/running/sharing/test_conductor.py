"""Who conducts a month's run, and that another process may take its place."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace

import pytest

from deployments.home import create_home
from schemas.settings import Settings, load_settings
from tasks.running.sharing import CONDUCTED, conducting
from warehouse.ledger.engine.leases.jobs import free_jobs, list_waiting, read_job
from warehouse.ledger.engine.opening import open_ledger


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    monkeypatch.setenv("PROCTOR_HOME", str(tmp_path / "home"))
    load_settings.cache_clear()
    create_home(load_settings())
    return load_settings()


def test_a_run_is_conducted_once_and_waits_for_another_process_only_when_its_own_is_gone(
    home: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    with open_ledger(home.ledger_address) as ledger:

        def is_conducted() -> bool:
            with ledger.read() as connection:
                return read_job(connection, CONDUCTED, "2026-11") is not None

        def find_waiting(*, is_dead: bool) -> list[object]:
            with ledger.write() as connection:
                with monkeypatch.context() as patch:
                    patch.setattr(
                        "warehouse.ledger.engine.leases.processes.is_dead", lambda _host, _process: is_dead
                    )
                    free_jobs(connection)
                waiting = list_waiting(connection, worker="host-1", closed_lanes="batches ", most_tries=2)
                found = [read_job(connection, *key) for key in waiting]
            return [job.details for job in found if job is not None]

        begun = {"flow": "monthly", "parameters": {"month": "2026-11", "candidates": ["a"]}}
        with conducting("2026-11", "monthly", month="2026-11", candidates=["a"]):
            assert is_conducted()
            with conducting("2026-11", "monthly"):
                pass
            assert is_conducted(), "a second flow works beside the first and takes nothing from it"
            assert find_waiting(is_dead=False) == []
            assert find_waiting(is_dead=True) == [begun]
        with conducting("", "monthly"):
            assert find_waiting(is_dead=True) == [begun]


def test_a_month_that_ends_while_it_is_examined_is_one_month_for_all_its_stages(
    home: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = iter([datetime(2026, 12, 31, 23, 59, tzinfo=UTC), *[datetime(2027, 1, 1, tzinfo=UTC)] * 9])
    monkeypatch.setattr("tasks.running.months.datetime", SimpleNamespace(now=lambda _zone: next(clock)))
    months: list[object] = []

    @contextmanager
    def conducted(_run_id: str, _flow: str, /, **parameters: object) -> Iterator[None]:
        months.append(parameters["month"])
        yield

    def stage(*given: object) -> dict[str, object]:
        months.extend(getattr(one, "month", one) for one in given if one not in ("", "run"))
        return {
            "run_id": "run",
            "answers": 1,
            "open_sessions": [],
            "failed_judgements": 0,
            "judged_responses": 1,
        }

    stages = "plan_month sit_run close_overdue_sessions land_run judge_run watch_anchors correct_scores render_reports reconcile_stores publish_summary"
    for name in stages.split():
        patched = (lambda *_: None) if name == "publish_summary" else stage
        monkeypatch.setattr(f"flows.monthly.{name}", patched)
    monkeypatch.setattr("flows.monthly.publish_edition", lambda *_, **__: {})
    monkeypatch.setattr("flows.monthly.conducting", conducted)
    inspect.unwrap(importlib.import_module("flows.monthly").monthly.fn)()
    assert months == ["2026-12", "2026-12", "2026-12"]
