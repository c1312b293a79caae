from __future__ import annotations

import uuid

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tasks.questions.identity.normal_form import (
    compute_document_id,
    compute_normal_uuid,
    compute_question_uuid,
    normalise_for_key,
)
from tasks.questions.question import BareQuestion, Option
from tests.hunts import tries
from tests.tasks.questions.normal_form_yardstick import normalise_plainly


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("下列说法（　　）。", "下列说法()"),
        ("Ａ“甲”", 'a"甲"'),
        ("Hello  World ", "hello world"),
        ("填____空", "填（ ）空"),
        ("x—y", "x-y"),
        ("a\u200bb", "ab"),
        ("_ _", "____"),
        ("caf\u00e9", "cafe\u0301"),
    ],
)
def test_variants_of_one_question_have_one_key(one: str, other: str) -> None:
    assert normalise_for_key(one) == normalise_for_key(other)


@pytest.mark.parametrize(
    ("one", "other"), [("x+1", "x-1"), ("2 3", "23"), ("不正确", "正确"), ("a<b", "a>b"), ("(A,B)", "(B,A)")]
)
def test_different_questions_have_different_keys(one: str, other: str) -> None:
    assert normalise_for_key(one) != normalise_for_key(other)


@settings(deadline=None)
@given(st.text(max_size=100))
def test_normalising_twice_changes_nothing_more(text: str) -> None:
    once = normalise_for_key(text)
    assert normalise_for_key(once) == once


# Everything that the steps of the normal form touch, where two of them may meet.
_TOUCHED = "_ \t\u3000()[]（）【】〔〕.,;:!?。，、“”‘’《》—－\u00ad\u200b\ufeffaZ9ßİΣςﬁ½①Ａ汉\u0301\u0345\u0338\uac00\u1100\u1161\u11a8가ﾊﾞ\u0f71"


@pytest.mark.hunt
@settings(max_examples=tries(200, 1_000), deadline=None)
@given(st.one_of(st.text(max_size=60), st.text(alphabet=_TOUCHED, max_size=24)))
# What two hundred drawn texts seldom hold: letters that become one with what stands before them.
@example("\u1100\u1161\u11a8")
@example("\uac00\u11a8")
@example("a\u0345\u0301")
@example("ﾊ\u200bﾞ")
def test_the_quick_normal_form_equals_the_plain_one(text: str) -> None:
    assert normalise_for_key(text) == normalise_plainly(text)


@pytest.mark.hunt
def test_every_character_alone_and_between_letters_has_the_plain_normal_form() -> None:
    """A fifth of them in every run, of each block."""
    planes = [*range(0xD800), *range(0xE000, 0x10000), *range(0x1D100, 0x1FB00), *range(0x2F800, 0x2FA20)]
    texts = [form.replace("?", chr(code)) for code in planes[:: tries(5, 1)] for form in ("a?b", "（?）e??.")]
    assert [text for text in texts if normalise_for_key(text) != normalise_plainly(text)] == []


@pytest.mark.parametrize(
    ("bare", "question_uuid"),
    [
        (
            BareQuestion(
                "multiple_choice",
                "zh",
                "下列属于质数的是（　　）。",
                None,
                (Option("A", "39"), Option("B", "51"), Option("C", "53")),
            ),
            "3a33ece0-5bb5-5508-a407-221d9f1e0097",
        ),
        (
            BareQuestion("fill_in_the_blank", "en", "Water boils at ____ °C … at “sea level”."),
            "115c2bf9-3e1f-50d3-8d04-3845cacd3bf1",
        ),
        (
            BareQuestion("material_analysis", "zh", "根据材料，说明Ｈ₂Ｏ的作用？", "材料：《水》—— ½ 杯"),
            "965d4771-cbb1-595b-a3d8-b8660572b486",
        ),
        (
            BareQuestion("term_explanation", "en", "Café ﬁnance － ΔΗ: 한국 \u200bΜΆΪΟΣ e\u0301", ""),
            "5105e002-c18a-5b99-8f01-591686834c0e",
        ),
        (
            BareQuestion("true_false", "en", "x _ _ y is [ ] and 【 】"),
            "54d90777-3aeb-5ac5-928d-5a151e7a6249",
        ),
    ],
)
def test_the_uuid_of_a_question_never_changes(bare: BareQuestion, question_uuid: str) -> None:
    assert compute_question_uuid(bare) == question_uuid


def test_the_uuid_depends_on_content_only() -> None:
    options = (Option("A", "甲"), Option("B", "乙"))
    one = compute_question_uuid(BareQuestion("multiple_choice", "zh", "下列正确的是（ ）。", None, options))

    def compute(question_type: str, material: str | None, offered: tuple[Option, ...]) -> str:
        return compute_question_uuid(BareQuestion(question_type, "en", "下列正确的是()", material, offered))

    assert one == compute("multiple_choice", "", options)
    assert one != compute("multiple_choice", "材料", options)
    assert one != compute("multiple_choice", None, options[:1])
    assert one != compute("short_answer", None, options)
    assert uuid.UUID(one).version == 5


def test_a_uuid_from_normal_texts_is_that_of_the_question() -> None:
    bare = BareQuestion("multiple_choice", "en", " Which “one” ? ", None, (Option("A", "This."),))
    assert compute_normal_uuid("multiple_choice", 'which"one"', "", [("A", "this")]) == compute_question_uuid(
        bare
    )


def test_the_id_of_a_document_never_changes() -> None:
    assert compute_document_id("ab" * 32) == "a12b3518-950d-5649-afe0-0d54ad3421de"
