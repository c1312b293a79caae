"""The leaderboard for a terminal."""

from __future__ import annotations

from collections.abc import Mapping
from io import StringIO
from typing import TYPE_CHECKING, Any

import polars as pl

from tasks.report.labels import Language, label
from tasks.report.words import (
    MISSING,
    describe_grade,
    describe_judge_checks,
    describe_override,
    describe_provisional,
    describe_unequated,
    format_interval,
    format_rank_range,
    list_unequated,
)

if TYPE_CHECKING:
    from rich.console import Console


def render_leaderboard_text(
    frame: pl.DataFrame, *, language: Language = "en", width: int = 110, is_colour: bool = False
) -> str:
    """The rows of `leaderboard` as a table of `width` characters, below what is to be known."""
    from rich.console import Console
    from rich.text import Text

    console = Console(
        file=StringIO(), width=width, force_terminal=is_colour, no_color=not is_colour, highlight=False
    )
    if frame.is_empty():
        console.print(label("empty", language), markup=False)
        return _written(console)
    if frame["is_simulated"].any():
        console.print(
            Text.assemble(
                (label("simulated", language), "bold red"), "  ", label("simulated_about", language)
            )
        )
    for row in frame.filter("is_provisional").unique("edition_id", maintain_order=True).iter_rows(named=True):
        why = describe_provisional(row, language)
        console.print(Text.assemble((label("provisional", language), "bold yellow"), "  ", why))
    for edition in frame.partition_by("edition_id", maintain_order=True):
        _print_edition(console, edition, language)
    for key in ("about_interval", "about_rank", "about_equated"):
        console.print(Text(label(key, language)))
    return _written(console)


def _print_edition(console: Console, frame: pl.DataFrame, language: Language) -> None:
    """The table of one edition, what stands above it, and what it rests on."""
    from rich.table import Table
    from rich.text import Text

    first = frame.row(0, named=True)
    if first["overridden_gates"]:
        console.print(
            Text.assemble((label("gates", language), "bold red"), f"  {describe_override(first, language)}")
        )
    repetition = f" · {label('repetition', language)}" if first["is_repetition"] else ""
    table = Table(
        title=Text(f"{label('leaderboard', language)} {first['month']}{repetition}"),
        title_justify="left",
        pad_edge=False,
    )
    rows = [_format_cells(row, language) for row in frame.iter_rows(named=True)]
    for count in ("unanswered_count", "unparsed_count"):
        if not frame[count].sum():
            rows = [{key: cell for key, cell in row.items() if key != count} for row in rows]
    for key in rows[0]:
        is_name = key == "model"
        table.add_column(
            label(key, language),
            justify="left" if is_name else "right",
            overflow="fold",
            # A heading may break, a number may not.
            min_width=None if is_name else max(len(row[key]) for row in rows),
        )
    for row in rows:
        table.add_row(*(Text(cell) for cell in row.values()))
    console.print(table)
    if alike := _list_alike(frame, language):
        console.print(Text(f"{label('not_distinguishable', language)}: {alike}"))
    if frame["is_equated_apart"].any():
        console.print(Text(f"* {label('equated_apart', language)}: {label('equated_apart_about', language)}"))
    if left_out := list_unequated(frame):
        console.print(Text(f"– {describe_unequated(left_out[0], language)}"))
    if checks := describe_judge_checks(first, language):
        console.print(Text(checks), soft_wrap=True)
    if first["is_repetition"]:
        console.print(Text(label("repetition_about", language)))
    notes = {
        "edition": f"{first['edition_id']} ({label('published_at', language)} {first['published_at']:%Y-%m-%d})",
        "grade": describe_grade(first, language),
        "reference_model": first["reference_model"],
        "judge": first["judge"],
        "chance_score": _describe_chance(frame, language),
        "unanswered_count": f"{frame['unanswered_count'].sum():,}",
        "unparsed_count": f"{frame['unparsed_count'].sum():,}",
        "question_count": _format_counts(frame["question_count"].to_list()),
        "bank_version": str(first["bank_version"]),
        "run_id": first["run_id"],
    }
    for key, value in ((key, value) for key, value in notes.items() if value):
        console.print(Text(f"{label(key, language)}: {value}"), soft_wrap=True)


def _describe_chance(frame: pl.DataFrame, language: Language) -> str:
    """The chance level of each set, with the answer that gets it; empty where none is known."""
    levels = frame.filter(pl.col("chance_score").is_not_null()).unique(["chance_score", "chance_answers"])
    return "; ".join(
        f"{row['chance_score']:.1f} ({label('chance_answers', language).format(answers=row['chance_answers'] or MISSING)})"
        for row in levels.sort("chance_score", "chance_answers").iter_rows(named=True)
    )


def _list_alike(frame: pl.DataFrame, language: Language) -> str:
    """How many others each candidate cannot be told from; those of certain rank are left out."""
    alike = frame.filter(pl.col("rank_high") > pl.col("rank_low"))
    separator = "；" if language == "zh" else "; "
    return separator.join(
        label("from_others", language).format(
            model=row["model"], count=int(row["rank_high"]) - int(row["rank_low"])
        )
        for row in alike.iter_rows(named=True)
    )


def _format_cells(row: Mapping[str, Any], language: Language) -> dict[str, str]:
    """The cells of a row by the name of their column."""
    mark = f" ({label('reference_mark', language)})" if row["is_reference"] else ""
    return {
        "rank": MISSING if row["rank"] is None else str(row["rank"]),
        "model": f"{row['model']}{mark}",
        "score": _number(row["score"]),
        "interval": format_interval(row["score_low"], row["score_high"]),
        "rank_range": format_rank_range(row["rank_low"], row["rank_high"]),
        "rank_group": row["rank_group"] or MISSING,
        "equated_score": f"{_number(row['equated_score'])}{'*' if row['is_equated_apart'] else ''}",
        "relative_score": _number(row["relative_score"]),
        "unanswered_count": str(row["unanswered_count"]),
        "unparsed_count": str(row["unparsed_count"]),
    }


def _format_counts(counts: list[int]) -> str:
    """One number where all are the same, else the least and the most."""
    least, most = min(counts), max(counts)
    return f"{least:,}" if least == most else f"{least:,}–{most:,}"


def _number(value: float | None) -> str:
    return MISSING if value is None else f"{value:.2f}"


def _written(console: object) -> str:
    from rich.console import Console

    assert isinstance(console, Console) and isinstance(console.file, StringIO)
    return console.file.getvalue()
