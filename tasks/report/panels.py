"""A page as a list of panels: each a question's sentence, figure and table from one query."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import polars as pl

from tasks.report.labels import Language
from tasks.texts import Words

NamedQuery = Callable[[str, dict[str, object]], pl.DataFrame]
Kind = Literal["text", "number", "count", "percent", "p", "word", "flag", "interval", "moment", "hash"]
Draw = Callable[[Language], Any]


@dataclass(frozen=True)
class Source:
    """Where the pages read.

    Attributes:
        run_named: runs a named query of warehouse/sql/analyses with parameters (`Lake.run_named`).
        include_simulated: None shows simulated candidates only where there is no real one; True adds them; False leaves them out.
        public_dir: the folder of the public log, where there is one.
        mark_query: the hash of what a query with these parameters rests on; null where nobody can tell.
    """

    run_named: NamedQuery
    include_simulated: bool | None = None
    public_dir: Path | None = None
    mark_query: Callable[[str, dict[str, object]], str] | None = None

    @property
    def shown(self) -> dict[str, object]:
        """The parameter of queries that choose between real and simulated candidates."""
        return {"simulated": self.include_simulated}

    def read_shown(self, name: str) -> pl.DataFrame:
        """The rows of a query that does not choose between real and simulated ones itself."""
        has_real = self.run_named("editions_published", {"simulated": False}).height > 0
        wanted = False if self.include_simulated is None and has_real else self.include_simulated
        return choose_shown(self.run_named(name, {}), wanted)


@dataclass(frozen=True)
class Cell:
    """A column of a panel's table.

    Attributes:
        name: the column of the frame; for an interval its lower end, whose upper end is `high`.
        kind: how a value is written; `word` is looked up in `words`, `flag` is shown as its heading where it is true.
        high: for an interval: the column of its upper end.
        words: for `word`: what stands for each value; others stand as they are.
        is_warning: for `flag`: whether it is nothing good.
    """

    name: str
    title: Words
    kind: Kind = "text"
    digits: int = 2
    high: str = ""
    words: Mapping[str, Words] = field(default_factory=dict)
    is_warning: bool = False

    @property
    def is_number(self) -> bool:
        """Whether its values are numbers, which stand to the right and sort as such."""
        return self.kind in ("number", "count", "percent", "p", "interval")


@dataclass(frozen=True)
class Panel:
    """One question of a page.

    Attributes:
        name: its anchor, and the name of its CSV.
        about: what is shown and how it is read.
        query: the named query that it rests on, with `params`.
        params: parameters of the query; `simulated` among them where the query takes it.
        frame: its rows, as they leave in the CSV; without rows the panel says what fills it.
        cells: the columns of its table; none shows no table.
        finding: one sentence of what the rows say: the figure's alternative text, too.
        draw: the figure in a language, as an Altair chart.
        filled_by: the commands that bring its rows.
        is_folded: whether the table is folded away under its figure.
        more: a file of the site that says more; it is linked where it is there.
    """

    name: str
    title: Words
    about: Words
    query: str
    frame: pl.DataFrame
    cells: tuple[Cell, ...] = ()
    params: Mapping[str, object] = field(default_factory=dict)
    finding: Words | None = None
    draw: Draw | None = None
    filled_by: tuple[str, ...] = ()
    is_folded: bool = False
    more: str = ""

    @property
    def shown_cells(self) -> tuple[Cell, ...]:
        """The columns of its table, without marks that no row has."""
        # A frame that was made of no rows has no columns.
        has_rows = self.frame.height > 0
        return tuple(
            cell for cell in self.cells if cell.kind != "flag" or (has_rows and self.frame[cell.name].any())
        )


def choose_shown(
    frame: pl.DataFrame, include_simulated: bool | None, within: Sequence[str] = ()
) -> pl.DataFrame:
    """The rows shown: by default simulated ones only where no real one has the same `within`."""
    if include_simulated is True or frame.is_empty():
        return frame
    is_simulated = pl.col("is_simulated")
    if include_simulated is False:
        return frame.filter(~is_simulated)
    are_all = is_simulated.all()
    return frame.filter(is_simulated == (are_all.over(*within) if within else are_all))


def pick(words: Words, language: Language) -> str:
    """The words in a language."""
    return words[0] if language == "zh" else words[1]


def name_words(named: Mapping[str, Words], value: object, language: Language) -> str:
    """What stands for a value; itself where nothing does."""
    words = named.get(str(value))
    return str(value) if words is None else pick(words, language)


def write_rows(panel: Panel) -> list[list[dict[str, Any]]]:
    """The cells of the panel's table: text in both languages, sort value, whether a number."""
    cells = panel.shown_cells
    return [[_write_cell(cell, row) for cell in cells] for row in panel.frame.iter_rows(named=True)]


def flatten_lists(frame: pl.DataFrame) -> pl.DataFrame:
    """The frame as a CSV takes it: the values of a list are joined with semicolons."""
    lists = [name for name, dtype in frame.schema.items() if isinstance(dtype, pl.List)]
    return frame.with_columns(pl.col(name).cast(pl.List(pl.String)).list.join("; ") for name in lists)


MISSING = "–"


def _write_cell(cell: Cell, row: Mapping[str, Any]) -> dict[str, Any]:
    value = row[cell.name]
    return {
        "words": _write_value(cell, row, value),
        "value": _shorten(value) if cell.is_number else None,
        "is_number": cell.is_number,
        "tag": ("warn" if cell.is_warning else "plain") if cell.kind == "flag" and value else "",
    }


def _shorten(value: Any) -> Any:
    """The number to sort by: more digits than seven only make the page longer."""
    return float(f"{value:.7g}") if isinstance(value, float) else value


def _write_value(cell: Cell, row: Mapping[str, Any], value: Any) -> Words:
    if cell.kind == "flag":
        return cell.title if value else ("", "")
    if value is None:
        return MISSING, MISSING
    if cell.kind == "word":
        return cell.words.get(str(value), (str(value), str(value)))
    text = _write_text(cell, row, value)
    return text, text


def _write_text(cell: Cell, row: Mapping[str, Any], value: Any) -> str:
    match cell.kind:
        case "number":
            return f"{value:z,.{cell.digits}f}"
        case "count":
            return f"{value:,.0f}"
        case "percent":
            return f"{value * 100:z.{cell.digits}f}%"
        case "interval":
            high = row[cell.high]
            return MISSING if high is None else f"{value:z.{cell.digits}f} … {high:z.{cell.digits}f}"
        case "p":
            return "< 0.001" if value < 0.001 else f"{value:.3f}"
        case "hash":
            return f"{str(value)[:12]}…"
        case "moment":
            return str(value.strftime("%Y-%m-%d %H:%M UTC"))
        case _:
            if isinstance(value, Sequence) and not isinstance(value, str):
                return ", ".join(str(part) for part in value)
            return str(value)
