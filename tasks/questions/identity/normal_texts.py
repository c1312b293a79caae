"""What `normalise_for_key` makes of each of many texts, over all their code points at once."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING

import polars as pl

from schemas.lazy import np
from tasks.questions.identity.normal_form import CLOSING_STOPS, WORD_LETTERS, fold_letter, normalise_for_key

if TYPE_CHECKING:
    from numpy.typing import NDArray

    FoldFurther = Callable[[NDArray[np.uint32]], NDArray[np.uint32]]

# Stands after each of the texts that are folded together.
_END = "\x00"
# In the table of letters: one without a single letter as its form, one that is dropped, and one not looked at yet.
_HARD, _DROPPED, _NEW = 0x10FFFF, 0x10FFFE, 0x10FFFD
_CODES = 0x110000


def normalise_column(texts: pl.Series, fold_further: FoldFurther | None = None) -> pl.Series:
    """The normal form of each text.

    `fold_further` is a fold of single code points that comes after it.

    Nulls are not allowed. A character whose form depends on its neighbours, or is several letters, sends its text through
    `normalise_for_key`.
    """
    joined = str(texts.str.join(_END).item() or "") + _END if len(texts) else ""
    if joined.count(_END) != len(texts):
        return _normalise_one_by_one(texts, range(len(texts)), fold_further)
    given = np.frombuffer(joined.encode("utf-32-le"), dtype=np.uint32)
    if not len(given):
        return texts
    codes = _look_up(given)
    ends = np.flatnonzero(given == 0)
    hard = np.searchsorted(ends, np.flatnonzero(codes == _HARD))
    codes = _fold_shapes(codes)
    lines = (codes[:-1] == ord("_")) & (codes[1:] == ord("_"))
    if lines.any():
        # Underscores that a dropped space has brought together are not settled yet.
        unsettled = np.searchsorted(np.flatnonzero(codes == 0), np.flatnonzero(lines))
        hard = np.concatenate([hard, unsettled])
    if fold_further is not None:
        codes = fold_further(codes)
    folded = codes[:-1].tobytes().decode("utf-32-le")
    found = pl.Series(texts.name, [folded]).str.split(_END).explode()
    places = np.unique(hard).tolist()
    return found.scatter(places, _normalise_one_by_one(texts, places, fold_further)) if places else found


def _normalise_one_by_one(
    texts: pl.Series, places: range | list[int], fold_further: FoldFurther | None
) -> pl.Series:
    forms = [normalise_for_key(text) for text in texts.gather(list(places)).to_list()]
    if fold_further is not None:
        forms = [
            fold_further(np.frombuffer(form.encode("utf-32-le"), dtype=np.uint32))
            .tobytes()
            .decode("utf-32-le")
            for form in forms
        ]
    return pl.Series(texts.name, forms, dtype=pl.String)


def _fold_shapes(codes: NDArray[np.uint32]) -> NDArray[np.uint32]:
    """Fold white space, blanks and closing stops of folded letters; `_END` follows each text."""
    dropped = codes == _DROPPED
    if dropped.any():
        codes = codes[~dropped]
    is_space = codes == ord(" ")
    if is_space.any():
        codes = codes[~(is_space & _shift(is_space, 1))]
    is_line = codes == ord("_")
    if is_line.any():
        codes = _fold_lines(codes, is_line)
    spaces = np.flatnonzero(codes == ord(" "))
    if len(spaces):
        # One that stands first in the whole has what stands last before it: the end of a text, which is no word.
        is_word = _mark(WORD_LETTERS)[np.minimum(np.stack([codes[spaces - 1], codes[spaces + 1]]), 0x7F)]
        codes = np.delete(codes, spaces[~(is_word[0] & is_word[1])])
    opening = np.flatnonzero((codes[:-1] == ord("[")) & (codes[1:] == ord("]")))
    if len(opening):
        codes[opening], codes[opening + 1] = ord("("), ord(")")
    return _drop_closing_stops(codes)


def _fold_lines(codes: NDArray[np.uint32], is_line: NDArray[np.bool_]) -> NDArray[np.uint32]:
    """Each run of underscores becomes an opening and a closing bracket."""
    before = _shift(is_line, 1)
    first = is_line & ~before & _shift(is_line, -1)
    second = is_line & before & ~_shift(before, 1)
    folded = np.where(first, np.uint32(ord("(")), np.where(second, np.uint32(ord(")")), codes))
    return folded[~(is_line & before & ~second)]


def _drop_closing_stops(codes: NDArray[np.uint32]) -> NDArray[np.uint32]:
    is_stop = _mark(frozenset(CLOSING_STOPS))
    last = np.flatnonzero(codes == 0) - 1
    dropped = []
    while len(last):
        last = last[(last >= 0) & is_stop[np.minimum(codes[last], 0x7F)]]
        dropped.append(last)
        last = last - 1
    return np.delete(codes, np.concatenate(dropped)) if dropped else codes


def _shift(marks: NDArray[np.bool_], by: int) -> NDArray[np.bool_]:
    """The marks of the places before (1) or after (-1) each place; none beyond the ends."""
    moved = np.zeros_like(marks)
    if by > 0:
        moved[by:] = marks[:-by]
    else:
        moved[:by] = marks[-by:]
    return moved


@cache
def _mark(letters: frozenset[str]) -> NDArray[np.bool_]:
    """Which ASCII characters are among these; the last place stands for all others."""
    marks = np.zeros(0x80, dtype=bool)
    marks[[ord(letter) for letter in letters]] = True
    return marks


def _look_up(codes: NDArray[np.uint32]) -> NDArray[np.uint32]:
    """The code of each letter's form: a space for white space, `_HARD` to fold it by itself."""
    table = _build_table()
    folded = table[codes]
    if len(new := np.unique(codes[folded == _NEW])):
        for code in new.tolist():
            form = fold_letter(code)
            if form is None or len(form) > 1:
                table[code] = _HARD
            else:
                table[code] = _DROPPED if not form else ord(" ") if form.isspace() else ord(form)
        folded = table[codes]
    return folded


@cache
def _build_table() -> NDArray[np.uint32]:
    table = np.full(_CODES, _NEW, dtype=np.uint32)
    table[0] = 0
    return table
