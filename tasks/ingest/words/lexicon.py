"""What papers call the types of their questions (schemas/data/question_types.yaml)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from typing import Any

import yaml

from schemas import patterns as re
from schemas.vocabulary import QUESTION_TYPES
from tasks.ingest.words.once import once_a_paper


@dataclass(frozen=True)
class FineType:
    """A type as papers print it, ours, and what else it may rightly be read as."""

    name: str
    question_type: str
    accepts: tuple[str, ...]
    names: tuple[str, ...]
    patterns: tuple[re.Pattern[str], ...]


@lru_cache(maxsize=1)
def read_fine_types() -> tuple[FineType, ...]:
    """Return the finer types in the order of the file."""
    source = resources.files("schemas").joinpath("data/question_types.yaml").read_text(encoding="utf-8")
    entries: list[dict[str, Any]] = yaml.safe_load(source)
    found = tuple(
        FineType(
            name=entry["name"],
            question_type=entry["question_type"],
            accepts=tuple(entry.get("accepts", ())),
            names=tuple(str(name) for name in entry["names"]),
            patterns=tuple(re.compile(pattern, re.IGNORECASE) for pattern in entry.get("patterns", ())),
        )
        for entry in entries
    )
    assert {fine.question_type for fine in found} <= set(QUESTION_TYPES)
    return found


def find_fine_type(name: str) -> FineType | None:
    """Return the finer type of this exact `name` field, or None."""
    return next((fine for fine in read_fine_types() if fine.name == name), None)


@lru_cache(maxsize=1)
def _names() -> tuple[tuple[str, FineType], ...]:
    pairs = [(_fold(name), fine) for fine in read_fine_types() for name in fine.names]
    pairs += [(_fold(fine.question_type), fine) for fine in read_fine_types()]
    return tuple(sorted(pairs, key=lambda pair: -len(pair[0])))


_SIMPLE = str.maketrans(
    "題選擇單項複簡問論計釋詞閱讀斷對錯證應綜設寫實務術語導與確誤無擬據資組圖連線",
    "题选择单项复简问论计释词阅读断对错证应综设写实务术语导与确误无拟据资组图连线",
)


@once_a_paper
def simplify(text: str) -> str:
    """Write the traditional characters of type names as simplified ones; for comparison only."""
    return text.translate(_SIMPLE)


_GAP = re.compile(r"[\s_\-]+")


def _fold(text: str) -> str:
    text = simplify(text)
    return _GAP.sub(" ", text.casefold().replace("ı", "i")).strip()  # `SORULARI` is `soruları`


@lru_cache(maxsize=1)
def _by_name() -> dict[str, FineType]:
    found: dict[str, FineType] = {}
    for name, fine in _names():
        for variant in (name, name + "题", name + " questions", name + " type questions", name + "部分"):
            found.setdefault(variant, fine)
    return found


@lru_cache(maxsize=1)
def _any_name() -> re.Pattern[str]:
    """Every name, the longest first; Latin ones of four letters at least, as whole words."""
    chinese = [re.escape(name) for name, _ in _names() if not name.isascii()]
    latin = [re.escape(name) for name, _ in _names() if name.isascii() and len(name) >= 4]
    return re.compile("|".join(chinese) + r"|(?<![a-z])(?:" + "|".join(latin) + r")(?![a-z])")


# A cell that is longer names no type.
_LONGEST_NAME = 1_000


@lru_cache(maxsize=4096)
def match_type_name(text: str) -> FineType | None:
    """Return the type that a type cell names (`单选题`, `True/False`), or None when it names none."""
    text = text[:_LONGEST_NAME].strip().strip("[]【】")
    folded = _fold(re.sub(r"[（(【\[].*?[)）】\]]", "", text))
    if not folded:
        return None
    exact = _by_name().get(folded)
    if exact is not None:
        return exact
    return _find_longest(folded) if len(folded) <= 24 else None


@lru_cache(maxsize=4096)
def match_exactly(title: str) -> FineType | None:
    """Return the type whose name a title is, give or take a closing 题, 部分 or `questions`."""
    if not 0 < len(title) <= 40 or not may_name(title[0], title[-1]):
        return None
    return _by_name().get(_fold(title))


def may_name(first: str, last: str) -> bool:
    """Whether a type's name may begin and end with these characters: most texts do neither."""
    return _may_begin_name(first) and _may_end_name(last)


@lru_cache(maxsize=1 << 12)
def _may_begin_name(character: str) -> bool:
    folded = _fold(character)
    return not folded or folded[0] in _ends()[0]


@lru_cache(maxsize=1 << 12)
def _may_end_name(character: str) -> bool:
    folded = _fold(character)
    return not folded or folded[-1] in _ends()[1]


@lru_cache(maxsize=1)
def _ends() -> tuple[frozenset[str], frozenset[str]]:
    """The characters that names begin with, and those that they end with."""
    return frozenset(name[0] for name in _by_name()), frozenset(name[-1] for name in _by_name())


@lru_cache(maxsize=4096)
def find_type_in_title(title: str) -> FineType | None:
    """Return the type that a section title speaks of; the longest name found in it wins."""
    return _find_longest(_fold(title)) or find_type_by_pattern(title)


# All patterns are English or Arabic. The last four letters are others of s, k and i to a pattern that minds no case.
_LETTERS = re.compile("[A-Za-zſ\u212aİı\u0620-\u064a]{3}")
_ODD_LETTERS = re.compile("[ſ\u212aİı]")


def may_match_pattern(title: str) -> bool:
    """Whether a title holds a word that a pattern may match."""
    return _LETTERS.search(title) is not None


def find_type_by_pattern(title: str, among: tuple[str, ...] = ()) -> FineType | None:
    """Return the type of a title that is a sentence (`Choose the best answer`).

    `among` are the types of ours that it may be of (all where it is empty); None where it is of another.
    """
    if not may_match_pattern(title) or not _matches_any(title, among):
        return None
    fine = next(
        (fine for fine in read_fine_types() if any(pattern.search(title) for pattern in fine.patterns)), None
    )
    return None if fine is None or (among and fine.question_type not in among) else fine


def _matches_any(title: str, among: tuple[str, ...]) -> bool:
    """Whether any pattern matches, in one look: few titles are sentences.

    Small letters are compared with small letters, which takes a sixth of the time of a pattern that minds no case.
    """
    return _ODD_LETTERS.search(title) is not None or _any_pattern(among).search(title.lower()) is not None


@lru_cache(maxsize=8)
def _any_pattern(among: tuple[str, ...]) -> re.Pattern[str]:
    patterns = [
        re.sub(r"(?<!\\)[A-Z]", lambda letter: letter[0].lower(), pattern.pattern)
        for fine in read_fine_types()
        if not among or fine.question_type in among
        for pattern in fine.patterns
    ]
    return re.compile("|".join(f"(?:{pattern})" for pattern in patterns))


def _find_longest(folded: str) -> FineType | None:
    # the computer (计算机) is no calculation (计算)
    matches = _any_name().findall(folded.replace("计算机", ""))
    return _by_name()[max(matches, key=len)] if matches else None
