"""`kill -9` in the middle of an ingest, then the same ingest again.

Nothing is lost, and nothing is there twice.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import polars as pl
import pytest

from schemas.settings import Settings
from tasks.ingest.landing import land_documents
from tests.tasks.ingest.builders import write
from warehouse.lake import open_lake

ROOT = Path(__file__).resolve().parents[3]
LAND = """
import sys
from pathlib import Path
from schemas.settings import Settings
from tasks.ingest import landing
from warehouse.lake.store import open_lake

landing.DOCUMENTS_PER_LANDING = 10
settings = Settings(home=Path(sys.argv[1]))
with open_lake(settings) as lake:
    landing.land_documents(lake, settings, [Path(sys.argv[2])])
"""
FILES = 120
TABLES = ("documents", "document_texts", "questions")


def land(home: Path, folder: Path) -> int:
    settings = Settings(home=home)
    with open_lake(settings) as lake:
        return land_documents(lake, settings, [folder]).skipped


def read_tables(home: Path) -> dict[str, pl.DataFrame]:
    with open_lake(Settings(home=home), read_only=True) as lake:
        return {
            name: lake.query(f"select * from {name}")
            .drop("ingested_at", "landed_at", strict=False)
            .sort("document_id", *(["position"] if name == "questions" else []))
            for name in TABLES
        }


@pytest.mark.slow
def test_a_killed_ingest_goes_on_to_the_same_tables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PROCTOR_QUIET", "1")
    folder = tmp_path / "papers"
    folder.mkdir()
    for number in range(FILES):
        write(
            folder, f"{number:03d}.txt", f"一、判断题\n1. {number}是整数。（√）\n2. {number}是奇数。（×）\n"
        )
    killed = tmp_path / "killed"
    process = subprocess.Popen(
        [sys.executable, "-c", LAND, str(killed), str(folder)],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stderr=subprocess.DEVNULL,
    )
    try:
        deadline = time.monotonic() + 120
        while len(list((killed / "archive").rglob("*.json"))) < FILES // 3:
            assert process.poll() is None and time.monotonic() < deadline
            time.sleep(0.01)
    finally:
        process.kill()
        process.wait()
    assert 0 < land(killed, folder) < FILES
    undisturbed = tmp_path / "undisturbed"
    assert land(undisturbed, folder) == 0
    expected, found = read_tables(undisturbed), read_tables(killed)
    assert expected["questions"].height == 2 * FILES
    for name in TABLES:
        assert found[name].equals(expected[name]), name
