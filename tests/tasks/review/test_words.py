"""Decision words as people write them, in both languages."""

from __future__ import annotations

import pytest

from schemas.reviews import DECISIONS, REJECT_REASONS
from schemas.vocabulary import DISCIPLINES, QUESTION_TYPES
from tasks.review.words import LANGUAGES, Topic, list_words, parse_word


@pytest.mark.parametrize(
    ("decision", "texts"),
    [
        ("accept", "accept Accept 接受 同意 通过 采用 ok OK Ok. √ ✓ y Y yes 通过。 accept／通过"),
        ("edit", "edit 修改 改 更正 EDIT 修改后通过 edit/修改后通过"),
        ("reject", "reject 不通过 拒绝 退回 不同意 × x X ✗ n no No. 不通过！ reject/退回"),
    ],
)
def test_decisions_are_understood_as_people_write_them(decision: str, texts: str) -> None:
    assert {text: parse_word(text, "decisions") for text in texts.split()} == dict.fromkeys(
        texts.split(), decision
    )


@pytest.mark.parametrize("text", ["", "perhaps", "accept reject", "不", "通过 退回", "?"])
def test_what_may_be_two_decisions_or_none_is_none(text: str) -> None:
    assert parse_word(text, "decisions") is None


def test_every_code_has_words_in_both_languages_and_is_found_by_them() -> None:
    topics: dict[Topic, tuple[str, ...]] = {
        "decisions": DECISIONS,
        "reasons": REJECT_REASONS,
        "question_types": QUESTION_TYPES,
        "disciplines": DISCIPLINES,
    }
    for topic, codes in topics.items():
        for language in LANGUAGES:
            words = list_words(topic, language)
            assert set(words) == set(codes)
            assert {parse_word(word, topic) for word in words.values()} == set(codes)
        assert all(parse_word(code, topic) == code for code in codes)
