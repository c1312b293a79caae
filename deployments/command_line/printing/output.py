"""What commands print.

They print tables and lines for people, or one JSON document for machines, never both.

A table on a terminal shows the columns that fit and names how many it left out; a pipe gets every column in full.
"""

from __future__ import annotations

import json
import math
import os
import shlex
import shutil
import signal
import subprocess
import sys
import textwrap
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import date, datetime
from decimal import Decimal
from typing import IO, TYPE_CHECKING, Any

import typer

from schemas.lazy import pl
from schemas.settings import GUIDED_VARIABLE

if TYPE_CHECKING:
    from warehouse.lake.reading import Rows

_STYLES = {"bold": "1", "red": "31", "green": "32", "yellow": "33", "dim": "2"}
# A text longer than this is cut on a terminal, so that one column does not push out all others.
_LONGEST_CELL = 40
_NOTHING = 1e-12
_GAP = " │ "
_printed: Counter[str] = Counter()
# Whether the command that runs was asked for JSON.
_as_json: ContextVar[bool] = ContextVar("as_json", default=False)
# Letters beyond this may be two columns wide.
_NARROW = 0x2E7F


@contextmanager
def printing_json(is_asked: bool) -> Iterator[None]:
    """Within the block a result is one JSON document, or lines for people."""
    before = _as_json.set(is_asked)
    try:
        yield
    finally:
        _as_json.reset(before)


def is_json() -> bool:
    """Whether the command that runs was asked for JSON."""
    return _as_json.get()


def print_result(result: Mapping[str, Any], *, lines: Sequence[str] | None = None, then: str = "") -> None:
    """Print a result and the step that follows.

    It is printed as JSON, or as the given lines (default: one line per entry). Within `proctor start` the guide says what follows.
    """
    if is_json():
        print_document(result)
        return
    is_guided = GUIDED_VARIABLE in os.environ
    if lines is None:
        # Who is led through a first month need not see what is not set.
        lines = render_entries({name: value for name, value in result.items() if value or not is_guided})
    for line in lines:
        if not (is_guided and line.startswith("Next: ")):
            print(fold_line(line))
    if then and not is_guided:
        print_note(f"Next: {then}")


def print_document(value: object) -> None:
    """Print one JSON document, whatever was asked for."""
    _printed["documents"] += 1
    print(render_json(value))


def count_documents() -> int:
    """JSON documents that this process has printed: a command prints one, then fails or not."""
    return _printed["documents"]


def render_json(value: object) -> str:
    """The value as one JSON document; a number that JSON does not have is null."""
    try:
        return json.dumps(value, ensure_ascii=False, default=render_plain, indent=2, allow_nan=False)
    except ValueError:
        return json.dumps(_null_strange(value), ensure_ascii=False, default=render_plain, indent=2)


def _null_strange(value: object) -> object:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {name: _null_strange(one) for name, one in value.items()}
    return [_null_strange(one) for one in value] if isinstance(value, list | tuple) else value


def fold_line(text: str, stream: IO[str] | None = None) -> str:
    """The text broken between words where a terminal is narrower.

    A line with a command, which is copied, stays as it is.
    """
    if not (stream or sys.stdout).isatty():
        return text
    width = shutil.get_terminal_size().columns
    lines = []
    for line in text.splitlines() or [""]:
        if "proctor " in line or not line.isprintable() or any(ord(letter) > _NARROW for letter in line):
            lines.append(line)
        else:
            indent = " " * (len(line) - len(line.lstrip()))
            lines += textwrap.wrap(
                line,
                width,
                subsequent_indent=f"{indent}  ",
                break_long_words=False,
                break_on_hyphens=False,
            ) or [line]
    return "\n".join(lines)


def render_entries(result: Mapping[str, Any]) -> list[str]:
    """One line per entry: names with spaces, counts as `3 sent, 2 replayed`, nothing as a dash."""
    lines = []
    for name, value in result.items():
        label = name.replace("_", " ")
        if isinstance(value, list | tuple) and any(isinstance(item, Mapping) for item in value):
            lines.append(f"{label}: {len(value)}")
            lines += [f"  {render_value(item)}" for item in value]
        else:
            lines.append(f"{label}: {render_value(value, name)}")
    return lines


def render_value(value: object, name: str = "") -> str:
    """A value, perhaps of a name, as a person would write it."""
    if value is None or value == "":
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Mapping):
        if not value:
            return "none"
        return ", ".join(
            f"{str(key).replace('_', ' ')} {render_value(item, str(key))}" for key, item in value.items()
        )
    if isinstance(value, list | tuple):
        return ", ".join(render_value(item) for item in value) or "none"
    return f"{_drop_residue(value, name):.4g}" if isinstance(value, float) else str(value)


def print_frame(frame: pl.DataFrame, *, format: str = "", title: str | None = None) -> None:
    """Print a frame as the command was asked to, or as `table`, `csv`, `json` or `parquet`."""
    if format == "csv":
        from tasks.texts import write_safe_csv

        sys.stdout.write(write_safe_csv(flatten_lists(frame)))
    elif format == "parquet":
        frame.write_parquet(sys.stdout.buffer)
    elif format == "json" or (not format and is_json()):
        print_document(frame.to_dicts())
    else:
        lines = draw_table(frame.columns, frame.rows(), title=title, width=_find_width(is_wide=False))
        _print_lines(lines, is_wide=False)


