"""The review desk: the one way by which decisions come in, whatever the channel.

A channel parses what was handed in (a `Submission`, or a `RefusedSubmission` that says why it is none) and renders what is to be
done; the desk records, gives disputes to adjudicators, and tells which batches are complete by it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from schemas.errors import ContractError, GateError, UsageError
from schemas.reviews import REVIEW_CHANNELS
from tasks.review.batch import read_assignments, read_batch, read_decisions, read_given_items
from tasks.review.decisions import Decision, GivenDecision, find_faults
from tasks.review.overview import is_complete, is_settled
from tasks.review.recording.adjudication import AdjudicationSummary, assign_adjudicators
from warehouse.ledger.engine.ledger import Connection, Ledger
from warehouse.ledger.engine.logs.stages import close_units
from warehouse.ledger.review import assigning, guidelines


@dataclass(frozen=True)
class Submission:
    """Decisions of one annotator in one batch, as a channel parsed them.

    Attributes:
        source: what they came in as: a file, a page.
        batch_id: the batch.
        annotator: whose they are.
        role: `reviewer` or `adjudicator`.
        channel: one of `schemas.reviews.REVIEW_CHANNELS`.
        decisions: the decisions, one per question.
        blank_count: questions that were left open; what was decided on them before stays.
        seen: by question, when the decision was given that the annotator had before them (null: there was none). One that
            is no longer so was decided elsewhere since, and is not overwritten. Empty where a later one always counts.
        guideline_version: the guidelines that the channel showed; null: the newest that the annotator has read at the desk.
        old: questions on which it says nothing new: what is decided on them when it is recorded stands.
    """

    source: str
    batch_id: str
    annotator: str
    role: str
    channel: str
    decisions: Sequence[GivenDecision] = field(repr=False)
    blank_count: int = 0
    seen: Mapping[str, str | None] = field(default_factory=dict)
    guideline_version: int | None = None
    old: Collection[str] = ()


class StaleError(GateError):
    """The question was decided since the annotator looked: `stands` stands, nothing is recorded."""

    def __init__(self, stands: Decision | None) -> None:
        super().__init__(
            "The question was decided in another window since this page showed it. Look at both and choose."
        )
        self.stands = stands


@dataclass(frozen=True, slots=True)
class RowFault:
    """A fault of something handed in, with its place.

    Attributes:
        row, column: the cell, a row from 1 and the letter of a column; null for a fault of the whole sheet.
        header: what stands over the column; empty without one.
        message: what is wrong, without what was typed.
        typed: what was typed, where that may be repeated; else empty.
        question_uuid: the question of the row, where it is known.
        cells: what the row's cells to fill in hold, by name.
    """

    row: int | None
    column: str | None
    header: str
    message: str
    typed: str = ""
    question_uuid: str | None = None
    cells: Mapping[str, str] = field(default_factory=dict, repr=False)


@dataclass(frozen=True)
class RefusedSubmission:
    """Something handed in of which nothing was recorded, and why.

    Attributes:
        source: what it came in as.
        message: why, faults of one kind together.
        faults: every fault with its place.
        unit: batch, annotator and role that it says it is of (`name_unit`); empty where that is not known.
        is_final: whether no correction helps: its batch takes no decisions.
    """

    source: str
    message: str
    faults: Sequence[RowFault] = field(default=(), repr=False)
    unit: str = ""
    is_final: bool = False


@dataclass(frozen=True)
class SubmissionReceipt:
    """What recording a submission changed."""

    source: str
    batch_id: str
    annotator: str
    role: str
    new_count: int
    changed_count: int
    unchanged_count: int
    blank_count: int


@dataclass(frozen=True)
class DeskReport:
    """What was recorded and refused, the disputes given out, and the batches that are complete."""

    receipts: Sequence[SubmissionReceipt]
    refusals: Sequence[RefusedSubmission]
    adjudications: Sequence[AdjudicationSummary]
    complete_batches: Sequence[str]


def name_unit(batch_id: str, annotator: str, role: str) -> str:
    """What somebody hands in of a batch, as the lake's `quarantine` names it."""
    return f"{batch_id}/{annotator}/{role}"


def record(ledger: Ledger, handed_in: Iterable[Submission | RefusedSubmission], now: str) -> DeskReport:
    """Record each submission, all of it or none; refusals of a channel are passed on.

    The disputes that appear are given to adjudicators. The same decision again changes nothing, a later one replaces it. A batch
    counts as complete after everything is recorded: a later submission may reopen what an earlier one settled.
    """
    receipts: list[SubmissionReceipt] = []
    refusals: list[RefusedSubmission] = []
    decided: dict[str, set[str]] = {}
    for one in handed_in:
        if isinstance(one, RefusedSubmission):
            refusals.append(one)
            continue
        try:
            receipts.append(record_submission(ledger, one, now))
        except (UsageError, GateError) as error:
            is_final = isinstance(error, GateError)
            refusals.append(RefusedSubmission(one.source, str(error), is_final=is_final))
            continue
        decided.setdefault(one.batch_id, set()).update(given.question_uuid for given in one.decisions)
    return _follow(ledger, receipts, refusals, decided, now)


