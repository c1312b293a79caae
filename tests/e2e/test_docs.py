"""Every command shown in README and docs is run, in order.

They are run as a reader would type them after the demo.
"""

from __future__ import annotations

import os
import re
import shlex
import signal
import socket
import subprocess
import time
from dataclasses import replace
from pathlib import Path

import pytest

from tests.e2e.conftest import ROOT, Demo, Home

pytestmark = pytest.mark.prefect

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
# These stay until they are interrupted: they are started, seen to listen, and stopped.
SERVERS = {"proctor exam serve": 8700, "proctor web": 8710, "python -m deployments.model_server": 8800}


def read_commands(page: Path) -> list[str]:
    """The lines of a page's `sh` blocks and the prompts of its `console` blocks.

    Comments are left out.
    """
    commands = []
    for kind, block in re.findall(
        r"^```(sh|console)\n(.*?)^```", page.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE
    ):
        for line in block.replace("\\\n", " ").splitlines():
            if kind == "console" and not line.startswith("$ "):
                continue
            command = re.sub(r"\s+#\s.*$", "", line.removeprefix("$ ")).strip()
            if command and not command.startswith("#"):
                commands.append(command)
    return commands


# In every run what a newcomer types first. Of the other pages each command has tests of its own, and tests/deployments/test_docs_commands.py looks
# whether it is there with its options.
FIRST = ("README.md", "first-month.md")
# Half of what all pages cost.
DEAR = ("analyst.md", "data-engineer.md", "ingest.md", "judging.md", "review.md")
WITH_COMMANDS = [page for page in PAGES if read_commands(page)]


def test_readme_and_pages_show_commands() -> None:
    assert ROOT / "README.md" in WITH_COMMANDS
    assert len(WITH_COMMANDS) >= 4


@pytest.mark.parametrize(
    "pages",
    [
        pytest.param([page for page in WITH_COMMANDS if page.name in FIRST], id="first pages"),
        pytest.param(
            [page for page in WITH_COMMANDS if page.name not in (*FIRST, *DEAR)],
            id="short pages",
            marks=pytest.mark.long,
        ),
        *(
            pytest.param([page], id=page.name, marks=pytest.mark.long)
            for page in WITH_COMMANDS
            if page.name in DEAR
        ),
    ],
)
def test_every_command_of_the_pages_works(pages: list[Path], demo: Demo, tmp_path: Path) -> None:
    commands = [command for page in pages for command in read_commands(page)]
    home = demo.home.copy(tmp_path / "home")
    if any(command.startswith("proctor up") for command in commands):
        # A page starts and stops a server of its own; the shared one is not its to stop.
        (home.path / "prefect" / "server.json").unlink()
    if any(command.startswith("proctor review export") for command in commands):
        # A page is about a batch that waits, and the demo has decided all of its own.
        paper = tmp_path / "history-final.txt"
        paper.write_text(
            "一、判断题\n1. 秦统一于公元前221年。（√）\n2. 唐朝定都洛阳。（×）\n", encoding="utf-8"
        )
        home.run("ingest", str(paper))
    work = tmp_path / "work"
    work.mkdir()
    for name in ("deployments", "docs"):
        (work / name).symlink_to(ROOT / name)
    home = replace(home, work=work, variables={"TMPDIR": str(tmp_path)})
    started: list[subprocess.Popen[bytes]] = []
    try:
        for command in commands:
            run_command(command.replace("/tmp/", f"{tmp_path}/"), home, started)
    finally:
        for process in started:
            os.killpg(process.pid, signal.SIGTERM)
            process.wait(timeout=30)
        if any(command.startswith("proctor up") for command in commands):
            home.run("down", exit_code=None)  # also when a command of the page failed on the way


def run_command(command: str, home: Home, started: list[subprocess.Popen[bytes]]) -> None:
    """Run one line.

    `make` targets are only checked, because they would set up the environment that runs this test.
    """
    if command.startswith("make "):
        target = shlex.split(command)[1]
        done = subprocess.run(["make", "-n", target], cwd=ROOT, capture_output=True, text=True)
        assert done.returncode == 0, f"{command}: {done.stderr}"
        return
    server = next((name for name in SERVERS if command.startswith(name)), None)
    if server is not None:
        process = subprocess.Popen(
            ["bash", "-c", f"exec {command}"], env=home.environment(), cwd=home.work, start_new_session=True
        )
        started.append(process)
        wait_for_port(SERVERS[server], process)
        return
    done = subprocess.run(
        ["bash", "-c", command],
        env=home.environment(),
        cwd=home.work,
        capture_output=True,
        text=True,
        timeout=300,
        stdin=subprocess.DEVNULL,
    )
    assert done.returncode == 0, f"{command}\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}"


def wait_for_port(port: int, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        assert process.poll() is None, "the server ended at once"
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.2)
    raise AssertionError(f"nothing listens on port {port}")
