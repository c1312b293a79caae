"""The page that shows a person how a paper is read."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tasks.ingest.check_page import make_blocks, render_check_page
from tasks.ingest.documents import IngestOptions, ParsedDocument, parse_document

PAPER = """期末考试试卷

一、单项选择题（每题2分）
1. 下列<script>alert(1)</script>哪个城市是中国的首都？（ B ）
A. 上海  B. 北京  C. 广州  D. 深圳

二、判断题
2. 赤道是最长的纬线。（√）

考试须知：本卷不得带出考场。
"""


@pytest.fixture
def parsed(tmp_path: Path) -> ParsedDocument:
    path = tmp_path / "geography-final.txt"
    path.write_text(PAPER, encoding="utf-8")
    return parse_document(path, IngestOptions())


def test_the_blocks_together_are_the_text(parsed: ParsedDocument) -> None:
    assert parsed.text is not None
    text = str(parsed.text["text"])
    blocks = make_blocks(text, parsed.questions)
    assert "".join(block.text for block in blocks) == text
    assert [question["position"] for block in blocks for question in block.questions] == [1, 2]
    assert all(block.text.strip() for block in blocks)


def test_what_no_question_claims_is_marked(parsed: ParsedDocument) -> None:
    assert parsed.text is not None
    blocks = make_blocks(str(parsed.text["text"]), parsed.questions)
    unclaimed = "".join(block.text for block in blocks if block.kind == "unclaimed")
    assert "期末考试试卷" in unclaimed
    assert "首都" not in unclaimed


def test_the_page_escapes_what_comes_from_the_paper_and_loads_nothing(parsed: ParsedDocument) -> None:
    page = render_check_page(parsed)
    assert "<script>alert(1)" not in page
    assert "&lt;script&gt;alert(1)" in page
    assert "北京" in page
    assert re.findall(r"""(?:src|href)\s*=\s*["'](?:https?:|//)""", page) == []


def test_a_paper_that_cannot_be_read_has_a_page_that_says_why(tmp_path: Path) -> None:
    path = tmp_path / "broken.docx"
    path.write_bytes(b"PK\x03\x04 nothing more")
    parsed = parse_document(path, IngestOptions())
    assert parsed.document["error"]
    assert parsed.document["status"] in render_check_page(parsed)
