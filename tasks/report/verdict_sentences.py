"""The rows of verdicts as sentences in both languages.

A sentence is a key of verdict_sentences.yaml with values, so that a page that holds all pairs carries each text once. A value is text, or a pair of
texts where it differs by language.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from tasks.report.labels import LABELS
from tasks.report.words import describe_grade, name_gates
from tasks.texts import Words, read_bilingual

_TEXTS: Final = read_bilingual("tasks.report", "verdict_sentences.yaml")
SENTENCES: Final[Mapping[str, Words]] = _TEXTS["sentences"]
_PARTS: Final[Mapping[str, Words]] = _TEXTS["parts"]
Row = Mapping[str, Any]
Values = dict[str, str | Words]

_LEAST_DISCIPLINES: Final = 2
# An exam of more questions than this is not held.
_MOST_QUESTIONS = 1_000_000


class Sentence(NamedTuple):
    """A key of `SENTENCES`, and what stands in its places."""

    key: str
    values: Mapping[str, str | Words]


def render_sentence(sentence: Sentence) -> Words:
    """The sentence in both languages."""
    return _fill(SENTENCES[sentence.key], sentence.values)


def list_values(sentence: Sentence) -> list[str | Words]:
    """What stands in the places of the sentence, in order of their names."""
    return [sentence.values[name] for name in sorted(set(re.findall(r"{(\w+)}", SENTENCES[sentence.key][1])))]


def say_pair(row: Row, disciplines: Sequence[Row] = ()) -> list[Sentence]:
    """What a row of `verdicts` says, the most important first.

    It is told from the side of whoever was ahead in the last month, however the row has them, so that a pair has one verdict.
    `disciplines` are the rows of the same pair by discipline, in the same order of candidates: their difference on 0 to 10, and
    `is_distinguishable`.
    """
    if (row["difference"] or 0) < 0:
        row = turn_row(row)
        disciplines = [dict(one) | {"difference": -one["difference"]} for one in disciplines]
    is_apart = str(row["verdict"]).endswith(" is better")
    said = [_say_head(row, is_apart=is_apart)]
    if row["verdict"] != "no comparison":
        said += [*_say_months(row, is_apart=is_apart), *_say_pooled(row), _say_basis(row)]
    said += [*_say_beside(row), *_say_disciplines(row, disciplines), *_say_needed(row), *say_cautions(row)]
    return said


def turn_row(row: Row) -> Row:
    """The row with its candidates the other way round: every difference changes its sign."""
    turned = dict(row) | {"model_a": row["model_b"], "model_b": row["model_a"]}
    for name in [key for key in row if key.endswith("difference")]:
        stem = name.removesuffix("difference") or "together_"
        # Taken from 0: a minus sign would make a -0.0 of no difference.
        turned[name] = None if row[name] is None else 0.0 - row[name]
        low, high = row.get(f"{stem}low"), row.get(f"{stem}high")
        turned[f"{stem}low"] = None if high is None else 0.0 - high
        turned[f"{stem}high"] = None if low is None else 0.0 - low
    for one, other in (("score_a", "score_b"), ("better_count", "worse_count")):
        if one in row:
            turned[one], turned[other] = row[other], row[one]
    return turned


def say_change(row: Row) -> list[Sentence]:
    """What a row of `improvement_since` says of one candidate."""
    values = {
        "model": str(row["model"]),
        "from": str(row["from_month"]),
        "to": str(row["to_month"]),
        "value": write_signed(row["change"]),
    }
    if row["together_low"] is None:
        said = [Sentence("change_unknown", values)]
    else:
        is_apart = row["verdict"] in ("improved", "got worse")
        interval = _write_interval(row["together_low"], row["together_high"], is_apart=is_apart)
        said = [Sentence("changed" if is_apart else "unchanged", values | {"interval": interval})]
    if row["equated_change"] is not None:
        said.append(Sentence("equated_change", {"value": write_signed(row["equated_change"])}))
    return said


def say_last_change(row: Row, disciplines: Sequence[Row]) -> list[Sentence]:
    """What the last row of `monthly_trend` of a candidate says, and `change_by_discipline`."""
    if row["score_change"] is None or row["score_change_low"] is None:
        return []
    values: Values = {
        "from": str(row["previous_month"]),
        "to": str(row["month"]),
        "value": write_signed(row["score_change"]),
        "interval": _write_interval(row["score_change_low"], row["score_change_high"], is_apart=False),
    }
    moved = sorted(
        (one for one in disciplines if one["points"]),
        key=lambda one: (-abs(one["points"]), one["discipline"]),
    )
    said = [Sentence("last_change", values)]
    if moved:
        said.append(Sentence("moved_in", {"named": _name_disciplines(moved[:3], "points")}))
    return said


def say_judges(first: Row | None, last: Row | None) -> list[Sentence]:
    """That two months of a candidate were judged by two judges; nothing where one judged both."""
    if first is None or last is None or first["judge"] == last["judge"]:
        return []
    values = {"from": str(first["month"]), "to": str(last["month"])}
    return [Sentence("other_judge", values | {"before": str(first["judge"]), "after": str(last["judge"])})]


def say_thinking(row: Row) -> Sentence:
    """What the row of `thinking_gain` over all disciplines says."""
    return Sentence(
        "thinking",
        {
            "variant": str(row["model"]),
            "base": str(row["base_model"]),
            "mode": str(row["mode"]),
            "count": f"{row['pair_count']:,}",
            "value": write_signed(row["gain"]),
            "interval": _write_interval(row["gain_low"], row["gain_high"], is_apart=False),
        },
    )


def say_cautions(row: Row) -> list[Sentence]:
    """What to know before the rest is believed."""
    said = []
    if row["is_provisional"]:
        said.append(Sentence("provisional", {}))
    if row["overridden_gates"]:
        said.append(Sentence("overridden", {"gates": name_gates(row["overridden_gates"])}))
    if "text only" in (row.get("marks") or ""):
        said.append(Sentence("text_only", {}))
    if row["is_simulated"]:
        said.append(Sentence("simulated", {}))
    if row.get("grade"):
        said.append(Sentence("attested", {"grade": (describe_grade(row, "zh"), describe_grade(row, "en"))}))
    return said


def write_signed(value: float) -> str:
    """A difference with its sign; what rounds to nothing has none."""
    text = f"{value:+.1f}"
    return "0.0" if float(text) == 0 else text


def _say_head(row: Row, *, is_apart: bool) -> Sentence:
    both = {"a": str(row["model_a"]), "b": str(row["model_b"]), "month": str(row["month"])}
    if row["verdict"] == "no comparison":
        return Sentence("incomparable", both)
    if is_apart:
        return Sentence("better", {"month": both["month"], **_lead(row, "difference", "together", 1)})
    interval = _write_interval(row["together_low"], row["together_high"], is_apart=False)
    return Sentence("alike", both | {"value": f"{row['difference']:.1f}", "interval": interval})


def _lead(row: Row, value: str, ends: str, side: int) -> Values:
    """Who is better by how much: the difference from the side of the better one."""
    low, high = row[f"{ends}_low"], row[f"{ends}_high"]
    if side < 0:
        low, high = (None, None) if low is None else (-high, -low)
    first, second = str(row["model_a"]), str(row["model_b"])
    return {
        "better": first if side > 0 else second,
        "worse": second if side > 0 else first,
        "value": f"{abs(row[value]):.1f}",
        "interval": _write_interval(low, high, is_apart=True),
    }


def _say_months(row: Row, *, is_apart: bool) -> list[Sentence]:
    months = row["month_count"]
    if months == 1:
        return [Sentence("since_first", {})]
    if not is_apart:
        if not row["better_count"] and not row["worse_count"]:
            return [Sentence("never_seen", {"months": str(months)})]
        return [
            Sentence(
                "seen_before",
                {
                    "a": str(row["model_a"]),
                    "b": str(row["model_b"]),
                    "months": str(months),
                    "better_count": str(row["better_count"]),
                    "worse_count": str(row["worse_count"]),
                },
            )
        ]
    if row["since_count"] > 1:
        return [Sentence("since_month", {"since": str(row["since_month"]), "count": str(row["since_count"])})]
    return [Sentence("since_now", {"count": str(row["better_count"]), "months": str(months)})]


def _say_pooled(row: Row) -> list[Sentence]:
    if row["pooled_difference"] is None:
        return []
    values: Values = {"count": str(row["pooled_count"]), "since": str(row["pooled_from"])}
    low, high = row["pooled_low"], row["pooled_high"]
    if low <= 0 <= high:
        interval = _write_interval(low, high, is_apart=False)
        shown: Values = {
            "a": str(row["model_a"]),
            "b": str(row["model_b"]),
            "value": write_signed(row["pooled_difference"]),
            "interval": interval,
        }
        return [Sentence("pooled_alike", values | shown)]
    return [
        Sentence("pooled_better", values | _lead(row, "pooled_difference", "pooled", 1 if low > 0 else -1))
    ]


def _say_basis(row: Row) -> Sentence:
    count = {"count": f"{row['item_count']:,}"}
    if row["is_paired"] and row["single_count"]:
        return Sentence("paired_more", count | {"more": f"{row['single_count']:,}"})
    return Sentence("paired" if row["is_paired"] else "unpaired", count)


def _say_beside(row: Row) -> list[Sentence]:
    both = {"a": str(row["model_a"]), "b": str(row["model_b"])}
    return [
        Sentence(
            name,
            both
            | {
                "value": write_signed(row[f"{name}_difference"]),
                "interval": _write_interval(row[f"{name}_low"], row[f"{name}_high"], is_apart=False),
            },
        )
        for name in ("equated", "corrected")
        if row[f"{name}_low"] is not None
    ]


def _say_disciplines(row: Row, rows: Sequence[Row]) -> list[Sentence]:
    # Where there is one discipline S is all that can be said of it, with the interval of all pairs.
    if len(rows) < _LEAST_DISCIPLINES:
        return []
    apart = [one for one in rows if one["is_distinguishable"]]
    count = str(len(rows))
    if not apart:
        return [Sentence("disciplines_alike", {"count": count})]
    both = {"a": str(row["model_a"]), "b": str(row["model_b"])}
    named = _name_disciplines(apart, "difference", 10)
    return [Sentence("disciplines_apart", both | {"count": count, "named": named})]


def _name_disciplines(rows: Sequence[Row], value: str, factor: float = 1.0) -> Words:
    named = [
        _fill(
            _PARTS["one_discipline"],
            {"discipline": LABELS[row["discipline"]], "value": write_signed(row[value] * factor)},
        )
        for row in rows
    ]
    zh, en = _PARTS["separator"]
    return zh.join(one[0] for one in named), en.join(one[1] for one in named)


def _say_needed(row: Row) -> list[Sentence]:
    count = row["needed_count"]
    if count is None:
        return []
    if count > _MOST_QUESTIONS:
        return [Sentence("needed_never", {})]
    usd = row["needed_usd"]
    price = (
        ("", "") if not usd else _fill(_PARTS["price"], {"usd": f"{usd:,.0f}" if usd >= 10 else f"{usd:.2f}"})
    )
    # Two digits: more would pretend to know the true difference.
    return [Sentence("needed", {"count": f"{round(count, 2 - len(str(count))):,}", "price": price})]


def _write_interval(low: float | None, high: float | None, *, is_apart: bool) -> Words:
    """Both ends; one that only just keeps from 0 is said to do so."""
    if low is None or high is None:
        return ("–", "–")
    ends: Values = {"low": _write_end(low, is_apart), "high": _write_end(high, is_apart)}
    if is_apart and round(low, 1) == 0:
        ends["low"] = _PARTS["above_zero"]
    elif is_apart and round(high, 1) == 0:
        ends["high"] = _PARTS["below_zero"]
    return _fill(_PARTS["to"], ends)


def _write_end(end: float, is_apart: bool) -> str:
    return f"{end:.1f}" if is_apart else write_signed(end)


def _fill(words: Words, values: Mapping[str, str | Words]) -> Words:
    zh, en = (
        text.format(**{key: one if isinstance(one, str) else one[place] for key, one in values.items()})
        for place, text in enumerate(words)
    )
    return zh, en
