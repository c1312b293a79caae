"""Texts to arrays of symbols.

There is one symbol per character, or one per token of sacrebleu's `zh` tokeniser.

The `zh` tokeniser isolates Chinese characters and most ASCII signs and keeps the rest as words. Here its rules are
evaluated for a whole batch at once on the array of code points; texts with adjacent full stops or commas, where its
left-to-right substitutions depend on each other, go through the same four substitutions one by one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from schemas import patterns as re

FIRST_WORD_SYMBOL = 0x110000
"""Symbols from here on are words of several characters; below, a symbol is the code point of a character."""

# What sacrebleu treats as Chinese. Its ranges for planes 2 and above are written with four-digit escapes and in
# effect cover U+2001–U+2A6D and U+2F81–U+2FA1; equality with it matters more here than what was meant.
_CHINESE_RANGES = (
    (0x2001, 0x2A6D),
    (0x2E80, 0x2FDF),
    (0x2FF0, 0x303F),
    (0x3100, 0x312F),
    (0x31A0, 0x31BF),
    (0x31C0, 0x31EF),
    (0x3200, 0x33FF),
    (0x3400, 0x4DB5),
    (0x4E00, 0x9FBB),
    (0xF900, 0xFA2D),
    (0xFA30, 0xFA6A),
    (0xFA70, 0xFAD9),
    (0xFE10, 0xFE1F),
    (0xFE30, 0xFE4F),
    (0xFF00, 0xFFEF),
)
_ISOLATED_ASCII = r" !\"#$%&()*+:;<=>?@/[\]^_`{|}~"

_SPACE, _SINGLE, _STOP, _DASH, _DIGIT, _WORD = range(6)
_CHINESE = re.compile("([" + "".join(f"{chr(a)}-{chr(b)}" for a, b in _CHINESE_RANGES) + "])")
_SUBSTITUTIONS = (
    (_CHINESE, r" \1 "),
    (re.compile(r"([ -&(-+:-@/\[-`{-~])"), r" \1 "),
    (re.compile(r"([^0-9])([.,])"), r"\1 \2 "),
    (re.compile(r"([.,])([^0-9])"), r" \1 \2"),
    (re.compile(r"([0-9])(-)"), r"\1 \2 "),
)


class Symbols(NamedTuple):
    """A batch of texts as one array of symbols."""

    values: npt.NDArray[np.int64]
    """The symbols of all texts, one text after the other."""

    lengths: npt.NDArray[np.int64]
    """How many symbols each text has."""


def parse_characters(texts: Sequence[str]) -> Symbols:
    """Return the non-space characters of every text."""
    codes, lengths = _parse_codes(texts)
    keep = _classes_of(codes) != _SPACE
    if keep.all():
        return Symbols(codes, lengths)
    return Symbols(codes[keep], _sum_by_text(keep, lengths))


def parse_zh_tokens(texts: Sequence[str]) -> Symbols:
    """Return the tokens of every text as sacrebleu's `zh` tokeniser makes them.

    This is sacrebleu 2.6; a test checks it on every code point.

    Words of several characters get symbols from `FIRST_WORD_SYMBOL`; the same word has the same symbol within one call only.
    """
    # The tokeniser strips first, so that a leading full stop is at the start of the line for its second rule.
    stripped = [text.strip() for text in texts]
    codes, lengths = _parse_codes(stripped)
    if len(codes) == 0:
        return Symbols(codes, lengths)
    classes = _classes_of(codes)
    text_of = np.repeat(np.arange(len(stripped)), lengths)
    starts = np.ones(len(codes), dtype=np.bool_)
    starts[1:] = text_of[1:] != text_of[:-1]
    ends = np.ones(len(codes), dtype=np.bool_)
    ends[:-1] = starts[1:]

    before = np.empty_like(classes)
    before[0], before[1:] = _SPACE, classes[:-1]
    after = np.empty_like(classes)
    after[-1], after[:-1] = _SPACE, classes[1:]

    stop = classes == _STOP
    tangled = stop & (before == _STOP) & ~starts
    # A stop is split off unless it stands between digits, or between a digit and an edge of the text, or both edges.
    alone = classes == _SINGLE
    alone |= stop & ((~starts & (before != _DIGIT)) | (~ends & (after != _DIGIT)))
    alone |= (classes == _DASH) & ~starts & (before == _DIGIT)

    visible = classes != _SPACE
    joined = np.zeros(len(codes), dtype=np.bool_)
    glue = visible & ~alone
    joined[1:] = glue[1:] & glue[:-1] & ~starts[1:]
    token_starts = np.flatnonzero(visible & ~joined)
    values = codes[token_starts]
    lengths_of_tokens = _sum_by_text(visible & ~joined, lengths)

    words: dict[str, int] = {}
    has_more = np.zeros(len(codes), dtype=np.bool_)
    has_more[:-1] = joined[1:]
    heads = np.flatnonzero(has_more[token_starts])
    if len(heads):
        whole = "".join(stripped)
        tails = np.flatnonzero(joined & ~has_more)
        values[heads] = [
            words.setdefault(whole[start : end + 1], FIRST_WORD_SYMBOL + len(words))
            for start, end in zip(token_starts[heads].tolist(), tails.tolist(), strict=True)
        ]
    symbols = Symbols(values, lengths_of_tokens)
    if tangled.any():
        return _replace_tangled(symbols, stripped, np.unique(text_of[tangled]).tolist(), words)
    return symbols


def _parse_codes(texts: Sequence[str]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    lengths = np.fromiter(map(len, texts), dtype=np.int64, count=len(texts))
    # surrogatepass: a lone surrogate is a character like any other to the reference implementations
    raw = "".join(texts).encode("utf-32-le", "surrogatepass")
    return np.frombuffer(raw, dtype="<u4").astype(np.int64), lengths


def _build_class_table() -> npt.NDArray[np.int8]:
    """Return the class of every code point below 0x10000; all above are parts of words."""
    table = np.full(0x10001, _WORD, dtype=np.int8)
    for first, last in _CHINESE_RANGES:
        table[first : last + 1] = _SINGLE
    for character in _ISOLATED_ASCII:
        table[ord(character)] = _SINGLE
    for digit in range(10):
        table[ord("0") + digit] = _DIGIT
    table[ord(".")] = table[ord(",")] = _STOP
    table[ord("-")] = _DASH
    for code in range(0x10000):
        if chr(code).isspace():
            table[code] = _SPACE
    return table


_CLASS_TABLE = _build_class_table()


def _classes_of(codes: npt.NDArray[np.int64]) -> npt.NDArray[np.int8]:
    return _CLASS_TABLE[np.minimum(codes, 0x10000)]


def _sum_by_text(flags: npt.NDArray[np.bool_], lengths: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Return how many flags are set in each text."""
    total: npt.NDArray[np.int64] = np.zeros(len(flags) + 1, dtype=np.int64)
    np.cumsum(flags, out=total[1:])
    ends = np.cumsum(lengths)
    counts: npt.NDArray[np.int64] = total[ends] - total[ends - lengths]
    return counts


def _replace_tangled(
    symbols: Symbols, stripped: Sequence[str], which: Sequence[int], words: dict[str, int]
) -> Symbols:
    """Return the symbols with the texts of `which` split by successive substitution."""
    parts = np.split(symbols.values, np.cumsum(symbols.lengths)[:-1])
    lengths = symbols.lengths.copy()
    for index in which:
        line = stripped[index]
        for pattern, replacement in _SUBSTITUTIONS:
            line = pattern.sub(replacement, line)
        parts[index] = np.array(
            [
                ord(token) if len(token) == 1 else words.setdefault(token, FIRST_WORD_SYMBOL + len(words))
                for token in line.split()
            ],
            dtype=np.int64,
        )
        lengths[index] = len(parts[index])
    return Symbols(np.concatenate(parts), lengths)
