"""What must be said of two candidates, computed from published rows and the stars.

Nothing here uses the queries or the code of verdicts: the sentences of a page are held to it.
"""

from __future__ import annotations

from collections.abc import Callable
from math import ceil
from statistics import NormalDist
from typing import Any

import polars as pl

RunSql = Callable[[str], pl.DataFrame]
_LAST_MONTHS = 12
# As pages write it.
_SHORT = {"Military Science": "Military Sci."}


def list_pairs(run_sql: RunSql) -> list[dict[str, Any]]:
    """The last editions' pairs of zero-shot S, the earliest month first."""
    return run_sql(
        "SELECT p.* FROM edition_pairs p JOIN editions e USING (edition_id, month) "
        "WHERE p.prompt_style = 'zero_shot' AND p.discipline = 'all' AND NOT e.is_repetition "
        "AND e.revision = (SELECT max(revision) FROM editions x WHERE x.run_id = e.run_id) ORDER BY month"
    ).to_dicts()


def expect_sentences(run_sql: RunSql, pairs: list[dict[str, Any]], names: tuple[str, str]) -> list[str]:
    """What the page must say of a pair, as the beginnings of sentences, in its order."""
    months = [one for one in pairs if {one["model_a"], one["model_b"]} == set(names)]
    ahead = months[-1]["model_a"] if months[-1]["difference"] >= 0 else months[-1]["model_b"]
    behind = months[-1]["model_b"] if ahead == months[-1]["model_a"] else months[-1]["model_a"]
    turned = [_turn(one, ahead) for one in months]
    last = turned[-1]
    said = [_head(last, ahead, behind), *_history(turned, ahead, behind), *_pooled(turned, ahead, behind)]
    counts = count_questions(run_sql, last["edition_id"])
    single = counts[ahead] + counts[behind] - 2 * last["pair_count"]
    if last["is_paired"] and single:
        said.append(
            f"It rests on the {last['pair_count']:,} questions that both answered and on {single:,} more "
        )
    elif last["is_paired"]:
        said.append(f"It rests on the {last['pair_count']:,} questions that both answered.")
    else:
        said.append("They answered different questions, ")
    equated = {
        row["model"]: row["equated_score"]
        for row in run_sql(
            f"SELECT model, equated_score FROM edition_scores WHERE edition_id = '{last['edition_id']}' "
            "AND discipline = 'all' AND prompt_style = 'zero_shot'"
        ).to_dicts()
    }
    if equated[ahead] is not None and equated[behind] is not None:
        said.append(f"The equated scores differ by {_sign(equated[ahead] - equated[behind])} points (")
    return [
        *said,
        *_people(run_sql, last, ahead, behind),
        *_disciplines(run_sql, last, ahead, behind),
        *_needed(last, counts),
        *_cautions(run_sql, last["edition_id"]),
    ]


def compute_scores(run_sql: RunSql, edition_id: str) -> dict[str, float]:
    """S of every candidate from the stars of its answers; what is without stars earns nothing."""
    stars = _read_stars(run_sql, edition_id)
    questions = stars.group_by("model", "discipline", "question_uuid").agg(
        pl.col("stars").fill_null(0).mean()
    )
    disciplines = questions.group_by("model", "discipline").agg(pl.col("stars").mean())
    return {
        model: sum(rows["stars"]) / rows.height / 3 * 100
        for (model,), rows in disciplines.partition_by("model", as_dict=True).items()
    }


def count_questions(run_sql: RunSql, edition_id: str) -> dict[str, int]:
    """How many different questions every candidate answered."""
    counted = _read_stars(run_sql, edition_id).group_by("model").agg(pl.col("question_uuid").n_unique())
    return dict(counted.iter_rows())


def _read_stars(run_sql: RunSql, edition_id: str) -> pl.DataFrame:
    return run_sql(
        "SELECT r.model, r.question_uuid, r.discipline, r.stars FROM scored_responses r "
        f"JOIN edition_sessions s ON s.session_id = r.session_id AND s.edition_id = '{edition_id}' AND s.is_complete "
        "WHERE r.prompt_style = 'zero_shot'"
    )


def _turn(row: dict[str, Any], first: str) -> dict[str, Any]:
    if row["model_a"] == first:
        return row
    low, high = row["together_low"], row["together_high"]
    return row | {
        "difference": -row["difference"],
        "together_low": None if high is None else -high,
        "together_high": None if low is None else -low,
    }


def _head(last: dict[str, Any], ahead: str, behind: str) -> str:
    value = f"{last['difference']:.1f}"
    if last["is_distinguishable"]:
        low = "above 0" if round(last["together_low"], 1) == 0 else f"{last['together_low']:.1f}"
        interval = f"({low} to {last['together_high']:.1f}, a 95% interval"
        return f"{ahead} is better than {behind}: by {value} points of S in {last['month']} {interval}"
    interval = f"({_sign(last['together_low'])} to {_sign(last['together_high'])}, a 95% interval"
    return f"{ahead} and {behind} cannot be told apart in {last['month']}: {ahead} is {value} points of S ahead {interval}"


