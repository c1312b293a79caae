"""The leaderboard for a terminal."""

from __future__ import annotations

from io import StringIO

import polars as pl

from tasks.report.labels import Language, label


def render_leaderboard_text(
    frame: pl.DataFrame, *, language: Language = "en", width: int = 110, is_colour: bool = False
) -> str:
    """The rows of the `leaderboard` query as a table of `width` characters.

    Says SIMULATED and PROVISIONAL above the table where it is so; an empty frame gives a sentence.
    """
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console(
        file=StringIO(), width=width, force_terminal=is_colour, no_color=not is_colour, highlight=False
    )
    if frame.is_empty():
        console.print(label("empty", language), markup=False)
        return _written(console)
    for flag, style in (("simulated", "bold red"), ("provisional", "bold yellow")):
        if frame[f"is_{flag}"].any():
            console.print(
                Text.assemble((label(flag, language), style), "  ", label(f"{flag}_about", language))
            )
    first = frame.row(0, named=True)
    table = Table(
        title=f"{label('leaderboard', language)} {first['month']}", title_justify="left", pad_edge=False
    )
    for key in (
        "rank",
        "model",
        "organisation",
        "score",
        "score_sd",
        "relative_score",
        "repeat_count",
        "question_count",
        "unparsed_count",
    ):
        is_text = key in ("model", "organisation")
        table.add_column(
            label(key, language), justify="left" if is_text else "right", no_wrap=not is_text, overflow="fold"
        )
    for row in frame.iter_rows(named=True):
        marks = f" ({label('reference_mark', language)})" if row["is_reference"] else ""
        table.add_row(
            str(row["rank"]),
            Text(f"{row['model']}{marks}"),
            Text(row["organisation"]),
            f"{row['score']:.2f}",
            _number(row["score_sd"]),
            _number(row["relative_score"]),
            str(row["repeat_count"]),
            f"{row['question_count']:,}",
            str(row["unparsed_count"]),
        )
    console.print(table)
    notes = {
        "reference_model": frame["reference_model"],
        "judge": frame["judge"],
        "bank_version": frame["bank_version"].cast(pl.String),
        "run_id": frame["run_id"],
    }
    for key, values in notes.items():
        console.print(
            Text(f"{label(key, language)}: {', '.join(values.unique().sort().to_list())}"), soft_wrap=True
        )
    return _written(console)


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"


def _written(console: object) -> str:
    from rich.console import Console

    assert isinstance(console, Console) and isinstance(console.file, StringIO)
    return console.file.getvalue()
