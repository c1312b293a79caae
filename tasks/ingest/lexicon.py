"""What papers call the types of their questions (schemas/data/question_types.yaml)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from typing import Any

import yaml

from schemas.vocabulary import QUESTION_TYPES


@dataclass(frozen=True)
class FineType:
    """A type as papers print it; `question_type` is ours, `accepts` what else it may rightly be read as."""

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
    "題選擇單項複簡問論計釋詞閱讀斷對錯證應綜設寫實務術語導與確誤無擬",
    "题选择单项复简问论计释词阅读断对错证应综设写实务术语导与确误无拟",
)


def simplify(text: str) -> str:
    """Write the traditional characters of type names as simplified ones; for comparison only."""
    return text.translate(_SIMPLE)


def _fold(text: str) -> str:
    text = simplify(text)
    return re.sub(r"[\s_\-]+", " ", text.casefold()).strip()


def match_type_name(text: str) -> FineType | None:
    """Return the type that a type cell names (`单选题`, `True/False`), or None when it names none."""
    folded = _fold(re.sub(r"[（(【\[].*?[)）】\]]", "", text))
    if not folded:
        return None
    for name, fine in _names():
        if folded == name or folded == name + "题":
            return fine
    if len(folded) > 24:
        return None
    for name, fine in _names():
        if _holds(folded, name) and (not name.isascii() or len(name) > 4):
            return fine
    return None


def find_type_in_title(title: str) -> FineType | None:
    """Return the type that a section title speaks of; the longest name found in it wins."""
    folded = _fold(title)
    for name, fine in _names():
        if name.isascii() and len(name) < 4:
            continue
        if _holds(folded, name):
            return fine
    for fine in read_fine_types():
        if any(pattern.search(title) for pattern in fine.patterns):
            return fine
    return None


def _holds(folded: str, name: str) -> bool:
    if not name.isascii():
        # the computer (计算机) is no calculation
        return name in (folded.replace("计算机", "") if name == "计算" else folded)
    return re.search(rf"(?<![a-z]){re.escape(name)}(?![a-z])", folded) is not None
