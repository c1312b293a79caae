"""Two processes ingest one folder at once, and every document is read once.

What a killed process had begun is read by the other one.
"""

from __future__ import annotations

import json
import time
from multiprocessing.synchronize import Barrier
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

from deployments.home import create_home
from schemas.settings import Settings
from tasks.ingest import documents
from tasks.ingest.landing import land_documents
from tests.tasks.ingest.builders import write
from tests.tasks.shared_run import fork_context
from warehouse.lake import open_lake
from warehouse.ledger.engine.opening import open_ledger

PAPERS = 16
PAUSE_S = 0.05


def ingest(home: Path, papers: Path, notes: Path, start: Barrier) -> None:
    """In a process of its own: ingest the folder, and note what was read here."""
    whole = documents._parse

    def parse(*given: Any) -> Any:
        # As long as a real paper takes
        time.sleep(PAUSE_S)
        return whole(*given)

    settings = Settings(home=home, workers=1)
    with (
        mock.patch.object(documents, "_parse", parse),
        open_ledger(settings.ledger_address) as ledger,
        open_lake(settings) as lake,
    ):
        start.wait(60)
        summary = land_documents(lake, settings, [papers], ledger=ledger)
    notes.write_text(json.dumps(summary.as_counts()), "utf-8")


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PROCTOR_QUIET", "1")
    create_home(Settings(home=tmp_path / "home"))
    (tmp_path / "papers").mkdir()
    for number in range(PAPERS):
        write(tmp_path / "papers", f"{number}.txt", f"一、判断题\n1. 第{number}份试卷只有一道题。（√）\n")
    return tmp_path / "home"


def count_rows(home: Path) -> tuple[int, int]:
    """Documents and questions that have landed."""
    with open_lake(Settings(home=home), read_only=True) as lake:
        return (
            lake.query("SELECT count(*) FROM documents WHERE status = 'parsed'").item(),
            lake.query("SELECT count(*) FROM questions").item(),
        )


def test_two_ingests_of_one_folder_share_it(home: Path, tmp_path: Path) -> None:
    context = fork_context()
    start, notes = context.Barrier(2), [tmp_path / "1.json", tmp_path / "2.json"]
    both = [context.Process(target=ingest, args=(home, tmp_path / "papers", note, start)) for note in notes]
    for process in both:
        process.start()
    for process in both:
        process.join(120)
    assert [process.exitcode for process in both] == [0, 0]
    counts = [json.loads(note.read_text("utf-8")) for note in notes]
    read = [count["documents"].get("parsed", 0) for count in counts]
    assert sum(read) == PAPERS
    assert min(read) > 0, "one of them read nothing"
    assert [sum(pair) for pair in zip(read, (one["skipped_documents"] for one in counts), strict=True)] == [
        PAPERS, PAPERS,
    ]  # fmt: skip
    assert count_rows(home) == (PAPERS, PAPERS)


def test_what_an_ingest_that_was_killed_had_begun_is_read_by_the_other(home: Path, tmp_path: Path) -> None:
    context = fork_context()
    start, note = context.Barrier(2), tmp_path / "note.json"
    killed = context.Process(target=ingest, args=(home, tmp_path / "papers", tmp_path / "none.json", start))
    other = context.Process(target=ingest, args=(home, tmp_path / "papers", note, start))
    killed.start()
    other.start()
    with open_ledger(Settings(home=home).ledger_address) as ledger:
        deadline = time.monotonic() + 60
        while killed.pid not in list_readers(ledger):
            assert time.monotonic() < deadline
            time.sleep(0.01)
    killed.kill()
    killed.join()
    other.join(120)
    assert other.exitcode == 0
    assert json.loads(note.read_text("utf-8"))["documents"] == {"parsed": PAPERS}
    assert count_rows(home) == (PAPERS, PAPERS)


def list_readers(ledger: Any) -> set[int]:
    from warehouse.ledger.engine.leases.jobs import list_jobs
    from warehouse.ledger.engine.leases.processes import read_lease

    with ledger.read() as connection:
        leases = [read_lease(connection, job.holder or "") for job in list_jobs(connection, "document")]
        return {lease.process_id for lease in leases if lease is not None}
