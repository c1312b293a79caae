"""The server of a home, its worker and its runs, as processes."""

from __future__ import annotations

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from json import dumps
from pathlib import Path
from typing import Any

import pytest

from deployments.flow_runs.flow_runner import _find_server
from deployments.flow_runs.server import ServerState, build_environment, local_server, read_state, stop_server
from schemas.settings import Settings


def start(named: str, url: str, *, leads: bool = True) -> tuple[subprocess.Popen[bytes], float]:
    """A process that is named so among its arguments and knows that server; and when it began."""
    import psutil

    command = [sys.executable, "-c", "import time; time.sleep(60)", named]
    process = subprocess.Popen(command, env=os.environ | {"PREFECT_API_URL": url}, start_new_session=leads)
    return process, psutil.Process(process.pid).create_time()


def test_runs_that_outlived_a_worker_that_was_killed_are_stopped_and_no_others(tmp_path: Path) -> None:
    state = ServerState(4299, "proctor:x", 0, 0.0)
    server, began = start("server", state.api_url)
    runs = [
        start("prefect.engine", state.api_url)[0],
        start("prefect.engine", state.api_url, leads=False)[0],
        start("prefect.runner._workspace_supervisor", state.api_url)[0],
    ]
    other, _ = start("prefect.engine", "http://127.0.0.1:4298/api")
    state = ServerState(4299, "proctor:x", server.pid, began, worker_pid=2**22 - 1, worker_started=1.0)
    (tmp_path / "prefect").mkdir()
    (tmp_path / "prefect" / "server.json").write_text(dumps(asdict(state)))
    try:
        assert stop_server(Settings(home=tmp_path)) == [*sorted(run.pid for run in runs), server.pid]
        assert [process.wait(5) for process in (*runs, server)] == [-15] * 4
        assert other.poll() is None
    finally:
        for process in (*runs, server, other):
            process.kill()
            process.wait()


@pytest.mark.parametrize(("step_s", "is_ours"), [(1.0, True), (-30.0, True), (3600.0, False)])
def test_a_server_stays_its_home_s_when_the_clock_is_corrected(
    tmp_path: Path, step_s: float, is_ours: bool
) -> None:
    server, began = start("server", "http://127.0.0.1:4299/api")
    state = ServerState(4299, "proctor:x", server.pid, began + step_s)
    (tmp_path / "prefect").mkdir()
    (tmp_path / "prefect" / "server.json").write_text(dumps(asdict(state)))
    try:
        assert read_state(Settings(home=tmp_path)) == (state if is_ours else None)
    finally:
        server.kill()
        server.wait()


def test_a_path_is_the_same_one_for_the_worker_whose_working_folder_is_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name, value in (("BACKUPS", "backups"), ("PUBLIC", "/srv/site"), ("LAKE_DATA", "s3://bucket/lake")):
        monkeypatch.setenv(f"PROCTOR_{name}", value)
    found = build_environment(Settings(home=Path("home")), None)
    assert {name: value for name, value in found.items() if name.startswith("PROCTOR_")} == {
        "PROCTOR_HOME": str(tmp_path / "home"),
        "PROCTOR_BACKUPS": str(tmp_path / "backups"),
        "PROCTOR_PUBLIC": "/srv/site",
    }


# Answers every call at the port of the server whose place it takes.
ANSWERS = """
import http.server, os
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
    def log_message(self, *_): pass
http.server.HTTPServer(("127.0.0.1", int(os.environ["PREFECT_SERVER_API_PORT"])), Handler).serve_forever()
"""


def test_two_commands_at_once_start_one_server_and_leave_it_running(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    settings, begun = Settings(home=tmp_path), list[subprocess.Popen[bytes]]()

    def spawn(_settings: Settings, _arguments: list[str], variables: dict[str, str], *_: object) -> Any:
        command = [sys.executable, "-S", "-c", ANSWERS]
        begun.append(subprocess.Popen(command, env=os.environ | variables, start_new_session=True))
        return begun[-1]

    monkeypatch.setattr(local_server, "_spawn", spawn)
    try:
        with ThreadPoolExecutor(2) as pool:
            first, second = pool.map(_find_server, [settings] * 2)
        assert (first, len(begun), begun[0].poll()) == (second, 1, None)
        assert read_state(settings) == first
        assert "`proctor down` stops it" in capsys.readouterr().err
        assert stop_server(settings) == [first.server_pid]
    finally:
        for process in begun:
            process.kill()
            process.wait()
