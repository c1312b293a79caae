"""The check page as a person sees it, in a real browser."""

from __future__ import annotations

from pathlib import Path

import pytest

from tasks.ingest.check_page import render_check_page
from tasks.ingest.documents import IngestOptions, parse_document
from tests.browser import act_on, needs_browser, read_found, read_requests, run_browser

pytestmark = needs_browser

PAPER = """地理期末考试

一、单项选择题（每题2分）
1. 下列哪个城市是中国的首都？（ B ）
A. 上海  B. 北京  C. 广州  D. 深圳

二、判断题
2. 赤道是最长的纬线。（√）

考试须知：本卷不得带出考场。
"""
# What stands beside what, in pixels, and what a click changes.
SCRIPT = """
  function top(element) { return Math.round(element.getBoundingClientRect().top); }
  function shown(text) {
    return Array.from(document.querySelectorAll('span')).filter(function (one) {
      return one.textContent === text && one.offsetParent !== null; }).length;
  }
  var found = {beside: [], right: []};
  [1, 2].forEach(function (number) {
    var card = document.getElementById('q' + number), place = document.getElementById('t' + number);
    found.beside.push(Math.abs(top(card) - top(place)) < 40);
    found.right.push(card.getBoundingClientRect().left > place.getBoundingClientRect().right - 1);
  });
  found.key = Array.from(document.querySelectorAll('li.key .body')).map(function (one) { return one.textContent; });
  found.before = [shown('识别的题目') > 0, shown('Questions found') > 0];
  document.getElementById('in-en').click();
  found.after = [shown('识别的题目') > 0, shown('Questions found') > 0];
  found.wide = document.documentElement.scrollWidth <= window.innerWidth;
  return found;
"""


@pytest.fixture
def page(tmp_path: Path) -> Path:
    paper = tmp_path / "geography-final.txt"
    paper.write_text(PAPER, encoding="utf-8")
    page = tmp_path / "check.html"
    page.write_text(render_check_page(parse_document(paper, IngestOptions())), encoding="utf-8")
    return page


def test_the_page_draws_without_a_network_request_or_a_console_message(page: Path, tmp_path: Path) -> None:
    net_log, picture = tmp_path / "net.json", tmp_path / "page.png"
    done = run_browser(page, tmp_path / "profile", f"--screenshot={picture}", f"--log-net-log={net_log}")
    assert "CONSOLE" not in done.stderr
    assert read_requests(net_log) == []
    # A blank page of this size compresses to a few kilobytes.
    assert picture.stat().st_size > 40_000


@pytest.mark.long
def test_every_question_stands_beside_its_text_and_the_labels_change_language(
    page: Path, tmp_path: Path
) -> None:
    # The page allows no script at all; the probe is a copy that does.
    page.write_text(page.read_text("utf-8").replace("default-src 'none';", ""), encoding="utf-8")
    found = read_found(run_browser(act_on(page, tmp_path, SCRIPT), tmp_path / "profile", "--dump-dom").stdout)
    assert found == {
        "beside": [True, True],
        "right": [True, True],
        "key": ["北京"],
        "before": [True, False],
        "after": [False, True],
        "wide": True,
    }
