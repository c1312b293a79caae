"""The batch path equals sacrebleu, rouge-score and (for the paper's profile) nltk."""

from __future__ import annotations

import random
import warnings
from collections import Counter
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from schemas.errors import UsageError
from tasks.gscore.metrics import batch
from tasks.gscore.metrics.batch import count_ngrams, score_surface
from tasks.gscore.metrics.profiles import PROFILES
from tasks.gscore.metrics.reference import score_surface_by_reference
from tasks.gscore.metrics.tokens import parse_characters
from tests.hunts import tries

PIECES = [
    *"ab19.,-' \n\t\u3000中文字，。、（）ａ１é😀\U00020000\u200b\x1f%&/=|~",
    "...", ",,", "1.5", "-3", "--", "\\frac{1}{2}", "$x^2$", "mRNA", "中文字", "的的的的", "don't", "e.g.", "１２", "3,000", "\u2028", "👩‍👩‍👧",
]  # fmt: skip
TEXTS = st.lists(st.sampled_from(PIECES), max_size=14).map("".join) | st.text(max_size=20)


def assert_equal_to_reference(pairs: Sequence[tuple[str, str]], profile: str) -> None:
    references, responses = zip(*pairs, strict=True)
    fast = score_surface(references, responses, profile)
    slow = score_surface_by_reference(references, responses, profile)
    for name, ours, theirs in zip(fast._fields, fast, slow, strict=True):
        worst = int(np.argmax(np.abs(ours - theirs)))
        assert abs(ours[worst] - theirs[worst]) <= 1e-12, (profile, name, pairs[worst])


@pytest.mark.hunt
@pytest.mark.parametrize("profile", PROFILES)
@given(pairs=st.lists(st.tuples(TEXTS, TEXTS), min_size=1, max_size=24))
@example(pairs=[("", ""), ("", "a"), ("a", ""), (" ", "\n"), ("a" * 300, "a" * 7), ("好", "好")])
@example(pairs=[(".5", "5."), ("a..5", "a.,.5"), (",", "1,"), ("1-2--3", "-1"), ("1.。", "3.14．")])
@settings(max_examples=tries(8, 50), deadline=None)
def test_any_pairs_score_as_the_packages_score_them(profile: str, pairs: list[tuple[str, str]]) -> None:
    assert_equal_to_reference(pairs, profile)


@pytest.mark.parametrize("profile", PROFILES)
def test_thousands_of_random_pairs_score_as_the_packages_score_them(profile: str) -> None:
    draw = random.Random(20)
    pairs = [
        (
            "".join(draw.choices(PIECES, k=draw.randrange(12))),
            "".join(draw.choices(PIECES, k=draw.randrange(12))),
        )
        for _ in range(3_000)
    ]
    assert_equal_to_reference(pairs, profile)


@pytest.mark.hunt
@given(pairs=st.lists(st.tuples(TEXTS, TEXTS), min_size=1, max_size=12))
@settings(max_examples=tries(30, 100), deadline=None)
def test_the_paper_profile_is_nltk_on_texts_without_white_space(pairs: list[tuple[str, str]]) -> None:
    from nltk.translate.bleu_score import sentence_bleu
    from nltk.translate.chrf_score import sentence_chrf

    pairs = [("".join(a.split()), "".join(b.split())) for a, b in pairs]
    scores = score_surface([a for a, _ in pairs], [b for _, b in pairs], "cgeval-paper")
    for index, (reference, response) in enumerate(pairs):
        if len(reference) < 4 or not response:
            continue  # nltk divides by zero, or takes the orders that are not there for matched
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # nltk's advice to smooth
            bleu = sentence_bleu([list(response)], list(reference))
        assert scores.bleu4[index] == pytest.approx(bleu, abs=1e-12)
        assert scores.chrf[index] == pytest.approx(sentence_chrf(reference, response), abs=1e-12)


@pytest.mark.hunt
@given(pairs=st.lists(st.tuples(TEXTS, TEXTS), min_size=1, max_size=12))
@settings(max_examples=tries(30, 100), deadline=None)
def test_the_counts_are_those_of_counting_one_by_one(pairs: list[tuple[str, str]]) -> None:
    references, responses = (["".join(text.split()) for text in side] for side in zip(*pairs, strict=True))
    counts = count_ngrams(parse_characters([*references, *responses]), 6)
    for index, (reference, response) in enumerate(zip(references, responses, strict=True)):
        for n in range(1, 7):
            ours, theirs = _count(reference, n), _count(response, n)
            row = (
                counts.reference[index, n - 1],
                counts.response[index, n - 1],
                counts.matches[index, n - 1],
            )
            assert row == (ours.total(), theirs.total(), (ours & theirs).total())
        bigrams = set(_count(reference, 2))
        assert counts.distinct_reference[index] == len(bigrams)
        assert counts.distinct_matches[index] == len(bigrams & set(_count(response, 2)))


def _count(text: str, n: int) -> Counter[str]:
    return Counter(text[i : i + n] for i in range(len(text) - n + 1))


@pytest.mark.parametrize("profile", PROFILES)
def test_a_pair_scores_the_same_alone_and_among_others(profile: str, monkeypatch: pytest.MonkeyPatch) -> None:
    draw = random.Random(3)
    pairs = [("".join(draw.choices(PIECES, k=20)), "".join(draw.choices(PIECES, k=20))) for _ in range(50)]
    references, responses = zip(*pairs, strict=True)
    together = score_surface(references, responses, profile)
    monkeypatch.setattr(batch, "BATCH_CHARACTERS", 1)
    alone = score_surface(references, responses, profile)
    for ours, theirs in zip(together, alone, strict=True):
        np.testing.assert_array_equal(ours, theirs)


def test_texts_too_long_for_keys_with_a_position_are_sorted_another_way(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    draw = random.Random(1)
    pairs = [
        ("".join(draw.choices("天地玄黄ab ", k=300)), "".join(draw.choices("天地玄黄ab ", k=200)))
        for _ in range(20)
    ]
    monkeypatch.setattr(batch, "_KEY_BITS", 20)
    assert_equal_to_reference(pairs, "standard")


@pytest.mark.long
def test_a_book_is_counted_exactly_too() -> None:
    # too long for a sort key to carry its position: the other way to sort is taken
    draw = random.Random(1)
    book = "".join(draw.choices("天地玄黄宇宙洪荒ab ", k=1_200_000))
    scores = score_surface([book, "日月"], [book, "日月"], "standard")
    assert scores.rouge2.tolist() == [1.0, 1.0]
    assert scores.chrf[0] == pytest.approx(1.0, abs=1e-12)
    assert scores.bleu4[0] == pytest.approx(1.0, abs=1e-12)


@pytest.mark.hunt
@pytest.mark.parametrize("profile", PROFILES)
@given(text=TEXTS)
@settings(max_examples=tries(15, 50), deadline=None)
def test_no_score_leaves_the_scale(profile: str, text: str) -> None:
    for column in score_surface([text, text], [text, text[:-1]], profile):
        assert column.min() >= 0.0
        assert column.max() <= 1.0


def test_no_pairs_give_no_scores() -> None:
    assert [len(column) for column in score_surface([], [], "standard")] == [0, 0, 0]


def test_sides_of_unequal_length_are_refused() -> None:
    with pytest.raises(ValueError, match="2 references, but 1 responses"):
        score_surface(["a", "b"], ["a"], "standard")


def test_an_unknown_profile_is_refused_with_the_known_ones() -> None:
    with pytest.raises(UsageError, match="cgeval-paper, standard"):
        score_surface(["a"], ["a"], "best")