def print_rows(
    rows: Rows,
    *,
    format: str = "",
    title: str | None = None,
    is_wide: bool = False,
    shown: Sequence[str] = (),
    way_to_all: str = "--json",
) -> None:
    """Print rows read without Polars as the command was asked to, or as `table` or `json`.

    `shown` names the columns to show first.
    """
    if format == "json" or (not format and is_json()):
        print_document(rows.as_records())
        return
    width = _find_width(is_wide)
    lines = draw_table(rows.columns, rows.rows, title=title, width=width, shown=shown, way_to_all=way_to_all)
    _print_lines(lines, is_wide)


def print_records(
    columns: Sequence[str], records: Sequence[Mapping[str, Any]], *, title: str | None = None
) -> None:
    """Print records that a command made itself: a table, or JSON."""
    if is_json():
        chosen = [{name: record[name] for name in columns} for record in records]
        print_document(chosen)
        return
    rows = [tuple(record[name] for name in columns) for record in records]
    _print_lines(draw_table(columns, rows, title=title, width=_find_width(is_wide=False)), is_wide=False)


def render_duration(seconds: float) -> str:
    """A duration as a person would say it: `40 s`, `12 min`, `3 h 5 min`, `2 d 4 h`."""
    whole = round(seconds)
    if whole < 120:
        return f"{whole} s"
    minutes = round(whole / 60)
    if minutes < 60:
        return f"{minutes} min"
    hours, minutes = divmod(minutes, 60)
    if hours < 48:
        return f"{hours} h {minutes} min"
    days, hours = divmod(hours, 24)
    return f"{days} d {hours} h"


def print_note(text: str) -> None:
    """Tell the person something besides the result: on standard error, so that pipes stay clean."""
    print(text, file=sys.stderr, flush=True)


def print_error(message: str, exit_code: int, *, as_json: bool) -> None:
    """Print why a command ends: one sentence on standard error, or one JSON document."""
    if as_json:
        print(json.dumps({"error": message, "exit_code": exit_code}, ensure_ascii=False))
    else:
        said = fold_line(f"Error: {message}", sys.stderr).removeprefix("Error:")
        print(f"{paint('Error:', 'red', sys.stderr)}{said}", file=sys.stderr)


def paint(text: str, style: str, stream: IO[str] | None = None) -> str:
    """The text in a style, where a person looks at it and NO_COLOR is not set."""
    if not (stream or sys.stdout).isatty() or os.environ.get("NO_COLOR"):
        return text
    return f"\033[{_STYLES[style]}m{text}\033[0m"


def draw_table(
    columns: Sequence[str],
    rows: Sequence[Sequence[object]],
    *,
    title: str | None = None,
    width: int | None = None,
    shown: Sequence[str] = (),
    way_to_all: str = "--json",
) -> list[str]:
    """The lines of a table.

    With a width, only the columns that fit into it, those of `shown` first; where not all do, names of columns are folded.

    No cell is ever folded: a long one is cut on a terminal, and whole where there is no width.
    """
    order = [columns.index(name) for name in shown if name in columns]
    order += [place for place in range(len(columns)) if place not in order]
    cells = {place: [_cell(row[place], columns[place]) for row in rows] for place in order}
    if width is not None:
        cells = {place: [_cut(cell, _LONGEST_CELL) for cell in column] for place, column in cells.items()}
    heads = {place: [columns[place]] for place in order}
    widths = _measure_columns(heads, cells)
    if width is not None and len(_choose_fitting(order, widths, width)) < len(order):
        heads = {place: _fold_name(columns[place], cells[place]) for place in order}
        widths = _measure_columns(heads, cells)
    fitting = order if width is None else _choose_fitting(order, widths, width)
    is_number = {place: all(_is_number(row[place]) for row in rows) and bool(rows) for place in fitting}

    def draw(texts: Mapping[int, str]) -> str:
        return _GAP.join(_pad(texts[place], widths[place], is_number[place]) for place in fitting).rstrip()

    lines = [paint(title, "bold")] if title else []
    for number in range(max((len(heads[place]) for place in fitting), default=0)):
        names = {place: heads[place][number] if number < len(heads[place]) else "" for place in fitting}
        lines.append(paint(draw(names), "bold"))
    lines.append("─┼─".join("─" * widths[place] for place in fitting))
    lines += [draw({place: cells[place][number] for place in fitting}) for number in range(len(rows))]
    if width is not None:
        lines = [_cut(line, width) if len(fitting) == 1 else line for line in lines]
    if not rows:
        lines.append("(no rows)")
    if left_out := len(order) - len(fitting):
        lines.append(f"… {left_out} column{'s' if left_out > 1 else ''} not shown; {way_to_all} shows all")
    return lines