def record_one(ledger: Ledger, submission: Submission, now: str) -> DeskReport:
    """Record one submission, as `record` does, for a channel that answers its annotator at once.

    Raises:
        UsageError, GateError, StaleError: as `record_submission`; nothing was recorded.
    """
    receipt = record_submission(ledger, submission, now)
    uuids = {given.question_uuid for given in submission.decisions}
    return _follow(ledger, [receipt], [], {submission.batch_id: uuids}, now)


def _follow(
    ledger: Ledger,
    receipts: Sequence[SubmissionReceipt],
    refusals: Sequence[RefusedSubmission],
    decided: Mapping[str, set[str]],
    now: str,
) -> DeskReport:
    """What follows from decisions: disputes are given out, and batches found complete."""
    batches = sorted(decided)
    # Only what was decided just now can have come into dispute; older disputes without anybody wait for the gate's sweep.
    disputes = [assign_adjudicators(ledger, name, now, question_uuids=decided[name]) for name in batches]
    return DeskReport(
        receipts=receipts,
        refusals=refusals,
        adjudications=[one for one in disputes if one.assigned_count or one.unassigned],
        complete_batches=[name for name in batches if is_complete(ledger, name)],
    )


def record_submission(ledger: Ledger, submission: Submission, now: str) -> SubmissionReceipt:
    """Write the decisions of one submission, all or none.

    Whether they make the batch complete is written too.

    Raises:
        UsageError: the batch is unknown, a question is not assigned to the annotator in that role, or a decision is
            faulty (a channel checks with `find_faults` first, to say where).
        GateError: the batch is closed.
        StaleError: a question was decided since the annotator saw it.
    """
    if submission.channel not in REVIEW_CHANNELS:
        raise ContractError(
            f"Review channel {submission.channel!r} is not one of {', '.join(REVIEW_CHANNELS)}."
        )
    batch_id, annotator, role = submission.batch_id, submission.annotator, submission.role
    with ledger.write() as connection:
        batch = read_batch(connection, batch_id, lock=True)
        uuids = {given.question_uuid for given in submission.decisions}
        given_out = read_assignments(connection, batch_id, annotator, role, uuids)
        assigned = {one.question_uuid for one in given_out}
        items = read_given_items(connection, batch_id, annotator, uuids)
        standing = {one.question_uuid: one for one in read_decisions(connection, batch_id, annotator, uuids)}
        before = {uuid: one.given for uuid, one in standing.items()}
        changed = [
            given
            for given in submission.decisions
            if given.question_uuid not in submission.old and before.get(given.question_uuid) != given
        ]
        # The same again is none: a kill may have come after the closing, and before what follows it.
        if batch.is_closed and (changed or not uuids):
            raise GateError(
                f"Review batch {batch_id} was closed at {batch.closed_at}: decisions are no longer taken."
            )
        seen: set[str] = set()
        for given in submission.decisions:
            if given.question_uuid not in assigned:
                raise UsageError(
                    f"Question {given.question_uuid} of batch {batch_id} is not assigned to {annotator} as {role}. "
                    "Nothing was recorded."
                )
            if given.question_uuid in seen:
                raise UsageError(
                    f"Question {given.question_uuid} of batch {batch_id} is decided twice in {submission.source}. "
                    "Keep one of the decisions. Nothing was recorded."
                )
            seen.add(given.question_uuid)
            # What stands already was taken by the rules of its time.
            if given.question_uuid in submission.old or before.get(given.question_uuid) == given:
                continue
            item = items[given.question_uuid]
            if faults := find_faults(item.content, given, item.notes):
                raise UsageError(
                    f"Question {given.question_uuid}, {faults[0].field}: {faults[0].message}. Nothing was recorded."
                )
        for given in changed:
            one = standing.get(given.question_uuid)
            moment = one.decided_at if one else None
            if submission.seen.get(given.question_uuid, moment) != moment:
                raise StaleError(one)
        if not batch.is_closed:
            _write_decisions(connection, submission, changed, now)
            is_done = is_settled(connection, batch)
            assigning.update_batch(connection, batch_id, status="complete" if is_done else "open")
    new_count = sum(given.question_uuid not in before for given in changed)
    return SubmissionReceipt(
        source=submission.source,
        batch_id=batch_id,
        annotator=annotator,
        role=role,
        new_count=new_count,
        changed_count=len(changed) - new_count,
        unchanged_count=len(submission.decisions) - len(changed),
        blank_count=submission.blank_count,
    )


def _write_decisions(
    connection: Connection, submission: Submission, changed: Sequence[GivenDecision], now: str
) -> None:
    """Write what has changed, and the entries of all that was handed in."""
    batch_id, annotator = submission.batch_id, submission.annotator
    channel = "adjudication" if submission.role == "adjudicator" else submission.channel
    version = submission.guideline_version or guidelines.read_newest_read(connection, annotator)
    assigning.replace_decisions(
        connection,
        [Decision(given, annotator, channel, now, version).as_row(batch_id) for given in changed],
    )
    # Those that stood already as well: a kill may have come between a decision and its entry.
    close_units(connection, "reviews", [(batch_id, one.question_uuid) for one in submission.decisions])
