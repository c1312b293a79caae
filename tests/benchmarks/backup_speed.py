"""What does a backup of a year cost, first, whole again, and since the last one? Plain and encrypted; checked, and restored.

A home of twelve months: 60 candidates sit 300 questions in three styles every month, judged by two judges (1.3 million judged rows), a
ledger with a call of half a kilobyte for every answer, and a thousand originals of 200 kB. The first backup is made after eleven
months; then a month is landed.

Run: python -m tests.benchmarks.backup_speed [candidates, default 60] [questions, default 300]
"""

from __future__ import annotations

import os
import shutil
import sqlite3
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import closing
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any

from warehouse.encryption import add_key

from deployments.home import backup_home, restore_home, verify_backup
from schemas.settings import Settings
from tests.benchmarks.history_cost import _History
from tests.benchmarks.history_rows import land_month
from warehouse.lake import open_lake
from warehouse.ledger.engine.opening import open_ledger
from warehouse.stores.homes import check_stores

MONTHS = 12
ORIGINALS = 1000
ORIGINAL_BYTES = 200_000
REPLY = '{"text": "' + "答" * 160 + '"}'


def main(candidates: int = 60, questions: int = 300) -> None:
    """Build a year, and print what each backup of it costs."""
    os.environ["PROCTOR_QUIET"] = "1"
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        settings = Settings(home=folder / "home", encryption_key_file=folder / "keys.json")
        history = _History(candidates, questions)
        for number in range(MONTHS - 1):
            _add_month(settings, history, number)
        check_stores(settings)
        add_key(settings, folder / "keys.json")
        kinds = (("plain", False), ("encrypted", True))
        for kind, encrypt in kinds:
            first = folder / f"{kind}-first"
            _measure(
                f"{kind}, first, {MONTHS - 1} months", partial(backup_home, settings, first, encrypt=encrypt)
            )
        _add_month(settings, history, MONTHS - 1)
        for kind, encrypt in kinds:
            first, whole, since = (folder / f"{kind}-{one}" for one in ("first", "whole", "since"))
            back_up = partial(backup_home, settings, encrypt=encrypt)
            _measure(f"{kind}, whole, {MONTHS} months", partial(back_up, whole))
            shutil.rmtree(whole)
            _measure(f"{kind}, --since the first", partial(back_up, since, since=first))
            shutil.rmtree(first)
            _measure(f"{kind}, --verify", partial(verify_backup, settings, since))
            target = settings.model_copy(update={"home": folder / "restored"})
            _measure(f"{kind}, restored", partial(restore_home, target, since))
            shutil.rmtree(target.home)


def _add_month(settings: Settings, history: _History, number: int) -> None:
    month = f"2026-{number + 1:02d}"
    frames = history.list_frames(number, month)
    with open_lake(settings) as lake:
        land_month(lake, frames, datetime.fromisoformat(f"{month}-01T02:00:00+00:00"))
    with open_ledger(settings.ledger_address):
        path = settings.home / "ledger.sqlite"
    answers = frames["responses"].height
    with closing(sqlite3.connect(path)) as ledger:
        ledger.executemany(
            "INSERT INTO llm_calls (call_key, purpose, unit, endpoint, model, status, attempts, started_at, reply) "
            "VALUES (?, 'exam', ?, 'e', 'm', 'done', 1, ?, ?)",
            (
                (f"{month}-{call:08d}", f"{month}-{call // 100}", f"{month}-01", REPLY)
                for call in range(answers)
            ),
        )
        ledger.commit()
    for original in range(number * ORIGINALS // MONTHS, (number + 1) * ORIGINALS // MONTHS):
        place = settings.archive_dir / f"{original % 100:02d}" / f"{original:064d}.original.pdf"
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(os.urandom(ORIGINAL_BYTES))


def _measure(name: str, work: Callable[[], dict[str, Any]]) -> None:
    wall, cpu = time.perf_counter(), time.process_time()
    done = work()
    cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
    size = done.get("byte_count")
    written = "" if size is None else f", {size / 1e6:,.0f} MB"
    if "linked_bytes" in done:
        written += f", of which written {(size - done['linked_bytes']) / 1e6:,.0f} MB, linked {done['linked_count']:,} files"
    print(f"{name:<28} {cpu:6.2f} CPU s {wall:6.1f} s wall{written}", flush=True)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
