"""What keeps an edition from being published: pure checks on its basis, overridden by name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import polars as pl

from schemas.errors import GateError, UsageError, suggest
from tasks.editions.basis import PERSON_PREFIX, Basis
from tasks.editions.judge_checks import compute_key_share, compute_verdict, count_keys
from tasks.editions.series import choose_counted

if TYPE_CHECKING:
    from schemas.settings import Settings

GATES: Final = {
    "incomplete": "sessions are open or not wholly judged",
    "answered": "too few of a candidate's questions were answered",
    "unparsed": "too many of a candidate's answers have no judgement that could be read",
    "reference": "answers of the reference were not judged by the judge that counts",
    "discipline": "a candidate has no question of a discipline, so that it has no S",
    "agreement": "the judge agrees too little with people",
    "ratings": "the judge's calibration rests on too few rated responses",
    "judge_controls": "the judge has not shown that it can judge: control answers of known worth",
    "keys": "the judge says something else than the key on too many answers that a key decides",
    "drift": "the judge has changed: it gives the anchor responses other stars than in its first month",
}
# What no judge could be read of is judged by a person, and the limit is not for one run to move: beyond it nothing is published.
_NEVER_OVERRIDDEN: Final = frozenset({"unparsed"})
_MOST_NAMED = 5


@dataclass(frozen=True)
class ShutGate:
    """A gate that is shut, and the numbers."""

    gate: str
    finding: str


def find_shut_gates(basis: Basis, settings: Settings) -> list[ShutGate]:
    """Every gate that the basis does not pass, in the order of `GATES`."""
    found = [
        _check_incomplete(basis),
        _check_answered(basis, settings.answered_gate),
        _check_unparsed(basis, settings.unparsed_gate),
        _check_reference(basis),
        _check_disciplines(choose_counted(basis)),
        *_check_judge(basis, settings.judge_agreement_gate, settings.judge_ratings_gate),
        _check_controls(basis, settings.control_wrong_gate),
        _check_keys(basis, settings.key_disagreement_gate),
        _check_drift(basis),
    ]
    return [gate for gate in found if gate is not None]


def find_provisional(basis: Basis, settings: Settings) -> list[str]:
    """Why the order of an edition may change; empty where its judge is known well enough.

    That no calibration stands behind the judge (`uncalibrated`), that its agreement with people may be below the bar
    (`agreement`: the lower end of its interval is), or that it rests on too few rated responses (`ratings`). A gate may be
    overridden; this may not.
    """
    judge = basis.judges[0]
    if judge.mean_kappa is None:
        return ["uncalibrated"]
    low = -1.0 if judge.mean_kappa_low is None else judge.mean_kappa_low
    return [
        *(["agreement"] if low < settings.judge_agreement_gate else []),
        *(["ratings"] if (judge.rated_count or 0) < settings.judge_ratings_gate else []),
    ]


def check_overrides(overridden: Sequence[str], reason: str | None) -> None:
    """Raise UsageError for an unknown gate, one never overridden, and for want of a reason."""
    if unknown := sorted(set(overridden) - set(GATES)):
        raise UsageError(
            f"There is no gate {', '.join(unknown)}.{suggest(unknown[0], GATES)} The gates are {', '.join(GATES)}."
        )
    if fixed := sorted(_NEVER_OVERRIDDEN.intersection(overridden)):
        raise UsageError(
            f"The gate {fixed[0]} is never overridden ({GATES[fixed[0]]}): mend what shuts it, as `proctor publish RUN` says."
        )
    if overridden and not (reason or "").strip():
        raise UsageError(
            "A gate is overridden only with a reason that the leaderboard can show: add --reason."
        )


def check_gates(shut: Sequence[ShutGate], overridden: Sequence[str], run_id: str) -> None:
    """Raise GateError for a shut gate that is not overridden."""
    if left := [gate for gate in shut if gate.gate not in overridden]:
        lines = "\n".join(f"  {gate.gate}: {gate.finding}" for gate in left)
        mended = (
            f"Run {run_id} is not published:\n{lines}\nMend it, then run `proctor publish {run_id}` again"
        )
        if any(gate.gate in _NEVER_OVERRIDDEN for gate in left):
            raise GateError(f"{mended}.")
        names = " ".join(f"--override {gate.gate}" for gate in left)
        raise GateError(
            f"{mended}; or publish it as it is with {names} --reason TEXT, which the leaderboard will show."
        )


def _check_incomplete(basis: Basis) -> ShutGate | None:
    """Sessions land when they are closed: of open ones the lake has but the state of their run."""
    run_id, found = basis.run["run_id"], []
    if basis.run["status"] == "open":
        found.append(
            f"sessions of it are open, and nothing of them is here: `proctor exam sessions --run {run_id}` lists them, `proctor exam "
            f"sit {run_id}` continues them, `proctor exam close {run_id}` closes what will not be answered"
        )
    sessions = basis.sessions.filter(~pl.col("is_complete") & ~pl.col("is_borrowed"))
    if not sessions.is_empty():
        found.append(
            f"{sessions.height} sessions are not wholly judged, of {_name(sessions['model'].unique().sort().to_list())}: `proctor judge "
            f"--run {run_id}` judges what is left"
        )
    return ShutGate("incomplete", f"{'; '.join(found)}.") if found else None


def _check_answered(basis: Basis, least: float) -> ShutGate | None:
    """What counts 0 for want of an answer says nothing of a candidate, the reference included."""
    if basis.answers.is_empty():
        return None
    short = (
        basis.answers.group_by("model")
        .agg(
            count=pl.len(),
            answered=(pl.col("score_status") != "unanswered").sum(),
            share=(pl.col("score_status") != "unanswered").mean(),
        )
        .filter(pl.col("share") < least)
        .sort("share", "model")
    )
    if short.is_empty():
        return None
    named = [
        f"{row['model']} {row['answered']} of {row['count']} ({row['share']:.1%})"
        for row in short.iter_rows(named=True)
    ]
    return ShutGate(
        "answered",
        f"below {least:.1%} of the questions were answered by {_name(named)}; unanswered ones count 0. A closed session is never sat again: "
        "`proctor runs` and `proctor exam audit` say why; `proctor evaluate --repetition NAME` examines them again.",
    )


def _check_unparsed(basis: Basis, most: float) -> ShutGate | None:
    if basis.answers.is_empty():
        return None
    shares = (
        basis.answers.group_by("model")
        .agg(
            count=(pl.col("score_status") == "unparsed").sum(),
            share=(pl.col("score_status") == "unparsed").mean(),
        )
        .filter(pl.col("share") > most)
        .sort("share", "model", descending=[True, False])
    )
    if shares.is_empty():
        return None
    named = [f"{row['model']} {row['count']} ({row['share']:.1%})" for row in shares.iter_rows(named=True)]
    return ShutGate(
        "unparsed",
        f"above {most:.1%} of the answers of {_name(named)}. `proctor judge --run {basis.run['run_id']} --unparsed` judges "
        "them again; a person gives the stars of the rest: `proctor unparsed export FILE.xlsx`.",
    )


def _check_reference(basis: Basis) -> ShutGate | None:
    borrowed = basis.sessions.filter(pl.col("is_borrowed") & ~pl.col("is_complete"))
    if borrowed.is_empty():
        return None
    runs = _name(borrowed["sat_in_run_id"].unique().sort().to_list())
    return ShutGate(
        "reference",
        f"{borrowed.height} sittings of {basis.run['reference_model']} in {runs} have answers without a judgement by "
        f"{basis.judges[0].judge} (prompt {basis.judges[0].prompt_wording}); R would rest on the others alone. Judge those "
        "runs with that judge.",
    )


def _check_disciplines(basis: Basis) -> ShutGate | None:
    if basis.answers.is_empty():
        return None
    wanted = [name for name, weight in basis.weights.items() if weight > 0]
    counts = (
        basis.answers.filter(pl.col("discipline").is_in(wanted))
        .group_by("model", "prompt_style")
        .agg(found=pl.col("discipline").n_unique())
        .filter(pl.col("found") < len(wanted))
    )
    if counts.is_empty():
        return None
    return ShutGate(
        "discipline",
        f"{_name(counts['model'].unique().sort().to_list())} did not sit all of {len(wanted)} disciplines and will have no "
        "S and no rank.",
    )


def _check_judge(basis: Basis, least_kappa: float, least_ratings: int) -> list[ShutGate | None]:
    """Before the first calibration an edition is provisional, and no gate is shut."""
    judge = basis.judges[0]
    if judge.judge.startswith(PERSON_PREFIX) or judge.mean_kappa is None:
        return []
    found: list[ShutGate | None] = []
    if judge.mean_kappa < least_kappa:
        found.append(
            ShutGate(
                "agreement",
                f"mean kappa of {judge.judge} is {judge.mean_kappa:.3f}, below {least_kappa:.2f}.",
            )
        )
    if (judge.rated_count or 0) < least_ratings:
        found.append(
            ShutGate(
                "ratings",
                f"{judge.judge} was compared with people on {judge.rated_count or 0} responses, below {least_ratings}.",
            )
        )
    return found


def _check_controls(basis: Basis, most_wrong: float) -> ShutGate | None:
    """A person is not tried; a judge that was given no control answers has shown nothing."""
    judge, run_id = basis.judges[0], basis.run["run_id"]
    if judge.judge.startswith(PERSON_PREFIX):
        return None
    if not basis.controls:
        return ShutGate(
            "judge_controls",
            f"{judge.judge} (prompt {judge.prompt_wording}) was given no control answers in this run. `proctor judge --run {run_id}` "
            "asks for them (the setting judge_controls says how many).",
        )
    from tasks.statistics.agreement import describe_faults

    verdict = compute_verdict(basis, most_wrong)
    if verdict.is_fit:
        return None
    return ShutGate(
        "judge_controls",
        f"{judge.judge} {describe_faults(verdict, most_wrong)}. Judge with another judge; `proctor models check --judge NAME` tries "
        "one beforehand, `proctor sql judge_control_answers` shows each answer.",
    )


def _check_keys(basis: Basis, most: float) -> ShutGate | None:
    share = compute_key_share(basis)
    if basis.judges[0].judge.startswith(PERSON_PREFIX) or share is None or share.low <= most:
        return None
    apart, total = count_keys(basis)
    return ShutGate(
        "keys",
        f"{basis.judges[0].judge} says something else than the key on {apart} of {total} answers that a key decides "
        f"({share.value:.1%}, at least {share.low:.1%}; {most:.1%} may be). `proctor sql key_disagreements --param "
        f"run_id={basis.run['run_id']}` lists them: the judge, the keys or the extracted answers are wrong.",
    )


def _check_drift(basis: Basis) -> ShutGate | None:
    drift = basis.drift
    if drift is None or not drift["is_alarm"]:
        return None
    return ShutGate(
        "drift",
        f"{basis.judges[0].judge} gives {drift['response_count']} anchor responses {drift['change_stars']:+.3f} stars since "
        f"{drift['since_month']} (standard error {drift['change_se']:.3f}). Calibrate it again, then draw a new anchor set with "
        "`proctor drift draw`; or judge with another judge.",
    )


def _name(names: Sequence[str]) -> str:
    shown = ", ".join(names[:_MOST_NAMED])
    return shown if len(names) <= _MOST_NAMED else f"{shown} and {len(names) - _MOST_NAMED} more"
