"""What does a flow pay before it starts, when years lie behind it?

Reconciling is measured with nothing new, and with one new session.

The ledger is filled by the tables alone (no protocol, no calls); the lake is filled by the project's own landers.

Run: python -m tests.benchmarks.reconcile_speed [months, default 27] [sessions per month, default 540] [questions, default 5]
    [entries of the audit log, default 1,000,000]
"""

from __future__ import annotations

import hashlib
import sys
import tempfile
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import islice
from pathlib import Path
from typing import Any

from sqlalchemy import Table

from schemas.settings import Settings
from tasks.exam.closed import land_access_log, land_closed_sessions
from tasks.models import land_paid_calls
from tasks.operations.reconcile import reconcile
from tasks.review import land_missing_batches
from tests.benchmarks.lake_speed import measure
from tests.tasks.exam.world import make_uuid
from warehouse.lake import open_lake
from warehouse.ledger.engine import tables
from warehouse.ledger.engine.ledger import Ledger
from warehouse.ledger.engine.opening import open_ledger

Rows = Iterator[dict[str, object]]


def main(
    months: int = 27, sessions: int = 540, questions: int = 5, entries: int = 1_000_000, repeats: int = 5
) -> None:
    """Print one line per measurement."""
    with tempfile.TemporaryDirectory() as folder:
        settings = Settings(home=Path(folder) / "home")
        with open_ledger(settings.ledger_address) as ledger, open_lake(settings) as lake:
            with measure(
                f"filling a ledger of {months} months x {sessions} sessions x {questions} questions"
            ):
                fill(ledger, months, sessions, questions, entries)
            with measure("the first reconciling lands it all"):
                landed = reconcile(ledger, lake)
            print(landed)
            assert landed["sessions"] == months * sessions
            with measure("reconciling with nothing new", repeats):
                for _ in range(repeats):
                    assert reconcile(ledger, lake) == {}
            for land in (land_missing_batches, land_closed_sessions, land_access_log, land_paid_calls):
                with measure(f"  of it {land.__name__}", repeats):
                    for _ in range(repeats):
                        land(ledger, lake)
            fill_month(ledger, months, 1, questions, last=False)
            fill_log(ledger, entries, entries + 20)
            with measure("reconciling with one new session"):
                landed = reconcile(ledger, lake)
            print(landed)


def fill(ledger: Ledger, months: int, sessions: int, questions: int, entries: int) -> None:
    """Fill a ledger with months of closed runs and an audit log.

    Each question of the runs is answered and judged; the log has so many entries.
    """
    for number in range(months):
        fill_month(ledger, number, sessions, questions)
    fill_log(ledger, 0, entries)


def fill_month(ledger: Ledger, number: int, sessions: int, questions: int, *, last: bool = True) -> None:
    """One run; without `last` it is still open."""
    month = f"{2024 + number // 12}-{number % 12 + 1:02d}"
    at = f"{month}-02T00:00:00.000000+00:00"
    run_id, set_id = f"run-{month}", f"set-{month}"
    names = [f"{run_id}-s{index}" for index in range(sessions)]
    lineages = [make_uuid(f"{month}-{index}") for index in range(questions)]
    model = {
        "name": "alpha", "organisation": "Alpha", "family": None, "release_date": None, "is_open": False,
        "mode": "standard", "base_model": None, "endpoint_model": "alpha", "input_price_usd": None,
        "output_price_usd": None, "is_simulated": False,
    }  # fmt: skip
    content: dict[str, Any] = {
        "question_type": "true_false", "language": "en", "stem": "A statement.", "material": None, "options": [],
    }  # fmt: skip
    common = {"run_id": run_id, "is_simulated": False}
    # A real plan is large; nothing may read it for a run that is over.
    plan = {"models": {"alpha": model}, "candidates": ["alpha"], "outside": [], "notes": "x" * 200_000}
    write(ledger, tables.runs, iter([
        common | {"month": month, "season": "s", "bank_version": 1, "reference_model": "alpha", "set_size": questions,
        "policy": "shared", "seed": "s", "budget_usd": None, "status": "closed" if last else "open", "plan": plan,
        "planned_at": at, "closed_at": at if last else None}
    ]))  # fmt: skip
    write(ledger, tables.set_numbers, iter([
        {"set_id": set_id, "season": "s", "set_number": number, "bank_version": 1, "is_simulated": False, "created_at": at}
    ]))  # fmt: skip
    write(ledger, tables.sets, (
        {"set_id": set_id, "lineage_uuid": lineage, "question_uuid": lineage, "discipline": "Law", "content": content}
        for lineage in lineages
    ))  # fmt: skip
    write(ledger, tables.sessions, (
        common | {"session_id": name, "set_id": set_id, "user_id": "candidate:alpha", "model": "alpha",
        "organisation": "Alpha", "prompt_style": "zero_shot", "repeat": index + 1, "is_reference": False,
        "pending_window": 1, "question_count": questions, "next_seq": questions + 1, "answered_count": questions,
        "status": "closed", "lease_generation": 1, "opened_at": at, "closed_at": at}
        for index, name in enumerate(names)
    ))  # fmt: skip
    places = [(name, seq, lineage) for name in names for seq, lineage in enumerate(lineages, start=1)]
    write(ledger, tables.allocations, (
        {"session_id": name, "seq": seq, "lineage_uuid": lineage, "allocated_at": at, "delivered_at": at}
        for name, seq, lineage in places
    ))  # fmt: skip
    write(ledger, tables.responses, (
        {"session_id": name, "seq": seq, "response": "true", "answer_status": "answered", "prompt_version": "1",
        "answered_at": at}
        for name, seq, _ in places
    ))  # fmt: skip
    write(ledger, tables.llm_calls, (
        {"call_key": hashlib.sha256(f"{purpose}{name}{seq}".encode()).hexdigest(), "purpose": purpose, "run_id": run_id,
        "unit": name if purpose == "exam" else f"{name}/judge/prompt-1", "endpoint": "own", "model": purpose,
        "status": "done", "attempts": 1, "reply": {"text": "true"}, "started_at": at, "finished_at": at}
        for purpose in ("exam", "judge")
        for name, seq, _ in places
    ))  # fmt: skip


def fill_log(ledger: Ledger, first: int, last: int) -> None:
    """Entries of the audit log, spread over the days.

    Their chains are not those of the protocol, because nothing checks them here.
    """
    start = datetime(2024, 1, 1, tzinfo=UTC)
    write(ledger, tables.access_log, (
        {"user_id": "candidate:alpha", "session_id": f"s{number % 500}", "action": "submit_and_next", "http_status": 200,
        "code": None, "previous_hash": "0" * 64, "entry_hash": f"{number:064d}",
        "accessed_at": (start + timedelta(seconds=60 * number)).strftime("%Y-%m-%dT%H:%M:%S.%f+00:00")}
        for number in range(first, last)
    ))  # fmt: skip


def write(ledger: Ledger, table: Table, rows: Rows) -> None:
    """Insert in large transactions."""
    while chunk := list(islice(rows, 100_000)):
        with ledger.write() as connection:
            connection.execute(table.insert(), chunk)


if __name__ == "__main__":
    started = time.perf_counter()
    main(*(int(text.replace(",", "")) for text in sys.argv[1:]))
    print(f"{time.perf_counter() - started:.0f} s in all")
