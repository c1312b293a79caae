from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.bank.dedupe.exact import fold_traditional, fold_traditional_codes, normalise_contents
from tasks.questions.identity import normalise_column, normalise_for_key
from tests.tasks.bank.augment.conftest import make_accepted, make_options
from tests.tasks.bank.dedupe.forms import frame_contents

if TYPE_CHECKING:
    from tasks.questions.identity.normal_texts import FoldFurther

SHARED = Path(os.environ.get("PROCTOR_SHARED_DATA", "../shared/data"))


def test_a_normal_form_holds_every_text_and_the_answer_in_words() -> None:
    row = make_accepted(
        "Which “one”?", material="A  text.", options=make_options("This.", "THAT"), answer=["B"]
    )
    forms = normalise_contents(frame_contents(row, make_accepted("Prime?", options=[], answer=[])))
    assert (forms.texts.to_list(), forms.options.to_list(), forms.answers.to_list()) == (
        ['a text.which"one"', "prime"],
        [["that", "this"], []],
        [["that"], []],
    )


def test_equal_texts_with_other_pictures_are_other_questions_whatever_number_a_picture_has() -> None:
    def ask(number: int, sha256: str) -> dict[str, object]:
        picture = {"number": number, "sha256": sha256 * 64, "place": "stem"}
        return make_accepted(f"What does [picture:{number}] show in this circuit?", pictures=[picture])

    first, again, other, plain = normalise_contents(
        frame_contents(ask(1, "a"), ask(2, "a"), ask(1, "b"), make_accepted("What does it show?"))
    ).content_keys
    assert first == again != other
    assert plain not in (first, other)


def test_an_answer_that_is_no_label_counts_by_its_own_words() -> None:
    row = make_accepted("When?", question_type="short_answer", options=[], answer=["In May.", "a day"])
    assert normalise_contents(frame_contents(row)).answers.to_list() == [["a day", "in may"]]


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("“光合作用”发生在( )。", '"光合作用" 发生在（　）'),
        ("Ａ、Ｂ 两点的距离是？", "A,B两点的距离是"),
        ("下列說法正確的是", "下列说法正确的是"),
    ],
    ids=["quotes, spaces and stops", "width", "traditional characters"],
)
def test_spelling_makes_no_difference_to_the_key(left: str, right: str) -> None:
    rows = [make_accepted(stem, options=make_options("叶绿体", "线粒体 ")) for stem in (left, right)]
    rows[1]["options"] = make_options("線粒體", "葉綠體")
    first, second = normalise_contents(frame_contents(*rows)).content_keys
    assert first == second


@pytest.mark.parametrize(
    "changes",
    [
        {"stem": "Another?"},
        {"material": "A text."},
        {"question_type": "short_answer"},
        {"options": make_options("39", "52", "111", "120")},
    ],
    ids=["stem", "material", "type", "options"],
)
def test_whatever_else_is_asked_has_another_key(changes: dict[str, object]) -> None:
    row = make_accepted("One?")
    first, second = normalise_contents(frame_contents(row, row | changes)).content_keys
    assert first != second


@pytest.mark.parametrize("fold_further", [None, fold_traditional_codes], ids=["plain", "and simplified"])
@settings(deadline=None)
@given(
    texts=st.lists(
        st.text(
            st.sampled_from("aZ_ \t[](（）＿…①ﬁéＡ。“”\u0301\u200b\u00ad\u2028\x1f가ㄱ中一葉國\x00?.")
            | st.characters(exclude_categories=["Cs"]),
            max_size=9,
        ),
        max_size=5,
    )
)
def test_many_normal_forms_are_those_of_each_text_by_itself(
    fold_further: FoldFurther | None, texts: list[str]
) -> None:
    forms = [normalise_for_key(text) for text in texts]
    if fold_further is not None:
        forms = [fold_traditional(form) for form in forms]
    assert normalise_column(pl.Series(texts, dtype=pl.String), fold_further).to_list() == forms


def test_folding_twice_changes_nothing_more_and_keeps_the_length() -> None:
    text = "乾隆皇帝與臺灣的關係，髮與發"
    once = fold_traditional(text)
    assert (once, len(once)) == ("干隆皇帝与台湾的关系，发与发", len(text))
    assert fold_traditional(once) == once


@pytest.mark.skipif(
    not (SHARED / "bank" / "question_bank.parquet").exists(),
    reason="needs ../shared/data/bank (or PROCTOR_SHARED_DATA), which is not part of the project",
)
def test_equal_keys_are_the_groups_that_brute_force_finds_in_a_real_bank() -> None:
    from tests.benchmarks.duplicate_truth import read_rows

    rows = read_rows(6_000)
    keys = normalise_contents(frame_contents(*rows)).content_keys
    brute = [
        (
            row["question_type"],
            fold_traditional(normalise_for_key(row["stem"])),
            tuple(sorted(fold_traditional(normalise_for_key(option["text"])) for option in row["options"])),
        )
        for row in rows
    ]
    pairs = pl.DataFrame({"key": keys, "brute": [repr(parts) for parts in brute]}).unique()
    assert pairs["key"].is_unique().all()
    assert pairs["brute"].is_unique().all()
    assert pairs.height < len(rows)
