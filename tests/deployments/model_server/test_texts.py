"""What simulated candidates write when a text or a calculation is asked for."""

from __future__ import annotations

from pathlib import Path

import pytest

from deployments.model_server.profile import SimulatedModel
from deployments.model_server.texts import write_model_answer, write_text_answer
from tasks.gscore.calculation.items import score_calculations
from tests.tasks.gscore.world import RESULT_ONLY, WITH_STEPS, write_question_file

DEFINITION = "以下是大学物理科目的术语：共振，请解释其含义，把回复控制在80个汉字左右。"


def write(accuracy: float, prompt: str) -> str | None:
    return write_text_answer(SimulatedModel("m", accuracy={"default": accuracy}), prompt, "1", "seed")


def test_a_definition_names_its_term_and_keeps_about_the_length_asked_for() -> None:
    answer = write_model_answer(DEFINITION)
    assert answer is not None
    assert answer.startswith("共振是大学物理中")
    assert 75 <= len(answer) <= 105


@pytest.mark.parametrize(
    ("expression", "result"),
    [("88-20-12=", "56"), ("24×5=", "120"), ("1÷4=", "0.25"), ("10÷3=", "10/3"), ("（2+3）×4=", "20")],
)
def test_arithmetic_is_worked_out_and_nothing_else_is_said(expression: str, result: str) -> None:
    assert write_model_answer(RESULT_ONLY + expression) == result


@pytest.mark.parametrize("stem", ["9**9**9=", "__import__('os')=", "1÷0=", "2^3="])
def test_what_is_no_plain_expression_is_not_evaluated(stem: str) -> None:
    answer = write_model_answer(RESULT_ONLY + stem)
    assert answer is not None
    assert 1 <= int(answer) <= 99


def test_a_calculation_ends_with_its_final_answer_and_a_bent_one_is_wrong() -> None:
    prompt = WITH_STEPS + "每箱6个苹果，7箱共有多少个？"
    right, wrong = write(1.0, prompt), write(0.0, prompt)
    assert right == write_model_answer(prompt)
    assert right is not None and wrong is not None
    assert right.startswith("解：") and right.splitlines()[-1].startswith("最终答案：")
    import polars as pl

    items = pl.DataFrame(
        {"kind": ["word_problem"] * 2, "reference": [right] * 2, "response": [right, wrong]},
        schema={"kind": pl.String, "reference": pl.String, "response": pl.String},
    )
    assert score_calculations(items, symbolic_time_limit=None)["accuracy"].to_list() == [1.0, 0.0]


def test_an_able_candidate_comes_closer_to_the_model_answer(tmp_path: Path) -> None:
    prompts = write_question_file(tmp_path / "questions.csv")["prompt"].to_list()
    shares = []
    for accuracy in (1.0, 0.6, 0.1):
        shares.append(sum(write(accuracy, prompt) == write_model_answer(prompt) for prompt in prompts))
    assert shares[0] == len(prompts)
    assert shares[0] > shares[1] > shares[2]


def test_other_prompts_are_not_texts() -> None:
    assert write_model_answer("你好") is None
    assert write(0.5, "What is the capital of France?") is None
