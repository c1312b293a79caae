from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deployments.model_server.generators import write_statement
from tasks.bank.augment.wording import choose_frame
from tasks.ingest.words.cleaning import clean_text
from tasks.ingest.words.kinds import infer_free_type
from tasks.questions.blanks import count_blanks, fill_blanks, has_blank, is_call
from tasks.questions.question import BareQuestion, QuestionContent
from tasks.questions.rules import blanks_match_answers

BLANKS = [
    ("( ) and （　） and ____", 3),
    ("【 】与＿＿", 2),
    ("______", 1),
    ("（____）", 1),
    ("（__ __）", 1),
    ("它是﹍的", 1),
    ("26.1 mm = _ dm", 1),
    ("the mean should be _", 1),
    ("_ _", 2),
    ("Name it: [  ]", 1),
    ("这种方法是…………………………", 1),
    ("这种方法是……………………____", 1),
    ("the capital ()", 1),
    ("首都是()", 1),
    ("f（）", 1),
]
NO_BLANKS = [
    "f(x) = (x + 1)_2",
    "main() prints a[] and x_1 of [ ]",
    "operator_()",
    "他说：“……”",
    "…………命各省督府",
    "An adult………………..10 cowries",
    "（A）",
    "____".replace("_", "-"),
]


@pytest.mark.parametrize(("text", "count"), BLANKS)
def test_blanks_are_counted_as_papers_print_them(text: str, count: int) -> None:
    assert count_blanks(text) == count
    assert has_blank(text)


@pytest.mark.parametrize("text", NO_BLANKS)
def test_what_only_looks_like_a_blank_is_none(text: str) -> None:
    assert count_blanks(text) == 0
    assert not has_blank(text)
    assert fill_blanks(text, "X") == text


def test_blanks_are_filled_one_after_the_other() -> None:
    assert fill_blanks("____ and (  )", r"\1", most=1) == r"\1 and (  )"
    assert fill_blanks("____ and (  )", "X") == "X and X"


@settings(deadline=None)
@given(st.text(alphabet="_＿ ()（）【】[]…﹍a1\n", max_size=20))
def test_a_text_whose_blanks_are_filled_has_as_many_fillings_as_blanks(text: str) -> None:
    assert fill_blanks(text, "Ω").count("Ω") == count_blanks(text)
    assert has_blank(text) == (count_blanks(text) > 0)


def test_the_brackets_of_a_call_stay_as_they_are_typed() -> None:
    assert is_call("main()", 4)
    assert not is_call("()", 0)
    assert not is_call("是()", 1)
    assert clean_text("函数main()的返回值是()", "zh") == "函数main()的返回值是（）"


@pytest.mark.parametrize("text", [text for text, count in BLANKS if count == 1])
def test_what_one_stage_calls_a_blank_all_do(text: str) -> None:
    stem = f"甲 {text} 乙"
    assert infer_free_type(stem, None) == "fill_in_the_blank"
    assert blanks_match_answers(QuestionContent(BareQuestion("fill_in_the_blank", "zh", stem), ("丙",)))
    assert "上文空缺处" in choose_frame(stem, "zh", 1).before
    assert write_statement(stem, "丙") == f"{fill_blanks(stem, '丙')}。"


@pytest.mark.parametrize("text", NO_BLANKS)
def test_what_one_stage_calls_no_blank_none_does(text: str) -> None:
    assert infer_free_type(text, None) != "fill_in_the_blank"
    assert "上文空缺处" not in choose_frame(text, "zh", 1).before
    assert not blanks_match_answers(QuestionContent(BareQuestion("fill_in_the_blank", "zh", text), ("丙",)))
