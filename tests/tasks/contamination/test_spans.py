"""What is blanked, and whether a completion gives it back, in Chinese and English."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path

import pytest

from tasks.contamination.replay import read_set
from tasks.contamination.spans import BLANK, choose_span, extract_passage, is_recalled, render_replay

SHARED = Path(os.environ.get("PROCTOR_SHARED_DATA", Path(__file__).resolve().parents[4] / "shared" / "data"))


@pytest.mark.parametrize(
    ("stem", "options", "kind", "text"),
    [
        ("某厂1998年生产120吨，比上年多几成？", (), "number", "120"),
        ("The treaty of 1648 ended a war of 30 years.", (), "number", "30"),
        ("在12的倍数中，12与24之外还有哪些？", (), "number", "24"),
        ("《史记》是哪一体例的开端？", (), "term", "史记"),
        ("The so-called “veil of ignorance” belongs to whom?", (), "term", "veil of ignorance"),
        ("下列哪项正确？", ("边际效用递减规律", "价格", "成本"), "option", "边际效用递减规律"),
        ("Which enzyme unwinds it?", (), "word", "unwinds"),
        ("光合作用发生在何处？", (), "word", "光合作用发生"),
    ],
)
def test_a_span_is_chosen_by_the_first_rule_that_finds_one(
    stem: str, options: tuple[str, ...], kind: str, text: str
) -> None:
    span = choose_span(stem, options)
    assert span is not None
    assert (span.kind, span.text) == (kind, text)
    assert span.blanked.count(BLANK) == 1
    assert span.blanked.replace(BLANK, span.text).startswith(stem)
    assert text not in span.blanked


def test_a_span_that_could_be_copied_is_passed_over_and_nothing_may_be_left() -> None:
    repeated = choose_span("设有24人，其中24人到场，共36次。")
    assert repeated is not None
    assert repeated.text == "36"
    assert choose_span("是否？") is None


@pytest.mark.parametrize(
    ("span", "kind", "completion", "recalled"),
    [
        ("120", "number", "120", True),
        ("120", "number", "答案：１２０吨", True),
        ("1,200", "number", "1200", True),
        ("120", "number", "120 或 130", False),
        ("120", "number", "12", False),
        ("边际效用递减规律", "option", "“边际效用递减规律”", True),
        ("边际效用递减规律", "option", "是边际效用递减规律。\n因为……", True),
        ("史记", "term", "可能是史记、汉书、后汉书、三国志", False),
        ("veil of ignorance", "term", "The Veil of Ignorance", True),
        ("veil of ignorance", "term", "it might be the veil of ignorance or else something", False),
        ("史记", "term", "汉书", False),
        ("史记", "term", "  \n ", None),
        ("史记", "term", "——", None),
    ],
)
def test_a_completion_matches_in_spirit_of_its_kind(
    span: str, kind: str, completion: str, recalled: bool | None
) -> None:
    assert is_recalled(span, kind, completion) is recalled


@pytest.mark.parametrize("language", ["zh", "en"])
def test_a_passage_is_found_again_in_its_request(language: str) -> None:
    blanked = f"line one\nof {BLANK}\nA. x"
    assert extract_passage(render_replay(blanked, language)) == blanked
    assert extract_passage([{"role": "user", "content": "none"}]) is None


@pytest.mark.skipif(
    not (SHARED / "contamination").exists(),
    reason="needs the real data beside the checkout (or PROCTOR_SHARED_DATA)",
)
@pytest.mark.parametrize("name", ["agieval_1000", "ceval_1000"])
def test_nearly_every_question_of_a_public_set_has_a_span(name: str) -> None:
    questions = read_set(SHARED / "contamination" / f"{name}.parquet", {})
    spans = [choose_span(str(one["stem"]), one["options"]) for one in questions]  # type: ignore[arg-type]
    found = [span for span in spans if span is not None]
    assert len(found) >= 0.97 * len(questions)
    assert {"number", "term", "option"} <= set(Counter(span.kind for span in found))
    for span in found:
        assert is_recalled(span.text, span.kind, span.text) is True, span.kind
