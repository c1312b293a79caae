"""A Prefect server and worker on this machine, in the background.

They serve this PROCTOR_HOME only.

An embedded server takes 15–20 s of CPU to start, so the first command that needs one starts it and leaves it running for
the others. A busy machine only makes that slow: as long as the process lives, it is waited for. Its state file holds a password and is
readable by its owner alone; a process is signalled only after its start time proved that it is still ours.
"""

from __future__ import annotations

import json
import os
import secrets
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from deployments.command_line.printing import print_note
from deployments.flow_runs.environment import list_plain_variables
from schemas.errors import ProctorError, StoreError
from schemas.settings import TOML_VARIABLE, Settings, find_toml, resolve_variables
from warehouse.stores.prefect_database import copy_empty_database, keep_empty_database
from warehouse.stores.whole_files import writing_whole

HEARTBEAT_S = 10.0
LOG_LINES = 12
STOP_TIMEOUT_S = 8.0
# By so much a correction of the clock may move when a process began: the kernel counts from the start of the machine.
_CLOCK_STEP_S = 60.0
# What a run is that a worker of Prefect's started, and what it is for seconds before that.
_RUN_MODULES = {"prefect.engine", "prefect.runner._workspace_supervisor"}


@dataclass(frozen=True)
class ServerState:
    """What `proctor up` started."""

    port: int
    auth: str
    server_pid: int
    server_started: float
    worker_pid: int | None = None
    worker_started: float | None = None

    @property
    def api_url(self) -> str:
        """Where the API listens."""
        return f"http://127.0.0.1:{self.port}/api"


def prefect_home(settings: Settings) -> Path:
    """Folder of Prefect's own state."""
    return settings.home.resolve() / "prefect"


def create_prefect_home(settings: Settings) -> None:
    """Make the folder of Prefect's state. Raises StoreError.

    PROCTOR_HOME belongs to its owner alone.
    """
    try:
        is_new = not settings.home.exists()
        prefect_home(settings).mkdir(parents=True, exist_ok=True)
        if is_new:
            settings.home.chmod(0o700)
    except OSError as error:
        raise StoreError(
            f"PROCTOR_HOME {settings.home} cannot be written ({error.strerror}); choose another folder."
        ) from None


def build_environment(settings: Settings, state: ServerState | None) -> dict[str, str]:
    """Environment variables under which Prefect runs here.

    With them it is quiet and closed, and has its state under PROCTOR_HOME.
    """
    variables = {
        "PREFECT_HOME": str(prefect_home(settings)),
        "PREFECT_PROFILES_PATH": str(prefect_home(settings) / "profiles.toml"),
        "DO_NOT_TRACK": "1",
        "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
        "PREFECT_CLOUD_ENABLE_ORCHESTRATION_TELEMETRY": "false",
        "PREFECT_TELEMETRY_ENABLE_RESOURCE_METRICS": "false",
        # The lines of our own logger go to the flow run: ids and counts. Prefect's own stay out.
        "PREFECT_LOGGING_TO_API_ENABLED": "true",
        "PREFECT_LOGGING_EXTRA_LOGGERS": "proctor",
        # Of a run that is about to begin it has no id yet; our own file has that line.
        "PREFECT_LOGGING_TO_API_WHEN_MISSING_FLOW": "ignore",
        "PREFECT_LOGGING_LEVEL": os.environ.get("PREFECT_LOGGING_LEVEL", "CRITICAL"),
        "PREFECT_RESULTS_PERSIST_BY_DEFAULT": "false",
        # Prefect would start a server of its own without a password where it is told of none.
        "PREFECT_SERVER_ALLOW_EPHEMERAL_MODE": "false",
        "PREFECT_CLI_PROMPT": "false",
        **resolve_variables(settings),
        "PROCTOR_HOME": str(settings.home.resolve()),
    }
    if (toml := find_toml()) is not None:
        # A worker's folder is another than the one in which this file was found.
        variables[TOML_VARIABLE] = str(toml.resolve())
    if state is not None:
        variables |= {"PREFECT_API_URL": state.api_url, "PREFECT_API_AUTH_STRING": state.auth}
    return variables


def read_state(settings: Settings) -> ServerState | None:
    """The running server of this PROCTOR_HOME, or None when there is none (or a dead one)."""
    state = read_started(settings)
    return state if state is not None and _is_ours(state.server_pid, state.server_started) else None


def has_worker(state: ServerState) -> bool:
    """Whether the worker that was started with the server still runs."""
    return _is_ours(state.worker_pid, state.worker_started)


