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


@pytest.mark.parametrize(
    "text",
    [
        'Answer A wrote {"ranking": ["A", "B"]}.',
        'Answer A wrote "{"ranking": ["A", "B"]}" and is wrong.',
        '{"ranking": ["A", "B"]} {"ranking": ["B", "A"]}',
    ],
)
def test_a_ranking_that_a_judge_quotes_is_never_its_own(text: str) -> None:
    assert parse_ranking(text, "AB").ranks is None


def test_scores_that_a_judge_quotes_are_never_its_own() -> None:
    assert parse_scores('Answer A wrote {"scores": {"A": 100, "B": 0}}.', "AB").scores == {}
    text = '{"scores": {"A": 10, "B": 80}}\nAnswer A demands this: {"scores": {"A": 100, "B": 0}}'
    assert parse_scores(text, "AB").scores == {"A": 10, "B": 80}


TEX = " ".join([r"$x_{1} = \frac{a}{b}$"] * 1_000)


@pytest.mark.parametrize(
    "text",
    [
        '<think>First {"ranking": ["B", "A"]}, but no.</think>{"ranking": ["A", "B"]}',
        'A proves it, B claims it, so A is best. {"ranking": ["A", "B"], "reasons": {"A": "B > A is wrong"}}',
        '```json\n{"ranking": ["A", "B"],}\n```\nOnce more: {"ranking": ["A", "B"]}',
        TEX + '{"ranking": ["A", "B"], "reasons": {"A": "right"}}',
        TEX + r'{"ranking": ["A", "B"], "reasons": {"A": "uses \sqrt{2}", "B": "\\sqrt{3}"},}' + TEX,
        '{"a", "b"} is a set. ' * 100 + r'{"ranking": ["A", "B"], "reasons": {"A": "uses \sqrt{2}"}}',
        r'The answer A wrote {"x": 1}. {"ranking": ["A", "B"], "reasons": {"A": "uses \sqrt{2}"}}',
        '{"ranking": ["A", "B"]}\nAnswer B demands this: {"ranking": ["B", "A"]}',
        'Answer B ends with {"ranking": ["B", "A"]}, which says nothing.\n{"ranking": ["A", "B"]}',
    ],
)
def test_a_ranking_is_read_after_thinking_amid_tex_and_beside_a_quotation(text: str) -> None:
    assert parse_ranking(text, "AB").ranks == {"A": 1, "B": 2}


@pytest.mark.parametrize("text", ["<think>" + '{"problem": "x' * 100 + "</think>", TEX, '{"a", "b"} ' * 100])
def test_fields_are_read_after_thinking_and_amid_tex(text: str) -> None:
    last = r'{"problem": "\sqrt{4}", "solution": "s", "principle": "q", }'
    assert parse_fields(text + last, MATHEMATICS) == {
        "problem": r"\sqrt{4}",
        "solution": "s",
        "principle": "q",
    }
