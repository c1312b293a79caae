"""`proctor` started warm.

A server that has imported everything forks a process for each command.

A fresh Python needs one to four CPU seconds to import what a command uses; the end-to-end tests run about two hundred
commands. Every command still reads its settings and opens its stores by itself. Prefect reads its environment on
import, and nothing of it is seen in a command (`Aside`) until that imports it or a flow: then it reads the environment
again, as the command has set it. `write_command` makes a `proctor` to put first on PATH: it hands its arguments,
environment, folder and open files to the server, waits, and ends with the same exit code. Signals are not passed on:
tests that kill or interrupt start a `WarmProcess`.

`PYTHON` beside it is a Python that starts warm: it runs `-c CODE` and `-m MODULE`, for what ends or kills itself.

A second server has the readers of papers loaded, and nothing else: what a warm command has papers read by is forked from it.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import json
import os
import runpy
import select
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import Any

from tests.shared import find_shared_folder

ROOT = Path(__file__).resolve().parents[1]
OURS = ("deployments", "flows", "schemas", "tasks", "warehouse")
# Nothing that starts threads on import: a fork copies only the thread that forks.
LIBRARIES = (
    "alembic.command", "duckdb", "duckdb_extension_ducklake", "duckdb_extension_sqlite_scanner", "filelock", "httpx",
    "jinja2", "openai", "openpyxl", "polars", "psutil", "pyarrow", "pydantic_settings", "rich.console", "rich.progress", "rich.table",
    "scipy.stats", "sqlalchemy", "typer", "yaml",
)  # fmt: skip

# What Prefect's own runs use of it.
PREFECT = (
    "prefect", "prefect.artifacts", "prefect.client.orchestration", "prefect.flow_engine", "prefect.runtime", "prefect.task_engine",
    "tasks.running.orchestrator.task",
)  # fmt: skip

# The command that reads papers, beside the sockets.
READER = "read-papers"
# The Python that starts warm, and the first word of what it asks for.
PYTHON = "warm-python"
# The variable that says where the number of the process itself is to be noted.
NOTED = "WARM_PROCESS_NOTED"

CLIENT = """#!{python} -IS
import json, os, signal, socket, sys
with socket.socket(socket.AF_UNIX) as server:
    server.connect({address!r})
    request = json.dumps([{first!r} + sys.argv[1:], dict(os.environ), os.getcwd()]).encode()
    socket.send_fds(server, [len(request).to_bytes(8, "big")], [0, 1, 2])
    server.sendall(request)
    number = server.recv(16, socket.MSG_WAITALL)
    if noted := os.environ.get({noted!r}):
        with open(noted, "wb") as file:
            file.write(number)
    reply = server.recv(64)
# Without a reply the command's process died in a way of its own; what a signal ended ends here by the same one.
code = int(reply) if reply else 70
if code < 0:
    if -code != signal.SIGKILL:
        signal.signal(-code, signal.SIG_DFL)
    os.kill(os.getpid(), -code)