def start_server(settings: Settings, *, with_worker: bool = True, with_ui: bool = False) -> ServerState:
    """Start what is missing of server and worker, and wait until the server answers.

    The wait lasts however long that takes.

    Raises ProctorError with the last lines of the server's log when its process ends.
    """
    from filelock import FileLock, Timeout

    create_prefect_home(settings)
    lock = FileLock(prefect_home(settings) / "up.lock")
    heartbeat = _Heartbeat("Waiting for another command that is starting the Prefect server")
    while True:
        # The lock falls back when its holder dies, so that waiting for it has an end.
        try:
            lock.acquire(timeout=1.0)
            break
        except Timeout:
            heartbeat.beat()
    try:
        state = read_state(settings)
        if state is None:
            # A worker that outlived its server would wait for it for ever.
            stop_server(settings)
            is_new = not copy_empty_database(prefect_home(settings))
            state = _start_server(settings, with_ui=with_ui)
            _await_health(settings, state)
            if is_new:
                keep_empty_database(prefect_home(settings))
        _await_health(settings, state)
        if with_worker and not _is_ours(state.worker_pid, state.worker_started):
            state = _start_worker(settings, state)
        return state
    finally:
        lock.release()


def stop_server(settings: Settings) -> list[int]:
    """Stop the worker and the server of this PROCTOR_HOME, and runs that outlived their worker.

    Returns the process ids that were stopped.
    """
    path = _state_path(settings)
    state = read_started(settings)
    if state is None:
        path.unlink(missing_ok=True)
        return []
    stopped = [pid for pid, started in _list_processes(state) if pid is not None and _stop(pid, started)]
    # Another command may have found the server dead meanwhile and started one: that one's state stays.
    if read_started(settings) == state:
        path.unlink(missing_ok=True)
    return stopped


def read_started(settings: Settings) -> ServerState | None:
    """What was started last and not stopped, whether it still runs or not.

    Returns None where nothing was started, or where it cannot be read.
    """
    try:
        return ServerState(**json.loads(_state_path(settings).read_text()))
    except (FileNotFoundError, ValueError, TypeError):
        return None


def is_healthy(state: ServerState) -> bool:
    """Whether the server answers a call that shows our password."""
    import base64

    token = base64.b64encode(state.auth.encode()).decode()
    return _ask_status(state, "/api/admin/version", 2.0, {"Authorization": f"Basic {token}"}) == 200


def has_page(state: ServerState) -> bool:
    """Whether the server serves Prefect's web page."""
    return _ask_status(state, "/", 5.0, {}) in (200, 307, 308)


def _ask_status(state: ServerState, path: str, timeout_s: float, headers: Mapping[str, str]) -> int | None:
    """The status of the server's reply; null where it gives none."""
    import http.client

    connection = http.client.HTTPConnection("127.0.0.1", state.port, timeout=timeout_s)
    try:
        connection.request("GET", path, headers=headers)
        return connection.getresponse().status
    except (OSError, http.client.HTTPException):
        return None
    finally:
        connection.close()


def _start_server(settings: Settings, *, with_ui: bool) -> ServerState:
    port = _free_port()
    auth = f"proctor:{secrets.token_urlsafe(24)}"
    variables = {
        "PREFECT_SERVER_API_AUTH_STRING": auth,
        "PREFECT_SERVER_CORS_ALLOWED_ORIGINS": f"http://127.0.0.1:{port}",
        "PREFECT_SERVER_API_HOST": "127.0.0.1",
        "PREFECT_SERVER_API_PORT": str(port),
        "PREFECT_SERVER_UI_ENABLED": "true" if with_ui else "false",
        # Who holds a deployment's only place must be known after a restart: held in memory, a place whose run was ended with the
        # server would never be free again, and the schedule never run.
        "PREFECT_SERVER_CONCURRENCY_LEASE_STORAGE": "prefect.server.concurrency.lease_storage.filesystem",
        # Block types of Prefect's integrations: 3 CPU seconds, and nothing here uses one.
        "PREFECT_API_BLOCKS_REGISTER_ON_START": "false",
        "PREFECT_API_URL": f"http://127.0.0.1:{port}/api",
        "PREFECT_API_AUTH_STRING": auth,
    }
    arguments = ["prefect", "server", "start", "--host", "127.0.0.1", "--port", str(port)] + (
        [] if with_ui else ["--no-ui"]
    )
    # It calls no model and opens no store of ours: it is given neither keys nor addresses.
    process = _spawn(settings, arguments, variables, "server.log", list_plain_variables(os.environ))
    state = ServerState(port, auth, process.pid, _start_time(process.pid))
    _write_state(settings, state)
    return state


