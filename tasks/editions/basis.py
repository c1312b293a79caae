"""What an edition rests on: the run, its sessions, the judges in order, the stars."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import polars as pl

from schemas.errors import GateError, UsageError, suggest
from warehouse.lake import hash_rows

PERSON_PREFIX = "person:"
_ANSWERS_AT_ONCE = 60_000  # of some sessions, while they are read


class QueryReader(Protocol):
    """Runs a named query of `warehouse/sql/reads` (`Lake.read`)."""

    def __call__(self, name: str, params: Mapping[str, object] | None = None, /) -> pl.DataFrame:
        """The rows of the query."""


@dataclass(frozen=True)
class JudgeInOrder:
    """A judge by one version of its prompt; the others are null before any calibration.

    `mean_kappa_low` is the lower end of the 95% interval of `mean_kappa`.
    """

    judge: str
    prompt_wording: str
    mean_kappa: float | None = None
    rated_count: int | None = None
    mean_kappa_low: float | None = None

    @property
    def key(self) -> str:
        """As `edition_answers` takes it."""
        return f"{self.judge}/{self.prompt_wording}"


@dataclass(frozen=True)
class Basis:
    """Everything that the numbers of an edition follow from.

    Attributes:
        run: the row of `runs`, with is_repetition.
        sessions: one row per session that speaks (`edition_sittings`), with is_complete.
        answers: one row per allocation of them (`edition_answers`), with model, set_id, prompt_style and repeat, session by session;
            text is Categorical, so that an answer takes 60 bytes.
        judges: whose stars count, in this order.
        weights: discipline → fixed weight in S; they sum to 1.
        bases: variant → its base, as registered for the run.
        drift: the last check of the first judge by anchor responses (a row of `judge_drift`), or null. It shuts a gate and enters
            no number, so that it is no part of the hash.
        controls: what the first judge gave the run's control answers, as stars by kind; empty before it was given any. It shuts a gate and
            enters no number; as a calibration, it is part of the hash once it is there.
        keys: of each lineage, on how many of how many answers that a key decides the first judge says something else. It follows from
            the judgements, and is no part of the hash.
        passages: lineage → the text that it asks about, which questions may share; it follows from the bank, and is no part of
            the hash either.
        pictured: questions that show a picture to who answers them; it follows from the bank as well.
    """

    run: Mapping[str, Any]
    sessions: pl.DataFrame
    answers: pl.DataFrame
    judges: Sequence[JudgeInOrder]
    weights: Mapping[str, float]
    bases: Mapping[str, str]
    drift: Mapping[str, Any] | None = None
    controls: Mapping[str, Sequence[int | None]] = field(default_factory=dict)
    keys: Mapping[str, tuple[int, int]] = field(default_factory=dict, repr=False)
    passages: Mapping[str, str] = field(default_factory=dict, repr=False)
    pictured: frozenset[str] = field(default=frozenset(), repr=False)

    def hash(self) -> str:
        """SHA-256 over all of it: the same rows in any order give the same hash."""
        digest = hashlib.sha256()
        digest.update(
            json.dumps(
                [
                    {
                        name: str(self.run[name])
                        for name in ("run_id", "month", "bank_version", "reference_model")
                    },
                    [[one.judge, one.prompt_wording] for one in self.judges],
                    # Whether it is provisional, and two gates, follow from the calibration of the judge that counts.
                    [str(self.judges[0].mean_kappa), self.judges[0].rated_count],
                    dict(sorted(self.weights.items())),
                    dict(sorted(self.bases.items())),
                    # Before there were any, an edition has the hash that it always had.
                    *([dict(sorted(self.controls.items()))] if self.controls else []),
                ],
                ensure_ascii=False,
            ).encode()
        )
        for frame in (self.sessions, self.answers):
            digest.update(hash_rows(frame).encode())
        return digest.hexdigest()


def read_basis(
    read: QueryReader,
    run_id: str,
    disciplines: Sequence[str],
    *,
    least_ratings: int = 0,
    judges: Sequence[JudgeInOrder] | None = None,
) -> Basis:
    """Read what an edition of the run rests on, as the lake has it now.

    `disciplines` weigh the same each. `judges` are those of an edition that is looked at again; by default they are chosen: the
    judge that judged the run in full with the highest agreement with people on at least `least_ratings` responses, then the others,
    people last. Raises UsageError when there is no such run in the lake, or nobody has judged any of it, GateError when it was
    closed and nobody has answered.
    """
    found = read("edition_run", {"run_id": run_id})
    if found.is_empty():
        near = suggest(run_id, read("landed_runs", {})["run_id"])
        raise UsageError(
            f"There is no run {run_id!r} in the lake.{near} Runs are listed by `proctor status`; one that was sat is landed by "
            "`proctor evaluate`."
        )
    run = found.row(0, named=True)
    if judges is None:
        judges = _read_judges(read, run_id, str(run["month"]), least_ratings)
    if not judges:
        _check_answered(read, run)
        raise UsageError(
            f"Nothing of run {run_id} has been judged. Run `proctor judge --run {run_id}` first."
        )
    sessions = read("edition_sittings", {"run_id": run_id})
    answers = _read_answers(read, sessions, judges)
    return Basis(
        run=run,
        sessions=_mark_complete(sessions, answers),
        answers=answers,
        judges=tuple(judges),
        weights={name: 1.0 / len(disciplines) for name in disciplines},
        bases={
            str(row["model"]): str(row["base_model"])
            for row in read("edition_models", {"run_id": run_id}).iter_rows(named=True)
            if row["base_model"] is not None
        },
        drift=_read_drift(read, judges[0], run),
        controls=_read_controls(read, judges[0], run),
        keys=_read_keys(read, judges[0], sessions),
        passages=_read_passages(read, answers),
        pictured=_read_pictured(read, answers),
    )


def _check_answered(read: QueryReader, run: Mapping[str, Any]) -> None:
    """Raise GateError for a closed run of which there is nothing to judge."""
    counts = read("unjudged_counts", {"planned_since": run["planned_at"]})
    left = counts.filter(pl.col("run_id") == run["run_id"])["unjudged_count"].sum()
    if run["status"] != "open" and left == 0:
        raise GateError(
            f"Nobody answered a question of run {run['run_id']}, and it is closed: there is nothing to judge, and no edition of it. It stays "
            f"so; `proctor exam audit` says why. `proctor evaluate --month {run['month']} --repetition NAME` holds it again."
        )


def _read_judges(read: QueryReader, run_id: str, month: str, least_ratings: int) -> list[JudgeInOrder]:
    found = read("edition_judges", {"run_id": run_id, "month": month, "least_ratings": least_ratings})
    return [
        JudgeInOrder(
            judge=str(row["judge"]),
            prompt_wording=str(row["prompt_wording"]),
            mean_kappa=row["mean_kappa"],
            rated_count=row["rated_count"],
            mean_kappa_low=row["mean_kappa_low"],
        )
        for row in found.iter_rows(named=True)
    ]


def _read_drift(read: QueryReader, judge: JudgeInOrder, run: Mapping[str, Any]) -> Mapping[str, Any] | None:
    found = read(
        "edition_drift",
        {
            "judge": judge.judge,
            "prompt_version": judge.prompt_wording,
            "month": str(run["month"]),
            "is_simulated": bool(run["is_simulated"]),
        },
    )
    return None if found.is_empty() else found.row(0, named=True)


def _read_controls(
    read: QueryReader, judge: JudgeInOrder, run: Mapping[str, Any]
) -> dict[str, list[int | None]]:
    found = read(
        "edition_controls",
        {
            "run_id": run["run_id"],
            "month": str(run["month"]),
            "judge": judge.judge,
            "prompt_version": judge.prompt_wording,
        },
    )
    stars: dict[str, list[int | None]] = {}
    for kind, given, count in found.iter_rows():
        stars.setdefault(kind, []).extend([given] * count)
    return stars


def _read_keys(read: QueryReader, judge: JudgeInOrder, sessions: pl.DataFrame) -> dict[str, tuple[int, int]]:
    """On how many of how many answers that a key decides the judge differs, by lineage."""
    counts: dict[str, tuple[int, int]] = {}
    for month, some in _divide_sessions(sessions):
        named = {"session_ids": some["session_id"].to_list(), "month": month, "judge": judge.key}
        for lineage, total, apart in read("edition_keys", named).iter_rows():
            before = counts.get(lineage, (0, 0))
            counts[lineage] = (before[0] + apart, before[1] + total)
    return counts


def _read_passages(read: QueryReader, answers: pl.DataFrame) -> dict[str, str]:
    if answers.is_empty():
        return {}
    lineages = answers["lineage_uuid"].unique().to_list()
    return dict(read("passages_of_lineages", {"lineage_uuids": lineages}).iter_rows())


def _read_pictured(read: QueryReader, answers: pl.DataFrame) -> frozenset[str]:
    """The questions with pictures; the bank is asked where a response says that there were any."""
    if answers.is_empty():
        return frozenset()
    versions = answers["prompt_version"].drop_nulls().unique().cast(pl.String)
    showing = versions.filter(versions.str.contains("/(pictures|alt_text)$"))
    if showing.is_empty():
        return frozenset()
    questions = answers["question_uuid"].unique().sort().to_list()
    told = answers.filter(pl.col("prompt_version").is_in(showing.implode()))["question_uuid"].unique()
    found = read("pictured_questions", {"question_uuids": questions})["question_uuid"]
    return frozenset(found) | frozenset(told)


def _read_answers(read: QueryReader, sessions: pl.DataFrame, judges: Sequence[JudgeInOrder]) -> pl.DataFrame:
    """The answers of some sessions of a month at a time, so that only its files are read."""
    parts = []
    for month, some in _divide_sessions(sessions):
        named = {
            "session_ids": some["session_id"].to_list(),
            "month": month,
            "judges": [one.key for one in judges],
        }
        found = read("edition_answers", named).join(some, on="session_id")
        parts.append(
            found.with_columns(
                pl.selectors.string().cast(pl.Categorical), pl.col("seq", "repeat").cast(pl.Int32)
            ).sort("session_id", "seq")
        )
    return pl.concat(parts) if parts else pl.DataFrame()


def _divide_sessions(sessions: pl.DataFrame) -> Iterator[tuple[str, pl.DataFrame]]:
    """Months with some of the sessions that were sat in them."""
    names = ["session_id", "sat_in_run_id", "model", "set_id", "prompt_style", "repeat", "is_reference"]
    shown = sessions.select(*names, "sat_in_month", "question_count").sort("sat_in_month", "session_id")
    place = pl.col("question_count").cum_sum().over("sat_in_month") // _ANSWERS_AT_ONCE
    divided = shown.with_columns(place=place).partition_by("sat_in_month", "place", maintain_order=True)
    for some in divided:
        yield str(some["sat_in_month"][0]), some.select(names)


def _mark_complete(sessions: pl.DataFrame, answers: pl.DataFrame) -> pl.DataFrame:
    """A session counts when it is closed and nothing in it is left to judge."""
    if answers.is_empty():
        return sessions.with_columns(is_complete=pl.lit(False))
    unjudged = answers.filter(pl.col("score_status") == "unjudged")["session_id"].unique().cast(pl.String)
    answered = answers["session_id"].unique().cast(pl.String)
    return sessions.with_columns(
        is_complete=pl.col("is_closed")
        & ~pl.col("session_id").is_in(unjudged.implode())
        & pl.col("session_id").is_in(answered.implode())
    )