sys.exit(code)
"""


def start_warm(folder: Path, owner: int) -> Path:
    """Start a warm server that ends with the process `owner`.

    Returns the folder of its `proctor`, to be put first on PATH.
    """
    address = folder / "warm.sock"
    # What Prefect reads in the server itself is its own.
    environment = {"PREFECT_HOME": str(folder / "prefect"), "DO_NOT_TRACK": "1"}
    # It returns when the server listens.
    subprocess.run(
        [sys.executable, "-m", "tests.warm", str(address), str(owner)],
        cwd=ROOT,
        env=os.environ | environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        check=True,
    )
    write_command(folder / READER, address.with_name(f"{READER}.sock"))
    write_command(folder / PYTHON, address, PYTHON)
    write_command(folder / "bin" / "proctor", address)
    return folder / "bin"


def write_command(command: Path, address: Path, *first: str) -> None:
    """Write the command that asks the server at `address`; `first` stands before its words."""
    command.parent.mkdir(parents=True, exist_ok=True)
    told = CLIENT.format(python=sys.executable, address=str(address), first=list(first), noted=NOTED)
    command.write_text(told, encoding="utf-8")
    command.chmod(0o755)


class WarmProcess(subprocess.Popen[str]):
    """A program of the warm server that signals reach.

    They go to the process itself, not to the one that asked for it, which ends after it.
    """

    def __init__(self, command: Sequence[str], **options: Any) -> None:
        handle, self._noted = tempfile.mkstemp(prefix="warm-process-", dir=find_shared_folder())
        os.close(handle)
        environment = {**(options.pop("env", None) or os.environ), NOTED: self._noted}
        super().__init__(command, env=environment, text=True, **options)

    def find_number(self) -> int:
        """The number of the process itself, as soon as there is one."""
        while len(noted := Path(self._noted).read_bytes()) < 16:
            if self.poll() is not None:
                raise ProcessLookupError("It ended before it began.")
            time.sleep(0.002)
        return int(noted)

    def send_signal(self, sig: int) -> None:
        """Send a signal to the process itself, unless it has ended."""
        if self.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.find_number(), sig)


class Aside(MetaPathFinder, Loader):
    """Modules that are imported and not seen until one is asked for: then all are there."""

    def __init__(self, names: Iterable[str]) -> None:
        self.modules = {name: sys.modules.pop(name) for name in names}
        # Of packages that are seen; those within Prefect keep theirs.
        self.attributes = [
            (sys.modules[package], name, sys.modules[package].__dict__.pop(name))
            for package, _, name in (name.rpartition(".") for name in self.modules)
            if package in sys.modules
        ]
        sys.meta_path.insert(0, self)

    def find_spec(self, name: str, path: object = None, target: object = None) -> ModuleSpec | None:
        if name not in self.modules:
            return None
        return ModuleSpec(name, self)

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        module = self.modules[spec.name]
        self.own_spec = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        """Show all of them, and have Prefect read its environment, as it does on import."""
        module.__spec__ = self.own_spec
        sys.meta_path.remove(self)
        sys.modules.update(self.modules)
        for package, attribute, value in self.attributes:
            setattr(package, attribute, value)
        importlib.import_module("prefect.context").refresh_global_settings_context()
        configuration = importlib.import_module("prefect.logging.configuration")
        configuration.PROCESS_LOGGING_CONFIG.clear()
        configuration.setup_logging()


def import_all() -> None:
    """Import libraries and all that flows use; Prefect and what is made of it is set aside."""
    for name in LIBRARIES:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    # As plain functions, and Prefect's when a command asks for Prefect.
    for path in sorted((ROOT / "flows").glob("[a-z]*.py")):
        importlib.import_module(f"flows.{path.stem}")
    seen = set(sys.modules)
    for name in PREFECT:
        importlib.import_module(name)
    Aside([name for name in sys.modules if name not in seen and name.split(".")[0] in ("prefect", *OURS)])


def main(address: Path, owner: int) -> None:
    """Leave two processes that fork until `owner` ends.

    One forks for each command, the other for what reads its papers.
    """
    _listen(address.with_name(f"{READER}.sock"), owner, load_readers, _read_papers)
    _listen(address, owner, import_all, partial(_run, address.with_name(READER)))


def load_readers() -> None:
    """Load what the process that reads papers loads, and nothing else.

    The memory that it may have is limited.
    """
    importlib.import_module("tasks.ingest.guard.conversion_server")._preload()


def _listen(
    address: Path,
    owner: int,
    load: Callable[[], object],
    run: Callable[[list[str], dict[str, str], str], int],
) -> None:
    """Return when a process listens that loads, and forks one for each request."""
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(address))
    listener.listen()
    if os.fork():
        listener.close()
        return
    _end_with(owner, os.getpid())
    load()
    # What all share is not looked through, and so not copied, in every process; what a command makes is small.
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 50)
    while True:
        client, _ = listener.accept()
        if os.fork() == 0:
            listener.close()
            _serve(client, run)
        client.close()
        _reap()


def _end_with(owner: int, server: int) -> None:
    """A child that ends the server when whoever it was started for is gone."""
    # Ctrl-C reaches it as well as its owner, whom it has to outlive.
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    if os.fork() == 0:
        with contextlib.suppress(ProcessLookupError):
            select.select([os.pidfd_open(owner)], [], [])
        with contextlib.suppress(ProcessLookupError):
            os.kill(server, signal.SIGTERM)
        os._exit(0)
    signal.signal(signal.SIGINT, before)


def _serve(client: socket.socket, run: Callable[[list[str], dict[str, str], str], int]) -> None:
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
        os._exit(run(arguments, environment, folder))
    client.sendall(f"{pid:16}".encode())
    for file in files:
        os.close(file)
    command = os.pidfd_open(pid)
    if command not in select.select([client.fileno(), command], [], [])[0]:
        os.kill(pid, signal.SIGKILL)  # The client was killed (a time limit): so is its command.
        os._exit(0)
    _, status = os.waitpid(pid, 0)
    code = os.waitstatus_to_exitcode(status)
    client.sendall(str(code).encode())
    os._exit(0)


def _take_over(arguments: list[str], environment: dict[str, str], folder: str) -> None:
    """Be a process that was started so."""
    import io

    os.environ.clear()
    os.environ.update(environment)
    os.chdir(folder)
    sys.argv = ["proctor", *arguments]
    sys.stdin = io.TextIOWrapper(io.FileIO(0, closefd=False), encoding="utf-8")
    sys.stdout = io.TextIOWrapper(io.FileIO(1, "w", closefd=False), encoding="utf-8", write_through=True)
    sys.stderr = io.TextIOWrapper(
        io.FileIO(2, "w", closefd=False), encoding="utf-8", write_through=True, errors="backslashreplace"
    )


def _read_papers(arguments: list[str], environment: dict[str, str], folder: str) -> int:
    """As the module runs that a command starts to have papers read."""
    _take_over(arguments, environment, folder)
    importlib.import_module("tasks.ingest.guard.conversion_server").serve()
    return 0


def _run(reader: Path, arguments: list[str], environment: dict[str, str], folder: str) -> int:
    """The command as the installed script runs it, or a program as Python does.

    Returns its exit code.
    """
    import atexit
    import threading
    import traceback

    _take_over(arguments, environment, folder)
    if arguments[:1] == [PYTHON]:
        run: Callable[[], object] = partial(_run_python, *arguments[1:])
    else:
        run = _prepare_command(reader, arguments)
    code: object = 0
    try:
        run()
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


def _run_python(option: str, program: str, *words: str) -> None:
    """Python's own `-c CODE` and `-m MODULE`."""
    sys.argv = [option, *words]
    if option == "-m":
        runpy.run_module(program, run_name="__main__", alter_sys=True)
        return
    main = sys.modules["__main__"] = ModuleType("__main__")
    exec(compile(program, "<string>", "exec"), main.__dict__)


def _prepare_command(reader: Path, arguments: list[str]) -> Callable[[], object]:
    client: Any = importlib.import_module("tasks.ingest.guard.client")
    client._COMMAND = (str(reader),)
    if arguments[:1] == ["start"]:
        from deployments.guide import talking

        # The guide runs the commands that it shows: these are warm too.
        talking._PROGRAM = ("proctor",)
    from deployments.cli import main as run_command

    return run_command


def _reap() -> None:
    """Collect the processes that have ended."""
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
