"""What is said of scores and ratings: `verdict`, `figure` and `agreement`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any, cast

import polars as pl
import typer

from deployments.command_line.printing import is_json, print_frame, print_result
from deployments.commands.options import split_names
from schemas.errors import UsageError
from schemas.settings import load_settings
from schemas.vocabulary import PROMPT_STYLES
from tasks.exchange.imports import compute_table_agreement
from tasks.report import (
    Asked,
    Language,
    SpokenVerdict,
    compare_pair,
    draw_figure,
    follow_candidate,
    follow_family,
)
from warehouse.lake import open_lake
from warehouse.lake.reading import LakeReader


def verdict(
    first: Annotated[str, typer.Argument(metavar="A", help="A published candidate.")] = "",
    second: Annotated[str, typer.Argument(metavar="B", help="The other one. Empty: has A changed?")] = "",
    family: Annotated[
        str, typer.Option("--family", help="Every member of a family beside the one before it, instead.")
    ] = "",
    style: Annotated[str, typer.Option("--style", help="Prompt style.")] = "zero_shot",
    language: Annotated[str, typer.Option("--language", help="Language of the sentences: en or zh.")] = "en",
) -> None:
    """Say whether A is better than B, by how much, since when and how sure.

    Also: in which disciplines, on which evidence, and what would decide it. With one name: whether it has changed.

    Every interval and every "better" is corrected for all pairs (or candidates) that were looked at.

    Example: proctor verdict sim-basalt-2 sim-aurora-2

    Example: proctor verdict sim-basalt-2

    Example: proctor verdict --family basalt
    """
    if language not in ("en", "zh"):
        raise UsageError(f"--language is en or zh, not {language!r}.")
    if style not in PROMPT_STYLES:
        raise UsageError(f"--style is one of {', '.join(PROMPT_STYLES)}, not {style!r}.")
    if bool(first) == bool(family) or (family and second):
        raise UsageError("Name one candidate, two, or --family NAME; see: proctor sql standings.")
    with LakeReader(load_settings()) as reader:

        def read(name: str, parameters: Mapping[str, object]) -> list[dict[str, Any]]:
            found = reader.run_named(name, dict(parameters))
            return [dict(zip(found.columns, row, strict=True)) for row in found.rows]

        if family:
            verdicts = follow_family(read, family, style)
        elif second:
            verdicts = [compare_pair(read, first, second, style)]
        else:
            verdicts = [follow_candidate(read, first, style)]
    place = 0 if language == "zh" else 1
    lines = [line for one in verdicts for line in (*_write(one, place), "")]
    print_result(
        {"verdicts": [asdict(one) | {"sentences": [said[1] for said in one.sentences]} for one in verdicts]},
        lines=lines[:-1],
    )


def _write(one: SpokenVerdict, place: int) -> list[str]:
    first, *rest = (said[place] for said in one.sentences)
    return [first, *(f"  {line}" for line in rest)]


def figure(
    name: Annotated[str, typer.Argument(help="leaderboard, pair or history.")],
    candidates: Annotated[
        list[str] | None, typer.Argument(help="pair: the two candidates. history: those to show.")
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", help="A file that ends in .svg or .png. Default: both, named for the figure."
        ),
    ] = None,
    month: Annotated[str, typer.Option("--month", help="Month of the leaderboard. Empty: the latest.")] = "",
    style: Annotated[str, typer.Option("--style", help="Prompt style.")] = "zero_shot",
    language: Annotated[str, typer.Option("--language", help="Language of its texts: en or zh.")] = "en",
) -> None:
    """Draw one figure with its caption, as SVG and as PNG of 300 dots an inch.

    The caption, which is printed too, states the method, the edition, and what is to be known of it.

    Example: proctor figure leaderboard --month 2026-11

    Example: proctor figure pair sim-basalt-2 sim-aurora-2 --output pair.svg

    Example: proctor figure history sim-basalt-2 --language zh
    """
    if style not in PROMPT_STYLES:
        raise UsageError(f"--style is one of {', '.join(PROMPT_STYLES)}, not {style!r}.")
    paths = [Path(f"{name}.svg"), Path(f"{name}.png")] if output is None else [output]
    if paths[0].suffix.lower() not in (".svg", ".png"):
        raise UsageError(f"{paths[0]} says no format of a figure: let it end in .svg or .png.")
    asked = Asked(candidates or (), month, style, cast("Language", language))
    with open_lake(load_settings(), read_only=True) as lake:
        drawn = draw_figure(name, lake.run_named, asked)
    for path in paths:
        data = drawn.render_png() if path.suffix.lower() == ".png" else drawn.render_svg().encode("utf-8")
        try:
            path.write_bytes(data)
        except OSError as error:
            raise UsageError(
                f"{path} cannot be written: {error.strerror}. Name another file with --output."
            ) from None
    written = [str(path) for path in paths]
    print_result(
        {"files": written, "title": drawn.title, "caption": drawn.caption},
        lines=[drawn.title, drawn.caption, f"Written: {', '.join(written)}"],
    )


def agreement(
    file: Annotated[Path, typer.Argument(help="Ratings as CSV, TSV, JSONL or Parquet.")],
    unit: Annotated[list[str], typer.Option("--unit", help="Column of what is rated; may be repeated.")],
    rating: Annotated[
        list[str],
        typer.Option("--rating", help="Column of the rating; without --rater one column for each rater."),
    ],
    rater: Annotated[str, typer.Option("--rater", help="Column with the rater.")] = "",
    order: Annotated[
        str, typer.Option("--order", help="Order of ratings that are words, lowest first, comma separated.")
    ] = "",
) -> None:
    """Percent agreement, Cohen's kappa and Krippendorff's alpha.

    Kappa comes in three weightings, for each pair of raters and pooled.

    Example: proctor agreement ratings.csv --unit item --rater who --rating stars
    """
    if not file.is_file():
        raise UsageError(f"There is no file {file}.")
    found = compute_table_agreement(file, unit, rater or None, rating, split_names(order) or ())
    if not is_json():
        rows = [asdict(row) for row in (found.pooled, *found.pairs)]
        headers = {
            "unit_count": "units",
            "percent_agreement": "agree",
            "kappa_linear": "linear",
            "kappa_quadratic": "quadratic",
        }
        print_frame(
            pl.DataFrame(rows, infer_schema_length=None).rename(headers), title="Agreement of pairs of raters"
        )
    result = asdict(found)
    alphas = [
        f"{name} {value:.4f}" if value is not None else f"{name} undefined"
        for name, value in (
            ("nominal", found.alpha_nominal),
            ("ordinal", found.alpha_ordinal),
            ("interval", found.alpha_interval),
        )
    ]
    lines = [
        f"{found.rating_count} ratings by {found.rater_count} raters of {found.unit_count} units, "
        f"{found.shared_unit_count} of them rated at least twice",
        f"Krippendorff's alpha: {', '.join(alphas)}",
    ]
    print_result(result, lines=lines)
