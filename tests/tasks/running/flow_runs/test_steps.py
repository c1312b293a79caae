"""Flows and their steps, with Prefect and without it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Literal
from uuid import uuid4

import pytest

from schemas.errors import StoreError, UsageError
from schemas.settings import Settings, load_settings
from tasks.running.flow_runs import flow, make_known, run_plainly, step
from tasks.running.flow_runs.steps import PlainFlow
from tasks.running.flow_runs.task import name_run
from tests.fresh import open_new_lake
from warehouse.ledger.engine.opening import open_ledger

PAPER = "一、判断题\n1. 地球绕太阳转。（√）\n"
# What commands that run a flow by themselves imported, as the last line.
RUN = """
import sys
from deployments.cli import app
for command in (["init"], ["ingest", sys.argv[1], "--no-server"]):
    try:
        app(command)
    except SystemExit as ended:
        assert not ended.code
print("imported Prefect:", "prefect" in sys.modules)
"""


def test_a_flow_that_runs_without_a_server_imports_nothing_of_prefect(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PROCTOR_HOME", str(tmp_path / "home"))
    # Copies: how stores are made is not what is looked at, and takes half of the time.
    open_new_lake(Settings(home=tmp_path / "home")).close()
    open_ledger(Settings(home=tmp_path / "home").ledger_address).close()
    paper = tmp_path / "paper.txt"
    paper.write_text(PAPER, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-c", RUN, str(paper)], capture_output=True, text=True, check=False
    )
    assert done.stdout.endswith("imported Prefect: False\n"), done.stdout + done.stderr
    assert "Questions: 1" in done.stdout


def test_a_step_is_a_task_of_prefects_in_a_run_of_prefects_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    # Only here: what is tested is when Prefect is asked.
    from prefect import flow  # noqa: TID251
    from prefect.client.schemas.objects import FlowRun  # noqa: TID251
    from prefect.context import FlowRunContext  # noqa: TID251

    @step()
    def add(left: int, right: int = 1) -> int:
        """Add."""
        return left + right

    asked = []

    def ask(*given: int) -> int:
        asked.append(given)
        return 7

    known = add._task
    assert (known.name, known.fn, add.__doc__) == ("add", add.fn, "Add.")
    monkeypatch.setitem(vars(add), "_task", ask)
    assert (add(1), asked) == (2, [])
    run = FlowRun(id=uuid4(), flow_id=uuid4())
    with FlowRunContext.model_construct(flow_run=run, flow=flow(name="x")(lambda: None)):  # type: ignore[call-arg]  # no more of it is read
        assert add(1, 4) == 7
    assert (asked, add(2)) == ([(1, 4)], 3)


def test_a_flow_that_was_plain_is_known_to_prefect_later_as_it_was_written() -> None:
    def count(month: str, rounds: int = 2) -> int:
        """Count.

        Args:
            month: a month.
            rounds: how often.
        """
        return rounds

    plain: PlainFlow[..., int] = PlainFlow(count)
    known = make_known(plain)
    assert make_known(known) is known
    assert (known.name, known.flow_run_name, known.fn("2026-12", 3)) == ("count", name_run, 3)
    assert list(known.parameters.properties) == ["month", "rounds"]


def test_parameters_that_are_json_already_go_to_prefect_without_fastapi(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def count(given: object) -> None:
        """Count."""

    given = {"paths": ["a", "b"], "again": False, "limit": None, "share": 0.5, "map": {"x": [1]}}
    known = make_known(PlainFlow(count))
    others = known.serialize_parameters({"given": Path("a")})
    with monkeypatch.context() as patch:
        patch.setitem(sys.modules, "fastapi.encoders", None)
        assert known.serialize_parameters(given) == given
        with pytest.raises(ImportError):
            known.serialize_parameters({"given": Path("a")})
    assert others == {"given": "a"}
    assert type(known).serialize_parameters(known, given) == given


def test_a_run_of_a_worker_whose_home_was_moved_makes_no_other_in_its_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from prefect.client.schemas.objects import FlowRun  # noqa: TID251
    from prefect.context import FlowRunContext  # noqa: TID251

    home = tmp_path / "home"
    monkeypatch.setenv("PROCTOR_HOME", str(home))
    load_settings.cache_clear()

    @flow
    def begin_here() -> None:
        open_ledger(load_settings().ledger_address).close()

    begin = begin_here.fn
    deployed = FlowRun(id=uuid4(), flow_id=uuid4(), deployment_id=uuid4())
    begin()
    home.rename(tmp_path / "moved")
    with FlowRunContext.model_construct(flow_run=deployed), pytest.raises(StoreError, match="was it moved"):  # type: ignore[call-arg]  # no more of it is read
        begin()
    assert not home.exists()
    (tmp_path / "moved").rename(home)
    with FlowRunContext.model_construct(flow_run=deployed):  # type: ignore[call-arg]  # no more of it is read
        begin()
    load_settings.cache_clear()


@pytest.mark.parametrize("given", [{}, {"month": "2026-12", "turns": 2}])
def test_parameters_that_a_flow_lacks_or_misses_are_named(given: dict[str, object]) -> None:
    def count(month: str) -> None:
        """Count."""

    with pytest.raises(UsageError, match=r"The flow count: .*(month|turns)"):
        run_plainly(PlainFlow(count), given)


def test_a_value_outside_its_closed_list_is_refused_before_a_plain_flow_begins() -> None:
    begun = []

    def play(kind: Literal["best", "mean"] = "best") -> None:
        begun.append(kind)

    with pytest.raises(UsageError, match="The flow play: kind is 'worst', and can be best, mean"):
        run_plainly(PlainFlow(play), {"kind": "worst"})
    assert begun == []
