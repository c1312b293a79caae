"""A thousand sessions at once over HTTP.

It measures answers per second, latencies, errors, and what an answer costs in each part.

    python -m tests.benchmarks.exam_load [--store postgresql] [--processes 2] [--sessions 1000] [--seconds 60] [--think 8]

The servers are processes of their own, as many as asked for, on one ledger: SQLite (synchronous=FULL), or a PostgreSQL server of
the benchmark's own (fsync on, every commit waited for), opened by the role that the exam API has. The candidates are coroutines
of this process, each on connections of its own, and every call goes to the next server in turn, as from a proxy that keeps no
one with a server. First all sessions ask and answer without a pause, then each thinks `--think` seconds (half to one and a
half times as long) before every answer. Afterwards every acknowledged answer is looked for in the ledger, and the audit log is
checked. With everybody waiting, a request takes the sessions times the server's CPU per request; on a machine busy with other
work compare that figure, not the wall times.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import itertools
import os
import random
import secrets
import socket
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import aiohttp
import psutil

from deployments.http.server import KEEP_ALIVE_S
from schemas.settings import Settings
from tasks.exam.protocol.tokens import issue_token, open_keys
from tests.tasks.exam.answer_rows import read_response_rows
from tests.tasks.exam.kit import check_ledger, set_deadlines
from tests.tasks.exam.world import make_bank, make_model, make_registry, make_settings, publish
from tests.warehouse.ledger.postgresql import start_postgresql
from warehouse.ledger.engine.exam_role import grant_role
from warehouse.ledger.engine.ledger import Ledger
from warehouse.ledger.engine.opening import open_ledger
from warehouse.ledger.exam import sittings

SERVER = """
import sys
from pathlib import Path
from deployments.http import Listening, serve_exam
from tests.tasks.exam.world import make_settings
# A lease that outlasts a burst, also on a machine that is busy with other work.
settings = make_settings(Path(sys.argv[1]), exam_database_url=sys.argv[2], lease_s=600)
serve_exam(settings, Listening("127.0.0.1", int(sys.argv[3])))
"""
RESPONSE = "true. Because every power of ten leaves one when it is divided by nine. " * 8
# More than the servers can take in a second: no session runs out of questions before the time is up.
_ANSWERS_PER_S = 1500


@dataclass
class Load:
    """What came of a load.

    Attributes:
        latencies: of all requests, in seconds, by what was asked (`open`, `next`, `answers`).
        errors: refusals and faults by kind.
        answers: sequence numbers that were acknowledged, by session.
        wall_s: from the first request to the last reply.
        cpu_s: CPU seconds of the servers (`api`), of PostgreSQL (`database`) and of the candidates (`candidates`).
        peak_mb: memory of the largest server.
        connections: to PostgreSQL, at most.
    """

    latencies: dict[str, list[float]] = field(default_factory=lambda: {"open": [], "next": [], "answers": []})
    errors: Counter[str] = field(default_factory=Counter)
    answers: dict[str, list[int]] = field(default_factory=dict)
    wall_s: float = 0.0
    cpu_s: dict[str, float] = field(default_factory=dict)
    peak_mb: float = 0.0
    connections: int = 0

    @property
    def answer_count(self) -> int:
        return sum(map(len, self.answers.values()))


@dataclass(frozen=True)
class _Site:
    """Where a load goes: a run whose sessions wait, and what the servers open."""

    settings: Settings
    exam_url: str
    seats: list[tuple[str, str]]
    database: psutil.Process | None


def main(arguments: Sequence[str] = ()) -> None:
    """Run the loads that are asked for and print a line for each."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--store", choices=("sqlite", "postgresql"), default="sqlite")
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--sessions", type=int, default=1000)
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--think", type=float, default=8.0)
    parser.add_argument("--only", choices=("burst", "think"))
    chosen = parser.parse_args(arguments)
    print(
        f"\n## {chosen.sessions:,} sessions at once over HTTP for {chosen.seconds:g} s: {chosen.store}, {chosen.processes} servers\n"
    )
    loads = {"burst": ("no pause", 0.0), "think": (f"{chosen.think:g} s of thinking", chosen.think)}
    for kind, (name, think_s) in loads.items():
        if chosen.only in (None, kind):
            load = measure_load(
                chosen.store,
                process_count=chosen.processes,
                session_count=chosen.sessions,
                seconds=chosen.seconds,
                think_s=think_s,
            )
            print(render_load(name, load), flush=True)


