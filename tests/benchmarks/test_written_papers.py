"""Papers written by somebody who had not seen the reader, with their truth.

They lie in `written_papers/`: rules were mended on all but *p*, of which nobody has looked at what is read of it, so it tells
what to expect at first sight. Whoever mends on one writes another group first. Their content is our own.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.benchmarks import ingest_pictured, ingest_second_readings
from tests.benchmarks.ingest_accuracy import compute_accuracy

GROUPS = Path(__file__).with_name("written_papers")


@pytest.mark.long
@pytest.mark.parametrize(
    ("group", "count", "floor"),
    [
        ("a", 17, 0.84),
        ("b", 17, 0.86),
        ("c", 17, 0.62),
        ("h", 22, 0.92),
        ("j", 20, 0.95),
        ("k", 20, 0.95),
        ("l", 23, 0.95),
        ("m", 20, 0.88),
        ("n", 19, 0.97),
        ("o", 20, 0.89),
        ("p", 20, 0.88),
        ("q", 20, 0.92),
        ("r", 20, 0.74),
        ("s", 20, 0.82),
        ("t", 20, 0.97),
        ("u", 20, 0.96),
    ],
)
def test_written_papers_are_read_as_well_as_is_said(group: str, count: int, floor: float) -> None:
    """Floors a little below docs/ingest.md, of questions that are right in all parts."""
    papers = compute_accuracy(GROUPS / group)
    assert len(papers) == count
    right, listed = (sum(paper[name] for paper in papers) for name in ("right_count", "listed_count"))
    assert right >= floor * listed, [(paper["file"], paper["wrong"]) for paper in papers if paper["wrong"]]


@pytest.mark.long
@pytest.mark.parametrize(
    ("group", "count", "floor"), [("c", 17, 0.96), ("m", 20, 0.94), ("r", 20, 0.92), ("s", 20, 0.97)]
)
def test_a_second_reader_brings_what_is_said(group: str, count: int, floor: float) -> None:
    """Floors a little below docs/performance.md; what both read alike is hardly ever wrong."""
    papers = ingest_second_readings.measure(group)
    assert len(papers) == count, "other lines are shown of some papers than those that were replied to"
    rows = [paper.both for paper in papers]
    right, listed = (sum(row[name] for row in rows) for name in ("right_count", "listed_count"))
    assert right >= floor * listed
    assert right > sum(paper.rules["right_count"] for paper in papers)
    sure = [is_right for row in rows for confidence, is_right in row["met"] if confidence >= 0.9]
    assert len(sure) > listed / 2
    assert sure.count(False) <= 0.05 * len(sure)


@pytest.mark.long
@pytest.mark.parametrize(
    ("group", "replies", "floor"),
    [("v", "replies", 0.97), ("w", "replies", 0.97), ("w", "replies_blind", 0.88)],
)
def test_a_second_reader_puts_pictures_where_they_belong(group: str, replies: str, floor: float) -> None:
    """Floors a little below docs/performance.md; nobody is shown a picture of an answer."""
    found = {way: counts for way, (counts, _) in ingest_pictured.measure(group, replies).items()}
    counts = found["both"]
    belong = sum(counts[word] for word in ("right", "wrong question", "wrong place", "lost"))
    assert counts["right"] >= floor * belong and counts["right"] > found["rules"]["right"]
    assert counts["taken"] <= 1 and counts["answers shown"] == 0
    assert counts["found"] == counts["questions"]


def test_every_paper_with_pictures_has_a_truth_and_a_reply() -> None:
    for group in "vw":
        folder = ingest_pictured.GROUPS / group
        truths = [json.loads(path.read_text("utf-8")) for path in sorted((folder / "truth").glob("*.json"))]
        assert len(truths) >= 10
        for truth in truths:
            assert (folder / truth["file"]).is_file()
            assert json.loads((folder / "replies" / f"{truth['file']}.json").read_text("utf-8"))["questions"]
            colours = [tuple(one["colour"]) for one in truth["pictures"]]
            assert len(set(colours)) == len(colours)


def test_every_written_paper_has_a_truth_that_counts_its_questions() -> None:
    papers = {path.relative_to(GROUPS) for path in GROUPS.glob("?/*.*")}
    for path in sorted(GROUPS.glob("?/truth/*.json")):
        truth = json.loads(path.read_text("utf-8"))
        papers.discard(path.relative_to(GROUPS).parent.parent / truth["file"])
        assert len(truth["first"]) + len(truth["last"]) == truth["n_questions"], path.name
    # What is left are keys that lie beside their papers.
    assert {path.name for path in papers} == {
        "BIO101_Midterm1_FormA_KEY.pdf",
        "Forklift_Operator_Written_Test_rev3 - ANSWER KEY.docx",
        "Y10 Biology Paper 1 Nov mock mark scheme.docx",
        "JHS 2 INTEGRATED SCIENCE MARKING SCHEME.docx",
        "2025届高三第二次模拟考试地理答案.docx",
        "C5 Energy Changes topic test MS.docx",
        "Class X Social Science Sample Paper Set 2 - Marking Scheme.pdf",
        "中级财务会计A卷参考答案及评分标准.docx",
        "数据结构B卷参考答案及评分标准.docx",
        "Y11 Physics Mock - Electricity MARK SCHEME.pdf",
        "C语言程序设计期末试卷A答案.docx",
        "操作系统A卷参考答案及评分细则.docx",
        "计网A卷参考答案.docx",
        "docx_forklift_answers.txt",
        "海州市2025届高三第二次质量检测 地理参考答案.docx",
        "职测模拟（省直）答案.txt",
        "docx_sachkunde_de_Lösung.docx",
        "docx_shuxue_san答案.docx",
        "docx_wuli_ba答案.docx",
        "pdf_food_hygiene_answers.pdf",
        "pdf_xingce_moni_answers.txt",
        "pdf_yaolixue_rotated_answers.docx",
        "三年级语文上册期末测试卷答案.docx",
        "基础会计期末试题答案.pdf",
        "大学物理B(上)期末试卷(A卷)参考答案.docx",
        "数据结构期末A卷答案.docx",
    }
