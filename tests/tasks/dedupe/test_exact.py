from __future__ import annotations

from tasks.augment.true_false import augment_questions
from tasks.dedupe.duplicates import Entry
from tasks.dedupe.exact import NormalForm, compute_content_key, normalise_content
from tasks.questions.question import Question
from tasks.questions.variant import Variant
from tests.tasks.augment.conftest import NOW, make_accepted, make_frame, make_options


def test_a_normal_form_holds_every_text_and_the_answer_in_words() -> None:
    row = make_accepted(
        "Which “one”?", material="A  text.", options=make_options("This.", "THAT"), answer=["B"]
    )
    assert normalise_content(Question.from_row(row).content) == NormalForm(
        question_type="multiple_choice",
        stem='which"one"',
        material="a text",
        whole='a text.which"one"',
        options=("that", "this"),
        answers=("that",),
    )


def test_without_a_material_the_whole_is_the_stem() -> None:
    form = normalise_content(Question.from_row(make_accepted("Prime?")).content)
    assert (form.material, form.whole) == ("", form.stem)


def test_an_answer_that_is_no_label_counts_by_its_own_words() -> None:
    row = make_accepted("When?", question_type="short_answer", options=[], answer=["In May.", "a day"])
    assert normalise_content(Question.from_row(row).content).answers == ("a day", "in may")


def test_the_key_of_a_template_variant_is_the_uuid_that_its_content_gives() -> None:
    variants, _ = augment_questions(make_frame(make_accepted()), unit="b1", now=NOW)
    for row in variants.iter_rows(named=True):
        variant = Variant.from_row(row)
        entry = Entry(variant.question, generator=variant.generator)
        assert entry.content_key == variant.question.question_uuid
        assert entry.content_key == compute_content_key(normalise_content(variant.content))
