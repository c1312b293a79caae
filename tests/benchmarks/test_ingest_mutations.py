"""One thing printed differently costs little.

There are floors over five plain papers with 90 changes each.
"""

from __future__ import annotations

import pytest

from tasks.ingest.layout.marks import read_mark
from tasks.ingest.layout.pieces import make_pieces
from tests.benchmarks.ingest_lines import Line, join_lines
from tests.benchmarks.ingest_mutations import (
    CHANGES,
    PAPERS,
    SIZE,
    Outcome,
    list_changes,
    mutate,
    read_lines,
    run,
    summarise,
)
from tests.benchmarks.ingest_papers import make_paper
from tests.hunts import some


@pytest.fixture(scope="module")
def outcomes() -> list[list[Outcome]]:
    return run(lambda changes: some(changes, 5))


def test_every_plain_paper_is_read_rightly_as_it_is_and_has_ninety_changes(
    outcomes: list[list[Outcome]],
) -> None:
    assert [paper[0].right for paper in outcomes] == [paper[0].asked for paper in outcomes]
    counts = [len(list(mutate(make_paper(SIZE, seed, *form)))) for seed, form in enumerate(PAPERS)]
    assert counts == [CHANGES] * 5
    assert len({name for name, _ in list_changes()}) == len(list_changes())


@pytest.mark.hunt
def test_changed_papers_keep_98_of_100_questions_and_none_collapses_without_a_warning(
    outcomes: list[list[Outcome]],
) -> None:
    changed = [one for paper in outcomes for one in paper[1:]]
    figures = summarise(changed)
    lost = [(one.name, one.right, one.asked) for one in changed if one.right < one.asked]
    assert figures["questions_right"] >= 0.98, lost
    assert figures["papers_below_half"] <= 2, lost
    assert figures["silent_below_half"] == 0, lost


@pytest.mark.hunt
def test_of_the_questions_that_it_is_sure_of_at_most_one_in_a_hundred_is_wrong(
    outcomes: list[list[Outcome]],
) -> None:
    changed = [one for paper in outcomes for one in paper[1:]]
    assert summarise(changed)["sure_wrong"] <= 0.01, [
        (one.name, one.sure_wrong, one.sure) for one in changed if one.sure_wrong
    ]


@pytest.mark.hunt
@pytest.mark.parametrize(("language", "options", "answers"), PAPERS)
def test_numbered_lines_that_no_question_claims_are_always_warned_of(
    language: str, options: str, answers: str
) -> None:
    """A line that begins with a number lies in a question, or a warning says so.

    This holds whatever is read or not.
    """
    paper = make_paper(SIZE, 1, language, options, answers)
    silent: list[tuple[str, str]] = []
    for name, lines in some(list(mutate(paper)), 5):
        result = read_lines(lines)
        if any(warning.startswith("Not read: ") for warning in result["document"]["warnings"]):
            continue
        spans = [(question["text_start"], question["text_end"]) for question in result["questions"]]
        made = [Line(line) for line in lines]
        pieces = make_pieces(made, join_lines(made)[1])
        answers_from = next(
            (piece.start for piece in pieces if piece.text.strip() in ("参考答案", "Answer Key")), None
        )
        for index, piece in enumerate(pieces):
            label = piece.label
            is_numbered = label is not None and label.style == "num" and not label.is_weak
            is_claimed = any(first <= piece.start < last for first, last in spans)
            is_answer = answers != "brackets" and (answers_from is None or piece.start >= answers_from)
            if is_numbered and read_mark(index, piece) and not is_claimed and not is_answer:
                silent.append((name, piece.text[:40]))
    assert silent == []
