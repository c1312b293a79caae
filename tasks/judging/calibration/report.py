"""What a calibration says, and a self-test, in which wrong answers speak to the judge."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from schemas.settings import Settings
from tasks.judging.addresses import list_trials, summarise_trials
from tasks.judging.calibration.agreement import choose_primary_judge, compute_rater_agreement
from tasks.judging.controls import ask_trials
from tasks.models.registry import RegisteredModel
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


def read_calibration(lake: Lake, occasion: str, least_ratings: int) -> dict[str, Any]:
    """The report of an occasion's calibration.

    It has the occasion's judges with agreement, bias and kappas over all rounds, their differences, what they give for the
    form of a response, their weights in the last jury of the runs that the responses are of, how far the raters agree with each
    other, and the judge that agrees most on at least `least_ratings` responses over all occasions of the kind, real or simulated (None
    where there is none).
    """
    groups = lake.run_named("judge_groups", {"occasion": occasion, "kind": "all"})
    # Who judges trials is no judge of what is not one.
    known = lake.run_named("judge_calibration")
    alike = known.filter(known["is_simulated"].is_in(groups["is_simulated"].implode()))
    calibrations = lake.read("calibrations").join(alike, on=["occasion", "judge"], how="semi")
    return {
        "judges": groups.to_dicts(),
        "differences": lake.run_named("judge_choice", {"occasion": occasion}).to_dicts(),
        "styles": lake.run_named("judge_style", {"occasion": occasion}).to_dicts(),
        "jury": _read_jury(lake, occasion),
        "raters": compute_rater_agreement(
            lake.read("calibration_ratings", {"occasion": occasion})
        ).to_dicts(),
        "primary_judge": choose_primary_judge(calibrations, least_ratings),
    }


def _read_jury(lake: Lake, occasion: str) -> list[dict[str, Any]]:
    drawn = lake.read("calibration_drawn", {"occasion": occasion})
    if drawn.is_empty():
        return []
    found = lake.run_named("jury_weights", {"month": drawn["month"].max(), "simulated": True})
    is_alike = found["is_simulated"].is_in(drawn["is_simulated"].implode())
    return found.filter(is_alike & (found["discipline"] == "all")).to_dicts()


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


async def try_judge(ledger: Ledger, settings: Settings, judge: RegisteredModel) -> list[dict[str, object]]:
    """Ask the judge for stars of every trial, once a month and prompt version; what each won."""
    trials = list_trials()
    return summarise_trials(trials, await ask_trials(ledger, settings, judge, trials))
