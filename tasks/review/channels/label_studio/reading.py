"""What Label Studio exports: the good annotations of a file become submissions to the desk.

A file of another batch or installation, with altered or unknown tasks, is refused whole. What was filled in wrongly is
reported with its task, field and value. Nothing is recorded here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from schemas.errors import ProctorError, WorkbookError
from tasks.review.assigning import find_annotators
from tasks.review.channels.label_studio.exported import Annotation, ExportedTask, read_export
from tasks.review.channels.label_studio.layout import TaskIdentity
from tasks.review.channels.workbook.identity import compute_digest, compute_given_digest, compute_shown_digest
from tasks.review.channels.workbook.rows import CHOICES, MOST_REPEATED, parse_texts, translate
from tasks.review.decisions import GivenDecision
from tasks.review.desk import WorkItem, list_people, read_work
from tasks.review.recording import RefusedSubmission, Submission
from tasks.review.words import Language
from warehouse.ledger.engine.ledger import Ledger

MOST_REPORTED = 100
# A batch, an annotator and a role: what is handed in by one person is one submission.
Owner = tuple[str, str, str]


@dataclass
class _Reading:
    """What is found in a file so far."""

    decisions: dict[Owner, dict[str, GivenDecision]] = field(default_factory=dict)
    blanks: dict[Owner, int] = field(default_factory=dict)
    old: dict[Owner, set[str]] = field(default_factory=dict)
    faults: list[str] = field(default_factory=list)
    language: Language = "en"
    batches: dict[str, bool] = field(default_factory=dict)

    def knows(self, ledger: Ledger, identity: TaskIdentity) -> bool:
        """Whether anybody has work here in the batch of the task."""
        if identity.batch_id not in self.batches:
            self.batches[identity.batch_id] = bool(list_people(ledger, identity.batch_id))
        return self.batches[identity.batch_id]


def read_label_studio(
    ledger: Ledger,
    paths: Iterable[Path],
    *,
    people: Mapping[str, str] | None = None,
    all_or_nothing: bool = False,
) -> list[Submission | RefusedSubmission]:
    """Every file as submissions of its good annotations, one per person.

    A refusal names the bad ones; with `all_or_nothing` the file is refused whole. `people` names the annotator of an account
    (its number or e-mail address), for tasks that several work on; the addresses of registered annotators are known.
    """
    with ledger.read() as connection:
        known = {one.email.casefold(): one.user_id for one in find_annotators(connection, None) if one.email}
    known |= {account.casefold(): name for account, name in (people or {}).items()}
    found: list[Submission | RefusedSubmission] = []
    for path in paths:
        try:
            found += _read_file(ledger, path, known, all_or_nothing=all_or_nothing)
        except ProctorError as error:
            found.append(RefusedSubmission(str(path), str(error)))
    return found


def _read_file(
    ledger: Ledger, path: Path, known: Mapping[str, str], *, all_or_nothing: bool
) -> Sequence[Submission | RefusedSubmission]:
    tasks = read_export(path)
    identities = [_identify(task, path.name) for task in tasks]
    works: dict[Owner, dict[str, WorkItem]] = {}
    reading = _Reading()
    seen: set[tuple[str, str, str]] = set()
    for task, identity in zip(tasks, identities, strict=True):
        reading.language = identity.language
        key = (identity.batch_id, identity.annotator + identity.role, identity.question_uuid)
        if key in seen:
            reading.faults.append(_place(task, "the same question stands in another task; keep one of them"))
            continue
        seen.add(key)
        _read_task(ledger, task, identity, known, works, reading, path.name)
    submissions = [
        Submission(
            source=str(path),
            batch_id=owner[0],
            annotator=owner[1],
            role=owner[2],
            channel="label_studio",
            decisions=list(decisions.values()),
            blank_count=reading.blanks.get(owner, 0),
            old=reading.old.get(owner, ()),
        )
        for owner, decisions in sorted(reading.decisions.items())
    ]
    if not reading.faults:
        return submissions
    good = sum(len(one.decisions) for one in submissions)
    refusal = RefusedSubmission(str(path), _render_refusal(path.name, reading, 0 if all_or_nothing else good))
    return [refusal] if all_or_nothing else [*submissions, refusal]


def _identify(task: ExportedTask, file_name: str) -> TaskIdentity:
    identity = TaskIdentity.from_row(task.identity_row)
    if identity is None:
        raise WorkbookError(
            f"{file_name}: task {task.number or task.place} does not carry what `proctor review label-studio export` wrote, or "
            "it was altered. Import the tasks of that command into a project of their own. Nothing was imported."
        )
    return identity


def _read_task(
    ledger: Ledger,
    task: ExportedTask,
    identity: TaskIdentity,
    known: Mapping[str, str],
    works: dict[Owner, dict[str, WorkItem]],
    reading: _Reading,
    file_name: str,
) -> None:
    """Put into `reading` what is filled in on a task; WorkbookError for one not given out here."""
    if identity.annotator:
        people = {identity.annotator: _find_last(task.annotations)}
        accounts = {one.account for one in task.annotations if one.account}
        if len(accounts) > 1:
            message = f"{len(accounts)} accounts annotated a task of {identity.annotator}; delete what is not theirs"
            reading.faults.append(_place(task, message))
            return
    else:
        given: dict[str, list[Annotation]] = {}
        for one in task.annotations:
            if one.account in known:
                given.setdefault(known[one.account], []).append(one)
        unknown = sorted({one.account for one in task.annotations if one.account not in known})
        if unknown:
            message = f"account {unknown[0]!r} is no annotator; name it with --person {unknown[0] or 'ACCOUNT'}=NAME"
            reading.faults.append(_place(task, message))
        people = {name: _find_last(some) for name, some in given.items()}
    for annotator, annotation in people.items():
        owner = (identity.batch_id, annotator, identity.role)
        if owner not in works:
            works[owner] = read_work(ledger, *owner)
        work = works[owner].get(identity.question_uuid)
        # Of a shared file, who has no work any more costs nobody else's.
        if work is None and (works[owner] or (not identity.annotator and reading.knows(ledger, identity))):
            if annotation is not None:
                reading.faults.append(_place(task, f"this question is not assigned to {annotator}"))
            continue
        if work is None or work.item.revision != identity.revision:
            raise WorkbookError(
                f"{file_name}: question {identity.question_uuid} of batch {identity.batch_id!r} is not what this ledger gave "
                f"to {annotator} as {identity.role}. Export the tasks again, or import the file where they were exported. "
                "Nothing was imported."
            )
        if compute_digest(identity.batch_id, work.item) != identity.digest:
            raise WorkbookError(
                f"{file_name}: question {identity.question_uuid} is not the one that lies in batch {identity.batch_id!r}. "
                "Export the tasks again. Nothing was imported."
            )
        _take(task, identity, work, annotation, owner, reading)


def _take(
    task: ExportedTask,
    identity: TaskIdentity,
    one: WorkItem,
    annotation: Annotation | None,
    owner: Owner,
    reading: _Reading,
) -> None:
    decisions = reading.decisions.setdefault(owner, {})
    given, faults = parse_texts(annotation.texts if annotation else {}, one.item)
    if annotation is not None and compute_shown_digest([str(task.card)]) != identity.shown:
        reading.faults.append(_place(task, "the text of this task was changed; export it again"))
        return
    for fault in faults:
        message = translate(fault.message, identity.language)
        value = annotation.texts.get(fault.field, "") if annotation and fault.field in CHOICES else ""
        said = f" (“{value[:MOST_REPEATED]}”)" if value else ""
        reading.faults.append(_place(task, f"{fault.field}: {message}{said}"))
    if given is None or annotation is None:
        reading.blanks[owner] = reading.blanks.get(owner, 0) + (not faults)
        return
    # What stands in a task as it was exported says nothing new: another channel may have changed it since.
    is_as_exported = compute_given_digest(given) == identity.given
    if one.own is not None and (is_as_exported or one.was_decided_after(annotation.updated_at)):
        given = one.own.given
        reading.old.setdefault(owner, set()).add(given.question_uuid)
    decisions[given.question_uuid] = given


def _find_last(annotations: Sequence[Annotation]) -> Annotation | None:
    """The annotation that was changed last; of those without a moment the last of the file."""
    return max(enumerate(annotations), key=lambda one: (one[1].updated_at, one[0]), default=(0, None))[1]


def _place(task: ExportedTask, message: str) -> str:
    return f"- task {task.number or task.place}, {message}"


def _render_refusal(file_name: str, reading: _Reading, good: int) -> str:
    bad = len(reading.faults)
    head = (
        f"{file_name}：已读取 {good} 条，{bad} 处需要更正。请在 Label Studio 中更正后重新导出并导入。"
        if reading.language == "zh"
        else f"{file_name}: {good} decisions were good, {bad} faults must be corrected. Correct them in Label Studio, export "
        "and import again."
    )
    more = f"\n… {bad - MOST_REPORTED} more" if bad > MOST_REPORTED else ""
    return "\n".join([head, *reading.faults[:MOST_REPORTED]]) + more
