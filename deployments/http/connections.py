"""Connections of a server.

This limits how long a request may take to arrive, and how many may wait at once. A request that has not arrived whole is *half
open*. It costs the sender nothing, so that time and number are limited: whoever sends by the byte is cut off, and where there are
too many the oldest half-open ones make place. A request that has arrived is never cut off for others' sake. Uvicorn itself has no
limit for the head, the body or a reply that nobody reads.
"""

from __future__ import annotations

import asyncio
import json
import resource
import ssl
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Final

import h11
import uvicorn

from schemas.errors import ContractError

_SWEEP_S: Final = 0.5
# Files that the process needs beside connections: the ledger's, logs, keys.
_OTHER_FILES: Final = 128
# What of uvicorn's connection is called or overridden here, beside what asyncio defines.
_RELIED_ON: Final = ("on_response_complete", "send_400_response")
_BUSY = json.dumps(
    {"code": "busy", "message": "The server has too many connections. Send the same call again."}
).encode()
_REFUSAL: Final = (
    b"HTTP/1.1 503 Service Unavailable\r\nContent-Type: application/json\r\nConnection: close\r\nRetry-After: 2\r\n"
    b"Content-Length: " + str(len(_BUSY)).encode() + b"\r\n\r\n" + _BUSY
)


@dataclass(frozen=True)
class ConnectionLimits:
    """What a server bears; tests take smaller ones.

    Attributes:
        head_s: seconds in which a request's head arrives, from the connection or its first byte.
        body_s: seconds in which a body arrives, and more with what has come (`bytes_per_s`).
        bytes_per_s: the slowest that a long body may come on average.
        reply_s: seconds that a reply may wait for a caller who does not read.
        connections_per_address: connections of one address.
        connections: connections of all; fewer where the system gives the process fewer files.
    """

    head_s: float = 10.0
    body_s: float = 20.0
    bytes_per_s: float = 10_000.0
    reply_s: float = 30.0
    connections_per_address: int = 4_096
    connections: int = 8_192


class ConnectionTable:
    """The connections of one server, by address, and which of them are half open.

    It is used on the event loop only.

    Args:
        limits: what is borne.
        clock: seconds of a clock that never goes back.
    """

    def __init__(self, limits: ConnectionLimits, clock: Callable[[], float] = time.monotonic) -> None:
        self.limits = limits
        self.clock = clock
        self.most = min(limits.connections, _raise_file_limit() - _OTHER_FILES)
        self._by_address: dict[str, OrderedDict[GuardedProtocol, None]] = {}
        self._half_open: dict[str, OrderedDict[GuardedProtocol, None]] = {}
        self._count = 0
        self._sweep: asyncio.TimerHandle | None = None

    def admit(self, connection: GuardedProtocol) -> bool:
        """Take a new connection in; false when there is no place and none can be made."""
        if self._count >= self.most and not self._make_place():
            return False
        own = self._by_address.setdefault(connection.address, OrderedDict())
        if len(own) >= self.limits.connections_per_address and not self._drop_waiting(own):
            return False
        own[connection] = None
        self._count += 1
        self.note_half_open(connection)
        if self._sweep is None:
            self._sweep = asyncio.get_running_loop().call_later(_SWEEP_S, self._look)
        return True

    def forget(self, connection: GuardedProtocol) -> None:
        """A connection has ended."""
        own = self._by_address.get(connection.address)
        if own is not None and connection in own:
            del own[connection]
            self._count -= 1
            if not own:
                del self._by_address[connection.address]
        self.note_whole(connection)

    def note_half_open(self, connection: GuardedProtocol) -> None:
        """A request has begun and is not whole."""
        self._half_open.setdefault(connection.address, OrderedDict()).setdefault(connection, None)

    def note_whole(self, connection: GuardedProtocol) -> None:
        """Nothing of a request is outstanding."""
        waiting = self._half_open.get(connection.address)
        if waiting is not None and waiting.pop(connection, self) is None and not waiting:
            del self._half_open[connection.address]

    def _look(self) -> None:
        """Cut off what takes too long."""
        now = self.clock()
        self._sweep = None
        for own in list(self._by_address.values()):
            for connection in [one for one in own if one.is_late(now)]:
                connection.cut_off()
        if self._count:
            self._sweep = asyncio.get_running_loop().call_later(_SWEEP_S, self._look)

    def _make_place(self) -> bool:
        """Cut off the busiest address's oldest half-open request, else an idle connection."""
        if self._half_open:
            most = max(self._half_open.values(), key=len)
            next(iter(most)).cut_off()
            return True
        return any(self._drop_waiting(own) for own in list(self._by_address.values()))

    def _drop_waiting(self, own: OrderedDict[GuardedProtocol, None]) -> bool:
        """Cut off an address's oldest half-open or idle connection; false when all are at work."""
        for connection in own:
            if connection.is_half_open or connection.is_idle:
                connection.cut_off()
                return True
        return False


if TYPE_CHECKING:

    class _UvicornConnection(asyncio.Protocol):
        """What is used of the connection that uvicorn's configuration names `h11`.

        `make_protocol_class` puts that connection below this class.
        """

        conn: h11.Connection
        transport: asyncio.Transport
        client: tuple[str, int] | None

        def on_response_complete(self) -> None: ...

        def send_400_response(self, msg: str) -> None: ...

