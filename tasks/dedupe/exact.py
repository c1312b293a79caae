"""What questions say once spelling is taken away: their normal forms, and the key that equal questions share.

Taken away are width, case, white space, punctuation that papers write in several ways (`tasks.questions.identity`), the
difference between traditional and simplified characters, and the order of options.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from itertools import islice

import polars as pl

from tasks.dedupe.simplified import fold_traditional_all
from tasks.questions.identity import normalise_all_for_key


@dataclass(frozen=True)
class NormalForms:
    """The normal forms of some questions, in columns.

    Attributes:
        texts: material and stem as one text.
        options: the offered texts, sorted, without their labels.
        answers: the answer in words, sorted: keys count by the text of their option.
        content_keys: what is asked, not what is answered: equal where type, stem, material and options are.
    """

    texts: Sequence[str]
    options: Sequence[Sequence[str]]
    answers: Sequence[Sequence[str]]
    content_keys: Sequence[str]


def normalise_contents(contents: pl.DataFrame) -> NormalForms:
    """The normal forms of rows with the columns `question_type`, `stem`, `material`, `options` and `answer`."""
    types = contents["question_type"].to_list()
    stems = _normalise(contents["stem"].fill_null("").to_list())
    materials = contents["material"].to_list()
    has_material = [bool(text) for text in materials]
    wholes = _normalise(
        f"{material}\n{stem}"
        for material, stem, has in zip(materials, contents["stem"], has_material, strict=True)
        if has
    )
    shorts = _normalise(material for material, has in zip(materials, has_material, strict=True) if has)
    options = list(_regroup(_normalise(_flatten(contents["options"], "text")), _measure(contents["options"])))
    labels = _regroup(_flatten(contents["options"], "label"), _measure(contents["options"]))
    given = list(_regroup(_flatten(contents["answer"]), _measure(contents["answer"])))
    answers = list(_read_answers(labels, options, given))
    ordered = [sorted(texts) for texts in options]
    next_short, next_whole = iter(shorts), iter(wholes)
    short = [next(next_short) if has else "" for has in has_material]
    whole = [next(next_whole) if has else stem for stem, has in zip(stems, has_material, strict=True)]
    return NormalForms(
        texts=whole,
        options=ordered,
        answers=answers,
        content_keys=[
            blake2b("\x1f".join(parts).encode(), digest_size=16).hexdigest()
            for parts in (
                (kind, stem, material, *offered)
                for kind, stem, material, offered in zip(types, stems, short, ordered, strict=True)
            )
        ],
    )


def _normalise(texts: Iterable[str]) -> list[str]:
    return fold_traditional_all(normalise_all_for_key(list(texts)))


def _read_answers(
    labels: Iterable[Sequence[str]], options: Iterable[Sequence[str]], given: Sequence[Sequence[str]]
) -> Iterator[Sequence[str]]:
    """A key counts by the text of its option, any other answer by its own words."""
    by_label = [dict(zip(names, texts, strict=True)) for names, texts in zip(labels, options, strict=True)]
    others = iter(
        _normalise(
            key for known, keys in zip(by_label, given, strict=True) for key in keys if key not in known
        )
    )
    for known, keys in zip(by_label, given, strict=True):
        yield sorted(known[key] if key in known else next(others) for key in keys)


def _measure(lists: pl.Series) -> list[int]:
    return lists.list.len().fill_null(0).to_list()


def _flatten(lists: pl.Series, field: str | None = None) -> list[str]:
    """The items of all lists one after the other; a null item is an empty text."""
    held = lists.filter(lists.list.len().fill_null(0) > 0)
    if held.is_empty():
        return []
    items = held.explode()
    return (items if field is None else items.struct.field(field)).fill_null("").to_list()


def _regroup(items: Sequence[str], sizes: Sequence[int]) -> Iterator[tuple[str, ...]]:
    source = iter(items)
    for size in sizes:
        yield tuple(islice(source, size))
