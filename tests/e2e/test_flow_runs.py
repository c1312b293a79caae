"""A command and its Prefect server: started once, left running, used by all.

It also covers how runs are named and how they end.
"""

from __future__ import annotations

import json
import re
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import httpx
import pytest

from deployments.flow_runs.server import fetch_run_lines, read_state
from schemas.errors import ProctorError
from schemas.settings import Settings
from tests.e2e.conftest import Demo, Home
from tests.warm import WarmProcess

pytestmark = pytest.mark.prefect
# Those that start one share it.
OWN_SERVER = pytest.mark.xdist_group("own-server")


@pytest.fixture
def home(home_without_server: Home) -> Home:
    return home_without_server


def start(home: Home, *arguments: str) -> WarmProcess:
    """`proctor` beside others; signals reach it."""
    return WarmProcess(
        [str(home.bin / "proctor"), *arguments],
        env=home.environment(),
        cwd=home.work,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )


def read_prefect(home: Home) -> dict[str, Any]:
    """Runs, artifacts and lines that the server of this home holds.

    They are read over HTTP, because a client costs 3 s of imports each time.
    """
    state = read_state(Settings(home=home.path))
    if state is None:
        return {"runs": [], "artifacts": [], "lines": []}

    def ask(what: str) -> list[dict[str, Any]]:
        name, _, password = state.auth.partition(":")
        answer = httpx.post(f"{state.api_url}/{what}/filter", json={}, auth=(name, password))
        answer.raise_for_status()
        return list(answer.json())

    return {
        "runs": [{"name": run["name"], "state": run["state_name"]} for run in ask("flow_runs")],
        "artifacts": [
            {"key": one["key"], "about": one["description"], "data": one["data"]} for one in ask("artifacts")
        ],
        "lines": [line["message"] for line in ask("logs")],
    }


def write_papers(folder: Path, count: int, questions: int) -> Path:
    folder.mkdir()
    for number in range(count):
        lines = [f"{n}. {folder.name}第{number}份第{n}句是正确的。（√）" for n in range(1, questions + 1)]
        (folder / f"paper-{number}.txt").write_text("\n".join(["一、判断题", *lines]), encoding="utf-8")
    return folder


@pytest.mark.long
@OWN_SERVER
def test_two_commands_at_once_start_one_server_and_leave_it_running(home: Home) -> None:
    papers = [write_papers(home.work / name, 2, 3) for name in ("first", "second")]
    commands = [start(home, "ingest", str(paper)) for paper in papers]
    ended = [command.communicate(timeout=400) for command in commands]
    assert [command.returncode for command in commands] == [0, 0], ended
    told = [errors for _, errors in ended if "proctor down" in errors]
    assert told, "nobody was told that a server was started, and how to stop it"
    assert home.read_json("status")["server"] == "healthy"
    log = (home.path / "prefect" / "server.log").read_text(errors="replace")
    assert log.count("Check out the dashboard") + log.count("Configure Prefect to communicate") <= 2


def test_prefect_shows_what_each_flow_came_to_and_no_text_of_a_question(demo: Demo) -> None:
    seen = read_prefect(demo.home)
    states = {run["name"]: run["state"] for run in seen["runs"]}
    names = ("ingest-10-files", "review_gate-all", "league-demo", "monthly-2026-10", "monthly-2026-11")
    assert [states[name] for name in names] == ["Completed"] * 5
    counted = [one["data"] for one in seen["artifacts"] if one["key"] == "ingest"]
    assert any("| documents.parsed | 10 |" in one for one in counted)
    assert any(line.startswith("ingest_documents finished: documents.parsed 10") for line in seen["lines"])
    assert not re.search(r"[\u4e00-\u9fff]", json.dumps(seen, ensure_ascii=False))


def test_a_server_that_a_command_starts_is_closed_to_others_and_knows_no_key(demo: Demo) -> None:
    """The demo's, which a command started.

    Another user has its port and no password.
    """
    state = read_state(Settings(home=demo.home.path))
    assert state is not None
    api, stranger = state.api_url, {"Origin": "http://evil.example"}
    run_id = "00000000-0000-4000-8000-000000000000"
    attempts = [
        httpx.post(f"{api}/flow_runs/filter", json={}, headers=stranger),
        httpx.delete(f"{api}/flow_runs/{run_id}"),
        httpx.post(f"{api}/work_pools/", json={"name": "mine", "type": "process"}),
        httpx.post(f"{api}/flow_runs/filter", json={}, auth=("proctor", "guessed")),
    ]
    assert [answer.status_code for answer in attempts] == [401, 401, 401, 401]
    assert "access-control-allow-origin" not in attempts[0].headers
    page = httpx.get(f"http://127.0.0.1:{state.port}/dashboard")
    assert page.status_code in (401, 404)

    import psutil

    server = psutil.Process(state.server_pid)
    addresses = {
        one.laddr.ip
        for process in (server, *server.children(recursive=True))
        for one in process.net_connections(kind="inet")
        if one.status == psutil.CONN_LISTEN
    }
    assert addresses == {"127.0.0.1"}
    for process in (server, *server.children(recursive=True)):
        environment = Path(f"/proc/{process.pid}/environ").read_bytes()
        assert b"PREFECT_SERVER_API_AUTH_STRING=" in environment
        assert b"QZXW" not in environment


