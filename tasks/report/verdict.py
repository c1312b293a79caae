"""What the lake says of two candidates, of one over time, and of a family."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from schemas.errors import UsageError, suggest
from tasks.report.verdict_sentences import (
    Row,
    render_sentence,
    say_cautions,
    say_change,
    say_judges,
    say_last_change,
    say_pair,
    say_thinking,
    turn_row,
)
from tasks.texts import Words

ReadRows = Callable[[str, Mapping[str, object]], list[dict[str, Any]]]
_HISTORY_MONTHS = 12


@dataclass(frozen=True)
class SpokenVerdict:
    """What is said, and what it rests on.

    Attributes:
        sentences: in both languages, the most important first.
        row: of `verdicts` or `improvement_since`.
        months: rows of `pair_history` or `monthly_trend`, the earliest first.
        disciplines: rows of `discipline_comparison` or `change_by_discipline`.
    """

    sentences: tuple[Words, ...]
    row: Row
    months: Sequence[Row]
    disciplines: Sequence[Row]


def compare_pair(
    read: ReadRows, first: str, second: str, style: str = "zero_shot", *, simulated: bool | None = None
) -> SpokenVerdict:
    """All that is said of two candidates, first less second; UsageError if never in one month."""
    if first == second:
        raise UsageError(f"A candidate cannot be compared with itself: {first} was named twice.")
    asked = {"simulated": simulated, "prompt_style": style, "model_a": first, "model_b": second}
    found = read("verdicts", asked)
    rows = _turn(found, first)
    if not rows:
        _check_published(read, (first, second), style, simulated)
        raise UsageError(
            f"{first} and {second} never stood in the same month under the prompt style {style}: there is nothing to compare. "
            "Their own months: proctor sql monthly_trend."
        )
    row = rows[-1]
    history = read("pair_history", {**asked, "month_count": _HISTORY_MONTHS})
    months = [one for one in _turn(history, first) if one["is_simulated"] == row["is_simulated"]]
    compared = {"model_a": first, "model_b": second, "prompt_style": style, "month": row["month"]}
    disciplines = [
        one | {"is_distinguishable": str(one["verdict"]).endswith("is better")}
        for one in read("discipline_comparison", compared)
        if one["is_simulated"] == row["is_simulated"]
    ]
    said = say_pair(row, disciplines)
    gains = read("thinking_gain", {"simulated": simulated, "prompt_style": style})
    effect = [
        say_thinking(gain)
        for gain in gains
        if gain["discipline"] is None
        and {gain["model"], gain["base_model"]} == {first, second}
        and gain["is_simulated"] == row["is_simulated"]
    ]
    cautions = len(say_cautions(row))
    said = [*said[: len(said) - cautions], *effect, *said[len(said) - cautions :]]
    return SpokenVerdict(tuple(map(render_sentence, said)), row, months, disciplines)


def follow_candidate(
    read: ReadRows, model: str, style: str = "zero_shot", *, simulated: bool | None = None
) -> SpokenVerdict:
    """Whether a candidate has changed since its first month; UsageError for only one."""
    asked = {"simulated": simulated, "prompt_style": style}
    rows = _select(read("improvement_since", asked), model)
    if not rows:
        _check_published(read, (model,), style, simulated)
        raise UsageError(
            f"{model} stood in one month only under the prompt style {style}: whether it changed can be told after the next."
        )
    row = rows[-1]
    months = [
        one
        for one in _select(read("monthly_trend", {"simulated": simulated}), model)
        if one["is_simulated"] == row["is_simulated"] and style == "zero_shot"
    ]
    moved = _select(read("change_by_discipline", asked | {"model": model}), model)
    said = say_change(row)
    if months:
        said += say_last_change(months[-1], moved)
    boards = _select(read("leaderboard_history", {"simulated": simulated}), model)
    own = {one["month"]: one for one in boards if one["prompt_style"] == style and not one["is_repetition"]}
    said += say_judges(own.get(row["from_month"]), own.get(row["to_month"]))
    said += say_cautions(own[row["to_month"]]) if row["to_month"] in own else []
    return SpokenVerdict(tuple(map(render_sentence, said)), row, months, moved)


def follow_family(
    read: ReadRows, family: str, style: str = "zero_shot", *, simulated: bool | None = None
) -> list[SpokenVerdict]:
    """Each member of a family beside the one released before it; UsageError for none."""
    rows = read("family_trajectories", {"simulated": simulated})
    steps = [row for row in rows if row["family"] == family]
    if not steps:
        known = sorted({str(row["family"]) for row in rows})
        raise UsageError(
            f"No published candidate is of the family {family!r}.{_suggest(family, known, 'Families')}"
        )
    verdicts = []
    for row in steps:
        if row["previous_model"] is None:
            continue
        try:
            verdicts.append(
                compare_pair(read, row["model"], row["previous_model"], style, simulated=simulated)
            )
        except UsageError as error:
            said = (str(error), str(error))
            verdicts.append(SpokenVerdict((said,), row, (), ()))
    return verdicts


def _turn(rows: list[dict[str, Any]], first: str) -> list[Row]:
    """The rows with that candidate first, every difference of a turned one negated."""
    return [row if row["model_a"] == first else turn_row(row) for row in rows]


def _select(rows: list[dict[str, Any]], model: str) -> list[Row]:
    return [row for row in rows if row["model"] == model]


def _check_published(read: ReadRows, names: Sequence[str], style: str, simulated: bool | None) -> None:
    board = read("leaderboard_history", {"simulated": simulated})
    known = sorted({row["model"] for row in board if row["prompt_style"] == style})
    for name in names:
        if name not in known:
            raise UsageError(
                f"No candidate {name!r} was published under the prompt style {style}.{_suggest(name, known, 'Published')}"
            )


def _suggest(name: str, known: Sequence[str], title: str) -> str:
    if near := suggest(name, known):
        return near
    return f" {title}: {', '.join(known)}." if known else " Nothing was published yet: proctor publish."
