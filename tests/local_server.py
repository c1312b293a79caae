"""Small HTTP servers on this machine, each for the length of a block."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class Handler(BaseHTTPRequestHandler):
    """What such a server does with a request; it writes no lines of its own."""

    def read_json(self) -> dict[str, Any]:
        """The body of the request; empty where there is none."""
        body: dict[str, Any] = json.loads(self.rfile.read(int(self.headers["Content-Length"] or 0)) or b"{}")
        return body

    def send(self, status: int, said: object, headers: Mapping[str, str] | None = None) -> None:
        """Answer with bytes as they are, or with anything else as JSON."""
        content = said if isinstance(said, bytes) else json.dumps(said).encode()
        self.send_response(status)
        for name, value in {"Content-Type": "application/json", **(headers or {})}.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: object) -> None:
        """Quiet."""


@contextmanager
def serve(handler: type[BaseHTTPRequestHandler]) -> Iterator[int]:
    """The port of a server that answers so."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield server.server_port
    finally:
        server.shutdown()
        server.server_close()
