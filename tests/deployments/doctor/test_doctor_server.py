"""A Prefect server and a worker with a fault: the doctor says which one.

They die, are stopped, or are asked without their password.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from deployments.flow_runs.server import ServerState, read_started
from schemas.settings import Settings
from tests.deployments.doctor.test_doctor import examine, list_wrong
from tests.deployments.test_cli import invoke, run

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("served") / "home"
    assert invoke(home, "init").exit_code == 0
    done = run(home, "up")
    assert done.returncode == 0, done.stderr
    return home


def read(home: Path) -> ServerState:
    state = read_started(Settings(home=home))
    assert state is not None
    return state


def end(pid: int) -> None:
    process = psutil.Process(pid)
    for one in (process, *process.children(recursive=True)):
        one.kill()
    psutil.wait_procs([process], timeout=60)


def test_server_and_worker_that_are_fine_stopped_killed_and_gone(served: Path) -> None:
    state = read(served)
    try:
        deadline = time.monotonic() + 120
        # The worker says that it is there some seconds after it began.
        while "workers" not in (found := examine(served)[1]) and time.monotonic() < deadline:
            time.sleep(2)
        assert list_wrong(found) == set()
        assert (found["Prefect server"]["severity"], found["workers"]["found"]) == ("fine", "local")

        code, found = examine(served, PREFECT_API_URL=state.api_url)
        assert (code, list_wrong(found)) == (1, {"Prefect server"})
        assert "answers 401" in found["Prefect server"]["found"]
        code, found = examine(served, PREFECT_API_URL=state.api_url, PREFECT_API_AUTH_STRING=state.auth)
        assert (code, found["workers"]["found"]) == (0, "local")

        os.kill(state.server_pid, signal.SIGSTOP)
        code, found = examine(served)
        os.kill(state.server_pid, signal.SIGCONT)
        assert (code, list_wrong(found)) == (1, {"Prefect server"})
        assert "does not answer" in found["Prefect server"]["found"]

        assert state.worker_pid is not None
        end(state.worker_pid)
        code, found = examine(served)
        assert (code, list_wrong(found)) == (1, {"worker"})
        assert f"process {state.worker_pid}) is gone" in found["worker"]["found"]

        end(state.server_pid)
        code, found = examine(served)
        assert (code, list_wrong(found)) == (1, {"Prefect server"})
        assert f"process {state.server_pid}, port {state.port}) is gone" in found["Prefect server"]["found"]
        assert state.auth not in json.dumps(found)
    finally:
        assert invoke(served, "down").exit_code == 0
    assert examine(served)[0] == 0


def test_a_worker_that_a_shell_began_in_its_background_ends_when_it_is_told(tmp_path: Path) -> None:
    home = tmp_path / "home"
    assert invoke(home, "init").exit_code == 0
    done = run(home, "up", "--no-worker")
    assert done.returncode == 0, done.stderr
    try:
        # As such a shell does, which has no jobs to control: the worker is born deaf to Ctrl-C.
        deaf = [
            sys.executable,
            "-c",
            "import os, signal, sys; signal.signal(signal.SIGINT, signal.SIG_IGN); os.execv(sys.argv[1], sys.argv[1:])",
        ]
        with subprocess.Popen(
            [*deaf, sys.executable, "-m", "deployments.cli", "worker", "--name", "second"],
            env=os.environ | {"PROCTOR_HOME": str(home)}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        ) as worker:  # fmt: skip
            try:
                assert worker.stdout is not None
                assert any("started!" in line for line in worker.stdout)
                worker.terminate()
                worker.communicate(timeout=120)
            finally:
                worker.kill()
        assert worker.returncode == 0
    finally:
        assert invoke(home, "down").exit_code == 0
