"""How far raters agree in any table of ratings: `agreement`."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import polars as pl
import typer

from deployments.command_line.printing import print_frame, print_result
from deployments.commands.options import AsJson, split_names
from schemas.errors import UsageError
from tasks.exchange.imports import compute_table_agreement


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
    as_json: AsJson = False,
) -> None:
    """Percent agreement, Cohen's kappa and Krippendorff's alpha.

    Kappa comes in three weightings, for each pair of raters and pooled.

    Example: proctor agreement ratings.csv --unit item --rater who --rating stars
    """
    if not file.is_file():
        raise UsageError(f"There is no file {file}.")
    found = compute_table_agreement(file, unit, rater or None, rating, split_names(order) or ())
    if not as_json:
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
    print_result(result, as_json=as_json, lines=lines)
