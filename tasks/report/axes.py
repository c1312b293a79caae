"""What a figure is drawn along: axes with titles, groups of rows with words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from schemas.lazy import alt
from tasks.report.labels import Language
from tasks.report.panels import name_words, pick
from tasks.texts import Words


@dataclass(frozen=True)
class Axis:
    """A quantity that a figure shows by place, length or colour.

    Attributes:
        low: the column of the lower end of its interval; none draws no intervals.
        is_percent: whether its values, shares from 0 to 1, are written in per cent.
        domain: its ends, where they are not those of the values.
        words: what stands for its values, where they are names.
    """

    column: str
    title: Words
    low: str = ""
    high: str = ""
    is_log: bool = False
    is_percent: bool = False
    from_zero: bool = False
    domain: Sequence[float] = ()
    words: Mapping[str, Words] = field(default_factory=dict)

    @property
    def format(self) -> Any:
        """How Altair writes its values."""
        return ".0%" if self.is_percent else alt.Undefined

    def name(self, row: Mapping[str, Any], language: Language) -> Any:
        """A row's value, or what stands for it in a language."""
        value = row[self.column]
        return name_words(self.words, value, language) if self.words else value

    def write_title(self, language: Language) -> str:
        """What stands beside the axis in a language."""
        return pick(self.title, language)


@dataclass(frozen=True)
class Group:
    """A column whose values name or divide rows, with what stands for each."""

    column: str
    words: Mapping[str, Words] = field(default_factory=dict)

    def name(self, row: Mapping[str, Any], language: Language) -> str:
        """What a row belongs to, in a language."""
        return name_words(self.words, row[self.column], language)
