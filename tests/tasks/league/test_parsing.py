from __future__ import annotations

import pytest

from tasks.league.domain import read_domain
from tasks.league.parsing import parse_fields, parse_ranking, parse_scores

MATHEMATICS = read_domain("mathematics").question
FIELDS = {"problem": "How many?", "solution": "Seven.", "result": "7", "principle": "counting"}


@pytest.mark.parametrize(
    "text",
    [
        '{"problem": "How many?", "solution": "Seven.", "result": "7", "principle": "counting"}',
        'Here it is:\n```json\n{"Problem": "How many?", "SOLUTION": "Seven.", "result": 7, "principle": "counting",}\n```\nDone.',
        '{"draft": 1} and then {"problem": "How many?", "solution": "Seven.", "result": "7", "principle": "counting"}',
    ],
    ids=["plain", "fenced, other case, a comma too many", "the last object counts"],
)
def test_the_fields_are_read_from_what_models_write(text: str) -> None:
    assert parse_fields(text, MATHEMATICS) == FIELDS


def test_an_optional_field_may_be_missing_and_no_other() -> None:
    assert parse_fields('{"problem": "p", "solution": "s", "principle": "q"}', MATHEMATICS) == {
        "problem": "p",
        "solution": "s",
        "principle": "q",
    }
    assert parse_fields('{"problem": "p", "solution": ""}', MATHEMATICS) is None
    assert parse_fields("no object at all", MATHEMATICS) is None
    assert parse_fields('{"problem": "p"', MATHEMATICS) is None


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        (r"\frac{1}{2}", r"\frac{1}{2}"),
        (r"\alpha + \sum x", r"\alpha + \sum x"),
        (r"a \times \theta", r"a \times \theta"),
        (r"\beta", r"\beta"),
        (r"\rho \neq 0", r"\rho \neq 0"),
        (r"\\frac{1}{2}", r"\frac{1}{2}"),
        (r"two\nlines", "two\nlines"),
    ],
)
def test_tex_survives_single_backslashes(written: str, meant: str) -> None:
    text = '{"problem": "' + written + '", "solution": "s", "principle": "q"}'
    read = parse_fields(text, MATHEMATICS)
    assert read is not None
    assert read["problem"] == meant


@pytest.mark.parametrize(
    "ranking",
    [
        '["B", "A", "C"]',
        '["Answer B", "answer (a)", "[C]"]',
        '"B > A > C"',
        '"B, A, C"',
        '["作答B", "A.", "c"]',
    ],
)
def test_a_ranking_is_read_in_the_forms_that_judges_use(ranking: str) -> None:
    read = parse_ranking('{"ranking": ' + ranking + ', "reasons": {"A": "ok"}, "memorised": []}', "ABC")
    assert read.ranks == {"B": 1, "A": 2, "C": 3}
    assert read.reasons == {"A": "ok"}


@pytest.mark.parametrize(
    "text",
    [
        '{"ranking": ["A", "B"]}',
        '{"ranking": ["A", "B", "B"]}',
        '{"ranking": ["A", "B", "C", "D"]}',
        '{"ranking": ["A", "B", "gpt"]}',
        '{"ranking": []}',
        "A is best",
        '["A", "B", "C"]',
    ],
)
def test_a_ranking_that_is_not_of_every_letter_is_none(text: str) -> None:
    assert parse_ranking(text, "ABC").ranks is None


def test_scores_are_read_and_what_is_no_score_is_missing_and_never_0() -> None:
    text = '{"scores": {"A": 85, "Program B": "70/100", "C": 101, "D": null, "E": true, "F": -1}}'
    assert parse_scores(text, "ABCDEF").scores == {"A": 85.0, "B": 70.0}


def test_a_flag_needs_the_template_that_it_cites() -> None:
    text = (
        '{"ranking": ["A", "B"], "memorised": [{"answer": "B", "template": "Monty Hall"}, {"answer": "A"}, '
        '{"answer": "Z", "template": "x"}]}'
    )
    assert parse_ranking(text, "AB").templates == {"B": "Monty Hall"}