def render_load(name: str, load: Load) -> str:
    """A load as a few lines."""
    answers = load.answer_count
    if not answers:
        return f"{name}: nothing to measure, no answer in {load.wall_s:.0f} s; {dict(load.errors) or 'more --seconds bring some'}"
    lines = [
        f"{name}: {answers:,} answers in {load.wall_s:.0f} s = {answers / load.wall_s:.0f} a second; "
        f"{sum(load.errors.values())} errors {dict(load.errors) or ''}"
    ]
    for what, found in load.latencies.items():
        if latencies := sorted(found):
            middle, last = (latencies[int(len(latencies) * share)] * 1e3 for share in (0.5, 0.99))
            lines.append(f"  {what:8} {len(latencies):8,} calls  p50 {middle:7.0f} ms  p99 {last:7.0f} ms")
    shares = ", ".join(f"{part} {cpu_s / answers * 1e3:.2f}" for part, cpu_s in load.cpu_s.items())
    lines.append(
        f"  CPU ms an answer: {shares}; largest server {load.peak_mb:.0f} MB; {load.connections} connections to the database"
    )
    return "\n".join(lines)


def measure_load(
    store: str, *, process_count: int, session_count: int, seconds: float, think_s: float
) -> Load:
    """A load on fresh servers.

    Raises AssertionError where an acknowledged answer is not in the ledger, or the audit log does not hold.
    """
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as stack:
        home = Path(folder) / "home"
        if store == "postgresql":
            server = stack.enter_context(start_postgresql(is_durable=True))
            ledger_url = server.new_ledger_url()
            number = (server.folder / "db" / "postmaster.pid").read_text().split()[0]
            database = psutil.Process(int(number))
        else:
            ledger_url, database = f"sqlite:///{Path(folder) / 'ledger.sqlite'}", None
        question_count = max(5, round(seconds * _ANSWERS_PER_S / session_count))
        settings = make_settings(
            home,
            ledger_url=ledger_url,
            set_size=question_count,
            disciplines=("Law",),
            lasting_sets=1,
            least_share=1,
        )
        ledger = stack.enter_context(open_ledger(settings.ledger_address))
        seats = _publish(ledger, settings, session_count, question_count)
        exam_url = (
            grant_role(ledger, "proctor_exam").address
            if database is not None
            else f"sqlite:///{Path(folder) / 'ledger.exam.sqlite'}"
        )
        load = _measure(_Site(settings, exam_url, seats, database), process_count, seconds, think_s)
        with ledger.read() as connection:
            for session_id, acknowledged in load.answers.items():
                kept = {row["seq"] for row in read_response_rows(connection, [session_id])}
                assert set(acknowledged) <= kept, session_id
            assert check_ledger(connection).findings == ()
    return load


def _publish(
    ledger: Ledger, settings: Settings, session_count: int, question_count: int
) -> list[tuple[str, str]]:
    """A run with so many sessions: the session and its token, for each."""
    models = [make_model(f"m{number}") for number in range(session_count)]
    registry = make_registry(*models, make_model("rho", roles=("reference",)))
    plan = publish(ledger, settings, registry, make_bank({"Law": question_count}, variants=0))
    set_deadlines(ledger, settings, plan.run_id)  # as planning a month does
    with ledger.read() as connection:
        rows = sittings.list_sessions(connection, run_id=plan.run_id)
    keys = open_keys(settings)
    return [
        (row.session_id, issue_token(keys, row.user_id, row.session_id, ["sit"], 7200).text)
        for row in rows
        if row.model != "rho"
    ]


def _measure(site: _Site, process_count: int, seconds: float, think_s: float) -> Load:
    """Start the servers, let everybody sit, and take what it cost."""
    ports = [_find_port() for _ in range(process_count)]
    # Only what a server needs: the benchmark's variables name stores of somebody else.
    variables = {name: value for name, value in os.environ.items() if not name.startswith("PROCTOR_")}
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", SERVER, str(site.settings.home), site.exam_url, str(port)],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env=variables,
        )
        for port in ports
    ]
    try:
        urls = [f"http://127.0.0.1:{port}" for port in ports]
        asyncio.run(_await_servers(urls))
        servers = [psutil.Process(process.pid) for process in processes]
        usage = {"api": servers, "candidates": [psutil.Process()]}
        before = {part: _read_cpu(found) for part, found in usage.items()}
        database_before = _read_tree_cpu(site.database)
        load = asyncio.run(_sit_all(urls, site, seconds, think_s))
        load.cpu_s = {part: _read_cpu(found) - before[part] for part, found in usage.items()}
        if site.database is not None:
            load.cpu_s["database"] = _read_tree_cpu(site.database) - database_before
        load.peak_mb = max(found.memory_info().rss for found in servers) / 1e6
    finally:
        for process in processes:
            process.terminate()
        for process in processes:
            process.wait()
    return load


