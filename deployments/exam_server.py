"""The exam API as a process: it tells where it listens, writes a line per call, and ends quietly."""

from __future__ import annotations

import contextlib
import socket
import sys
import time
from collections.abc import Awaitable, Callable, MutableMapping
from datetime import UTC, datetime
from typing import Any

import uvicorn

from deployments.exam_api.app import create_app
from deployments.output import print_note
from schemas.errors import UsageError
from schemas.settings import Settings

Scope = MutableMapping[str, Any]
Send = Callable[[Any], Awaitable[None]]
_LONGEST_PATH = 120


def serve_exam(
    settings: Settings, host: str, port: int, *, certificate: str | None = None, key: str | None = None
) -> None:
    """Serve until Ctrl-C or `kill -TERM`; raises UsageError when the address is taken."""
    _check_free(host, port)
    config = uvicorn.Config(
        write_access_lines(create_app(settings)),
        host=host,
        port=port,
        log_level="warning",
        access_log=False,
        server_header=False,
        ssl_certfile=certificate,
        ssl_keyfile=key,
    )
    server = _Server(config, settings, f"{'https' if certificate else 'http'}://{host}:{port}")
    with contextlib.suppress(KeyboardInterrupt):
        server.run()
    print_note("The exam API has stopped; open sessions continue when it is started again.")


def write_access_lines(app: Any) -> Any:
    """The application with a line on standard output per call: time, method, path, status, milliseconds.

    No header, no query and no body is written: tokens travel in them.
    """

    async def logged(scope: Scope, receive: Any, send: Send) -> None:
        if scope["type"] != "http":
            await app(scope, receive, send)
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
            _print_line(scope, status, (time.perf_counter() - started) * 1e3)

    return logged


class _Server(uvicorn.Server):
    """Uvicorn that tells the operator when it listens."""

    def __init__(self, config: uvicorn.Config, settings: Settings, address: str) -> None:
        super().__init__(config)
        self._settings = settings
        self._address = address

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            print_note(
                f"The exam API listens on {self._address} (its description: {self._address}/openapi.json)\n"
                f"Home: {self._settings.home.resolve()}\n"
                "A token for a candidate: proctor exam token USER --session SESSION\n"
                "Stop with Ctrl-C."
            )


def _print_line(scope: Scope, status: int, duration_ms: float) -> None:
    path = "".join(c if c.isprintable() else "?" for c in str(scope["path"]))[:_LONGEST_PATH]
    now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    print(f"{now} {scope['method']} {path} {status} {duration_ms:.0f} ms", file=sys.stdout, flush=True)


def _check_free(host: str, port: int) -> None:
    if not 0 < port < 65_536:
        raise UsageError(f"--port {port} is no port: name one from 1 to 65535.")
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as error:
            raise UsageError(
                f"The exam API cannot listen on {host}, port {port} ({error.strerror}). Name another with --port."
            ) from None
