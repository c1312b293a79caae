"""The cost of backing up a year, compared with restic on the same folders.

Measured are the first backup, a second full one, a check and a restore.

A home of twelve months: 60 candidates sit 300 questions in three styles every month, judged by two judges (1.3 million judged rows), a
ledger with a call of half a kilobyte for every answer, and a thousand originals of 200 kB. The first backup is made after eleven
months; then a month is landed.

Run: python -m tests.benchmarks.backup_speed [candidates, default 60] [questions, default 300]
"""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import closing
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any

from schemas.settings import Settings
from tasks.operations.backups import backup_home, restore_home, verify_backup
from tests.benchmarks.history_cost import History
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
        settings = Settings(home=folder / "home")
        history = History(candidates, questions)
        for number in range(MONTHS - 1):
            _add_month(settings, history, number)
        check_stores(settings)
        # One path for all backups, as docs/encryption.md has it: restic then compares with the one before.
        copy = folder / "copy"
        variables = {
            "RESTIC_REPOSITORY": str(folder / "repository"),
            "RESTIC_PASSWORD": "benchmark",
            "RESTIC_CACHE_DIR": str(folder / "cache"),
        }
        os.environ.update(variables)
        restic = partial(_run_restic, folder / "repository")
        restic("init")
        _measure(f"first, {MONTHS - 1} months", partial(backup_home, settings, copy))
        _measure("restic backup, first", partial(restic, "backup", str(copy)))
        _add_month(settings, history, MONTHS - 1)
        shutil.rmtree(copy)
        _measure(f"whole, {MONTHS} months", partial(backup_home, settings, copy))
        _measure("restic backup, second", partial(restic, "backup", str(copy)))
        _measure("--verify", partial(verify_backup, copy))
        _measure("restic check --read-data", partial(restic, "check", "--read-data"))
        target = settings.model_copy(update={"home": folder / "restored"})
        _measure("restored", partial(restore_home, target, copy))
        _measure("restic restore", partial(restic, "restore", "latest", "--target", str(folder / "out")))


def _run_restic(repository: Path, *arguments: str) -> dict[str, Any]:
    """What the repository holds afterwards; nothing where restic is not installed."""
    if shutil.which("restic") is None:
        return {}
    subprocess.run(["restic", "--quiet", *arguments], check=True)
    return {"byte_count": sum(path.stat().st_size for path in repository.rglob("*") if path.is_file())}


def _add_month(settings: Settings, history: History, number: int) -> None:
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
    wall, before = time.perf_counter(), os.times()
    done = work()
    wall, after = time.perf_counter() - wall, os.times()
    # Own time and that of children: user and system.
    cpu = sum(after[:4]) - sum(before[:4])
    size = done.get("byte_count")
    written = "" if size is None else f", {size / 1e6:,.0f} MB"
    print(f"{name:<28} {cpu:6.2f} CPU s {wall:6.1f} s wall{written}", flush=True)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
