"""Connections that do not end what they begin, at a real server with small limits."""

from __future__ import annotations

import contextlib
import http.client
import json
import logging
import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from urllib.parse import urlparse

import pytest

from deployments.http.connections import ConnectionLimits, make_protocol_class
from schemas.errors import ContractError
from tests.tasks.exam.doors import serve_app

ROOT = Path(__file__).parents[3]
QUICK = ConnectionLimits(head_s=1.0, body_s=1.0, reply_s=1.0)
HEAD = b"GET /x HTTP/1.1\r\nHost: here\r\nX-Long: "
BODY = b"POST /x HTTP/1.1\r\nHost: here\r\nContent-Length: 1000\r\n\r\n"


async def echo(scope: Any, receive: Any, send: Any) -> None:
    """Reads the whole body; tells who called, and sends as many bytes as the path names."""
    if scope["type"] != "http":
        return
    while True:
        message = await receive()
        if message["type"] != "http.request" or not message["more_body"]:
            break
    wanted = scope["path"].strip("/")
    content = b"x" * int(wanted) if wanted.isdigit() else json.dumps({"client": scope["client"][0]}).encode()
    await send({"type": "http.response.start", "status": 200, "headers": []})
    for start in range(0, len(content), 65_536):
        await send({"type": "http.response.body", "body": content[start : start + 65_536], "more_body": True})
    await send({"type": "http.response.body", "body": b""})


@contextlib.contextmanager
def serve(limits: ConnectionLimits = QUICK, **options: Any) -> Iterator[int]:
    with serve_app(echo, limits=limits, lifespan="off", **options) as url:
        port = urlparse(url).port
        assert port is not None
        yield port


def connect(port: int, sent: bytes = b"") -> socket.socket:
    made = socket.create_connection(("127.0.0.1", port), timeout=10)
    made.sendall(sent)
    return made


def wait_for_end(made: socket.socket, drip: bytes = b"") -> float:
    """Seconds until the server ends the connection, while it is sent a byte now and then."""
    began = time.monotonic()
    made.settimeout(0.1)
    while time.monotonic() - began < 15:
        try:
            made.sendall(drip)
            if made.recv(100) == b"":
                return time.monotonic() - began
        except TimeoutError:
            continue
        except OSError:
            return time.monotonic() - began
    raise AssertionError("the connection was borne for fifteen seconds")


def ask(port: int, path: str = "/", headers: dict[str, str] | None = None) -> tuple[int, bytes]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
    try:
        connection.request("GET", path, headers=headers or {})
        reply = connection.getresponse()
        return reply.status, reply.read()
    finally:
        connection.close()


def test_a_request_that_does_not_arrive_is_cut_off_and_others_are_served() -> None:
    with serve() as port, ThreadPoolExecutor(6) as pool:
        kept = connect(port)
        kept.sendall(b"GET /0 HTTP/1.1\r\nHost: here\r\n\r\n")
        assert kept.recv(1000).startswith(b"HTTP/1.1 200")
        slow: list[tuple[socket.socket, bytes]] = [
            (connect(port), b""),  # nothing at all
            (connect(port, b"G"), b""),
            (connect(port, HEAD), b"a"),  # a head by the byte
            (connect(port, BODY), b""),
            (connect(port, BODY), b"a"),  # a body by the byte
            (kept, b"G"),  # the head of a second request by the byte
        ]
        ends = [pool.submit(wait_for_end, made, drip) for made, drip in slow]
        assert ask(port)[0] == 200
        seconds = [end.result() for end in ends]
        for made, _ in slow:
            made.close()
    assert all(0.5 < one < 10 for one in seconds), seconds


def test_a_long_body_that_keeps_coming_is_taken() -> None:
    limits = ConnectionLimits(head_s=1.0, body_s=0.5, bytes_per_s=10_000)
    with serve(limits) as port:
        made = connect(port, b"POST / HTTP/1.1\r\nHost: here\r\nContent-Length: 60000\r\n\r\n")
        for _ in range(6):
            made.sendall(b"x" * 10_000)
            time.sleep(0.25)
        made.settimeout(10)
        assert made.recv(100).startswith(b"HTTP/1.1 200")
        made.close()


def test_a_reply_that_nobody_reads_is_given_up() -> None:
    with serve() as port:
        made = socket.socket()
        made.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        made.connect(("127.0.0.1", port))
        made.sendall(b"GET /50000000 HTTP/1.1\r\nHost: here\r\n\r\n")
        time.sleep(3.0)
        made.settimeout(10)
        received = 0
        with contextlib.suppress(OSError):
            while chunk := made.recv(1_000_000):
                received += len(chunk)
        made.close()
        assert received < 50_000_000
        assert ask(port)[0] == 200


def test_where_there_are_too_many_the_oldest_half_open_ones_make_place() -> None:
    limits = ConnectionLimits(head_s=60.0, connections_per_address=20, connections=20)
    with serve(limits) as port:
        half = [connect(port, HEAD) for _ in range(60)]
        assert [ask(port)[0] for _ in range(5)] == [200] * 5
        time.sleep(0.3)
        alive = 0
        for made in half:
            made.settimeout(0.01)
            try:
                alive += made.recv(10) != b""
            except TimeoutError:
                alive += 1
            except OSError:
                pass
            made.close()
    assert 0 < alive <= 20


