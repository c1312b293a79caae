"""A process that reads a paper ends with the server that it belongs to, however that ends."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

# A server whose child never comes to an end, as a parser that loops: it says which process that is, and waits for it.
SERVER = """
import sys, time
from tasks.ingest.guard import child

def never(request, results):
    with open(sys.argv[1], "w") as file:
        file.write(str(child.os.getpid()))
    while True:
        pass

child._read_one = never
child.Child(2000).read(b"{}\\n", 600)
"""


def is_running(process: int) -> bool:
    """Whether a process is there and no zombie."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def wait_until(is_so: Callable[[], bool], seconds: float = 60) -> bool:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if is_so():
            return True
        time.sleep(0.05)
    return False


def test_a_reader_that_never_ends_is_ended_with_its_killed_server(tmp_path: Path) -> None:
    note = tmp_path / "pid"
    # it watches its caller, who must be there
    server = subprocess.Popen([sys.executable, "-c", SERVER, str(note)], stdin=subprocess.PIPE)
    try:
        assert wait_until(lambda: note.exists() and note.read_text() != "")
        reader = int(note.read_text())
        assert is_running(reader)
        os.kill(server.pid, signal.SIGKILL)
        server.wait()
        assert wait_until(lambda: not is_running(reader))
    finally:
        server.kill()
        server.communicate()
