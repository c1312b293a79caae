from __future__ import annotations

import time
from collections.abc import Iterator

import polars as pl
import pytest

from schemas.errors import ContractError
from tasks.gscore.calculation.final_answer import compute_standard_answer
from tasks.gscore.calculation.items import (
    CalculationKind,
    compute_calculation_gscore,
    is_same_answer,
    score_calculations,
)
from tasks.gscore.calculation.latex_math import NotMathematics, parse_latex
from tasks.gscore.calculation.symbolic import SymbolicComparer
from tasks.gscore.metrics.batch import score_surface

# answer, reference, exact, in any order, in value (None: cannot be decided)
JUDGED = [
    ("12元", "12元。", True, True, True),
    ("x=1或x=-3", "x=-3或x=1", False, True, True),
    ("x=1,x=-3", "x=1或x=-3", False, True, True),
    ("x_1=1,x_2=-3", "x=1或x=-3", False, True, True),
    ("x=1或-3", "x=-3或x=1", False, True, True),
    (r"x=\pm 2", "x=-2或x=2", False, True, True),
    ("y=2,x=1", "x=1,y=2", False, True, True),
    ("x=1,y=2", "x=2,y=1", False, False, False),
    ("x=2", "2", False, True, True),
    ("x=2", "y=2", False, False, False),
    ("2,1", "1,2", False, False, False),
    ("0.5", r"\frac{1}{2}", False, False, True),
    ("1/2", r"\dfrac12", False, False, True),
    (r"1\frac{1}{2}", "1.5", False, False, True),
    ("50%", "0.5", False, False, True),
    ("12.5元", r"\frac{25}{2}元", False, False, True),
    ("12元", "12", False, False, False),
    ("12厘米", "12cm", False, False, False),
    (r"2\sqrt{2}", r"\sqrt{8}", False, False, True),
    (r"\frac{\pi}{6}", r"30^\circ", False, False, True),
    (r"\ln|x|+C", r"C+\ln|x|", False, False, True),
    (r"\ln x", r"\ln|x|", False, False, False),
    (r"\sin^2x", r"1-\cos^{2} x", False, False, True),
    (r"\sqrt{x^2}", "x", False, False, False),
    ("(x+1)(x-2)", "x^2-x-2", False, False, True),
    (r"\log_2 8", "3", False, False, True),
    (r"e^{2x}", r"(e^x)^2", False, False, True),
    (r"\frac{x}{2}", r"\frac{x}{3}", False, False, False),
    ("3.14", r"\pi", False, False, False),
    ("无解", "1", False, False, False),
    ("[1,2)", "(1,2]", False, False, None),
    (r"\begin{cases}x=1\end{cases}", "x=1", False, False, None),
]


@pytest.fixture(scope="module")
def comparer() -> Iterator[SymbolicComparer]:
    with SymbolicComparer(time_limit=20) as comparer:
        yield comparer


@pytest.mark.parametrize(("answer", "reference", "exact", "unordered", "symbolic"), JUDGED)
def test_answers_are_equal_exactly_or_in_any_order_or_in_value(
    comparer: SymbolicComparer,
    answer: str,
    reference: str,
    exact: bool,
    unordered: bool,
    symbolic: bool | None,
) -> None:
    ours, theirs = compute_standard_answer(answer), compute_standard_answer(reference)
    assert (ours == theirs) is exact
    assert is_same_answer(ours, theirs) is unordered
    assert is_same_answer(ours, theirs, comparer.is_equal) is symbolic
    assert is_same_answer(theirs, ours, comparer.is_equal) is symbolic


def test_what_takes_too_long_is_given_up_and_the_next_question_is_answered() -> None:
    with SymbolicComparer(time_limit=1.0) as comparer:
        assert comparer.is_equal("2", "1+1") is True
        start = time.monotonic()
        assert comparer.is_equal("9^{9^{9^{9}}}", "1") is None
        assert time.monotonic() - start < 5
        assert comparer.timeout_count <= 1
        assert comparer.is_equal(r"\frac{4}{2}", "2") is True


