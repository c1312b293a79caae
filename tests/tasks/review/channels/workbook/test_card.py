"""Cards lose nothing of a question where it is cut, and every line has room in its row."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.review.channels.workbook.card import (
    MOST_LINES,
    MOST_ROW_POINTS,
    CardParagraph,
    compute_height,
    measure,
    split_card,
    wrap,
)
from tests.hunts import tries

TEXT = st.text(st.sampled_from("ab W中文，。 -1𝑥é"), max_size=400)


@pytest.mark.hunt
@settings(max_examples=tries(20, 60), deadline=None)
@given(TEXT)
def test_a_wrapped_line_is_the_line_and_no_part_is_wider_than_the_cell(text: str) -> None:
    lines = list(wrap(text, 20))
    assert "".join(lines) == text
    assert all(sum(map(measure, line.rstrip())) <= 20 for line in lines)


@pytest.mark.hunt
@settings(max_examples=tries(15, 40), deadline=None)
@given(st.lists(TEXT, min_size=1, max_size=12))
def test_a_card_that_is_cut_is_whole_and_each_part_fits_a_row(texts: list[str]) -> None:
    card = [
        CardParagraph("stem", "【QUESTION】" if place == 0 else "", text) for place, text in enumerate(texts)
    ]
    parts = split_card(card, 20)
    assert "".join(one.whole for part in parts for one in part) == "".join(one.whole for one in card)
    for part in parts:
        shown = "\n".join(one.whole for one in part)
        assert sum(len(list(wrap(line, 20))) for line in shown.split("\n")) <= MOST_LINES
        assert compute_height([(shown, 20)]) <= MOST_ROW_POINTS <= 409


def test_chinese_takes_twice_the_room() -> None:
    latin, chinese = (len(next(wrap(text * 100, 40))) for text in ("a", "中"))
    assert 2 <= latin / chinese <= 2.3