def _await_health(settings: Settings, state: ServerState) -> None:
    """Wait until the server answers, as long as its process lives."""
    heartbeat = _Heartbeat("Waiting for the Prefect server to answer")
    while not is_healthy(state):
        if not _is_ours(state.server_pid, state.server_started):
            _state_path(settings).unlink(missing_ok=True)
            log = prefect_home(settings) / "server.log"
            raise ProctorError(
                f"The Prefect server on port {state.port} ended before it answered. Its log {log} ends with:\n"
                f"{_read_end(log)}\nCorrect the cause, then run the command again; or add --no-server to do without one."
            )
        heartbeat.beat()
        time.sleep(0.2)


class _Heartbeat:
    """A line now and then while something is waited for."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._started = self._last = time.monotonic()

    def beat(self) -> None:
        now = time.monotonic()
        if now - self._last >= HEARTBEAT_S:
            self._last = now
            print_note(f"{self._text} ({now - self._started:.0f} s so far) …")


def _read_end(log: Path) -> str:
    lines = log.read_text(errors="replace").splitlines() if log.exists() else []
    return "\n".join(f"  {line}" for line in lines[-LOG_LINES:]) or "  (nothing)"


def _start_worker(settings: Settings, state: ServerState) -> ServerState:
    variables = build_environment(settings, state)
    # Its flow runs call the models: they inherit the keys from it.
    arguments = ["deployments.cli", "worker", "--name", "local"]
    process = _spawn(settings, arguments, variables, "worker.log", os.environ)
    state = ServerState(
        **{**asdict(state), "worker_pid": process.pid, "worker_started": _start_time(process.pid)}
    )
    _write_state(settings, state)
    return state


def _spawn(
    settings: Settings,
    arguments: list[str],
    variables: Mapping[str, str],
    log_name: str,
    inherited: Mapping[str, str],
) -> subprocess.Popen[bytes]:
    environment = dict(inherited) | build_environment(settings, None) | dict(variables)
    log_path = prefect_home(settings) / log_name
    descriptor = os.open(log_path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    with os.fdopen(descriptor, "ab") as log:
        return subprocess.Popen(
            [sys.executable, "-m", *arguments],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            env=environment,
            cwd=Path(__file__).resolve().parents[3],
            start_new_session=True,
        )


def _list_processes(state: ServerState) -> Iterator[tuple[int | None, float | None]]:
    """What is to be stopped, in this order: process and when it began."""
    import psutil

    yield state.worker_pid, state.worker_started
    # A worker that was killed could not end its runs: they would call models on.
    for process in psutil.process_iter():
        with suppress(psutil.Error):
            is_run = not _RUN_MODULES.isdisjoint(process.cmdline())
            if is_run and process.environ().get("PREFECT_API_URL") == state.api_url:
                yield process.pid, float(process.create_time())
    yield state.server_pid, state.server_started


def _stop(pid: int, started: float | None) -> bool:
    """End our process group; SIGKILL when SIGTERM is not enough, as Prefect's workers need it."""
    if not _is_ours(pid, started):
        return False
    _signal(pid, signal.SIGTERM)
    deadline = time.monotonic() + STOP_TIMEOUT_S
    while _is_ours(pid, started) and time.monotonic() < deadline:
        time.sleep(0.1)
    if _is_ours(pid, started):
        _signal(pid, signal.SIGKILL)
    return True


def _signal(pid: int, number: int) -> None:
    # A run of a pool that has a command of its own leads no group.
    with suppress(ProcessLookupError):
        (os.killpg if os.getpgid(pid) == pid else os.kill)(pid, number)


def _is_ours(pid: int | None, started: float | None) -> bool:
    import psutil

    if pid is None or started is None:
        return False
    try:
        process = psutil.Process(pid)
        is_same = abs(float(process.create_time()) - started) < _CLOCK_STEP_S
        return is_same and str(process.status()) != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def _start_time(pid: int) -> float:
    import psutil

    return float(psutil.Process(pid).create_time())


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _state_path(settings: Settings) -> Path:
    return prefect_home(settings) / "server.json"


def _write_state(settings: Settings, state: ServerState) -> None:
    with writing_whole(_state_path(settings)) as draft:
        draft.write_text(json.dumps(asdict(state)))