else:
    _UvicornConnection = asyncio.Protocol


class GuardedProtocol(_UvicornConnection):
    """Uvicorn's HTTP/1.1 connection under the limits of its server's table."""

    table: ConnectionTable

    address: str = ""
    since: float = 0.0
    is_half_open: bool = True
    _body_bytes: int = 0
    _is_body: bool = False
    _unread_since: float | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Take the connection in, or answer 503 and close it."""
        super().connection_made(transport)
        self.address = self.client[0] if self.client else ""
        self.since = self.table.clock()
        if not self.table.admit(self):
            transport.write(_REFUSAL)
            transport.close()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection."""
        self.table.forget(self)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Read what came, and note how far the request is."""
        if self.transport.is_closing():
            return
        if self.is_idle:
            self.since = self.table.clock()
        super().data_received(data)
        self._note_state(len(data))

    def on_response_complete(self) -> None:
        """The reply is out; what the caller sent meanwhile may be a next request."""
        super().on_response_complete()
        if not self.transport.is_closing():
            self._note_state(0)

    def pause_writing(self) -> None:
        """The caller does not read its reply."""
        self._unread_since = self.table.clock()
        super().pause_writing()

    def resume_writing(self) -> None:
        """The caller reads again."""
        self._unread_since = None
        super().resume_writing()

    @property
    def is_idle(self) -> bool:
        """Whether it waits for a next request of which nothing has come."""
        return not self.is_half_open and self.conn.their_state is h11.IDLE

    def is_late(self, now: float) -> bool:
        """Whether the request or the reading of its reply takes too long."""
        limits = self.table.limits
        if self._unread_since is not None and now - self._unread_since > limits.reply_s:
            return True
        if not self.is_half_open:
            return False
        allowed = limits.body_s + self._body_bytes / limits.bytes_per_s if self._is_body else limits.head_s
        return now - self.since > allowed

    def cut_off(self) -> None:
        """End the connection at once, whatever is outstanding."""
        self.table.forget(self)
        self.is_half_open = False
        if self.transport is not None:
            self.transport.abort()

    def send_400_response(self, msg: str) -> None:
        """What is no HTTP is answered in the form of every refusal."""
        headers = [(b"content-type", b"application/json"), (b"connection", b"close")]
        body = json.dumps(
            {"code": "request_unreadable", "message": "This is not a request that the server reads."}
        )
        try:
            for event in (
                h11.Response(status_code=400, headers=headers, reason=HTTPStatus.BAD_REQUEST.phrase.encode()),
                h11.Data(data=body.encode()),
                h11.EndOfMessage(),
            ):
                self.transport.write(self.conn.send(event))
        except h11.LocalProtocolError:
            pass  # a reply is under way already: it is all that the caller gets
        self.transport.close()

    def _note_state(self, byte_count: int) -> None:
        """How far the request is, by what HTTP still waits for."""
        state = self.conn.their_state
        is_body = state is h11.SEND_BODY
        if is_body and not self._is_body:
            self._body_bytes, self.since = 0, self.table.clock()
        self._is_body = is_body
        self._body_bytes += byte_count
        # A head of which nothing has come is no request yet: the pause between two of them has its own limit.
        is_half_open = is_body or (state is h11.IDLE and (byte_count > 0 or bool(self.conn.trailing_data[0])))
        if is_half_open != self.is_half_open and not self.transport.is_closing():
            self.is_half_open = is_half_open
            (self.table.note_half_open if is_half_open else self.table.note_whole)(self)


class HandshakeLoop(asyncio.SelectorEventLoop):
    """An event loop whose servers end a TLS handshake that takes longer than a head may."""

    async def create_server(self, *arguments: Any, **options: Any) -> asyncio.Server:
        """See asyncio."""
        if isinstance(options.get("ssl"), ssl.SSLContext):
            options["ssl_handshake_timeout"] = ConnectionLimits.head_s
        return await super().create_server(*arguments, **options)


def make_protocol_class(limits: ConnectionLimits | None = None) -> type[GuardedProtocol]:
    """The connections of one server: a class with a table of its own."""
    table = ConnectionTable(limits or ConnectionLimits())
    return type("ServerConnection", (GuardedProtocol, _find_uvicorn_connection()), {"table": table})


def _find_uvicorn_connection() -> type[asyncio.Protocol]:
    """The class that uvicorn's configuration names `h11`.

    Raises ContractError where the class lacks what is guarded by it. A uvicorn that calls things otherwise
    would serve all the same, without limits.
    """
    config = uvicorn.Config(_serve_nothing, http="h11", ws="none", lifespan="off", log_config=None)
    config.load()
    found = config.http_protocol_class
    missing = [name for name in _RELIED_ON if not callable(getattr(found, name, None))]
    if missing:
        raise ContractError(
            f"uvicorn {uvicorn.__version__}: its HTTP/1.1 connection has no {', '.join(missing)}, so that its requests would have no "
            "limits. Install the version that constraints.txt names."
        )
    return found


async def _serve_nothing(scope: Any, receive: Any, send: Any) -> None:
    """The application of a configuration that serves none."""


def _raise_file_limit() -> int:
    """Let the process hold as many files as the system allows it; returns how many."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = 65_536 if hard == resource.RLIM_INFINITY else min(hard, 65_536)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
        soft = wanted
    return wanted if soft == resource.RLIM_INFINITY else soft
