"""Which discipline a paper belongs to, by mapping, folder, file name or first lines."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from importlib import resources

import yaml

from schemas.vocabulary import DISCIPLINES

# The Ministry's own names of the 13. Whole values only: 理学 also stands inside 管理学, 文学 inside 天文学.
CHINESE_NAMES = dict(
    zip(
        (
            "哲学", "经济学", "法学", "教育学", "文学", "历史学", "理学", "工学", "农学", "医学", "军事学", "管理学", "艺术学",
        ),
        DISCIPLINES,
        strict=True,
    )
)  # fmt: skip


@lru_cache(maxsize=1)
def read_disciplines() -> dict[str, dict[str, tuple[str, ...]]]:
    """Return the words by sub-discipline by discipline (schemas/data/disciplines.yaml)."""
    source = resources.files("schemas").joinpath("data/disciplines.yaml").read_text(encoding="utf-8")
    raw = yaml.safe_load(source)
    assert set(raw) == set(DISCIPLINES)
    return {
        discipline: {name: tuple(str(word) for word in words) for name, words in subs.items()}
        for discipline, subs in raw.items()
    }


@lru_cache(maxsize=1)
def _words() -> tuple[tuple[str, str, str], ...]:
    found = [
        (word.casefold(), discipline, sub)
        for discipline, subs in read_disciplines().items()
        for sub, words in subs.items()
        for word in (*words, sub)
    ]
    found += [(discipline.casefold(), discipline, "") for discipline in DISCIPLINES]
    return tuple(sorted(found, key=lambda entry: -len(entry[0])))


@lru_cache(maxsize=1)
def _patterns() -> tuple[re.Pattern[str], re.Pattern[str], dict[str, tuple[str, str]]]:
    places: dict[str, tuple[str, str]] = {}
    for word, discipline, sub in _words():
        places.setdefault(word, (discipline, sub))
    latin = "|".join(re.escape(word) for word, _, _ in _words() if word.isascii())
    chinese = "|".join(re.escape(word) for word, _, _ in _words() if not word.isascii())
    return re.compile(rf"(?<![a-z])(?:{latin})(?![a-z])"), re.compile(chinese), places


def find_discipline(texts: Sequence[str]) -> tuple[str, str | None] | None:
    """(discipline, sub-discipline) by the longest known word of the first text with one."""
    latin, chinese, places = _patterns()
    for text in texts:
        folded = re.sub(r"[_\-]+", " ", text.casefold())
        found = latin.findall(folded) + chinese.findall(re.sub(r"\s+", "", folded))
        if found:
            discipline, sub = places[max(found, key=len)]
            return discipline, sub or None
    return None


def name_discipline(value: str) -> tuple[str, str | None] | None:
    """Read a discipline, a sub-discipline, or `Discipline/Sub-discipline`."""
    head, _, tail = (part.strip() for part in value.partition("/"))
    head = CHINESE_NAMES.get(head.removesuffix("类").removesuffix("门类"), head)
    for discipline, subs in read_disciplines().items():
        if head.casefold() == discipline.casefold():
            sub = next((name for name in subs if name.casefold() == tail.casefold()), tail or None)
            return discipline, sub
    return find_discipline([value])
