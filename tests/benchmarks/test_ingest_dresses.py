"""Made-up papers in dresses drawn at random keep the share of questions that is read right.

The floors are what is measured, less what another draw of seeds may differ by.
"""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from tests.benchmarks.ingest_dresses import (
    COUNTED,
    Seen,
    choose_languages,
    judge,
    list_losses,
    make_dressed,
    read_dressed,
    see,
    summarise,
)
from tests.hunts import tries

PAPERS, COUNTED_PAPERS = tries(60, 120), tries(30, 60)
# of these every ninth prints no answers
SILENT = range(50_000, 50_000 + tries(200, 2_000))


@pytest.fixture(scope="module")
def seen() -> list[Seen]:
    return see(range(1_000, 1_000 + PAPERS))


def test_a_seed_makes_the_same_paper_again_and_another_seed_another_one() -> None:
    assert make_dressed(3) == make_dressed(3)
    assert make_dressed(3).lines != make_dressed(4).lines


def test_a_paper_asks_what_it_prints() -> None:
    paper = make_dressed(5)
    printed = "\n".join(line.text for line in paper.lines)
    assert all(option in printed for asked in paper.questions for option in asked.options)
    assert [asked.stem for asked in paper.questions] == [one.stem for one, _, _ in judge(5).wrong]


@pytest.mark.hunt
@pytest.mark.parametrize(("language", "least"), [("zh", 0.82), ("en", 0.78), ("other", 0.5)])
def test_papers_at_first_sight_are_mostly_read_right(
    seen: Sequence[Seen], language: str, least: float
) -> None:
    some = choose_languages(seen, language)
    figures = summarise(some)
    assert figures["questions_right"] >= least, (figures, list(list_losses(some))[:12])


@pytest.mark.hunt
def test_papers_that_number_their_options_are_mostly_read_right() -> None:
    counted = see(range(COUNTED, COUNTED + COUNTED_PAPERS))
    for language, least in (("zh", 0.85), ("en", 0.75)):
        some = choose_languages(counted, language)
        figures = summarise(some)
        assert figures["questions_right"] >= least, (figures, list(list_losses(some))[:12])


@pytest.mark.hunt
def test_of_the_questions_that_it_is_sure_of_few_are_wrong(seen: Sequence[Seen]) -> None:
    assert summarise(seen)["sure_wrong"] <= 0.05, [one.seed for one in seen if one.sure_wrong]


@pytest.mark.hunt
def test_a_paper_that_prints_no_answers_is_given_none() -> None:
    """Titles of books, words between two blanks and parts of formulas were taken for keys."""
    papers = {seed: paper for seed in SILENT if (paper := make_dressed(seed)).dress["answers"] == "none"}
    assert len(papers) >= tries(15, 150)
    found = {
        seed: [one["answer"] for one in read_dressed(paper)["questions"] if one["answer"]]
        for seed, paper in papers.items()
    }
    assert {seed: answers for seed, answers in found.items() if answers} == {}
