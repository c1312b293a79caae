"""One machine on which everything runs.

These are PostgreSQL, a Prefect server on it, workers, exam API and web desk over HTTP, and an object store.

Two homes stand for two hosts: each has a PROCTOR_HOME and a worker of its own, and they share what docs/data-engineer.md says
that hosts share. The embedded form of the same exam runs in the test's own process, as plain Python.
"""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx
import psutil

from deployments.flow_runs import deploy_flows
from deployments.flow_runs.deploying import ROOT, read_deployments
from deployments.model_server import RunningServer
from schemas.settings import Settings, load_settings
from tests.e2e.conftest import HUNG_S
from tests.e2e.exam_form import Exam, as_process_of, prepare, write_variables
from tests.paid_calls import read_calls
from tests.warehouse.ledger.postgresql import PostgresqlServer
from tests.warehouse.object_store import BUCKET, ObjectStore
from warehouse.ledger.engine.exam_role import grant_role
from warehouse.ledger.engine.opening import open_ledger

PASSWORD = "admin:QZXW-OF-THE-PREFECT-SERVER"
BIN = Path(sys.executable).parent


def wait_until(what: str, is_true: Callable[[], Any], seconds: float = HUNG_S, pause_s: float = 0.05) -> Any:
    """What becomes true; who is not there after so long hangs, however busy the machine is."""
    deadline = time.monotonic() + seconds
    while not (found := is_true()):
        assert time.monotonic() < deadline, f"{what}: not within {seconds:g} s"
        time.sleep(pause_s)
    return found


def find_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class Process:
    """A program of the installation.

    It can be killed with all that it started, and started again.
    """

    def __init__(self, log: Path, arguments: Sequence[str], variables: Mapping[str, str]) -> None:
        self.log = log
        self._arguments = arguments
        self._variables = variables
        self.start()

    def start(self) -> None:
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("PROCTOR_", "PREFECT_"))}
        with self.log.open("ab") as log:
            self.popen = subprocess.Popen(
                [str(BIN / self._arguments[0]), *self._arguments[1:]],
                env=kept | dict(self._variables), cwd=ROOT, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                start_new_session=True,
            )  # fmt: skip

    def list_pids(self) -> set[int]:
        """The process and everything below it."""
        with suppress(psutil.NoSuchProcess):
            whole = psutil.Process(self.popen.pid)
            return {whole.pid, *(child.pid for child in whole.children(recursive=True))}
        return set()

    def kill(self) -> None:
        """`kill -9`, with its children."""
        for pid in self.list_pids():
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self.popen.wait()


