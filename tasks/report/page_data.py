"""A page's panels as data (pages/<page>.yaml): titles, columns, figures and words."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import polars as pl

from tasks.report.axes import Axis, Group
from tasks.report.labels import LABELS
from tasks.report.month_charts import month_bars, month_lines
from tasks.report.panel_charts import bars, cells, dots, number_lines, say_cut, scatter
from tasks.report.panels import Cell, Draw, Panel
from tasks.texts import Words, read_bilingual

_FIGURES: Final[Mapping[str, Callable[..., Draw]]] = {
    figure.__name__: figure for figure in (bars, cells, dots, month_bars, month_lines, number_lines, scatter)
}
_SHARED: Final = read_bilingual("tasks.report.pages", "common.yaml")
# Words of values that several pages show; they are among the labels.
COMMON_WORDS: Final[Mapping[str, Mapping[str, Words]]] = {
    "disciplines": {name: LABELS[name] for name in _SHARED["disciplines"]},
    "styles": {name: LABELS[name] for name in _SHARED["styles"]},
    "purposes": {
        name.removeprefix("purpose_"): words for name, words in LABELS.items() if name.startswith("purpose_")
    },
}


@dataclass(frozen=True)
class PageData:
    """The panels of a page, by name, and the words of the values that they show.

    In the file a title or a word is a pair or the name of a label; a column that several pages share is named as in common.yaml; `words` names one
    group of words or several, of which a later one counts; `figure` names a function of panel_charts or month_charts as its `kind`, and
    has what it takes: what has a `title` is an Axis, what has none a Group. `cut_by` is a column of which a figure has the first names only;
    `findings` are sentences with places for values.
    """

    about: Words
    words: Mapping[str, Mapping[str, Words]]
    panels: Mapping[str, Mapping[str, Any]]
    findings: Mapping[str, Words] = field(default_factory=dict)

    def panel(
        self, name: str, frame: pl.DataFrame, /, *, drawn: pl.DataFrame | None = None, **read: Any
    ) -> Panel:
        """The panel of that name over a query's rows, its figure over `drawn`; `read` goes first."""
        found = dict(self.panels[name])
        figure, cut_by = found.pop("figure", None), found.pop("cut_by", "")
        about = find_words(found.get("about", ("", "")))
        fields = {
            **found,
            "name": name,
            "title": find_words(found.get("title", ("", ""))),
            "about": say_cut(about, frame, cut_by) if cut_by else about,
            "cells": tuple(self.cell(one) for one in found.get("cells", ())),
            "filled_by": tuple(found["filled_by"]),
            "draw": self._draw(figure, drawn) if figure and drawn is not None and drawn.height else None,
        }
        return Panel(**{**fields, **read, "frame": frame})

    def say(self, finding: str, values: Mapping[str, Any]) -> Words:
        """A sentence in both languages with values in their places; lists joined as each does."""
        zh, en = self.findings[finding]
        return zh.format(**_choose(values, 0, "、")), en.format(**_choose(values, 1, ", "))

    def name(self, value: str, *groups: str) -> Words:
        """What stands for a value in groups of words; itself where nothing does."""
        return self.find_group(groups).get(value, (value, value))

    def cell(self, found: str | Mapping[str, Any]) -> Cell:
        """A column of a table from what the file says of it."""
        given = dict(_SHARED["cells"][found] if isinstance(found, str) else found)
        words = self.find_group(given.pop("words", ()))
        return Cell(**{**given, "title": find_words(given["title"]), "words": words})

    def find_group(self, names: str | Sequence[str] | Mapping[str, Words]) -> Mapping[str, Words]:
        """The words of one group, or of several: those of the page, or common ones."""
        if isinstance(names, Mapping):
            return names
        listed = [names] if isinstance(names, str) else names
        groups = [self.words[name] if name in self.words else COMMON_WORDS[name] for name in listed]
        return {value: words for group in groups for value, words in group.items()}

    def _draw(self, figure: Mapping[str, Any], drawn: pl.DataFrame) -> Draw:
        parts = {key: self._read_part(value) for key, value in figure.items() if key != "kind"}
        return _FIGURES[figure["kind"]](drawn, **parts)

    def _read_part(self, part: Any) -> Any:
        if not isinstance(part, Mapping):
            return part
        words = {"words": self.find_group(part.get("words", ()))}
        if "title" in part:
            return Axis(**{**part, **words, "title": find_words(part["title"])})
        return Group(part["column"], **words)


def read_page(name: str) -> PageData:
    """The data of a page; raises ValueError for a text that lacks a language."""
    content = read_bilingual("tasks.report.pages", f"{name}.yaml")
    words = {
        group: {value: find_words(found) for value, found in values.items()}
        for group, values in content.get("words", {}).items()
    }
    return PageData(content.get("about", ("", "")), words, content["panels"], content.get("findings", {}))


def _choose(values: Mapping[str, Any], place: int, separator: str) -> dict[str, Any]:
    return {
        name: value[place]
        if isinstance(value, tuple)
        else separator.join(map(str, value))
        if isinstance(value, list)
        else value
        for name, value in values.items()
    }


def find_words(found: Words | str) -> Words:
    """The words themselves, or those of the label of that name."""
    return LABELS[found] if isinstance(found, str) else found
