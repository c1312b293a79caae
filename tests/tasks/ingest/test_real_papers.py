"""Real exam papers with truth files read by eye.

The tests set floors, not exact counts, so that better reading never fails.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from schemas.settings import Settings
from tasks.ingest.landing import IngestSummary, land_documents
from tasks.ingest.layout.key_lines import read_key_line
from tasks.ingest.words.warnings import NOT_READ
from tests.benchmarks.ingest_accuracy import compare, fold, read_landed, read_truths
from tests.benchmarks.ingest_cache import use_cache
from warehouse.lake import open_lake

SHARED = Path(os.environ.get("PROCTOR_SHARED_DATA", Path(__file__).resolve().parents[4] / "shared" / "data"))
EXAMS = SHARED / "exams"

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not EXAMS.is_dir(), reason="the shared exam papers are absent; set PROCTOR_SHARED_DATA"
    ),
]


Landed = tuple[IngestSummary, list[dict[str, Any]], list[dict[str, Any]]]


@pytest.fixture(scope="module")
def landed(tmp_path_factory: pytest.TempPathFactory) -> Landed:
    """The result of an ingest of all papers.

    It has what the ingest reported, how the rows that it landed compare with the truth, and the rows themselves.
    """
    settings = Settings(home=tmp_path_factory.mktemp("home"))
    truths = read_truths(EXAMS)
    with open_lake(settings) as lake:
        summary = land_documents(lake, settings, [EXAMS / name for name in truths], workers=2)
        documents = lake.query("select * from documents").to_dicts()
        questions = lake.query("select * from questions order by document_id, position").to_dicts()
        texts = dict(lake.query("select document_id, text from document_texts").iter_rows())
    compared = [
        compare(
            document,
            [row for row in questions if row["document_id"] == document["document_id"]],
            truths[document["document_name"]],
        )
        for document in documents
    ]
    papers = [
        {
            "document": document,
            "text": {"text": texts[document["document_id"]]} if document["document_id"] in texts else None,
            "questions": [row for row in questions if row["document_id"] == document["document_id"]],
        }
        for document in documents
    ]
    return summary, compared, papers


@pytest.fixture(scope="module")
def rows(landed: Landed) -> list[dict[str, Any]]:
    return landed[1]


@pytest.fixture(scope="module")
def more() -> dict[str, dict[str, Any]]:
    """What would be landed of the further papers, by name.

    Conversions and OCR come from the benchmark's cache.
    """
    folder = SHARED / "exams_more"
    if not folder.is_dir():
        pytest.skip("the further exam papers are absent; set PROCTOR_SHARED_DATA")
    with use_cache():
        return {name: read_landed(folder / name) for name in read_truths(folder)}


def test_every_paper_is_landed_with_all_its_questions_and_none_in_quarantine(landed: Landed) -> None:
    summary, rows, _ = landed
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


@pytest.mark.long
def test_more_real_papers_with_text_are_read_as_well_as_is_said(more: dict[str, dict[str, Any]]) -> None:
    """Floors a little below the figures of docs/ingest.md.

    They are for listed questions, for numbers of questions, and for sure and wrong ones.
    """
    compared = [
        compare(more[name]["document"], more[name]["questions"], truth)
        for name, truth in read_truths(SHARED / "exams_more").items()
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


@pytest.mark.long
def test_more_real_scans_and_photographs_are_read_as_well_as_is_said(more: dict[str, dict[str, Any]]) -> None:
    """Floors a little below docs/ingest.md, of listed questions and of numbers of questions."""
    scans = [
        compare(more[name]["document"], more[name]["questions"], truth)
        for name, truth in read_truths(SHARED / "exams_more").items()
        if "scan" in name and more[name]["document"]["status"] != "needs_ocr"
    ]
    if not scans:
        pytest.skip("the extra `ocr` is not installed")
    right, listed = (sum(row[name] for row in scans) for name in ("right_count", "listed_count"))
    assert right >= 0.8 * listed, [(row["file"], row["wrong"]) for row in scans]
    off = sum(abs(row["count"] - row["truth_count"]) / row["truth_count"] for row in scans)
    assert off <= 0.03 * len(scans), [(row["file"], row["truth_count"], row["count"]) for row in scans]


@pytest.mark.long
def test_a_paper_with_numbered_lines_that_nothing_claims_is_never_silent(
    landed: Landed, more: dict[str, dict[str, Any]]
) -> None:
    """A line that begins with a number is in a question, in an answer, or warned of.

    This is read from the rows alone.
    """
    papers = [*landed[2], *more.values()]
    assert sum(paper["text"] is not None for paper in papers) >= 40
    silent = {
        str(paper["document"]["document_name"]): lines
        for paper in papers
        if paper["text"] is not None
        and not any(_TELLS.search(warning) for warning in paper["document"]["warnings"])
        and (lines := find_unclaimed(paper["text"]["text"], paper["questions"]))
    }
    assert silent == {}


def test_a_numbered_line_outside_of_questions_and_answers_is_found() -> None:
    question = {"text_start": 0, "text_end": 8, "answer": ["Because it is so."], "explanation": None}
    text = "1. Why?\n\n2. How?\n1. Because it\n1-3 ABC\n(2.5 marks each)\n"
    assert find_unclaimed(text, [question]) == ["2. How?"]
    text = "1. Why?\n\nNow:\n3. Where?\n（1）A）【解析】Because it is so.\n（2）B）【解析】Another.\n"
    assert find_unclaimed(text, [question]) == ["3. Where?", "（2）B）【解析】Another."]
    text = "1. Why?\n\n注 意 事 项\n1. 写姓名。\n2. 用钢笔。\n一、选择题\n3. 几点？\n"
    assert find_unclaimed(text, [question]) == ["3. 几点？"]


_NUMBERED = re.compile(r"[ \t\u3000]*[（(\[【]?(\d{1,3})[)）\]】.、．:：]\s*(?=\S)")
# `【答案】【1】n-1`: the answer to a blank, below the number of its question; `A）【解析】…`: a key with its reasons
_ANSWER_MARK = re.compile(r"(?:【答案】)?(?:【\d{1,2}】)?(?:[A-J][)）]\s*(?:【解析】)?)?\s*")
# what is numbered below such a title is said to who sits the paper
_NOTICE = re.compile(r"(?:考生须知|考试须知|注意事项|Instructions)[:：]?", re.IGNORECASE)
# `(2.5 marks each)` is a weight, no number
_WEIGHT = re.compile(r"\s*[（(]\d+(?:\.\d+)?\s*(?:marks?|points?|分)[^（()）]*[)）]\s*$", re.IGNORECASE)
# what may stand for a numbered line: a loss, an answer without its question, a question printed twice
_TELLS = re.compile(
    rf"^{NOT_READ}|answers (?:.* )?match no question|questions repeat another of this document"
)


def find_unclaimed(text: str, questions: Sequence[dict[str, Any]]) -> list[str]:
    """The lines that begin with a number and are in no question and no answer.

    They lie neither in a question's place nor, as text, in an answer.
    """
    spans = [(question["text_start"], question["text_end"]) for question in questions]
    told = fold(" ".join(part for one in questions for part in (*one["answer"], one["explanation"] or "")))
    found: list[str] = []
    place = 0
    is_notice = False
    for line in text.split("\n"):
        is_notice = _NOTICE.fullmatch(fold(line)) is not None or (
            is_notice and _NUMBERED.match(line) is not None
        )
        number = None if _WEIGHT.match(line) else _NUMBERED.match(line)
        here = place + (number.start(1) if number else 0)
        place += len(line) + 1
        if number is None or is_notice or any(first <= here < last for first, last in spans):
            continue
        rest = fold(_ANSWER_MARK.sub("", line[number.end() :].strip(), count=1))
        if not (read_key_line(line.strip()) or rest[:10] in told):
            found.append(line.strip())
    return found
