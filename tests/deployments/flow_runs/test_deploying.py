"""The manifest of deployments and the pools' templates, by Prefect's own rules."""

from __future__ import annotations

import importlib
import json
import re
import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
import yaml
from typer.testing import CliRunner

from deployments.cli import app
from deployments.flow_runs import PAID, POOL_KINDS, check_budget, find_deployment
from deployments.flow_runs.deploying import MANIFEST, POOLS, deploy_flows, note_schedules, read_deployments
from schemas.errors import UsageError
from schemas.ledger.engine import FlowSchedule
from schemas.settings import Settings, load_settings
from tasks.running.flow_runs import make_known
from tasks.running.flow_runs.record.missed import find_last_due
from tests.deployments.conftest import copy_new_home
from warehouse.ledger.engine.ledger import Ledger
from warehouse.ledger.engine.opening import open_ledger
from warehouse.ledger.engine.runs.flow_runs import list_flow_schedules

ROOT = Path(__file__).resolve().parents[3]
FLOWS = sorted(path.stem for path in (ROOT / "flows").glob("*.py") if path.stem != "__init__")
CALENDAR = {
    "monthly": "0 2 1 * *",
    "newcomers": "0 3 * * 1",
    "league": "0 5 2 1,4,7,10 *",
    "drift": "0 6 15 * *",
    "validate": "15 1 * * *",
    "checks": "45 1 * * *",
    "sweep": "30 4 * * *",
    "seal": "5 * * * *",
    "erase": "0 4 3 * *",
    "backup": "30 0 * * *",
    "restore-check": "15 3 * * *",
}
# What calls models, whatever it is given.
PAYING = {"monthly", "evaluate", "judge", "league", "drift", "contamination", "gscore", "second_reading"}


def test_every_flow_is_deployed_and_its_parameters_fit_it() -> None:
    # The manifest is held to what Prefect makes of the flows.
    from prefect.utilities.callables import parameter_schema  # noqa: TID251

    entries = yaml.safe_load(MANIFEST.read_text("utf-8"))["deployments"]
    assert sorted({entry["entrypoint"] for entry in entries}) == [f"flows/{name}.py:{name}" for name in FLOWS]
    assert all(entry["description"].endswith(".") for entry in entries)
    for deployment in read_deployments():
        flow = getattr(importlib.import_module(f"flows.{deployment.flow}"), deployment.flow)
        schema = parameter_schema(make_known(flow)).model_dump()["properties"]
        assert set(deployment.parameters) <= set(schema), deployment.name
        described = {name: one.get("description", "") for name, one in schema.items()}
        assert all(text.endswith(".") for text in described.values()), (deployment.name, described)


def test_the_calendar_is_what_the_pages_say_and_cron_can_read_it() -> None:
    from datetime import UTC, datetime

    found = {one.name: one.cron for one in read_deployments() if one.cron is not None}
    assert found == CALENDAR
    for cron in found.values():
        assert find_last_due(cron, "UTC", datetime(2026, 12, 31, tzinfo=UTC)) is not None


def test_every_flow_that_pays_asks_for_a_budget() -> None:
    assert {one.flow for one in read_deployments() if PAID in one.tags} == PAYING
    # A paper that somebody waits for is refused one by one: the desk says why.
    for name in PAYING - {"second_reading"}:
        text = (ROOT / "flows" / f"{name}.py").read_text("utf-8")
        assert re.search(r'"""\n    require_budget\(', text), name


def test_a_schedule_that_would_spend_without_a_limit_is_not_deployed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(UsageError, match="monthly, newcomers, league, drift would spend without a limit"):
        check_budget(Settings(home=tmp_path))
    check_budget(Settings(home=tmp_path, budget_usd=5))
    monkeypatch.delenv("PROCTOR_BUDGET_USD", raising=False)
    monkeypatch.setenv("PROCTOR_HOME", str(tmp_path / "home"))
    load_settings.cache_clear()
    copy_new_home(tmp_path / "home")
    for command in (["deploy"], ["runs", "start", "drift", "--no-server"]):
        done = CliRunner().invoke(app, command)
        assert (done.exit_code, "PROCTOR_BUDGET_USD" in done.stderr) == (2, True), done.output
    assert CliRunner().invoke(app, ["deploy", "--pool", "cloud"]).exit_code == 2


def test_a_home_that_is_refused_is_so_before_the_server_is_told_of_any_schedule(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PROCTOR_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("PROCTOR_BUDGET_USD", "5")
    # Nobody listens there: who asks is told so.
    monkeypatch.setenv("PREFECT_API_URL", "http://127.0.0.1:9/api")
    load_settings.cache_clear()
    copy_new_home(tmp_path / "home")
    with closing(sqlite3.connect(tmp_path / "home" / "ledger.sqlite")) as ledger, ledger:
        ledger.execute("update alembic_version set version_num = 'of tomorrow'")
    done = CliRunner().invoke(app, ["deploy"])
    assert (done.exit_code, "another version" in done.stderr, "Prefect" in done.stderr) == (1, True, False)


@pytest.mark.parametrize(
    ("cron", "timezone", "says"),
    [
        (
            "0 2 1 * *",
            "Asia/Shanghai",
            r"-01 02:00 in Asia/Shanghai is .* 18:00 UTC, and the run would be of",
        ),
        ("0 20 31 * *", "America/New_York", "-31 20:00 in America/New_York is"),
        ("0 2 1 jan *", "UTC", "Deployment monthly: 'jan' in the schedule"),
        ("0 2 1 * *", "Asia/Shangai", "is no time zone"),
    ],
)
def test_a_schedule_whose_months_or_times_would_be_others_is_not_deployed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cron: str, timezone: str, says: str
) -> None:
    monthly = replace(read_deployments()[0], cron=cron, timezone=timezone)
    monkeypatch.setattr("deployments.flow_runs.deploying.read_deployments", lambda: [monthly])
    monkeypatch.setenv("PREFECT_API_URL", "http://127.0.0.1:9/api")
    with pytest.raises(UsageError, match=says):
        deploy_flows(Settings(home=tmp_path / "home", budget_usd=5))
    assert not (tmp_path / "home").exists()


