"""The page of comparisons says of twelve pairs what published rows and stars say."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tasks.report.frame import Issue
from tasks.report.panels import NamedQuery, Source
from tasks.report.site import render_site
from tests.browser import needs_browser
from tests.tasks.report.conftest import NOON, RunSql
from tests.tasks.report.raw_verdict import compute_scores, expect_sentences, list_pairs

if TYPE_CHECKING:
    from playwright.sync_api import Browser

PAIRS = 12


def test_a_published_difference_is_that_of_the_stars(run_sql: RunSql) -> None:
    pairs = list_pairs(run_sql)
    assert len(pairs) > PAIRS
    scores = {one: compute_scores(run_sql, one) for one in {row["edition_id"] for row in pairs}}
    for one in pairs:
        known = scores[one["edition_id"]]
        assert known[one["model_a"]] - known[one["model_b"]] == pytest.approx(one["difference"])


@pytest.mark.long
@needs_browser[0]
@needs_browser[1]
def test_twelve_pairs_are_told_as_their_rows_tell_them(
    season: NamedQuery, run_sql: RunSql, browser: Browser, tmp_path: Path
) -> None:
    render_site(Source(season), Issue(tmp_path, generated_at=NOON))
    pairs = list_pairs(run_sql)
    names = sorted({name for one in pairs for name in (one["model_a"], one["model_b"])})
    page = browser.new_page(viewport={"width": 1400, "height": 900})
    for both in list(combinations(names, 2))[:PAIRS]:
        page.goto(f"{(tmp_path / 'compare.html').as_uri()}#lang=en&models={','.join(both)}")
        page.reload()
        told = [
            page.locator("#pairs .finding").inner_text(),
            *page.locator("#pairs ul.verdict li").all_inner_texts(),
        ]
        expected = expect_sentences(run_sql, pairs, both)
        # The page says nothing that is not computed here.
        assert len(told) == len(expected), (told, expected)
        for sentence, beginning in zip(told, expected, strict=True):
            assert sentence.startswith(tuple(beginning.split("|"))), both
    page.close()
