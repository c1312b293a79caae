"""What a calibration says, in numbers and in lines."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tasks.judging.calibration.agreement import choose_primary_judge, compute_rater_agreement

if TYPE_CHECKING:
    from warehouse.lake import Lake


def read_calibration(lake: Lake, occasion: str, least_ratings: int) -> dict[str, Any]:
    """The report of an occasion's calibration.

    It has the occasion's judges with agreement, bias and kappas over all rounds, their differences, how far the
    raters agree with each other, and the judge that agrees most on at least `least_ratings` responses over all
    occasions (None where there is none).
    """
    groups = lake.run_named("judge_groups", {"occasion": occasion, "kind": "all"})
    return {
        "judges": groups.to_dicts(),
        "differences": lake.run_named("judge_choice", {"occasion": occasion}).to_dicts(),
        "raters": compute_rater_agreement(
            lake.read("calibration_ratings", {"occasion": occasion})
        ).to_dicts(),
        "primary_judge": choose_primary_judge(lake.read("calibrations"), least_ratings),
    }


def describe_calibration(found: dict[str, Any]) -> list[str]:
    """A line for each judge, each two judges and each round of raters."""
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


def _say(row: dict[str, Any], name: str, sign: str = "") -> str:
    if row[name] is None:
        return "undefined"
    # The interval of bias is named after it, that of a kappa, too.
    low, high = row[f"{name}_low"], row[f"{name}_high"]
    interval = "" if low is None else f" ({low:{sign}.3f} to {high:{sign}.3f})"
    return f"{row[name]:{sign}.3f}{interval}"
