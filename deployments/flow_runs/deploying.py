"""Deployments: registering, noting and starting what `prefect.yaml` lists.

Each deployment is registered with a server, noted in the ledger, and can be started by hand.

The manifest names every flow. Prefect knows what it was told; the ledger knows what should run when, whatever becomes of Prefect.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, get_args

from deployments.flow_runs.environment import list_plain_variables
from deployments.flow_runs.server import (
    ServerState,
    build_environment,
    prefect_home,
    read_state,
)
from schemas.errors import GateError, ProctorError, UsageError, suggest
from schemas.settings import Settings
from tasks.running.sharing import WORK_POOL

if TYPE_CHECKING:
    from prefect.client.orchestration import SyncPrefectClient
    from prefect.client.schemas.responses import DeploymentResponse

    from schemas.ledger.engine import FlowSchedule
    from warehouse.ledger.engine.ledger import Ledger

PoolKind = Literal["process", "docker", "kubernetes"]
POOL_KINDS: Final[tuple[PoolKind, ...]] = get_args(PoolKind)
POOLS: Final = Path(__file__).parents[1] / "pools"
MANIFEST: Final = Path(__file__).parents[1] / "prefect.yaml"
ROOT: Final = Path(__file__).resolve().parents[2]
# Where images have the source of Proctor; a worker on a host uses this checkout.
SOURCE_IN_IMAGE: Final = "/opt/proctor"
PAID: Final = "paid"


@dataclass(frozen=True)
class Deployment:
    """An entry of the manifest.

    Attributes:
        name: what it is called.
        flow: the flow that it runs.
        parameters: what it is given.
        tags: `paid` where it calls models; `scheduled`, `event` or `by-hand`.
        cron: when it runs by itself; null without a schedule.
        timezone: of that time.
    """

    name: str
    flow: str
    parameters: Mapping[str, Any]
    tags: tuple[str, ...]
    cron: str | None
    timezone: str


def read_deployments() -> list[Deployment]:
    """What the manifest lists, in its order."""
    import yaml

    entries = yaml.safe_load(MANIFEST.read_text(encoding="utf-8"))["deployments"]
    found = []
    for entry in entries:
        schedule: Mapping[str, str] = next(iter(entry.get("schedules", ())), {})
        found.append(
            Deployment(
                entry["name"],
                entry["entrypoint"].rpartition(":")[2],
                entry.get("parameters", {}),
                tuple(entry.get("tags", ())),
                schedule.get("cron"),
                schedule.get("timezone", "UTC"),
            )
        )
    return found


def find_deployment(name: str) -> Deployment:
    """The deployment of that name; raises UsageError with the names that there are."""
    found = {one.name: one for one in read_deployments()}
    if name not in found:
        raise UsageError(
            f"There is no deployment {name!r}.{suggest(name, found)} There are {', '.join(found)}."
        )
    return found[name]


def deploy_flows(settings: Settings, *, pool: PoolKind = "process") -> list[str]:
    """Register every deployment of the manifest with the running server; returns their names.

    Doing it twice changes nothing.

    The server of this home is told, or the one that PREFECT_API_URL names. Raises UsageError where a schedule would spend without a
    budget, or has times that are refused (`check_schedule`), ProctorError when no server runs, or with Prefect's own words when it refuses, StoreError
    where the home's ledger is refused.
    """
    from tasks.running.flow_runs.record import check_schedule
    from warehouse.ledger.engine.opening import open_ledger

    check_budget(settings)
    state = read_state(settings)
    if state is None and not os.environ.get("PREFECT_API_URL"):
        raise ProctorError("No server is running for this PROCTOR_HOME; run `proctor up` first.")
    # A home or a schedule that is refused is so before anything is registered that would run on it.
    for schedule in _list_schedules():
        check_schedule(schedule)
    with open_ledger(settings.ledger_address) as ledger:
        _register(settings, state, pool)
        note_schedules(ledger)
    return [deployment.name for deployment in read_deployments()]


def _register(settings: Settings, state: ServerState | None, pool: PoolKind) -> None:
    """Let Prefect make the pool and the deployments; raises ProctorError with its words."""
    name = WORK_POOL if pool == "process" else f"{WORK_POOL}-{pool}"
    manifest = _write_manifest(settings, pool, name)
    environment = _build_environment(settings, state)
    command = [sys.executable, "-m", "prefect", "--no-prompt"]
    template = str(POOLS / f"{pool}.json")
    for arguments in (
        ["work-pool", "create", name, "--type", pool, "--base-job-template", template, "--overwrite"],
        ["deploy", "--prefect-file", str(manifest), "--all"],
    ):
        done = subprocess.run(
            [*command, *arguments], capture_output=True, text=True, env=environment, cwd=ROOT
        )
        if done.returncode != 0:
            last = (done.stderr.strip() or done.stdout.strip()).splitlines()[-3:]
            raise ProctorError(f"Prefect refused `{arguments[0]}`: {' '.join(last)}")


def start_on_worker(deployment: Deployment) -> str:
    """Let a worker run a deployment, and return the id of the run at once.

    The deployment runs with the parameters that it has. Where Prefect runs one of a deployment alone and cancels others, a second is
    refused here: it would leave no trace in `runs list`.

    Raises GateError where one is under way, UsageError where the server does not know the deployment, ProctorError where it does not
    answer, or refuses.
    """
    from deployments.flow_runs.flow_runner import explain_answer, prepare_prefect

    prepare_prefect()
    from httpx import HTTPError, HTTPStatusError
    from prefect.client.orchestration import get_client
    from prefect.exceptions import ObjectNotFound

    try:
        with get_client(sync_client=True) as client:
            found = client.read_deployment_by_name(f"{deployment.flow}/{deployment.name}")
            _check_none_is_under_way(client, found)
            return str(client.create_flow_run_from_deployment(found.id).id)
    except ObjectNotFound:
        raise UsageError(
            f"The Prefect server does not know {deployment.name}. Run `proctor deploy` first."
        ) from None
    except HTTPStatusError as error:
        raise explain_answer(error) from None
    except HTTPError as error:
        raise ProctorError(
            f"The Prefect server does not start {deployment.name} ({type(error).__name__}). See that it runs, then try again."
        ) from None


def _check_none_is_under_way(client: SyncPrefectClient, deployment: DeploymentResponse) -> None:
    from prefect.client.schemas.filters import FlowRunFilter
    from prefect.client.schemas.objects import ConcurrencyLimitStrategy

    options = deployment.concurrency_options
    if options is None or options.collision_strategy != ConcurrencyLimitStrategy.CANCEL_NEW:
        return
    under_way = FlowRunFilter.model_validate(
        {
            "deployment_id": {"any_": [deployment.id]},
            "state": {"type": {"any_": ["SCHEDULED", "PENDING", "RUNNING", "PAUSED", "CANCELLING"]}},
        }
    )
    now = datetime.now(UTC)
    for run in client.read_flow_runs(flow_run_filter=under_way):
        # Those of the schedule stand there days before.
        if run.next_scheduled_start_time is None or run.next_scheduled_start_time <= now:
            raise GateError(
                f"{deployment.name} is under way: Prefect has its run {run.name} ({run.id}) as {run.state_name}, and would cancel a "
                "second one. Nothing was started. `proctor runs` lists it once a worker has begun it; start another when it has ended."
            )


def check_budget(settings: Settings) -> None:
    """Raise UsageError unless something limits what scheduled runs may spend.

    The reason is that no person looks at the plans of scheduled runs first.
    """
    if settings.budget_usd is None:
        paid = [one.name for one in read_deployments() if one.cron is not None and PAID in one.tags]
        raise UsageError(
            f"The schedules of {', '.join(paid)} would spend without a limit. Set PROCTOR_BUDGET_USD, or budget_usd in "
            "proctor.toml, to what one run may cost, then run the command again."
        )


def note_schedules(ledger: Ledger) -> None:
    """Note in the ledger what is to run when, so that a run that does not happen is noticed."""
    from tasks.running.flow_runs.record import MONTHLY
    from warehouse.ledger.engine.runs.flow_runs import write_flow_schedules

    with ledger.write() as connection:
        # At another hour or day of the month it is of the same months, and none that was missed is forgotten.
        write_flow_schedules(connection, _list_schedules(), lasting=(MONTHLY,))


def _list_schedules() -> list[FlowSchedule]:
    """What runs by itself, as if it were deployed now."""
    from schemas.ledger.engine import FlowSchedule
    from warehouse.ledger.engine.moments import now_text

    now = now_text()
    return [
        FlowSchedule(
            deployment=one.name, flow=one.flow, cron=one.cron, timezone=one.timezone, deployed_at=now
        )
        for one in read_deployments()
        if one.cron is not None
    ]


def _build_environment(settings: Settings, state: ServerState | None) -> dict[str, str]:
    """What Prefect's own commands run in: nothing that is secret to us, and where the server is."""
    inherited = list_plain_variables(os.environ)
    environment = inherited | build_environment(settings, state) | {"PREFECT_LOGGING_LEVEL": "ERROR"}
    if state is None:
        # The person's own server comes with the person's own profile.
        for name in ("PREFECT_HOME", "PREFECT_PROFILES_PATH"):
            del environment[name]
        for name in ("PREFECT_API_URL", "PREFECT_API_AUTH_STRING", "PREFECT_API_KEY"):
            if name in os.environ:
                environment[name] = os.environ[name]
    return environment


def _write_manifest(settings: Settings, pool: PoolKind, name: str) -> Path:
    """The manifest for this pool; what Prefect's own is for the pool of processes."""
    import yaml

    content = yaml.safe_load(MANIFEST.read_text(encoding="utf-8"))
    content.pop("definitions", None)
    source = str(ROOT) if pool == "process" else SOURCE_IN_IMAGE
    content["pull"] = [{"prefect.deployments.steps.set_working_directory": {"directory": source}}]
    for entry in content["deployments"]:
        entry["work_pool"] = {**entry["work_pool"], "name": name}
    folder = prefect_home(settings)
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"prefect-{pool}.yaml"
    path.write_text(json.dumps(content, indent=2), encoding="utf-8")  # JSON is YAML
    path.chmod(0o600)
    return path