def _history(turned: list[dict[str, Any]], ahead: str, behind: str) -> list[str]:
    sides = [0 if not one["is_distinguishable"] else (1 if one["difference"] > 0 else -1) for one in turned]
    count = len(sides)
    if count == 1:
        return ["This is the only month in which both stood."]
    if sides[-1] == 0:
        better, worse = sides.count(1), sides.count(-1)
        if not better and not worse:
            return [f"In none of the {count} months in which both stood were they told apart."]
        return [
            f"Of the {count} months in which both stood, {ahead} was better in {better} and {behind} in {worse}; "
        ]
    since = count - 1
    while since and sides[since - 1] == 1:
        since -= 1
    if since < count - 1:
        return [
            f"It has been so since {turned[since]['month']}, in each of the {count - since} months in a row "
        ]
    return [f"It was not so in the month before; it was in {sides.count(1)} of the {count} months "]


def _pooled(turned: list[dict[str, Any]], ahead: str, behind: str) -> list[str]:
    """Months weighed by their errors, in either wording: the interval is not computed here."""
    used = [one for one in turned[-_LAST_MONTHS:] if one["difference_se"] and one["together_low"] is not None]
    if len(used) < 2:
        return []
    weights = [one["difference_se"] ** -2 for one in used]
    mean = sum(w * one["difference"] for w, one in zip(weights, used, strict=True)) / sum(weights)
    start = f"Over the {len(used)} months since {used[0]['month']} together"
    better = ahead if mean > 0 else behind
    return [
        f"{start}, {better} is better: by {abs(mean):.1f} points on average (|"
        f"{start} they cannot be told apart either: {ahead} less {behind} is {_sign(mean)} points on average ("
    ]


def _people(run_sql: RunSql, last: dict[str, Any], ahead: str, behind: str) -> list[str]:
    """S as people would have judged it, by the last correction of each."""
    rows = run_sql(
        f"SELECT model, corrected_score FROM corrected_scores WHERE edition_id = '{last['edition_id']}' "
        "AND prompt_style = 'zero_shot' AND estimator = 'prediction_powered' ORDER BY corrected_at"
    )
    known = dict(rows.iter_rows())
    if known.get(ahead) is None or known.get(behind) is None:
        return []
    return [f"As people would have judged, S differs by {_sign(known[ahead] - known[behind])} points ("]


def _disciplines(run_sql: RunSql, last: dict[str, Any], ahead: str, behind: str) -> list[str]:
    rows = run_sql(
        "SELECT discipline, difference, model_a, is_distinguishable FROM edition_pairs WHERE prompt_style = 'zero_shot' "
        f"AND edition_id = '{last['edition_id']}' AND discipline <> 'all' AND is_distinguishable IS NOT NULL "
        f"AND model_a IN ('{ahead}', '{behind}') AND model_b IN ('{ahead}', '{behind}') ORDER BY discipline"
    ).to_dicts()
    if len(rows) < 2:
        return []
    apart = [
        f"{_SHORT.get(one['discipline'], one['discipline'])} "
        f"({_sign(one['difference'] if one['model_a'] == ahead else -one['difference'])})"
        for one in rows
        if one["is_distinguishable"]
    ]
    if not apart:
        return [f"In none of the {len(rows)} disciplines alone are they told apart, "]
    return [
        f"Disciplines in which they are told apart ({ahead} less {behind} in points of 100, "
        f"corrected for looking at all {len(rows)}): {', '.join(apart)}."
    ]


def _needed(last: dict[str, Any], counts: dict[str, int]) -> list[str]:
    """The error falls with the root of the questions, until bar and power are reached."""
    error, difference = last["difference_se"], abs(last["difference"])
    if last["is_distinguishable"] or not error or round(difference, 9) == 0:
        return []
    bar = max(
        NormalDist().inv_cdf(0.975), (last["together_high"] - last["together_low"]) / 2 / error
    ) + NormalDist().inv_cdf(0.8)
    least = min(counts[last["model_a"]], counts[last["model_b"]])
    there = last["pair_count"] if last["is_paired"] else least
    count = max(1, ceil(there * ((bar * error / difference) ** 2 - 1)))
    if count > 1_000_000:
        return ["What was seen is too small for any exam"]
    two_digits = round(count, 2 - len(str(count)))
    return [f"If the true difference is what was seen, about {two_digits:,} more questions each would "]


def _cautions(run_sql: RunSql, edition_id: str) -> list[str]:
    head = run_sql(f"SELECT * FROM editions WHERE edition_id = '{edition_id}'").row(0, named=True)
    said = ["Provisional: "] if head["is_provisional"] else []
    said += ["It was published over a shut gate: "] if head["overridden_gates"] else []
    said += ["Simulated: "] if head["is_simulated"] else []
    grades = run_sql(f"SELECT grade FROM edition_grades WHERE edition_id = '{edition_id}'")["grade"].to_list()
    return [*said, f"Attested: {grades[0] if grades else 'self-attested'}"]


def _sign(value: float) -> str:
    text = f"{value:+.1f}"
    return "0.0" if float(text) == 0 else text
