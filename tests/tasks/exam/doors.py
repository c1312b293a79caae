"""Both doors to one ledger, for tests that must hold through either."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import threading
import time
from collections.abc import Awaitable, Callable, Iterator
from typing import Any, TypeVar

import uvicorn

from deployments.exam_api import create_app
from deployments.http.server import make_config
from tasks.exam.doors import Door, HttpDoor
from tasks.exam.protocol.machine import ExamProtocol
from tasks.exam.protocol.moves import SeatRules
from tests.tasks.exam.world import World

T = TypeVar("T")


class DoorToTheExam:
    """Runs coroutines against a door: `call(lambda door: door.next_question(…))`."""

    def __init__(self, name: str, make: Callable[[], Any]) -> None:
        self.name = name
        self._make = make

    def call(self, operation: Callable[[Door], Awaitable[T]]) -> T:
        async def run() -> T:
            async with self._make() as door:
                return await operation(door)

        return asyncio.run(run())


@contextlib.contextmanager
def open_direct(world: World, *, is_in_house: bool = False) -> Iterator[DoorToTheExam]:
    protocol = ExamProtocol(
        world.ledger,
        world.keys,
        SeatRules(lease_s=world.settings.lease_s, is_in_house=is_in_house),
        clock=world.clock,
    )
    yield DoorToTheExam("direct", lambda: contextlib.nullcontext(protocol))


@contextlib.contextmanager
def open_http(world: World) -> Iterator[DoorToTheExam]:
    """A real server on 127.0.0.1 in a thread, over the same ledger and the same clock."""
    app = create_app(world.settings, ledger=world.ledger)
    with serve_app(app) as url:
        app.state.protocol = ExamProtocol(
            world.ledger, world.keys, SeatRules(lease_s=world.settings.lease_s), clock=world.clock
        )
        yield DoorToTheExam("http", lambda: HttpDoor(url, patience_s=2.0))


@contextlib.contextmanager
def serve_app(app: Any, **options: Any) -> Iterator[str]:
    """As `proctor exam serve` listens, in a thread; `options` are those of make_config."""
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    server = uvicorn.Server(make_config(app, **options))
    thread = threading.Thread(target=lambda: server.run(sockets=[listener]), daemon=True)
    thread.start()
    give_up_at = time.monotonic() + 30
    while not server.started:
        assert thread.is_alive() and time.monotonic() < give_up_at, "the server did not start"
        time.sleep(0.01)
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join(20)
        listener.close()