@pytest.mark.long
@OWN_SERVER
def test_the_lines_of_a_run_are_read_from_the_server_where_another_host_has_its_file(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    home.run("ingest", str(write_papers(home.work / "logged", 2, 3)))
    run = home.read_json("runs", "list")["runs"][0]
    own = home.read_json("logs", run["flow_run_id"])
    state = read_state(Settings(home=home.path))
    assert state is not None
    monkeypatch.setenv("PREFECT_API_URL", state.api_url)
    monkeypatch.setenv("PREFECT_API_AUTH_STRING", state.auth)

    def keep(lines: list[dict[str, Any]]) -> list[tuple[str, str]]:
        return [(one["level"], one["event"]) for one in lines]

    served = keep(fetch_run_lines(run["flow_run_id"]))
    assert len(served) > 3
    assert set(served) <= set(keep(own))
    monkeypatch.setenv("PREFECT_API_URL", "http://127.0.0.1:1/api")
    with pytest.raises(ProctorError, match="does not give the lines"):
        fetch_run_lines(run["flow_run_id"])
    monkeypatch.delenv("PREFECT_API_URL")
    assert fetch_run_lines(run["flow_run_id"]) == []


@pytest.mark.long
@OWN_SERVER
def test_a_flow_in_which_every_document_failed_is_failed_in_prefect(home: Home) -> None:
    damaged = home.work / "damaged.docx"
    damaged.write_bytes(b"PK\x03\x04 broken")
    done = home.run("ingest", str(damaged), "--json", exit_code=1)
    assert len(json.loads(done.stdout)["problems"]) == 1
    assert {"name": "ingest-1-file", "state": "Failed"} in read_prefect(home)["runs"]
    # No step failed: that nothing could be read is found when all of them are done.
    last = home.read_json("logs", "ingest-1-file")[-1]
    assert last["event"].startswith(
        "ingest-1-file failed: None of 1 documents could be read (1 unsupported)."
    )


@pytest.mark.parametrize(
    "number",
    [signal.SIGINT, pytest.param(signal.SIGTERM, marks=pytest.mark.long)],
    ids=lambda number: number.name,
)
def test_an_interrupted_flow_ends_in_a_sentence_and_does_not_stay_running(
    demo: Demo, tmp_path: Path, number: int
) -> None:
    home = demo.home.copy(tmp_path / "home")
    # A name of its own for each run; many, since nothing waits for the signal.
    count = 1500 + number
    papers = write_papers(tmp_path / "papers", count, 30)
    name = f"ingest-{count}-files"
    command = start(home, "ingest", str(papers), "--workers", "1")
    deadline = time.monotonic() + 200
    while sum(run["name"] == name and run["state"] == "Running" for run in read_prefect(home)["runs"]) == 0:
        assert command.poll() is None, "the flow ended before it could be interrupted"
        assert time.monotonic() < deadline
    # Prefect calls a run Running before its first line notes it here.
    while [one["state"] for one in home.read_json("runs", "list")["runs"] if one["name"] == name] != [
        "running"
    ]:
        assert command.poll() is None, "the flow ended before it could be interrupted"
        assert time.monotonic() < deadline
    command.send_signal(number)
    output, errors = command.communicate(timeout=120)
    assert command.returncode == 130, errors
    assert output == ""
    assert [line for line in errors.splitlines() if line.startswith("Error: ")] == [
        "Error: Interrupted. What was acknowledged is kept; run the same command again and it continues."
    ]
    assert "Traceback" not in errors
    runs = [run for run in read_prefect(home)["runs"] if run["name"] == name]
    assert runs == [{"name": name, "state": "Crashed"}]
    assert [run["state"] for run in home.read_json("runs", "list")["runs"] if run["name"] == name] == [
        "crashed"
    ]


@pytest.mark.long
def test_a_server_that_dies_is_an_error_with_the_end_of_its_log(tmp_path: Path) -> None:
    home = Home(tmp_path / "home", tmp_path, {})
    home.run("init")
    broken = Home(home.path, tmp_path, {"PREFECT_API_DATABASE_CONNECTION_URL": "nonsense://nowhere"})
    paper = write_papers(tmp_path / "papers", 1, 1)
    done = broken.run("ingest", str(paper), exit_code=1)
    assert "ended before it answered" in done.stderr
    assert "nonsense" in done.stderr
    assert "--no-server" in done.stderr
    assert home.read_json("status")["server"] == "none"
