"""Real exam papers with truth files read by eye; floors, not exact counts, so that better reading never fails."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from schemas.settings import Settings
from tasks.ingest.landing import IngestSummary, land_documents
from tests.benchmarks.ingest_accuracy import compare, read_paper, read_truths
from tests.benchmarks.ingest_cache import use_cache
from warehouse.lake.store import open_lake

SHARED = Path(os.environ.get("PROCTOR_SHARED_DATA", Path(__file__).resolve().parents[4] / "shared" / "data"))
EXAMS = SHARED / "exams"

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not EXAMS.is_dir(), reason="the shared exam papers are absent; set PROCTOR_SHARED_DATA"
    ),
]


@pytest.fixture(scope="module")
def landed(tmp_path_factory: pytest.TempPathFactory) -> tuple[IngestSummary, list[dict[str, Any]]]:
    """What an ingest of all papers said, and how the rows that it landed compare with the truth."""
    settings = Settings(home=tmp_path_factory.mktemp("home"))
    truths = read_truths(EXAMS)
    with open_lake(settings) as lake:
        summary = land_documents(lake, settings, [EXAMS / name for name in truths], workers=2)
        documents = lake.query("select * from documents").to_dicts()
        questions = lake.query("select * from questions order by document_id, position").to_dicts()
    compared = [
        compare(
            document,
            [row for row in questions if row["document_id"] == document["document_id"]],
            truths[document["document_name"]],
        )
        for document in documents
    ]
    return summary, compared


@pytest.fixture(scope="module")
def rows(landed: tuple[IngestSummary, list[dict[str, Any]]]) -> list[dict[str, Any]]:
    return landed[1]


def test_every_paper_is_landed_with_all_its_questions_and_none_in_quarantine(
    landed: tuple[IngestSummary, list[dict[str, Any]]],
) -> None:
    summary, rows = landed
    assert sum(summary.documents.values()) == len(rows) == len(read_truths(EXAMS))
    assert summary.quarantined == 0
    assert sum(summary.questions.values()) == sum(row["count"] for row in rows)
    assert [row["file"] for row in readable(rows) if row["status"] != "parsed"] == []


def readable(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The papers for which the programs are installed here."""
    return [row for row in rows if row["status"] not in ("needs_ocr", "needs_libreoffice")]


def test_the_summed_error_in_the_number_of_questions_is_at_most_two_percent(
    rows: list[dict[str, Any]],
) -> None:
    error = sum(abs(row["count"] - row["truth_count"]) for row in readable(rows))
    assert error <= 0.02 * sum(row["truth_count"] for row in readable(rows)), rows


def test_no_readable_paper_misses_its_number_of_questions_by_more_than_fifteen_percent(
    rows: list[dict[str, Any]],
) -> None:
    wrong = [
        (row["file"], row["truth_count"], row["count"])
        for row in readable(rows)
        if abs(row["count"] - row["truth_count"]) > 0.15 * row["truth_count"]
    ]
    assert wrong == []


def test_at_least_97_of_100_listed_questions_are_fully_right_where_papers_hold_text(
    rows: list[dict[str, Any]],
) -> None:
    papers = [row for row in readable(rows) if "scan" not in row["file"]]
    right, listed = (sum(row[name] for row in papers) for name in ("right_count", "listed_count"))
    assert right >= 0.97 * listed, [row["wrong"] for row in papers if row["wrong"]]


def test_at_least_80_of_100_listed_questions_are_fully_right_on_the_scan(rows: list[dict[str, Any]]) -> None:
    scans = [row for row in readable(rows) if "scan" in row["file"]]
    if not scans:
        pytest.skip("the extra `ocr` is not installed")
    right, listed = (sum(row[name] for row in scans) for name in ("right_count", "listed_count"))
    assert right >= 0.8 * listed, [row["wrong"] for row in scans]


def test_more_real_papers_with_text_are_read_as_well_as_is_said() -> None:
    """Floors a little below docs/ingest.md: of listed questions, of numbers of questions, of sure and wrong ones."""
    folder = SHARED / "exams_more"
    if not folder.is_dir():
        pytest.skip("the further exam papers are absent")
    with use_cache():
        compared = [
            compare(*read_paper(folder / name), truth)
            for name, truth in read_truths(folder).items()
            if "scan" not in name
        ]
    papers = [row for row in compared if row["status"] != "needs_libreoffice"]
    right, listed = (sum(row[name] for row in papers) for name in ("right_count", "listed_count"))
    assert right >= 0.92 * listed, [(row["file"], row["wrong"]) for row in papers if row["wrong"]]
    shares = [min(1.0, abs(row["count"] - row["truth_count"]) / row["truth_count"]) for row in papers]
    assert sum(shares) <= 0.03 * len(papers), [
        (row["file"], row["truth_count"], row["count"]) for row in papers
    ]
    sure = [is_right for row in papers for confidence, is_right in row["met"] if confidence >= 0.9]
    assert sure.count(False) <= 0.05 * len(sure)
