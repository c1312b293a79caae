"""`kill -9` in the middle of an ingest, then the same ingest again.

Nothing is lost, and nothing is there twice.
"""

from __future__ import annotations

import hashlib
import signal
import subprocess
import time
from pathlib import Path

import polars as pl
import pytest

from schemas.settings import Settings
from tasks.ingest.landing import land_documents
from tests.tasks.ingest.builders import write
from tests.tasks.ingest.test_pictures import CHOICES, PICTURES, write_word
from tests.warm import WarmProcess
from warehouse.lake import open_lake

LAND = """
import sys
from pathlib import Path
from schemas.settings import Settings
from tasks.ingest import landing
from warehouse.lake.store import open_lake

landing.DOCUMENTS_PER_LANDING = 5
settings = Settings(home=Path(sys.argv[1]))
with open_lake(settings) as lake:
    landing.land_documents(lake, settings, [Path(sys.argv[2])])
"""
FILES = 30
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
def test_a_killed_ingest_goes_on_to_the_same_tables(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, warm_python: str
) -> None:
    monkeypatch.setenv("PROCTOR_QUIET", "1")
    folder = tmp_path / "papers"
    folder.mkdir()
    for number in range(FILES):
        write(
            folder, f"{number:03d}.txt", f"一、判断题\n1. {number}是整数。（√）\n2. {number}是奇数。（×）\n"
        )
    killed = tmp_path / "killed"
    process = WarmProcess([warm_python, "-c", LAND, str(killed), str(folder)], stderr=subprocess.DEVNULL)
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


# Between two pictures of a paper; after all of them and before their rows; within the landing, after their rows were written.
MOMENTS = {
    "between two pictures": """
from tasks.ingest import archiving
real, kept = archiving.keep_bytes, []
def keep(data, path):
    real(data, path)
    kept.extend([path] if path.suffix == ".picture" else [])
    if len(kept) == 3:
        os.kill(os.getpid(), signal.SIGKILL)
archiving.keep_bytes = keep
""",
    "before their rows": """
real = landing.archive_document
def archive(folder, parsed):
    real(folder, parsed)
    os.kill(os.getpid(), signal.SIGKILL)
landing.archive_document = archive
""",
    "within the landing": """
from warehouse.lake import landing as rows
real = rows._insert
def insert(connection, table, path):
    real(connection, table, path)
    if table == "pictures":
        os.kill(os.getpid(), signal.SIGKILL)
rows._insert = insert
""",
}


@pytest.mark.parametrize(
    "moment",
    [pytest.param(one, marks=() if one == "within the landing" else pytest.mark.long) for one in MOMENTS],
)
def test_a_kill_between_the_bytes_of_pictures_and_their_rows_loses_and_doubles_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, moment: str, warm_python: str
) -> None:
    monkeypatch.setenv("PROCTOR_QUIET", "1")
    folder, killed = tmp_path / "papers", tmp_path / "killed"
    folder.mkdir()
    write_word(folder / "paper.docx", CHOICES, PICTURES)
    code = LAND.replace("landing.DOCUMENTS", f"import os, signal\n{MOMENTS[moment]}\nlanding.DOCUMENTS")
    command = [warm_python, "-c", code, str(killed), str(folder)]
    done = subprocess.run(command, stderr=subprocess.DEVNULL)
    assert done.returncode == -signal.SIGKILL
    left = {path.name for path in (killed / "archive").rglob("*.picture")}
    # Bytes may be there without a row, a row never without its bytes.
    assert len(left) == (3 if moment == "between two pictures" else len(PICTURES))
    with open_lake(Settings(home=killed), read_only=True) as lake:
        assert lake.query("SELECT count(*) FROM pictures").item() == 0
    assert land(killed, folder) == 0
    with open_lake(Settings(home=killed), read_only=True) as lake:
        rows = lake.query("SELECT sha256 FROM pictures")["sha256"].to_list()
    kept = sorted((killed / "archive").rglob("*.picture"))
    assert sorted(rows) == [path.stem for path in kept]
    assert all(hashlib.sha256(path.read_bytes()).hexdigest() == path.stem for path in kept)
    # No draft of a killed writer is taken for a picture, and none is left where pictures are.
    assert len(kept) == len(PICTURES)
    undisturbed = tmp_path / "undisturbed"
    land(undisturbed, folder)
    assert [path.name for path in sorted((undisturbed / "archive").rglob("*.picture"))] == [
        one.name for one in kept
    ]
