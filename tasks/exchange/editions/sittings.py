"""The answers behind an edition by candidate and style, with question, stars and reason."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from schemas.editions import GRADES
from schemas.errors import UsageError, suggest
from schemas.lazy import pl
from tasks.questions import BareQuestion
from tasks.questions.forms import render_prompt

if TYPE_CHECKING:
    from warehouse.lake import Lake


@dataclass(frozen=True)
class Sample:
    """One answered or unanswered question of a sitting.

    Attributes:
        question_uuid: the question.
        discipline: its discipline.
        repeat: the sitting's number among those of the candidate under the style, from 1.
        messages: as they were sent to the candidate.
        target: the reference answer as text; empty where it is not asked for.
        stars: 0 to 3; null where nobody could judge.
        score_status: `scored`, `unanswered` or `unparsed`.
        judge: whose stars count, as `judge/version of its prompt`; null for stars that were given by rule.
        reason: what that judge said; null where it is not asked for.
        answer: the row of the response; empty where there is none.
    """

    question_uuid: str
    discipline: str
    repeat: int
    messages: Sequence[Mapping[str, str]]
    target: str
    stars: int | None
    score_status: str
    judge: str | None
    reason: str | None
    answer: Mapping[str, Any]


@dataclass(frozen=True)
class Sitting:
    """All repeats of one candidate under one prompt style.

    Attributes:
        edition: the row of `editions`.
        model: the candidate.
        prompt_style: the style.
        samples: by repeat, then by position.
    """

    edition: Mapping[str, Any]
    model: str
    prompt_style: str
    samples: Sequence[Sample]


def read_edition(lake: Lake, name: str) -> dict[str, Any]:
    """The edition of that name, or the last one of a run of that name.

    Without a name, it is that of the last month, a repetition or a rehearsal only where there is nothing else. Beside its own columns it has the `grade` by which it is attested.
    Raises UsageError that says what there is.
    """
    found = lake.read("run_revisions")
    if name:
        rows = found.filter((found["edition_id"] == name) | (found["run_id"] == name))
    else:
        least_first = [True, True, False]
        rows = found.sort(
            "is_simulated", "is_repetition", "month", descending=least_first, maintain_order=True
        )
    if rows.is_empty():
        known = ", ".join(found["edition_id"].tail(5)) or "none yet; `proctor publish` makes one"
        raise UsageError(
            f"There is no edition {name!r}.{suggest(name, found['edition_id'])} The last are: {known}."
        )
    edition = rows.row(-1, named=True)
    grades = {row["edition_id"]: row["grade"] for row in lake.read("graded_editions").iter_rows(named=True)}
    return edition | {"grade": grades.get(edition["edition_id"], GRADES[0])}


def iter_sittings(lake: Lake, edition: Mapping[str, Any], *, with_answers: bool) -> Iterator[Sitting]:
    """Every candidate and style of an edition, one at a time: no more is held than its repeats.

    Reference answers and judges' reasons, which quote them, only `with_answers`.
    """
    sessions = lake.read(
        "exchange_sessions", {"edition_id": edition["edition_id"], "month": edition["month"]}
    )
    judges = [f"{edition['judge']}/{edition['judge_prompt_version']}", *(edition["next_judges"] or ())]
    for (model, style), own in sessions.partition_by(
        "model", "prompt_style", as_dict=True, maintain_order=True
    ).items():
        months = own["sat_in_month"].unique().sort().to_list()
        parts = []
        for month in months:
            names = own.filter(pl.col("sat_in_month") == month)["session_id"].to_list()
            stars = lake.read("edition_answers", {"session_ids": names, "month": month, "judges": judges})
            responses = lake.read("exchange_responses", {"session_ids": names, "month": month})
            parts.append(stars.join(responses, on=["session_id", "seq"], how="left"))
        answers = pl.concat(parts).sort("session_id", "seq")
        # A set is drawn from one version of the bank, and an edition's sittings of it are of that version's season.
        wanted = {
            "question_uuids": answers["question_uuid"].unique().to_list(),
            "bank_version": edition["bank_version"],
        }
        found = lake.read("put_questions", wanted)
        questions = {row["question_uuid"]: row for row in found.iter_rows(named=True)}
        repeats = {name: place for place, name in enumerate(own["session_id"].to_list(), start=1)}
        samples = [
            _make_sample(
                row, repeats[row["session_id"]], questions[row["question_uuid"]], str(style), with_answers
            )
            for row in answers.iter_rows(named=True)
        ]
        samples.sort(key=lambda sample: sample.repeat)
        yield Sitting(edition, str(model), str(style), samples)


def _make_sample(
    row: Mapping[str, Any], repeat: int, question: Mapping[str, Any], style: str, with_answers: bool
) -> Sample:
    judge = row["judge"]
    reasons = {one["judge"]: one["reason"] for one in row["reasons"] or ()}
    return Sample(
        question_uuid=row["question_uuid"],
        discipline=row["discipline"],
        repeat=repeat,
        messages=render_prompt(BareQuestion.from_row(question), style)[0],
        target="; ".join(question["answer"] or ()) if with_answers else "",
        stars=row["stars"],
        score_status=row["score_status"],
        judge=judge,
        reason=reasons.get(judge) if with_answers else None,
        answer=_read_answer(row),
    )


def _read_answer(row: Mapping[str, Any]) -> Mapping[str, Any]:
    """What was answered; an erased text is marked, for an empty answer is something else."""
    if row["response"] is None and row["answer_status"] is None:
        return {}
    if row["erased_at"] is None:
        return row
    return {**row, "response": f"(erased on {row['erased_at']:%Y-%m-%d})"}
