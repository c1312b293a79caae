"""What a closed run costs the ledger before and after it has left it.

    python -m tests.benchmarks archive_cost [answers of the large run, default 100000]

First 10 candidates sit 100 questions each, with paid calls that are answered at once and a judge's call for each answer: bytes an answer
that the ledger grew by, on SQLite and on PostgreSQL. Then a run whose rows are written as they would lie there (texts are random, so that
nothing is packed that could not be packed in truth) leaves the ledger in a process of its own: CPU seconds, peak memory, bytes in the lake.
"""

from __future__ import annotations

import hashlib
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from sqlalchemy import insert, update

from tasks.exam.closed import close_run, land_closed_sessions
from tasks.running.archives import archive_run
from tests.benchmarks.history_cost import read_peak_mb
from tests.benchmarks.ledger_waits import sit
from tests.tasks.exam.world import MONTH, make_settings
from tests.warehouse.ledger.postgresql import start_postgresql
from warehouse.lake import open_lake
from warehouse.ledger.engine import tables as t
from warehouse.ledger.engine.copies.purging import return_space
from warehouse.ledger.engine.integrity import measure_size
from warehouse.ledger.engine.ledger import Ledger
from warehouse.ledger.engine.opening import open_ledger

QUESTIONS_PER_SESSION = 1000
_WORDS = [
    "first",
    "make",
    "clear",
    "what",
    "is",
    "asked",
    "then",
    "compare",
    "with",
    "known",
    "point",
    "by",
    "point",
    "final",
    "answer",
]


def main(answers: int = 100_000) -> None:
    """Print a line for each engine and size."""
    with start_postgresql() as server:
        for name in ("SQLite", "PostgreSQL"):
            with tempfile.TemporaryDirectory() as folder:
                url = None if name == "SQLite" else server.new_ledger_url()
                print(f"{name}, 10 × 100: {measure_sitting(Path(folder), url)}", flush=True)
        for name in ("SQLite", "PostgreSQL"):
            with tempfile.TemporaryDirectory() as folder:
                url = "" if name == "SQLite" else server.new_ledger_url()
                code = (
                    f"from tests.benchmarks import archive_cost as a; a.run({folder!r}, {url!r}, {answers})"
                )
                done = subprocess.run(
                    [sys.executable, "-c", code], capture_output=True, text=True, check=True
                )
                print(f"{name}, {answers:,} answers: {done.stdout.strip()}", flush=True)


def measure_sitting(home: Path, url: str | None) -> str:
    """Bytes an answer that a sitting adds to the ledger, before and after its rows have left it."""
    settings = make_settings(home, ledger_url=url)
    with open_ledger(settings.ledger_address) as ledger, open_lake(settings) as lake:
        empty = _measure(ledger)
        sit(ledger, home, 10, 100)
        close_run(ledger, MONTH)
        full = _measure(ledger)
        land_closed_sessions(ledger, lake)
        gone = archive_run(ledger, lake, MONTH)
        return_space(ledger)
        left = _measure(ledger)
    return f"{(full - empty) / 1000:,.0f} bytes an answer before, {(left - empty) / 1000:,.0f} after; {gone}"


