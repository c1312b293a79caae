"""Giving questions to annotators by discipline, in equal shares, within what they can hold."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Literal

import polars as pl

from schemas import patterns as re
from schemas.counting import say_count
from schemas.errors import GateError, UsageError
from schemas.ledger.review import ReviewBatch, ReviewMessage
from schemas.settings import Settings
from tasks.review.assigning.annotators import Annotator, find_annotators
from tasks.review.assigning.gold import NO_GOLD, GoldSupply, Planted, plant
from tasks.review.assigning.plan import LeftOut, Waiting, plan_assignments
from tasks.review.batch import read_assignments, read_batch, read_decisions, read_items
from tasks.review.decisions import compute_outcomes, encode_items
from tasks.running import without_collecting
from warehouse.ledger.engine.ledger import Connection, Ledger
from warehouse.ledger.engine.logs.stages import close_units
from warehouse.ledger.engine.rows import insert_rows
from warehouse.ledger.review import assigning, messages
from warehouse.ledger.review import gold as review_gold

# Rows that are in memory at once on their way into the ledger.
CHUNK = 20_000
# It stands in addresses, in file names, and before a slash in the names of what is made of the batch.
_NAME = re.compile(r"\w[\w.-]*")
# Who writes the reason for which questions are read again.
_COMMAND = "proctor review assign"
# A file's name has 255 bytes, and the annotator's name stands in it as well.
_MOST_NAME_BYTES = 80


@dataclass(frozen=True)
class ReadBefore:
    """A question that is doubted and not given out, as review has it or had it.

    Attributes:
        question_uuid, batch_id: the question, and the latest batch with it.
        state: `open`; `closed` until what was decided has landed; `settled` for the same reason.
        decision_count: how many of its `assignment_count` reviews are in.
        due_at: when the batch is due.
        is_added: whether the reason was added to what the annotators of an open batch read; False where it stood there.
    """

    question_uuid: str
    batch_id: str
    state: Literal["open", "closed", "settled"]
    decision_count: int
    assignment_count: int
    due_at: str
    is_added: bool


@dataclass(frozen=True)
class AssignmentSummary:
    """What was assigned, what waits, and what doubted questions are not given out again.

    `batch_id` is null where all is in several batches.
    """

    batch_id: str | None
    is_new: bool
    question_count: int
    assignment_count: int
    already_assigned_count: int
    due_at: str | None
    loads: Mapping[str, int] = field(default_factory=dict)
    left_out: Sequence[LeftOut] = ()
    gold_count: int = 0
    read_before: Sequence[ReadBefore] = ()


@dataclass(frozen=True)
class AssignmentTerms:
    """What else holds of a batch that is assigned.

    Attributes:
        again: take what closed batches left undecided as well; who decided on one before is not given it again.
        all_or_nothing: refuse a batch of which something would be left out.
        gold: questions with a known decision, of which some are put among everybody's work.
        reason: what is doubted of questions that review has settled, and that are read again; empty for first reviews.
        landed: with a reason, the closed batches that the lake has: what others settled is not known there yet.
    """

    again: bool = False
    all_or_nothing: bool = False
    gold: GoldSupply = NO_GOLD
    reason: str = ""
    landed: Collection[str] = ()


def assign_batch(
    ledger: Ledger,
    batch_id: str | None,
    questions: pl.DataFrame,
    annotators: Sequence[Annotator] | None,
    settings: Settings,
    now: str,
    terms: AssignmentTerms | None = None,
) -> AssignmentSummary:
    """Open a review batch with those of `questions` that are in no batch yet.

    Running it again changes nothing. What the annotators cannot take is left out and named; it waits for the next batch.
    Without a `batch_id` one is derived from the month of `now` and the questions (rows of `questions` or `variants`; of one
    found twice the first counts), without `annotators` the ledger's active ones are taken. The settings hold for whom nothing
    else is registered.

    Raises:
        GateError: there are no annotators, or something is left out and `all_or_nothing` is set.
        UsageError: an annotator is unknown, the name is none, or the batch exists with other questions.
    """
    terms = terms or AssignmentTerms()
    gold, all_or_nothing = terms.gold, terms.all_or_nothing
    # Only what identifies a question is held for all of them; their texts are taken from the frame part by part.
    first = (
        questions.lazy()
        .select(
            "question_uuid",
            "revision",
            "discipline",
            has_answer=(pl.col("answer").list.len() > 0).fill_null(value=False),
        )
        .with_row_index("place")
        .unique("question_uuid", keep="first", maintain_order=True)
        .collect()
    )
    with ledger.write() as connection, without_collecting():
        assigning.lock_assigning(connection)
        people = find_annotators(connection, annotators)
        if not people:
            raise GateError(
                "There are no annotators to assign questions to. Add them with "
                "`proctor exam user add NAME --role annotator --discipline History`."
            )
        taken = _read_taken(connection, first["question_uuid"].to_list(), terms)
        fresh = first.filter(~pl.col("question_uuid").is_in(list(taken))) if taken else first
        before = [
            one
            for name in sorted(set(taken.values()) if terms.reason else ())
            for one in _add_reason(
                connection, name, {uuid for uuid in taken if taken[uuid] == name}, terms, now
            )
        ]
        if fresh.is_empty():
            return _summarise_existing(connection, set(taken.values()), first.height, before)
        if batch_id is not None and not (
            _NAME.fullmatch(batch_id) and len(batch_id.encode()) <= _MOST_NAME_BYTES
        ):
            raise UsageError(
                f"Review batch {batch_id!r}: a name has letters, digits, `.`, `_` and `-`, up to {_MOST_NAME_BYTES} of them "
                "(26 Chinese ones). Nothing was assigned."
            )
        if batch_id is not None and assigning.read_batch(connection, batch_id) is not None:
            raise UsageError(
                f"Review batch {batch_id!r} exists already and does not hold {fresh.height} of the {first.height} "
                "questions. Give the new ones a batch of their own."
            )
        waiting = [
            Waiting(*row) for row in fresh.select("question_uuid", "discipline", "has_answer").iter_rows()
        ]
        capacities = {one.user_id: one.compute_capacity(settings) for one in people}
        plan = plan_assignments(
            waiting,
            people,
            settings.review_count,
            # Room is kept for what is put among the work.
            {name: int(most / (1 + gold.share)) for name, most in capacities.items()},
            loads=assigning.count_open_work(connection),
            past=assigning.read_past_decisions(connection, [one.question_uuid for one in waiting]),
            salt=batch_id or now[:7],
        )
        if plan.left_out and all_or_nothing:
            raise GateError(_explain_left_out(plan.left_out, settings))
        if not plan.annotators:
            return AssignmentSummary(
                None,
                False,
                0,
                0,
                first.height - fresh.height,
                None,
                left_out=plan.left_out,
                read_before=before,
            )
        chosen = fresh.filter(pl.col("question_uuid").is_in(list(plan.annotators))).sort("question_uuid")
        name = batch_id or _find_free_name(connection, compute_batch_id(chosen, now))
        kinds = {}
        if gold.rows:
            kinds = {
                uuid: (discipline, language)
                for uuid, discipline, language in questions.select(
                    "question_uuid", "discipline", "language"
                ).iter_rows()
            }
        planted = plant(connection, gold, name, plan.annotators, people, kinds)
        due = {one.user_id: compute_due(now, one.count_days(settings)) for one in people}
        loads = Counter(one for names in plan.annotators.values() for one in names)
        loads.update(one for item in planted for one in item.annotators)
        batch = ReviewBatch(
            batch_id=name,
            status="open",
            review_count=settings.review_count,
            created_at=now,
            due_at=max(due[one] for one in loads),
            closed_at=None,
        )
        insert_rows(connection, [batch])
        for part in chosen["place"].rechunk().to_frame().iter_slices(CHUNK):
            assigning.insert_question_tuples(connection, encode_items(questions[part["place"]], name))
        assigning.insert_questions(connection, [one.gold.item.as_row(name) for one in planted])
        review_gold.insert_gold(connection, [one.as_row(name) for one in planted])
        for stage in ("review_texts", "review_gold"):
            close_units(connection, stage, [(name,)])
        places = _place(questions, chosen, planted)
        _write_assignments(connection, name, plan.annotators, planted, places, now, due)
        for uuid in chosen["question_uuid"] if terms.reason else ():
            _write_reason(connection, name, uuid, 1, terms.reason, now)
    return AssignmentSummary(
        batch_id=name,
        is_new=True,
        question_count=chosen.height,
        assignment_count=loads.total(),
        already_assigned_count=first.height - fresh.height,
        due_at=batch.due_at,
        loads=dict(sorted(loads.items())),
        left_out=plan.left_out,
        gold_count=len(planted),
        read_before=before,
    )


def compute_batch_id(questions: pl.DataFrame, now: str) -> str:
    """The id of a batch: its month and 8 digits of a hash, the same for the same questions."""
    names = sorted(
        f"{uuid}#{revision}" for uuid, revision in questions.select("question_uuid", "revision").iter_rows()
    )
    return f"{now[:7]}-{hashlib.sha256(chr(10).join(names).encode()).hexdigest()[:8]}"


def compute_due(now: str, days: int) -> str:
    """The moment `days` after `now`, as the ledger writes moments."""
    return (datetime.fromisoformat(now) + timedelta(days=days)).isoformat(timespec="microseconds")


def _explain_left_out(left_out: Sequence[LeftOut], settings: Settings) -> str:
    reasons = "; ".join(
        f"{one.discipline}: {say_count(one.question_count, 'question')}, {one.reason}" for one in left_out
    )
    return (
        f"Questions without a place, with {settings.review_count} reviews per question: {reasons}. Add annotators or "
        "disciplines, wait for decisions, or raise PROCTOR_REVIEW_DAILY_QUOTA or PROCTOR_REVIEW_DUE_DAYS. "
        "Nothing was assigned."
    )


def _write_assignments(
    connection: Connection,
    batch_id: str,
    annotators: Mapping[str, Sequence[str]],
    planted: Sequence[Planted],
    places: Mapping[str, tuple[int, bool]],
    now: str,
    due: Mapping[str, str],
) -> None:
    """Write the assignments in the order of their key: no place in the table gives gold away."""
    everybody = dict(annotators) | {one.gold.item.question_uuid: one.annotators for one in planted}
    rows: list[tuple[Any, ...]] = []
    for uuid in sorted(everybody):
        place, has_answer = places[uuid]
        for name in everybody[uuid]:
            # In the order of ASSIGNMENT_COLUMNS.
            rows.append((batch_id, uuid, name, "reviewer", now, due[name], place, has_answer))
        if len(rows) >= CHUNK:
            assigning.insert_assignment_tuples(connection, rows)
            rows.clear()
    assigning.insert_assignment_tuples(connection, rows)


def _place(
    questions: pl.DataFrame, chosen: pl.DataFrame, planted: Sequence[Planted]
) -> dict[str, tuple[int, bool]]:
    """Place by paper and position, planted or not, and whether a question came with an answer."""
    schema = {
        "question_uuid": pl.String,
        "document_id": pl.String,
        "position": pl.Int64,
        "has_answer": pl.Boolean,
    }
    known = [name for name in ("document_id", "position") if name in questions.columns]
    given = {"question_uuid", "has_answer", *known}
    listed = (
        # Places alone: the texts are not copied for it.
        questions.select("question_uuid", *known, has_answer=pl.col("answer").list.len() > 0)[chosen["place"]]
        .with_columns(pl.lit(None, dtype=schema[name]).alias(name) for name in schema if name not in given)
        .select(pl.col(name).cast(kind) for name, kind in schema.items())
    )
    items = [one.gold.item for one in planted]
    extra = pl.DataFrame(
        [
            (
                item.question_uuid,
                item.document_id,
                item.source and item.source.position,
                bool(item.content.answer),
            )
            for item in items
        ],
        schema=schema,
        orient="row",
    )
    ordered = pl.concat([listed, extra]).sort(
        pl.col("document_id").fill_null(""), pl.col("position").fill_null(0), "question_uuid"
    )
    rows = ordered.select("question_uuid", pl.col("has_answer").fill_null(value=False)).iter_rows()
    return {uuid: (place, has_answer) for place, (uuid, has_answer) in enumerate(rows, start=1)}


def _read_taken(
    connection: Connection, question_uuids: Sequence[str], terms: AssignmentTerms
) -> dict[str, str]:
    """Those of the questions that are not to be assigned, with their batch.

    `again` lets go of what a closed batch left undecided, and a reason of what it settled for another one. What it settled may
    not have landed yet.
    """
    taken = assigning.read_batched_questions(connection, question_uuids)
    by_batch: dict[str, list[str]] = {}
    for uuid, name in taken.items() if terms.again or terms.reason else ():
        by_batch.setdefault(name, []).append(uuid)
    for batch in assigning.read_batches(connection) if by_batch else ():
        uuids = by_batch.get(batch.batch_id)
        if not batch.is_closed or not uuids or (terms.reason and batch.batch_id not in terms.landed):
            continue
        items = read_items(connection, batch.batch_id, uuids)
        decisions = read_decisions(connection, batch.batch_id, question_uuids=uuids)
        known = {
            one.question_uuid
            for one in messages.read_messages(connection, batch.batch_id, uuids)
            if (one.author, one.message) == (_COMMAND, terms.reason)
        }
        for outcome in compute_outcomes(items, decisions, batch.review_count):
            uuid = outcome.item.question_uuid
            is_new = bool(terms.reason) and (terms.again or uuid not in known)
            if not outcome.is_settled or is_new:
                del taken[uuid]
    return taken


def _add_reason(
    connection: Connection, batch_id: str, question_uuids: Collection[str], terms: AssignmentTerms, now: str
) -> list[ReadBefore]:
    """How far a batch is with each of these; in an open one the reason is a message more."""
    batch = read_batch(connection, batch_id, lock=True)
    state: Literal["open", "closed", "settled"] = "open"
    if batch.is_closed:
        state = "settled" if batch_id in terms.landed else "closed"
    given = Counter(
        one.question_uuid
        for one in read_assignments(connection, batch_id, role="reviewer", question_uuids=question_uuids)
    )
    decided = Counter(
        one.question_uuid
        for one in read_decisions(connection, batch_id, question_uuids=question_uuids)
        if not one.is_adjudication
    )
    said: dict[str, list[ReviewMessage]] = {uuid: [] for uuid in sorted(question_uuids)}
    for one in messages.read_messages(connection, batch_id, question_uuids):
        said[one.question_uuid].append(one)
    found = []
    for uuid, there in said.items():
        is_known = any((one.author, one.message) == (_COMMAND, terms.reason) for one in there)
        is_added = state == "open" and not is_known
        if is_added:
            _write_reason(connection, batch_id, uuid, len(there) + 1, terms.reason, now)
        found.append(ReadBefore(uuid, batch_id, state, decided[uuid], given[uuid], batch.due_at, is_added))
    return found


def _write_reason(
    connection: Connection, batch_id: str, question_uuid: str, number: int, reason: str, now: str
) -> None:
    said = ReviewMessage(
        batch_id=batch_id,
        question_uuid=question_uuid,
        number=number,
        annotator=None,
        author=_COMMAND,
        is_coordinator=True,
        message=reason,
        written_at=now,
    )
    messages.insert_message(connection, said)


def _find_free_name(connection: Connection, name: str) -> str:
    """The name, with a number added where a closed batch of the same questions has it already."""
    taken = {batch.batch_id for batch in assigning.read_batches(connection)}
    return next(
        one
        for number in range(1, len(taken) + 2)
        if (one := name if number == 1 else f"{name}-{number}") not in taken
    )


def _summarise_existing(
    connection: Connection, batch_ids: set[str], question_count: int, before: Sequence[ReadBefore]
) -> AssignmentSummary:
    name = next(iter(batch_ids)) if len(batch_ids) == 1 else None
    assignments = [] if name is None else read_assignments(connection, name, role="reviewer")
    return AssignmentSummary(
        batch_id=name,
        is_new=False,
        question_count=len({assignment.question_uuid for assignment in assignments}),
        assignment_count=len(assignments),
        already_assigned_count=question_count,
        due_at=None if name is None else read_batch(connection, name).due_at,
        loads=dict(sorted(Counter(one.annotator for one in assignments).items())),
        read_before=before,
    )
