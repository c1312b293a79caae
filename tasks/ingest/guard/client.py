"""The conversion servers of this process, started when needed, replaced when they die."""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import subprocess
import sys
import threading
from typing import Any

from tasks.ingest.guard import make_environment

# What starts a server.
_COMMAND = (sys.executable, "-m", "tasks.ingest.guard.conversion_server")


class _Server:
    """One conversion server process, used by one thread at a time."""

    def __init__(self) -> None:
        self.process = subprocess.Popen(
            _COMMAND,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=make_environment(),
        )

    def ask(self, request: dict[str, Any]) -> dict[str, Any]:
        # as ASCII: names may hold bytes that are no UTF-8
        assert self.process.stdin is not None and self.process.stdout is not None
        self.process.stdin.write(json.dumps(request).encode() + b"\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line.endswith(b"\n"):
            raise BrokenPipeError
        reply: dict[str, Any] = json.loads(line)
        return reply

    def close(self) -> None:
        for stream in (self.process.stdin, self.process.stdout):
            if stream is not None:
                with contextlib.suppress(OSError):
                    stream.close()
        try:
            self.process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


_idle: list[_Server] = []
_lock = threading.Lock()
_owner = os.getpid()


def ask(request: dict[str, Any]) -> dict[str, Any]:
    """Hand a request to an idle server, or to a new one; one that died is replaced once."""
    global _owner
    for attempt in (1, 2):
        with _lock:
            if _owner != os.getpid():  # a fork inherited our servers: they belong to the parent
                _idle.clear()
                _owner = os.getpid()
            server = _idle.pop() if _idle else None
        server = server or _Server()
        try:
            reply = server.ask(request)
        except (BrokenPipeError, OSError, json.JSONDecodeError):
            server.close()
            if attempt == 2:
                break
            continue
        with _lock:
            _idle.append(server)
        return reply
    return {"failed": "crashed", "message": "The conversion process could not be started or died twice."}


@atexit.register
def close_servers() -> None:
    """End the conversion servers of this process; they start again when needed."""
    with _lock:
        servers, _idle[:] = list(_idle), []
    if _owner == os.getpid():
        for server in servers:
            server.close()
