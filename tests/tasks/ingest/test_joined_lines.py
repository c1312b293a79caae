"""Lines that a margin cut: one where it is sure, two where the lower may begin something."""

from __future__ import annotations

import pytest

from tasks.ingest.layout.pieces import make_pieces
from tasks.ingest.readers.extraction import Line, join_lines
from tasks.ingest.splitting import Split, split_lines


def join(upper: str, lower: str, *, goes_on: bool = False) -> list[str]:
    lines = [Line(upper, kind="wrapped"), Line(lower, kind="wrapped" if goes_on else "body")]
    _, starts, _ = join_lines(lines)
    return [piece.text for piece in make_pieces(lines, starts)]


def split(*texts: str) -> Split:
    """Read lines of which all are cut by the margin but those that end with `↵`."""
    lines = [Line(text.rstrip("↵"), kind="body" if text.endswith("↵") else "wrapped") for text in texts]
    _, starts, _ = join_lines(lines)
    return split_lines(lines, starts)


@pytest.mark.parametrize(
    ("upper", "lower", "joined"),
    [
        ("生物进化过程中选择通过遗传和变异起", "作用", "生物进化过程中选择通过遗传和变异起作用"),
        (
            "which service of the cloud does",
            "the company use",
            "which service of the cloud does the company use",
        ),
        # In a bracket or a name even a number begins nothing.
        ("三、论述（写作要求：不少于", "800 字）", "三、论述（写作要求：不少于800 字）"),
    ],
)
def test_a_line_that_a_margin_cut_is_one_line_with_the_next(upper: str, lower: str, joined: str) -> None:
    assert join(upper, lower) == [joined]


@pytest.mark.parametrize(
    ("upper", "lower"),
    [
        ("下列说法中正确的一项是哪一个呢请选择", "A 甲"),
        ("下列说法中正确的一项是哪一个呢请选择", "a>甲"),
        ("下列说法中正确的一项是哪一个呢请选择", "（  ）甲乙丙"),
        ("下列说法中正确的一项是哪一个呢请选择", "4．1939 年的事"),
        ("下列说法中正确的一项是哪一个呢请选择", "• 甲乙丙"),
        ("下列说法中正确的一项是哪一个呢请选择", "答案是：正确"),
        ("隶属函数是对模糊概念的定量描述的说法", "正确"),
        ("简答题六个论述题两个，满分 100 分", "简答题："),
        ("Describe three forms of an economy. (5)", "Answer Key"),
        ("Name: ____________ Period ________", "Chapter three"),
        ("It is the tendency to believe", "______________"),
        ("the term is the first one.", "NO.2"),
        ("the colour of an extinguisher        1 point", "Mark only one oval"),
        ("横滑りは起こらないとする。", "問 7 横転する前に横滑りするか。"),
        ("Explain the function of RESET", "Explain the function of each pin"),
    ],
)
def test_what_may_begin_something_stays_a_line_of_its_own(upper: str, lower: str) -> None:
    assert join(upper, lower) == [upper, lower]


def test_prose_goes_on_below_a_sentence_where_its_lines_are_full() -> None:
    first, second = "The bond holds a pair of electrons.", "Each of them belongs to one of the two"
    assert join(first, second) == [first, second]
    assert join(first, second, goes_on=True) == [f"{first} {second}"]


def test_each_character_of_a_joined_line_keeps_its_place() -> None:
    lines = [Line("the follow-", kind="wrapped"), Line("  ing data and", kind="wrapped"), Line("types")]
    text, starts, _ = join_lines(lines)
    (piece,) = make_pieces(lines, starts)
    assert piece.text == "the following data and types"
    assert (piece.start, piece.end, piece.wraps) == (0, len(text), False)
    assert "".join(text[at] for at in piece.sources).replace("\n", " ") == "the following data andttypes"


def test_a_heading_of_several_lines_heads_the_numbers_below_it() -> None:
    """As in a Word file, where it is one line; it was a question that swallowed them."""
    found = split(
        "一、简答（本题30分。写作要求：不少于300字，请结合个人的",
        "实际学习感受回答，清晰陈述自己的思考与观点。）↵",
        "这学期的学习给你留下的印象最深的一节课是什么？↵",
        "二、论述（本题40分。请选择自己任课老师的题目进行回答，",
        "每人选一题，多选不加分，错选则本题不得分。写作要求：不少于",
        "800字，有独立思考，自选角度，自设观点，不蹈袭旧说常谈）↵",
        "1. 请阐释魏晋风度的内涵。↵",
        "2. 试论述白话文与文言文的审美特征差异。↵",
        "3. 谈谈沈从文的美学追求。↵",
    )
    assert [draft.number_label for draft in found.drafts] == ["一、", "1.", "2.", "3."]


def test_the_end_of_an_option_that_begins_small_is_no_explanation() -> None:
    texts = [
        line
        for number in range(1, 5)
        for line in (
            f"{number}) What is the clearance of line {number}?",
            "a) 3.7 metres",
            "b) 2.8 metres",
            "c) 3.7 metres and more",
            "d) None",
            "of the above",
        )
    ]
    found = split(*(f"{text}↵" for text in texts))
    assert [draft.options[-1] for draft in found.drafts] == [("D", "None of the above")] * 4