def test_where_all_places_are_at_work_the_next_is_told_to_come_again() -> None:
    limits = ConnectionLimits(reply_s=60.0, connections_per_address=3, connections=3)
    with serve(limits) as port:
        busy = []
        for _ in range(3):
            made = socket.socket()
            made.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            made.connect(("127.0.0.1", port))
            made.sendall(b"GET /50000000 HTTP/1.1\r\nHost: here\r\n\r\n")
            busy.append(made)
        time.sleep(0.5)
        made = connect(port)
        made.settimeout(10)
        reply = made.recv(1000)
        for one in (made, *busy):
            one.close()
    assert reply.startswith(b"HTTP/1.1 503 ")
    assert b"Retry-After: 2" in reply
    assert b'"code": "busy"' in reply


def test_junk_is_answered_in_the_form_of_every_refusal_and_writes_no_line(
    caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    junk = [
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + os.urandom(200),
        b"GET\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
        b"GET / HTTP/1.1\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: a\r\nX: " + b"a" * 1_000_000 + b"\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: a\r\nX: \x00\r\n\r\n",
    ]
    with caplog.at_level(logging.WARNING), serve() as port:
        heads = []
        for sent in junk:
            made = connect(port)
            made.settimeout(10)
            with contextlib.suppress(OSError):
                made.sendall(sent)
            data = b""
            with contextlib.suppress(OSError):
                while chunk := made.recv(4000):
                    data += chunk
            heads.append(data)
            made.close()
        upgraded = ask(port, headers={"Connection": "Upgrade", "Upgrade": "websocket"})
        assert ask(port)[0] == 200
    assert upgraded[0] == 200
    assert {head.split(b"\r\n")[0] for head in heads} <= {b"HTTP/1.1 400 Bad Request", b""}
    assert sum(b"request_unreadable" in head for head in heads) >= 5
    assert caplog.records == []
    assert capfd.readouterr() == ("", "")


def test_what_a_caller_says_of_its_own_address_is_believed_from_the_proxy_alone() -> None:
    said = {"X-Forwarded-For": "192.0.2.7", "Forwarded": "for=192.0.2.7"}
    with serve() as port:
        assert json.loads(ask(port, headers=said)[1]) == {"client": "127.0.0.1"}
    with serve(proxy="127.0.0.1") as port:
        assert json.loads(ask(port, headers=said)[1]) == {"client": "192.0.2.7"}
        # What the caller itself wrote before the proxy added the true address is not the last of the list.
        both = {"X-Forwarded-For": "203.0.113.9, 192.0.2.7"}
        assert json.loads(ask(port, headers=both)[1]) == {"client": "192.0.2.7"}
    with serve(proxy="192.0.2.200") as port:
        assert json.loads(ask(port, headers=said)[1]) == {"client": "127.0.0.1"}


FLOOD = """
import asyncio, resource, sys
port, count, sent = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3].encode().decode("unicode_escape").encode()
soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 10_000), hard))
async def hold():
    while True:
        try:
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(sent)
            while True:
                writer.write(b"a")
                await asyncio.wait_for(writer.drain(), 5)
                try:
                    if not await asyncio.wait_for(reader.read(100), 1):
                        break
                except TimeoutError:
                    pass
            writer.close()
        except (OSError, TimeoutError):
            pass
        await asyncio.sleep(0.2)
async def main():
    tasks = [asyncio.create_task(hold()) for _ in range(count)]
    await asyncio.sleep(2)
    print("holding", flush=True)
    await asyncio.gather(*tasks)
asyncio.run(main())
"""


def _measure(count: int, call: Callable[[], Any]) -> list[float]:
    seconds = []
    for _ in range(count):
        began = time.perf_counter()
        call()
        seconds.append(time.perf_counter() - began)
        time.sleep(0.01)
    return sorted(seconds)


@pytest.mark.long
@pytest.mark.parametrize("sent", [HEAD, BODY, b""], ids=["heads", "bodies", "nothing"])
def test_three_thousand_half_open_requests_starve_nobody(sent: bytes) -> None:
    with serve(ConnectionLimits()) as port:
        quiet = _measure(300, lambda: ask(port))
        text = sent.decode().encode("unicode_escape").decode()
        flood = subprocess.Popen(
            [sys.executable, "-c", FLOOD, str(port), "3000", text], stdout=subprocess.PIPE, cwd=ROOT
        )
        try:
            assert flood.stdout is not None
            assert flood.stdout.readline() == b"holding\n"
            statuses: list[int] = []
            besieged = _measure(300, lambda: statuses.append(ask(port)[0]))
        finally:
            flood.kill()
            flood.communicate()
    print(f"p50/p99 quiet {quiet[150] * 1e3:.1f}/{quiet[297] * 1e3:.1f} ms, ", end="")
    print(f"besieged {besieged[150] * 1e3:.1f}/{besieged[297] * 1e3:.1f} ms")
    assert statuses == [200] * 300
    assert besieged[150] < max(0.25, quiet[150] * 20)
    assert besieged[297] < max(2.0, quiet[297] * 20)


def test_a_uvicorn_whose_connections_could_not_be_guarded_serves_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("deployments.http.connections._RELIED_ON", ("on_response_complete", "on_renamed"))
    with pytest.raises(ContractError, match=r"has no on_renamed.*constraints\.txt"):
        make_protocol_class()