def test_an_unknown_deployment_is_named_with_those_that_there_are() -> None:
    with pytest.raises(UsageError, match="monthly, newcomers"):
        find_deployment("yearly")


@pytest.mark.parametrize("kind", POOL_KINDS)
def test_a_pools_template_is_one_that_prefects_server_takes(kind: str) -> None:
    """What the server checks when a pool is made.

    It also covers the job that a worker makes of the template when nothing is given.
    """
    from prefect.client.schemas.objects import WorkPool  # noqa: TID251
    from prefect.server.schemas.actions import WorkPoolCreate  # noqa: TID251
    from prefect.utilities.schema_tools import is_valid_schema, validate  # noqa: TID251
    from prefect.utilities.templating import apply_values, find_placeholders  # noqa: TID251
    from prefect.workers.base import BaseJobConfiguration  # noqa: TID251

    template = json.loads((POOLS / f"{kind}.json").read_text("utf-8"))
    WorkPoolCreate(name="proctor", type=kind, base_job_template=template)
    WorkPool(name="proctor", type=kind, base_job_template=template, default_queue_id=uuid4())
    variables = template["variables"]
    is_valid_schema(variables)  # raises where it is none
    named = {one.name for one in find_placeholders(json.dumps(template["job_configuration"]))}
    assert named == set(variables["properties"]), "a variable that nothing uses, or one that nothing declares"
    defaults = {name: one["default"] for name, one in variables["properties"].items() if "default" in one}
    assert validate(defaults, variables) == []
    assert validate({**defaults, "stream_output": "perhaps"}, variables) != []
    filled = apply_values(template["job_configuration"], {**defaults, "name": "monthly-2026-12"})
    job = BaseJobConfiguration.model_validate(filled)
    assert (job.name, find_placeholders(json.dumps(filled))) == ("monthly-2026-12", set())


@pytest.mark.parametrize("kind", ["docker", "kubernetes"])
def test_a_template_sets_what_prefects_own_worker_of_the_kind_knows(kind: str) -> None:
    known = read_known_settings(kind)
    template = json.loads((POOLS / f"{kind}.json").read_text("utf-8"))
    assert set(template["job_configuration"]) <= known
    text = json.dumps(template)
    image = template["variables"]["properties"]["image"]["default"]
    assert image == {"docker": "proctor-runs:latest", "kubernetes": "proctor:latest"}[kind]
    # The project's image begins with `proctor`, and a worker names the whole command.
    dockerfile = (POOLS / "Dockerfile").read_text("utf-8")
    assert "ENTRYPOINT []" in dockerfile if kind == "docker" else '"command": ["/usr/bin/env"]' in text
    assert "/var/lib/proctor" in text


def read_known_settings(kind: str) -> set[str]:
    """The settings that Prefect's catalogue of workers has for a kind."""
    import prefect  # noqa: TID251

    folder = Path(str(prefect.__file__)).parent / "server" / "api" / "collections_data" / "views"
    catalogue: dict[str, Any] = json.loads((folder / "aggregate-worker-metadata.json").read_text("utf-8"))
    worker = catalogue[f"prefect-{kind}"][kind]
    return set(worker["default_base_job_configuration"]["job_configuration"])


def read_schedules(ledger: Ledger) -> list[FlowSchedule]:
    with ledger.read() as connection:
        return list_flow_schedules(connection)


def test_monthly_exams_are_looked_for_since_they_were_first_deployed_whatever_their_day(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "home").mkdir()
    with open_ledger(Settings(home=tmp_path / "home").ledger_address) as ledger:
        note_schedules(ledger)
        before = {one.deployment: one.deployed_at for one in read_schedules(ledger)}
        later = [replace(one, cron=one.cron and "7 7 7 * *") for one in read_deployments()]
        monkeypatch.setattr("deployments.flow_runs.deploying.read_deployments", lambda: later)
        note_schedules(ledger)
        after = {one.deployment: one for one in read_schedules(ledger)}
    assert {one.cron for one in after.values()} == {"7 7 7 * *"}
    assert [name for name, one in after.items() if one.deployed_at == before[name]] == ["monthly"]


def test_prefect_takes_the_parameters_of_each_deployment_as_its_flow_has_them() -> None:
    for deployment in read_deployments():
        found = make_known(getattr(importlib.import_module(f"flows.{deployment.flow}"), deployment.flow))
        kinds = {name: found.parameters.properties[name]["type"] for name in found.parameters.required}
        given = {name: ["x"] if kind == "array" else "x" for name, kind in kinds.items()}
        given |= deployment.parameters
        assert found.validate_parameters(given).items() >= given.items()
