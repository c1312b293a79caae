"""`kill -9` of the server at random moments: nothing skipped, doubled or lost."""

from __future__ import annotations

import asyncio
import os
import random
import socket
import time
from pathlib import Path

import pytest

from tasks.exam.protocol import Answer, Lease, Put
from tests.tasks.exam.kit import HttpDoor, check_ledger
from tests.tasks.exam.world import World, make_bank, make_model, make_registry, make_settings, publish
from tests.warm import ROOT, WarmProcess
from warehouse.ledger.engine.opening import open_ledger
from warehouse.ledger.exam import sittings

SERVER = """
import sys
from pathlib import Path
from deployments.http import Listening, serve_exam
from tests.tasks.exam.world import make_settings
home = Path(sys.argv[1])
settings = make_settings(home / "home", ledger_url=f"sqlite:///{home / 'ledger.sqlite'}")
serve_exam(settings, Listening("127.0.0.1", int(sys.argv[2])))
"""


class Server:
    """A server process that is killed and started again on the same port."""

    def __init__(self, home: Path, warm_python: str) -> None:
        self._home, self._python = home, warm_python
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self.process = self._start()

    def _start(self) -> WarmProcess:
        return WarmProcess([self._python, "-c", SERVER, str(self._home), str(self.port)], cwd=ROOT)

    def kill_and_restart(self) -> None:
        self.process.kill()
        self.process.wait()
        self.process = self._start()

    def end(self) -> None:
        self.process.kill()
        self.process.wait()


class Sitter:
    """An outside candidate that notes what it saw and what was acknowledged."""

    def __init__(self, world: World, session_id: str, user_id: str, pause_s: float) -> None:
        self.session_id = session_id
        self._pause_s = pause_s
        self._world = world
        self._user_id = user_id
        self.new: list[int] = []
        self.seen: list[int] = []
        self.acknowledged: dict[int, str] = {}

    async def sit(self, door: HttpDoor) -> None:
        """Answer all questions; after an absence longer than the lease the session is opened again."""
        from schemas.errors import ExamError

        token = self._world.token(self.session_id, user_id=self._user_id)
        secret = f"own-secret-of-{self.session_id}-{'x' * 20}"
        lease = await door.open_session(token, self.session_id, secret)
        put = await self._next(door, token, lease)
        while put is not None:
            response = f"answer {put.seq} of {self.session_id}"
            try:
                receipt, following = await door.submit_and_next(token, lease, put.seq, Answer(response))
            except ExamError as error:
                if error.code == "already_answered":
                    self.acknowledged[put.seq] = response
                else:
                    assert error.code == "lease_expired"
                lease = await door.open_session(token, self.session_id, secret)
                put = await self._next(door, token, lease)
                continue
            assert receipt.seq == put.seq
            self.acknowledged[put.seq] = response
            if following is not None:
                self._note(following)
            put = following
            await asyncio.sleep(self._pause_s)

    async def _next(self, door: HttpDoor, token: str, lease: Lease) -> Put | None:
        put = await door.next_question(token, lease)
        if put is not None:
            self._note(put)
        return put

    def _note(self, put: Put) -> None:
        self.seen.append(put.seq)
        if not put.is_repeat:
            self.new.append(put.seq)


@pytest.mark.slow
def test_a_server_killed_at_random_moments_skips_repeats_and_loses_nothing(
    tmp_path: Path, warm_python: str
) -> None:
    check_kills(tmp_path, warm_python, kills=2, size=40)


@pytest.mark.long
def test_a_hundred_kills_of_the_server(tmp_path: Path, warm_python: str) -> None:
    check_kills(tmp_path, warm_python, kills=100, size=200)


def check_kills(tmp_path: Path, warm_python: str, *, kills: int, size: int) -> None:
    """Nine sessions, whose answers are a little slower than the kills of the server come."""
    seed = int(os.environ.get("PROCTOR_TEST_SEED", str(time.time_ns() % 100_000)))
    print(f"seed {seed}")
    moments = random.Random(seed)
    settings = make_settings(tmp_path / "home", set_size=size, repeats=3, lasting_sets=1)
    registry = make_registry(make_model("alpha"), make_model("rho", roles=("reference",)))
    bank = make_bank(size + 20)
    with open_ledger(f"sqlite:///{tmp_path / 'ledger.sqlite'}") as ledger:
        plan = publish(ledger, settings, registry, bank, candidates=[], outside=["alpha"])
        world = World(ledger, settings, registry, bank, plan, now=time.time())
        sitters = [
            Sitter(world, session.session_id, session.user_id, pause_s=0.1)
            for session in plan.sessions
            if session.model == "alpha"
        ]
        server = Server(tmp_path, warm_python)
        killed = asyncio.run(_sit_under_fire(server, sitters, moments, kills))
        assert killed == kills, f"seed {seed}: the exam was over before it could be disturbed"
        for sitter in sitters:
            kept = world.answers(sitter.session_id)
            assert kept == sitter.acknowledged, f"seed {seed}"
            assert sorted(kept) == list(range(1, size + 1)), f"seed {seed}"
            assert len(sitter.new) == len(set(sitter.new)), f"seed {seed}: given twice as new"
            # A first delivery may be lost with the server: the question then comes as a repeat, in its place.
            assert list(dict.fromkeys(sitter.seen)) == list(range(1, size + 1)), (
                f"seed {seed}: skipped or out of order"
            )
        with ledger.read() as connection:
            statuses = {row.status for row in sittings.list_sessions(connection, user_id="candidate:alpha")}
            assert statuses == {"closed"}
            assert check_ledger(connection).findings == ()


async def _sit_under_fire(server: Server, sitters: list[Sitter], moments: random.Random, kills: int) -> int:
    killed = 0
    try:
        async with HttpDoor(f"http://127.0.0.1:{server.port}", patience_s=120) as door:
            sitting = asyncio.gather(*(sitter.sit(door) for sitter in sitters))
            while killed < kills and not sitting.done():
                before = sum(len(sitter.acknowledged) for sitter in sitters)
                while not sitting.done() and sum(len(s.acknowledged) for s in sitters) == before:  # noqa: ASYNC110
                    await asyncio.sleep(0.01)
                await asyncio.sleep(moments.uniform(0, 0.15))
                if not sitting.done():
                    await asyncio.to_thread(server.kill_and_restart)
                    killed += 1
            await sitting
    finally:
        server.end()
    return killed
