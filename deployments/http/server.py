"""A server as a process.

It tells where it listens, writes a line per call, and ends quietly. A line on standard output per call.
Strangers have a fixed number of lines a minute; calls beyond it are counted in one line.
"""

from __future__ import annotations

import contextlib
import json
import logging
import socket
import sys
import time
from collections.abc import Awaitable, Callable, Mapping, MutableMapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final

import uvicorn
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

from deployments.command_line.printing import print_note
from deployments.http.connections import ConnectionLimits, make_protocol_class
from deployments.http.listening import Listening
from schemas.errors import UsageError
from schemas.settings import Settings, load_settings
from tasks.running import ServerLines

# A candidate thinks before it answers: with uvicorn's 5 s most answers would pay for a new connection, and TLS for a new handshake.
# An idle connection is the first to go where there are too many (deployments/http/connections.py).
KEEP_ALIVE_S = 75
# What uvicorn writes of a request that is none, or that asks for another protocol.
_STRANGERS_LINES = (
    "Invalid HTTP request received.",
    "Unsupported upgrade request.",
    "No supported WebSocket library detected.",
)

Scope = MutableMapping[str, Any]
Send = Callable[[Any], Awaitable[None]]
LINES_PER_MINUTE: Final = 120
_LONGEST_PATH: Final = 120


def serve_app(
    app: Any,
    name: str,
    listening: Listening,
    *,
    notes: Callable[[str], Sequence[str]],
    ended: str,
    announcement: Callable[[str], str] | None = None,
) -> None:
    """Serve until Ctrl-C or `kill -TERM`; raises UsageError when the address is taken.

    Args:
        app: the application.
        name: what it is called in a sentence.
        listening: where it listens.
        notes: what is printed once it listens, from its address.
        ended: what is printed at the end.
        announcement: from its address, a line for programs that comes first on standard output.
    """
    check_free(name, listening.host, listening.port)
    settings = load_settings()
    is_json = settings.log_format == "json"
    if listening.metrics_port is not None:
        app = _count_calls(settings, name, app, listening.metrics_port)
    _write_own_lines(as_json=is_json)
    config = make_config(
        write_access_lines(app, as_json=is_json),
        proxy=listening.proxy,
        host=listening.host,
        port=listening.port,
        ssl_certfile=listening.certificate,
        ssl_keyfile=listening.key,
    )
    address = listening.address
    server = _Server(config, notes(address), announcement(address) if announcement else "")
    with contextlib.suppress(KeyboardInterrupt):
        server.run()
    print_note(ended)


def make_config(
    app: Any, *, proxy: str | None = None, limits: ConnectionLimits | None = None, **options: Any
) -> uvicorn.Config:
    """How every server of ours listens.

    There are limits on connections and no web sockets, and no word of a stranger appears in a log. What a
    caller says of its own address (`X-Forwarded-For`) is believed from `proxy` alone.
    """
    logging.getLogger("uvicorn.error").addFilter(_leave_out_strangers)
    return uvicorn.Config(
        app if proxy is None else ProxyHeadersMiddleware(app, trusted_hosts=proxy),
        http=make_protocol_class(limits),
        ws="none",
        loop="deployments.http.connections:HandshakeLoop",
        log_level="warning",
        access_log=False,
        # Its own handlers would write tracebacks, whose messages may quote what was read.
        log_config=None,
        server_header=False,
        proxy_headers=False,
        timeout_keep_alive=KEEP_ALIVE_S,
        **options,
    )


def _count_calls(settings: Settings, name: str, app: Any, port: int) -> Any:
    """The application with its calls counted, to be read on that port of this host."""
    from prometheus_client import CollectorRegistry

    from deployments.http.call_metrics import CallMetrics
    from deployments.http.metrics import METRICS_HOST, PATH, open_metrics_server

    registry = CollectorRegistry()
    counted = CallMetrics(name.removeprefix("The "), registry).count(app)
    open_metrics_server(settings, registry, METRICS_HOST, port)
    print_note(f"Metrics: http://{METRICS_HOST}:{port}{PATH}")
    return counted


