"""Stars are read only where they are certain."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.judging.parsing import parse_judgement

READABLE = [
    ('{"stars": 3, "reason": "答案与解释都对"}', 3, "答案与解释都对"),
    ('{"reason": "half", "stars": 1}', 1, "half"),
    ('```json\n{\n  "stars": 2,\n  "reason": "解释不全"\n}\n```', 2, "解释不全"),
    ('我的评阅如下：{"stars": "2", "reason": "尚可"} 以上。', 2, "尚可"),
    ('{"stars": 2.0, "reason": "ok"}', 2, "ok"),
    ('{"stars": "3/3", "reason": "ok"}', 3, "ok"),
    ('{"Stars": 0, "Reason": "wrong"}', 0, "wrong"),
    ('{"星级": 1, "理由": "有一点道理"}', 1, "有一点道理"),
    ('{"result": {"stars": 2}}', 2, None),
    ('{"stars": 2, "reason": "用了 \\alpha 记号"}', 2, "用了 \\alpha 记号"),
    ('{"stars": 2, "reason": "他说"对"，但没有解释"}', 2, '他说"对"，但没有解释'),
    ('{"stars": 1, "reason": "line one\nline two"}', 1, "line one\nline two"),
    ('{"stars": 2, "reason": "cut off', 2, "cut off"),
    ('"Overall Rating": 3\nThe reason why you gave this rating: It is right.', 3, "It is right."),
    ("Overall Rating: 2\nThe reason why you gave this rating: Mostly.", 2, "Mostly."),
    ("**Overall Rating:** 1\n理由：部分合理", 1, "部分合理"),
    ("星级：2\n理由：解释不完整", 2, "解释不完整"),
    ("评分为 3", 3, "评分为 3"),
    ("这份作答可得2星。", 2, "这份作答可得2星。"),
    ("给三颗星", 3, "给三颗星"),
    ("I give it 1 star.", 1, "I give it 1 star."),
    (
        "On the scale of 0-3 stars this is worth 2 stars.",
        2,
        "On the scale of 0-3 stars this is worth 2 stars.",
    ),
    ('{"stars": 2, "reason": "2 stars, for it is right"}\n{"stars": 2, "reason": "again"}', 2, "again"),
]
UNREADABLE = [
    "",
    "这份作答还可以。",
    "{}",
    '{"reason": "no stars"}',
    '{"stars": null, "reason": "?"}',
    '{"stars": true}',
    '{"stars": 4, "reason": "splendid"}',
    '{"stars": -1}',
    '{"stars": 2.5, "reason": "between"}',
    '{"stars": "good"}',
    '{"stars": [1, 2]}',
    '{"stars": 1} {"stars": 3}',
    '{"stars": N, "reason": "..."}',
    "Overall Rating: 7",
    "Overall Rating: -1",
    "Overall Rating: 2\nOverall Rating: 3",
    "2星或3星都可以",
    "五星好评",
    "Overall Rating: none",
    "The answer is 3 metres.",
    "The scale runs to 0-3 stars.",
]


@pytest.mark.parametrize(("text", "stars", "reason"), READABLE)
def test_stars_and_reason_are_read_in_every_form_that_judges_use(
    text: str, stars: int, reason: str | None
) -> None:
    parsed = parse_judgement(text)
    assert parsed.stars == stars
    assert reason is None or parsed.reason == reason


@pytest.mark.parametrize("text", UNREADABLE)
def test_what_names_no_stars_other_stars_or_several_is_unparsed(text: str) -> None:
    assert parse_judgement(text).stars is None


@given(st.text())
def test_whatever_a_judge_returns_is_read_without_failing(text: str) -> None:
    assert parse_judgement(text).stars in (None, 0, 1, 2, 3)


@given(st.text(alphabet=st.characters(exclude_characters="0123456789零一二两三四五")))
def test_a_text_without_any_number_is_never_worth_stars(text: str) -> None:
    numbers = [character for character in text if character.isdigit()]
    assert numbers or parse_judgement(text).stars is None
