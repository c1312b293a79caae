from __future__ import annotations

import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.gscore.metrics.tokens import FIRST_WORD_SYMBOL, parse_characters, parse_zh_tokens
from tests.hunts import tries
from tests.tasks.gscore.metrics.test_batch import TEXTS


def split(text: str) -> list[str]:
    """The tokens as texts: single characters as they are, longer words as a mark."""
    return [
        chr(value) if value < FIRST_WORD_SYMBOL else "<word>"
        for value in parse_zh_tokens([text]).values.tolist()
    ]


@pytest.mark.hunt
@given(texts=st.lists(TEXTS, min_size=1, max_size=10))
@settings(max_examples=tries(60, 200), deadline=None)
def test_texts_are_split_as_sacrebleu_splits_them(texts: list[str]) -> None:
    from sacrebleu.tokenizers.tokenizer_zh import TokenizerZh

    tokenizer = TokenizerZh()
    symbols = parse_zh_tokens(texts)
    expected = [tokenizer(text.rstrip()).split() for text in texts]

    assert symbols.lengths.tolist() == [len(tokens) for tokens in expected]
    # one symbol per word and one word per symbol
    pairs = set(zip(symbols.values.tolist(), (token for tokens in expected for token in tokens), strict=True))
    assert len({symbol for symbol, _ in pairs}) == len({token for _, token in pairs}) == len(pairs)


def test_every_code_point_is_split_from_its_neighbours_as_sacrebleu_does() -> None:
    from sacrebleu.tokenizers.tokenizer_zh import TokenizerZh

    tokenizer = TokenizerZh()
    codes = [*range(0x3500), *range(0x4DA0, 0x4E10), *range(0x9FA0, 0xA010), *range(0xD7F0, 0x10020), *range(0x1F600, 0x1F610),
             *range(0x20000, 0x20010), *range(0x2A6D0, 0x2A6E0), *range(0x2F800, 0x2FA30), sys.maxunicode]  # fmt: skip
    texts = [f"a{chr(code)}1{chr(code)}" for code in codes if not 0xD800 <= code < 0xE000]
    symbols = parse_zh_tokens(texts)
    tokens = iter(symbols.values.tolist())
    wrong = []
    for text, length in zip(texts, symbols.lengths.tolist(), strict=True):
        found = [next(tokens) for _ in range(length)]
        expected = [ord(token) if len(token) == 1 else None for token in tokenizer(text.rstrip()).split()]
        if [value if value < FIRST_WORD_SYMBOL else None for value in found] != expected:
            wrong.append(hex(ord(text[1])))
    assert wrong == []


def test_numbers_and_words_stay_whole_and_signs_stand_alone() -> None:
    assert split("约3.14m（中）") == ["约", "<word>", "（", "中", "）"]
    assert split("a.b, c-d") == ["a", ".", "b", ",", "<word>"]


def test_characters_leave_out_white_space_of_every_kind() -> None:
    symbols = parse_characters(["a b\u3000\n中", "", "\u2003x"])
    assert [chr(value) for value in symbols.values] == ["a", "b", "中", "x"]
    assert symbols.lengths.tolist() == [3, 0, 1]