@pytest.mark.parametrize(
    "text",
    ["__import__", "x.y", "lambda:1", '"a"', "x;y", "\\input{a}", "(1", "1)", "", "1+", "f(x)" * 200, "甲"],
)
def test_only_mathematics_reaches_the_evaluator(text: str) -> None:
    with pytest.raises(NotMathematics):
        parse_latex(text)


def test_the_steps_console_for_a_wrong_answer_and_only_there() -> None:
    items = pl.DataFrame(
        {
            "kind": ["derivation", "derivation", "word_problem", "arithmetic", "arithmetic"],
            "reference": [
                "设x为2\n最终答案：x=2",
                "设x为2\n最终答案：x=2",
                "3+4=7\n最终答案：7元",
                "421",
                "421",
            ],
            "response": ["无\n最终答案：x=2", "设x为2\n最终答案：x=3", "最终答案：8元", "421", "123+298=421"],
        }
    )
    scored = score_calculations(items)
    chrf = score_surface(["设x为2", "3+4=7"], ["设x为2", ""], "cgeval-paper").chrf

    assert scored["accuracy"].to_list() == [1.0, 0.0, 0.0, 1.0, 0.0]
    assert scored["accuracy_symbolic"].to_list() == [1.0, 0.0, 0.0, 1.0, 1.0]
    assert scored["gscore"].to_list() == pytest.approx(
        [1.0, 0.3 * chrf[0], 0.3 * chrf[1], 1.0, 0.0], abs=1e-15
    )
    assert scored["step_chrf"][1] == chrf[0] > 0.6
    assert scored["answer_found_by"].to_list() == ["final_answer_marker"] * 3 + ["last_line"] * 2


def test_a_given_reference_answer_goes_before_the_one_in_the_solution() -> None:
    items = pl.DataFrame(
        {
            "kind": ["word_problem"] * 2,
            "reference": ["甲12千克\n答：甲重12千克", "甲12千克"],
            "reference_answer": ["24千克", None],
            "response": ["最终答案：24千克"] * 2,
        }
    )
    assert score_calculations(items)["accuracy"].to_list() == [1.0, 0.0]


def test_items_without_texts_are_not_scored_and_empty_responses_are_wrong() -> None:
    items = pl.DataFrame(
        {"kind": ["derivation"] * 3, "reference": ["1", None, "1"], "response": [None, "1", ""]},
        schema_overrides={"response": pl.String},
    )
    assert score_calculations(items, symbolic_time_limit=None)["gscore"].to_list() == [
        None,
        None,
        pytest.approx(0, abs=1e-15),
    ]


def test_without_a_time_limit_nothing_is_asked_of_sympy() -> None:
    items = pl.DataFrame({"kind": ["derivation"], "reference": ["0.5"], "response": ["1/2"]})
    assert score_calculations(items, symbolic_time_limit=None)["accuracy_symbolic"].to_list() == [None]


@pytest.mark.parametrize(("accuracy", "chrf", "kind", "gscore"), [(1, 0.2, "derivation", 1), (0, 1, "derivation", 0.3), (0, 0.5, "word_problem", 0.15), (0, 1, "arithmetic", 0)])  # fmt: skip
def test_a_wrong_answer_is_worth_at_most_three_tenths(
    accuracy: float, chrf: float, kind: CalculationKind, gscore: float
) -> None:
    assert compute_calculation_gscore(accuracy, chrf, kind) == pytest.approx(gscore)


def test_unknown_kinds_are_refused() -> None:
    with pytest.raises(ContractError, match=r"holds \['essay'\]; it must be one of arithmetic"):
        score_calculations(pl.DataFrame({"kind": ["essay"], "reference": ["1"], "response": ["1"]}))
