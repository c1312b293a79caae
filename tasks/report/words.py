"""Errors and ranks in words: intervals, rank ranges and places, on pages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from schemas.editions import GRADES
from schemas.lazy import pl
from tasks.report.labels import LABELS, LANGUAGES, Language, label
from tasks.texts import Words

MISSING = "–"
# Marks of an edition, with the labels of the name and of the sentence that stand for each.
_SAID_OF = {
    "simulated": ("simulated", "simulated_about"),
    "provisional": ("provisional", "provisional_shortly"),
    "text only": ("text_only", "text_only_about"),
    "with pictures": ("with_pictures", "with_pictures_about"),
}
# What an edition rests on where questions with pictures were asked, and the mark that says so.
_SCOPES = {"text_only": "text only", "pictures": "with pictures"}
# So many editions are named; of the others it is said that there are more.
_MOST_NAMED = 6


def format_interval(low: float | None, high: float | None) -> str:
    """A 95% interval with one decimal, as in 81.2–85.6; a dash where there is none."""
    return MISSING if low is None or high is None else f"{low:z.1f}–{high:z.1f}"


def format_rank_range(low: int | None, high: int | None) -> str:
    """The ranks that the data do not rule out, as in 1–3; one number where only one is left."""
    if low is None or high is None:
        return MISSING
    return str(low) if low == high else f"{low}–{high}"


def format_change(value: float | None, low: float | None, high: float | None) -> str:
    """A change with its sign and, if known, 95% interval: +1.20 (-0.4 to +2.8)."""
    if value is None:
        return MISSING
    interval = "" if low is None or high is None else f" ({low:+z.1f} … {high:+z.1f})"
    return f"{value:+z.2f}{interval}"


def describe_place(row: Mapping[str, Any], language: Language) -> str:
    """What the rank range of a row means in words; `is_alone`: its edition has no other."""
    low, high = row["rank_low"], row["rank_high"]
    if row["score"] is None:
        return label("place_without_score", language)
    if low is None or high is None or row["is_alone"]:
        return label("place_uncompared", language)
    if low == high:
        return label("place_first" if row["rank"] == 1 else "place_certain", language)
    count = int(high) - int(low)
    return label("place_shared_with_one" if count == 1 else "place_shared", language).format(count=count)


def describe_override(row: Mapping[str, Any], language: Language) -> str:
    """Which gates of an edition were overridden, and why, as a sentence; else empty."""
    gates = row["overridden_gates"] or ()
    if not gates:
        return ""
    named = name_gates(gates)[LANGUAGES.index(language)]
    return label("gates_about", language).format(gates=named, reason=row["override_reason"] or MISSING)


def describe_grade(row: Mapping[str, Any], language: Language) -> str:
    """How an edition is attested, in words; rows of an earlier version are not witnessed."""
    name = str(row.get("grade") or GRADES[0]).replace(" + ", "_").replace("-", "_")
    return label(f"grade_{name}", language)


def name_purpose(purpose: str, language: Language) -> str:
    """What a call to a model was for, in words; what has none stands as it is."""
    return label(f"purpose_{purpose}", language) if f"purpose_{purpose}" in LABELS else purpose


def describe_provisional(row: Mapping[str, Any], language: Language) -> str:
    """Why the order of an edition may change, as a sentence; empty where it is not provisional."""
    if not row["is_provisional"]:
        return ""
    # Editions of an earlier version were provisional for one reason alone.
    named = [label(f"provisional_{one}", language) for one in row["provisional_because"] or ("uncalibrated",)]
    return label("provisional_about", language).format(
        reasons=("；" if language == "zh" else "; ").join(named)
    )


def describe_marks(marks: str | None, language: Language) -> list[tuple[str, str, str]]:
    """The column `marks` of an analysis as a kind, its name and a sentence for each."""
    named = [one for one in (marks or "").split(", ") if one]
    gates = [one.removeprefix("overridden ") for one in named if one.startswith("overridden ")]
    found = [
        (name, label(name, language), label(about, language))
        for mark, (name, about) in _SAID_OF.items()
        if mark in named
    ]
    if gates:
        said = name_gates(gates)[LANGUAGES.index(language)]
        found.append(("gates", label("gates", language), said + ("。" if language == "zh" else ".")))
    return found


def list_caveats(history: pl.DataFrame) -> list[tuple[str, Words, Words]]:
    """What is to be known of the site: a kind, its name, and a sentence with its editions."""
    if history.is_empty():
        return []
    found = []
    editions = history.unique("edition_id", maintain_order=True).sort("edition_id", descending=True)
    of_kind = {
        "simulated": pl.col("is_simulated"),
        "provisional": pl.col("is_provisional"),
        **{mark: pl.col("picture_scope") == scope for scope, mark in _SCOPES.items()},
        "gates": pl.col("overridden_gates").list.len() > 0,
    }
    for kind, is_of_kind in of_kind.items():
        named = editions.filter(is_of_kind)
        if named.is_empty():
            continue
        shown = ", ".join(named["edition_id"].head(_MOST_NAMED))
        if named.height > _MOST_NAMED:
            shown = f"{shown}, …"
        if kind == "gates":
            about = list(name_gates(sorted(set(named["overridden_gates"].explode()))))
        else:
            about = [label(_SAID_OF[kind][1], one) for one in LANGUAGES]
        name = kind if kind == "gates" else _SAID_OF[kind][0]
        found.append((name, LABELS[name], (f"{about[0]}（{shown}）", f"{about[1]} ({shown})")))
    return found


def describe_judge_checks(row: Mapping[str, Any], language: Language) -> str:
    """What control answers and keys said of an edition's judge; empty for an earlier version."""
    if row["key_count"] is None:
        return ""
    if row["control_count"] is None:
        parts = [label("checks_no_controls", language)]
    else:
        gap = MISSING if row["control_gap"] is None else f"{row['control_gap']:.1f}"
        numbers = {"count": row["control_count"], "wrong": row["control_wrong_count"], "gap": gap}
        parts = [label("checks_controls", language).format(**numbers)]
    if row["key_count"]:
        share = f"{row['key_disagreement_count'] / row['key_count']:.1%}"
        numbers = {"count": f"{row['key_count']:,}", "apart": row["key_disagreement_count"], "share": share}
        parts.append(label("checks_keys", language).format(**numbers))
    return f"{label('judge_checks', language)}{'：' if language == 'zh' else ': '}{('；' if language == 'zh' else '; ').join(parts)}"


def list_unequated(edition: pl.DataFrame) -> list[dict[str, Any]]:
    """The rows of an edition that have S and no equated score."""
    return edition.filter(pl.col("score").is_not_null() & pl.col("equated_score").is_null()).to_dicts()


def describe_unequated(row: Mapping[str, Any], language: Language) -> str:
    """Why an edition has no equated scores, as a sentence, of a row of a candidate with S."""
    key = f"unequated_{row['unequated_because']}"
    why = label(key if key in LABELS else "unequated_unknown", language)
    return f"{label('unequated', language)}{'：' if language == 'zh' else ': '}{why}"


def name_gates(gates: Sequence[str]) -> Words:
    """The gates in words; one that this version does not know keeps its name."""
    named = [LABELS.get(f"gate_{gate}", (gate, gate)) for gate in gates]
    return "、".join(zh for zh, _ in named), ", ".join(en for _, en in named)
