from __future__ import annotations

import asyncio
from pathlib import Path
from uuid import uuid4

import pytest

from schemas.settings import Settings, load_settings
from tests.warehouse.sample_rows import session_frame
from warehouse.lake import Lake, landing_provenance, open_lake


def read_flow_runs(lake: Lake) -> dict[str, str | None]:
    return dict(lake.query("SELECT unit, flow_run_id FROM landings ORDER BY unit").iter_rows())


def test_a_landing_names_the_flow_run_that_is_running_and_none_outside_one(tmp_path: Path) -> None:
    with open_lake(Settings(home=tmp_path)) as lake:

        async def land(unit: str) -> None:
            lake.land("sessions", unit, session_frame(1))

        lake.land("sessions", "outside", session_frame(1))
        with landing_provenance("flow-1"):
            lake.land("sessions", "inside", session_frame(1))
            asyncio.run(land("coroutine"))
            lake.land("sessions", "named", session_frame(1), flow_run_id="flow-9")
            with landing_provenance(None):
                lake.land("sessions", "plain", session_frame(1))
        lake.land("sessions", "afterwards", session_frame(1))

        assert read_flow_runs(lake) == {
            "outside": None, "inside": "flow-1", "coroutine": "flow-1", "named": "flow-9", "plain": None,
            "afterwards": None,
        }  # fmt: skip


def test_a_task_signs_with_the_run_of_its_flow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The task's function as Prefect calls it.

    The context of a flow run is set as Prefect sets it.
    """
    # Only here: what is tested is how our tasks hear of Prefect's context.
    from prefect import flow  # noqa: TID251
    from prefect.client.schemas.objects import FlowRun  # noqa: TID251
    from prefect.context import FlowRunContext  # noqa: TID251

    from tasks.ingest import ingest_documents

    paper = tmp_path / "paper.txt"
    paper.write_text("一、判断题\n1. 地球绕太阳转。（√）\n", encoding="utf-8")
    monkeypatch.setenv("PROCTOR_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("PROCTOR_QUIET", "1")
    load_settings.cache_clear()
    run = FlowRun(id=uuid4(), flow_id=uuid4())
    try:
        running = flow(name="x")(lambda: None)
        with FlowRunContext.model_construct(flow_run=run, flow=running):  # type: ignore[call-arg]  # no more of it is read
            ingest_documents.fn([str(paper)])
        paper.write_text("一、判断题\n1. 月球绕地球转。（√）\n", encoding="utf-8")
        ingest_documents.fn([str(paper)])
        with open_lake(load_settings(), read_only=True) as lake:
            counts = lake.query("SELECT flow_run_id, count(*) FROM landings GROUP BY ALL").rows()
    finally:
        load_settings.cache_clear()
    assert sorted(counts, key=str) == sorted([(str(run.id), 4), (None, 4)], key=str)
