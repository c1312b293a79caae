"""A thousand sessions at once over HTTP: errors, latencies, and the server's CPU per request.

    python -m tests.benchmarks.exam_load [--sessions 1000] [--questions 5] [--think 8]

The server is a process of its own (SQLite, synchronous=FULL), the candidates are coroutines of this one, each on connections of
its own. First all sessions ask and answer without a pause: a burst in which everybody waits for everybody. Then each thinks
`--think` seconds (half to one and a half times as long) before every answer. With everybody waiting, a request takes the sessions
times the server's CPU per request; on a machine busy with other work compare that figure, not the wall times.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import secrets
import socket
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import aiohttp
import psutil

from tasks.exam.closing import set_deadlines
from tasks.exam.log.check import check_ledger
from tasks.exam.protocol.keys import open_keys
from tasks.exam.protocol.tokens import issue_token
from tests.tasks.exam.world import make_bank, make_model, make_registry, make_settings, publish
from warehouse.ledger import exam
from warehouse.ledger.engine import open_ledger

SERVER = """
import sys
from pathlib import Path
from deployments.exam_server import serve_exam
from tests.tasks.exam.world import make_settings
home = Path(sys.argv[1])
# A lease that outlasts a burst, also on a machine that is busy with other work.
settings = make_settings(home / "home", ledger_url=f"sqlite:///{home / 'ledger.sqlite'}", lease_s=600)
serve_exam(settings, "127.0.0.1", int(sys.argv[2]))
"""
RESPONSE = "true. Because every power of ten leaves one when it is divided by nine. " * 8


@dataclass
class Load:
    """What came of a load: latencies of all requests (s), refusals and errors by kind, answers acknowledged."""

    latencies: list[float] = field(default_factory=list)
    errors: Counter[str] = field(default_factory=Counter)
    answers: int = 0


def main(arguments: Sequence[str] = ()) -> None:
    """Run both loads and print a line for each."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sessions", type=int, default=1000)
    parser.add_argument("--questions", type=int, default=5)
    parser.add_argument("--think", type=float, default=8.0)
    chosen = parser.parse_args(arguments)
    print(f"\n## {chosen.sessions:,} sessions at once over HTTP, {chosen.questions} questions each\n")
    for name, think_s in (("all at once, no pause", 0.0), (f"{chosen.think:g} s of thinking", chosen.think)):
        load, cpu_s, wall_s = measure_load(chosen.sessions, chosen.questions, think_s)
        latencies = sorted(load.latencies)
        middle, last = (latencies[int(len(latencies) * share)] * 1e3 for share in (0.5, 0.99))
        print(
            f"{name:24} p50 {middle:7.0f} ms  p99 {last:7.0f} ms  {len(latencies):,} requests, {load.answers:,} answers, "
            f"{sum(load.errors.values())} errors {dict(load.errors) or ''} server {cpu_s / len(latencies) * 1e3:.2f} CPU ms a "
            f"request, {wall_s:.0f} s wall"
        )


def measure_load(session_count: int, question_count: int, think_s: float) -> tuple[Load, float, float]:
    """A load on a fresh server: what came of it, the server's CPU and the wall time, in seconds."""
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        settings = make_settings(
            home / "home",
            ledger_url=f"sqlite:///{home / 'ledger.sqlite'}",
            set_size=question_count,
            disciplines=("Law",),
            lasting_sets=1,
            least_share=1,
        )
        models = [make_model(f"m{number}") for number in range(session_count)]
        registry = make_registry(*models, make_model("rho", roles=("reference",)))
        with open_ledger(settings.ledger_address) as ledger:
            bank = make_bank({"Law": question_count}, variants=0)
            plan = publish(ledger, settings, registry, bank)
            set_deadlines(ledger, settings, plan.run_id)  # as planning a month does
            with ledger.read() as connection:
                rows = exam.list_sessions(connection, run_id=plan.run_id)
            sessions = [(row["session_id"], row["user_id"]) for row in rows if row["model"] != "rho"]
        keys = open_keys(settings)
        seats = [(name, issue_token(keys, user, name, ["sit"], 7200).text) for name, user in sessions]
        port = _find_port()
        process = subprocess.Popen(
            [sys.executable, "-c", SERVER, str(home), str(port)],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            url = f"http://127.0.0.1:{port}"
            asyncio.run(_await_server(url))
            usage = psutil.Process(process.pid)
            before, begun = usage.cpu_times(), time.perf_counter()
            load = asyncio.run(_sit_all(url, seats, think_s))
            after, wall_s = usage.cpu_times(), time.perf_counter() - begun
        finally:
            process.terminate()
            process.wait()
        with open_ledger(settings.ledger_address) as ledger, ledger.read() as connection:
            counts = exam.count_sessions(connection, plan.run_id)
            assert not load.errors and counts["closed"] == session_count, (counts, load.errors)
            assert check_ledger(connection).findings == ()
    return load, after.user + after.system - before.user - before.system, wall_s


async def _sit_all(url: str, seats: list[tuple[str, str]], think_s: float) -> Load:
    load = Load()
    # Idle connections are let go before the server does (5 s): a call never meets one that is being closed.
    connector = aiohttp.TCPConnector(limit=0, keepalive_timeout=3)
    timeout = aiohttp.ClientTimeout(total=300)
    async with aiohttp.ClientSession(connector=connector, timeout=timeout) as client:

        async def call(method: str, path: str, headers: dict[str, str], body: Any = None) -> Any:
            begun = time.perf_counter()
            async with client.request(method, url + path, headers=headers, json=body) as reply:
                found = await reply.json()
            load.latencies.append(time.perf_counter() - begun)
            if reply.status != 200:
                load.errors[f"{reply.status} {found.get('code')}"] += 1
            return found

        async def sit(session_id: str, token: str) -> None:
            if think_s:
                await asyncio.sleep(random.uniform(0, think_s))
            headers, path = {"Authorization": f"Bearer {token}"}, f"/sessions/{session_id}"
            lease = await call("POST", f"{path}/open", headers, {"lease_secret": secrets.token_hex(32)})
            headers |= {"X-Lease-Secret": lease["secret"], "X-Lease-Generation": str(lease["generation"])}
            question = (await call("GET", f"{path}/next", headers))["question"]
            while question is not None:
                if think_s:
                    await asyncio.sleep(think_s * random.uniform(0.5, 1.5))
                body = {"seq": question["seq"], "response": RESPONSE, "wants_next": True}
                reply = await call("POST", f"{path}/answers", headers, body)
                load.answers += 1
                question = reply["question"]

        outcomes = await asyncio.gather(*(sit(*seat) for seat in seats), return_exceptions=True)
    load.errors.update(type(outcome).__name__ for outcome in outcomes if outcome is not None)
    return load


async def _await_server(url: str) -> None:
    give_up_at = time.monotonic() + 120
    async with aiohttp.ClientSession() as client:
        while True:
            try:
                async with client.get(f"{url}/health") as reply:
                    if reply.status == 200:
                        return
            except aiohttp.ClientError:
                if time.monotonic() > give_up_at:
                    raise
            await asyncio.sleep(0.1)


def _find_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


if __name__ == "__main__":
    main(sys.argv[1:])
