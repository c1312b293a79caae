"""A link to a PostgreSQL server that takes its time, and counts waits."""

from __future__ import annotations

import asyncio
import contextlib
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path

_SOCKET = ".s.PGSQL.5432"


class SlowLink:
    """A socket before a server's own, over which every piece takes a while.

    Attributes:
        folder: where its socket lies: the `host` of an address.
        wait_count: how often the server has answered something that was sent: a piece sent after an answer, and its answer, are
            one wait, however many statements they hold.
        lost: an answer of the server that holds this is not delivered, once, and its connection ends.
    """

    def __init__(self, server: Path, folder: Path, delay_s: float) -> None:
        self.folder = folder
        self.wait_count = 0
        self.lost: bytes | None = None
        self._server = server
        self._delay_s = delay_s
        self._loop = asyncio.new_event_loop()
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._loop.run_until_complete, args=(self._serve(),))
        self._ended = asyncio.Event()

    def start(self) -> None:
        """Take connections."""
        self._thread.start()
        self._ready.wait(10)

    def stop(self) -> None:
        """End all connections."""
        self._loop.call_soon_threadsafe(self._ended.set)
        self._thread.join(10)
        self._loop.close()

    async def _serve(self) -> None:
        server = await asyncio.start_unix_server(self._join, self.folder / _SOCKET)
        self._ready.set()
        await self._ended.wait()
        server.close()
        # Twice: who is cancelled may only then let go of what it waited for.
        for _ in range(2):
            left = asyncio.all_tasks() - {asyncio.current_task()}
            for task in left:
                task.cancel()
            await asyncio.gather(*left, return_exceptions=True)

    async def _join(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        there, back = await asyncio.open_unix_connection(self._server / _SOCKET)
        last = ""

        def note(side: str) -> None:
            nonlocal last
            self.wait_count += side == "server" and last == "client"
            last = side

        async def carry(side: str, source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
            """Pieces keep their order; a later one does not wait for those before it."""
            under_way: asyncio.Queue[tuple[float, bytes]] = asyncio.Queue()

            async def deliver() -> None:
                while True:
                    due, piece = await under_way.get()
                    await asyncio.sleep(due - self._loop.time())
                    target.write(piece)
                    if not piece:
                        target.close()

            delivery = asyncio.create_task(deliver())
            with contextlib.suppress(OSError):
                while piece := await source.read(1 << 16):
                    note(side)
                    if side == "server" and self.lost is not None and self.lost in piece:
                        self.lost = None
                        break
                    under_way.put_nowait((self._loop.time() + self._delay_s, piece))
            under_way.put_nowait((self._loop.time() + self._delay_s, b""))
            with contextlib.suppress(OSError):
                await delivery

        try:
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.gather(carry("client", reader, back), carry("server", there, writer))
        finally:
            for one in (back, writer):
                one.transport.abort()


@contextlib.contextmanager
def open_slow_link(server: Path, delay_s: float = 0.001) -> Iterator[SlowLink]:
    """A link to the server whose socket lies in a folder; `delay_s` in each direction."""
    with tempfile.TemporaryDirectory(prefix="link-") as folder:
        link = SlowLink(server, Path(folder), delay_s)
        link.start()
        try:
            yield link
        finally:
            link.stop()
