"""What every reply of the web desk tells the browser, and which other sites are refused."""

from __future__ import annotations

from typing import Final

from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

# Nothing but our own files: no script or style in a page, so that one stored in a question does not run.
_POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types proctor"
)
_HEADERS: Final = (
    (b"content-security-policy", _POLICY.encode()),
    (b"x-frame-options", b"DENY"),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"same-origin"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"permissions-policy", b"camera=(), geolocation=(), microphone=()"),
)
# Of our own files: an address with a digest changes with the file; one without is asked for again.
_KEPT: Final = {True: b"public, max-age=31536000, immutable", False: b"no-cache"}
_SAFE_METHODS: Final = ("GET", "HEAD", "OPTIONS")


class SecurityHeaders:
    """Adds the headers to every reply, and refuses changes that another site's page sends."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        is_static = scope["path"].startswith("/static/")

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = list(message.get("headers", ()))
                names = {name for name, _ in headers}
                headers += [header for header in _HEADERS if header[0] not in names]
                if b"cache-control" not in names:
                    # Pages hold questions and are never kept.
                    value = _KEPT[bool(scope["query_string"])] if is_static else b"no-store"
                    headers.append((b"cache-control", value))
                message = {**message, "headers": headers}
            await send(message)

        if scope["method"] not in _SAFE_METHODS and _is_from_elsewhere(Headers(scope=scope)):
            refusal = PlainTextResponse("This request came from a page of another site.", 403)
            await refusal(scope, receive, send_with_headers)
            return
        await self._app(scope, receive, send_with_headers)


def _is_from_elsewhere(headers: Headers) -> bool:
    """Whether the browser says that another site's page sent this; programs say nothing."""
    if headers.get("sec-fetch-site") in ("cross-site", "same-site"):
        return True
    origin = headers.get("origin")
    return origin is not None and origin.partition("://")[2] != headers.get("host", "")