class WholeSystem:
    """The server form on this machine, with two hosts.

    Attributes:
        homes: variables of each host.
        workers: their workers, by name.
        exam, web: the two doors.
        prefect: Prefect's server.
        models: the simulated models that both hosts call.
    """

    def __init__(
        self,
        folder: Path,
        exam: Exam,
        postgresql: PostgresqlServer,
        store: ObjectStore,
        models: RunningServer,
        variables: Mapping[str, str] | None = None,
    ) -> None:
        self.folder = folder
        self.exam_form = exam
        self.models = models
        self._processes: list[Process] = []
        self._callers: dict[str, str] = {}
        self._postgresql = postgresql
        folder.mkdir()
        shared = folder / "shared"
        self.ports = {name: find_port() for name in ("prefect", "exam", "web")}
        self.values: dict[str, Any] = exam.settings | {
            "ledger_url": postgresql.new_ledger_url(),
            "lake_catalog": postgresql.new_catalog(),
            "lake_data": f"s3://{BUCKET}/lake",
            "secrets": shared / "secrets",
            "registry": shared / "models.yaml",
            "archive": shared / "archive",
            "public": shared / "public",
            "budget_usd": 100.0,
            "exam_door": "http",
            "exam_url": f"http://127.0.0.1:{self.ports['exam']}",
        }
        api = f"http://127.0.0.1:{self.ports['prefect']}/api"
        common = write_variables(self.values) | store.variables | {
            "PREFECT_API_URL": api,
            "PREFECT_API_AUTH_STRING": PASSWORD,
            # A worker asks every ten seconds by default: so long nothing would happen here, time and again.
            "PREFECT_WORKER_QUERY_SECONDS": "1",
            "PROCTOR_SIMULATED_URL": models.url,
            "PROCTOR_QUIET": "1",
        } | dict(variables or {})  # fmt: skip
        self.homes = {
            name: common
            | {"PROCTOR_HOME": str(folder / name), "PREFECT_HOME": str(folder / name / "prefect")}
            for name in ("host-1", "host-2")
        }
        self.api = httpx.Client(base_url=api, auth=tuple(PASSWORD.split(":", 1)), timeout=30)  # type: ignore[arg-type]

    @property
    def settings(self) -> Settings:
        """Of the first host, for this process."""
        return Settings(home=self.folder / "host-1", **self.values)

    def start(self) -> None:
        """Start everything; each is waited for only by what needs it."""
        self._run_server()
        prepare(self.settings, self.exam_form)
        prepare(Settings(home=self.folder / "host-2", **self.values), self.exam_form, joins=True)
        with open_ledger(self.settings.ledger_address) as ledger:
            role = grant_role(ledger, f"exam_of_{self.ports['exam']}")
        # It knows the exam's tables and the keys, and nothing else (deployments/server/compose.yaml).
        variables = {
            "PROCTOR_EXAM_DATABASE_URL": role.address,
            "PROCTOR_SECRETS": str(self.values["secrets"]),
            "PROCTOR_HOME": str(self.folder / "exam-home"),
        }
        arguments = ["proctor", "exam", "serve", "--port", str(self.ports["exam"])]
        self.exam = self._start("exam", arguments, variables)
        arguments = ["proctor", "web", "--port", str(self.ports["web"])]
        self.web = self._start("web", arguments, self.homes["host-1"])
        wait_until("the Prefect server answers", lambda: self.answers(f"{self.api.base_url}ready"))
        with as_process_of(self.homes["host-1"]):
            deploy_flows(load_settings())
        self.workers = {name: self.start_worker(name) for name in self.homes}

    def start_worker(self, name: str) -> Process:
        return self._start(name, ["proctor", "worker", "--name", name], self.homes[name])

    def stop(self) -> None:
        self.api.close()
        for process in self._processes:
            process.kill()

    def answers(self, url: str) -> bool:
        with suppress(httpx.HTTPError):
            return httpx.get(url, auth=tuple(PASSWORD.split(":", 1)), timeout=5).status_code < 400  # type: ignore[arg-type]
        return False

    def run_deployment(self, name: str, *, host: str | None = None, **parameters: Any) -> str:
        """Start a run, on a host of one's choice by the queue of its worker; returns its id."""
        flow = next(one.flow for one in read_deployments() if one.name == name)
        found = self.api.get(f"/deployments/name/{flow}/{name}").raise_for_status().json()
        body: dict[str, Any] = {"parameters": parameters, "state": {"type": "SCHEDULED"}}
        if host is not None:
            body["work_queue_name"] = host
        return str(self._post(f"/deployments/{found['id']}/create_flow_run", body)["id"])

    def read_run(self, flow_run_id: str) -> dict[str, Any]:
        return dict(self.api.get(f"/flow_runs/{flow_run_id}").raise_for_status().json())

    def await_runs(self, *flow_run_ids: str) -> None:
        """Until all of them have completed."""

        def have_ended() -> bool:
            states = [self.read_run(one)["state_type"] for one in flow_run_ids]
            assert not set(states) & {"FAILED", "CRASHED", "CANCELLED"}, f"{states}\n{self.read_logs()}"
            return set(states) == {"COMPLETED"}

        wait_until("the runs have completed", have_ended, pause_s=0.2)

    def read_logs(self) -> str:
        """The end of what each process wrote."""
        return "\n".join(
            f"{one.log.name}: {one.log.read_text(errors='replace')[-3000:]}" for one in self._processes
        )

    def list_holders(self, kind: str) -> dict[str, set[str]]:
        """Which jobs each worker's processes hold, by its name."""
        from warehouse.ledger.engine.leases.jobs import list_jobs
        from warehouse.ledger.engine.leases.processes import read_lease

        pids = {name: worker.list_pids() for name, worker in self.workers.items()}
        held: dict[str, set[str]] = {name: set() for name in self.workers}
        with open_ledger(self.settings.ledger_address) as ledger, ledger.read() as connection:
            for job in list_jobs(connection, kind):
                lease = read_lease(connection, job.holder or "")
                for name, own in pids.items():
                    if lease is not None and lease.process_id in own:
                        held[name].add(job.name)
        return held

    def count_calls(self, run_id: str) -> dict[str, Counter[str]]:
        """Calls that each worker's processes have finished, by purpose.

        Ask while they live: who they are in the ledger is kept here, and is forgotten there when they end.
        """
        from sqlalchemy import select

        from warehouse.ledger.engine.tables import process_leases

        pids = {name: worker.list_pids() for name, worker in self.workers.items()}
        leases = select(process_leases.c.holder, process_leases.c.process_id)
        with open_ledger(self.settings.ledger_address) as ledger, ledger.read() as connection:
            for holder, pid in connection.execute(leases):
                for name, own in pids.items():
                    if pid in own:
                        self._callers[holder] = name
            calls = read_calls(connection, run_id=run_id)
        counts: dict[str, Counter[str]] = {name: Counter() for name in self.workers}
        for row in calls:
            if row["status"] == "done" and row["holder"] in self._callers:
                counts[self._callers[row["holder"]]][row["purpose"]] += 1
        return counts

    def _run_server(self) -> None:
        database = f"prefect_{self.ports['prefect']}"
        self._postgresql._create(database)
        url = f"postgresql+asyncpg://postgres@/{database}?host={self._postgresql.folder}"
        variables = {
            "PREFECT_HOME": str(self.folder / "prefect"),
            "PREFECT_API_DATABASE_CONNECTION_URL": url,
            "PREFECT_SERVER_API_AUTH_STRING": PASSWORD,
            "PREFECT_SERVER_CONCURRENCY_LEASE_STORAGE": "prefect.server.concurrency.lease_storage.filesystem",
            "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
            "DO_NOT_TRACK": "1",
            # Block types of Prefect's integrations: 3 CPU seconds, and nothing here uses one.
            "PREFECT_API_BLOCKS_REGISTER_ON_START": "false",
        }
        port = str(self.ports["prefect"])
        arguments = ["prefect", "server", "start", "--host", "127.0.0.1", "--port", port, "--no-ui"]
        self.prefect = self._start("prefect", arguments, variables)

    def _start(self, name: str, arguments: Sequence[str], variables: Mapping[str, str]) -> Process:
        process = Process(self.folder / f"{name}.log", arguments, variables)
        self._processes.append(process)
        return process

    def _post(self, path: str, body: Mapping[str, Any], known: int = 0) -> Any:
        answer = self.api.post(path, json=body)
        if answer.status_code != known:
            assert answer.status_code < 400, answer.text
        return answer.json()