def run(home: str, url: str, answers: int) -> None:
    """Write a large run, let it leave the ledger, and print what that took."""
    settings = make_settings(Path(home), ledger_url=url or None)
    with open_ledger(settings.ledger_address) as ledger, open_lake(settings) as lake:
        empty = _measure(ledger)
        write_run(ledger, answers // QUESTIONS_PER_SESSION)
        full = _measure(ledger)
        lake.query("SELECT 1")
        cpu, began, longest = time.process_time(), time.perf_counter(), 0.0
        steps: list[float] = [began]
        archive_run(ledger, lake, "large", step=lambda _: steps.append(time.perf_counter()))
        cpu, wall = time.process_time() - cpu, time.perf_counter() - began
        longest = max((b - a for a, b in zip(steps[1::2], steps[2::2], strict=False)), default=0.0)
        space = time.process_time()
        return_space(ledger)
        space, left = time.process_time() - space, _measure(ledger)
    stored = sum(path.stat().st_size for path in Path(home).rglob("archived_rows/**/*.parquet"))
    print(
        f"{(full - empty) / answers:,.0f} bytes an answer before, {(left - empty) / answers:,.0f} after, {stored / answers:,.0f} in the lake; "
        f"{cpu:.1f} CPU s ({wall:.0f} s, longest transaction {longest:.1f} s), space {space:.1f} CPU s, peak {read_peak_mb():,.0f} MB"
    )


def write_run(ledger: Ledger, session_count: int) -> None:
    """Rows of a closed run as a sitting with one judge leaves them; nothing of it is proven."""
    drawn = random.Random(1)

    def text(count: int) -> str:
        return " ".join(drawn.choices(_WORDS, k=count))

    def digest() -> str:
        return hashlib.sha256(drawn.randbytes(16)).hexdigest()

    at, number = "2026-01-10T10:00:00.000000+00:00", 0
    first = {
        "run_id": "large",
        "month": "2026-01",
        "season": "2026",
        "bank_version": 1,
        "reference_model": "rho",
    }
    first |= {"repetition": "", "set_size": QUESTIONS_PER_SESSION, "policy": "shared", "status": "closed"}
    first |= {"is_simulated": False, "planned_at": at, "closed_at": at}
    with ledger.write() as connection:
        connection.execute(
            insert(t.set_numbers).values(
                set_id="s", season="2026", set_number=1, bank_version=1, is_simulated=False, created_at=at
            )
        )
        connection.execute(insert(t.runs).values(first))
        connection.execute(insert(t.run_plans).values(run_id="large", seed="", plan={}))
    for place in range(session_count):
        name = f"large-{place:05d}"
        session: dict[str, object] = {
            "session_id": name,
            "run_id": "large",
            "set_id": "s",
            "user_id": "u",
            "model": f"m{place}",
        }
        session |= {
            "organisation": f"o{place}",
            "prompt_style": "zero_shot",
            "repeat": 1,
            "is_reference": False,
        }
        session |= {"is_simulated": False, "question_count": QUESTIONS_PER_SESSION, "status": "closed"}
        rows: dict[str, list[dict[str, object]]] = {
            "allocations": [],
            "responses": [],
            "llm_calls": [],
            "access_log": [],
        }
        for seq in range(1, QUESTIONS_PER_SESSION + 1):
            answer, key = text(45), digest()
            lineage = digest()[:36]
            rows["allocations"].append(
                {
                    "session_id": name,
                    "seq": seq,
                    "lineage_uuid": lineage,
                    "allocated_at": at,
                    "delivered_at": at,
                }
            )
            rows["responses"].append(
                {"session_id": name, "seq": seq, "response": answer, "answer_status": "answered", "finish_reason": "stop",
                 "input_tokens": 100, "output_tokens": 60, "cost_usd": 0.01, "latency_ms": 900.0, "attempts": 1,
                 "prompt_version": "zero_shot/1", "call_key": key, "answered_at": at}
            )  # fmt: skip
            for purpose, unit, of, reply in (
                ("exam", name, key, answer),
                ("judge", f"{name}/judge/prompt-1", digest(), text(20)),
            ):
                rows["llm_calls"].append(
                    {"call_key": of, "purpose": purpose, "run_id": "large", "unit": unit, "endpoint": "http://127.0.0.1:9/v1",
                     "model": "m", "status": "done", "attempts": 1, "reply": {"text": reply, "status": "answered"}, "input_tokens": 100,
                     "output_tokens": 60, "cost_usd": 0.01, "latency_ms": 900.0, "started_at": at, "finished_at": at, "extra_usd": 0.0}
                )  # fmt: skip
            number += 1
            rows["access_log"].append(
                {"number": number, "user_id": "u", "session_id": name, "action": "submit_and_next", "http_status": 200, "seq": seq,
                 "target": f"{seq + 1}@{at}", "answer_hash": digest(), "digest": digest(), "previous_hash": digest(),
                 "entry_hash": digest(), "accessed_at": at}
            )  # fmt: skip
        with ledger.write() as connection:
            connection.execute(insert(t.sessions).values(session))
            for table, written in rows.items():
                connection.execute(insert(t.metadata.tables[table]), written)
            connection.execute(update(t.access_chain).values(number=number))


def _measure(ledger: Ledger) -> int:
    """Bytes of the ledger, its write-ahead log left aside."""
    with ledger.read() as connection:
        return measure_size(connection)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
