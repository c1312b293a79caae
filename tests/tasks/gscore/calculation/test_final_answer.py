from __future__ import annotations

import pytest

from tasks.gscore.calculation.final_answer import compute_standard_answer, parse_final_answer


@pytest.mark.parametrize(
    ("response", "answer", "found_by", "steps"),
    [
        ("解：略\n最终答案：12元。", "12元。", "final_answer_marker", "解：略"),
        ("先写最终答案：1\n改正\n**最终答案**：\n\n  2 \n后记", "2", "final_answer_marker", "先写最终答案：1\n改正"),
        ("答：甲是3\n所以答案是：x=3", "x=3", "answer_marker", "答：甲是3\n所以"),
        ("Steps.\nFinal answer: 5 km", "5 km", "final_answer_marker", "Steps."),
        ("因此 \\boxed{\\frac{1}{2}} 成立", "\\frac{1}{2}", "boxed", "因此"),
        ("第一步\n421\n\n", "421", "last_line", "第一步"),
        ("421", "421", "last_line", ""),
        ("最终答案：\n", "最终答案：", "last_line", ""),
        ("  \n", None, "nothing", ""),
    ],
)  # fmt: skip
def test_the_answer_is_what_follows_the_last_marker_or_the_last_box_or_line(
    response: str, answer: str | None, found_by: str, steps: str
) -> None:
    assert parse_final_answer(response) == (answer, found_by, steps)


@pytest.mark.parametrize(
    ("answer", "standard"),
    [
        ("24千克，8千克、22千克。", "24千克,8千克,22千克"),
        (r"$\dfrac{9}{2}$", r"\frac{9}{2}"),
        (r"\(\frac12\)", r"\frac{1}{2}"),
        (r"\left( x + 1 \right)^{2}", "(x+1)^{2}"),
        (r"x ^ 2", "x^{2}"),
        ("1,234", "1234"),
        ("12,345,678.50", "12345678.5"),
        ("1,2", "1,2"),
        ("3.140", "3.14"),
        ("5.00元", "5元"),
        ("100", "100"),
        (".5", "0.5"),
        (r"\log_2 8", r"\log_{2}8"),
        (r"\sin x", r"\sin x"),
        (r"\text{12 元}", "12元"),
        (r"30^{\circ}", "30^\\circ"),
        ("30°", "30^\\circ"),
        (r"f^{\prime}(x)=2x", "f'(x)=2x"),
        ("y′=2x", "y'=2x"),
        (r"x \leqslant 3", r"x\le3"),
        ("x≤3", r"x\le3"),
        (r"x=1\text{ or }x=-3", "x=1或x=-3"),
        ("答：１２元", "12元"),
        ("**7**", "7"),
        (r"\sqrt2", r"\sqrt{2}"),
        ("", ""),
    ],
)
def test_spellings_of_one_answer_have_one_standard_form(answer: str, standard: str) -> None:
    assert compute_standard_answer(answer) == standard
    assert compute_standard_answer(standard) == standard


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("12元", "12"),
        ("12元", "12角"),
        ("1,2", "2,1"),
        ("x^2", "x2"),
        ("-3", "3"),
        ("1/2", "0.5"),
        ("12", "1,2"),
    ],
)
def test_answers_that_differ_stay_different(one: str, other: str) -> None:
    assert compute_standard_answer(one) != compute_standard_answer(other)
