"""`proctor` started warm.

A server that has imported the heavy libraries forks a process for each command.

A fresh Python needs one to four CPU seconds to import what a command uses; the end-to-end tests run about two hundred
commands. The server imports libraries and nothing of ours, so that every command still reads its settings, opens its
stores and imports Prefect (which reads its environment once, on import) by itself. `write_command` makes a `proctor`
to put first on PATH: it hands its arguments, environment, folder and open files to the server, waits, and ends with the
same exit code. Signals are not passed on: tests that kill or interrupt start the installed command.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import json
import os
import select
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
# No Prefect, and nothing that starts threads on import: a fork copies only the thread that forks.
LIBRARIES = (
    "alembic.command", "duckdb", "duckdb_extension_ducklake", "duckdb_extension_sqlite_scanner", "filelock", "httpx",
    "jinja2", "openpyxl", "polars", "psutil", "pyarrow", "pydantic_settings", "rich.console", "rich.progress", "rich.table",
    "sqlalchemy", "typer", "yaml",
    # What Prefect imports, and pays most for.
    "anyio", "asyncpg", "cachetools", "cloudpickle", "fastapi", "griffe", "httpcore", "jsonschema", "pendulum", "prometheus_client",
    "rich.console", "sqlalchemy.ext.asyncio", "starlette", "websockets",
)  # fmt: skip

CLIENT = """#!{python} -IS
import json, os, socket, sys
with socket.socket(socket.AF_UNIX) as server:
    server.connect({address!r})
    request = json.dumps([sys.argv[1:], dict(os.environ), os.getcwd()]).encode()
    socket.send_fds(server, [len(request).to_bytes(8, "big")], [0, 1, 2])
    server.sendall(request)
    reply = server.recv(64)
# Without a reply the command's process died in a way of its own.
sys.exit(int(reply) if reply else 70)
"""


@contextmanager
def serve_warm(folder: Path) -> Iterator[Path]:
    """A warm server; yields the folder that holds its `proctor`, to be put first on PATH."""
    address = folder / "warm.sock"
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.warm", str(address)], cwd=ROOT, stdin=subprocess.PIPE
    )
    try:
        deadline = time.monotonic() + 120
        while not address.exists():
            assert process.poll() is None, "the warm server ended at once"
            assert time.monotonic() < deadline, "the warm server did not come up"
            time.sleep(0.05)
        yield write_command(folder / "bin", address)
    finally:
        assert process.stdin is not None
        process.stdin.close()  # The server ends with its last client.
        process.wait(timeout=60)


def write_command(folder: Path, address: Path) -> Path:
    """Write the `proctor` that asks the server at `address`; returns its folder."""
    folder.mkdir(parents=True, exist_ok=True)
    command = folder / "proctor"
    command.write_text(CLIENT.format(python=sys.executable, address=str(address)), encoding="utf-8")
    command.chmod(0o755)
    return folder


def main(address: str) -> None:
    """Import, listen, and fork once per command until standard input is closed."""
    for name in LIBRARIES:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    # What all share is not looked through, and so not copied, in every process; what a command makes is small.
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 50)
    draft = f"{address}.draft"
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(draft)
    listener.listen()
    Path(draft).rename(address)
    _end_with_standard_input(os.getpid())
    while True:
        client, _ = listener.accept()
        if os.fork() == 0:
            listener.close()
            _serve(client)
        client.close()
        _reap()


def _end_with_standard_input(server: int) -> None:
    """A child that ends the server when whoever started it is gone."""
    if os.fork() == 0:
        sys.stdin.buffer.read()
        with contextlib.suppress(ProcessLookupError):
            os.kill(server, 15)
        os._exit(0)


def _serve(client: socket.socket) -> None:
    """In a process of its own: fork the command, wait for it, answer with its exit code."""
    head, files, _, _ = socket.recv_fds(client, 8, 3)
    length, body = int.from_bytes(head, "big"), b""
    while len(body) < length:
        body += client.recv(length - len(body))
    arguments, environment, folder = json.loads(body)
    pid = os.fork()
    if pid == 0:
        client.close()
        for number, file in enumerate(files):
            os.dup2(file, number)
            os.close(file)
        os._exit(_run(arguments, environment, folder))
    for file in files:
        os.close(file)
    ended, status = 0, 0
    while not ended:
        ended, status = os.waitpid(pid, os.WNOHANG)
        if not ended and select.select([client], [], [], 0.01)[0]:
            os.kill(pid, signal.SIGKILL)  # The client was killed (a time limit): so is its command.
            os._exit(0)
    code = os.waitstatus_to_exitcode(status)
    client.sendall(str(code if code >= 0 else 128 - code).encode())
    os._exit(0)


def _run(arguments: list[str], environment: dict[str, str], folder: str) -> int:
    """The command as the installed script runs it; returns its exit code."""
    import atexit
    import io
    import threading
    import traceback

    os.environ.clear()
    os.environ.update(environment)
    os.chdir(folder)
    sys.argv = ["proctor", *arguments]
    sys.stdin = io.TextIOWrapper(io.FileIO(0, closefd=False), encoding="utf-8")
    sys.stdout = io.TextIOWrapper(io.FileIO(1, "w", closefd=False), encoding="utf-8", write_through=True)
    sys.stderr = io.TextIOWrapper(
        io.FileIO(2, "w", closefd=False), encoding="utf-8", write_through=True, errors="backslashreplace"
    )
    if arguments[:1] == ["start"]:
        from deployments.guide import talking

        # The guide runs the commands that it shows: these are warm too.
        talking._PROGRAM = ("proctor",)
    code: object = 0
    try:
        from deployments.cli import main as run_command

        run_command()
    except SystemExit as leaving:
        code = leaving.code
    except BaseException:
        traceback.print_exc()
        code = 1
    # As the interpreter ends: threads that hold work (Prefect's events) finish it first.
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    return code if isinstance(code, int) else int(code is not None)


def _reap() -> None:
    """Collect the processes that have ended."""
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


if __name__ == "__main__":
    main(sys.argv[1])
