"""What is said of two candidates is what their frozen rows say, computed by other means."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from itertools import combinations
from typing import Any

import polars as pl
import pytest

from schemas.errors import UsageError
from tasks.report.panels import NamedQuery
from tasks.report.verdict import ReadRows, SpokenVerdict, compare_pair, follow_candidate, follow_family
from tasks.report.verdict_sentences import render_sentence, say_change, say_pair, turn_row, write_signed

RunSql = Callable[[str], pl.DataFrame]
PAIR: dict[str, Any] = {
    "model_a": "ash", "model_b": "elm", "month": "2026-11", "score_a": 70.0, "score_b": 60.0, "difference": 10.0,
    "together_low": 2.0, "together_high": 18.0, "p_together": 0.01, "verdict": "ash is better", "since_month": "2026-09",
    "since_count": 3, "month_count": 5, "better_count": 4, "worse_count": 0, "alike_count": 1, "pooled_count": 5,
    "pooled_from": "2026-07", "pooled_difference": 8.0, "pooled_low": 4.5, "pooled_high": 11.5, "is_paired": True, "item_count": 1000, "single_count": 0,
    "equated_difference": 9.0, "equated_low": 1.0, "equated_high": 17.0, "corrected_difference": None, "corrected_low": None,
    "corrected_high": None, "needed_count": None, "needed_usd": None, "is_provisional": False, "overridden_gates": None,
    "edition_id": "2026-11/1", "is_simulated": False,
}  # fmt: skip


@pytest.fixture
def read(season: NamedQuery) -> ReadRows:
    return lambda name, parameters: season(name, dict(parameters)).to_dicts()


def say(row: Mapping[str, Any]) -> list[str]:
    return [render_sentence(one)[1] for one in say_pair(row)]


def test_of_one_discipline_s_says_all_there_is() -> None:
    law = {"discipline": "Law", "difference": 2.0, "is_distinguishable": True}
    both = [render_sentence(one)[1] for one in say_pair(PAIR, [law, {**law, "discipline": "Science"}])]
    assert any("Law" in sentence for sentence in both)
    assert not any("Law" in render_sentence(one)[1] for one in say_pair(PAIR, [law]))


def test_every_pair_is_told_as_its_rows_tell_it(season: NamedQuery, run_sql: RunSql) -> None:
    pairs = run_sql(
        "SELECT p.* FROM edition_pairs p JOIN current_editions e USING (edition_id, month) "
        "WHERE p.prompt_style = 'zero_shot' AND p.discipline = 'all' AND NOT e.is_repetition"
    ).to_dicts()
    scores = run_sql("SELECT * FROM edition_scores WHERE discipline = 'all' AND prompt_style = 'zero_shot'")
    found = {(row["model_a"], row["model_b"]): row for row in season("verdicts", {}).to_dicts()}
    assert set(found) == {(row["model_a"], row["model_b"]) for row in pairs}
    assert len(found) > 12
    for names, row in found.items():
        months = sorted((one for one in pairs if (one["model_a"], one["model_b"]) == names), key=_month)
        sides = [_side(one) for one in months]
        last = months[-1]
        assert (row["month"], row["difference"]) == (last["month"], last["difference"])
        since = len(sides)
        while since and sides[-1] and sides[since - 1] == sides[-1]:
            since -= 1
        expected = months[since]["month"] if sides[-1] else None
        assert row["since_month"] == expected
        assert (row["better_count"], row["worse_count"]) == (sides.count(1), sides.count(-1))
        used = [one for one in months[-12:] if one["difference_se"] and one["together_low"] is not None]
        if len(used) > 1:
            weights = [one["difference_se"] ** -2 for one in used]
            mean = sum(w * one["difference"] for w, one in zip(weights, used, strict=True)) / sum(weights)
            assert row["pooled_difference"] == pytest.approx(mean)
            assert row["pooled_low"] <= mean <= row["pooled_high"]
        else:
            assert row["pooled_difference"] is None
        a, b = (
            scores.filter(pl.col("edition_id") == last["edition_id"], pl.col("model") == name).row(
                0, named=True
            )
            for name in names
        )
        if row["equated_difference"] is not None:
            assert row["equated_difference"] == pytest.approx(a["equated_score"] - b["equated_score"])
        if row["needed_count"] is not None:
            asked = row["item_count"] + row["needed_count"]
            se = last["difference_se"] * math.sqrt(row["item_count"] / asked)
            reach = (last["together_high"] - last["together_low"]) / 2 / last["difference_se"]
            # With as many, the expected statistic lies .8416 above the bar; with one less it does not.
            assert abs(last["difference"]) / se >= max(1.959964, reach) + 0.8416 - 1e-6


def test_no_sentence_contradicts_its_interval(season: NamedQuery) -> None:
    for row in season("verdicts", {}).to_dicts():
        first = say(row)[0]
        low, high = row["together_low"], row["together_high"]
        if "better than" in first:
            assert low >= 0 or high <= 0
            assert "(-" not in first
            assert "(0.0" not in first
        elif "cannot be told apart" in first:
            assert low <= 0 <= high
        else:
            assert row["verdict"] == "no comparison"


def test_the_other_way_round_says_the_same(read: ReadRows, season: NamedQuery) -> None:
    names = sorted({name for row in season("verdicts", {}).to_dicts() for name in _names(row)})
    for first, second in list(combinations(names, 2))[:3]:
        one, other = _compare(read, first, second), _compare(read, second, first)
        if one is None or other is None:
            assert one is other
            continue
        if one.row["difference"] is not None:
            assert other.row["difference"] == -one.row["difference"]
            assert (other.row["together_low"], other.row["together_high"]) == (
                -one.row["together_high"],
                -one.row["together_low"],
            )
        assert one.sentences == other.sentences
        assert [month["difference"] for month in other.months] == [
            None if month["difference"] is None else -month["difference"] for month in one.months
        ]


def test_who_is_better_since_when_and_how_sure() -> None:
    assert say(PAIR)[:4] == [
        "ash is better than elm: by 10.0 points of S in 2026-11 (2.0 to 18.0, a 95% interval that holds for all pairs of the month at once).",
        "It has been so since 2026-09, in each of the 3 months in a row in which both stood.",
        "Over the 5 months since 2026-07 together, ash is better: by 8.0 points on average (4.5 to 11.5, with the same allowance for all pairs).",
        "It rests on the 1,000 questions that both answered.",
    ]


def test_candidates_that_are_level_are_ahead_by_nothing_whoever_is_named_first() -> None:
    level = PAIR | {
        "verdict": "not told apart",
        "difference": 0.0,
        "together_low": -8.0,
        "together_high": 8.0,
    }
    for row in (level, turn_row(level)):
        assert " is 0.0 points of S ahead (-8.0 to +8.0," in say(row)[0]


def test_an_interval_that_only_just_keeps_from_zero_says_so() -> None:
    assert "(above 0 to 18.0," in say(PAIR | {"together_low": 0.0})[0]
    turned = {"verdict": "elm is better", "difference": -10.0, "together_low": -18.0, "together_high": 0.0}
    assert "elm is better than ash: by 10.0 points of S in 2026-11 (above 0 to 18.0," in say(PAIR | turned)[0]


def test_questions_that_only_one_answered_are_named_beside_those_that_both_did() -> None:
    assert say(PAIR | {"single_count": 150})[3] == (
        "It rests on the 1,000 questions that both answered and on 150 more that only one of them did; "
        "the errors of both are in the interval."
    )


def test_what_would_decide_it_is_said_with_its_price() -> None:
    alike = PAIR | {
        "verdict": "not told apart",
        "difference": 1.04,
        "together_low": -3.0,
        "together_high": 5.0,
    }
    said = say(alike | {"needed_count": 12_345, "needed_usd": 81.2})
    assert any("about 12,000 more questions each" in line and "$81 in all" in line for line in said)
    assert any("about 12,000 more questions each" in line for line in say(alike | {"needed_count": 12_345}))
    assert any("more than a million" in line for line in say(alike | {"needed_count": 2_000_000}))


def test_what_is_not_sure_is_said_last() -> None:
    said = say(PAIR | {"is_provisional": True, "overridden_gates": ["agreement"], "is_simulated": True})
    assert [line.split(":")[0] for line in said[-3:]] == [
        "Provisional",
        "It was published over a shut gate",
        "Simulated",
    ]


def test_a_candidate_is_followed_over_its_months(read: ReadRows, season: NamedQuery) -> None:
    rows = season("improvement_since", {}).to_dicts()
    assert rows
    for row in rows:
        followed = follow_candidate(read, row["model"])
        head = followed.sentences[0][1]
        assert row["model"] in head
        if row["verdict"] in ("improved", "got worse"):
            assert "has changed" in head
            assert row["together_low"] >= 0 or row["together_high"] <= 0
        elif row["together_low"] is not None:
            assert "No change" in head
            assert row["together_low"] <= 0 <= row["together_high"]
        assert write_signed(row["change"]) in head


def test_a_change_from_one_judge_to_another_names_both(read: ReadRows, season: NamedQuery) -> None:
    model = next(one["model"] for one in read("improvement_since", {"simulated": None}))
    (last,) = {
        one["to_month"] for one in read("improvement_since", {"simulated": None}) if one["model"] == model
    }

    def read_other(name: str, params: Mapping[str, object]) -> list[dict[str, Any]]:
        rows = read(name, params)
        if name != "leaderboard_history":
            return rows
        # A repetition of the month, too, by a third judge: it is not what is told of.
        later = [one | {"judge": "judge-z"} if one["month"] == last else one for one in rows]
        return [*later, *(one | {"judge": "judge-y", "is_repetition": True} for one in later)]

    told = "judge-z judged " + last
    assert any(told in said[1] for said in follow_candidate(read_other, model).sentences)
    assert not any("judge-y" in said[1] for said in follow_candidate(read_other, model).sentences)
    assert not any("a part of the change" in said[1] for said in follow_candidate(read, model).sentences)


def test_a_difference_has_its_sign_unless_it_rounds_to_nothing() -> None:
    assert [write_signed(value) for value in (1.26, -0.31, 0.04, -0.04, 0.0)] == [
        "+1.3",
        "-0.3",
        "0.0",
        "0.0",
        "0.0",
    ]


def test_a_change_without_an_error_is_no_verdict() -> None:
    row = {
        "model": "ash", "from_month": "2026-10", "to_month": "2026-11", "change": 3.0, "together_low": None, "together_high": None,
        "verdict": "no error is known", "equated_change": None,
    }  # fmt: skip
    assert [one.key for one in say_change(row)] == ["change_unknown"]


def test_a_family_is_told_step_by_step(read: ReadRows, season: NamedQuery) -> None:
    rows = season("family_trajectories", {}).to_dicts()
    family = next(row["family"] for row in rows if row["previous_model"])
    steps = [row for row in rows if row["family"] == family and row["previous_model"]]
    assert len(follow_family(read, family)) == len(steps)
    with pytest.raises(UsageError, match=re.escape(f"Did you mean {family!r}?")):
        follow_family(read, family + "x")


def test_a_name_that_nobody_has_is_one_clear_error(read: ReadRows, season: NamedQuery) -> None:
    name = season("verdicts", {}).to_dicts()[0]["model_a"]
    with pytest.raises(UsageError, match="No candidate 'nobody-at-all' was published"):
        compare_pair(read, name, "nobody-at-all")
    with pytest.raises(UsageError, match="named twice"):
        compare_pair(read, name, name)
    with pytest.raises(UsageError, match=re.escape(f"Did you mean {name!r}?")):
        follow_candidate(read, name + "x")


def _compare(read: ReadRows, first: str, second: str) -> SpokenVerdict | None:
    try:
        return compare_pair(read, first, second)
    except UsageError:
        return None


def _names(row: Mapping[str, Any]) -> tuple[str, str]:
    return row["model_a"], row["model_b"]


def _month(row: Mapping[str, Any]) -> str:
    return str(row["month"])


def _side(row: Mapping[str, Any]) -> int:
    if not row["is_distinguishable"]:
        return 0
    return 1 if row["difference"] > 0 else -1
