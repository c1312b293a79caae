"""Giving questions to annotators: by discipline, in equal shares, within their capacity (SPEC: expert review gate)."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

import polars as pl

from schemas.errors import GateError, UsageError
from schemas.questions import CONTENT
from schemas.settings import Settings
from tasks.review.distribution import distribute_work, draw_annotators
from warehouse.ledger import review
from warehouse.ledger.engine import Ledger

NO_DISCIPLINE = "(no discipline)"
# What annotators see beside the content: where it stands and what the splitter doubted.
SHOWN_FIELDS = ("document_name", "position", "number_label", "parse_notes", "status")


@dataclass(frozen=True)
class Annotator:
    """Somebody who reviews; `disciplines` null means all, and questions whose discipline is not known."""

    user_id: str
    disciplines: tuple[str, ...] | None = None

    def can_review(self, discipline: str) -> bool:
        """Whether questions of the discipline may be given to this annotator."""
        return self.disciplines is None or discipline in self.disciplines


@dataclass(frozen=True)
class AssignmentSummary:
    """What was assigned. `batch_id` is null when every question is in several batches already."""

    batch_id: str | None
    is_new: bool
    question_count: int
    assignment_count: int
    already_assigned_count: int
    due_at: str | None
    loads: Mapping[str, int] = field(default_factory=dict)


def assign_batch(
    ledger: Ledger,
    batch_id: str | None,
    questions: pl.DataFrame,
    annotators: Sequence[Annotator] | None,
    settings: Settings,
    now: str,
    *,
    again: bool = False,
) -> AssignmentSummary:
    """Open a review batch with those of `questions` that are in no batch yet; running it again changes nothing.

    Args:
        ledger: the ledger.
        batch_id: name of the batch; null derives it from the month of `now` and the questions.
        questions: rows of the lake table `questions` or `variants`; of a question found twice the first counts.
        annotators: who reviews; null takes the active annotators of the ledger.
        settings: reviews per question, daily quota, days of the window.
        now: the present moment as ISO text in UTC.
        again: take questions of closed batches as well (those left undecided, or doubted since); who decided on one
            before is not given it again.

    Raises:
        GateError: a discipline has too few annotators, or the work exceeds what they can do in the window.
        UsageError: an annotator is unknown, or the batch exists with other questions.
    """
    rows = _first_of_each(questions)
    with ledger.write() as connection:
        review.lock_assigning(connection)
        batched = review.read_batched_questions(connection)
        if again:
            closed = {row["batch_id"] for row in review.read_batches(connection) if row["status"] == "closed"}
            batched = {uuid: name for uuid, name in batched.items() if name not in closed}
        fresh = [row for row in rows if row["question_uuid"] not in batched]
        if not fresh:
            return _summarise_existing(ledger, {batched[row["question_uuid"]] for row in rows}, len(rows))
        past = review.read_past_decisions(connection, [row["question_uuid"] for row in fresh])
        name = batch_id or _find_free_name(connection, compute_batch_id(fresh, now))
        if review.read_batch(connection, name) is not None:
            raise UsageError(
                f"Review batch {name!r} exists already and does not hold {len(fresh)} of the {len(rows)} questions. "
                "Give the new ones a batch of their own."
            )
        people = _find_people(connection, annotators)
        plan = _plan_assignments(fresh, people, settings, review.count_open_work(connection), name, past)
        due_at = (datetime.fromisoformat(now) + timedelta(days=settings.review_due_days)).isoformat(
            timespec="microseconds"
        )
        batch = {
            "batch_id": name,
            "status": "open",
            "review_count": settings.review_count,
            "created_at": now,
            "due_at": due_at,
            "closed_at": None,
        }
        assignments = [
            {
                "batch_id": name,
                "question_uuid": question_uuid,
                "annotator": annotator,
                "role": "reviewer",
                "assigned_at": now,
                "due_at": due_at,
            }
            for question_uuid, names in sorted(plan.items())
            for annotator in names
        ]
        review.insert_batch(connection, batch, [_build_item(name, row) for row in fresh], assignments)
    loads: dict[str, int] = {}
    for assignment in assignments:
        loads[str(assignment["annotator"])] = loads.get(str(assignment["annotator"]), 0) + 1
    return AssignmentSummary(
        batch_id=name,
        is_new=True,
        question_count=len(fresh),
        assignment_count=len(assignments),
        already_assigned_count=len(rows) - len(fresh),
        due_at=due_at,
        loads=dict(sorted(loads.items())),
    )


def compute_batch_id(rows: Sequence[Mapping[str, Any]], now: str) -> str:
    """`YYYY-MM-` and eight hexadecimal digits of a hash over the questions: the same questions, the same name."""
    names = sorted(f"{row['question_uuid']}#{row['revision']}" for row in rows)
    return f"{now[:7]}-{hashlib.sha256(chr(10).join(names).encode()).hexdigest()[:8]}"


def read_annotators(ledger: Ledger) -> list[Annotator]:
    """The active annotators of the ledger."""
    with ledger.read() as connection:
        rows = review.read_annotators(connection)
    return [_build_annotator(row) for row in rows]


def _build_annotator(row: Mapping[str, Any]) -> Annotator:
    return Annotator(row["user_id"], None if row["disciplines"] is None else tuple(row["disciplines"]))


def _first_of_each(questions: pl.DataFrame) -> list[dict[str, Any]]:
    """One row per question, the first of the frame; a stable order makes the result repeatable."""
    first: dict[str, dict[str, Any]] = {}
    for row in questions.iter_rows(named=True):
        first.setdefault(row["question_uuid"], row)
    return list(first.values())


def _find_free_name(connection: Any, name: str) -> str:
    """The name, or with a number behind it where a closed batch of the same questions has it already."""
    taken = {row["batch_id"] for row in review.read_batches(connection)}
    return next(
        one
        for number in range(1, len(taken) + 2)
        if (one := name if number == 1 else f"{name}-{number}") not in taken
    )


def _find_people(connection: Any, annotators: Sequence[Annotator] | None) -> list[Annotator]:
    if annotators is None:
        people = [_build_annotator(row) for row in review.read_annotators(connection)]
        if not people:
            raise GateError(
                "No annotator is registered. Add annotators with `proctor exam user add NAME --role annotator`, then assign."
            )
        return people
    if unknown := review.read_unknown_users(connection, {annotator.user_id for annotator in annotators}):
        raise UsageError(
            f"These annotators are not active users: {', '.join(sorted(unknown))}. Register them first, or correct "
            "their names."
        )
    return sorted(annotators, key=lambda annotator: annotator.user_id)


def _plan_assignments(
    rows: Sequence[Mapping[str, Any]],
    people: Sequence[Annotator],
    settings: Settings,
    loads: Mapping[str, int],
    salt: str,
    past: Mapping[str, set[str]],
) -> dict[str, list[str]]:
    """Annotators of each question; raises GateError when there are too few or they have too little time."""
    groups: dict[str, list[str]] = {}
    eligible: dict[str, list[str]] = {}
    for row in rows:
        discipline = row.get("discipline") or NO_DISCIPLINE
        before = past.get(row["question_uuid"], set())
        # Questions share a group when the same people may review them.
        group = discipline + (f" (read before by {', '.join(sorted(before))})" if before else "")
        groups.setdefault(group, []).append(row["question_uuid"])
        if group not in eligible:
            eligible[group] = [
                person.user_id
                for person in people
                if person.can_review(discipline) and person.user_id not in before
            ]
    _check_headcount(eligible, groups, settings.review_count)

    demand = {group: len(uuids) for group, uuids in groups.items()}
    shares = distribute_work(demand, eligible, settings.review_count, loads)
    _check_capacity(shares, demand, loads, settings)
    plan: dict[str, list[str]] = {}
    for group, uuids in sorted(groups.items()):
        plan |= draw_annotators(uuids, shares[group], settings.review_count, salt)
    return plan


def _check_headcount(
    eligible: Mapping[str, Sequence[str]], by_discipline: Mapping[str, Sequence[str]], review_count: int
) -> None:
    short = [
        f"{discipline}: {len(names)} of {review_count} ({', '.join(names) or 'nobody'}) for "
        f"{len(by_discipline[discipline])} questions"
        for discipline, names in eligible.items()
        if len(names) < review_count
    ]
    if short:
        raise GateError(
            f"Too few annotators for {review_count} reviews per question: {'; '.join(short)}. "
            "Register more annotators for these disciplines, or lower PROCTOR_REVIEW_COUNT. Nothing was assigned."
        )


def _check_capacity(
    shares: Mapping[str, Mapping[str, int]],
    demand: Mapping[str, int],
    loads: Mapping[str, int],
    settings: Settings,
) -> None:
    capacity = settings.review_daily_quota * settings.review_due_days
    totals = dict(loads)
    for share in shares.values():
        for name, count in share.items():
            totals[name] = totals.get(name, 0) + count
    given = {name for share in shares.values() for name, count in share.items() if count}
    over = sorted((name for name in given if totals[name] > capacity), key=lambda name: (-totals[name], name))
    if not over:
        return
    tight = [
        f"{discipline}: {demand[discipline]} questions × {settings.review_count} reviews among "
        f"{sum(1 for count in share.values() if count)} annotators"
        for discipline, share in shares.items()
        if any(share.get(name) for name in over)
    ]
    raise GateError(
        f"The work does not fit the window: even in equal shares {over[0]} would hold {totals[over[0]]} questions, "
        f"and {settings.review_daily_quota} a day for {settings.review_due_days} days are {capacity}. "
        f"It concerns {'; '.join(tight)}. Assign fewer questions, add annotators, or raise "
        "PROCTOR_REVIEW_DAILY_QUOTA or PROCTOR_REVIEW_DUE_DAYS. Nothing was assigned."
    )


def _build_item(batch_id: str, row: Mapping[str, Any]) -> dict[str, Any]:
    names = [column.name for column in CONTENT] + [name for name in SHOWN_FIELDS if name in row]
    return {
        "batch_id": batch_id,
        "question_uuid": row["question_uuid"],
        "revision": row["revision"],
        "lineage_uuid": row["lineage_uuid"],
        "document_id": row.get("document_id"),
        "discipline": row.get("discipline"),
        "content": {name: row.get(name) for name in names},
    }


def _summarise_existing(ledger: Ledger, batch_ids: set[str], question_count: int) -> AssignmentSummary:
    name = next(iter(batch_ids)) if len(batch_ids) == 1 else None
    batch = None
    assignments: list[dict[str, Any]] = []
    if name is not None:
        with ledger.read() as connection:
            batch = review.read_batch(connection, name)
            assignments = review.read_assignments(connection, name, role="reviewer")
    loads: dict[str, int] = {}
    for assignment in assignments:
        loads[assignment["annotator"]] = loads.get(assignment["annotator"], 0) + 1
    return AssignmentSummary(
        batch_id=name,
        is_new=False,
        question_count=0 if batch is None else len({row["question_uuid"] for row in assignments}),
        assignment_count=len(assignments),
        already_assigned_count=question_count,
        due_at=None if batch is None else batch["due_at"],
        loads=dict(sorted(loads.items())),
    )
