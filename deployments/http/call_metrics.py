"""Numbers of a server's calls for Prometheus; no name of a person, address or content."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any, Final

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
)

Scope = MutableMapping[str, Any]
Send = Callable[[Any], Awaitable[None]]
_SECONDS: Final = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
# What no route of ours is: strangers may ask for anything, and must not make a new line each time.
_UNKNOWN_ROUTE: Final = "other"
_METHODS: Final = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")


class CallMetrics:
    """How many calls a server had, of which route, how they ended and how long they took."""

    def __init__(self, server: str, registry: CollectorRegistry) -> None:
        self._server = server
        self._calls = Counter(
            "proctor_http_requests",
            "Calls that are over.",
            ("server", "method", "route", "status"),
            registry=registry,
        )
        self._seconds = Histogram(
            "proctor_http_request_seconds",
            "How long a call took.",
            ("server", "route"),
            registry=registry,
            buckets=_SECONDS,
        )
        self._in_flight = Gauge(
            "proctor_http_requests_in_flight", "Calls under way.", ("server",), registry=registry
        )

    def count(self, app: Any) -> Any:
        """The application, its calls counted."""

        async def counted(scope: Scope, receive: Any, send: Send) -> None:
            if scope["type"] != "http":
                await app(scope, receive, send)
                return
            status, started = 0, time.perf_counter()

            async def noted(message: Any) -> None:
                nonlocal status
                if message["type"] == "http.response.start":
                    status = int(message["status"])
                await send(message)

            in_flight = self._in_flight.labels(self._server)
            in_flight.inc()
            try:
                await app(scope, receive, noted)
            finally:
                in_flight.dec()
                route = _name_route(scope)
                method = scope["method"] if scope["method"] in _METHODS else _UNKNOWN_ROUTE
                self._calls.labels(self._server, method, route, str(status)).inc()
                self._seconds.labels(self._server, route).observe(time.perf_counter() - started)

        return counted


def _name_route(scope: Scope) -> str:
    """The route's pattern, never the path: that holds names of sessions, without end."""
    route = scope.get("route")
    path = getattr(route, "path", None)
    return str(path) if path else _UNKNOWN_ROUTE