def _write_own_lines(*, as_json: bool) -> None:
    """Send our lines and uvicorn's to standard error, as settings say, without tracebacks."""
    for name in ("proctor", "uvicorn.error"):
        logger = logging.getLogger(name)
        logger.handlers = [one for one in logger.handlers if not isinstance(one, ServerLines)]
        logger.addHandler(ServerLines(print_note, as_json=as_json))
        logger.propagate = False


def write_access_lines(app: Any, *, as_json: bool = False) -> Any:
    """The application with a line on standard output per call.

    The line gives time, method, path, status and milliseconds. No header, no query and no body is written: tokens
    travel in them. Calls of strangers, who show nothing that the application knows (`state.is_known`), fill no
    disk: beyond so many lines a minute they are counted in one.
    """
    lines = AccessLines(as_json=as_json)

    async def logged(scope: Scope, receive: Any, send: Send) -> None:
        if scope["type"] != "http":
            await app(scope, receive, send)
            if scope["type"] == "lifespan":
                lines.finish()
            return
        started, status = time.perf_counter(), 0

        async def noted(message: Any) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = int(message["status"])
            await send(message)

        try:
            await app(scope, receive, noted)
        finally:
            lines.write(scope, status, (time.perf_counter() - started) * 1e3)

    return logged


class _Server(uvicorn.Server):
    """Uvicorn that tells the operator when it listens."""

    def __init__(self, config: uvicorn.Config, notes: Sequence[str], announcement: str) -> None:
        super().__init__(config)
        self._notes = notes
        self._announcement = announcement

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            if self._announcement:
                print(self._announcement, flush=True)
            print_note("\n".join(self._notes))


def _leave_out_strangers(record: logging.LogRecord) -> bool:
    """Whether a line of uvicorn is one that no stranger can make it write."""
    return not str(record.msg).startswith(_STRANGERS_LINES)


def check_free(name: str, host: str, port: int) -> None:
    """Pass when a server can listen there; raises UsageError."""
    if not 0 < port < 65_536:
        raise UsageError(f"--port {port} is no port: name one from 1 to 65535.")
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as error:
            raise UsageError(
                f"{name} cannot listen on {host}, port {port} ({error.strerror}). Name another with --port."
            ) from None


class AccessLines:
    """The lines of one server.

    Args:
        print_line: where they go; standard output by default.
        clock: seconds of a clock that never goes back.
        as_json: whether each is a JSON object.
    """

    def __init__(
        self,
        print_line: Callable[[str], None] | None = None,
        clock: Callable[[], float] = time.monotonic,
        *,
        as_json: bool = False,
    ) -> None:
        self._as_json = as_json
        self._print = print_line or _print_out
        self._clock = clock
        self._began = clock()
        self._written = 0
        self._left_out = 0

    def write(self, scope: Mapping[str, Any], status: int, duration_ms: float) -> None:
        """Write a call that is over, or count it."""
        if self._clock() - self._began >= 60.0:
            self.finish()
        if not scope.get("state", {}).get("is_known"):
            if self._written >= LINES_PER_MINUTE:
                self._left_out += 1
                return
            self._written += 1
        path = "".join(c if c.isprintable() else "?" for c in str(scope["path"]))[:_LONGEST_PATH]
        if self._as_json:
            self._print_json(method=scope["method"], path=path, status=status, ms=round(duration_ms))
        else:
            self._print(f"{_now()} {scope['method']} {path} {status} {duration_ms:.0f} ms")

    def finish(self) -> None:
        """Say how many calls were left out of the minute that is over, and begin another."""
        if self._left_out and self._as_json:
            self._print_json(left_out=self._left_out)
        elif self._left_out:
            self._print(f"{_now()} {self._left_out:,} more calls of strangers are not written")
        self._began, self._written, self._left_out = self._clock(), 0, 0

    def _print_json(self, **values: Any) -> None:
        line = {"at": _now(), "level": "info", "part": "proctor.access", "event": "call"} | values
        self._print(json.dumps(line, ensure_ascii=False))


def _now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _print_out(line: str) -> None:
    print(line, file=sys.stdout, flush=True)