def _read_cpu(processes: Sequence[psutil.Process]) -> float:
    return sum(sum(found.cpu_times()[:2]) for found in processes)


def _read_tree_cpu(process: psutil.Process | None) -> float:
    """CPU of a PostgreSQL server.

    It is its own, that of the children that are there, and that of those that have ended.
    """
    if process is None:
        return 0.0
    ended = process.cpu_times()
    return (
        _read_cpu([process, *process.children(recursive=True)]) + ended.children_user + ended.children_system
    )


def _count_backends(process: psutil.Process) -> int:
    """Connections to a PostgreSQL server: its children that serve a client say where it is."""
    served = 0
    for child in process.children():
        with contextlib.suppress(psutil.Error):
            served += "proctor_exam" in " ".join(child.cmdline())
    return served


async def _sit_all(urls: Sequence[str], site: _Site, seconds: float, think_s: float) -> Load:
    """All sessions sit until the time is up."""
    load = Load()
    turns: Iterator[str] = itertools.cycle(urls)
    # Idle connections are let go long before the server does: a call never meets one that is being closed.
    connector = aiohttp.TCPConnector(limit=0, keepalive_timeout=KEEP_ALIVE_S / 2)
    timeout = aiohttp.ClientTimeout(total=300)
    async with aiohttp.ClientSession(connector=connector, timeout=timeout) as client:
        begun = time.monotonic()

        async def call(what: str, method: str, path: str, headers: dict[str, str], body: Any = None) -> Any:
            started = time.perf_counter()
            async with client.request(
                method, f"{next(turns)}{path}/{what}", headers=headers, json=body
            ) as reply:
                found = await reply.json()
            load.latencies[what].append(time.perf_counter() - started)
            if reply.status != 200:
                load.errors[f"{reply.status} {found.get('code')}"] += 1
                raise PermissionError
            return found

        async def sit(session_id: str, token: str) -> None:
            if think_s:
                await asyncio.sleep(random.uniform(0, think_s))
            acknowledged = load.answers.setdefault(session_id, [])
            headers, path = {"Authorization": f"Bearer {token}"}, f"/sessions/{session_id}"
            lease = await call("open", "POST", path, headers, {"lease_secret": secrets.token_hex(32)})
            headers |= {"X-Lease-Secret": lease["secret"], "X-Lease-Generation": str(lease["generation"])}
            question = (await call("next", "GET", path, headers))["question"]
            while question is not None and time.monotonic() - begun < seconds:
                if think_s:
                    await asyncio.sleep(think_s * random.uniform(0.5, 1.5))
                body = {"seq": question["seq"], "response": RESPONSE, "wants_next": True}
                reply = await call("answers", "POST", path, headers, body)
                acknowledged.append(question["seq"])
                question = reply["question"]

        async def watch() -> None:
            while True:
                await asyncio.sleep(2)
                if site.database is not None:
                    load.connections = max(load.connections, _count_backends(site.database))

        watching = asyncio.create_task(watch())
        outcomes = await asyncio.gather(*(sit(*seat) for seat in site.seats), return_exceptions=True)
        load.wall_s = time.monotonic() - begun
        watching.cancel()
    load.errors.update(
        type(outcome).__name__
        for outcome in outcomes
        if outcome is not None and not isinstance(outcome, PermissionError)
    )
    return load


async def _await_servers(urls: Sequence[str]) -> None:
    give_up_at = time.monotonic() + 120
    async with aiohttp.ClientSession() as client:
        for url in urls:
            while True:
                with contextlib.suppress(aiohttp.ClientError):
                    async with client.get(f"{url}/health") as reply:
                        if reply.status == 200:
                            break
                if time.monotonic() > give_up_at:
                    raise TimeoutError(f"no server answers at {url}")
                await asyncio.sleep(0.1)


def _find_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


if __name__ == "__main__":
    main(sys.argv[1:])
