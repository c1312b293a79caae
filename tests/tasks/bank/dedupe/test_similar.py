"""Questions with like words are found by the key of one of them."""

from __future__ import annotations

from typing import Any

from tasks.bank.dedupe import SimilarQuestions

STEM = "Which of the following statements about the tides of the northern sea is correct in number {}?"


def ask(stem: str, *options: str) -> dict[str, Any]:
    offered = [{"label": label, "text": text} for label, text in zip("ABCD", options, strict=False)]
    kind = "multiple_choice" if options else "short_answer"
    return {"question_type": kind, "stem": stem, "material": None, "options": offered, "answer": ["A"]}


def test_other_numbers_are_similar_and_other_words_are_not() -> None:
    index: SimilarQuestions[str] = SimilarQuestions()
    index.add(["one", "two", "other"], [ask(STEM.format(1)), ask(STEM.format(2)), ask("Name a river.")])
    ((found, share),) = index.find("one")
    assert found == "two" and share > 0.8
    assert index.find("other") == [] == index.find("unknown")


def test_what_is_added_later_is_found_and_nothing_is_added_twice() -> None:
    index: SimilarQuestions[str] = SimilarQuestions()
    index.add(["one"], [ask(STEM.format(1))])
    assert index.find("one") == []
    for _ in range(2):
        index.add(
            ["one", "same", "less"], [ask("x"), ask(STEM.format(1)), ask(STEM.format(1)[:70] + " wind?")]
        )
    assert len(index) == 3
    found = index.find("one")
    assert [key for key, _ in found] == ["same", "less"]
    assert found[0][1] == 1.0


def test_options_count_as_words_of_a_question() -> None:
    index: SimilarQuestions[str] = SimilarQuestions()
    options = ("the moon pulls the water", "the wind drives the water", "ships displace it", "it is warmed")
    index.add(["one", "alike", "bare"], [ask("Why?", *options), ask("Why?", *reversed(options)), ask("Why?")])
    assert [key for key, _ in index.find("one")] == ["alike"]