def _measure_columns(
    heads: Mapping[int, Sequence[str]], cells: Mapping[int, Sequence[str]]
) -> dict[int, int]:
    return {place: max(map(_measure, [*heads[place], *cells[place]])) for place in heads}


def _fold_name(name: str, cells: Sequence[str]) -> list[str]:
    """The name of a column in lines as wide as its cells, broken after underscores."""
    pieces = [f"{piece}_" for piece in name.split("_")]
    pieces[-1] = pieces[-1].removesuffix("_")
    width = max(map(_measure, [*pieces, *cells]))
    lines = [""]
    for piece in pieces:
        if lines[-1] and _measure(lines[-1] + piece) > width:
            lines.append("")
        lines[-1] += piece
    return lines


def _choose_fitting(order: Sequence[int], widths: Mapping[int, int], width: int) -> list[int]:
    """The columns from the first on that fit side by side; at least one."""
    fitting: list[int] = []
    used = -len(_GAP)
    for place in order:
        used += widths[place] + len(_GAP)
        if fitting and used > width:
            break
        fitting.append(place)
    return fitting


def _find_width(is_wide: bool) -> int | None:
    """Columns of the terminal; None where every column is printed in full."""
    if is_wide or not sys.stdout.isatty():
        return None
    return shutil.get_terminal_size().columns


def _print_lines(lines: Sequence[str], is_wide: bool) -> None:
    """Print, through a pager where a terminal cannot show it at once."""
    if sys.stdout.isatty():
        size = shutil.get_terminal_size()
        is_long = len(lines) >= size.lines or (
            is_wide and any(_measure(line) > size.columns for line in lines)
        )
        if is_long and _page("\n".join(lines) + "\n"):
            return
    for line in lines:
        print(line)


def _page(text: str) -> bool:
    """Show a text in the person's pager; whether there is one."""
    try:
        command = shlex.split(os.environ.get("PAGER") or "less -SR")
    except ValueError:  # A quotation mark without its other
        return False
    if not command or shutil.which(command[0]) is None:
        return False
    subprocess.run(command, input=text.encode(), check=False)
    return True


def _cell(value: object, name: str) -> str:
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        value = _drop_residue(value, name)
        return f"{value:.2f}" if abs(value) >= 0.01 or value == 0 else f"{value:.2g}"
    text = (
        json.dumps(value, ensure_ascii=False, default=render_plain)
        if isinstance(value, list | dict)
        else str(value)
    )
    # A line break would tear the row apart, and an escape sequence of a paper is nobody's to run.
    return text if text.isprintable() else "".join(c if c.isprintable() else " " for c in text)


def _drop_residue(value: float, name: str) -> float:
    """The number, or 0 for what a subtraction of equals leaves; a p of 1e-15 is none of 0."""
    return value if abs(value) >= _NOTHING or name.startswith("p_") else 0.0


def _cut(text: str, width: int) -> str:
    """The text in at most `width` columns of a terminal; a Chinese character takes two."""
    if _measure(text) <= width:
        return text
    from rich.cells import set_cell_size

    return set_cell_size(text, width - 1).rstrip() + "…"


def _pad(text: str, width: int, is_number: bool) -> str:
    space = " " * (width - _measure(text))
    return space + text if is_number else text + space


def _measure(text: str) -> int:
    if text.isascii():
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)


def _is_number(value: object) -> bool:
    return value is None or (isinstance(value, int | float | Decimal) and not isinstance(value, bool))


def flatten_lists(frame: pl.DataFrame) -> pl.DataFrame:
    """CSV has no lists: they go out as JSON text."""
    return frame.with_columns(
        pl.col(name).map_elements(
            lambda value: json.dumps(
                value.to_list() if isinstance(value, pl.Series) else value,
                ensure_ascii=False,
                default=render_plain,
            ),
            return_dtype=pl.String,
        )
        for name, kind in zip(frame.columns, frame.dtypes, strict=True)
        if kind.is_nested()
    )


def render_plain(value: object) -> object:
    """A value that JSON does not know as one that it does."""
    if isinstance(value, datetime | date):
        return value.isoformat()
    return to_number(value) if isinstance(value, Decimal) else str(value)


def to_number(value: Decimal) -> int | float:
    """What DuckDB gives for a sum of whole numbers, or for 1.5, as the number that it is."""
    return int(value) if value == value.to_integral_value() else float(value)


def ask(question: str, **options: Any) -> str:
    """The answer that is typed; options are those of `typer.prompt`."""
    _hear_interrupts()
    if options.get("hide_input"):
        # Without a default nothing typed is asked for again without a word; who asks says what is wrong with it.
        options = {"default": "", "show_default": False} | options
    return str(typer.prompt(question, **options))


def ask_whether(question: str, **options: Any) -> bool:
    """Yes or no; options are those of `typer.confirm`."""
    _hear_interrupts()
    return bool(typer.confirm(question, **options))


def _hear_interrupts() -> None:
    # Polars has the system restart whatever a signal breaks off: a question would hear Ctrl-C at the next Enter only.
    signal.siginterrupt(signal.SIGINT, True)
