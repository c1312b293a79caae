"""What a calibration, two columns of marks or a judge's self-test say, in numbers and lines.

The marks may be anybody's. In the self-test wrong answers speak to the judge; it shows how many stars each way of
speaking wins.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from schemas.errors import UsageError
from schemas.settings import Settings
from tasks.judging.addresses import list_trials, summarise_trials
from tasks.judging.calibration.agreement import choose_primary_judge, compute_rater_agreement
from tasks.judging.controls import ask_trials
from tasks.models.registry import RegisteredModel
from tasks.statistics.agreement import (
    WEIGHTINGS,
    Bounded,
    compute_kappa_interval,
    compute_mean,
    compute_share,
)
from warehouse.ledger.engine.ledger import Ledger

if TYPE_CHECKING:
    from warehouse.lake import Lake


_MORE = {
    "length": "twice the length",
    "lists": "twice as many list items (and one)",
    "headings": "twice as many headings (and one)",
    "bold": "twice as many bold passages (and one)",
    "chinese": "a reply in Chinese",
}
MOST_STEPS = 1_000


@dataclass(frozen=True)
class MarksAgreement:
    """Agreement of two columns of marks.

    Attributes:
        pair_count, left_out: rows with both marks, and rows without.
        step: the smallest distance of two marks, in which distances are counted.
        agreement: share of equal marks.
        bias: mean of the second less the first.
        kappas: weighting → kappa; null where it is undefined.
    """

    pair_count: int
    left_out: int
    step: float
    agreement: Bounded
    bias: Bounded | None
    kappas: dict[str, Bounded | None]


def read_calibration(lake: Lake, occasion: str, least_ratings: int) -> dict[str, Any]:
    """The report of an occasion's calibration.

    It has the occasion's judges with agreement, bias and kappas over all rounds, their differences, what they give for the
    form of a response, their weights in the last jury of the runs that the responses are of, how far the raters agree with each
    other, and the judge that agrees most on at least `least_ratings` responses over all occasions (None where there is none).
    """
    groups = lake.run_named("judge_groups", {"occasion": occasion, "kind": "all"})
    return {
        "judges": groups.to_dicts(),
        "differences": lake.run_named("judge_choice", {"occasion": occasion}).to_dicts(),
        "styles": lake.run_named("judge_style", {"occasion": occasion}).to_dicts(),
        "jury": _read_jury(lake, occasion),
        "raters": compute_rater_agreement(
            lake.read("calibration_ratings", {"occasion": occasion})
        ).to_dicts(),
        "primary_judge": choose_primary_judge(lake.read("calibrations"), least_ratings),
    }


def _read_jury(lake: Lake, occasion: str) -> list[dict[str, Any]]:
    months = lake.read("calibration_drawn", {"occasion": occasion})["month"]
    if months.is_empty():
        return []
    found = lake.run_named("jury_weights", {"month": months.max(), "simulated": True})
    return found.filter(found["discipline"] == "all").to_dicts()


def describe_calibration(found: dict[str, Any]) -> list[str]:
    """A line for each judge, each two, what they give for form, and each round of raters."""
    lines = [
        f"{one['judge']} (prompt {one['prompt_version']}): agrees on {one['agreement_rate']:.1%} of {one['pair_count']} "
        f"({one['agreement_low']:.1%} to {one['agreement_high']:.1%}); kappa {_say(one, 'kappa_none')}, linear "
        f"{_say(one, 'kappa_linear')}, quadratic {_say(one, 'kappa_quadratic')}; bias {_say(one, 'bias', sign='+')}"
        for one in found["judges"]
    ]
    lines += [
        f"{one['judge_a']} agrees more than {one['judge_b']} by {one['difference']:.1%} "
        f"({one['difference_low']:.1%} to {one['difference_high']:.1%}, p {one['p_value']:.3f})"
        + ("" if one["is_distinguishable"] else ": not distinguishable")
        for one in found["differences"]
    ]
    lines += _describe_styles(found["styles"])
    lines += [
        f"In the jury of {one['edition_id']} {one['judge']} has {one['weight']:.0%} of the weight ({one['information_bits']:.2f} bits of what is "
        f"deserved), bias {one['bias']:+.3f}"
        for one in found["jury"]
        if one["weight"] is not None
    ]
    lines += [
        f"Raters, round {one['round']}: agree on {one['agreement_rate']:.1%} of {one['response_count']}"
        + ("" if one["alpha_ordinal"] is None else f", alpha {one['alpha_ordinal']:.3f} (ordinal)")
        for one in found["raters"]
    ]
    chosen = found["primary_judge"]
    return [
        *lines,
        f"The first judge of what is published next: {chosen}." if chosen else "No judge is calibrated yet.",
    ]


def _describe_styles(styles: list[dict[str, Any]]) -> list[str]:
    """What holds among all features of a judge, or that nothing does."""
    lines = []
    for judge, wording in dict.fromkeys((one["judge"], one["prompt_version"]) for one in styles):
        own = [one for one in styles if (one["judge"], one["prompt_version"]) == (judge, wording)]
        lines += [
            f"{judge} (prompt {wording}) gives {_say(one, 'effect', sign='+')} stars for {_MORE[one['feature']]} where people gave the same"
            for one in own
            if one["is_found"]
        ]
        if not any(one["is_found"] for one in own):
            lines.append(
                f"{judge} (prompt {wording}): no effect of length or markup on {own[0]['pair_count']} responses"
            )
    return lines


def _say(row: dict[str, Any], name: str, sign: str = "") -> str:
    if row[name] is None:
        return "undefined"
    # The interval of bias is named after it, that of a kappa, too.
    low, high = row[f"{name}_low"], row[f"{name}_high"]
    interval = "" if low is None else f" ({low:{sign}.3f} to {high:{sign}.3f})"
    return f"{row[name]:{sign}.3f}{interval}"


def read_marks(path: Path, first: str, second: str) -> pl.DataFrame:
    """The two columns of a CSV, JSONL or Parquet file as numbers.

    Raises UsageError for a column that is not there, or a value that is not a number.
    """
    readers = {".csv": pl.read_csv, ".jsonl": pl.read_ndjson, ".parquet": pl.read_parquet}
    reader = readers.get(path.suffix.lower())
    if reader is None:
        raise UsageError(f"{path.name} is none of {', '.join(readers)}: save it as one of them.")
    if not path.is_file():
        raise UsageError(f"There is no file {path}. Check the path.")
    try:
        frame: pl.DataFrame = reader(path)  # type: ignore[operator]
    except (OSError, pl.exceptions.PolarsError) as error:
        raise UsageError(f"{path.name} cannot be read ({type(error).__name__}). Check the file.") from None
    if missing := [name for name in (first, second) if name not in frame.columns]:
        raise UsageError(f"{path.name} has no column {missing[0]!r}; it has {', '.join(frame.columns)}.")
    try:
        return frame.select(first=pl.col(first).cast(pl.Float64), second=pl.col(second).cast(pl.Float64))
    except pl.exceptions.PolarsError:
        raise UsageError(
            f"{path.name}: {first} and {second} must be numbers. Correct the rows that are not."
        ) from None


def compare_marks(marks: pl.DataFrame) -> MarksAgreement:
    """Agreement of `first` and `second`; rows that lack one are left out and counted.

    Marks are counted in steps of the smallest distance that occurs (halves in 1, 1.5, 3). Raises UsageError where no row has
    both, or where there are more than a thousand steps: such marks are measurements, and kappa says nothing of them.
    """
    both = marks.drop_nulls()
    if both.is_empty():
        raise UsageError("No row has both marks.")
    values = np.unique(np.concatenate([both["first"].to_numpy(), both["second"].to_numpy()]))
    step = float(np.diff(values).min()) if len(values) > 1 else 1.0
    first = np.round((both["first"].to_numpy() - values[0]) / step)
    second = np.round((both["second"].to_numpy() - values[0]) / step)
    count = int(max(first.max(), second.max())) + 1
    if count > MOST_STEPS:
        raise UsageError(
            f"The marks have {count} steps of {step:g}; kappa is for at most {MOST_STEPS}. Round them first."
        )
    one, other = first.astype(int).tolist(), second.astype(int).tolist()
    return MarksAgreement(
        pair_count=both.height,
        left_out=marks.height - both.height,
        step=step,
        agreement=compute_share(sum(a == b for a, b in zip(one, other, strict=True)), both.height),
        bias=compute_mean((both["second"] - both["first"]).to_list()),
        kappas={
            weighting: compute_kappa_interval(one, other, max(count, 2), weighting)
            for weighting in WEIGHTINGS
        },
    )


async def try_judge(ledger: Ledger, settings: Settings, judge: RegisteredModel) -> list[dict[str, object]]:
    """Ask the judge for stars of every trial, and report what each address won.

    This is done once for each month and version of the judge's prompt.

    A reply paid for before is taken from the ledger. Raises CallFailed and BudgetError.
    """
    trials = list_trials()
    return summarise_trials(trials, await ask_trials(ledger, settings, judge, trials))
