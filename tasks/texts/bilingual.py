"""Texts in Chinese and English from a YAML file beside the module that shows them.

A pair is `{zh: …, en: …}`, at any depth.
"""

from __future__ import annotations

from collections.abc import Hashable
from importlib import resources
from typing import Any

import yaml

# The same in Chinese and in English.
Words = tuple[str, str]
_LANGUAGES = ("zh", "en")
_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # ten times as fast, where libyaml is there


def read_bilingual(package: str, name: str) -> dict[str, Any]:
    """The content of a YAML file of a package.

    Every `{zh: …, en: …}` in it is a pair of texts, Chinese first.

    Raises ValueError for a key that is given twice, and for a pair that lacks a language or has more than the two.
    """
    found = _pair(read_texts(package, name), name)
    assert isinstance(found, dict)
    return found


def read_texts(package: str, name: str) -> Any:
    """The content of a YAML file of a package; raises ValueError for a key that is given twice."""
    text = resources.files(package).joinpath(name).read_text(encoding="utf-8")
    return yaml.load(text, Loader=_OnceLoader)  # noqa: S506 - a SafeLoader


def _pair(content: Any, place: str) -> Any:
    if isinstance(content, list):
        return [_pair(one, f"{place}: {number}") for number, one in enumerate(content, start=1)]
    if not isinstance(content, dict):
        return content
    if not content.keys() & set(_LANGUAGES):
        return {key: _pair(value, f"{place}: {key}") for key, value in content.items()}
    words = tuple(content.get(language) for language in _LANGUAGES)
    if len(content) != len(_LANGUAGES) or not all(isinstance(one, str) and one for one in words):
        raise ValueError(f"{place} has {content}. Give it one text as zh and one as en, and nothing else.")
    return words


class _OnceLoader(_Loader):  # type: ignore[misc]
    """A loader that refuses a key given twice, of which YAML would keep the last."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        keys = [key.value for key, _ in node.value]
        twice = sorted({key for key in keys if keys.count(key) > 1})
        if twice:
            raise ValueError(
                f"{twice[0]!r} is given twice, last in line {node.start_mark.line + 1} or below."
            )
        return dict(super().construct_mapping(node, deep=deep))
