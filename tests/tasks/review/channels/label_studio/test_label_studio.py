from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from lxml import etree
from sqlalchemy import delete

from schemas.settings import Settings
from tasks.review.assigning import Annotator, assign_batch, write_annotator
from tasks.review.batch import read_decisions
from tasks.review.channels.label_studio.layout import CHOICES, render_config
from tasks.review.channels.label_studio.reading import read_label_studio
from tasks.review.channels.label_studio.writing import export_label_studio
from tasks.review.recording import RefusedSubmission, Submission, SubmissionReceipt, record
from tasks.review.words import Language, list_words
from tests.tasks.review.channels.label_studio.filling import annotate, make_minimal, read_tasks, save
from tests.tasks.review.conftest import (
    AFTER_ALL,
    LATER,
    NOW,
    give,
    make_frame,
    make_question,
    make_submission,
)
from tests.tasks.review.kit import record_submission
from warehouse.ledger.engine.ledger import Ledger
from warehouse.ledger.engine.opening import open_ledger
from warehouse.ledger.engine.tables import review_assignments
from warehouse.ledger.review import assigning
from warehouse.ledger.review.withdrawal import BatchedDocument, delete_work

TWO = [Annotator("chen"), Annotator("dai")]
QUESTIONS = [make_question(1), make_question(2), make_question(3)]
ACCEPT = {"decision": "Accept"}


@pytest.fixture
def path(ledger: Ledger, settings: Settings, tmp_path: Path) -> Path:
    """The tasks of chen in a batch of three questions."""
    assign_batch(ledger, "b1", make_frame(QUESTIONS), TWO, settings, NOW)
    export_label_studio(ledger, tmp_path)
    return tmp_path / "label-studio-b1-chen.json"


def read_one(ledger: Ledger, path: Path, **options: Any) -> tuple[list[Submission], list[str]]:
    found = read_label_studio(ledger, [path], **options)
    return (
        [one for one in found if isinstance(one, Submission)],
        [one.message for one in found if isinstance(one, RefusedSubmission)],
    )


def name_question(task: dict[str, Any]) -> str:
    uuid: str = task["data"]["proctor"]["question_uuid"]
    return uuid


def test_an_export_is_one_file_of_tasks_per_annotator_and_a_configuration(
    ledger: Ledger, settings: Settings, path: Path
) -> None:
    names = sorted(one.name for one in path.parent.iterdir() if one.suffix in (".json", ".xml"))
    assert names == ["label-studio-b1-chen.json", "label-studio-b1-dai.json", "label-studio-config-en.xml"]
    tasks = read_tasks(path)
    assert [name_question(task) for task in tasks] == [row["question_uuid"] for row in QUESTIONS]
    assert tasks[0]["data"]["card"].startswith("Multiple choice · Engineering · paper.docx 1.\n")
    assert "【ANSWER】B" in tasks[0]["data"]["card"]
    assert "annotations" not in tasks[0]


@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_configuration_offers_the_words_of_the_language_and_a_key_for_each_decision(
    language: Language,
) -> None:
    root = etree.fromstring(render_config(language))
    for name, topic in zip(CHOICES, ("decisions", "reasons"), strict=True):
        offered = root.xpath(f"//Choices[@name='{name}']/Choice/@value")
        assert offered == list(list_words(topic, language).values())  # type: ignore[arg-type]
    keys = root.xpath("//Choice/@hotkey")
    assert isinstance(keys, list)
    assert len(keys) == len(set(keys)) == 10


@pytest.mark.parametrize("form", [list, make_minimal])
def test_annotations_come_back_and_the_same_file_again_changes_nothing(
    ledger: Ledger, path: Path, form: Callable[[Any], Any]
) -> None:
    export = annotate(
        read_tasks(path),
        {
            1: ACCEPT,
            2: {"decision": "Reject", "reject_reason": "Unclear", "comment": "which?"},
            3: {"decision": "Edit", "new_answer": "C", "new_options": "A. 1\nB. 2\nC. 3"},
        },
    )
    save(path, form(export))
    (submission,), refused = read_one(ledger, path)
    assert refused == []
    first = record_submission(ledger, submission, LATER)
    assert first == SubmissionReceipt(str(path), "b1", "chen", "reviewer", 3, 0, 0, 0)
    with ledger.read() as connection:
        rows = {row["question_uuid"]: row for row in assigning.read_decisions(connection, "b1")}
    second, third = (rows[QUESTIONS[place]["question_uuid"]] for place in (1, 2))
    assert (second["decision"], second["reject_reason"], second["comment"]) == ("reject", "unclear", "which?")
    assert third["edited_fields"] == {
        "options": [{"label": label, "text": text} for label, text in zip("ABC", "123", strict=True)],
        "answer": ["C"],
    }
    assert {row["channel"] for row in rows.values()} == {"label_studio"}
    (submission,), _ = read_one(ledger, path)
    assert record_submission(ledger, submission, AFTER_ALL).unchanged_count == 3


def test_good_annotations_are_taken_and_bad_ones_named_by_task_field_and_value(
    ledger: Ledger, path: Path
) -> None:
    export = annotate(read_tasks(path), {1: ACCEPT, 2: {"decision": "perhaps"}, 3: {"decision": "Reject"}})
    save(path, export)
    (submission,), (message,) = read_one(ledger, path)
    assert [one.question_uuid for one in submission.decisions] == [QUESTIONS[0]["question_uuid"]]
    assert "1 decisions were good, 2 faults" in message
    assert "task 2, decision: the decision is not one of accept, edit, reject" in message
    assert "(“perhaps”)" in message
    assert "task 3, reject_reason: a rejection needs a reason" in message
    assert read_one(ledger, path, all_or_nothing=True)[0] == []


@pytest.mark.parametrize("text", ["cut \ud83d", "zero \0"])
def test_a_text_that_no_store_takes_costs_only_its_own_task(ledger: Ledger, path: Path, text: str) -> None:
    path.write_text(json.dumps(annotate(read_tasks(path), {1: {**ACCEPT, "comment": text}, 2: ACCEPT})))
    submissions, (message,) = read_one(ledger, path)
    assert [record_submission(ledger, one, LATER).new_count for one in submissions] == [1]
    assert "task 1, comment: it holds a character that cannot be kept" in message


def test_an_annotation_that_is_no_list_of_fields_says_nothing(ledger: Ledger, path: Path) -> None:
    export = annotate(read_tasks(path), {1: ACCEPT, 2: ACCEPT})
    export[0]["annotations"][-1]["result"] = 5
    submissions, _ = read_one(ledger, save(path, export))
    assert [len(one.decisions) for one in submissions] == [1]


def test_messages_are_in_the_language_of_the_tasks(ledger: Ledger, path: Path) -> None:
    export_label_studio(ledger, path.parent, language="zh")
    save(path, annotate(read_tasks(path), {1: {"decision": "退回"}}))
    _, (message,) = read_one(ledger, path)
    assert "task 1, reject_reason: 退回时必须填写退回原因" in message


def test_the_last_annotation_counts_and_a_cancelled_one_does_not(ledger: Ledger, path: Path) -> None:
    first = annotate(read_tasks(path), {1: ACCEPT, 2: ACCEPT})
    export = annotate(
        first, {1: {"decision": "Reject", "reject_reason": "Unclear"}}, at="2026-11-03T09:00:00.000000Z"
    )
    export[1]["annotations"][0]["was_cancelled"] = True
    save(path, export)
    (submission,), refused = read_one(ledger, path)
    assert refused == []
    assert [(one.question_uuid, one.decision) for one in submission.decisions] == [
        (QUESTIONS[0]["question_uuid"], "reject")
    ]
    assert submission.blank_count == 2


def read_standing(ledger: Ledger, uuid: str) -> str:
    with ledger.read() as connection:
        (decision,) = read_decisions(connection, "b1", "chen", {uuid})
    return decision.given.decision


def test_what_a_task_was_exported_with_says_nothing_new(ledger: Ledger, path: Path) -> None:
    uuid = QUESTIONS[0]["question_uuid"]
    record(ledger, [make_submission("chen", give(uuid, "accept"))], LATER)
    export_label_studio(ledger, path.parent)
    tasks = read_tasks(path)
    assert tasks[0]["annotations"][0]["result"][0]["value"] == {"choices": ["Accept"]}
    record(ledger, [make_submission("chen", give(uuid, "reject"))], LATER)
    save(path, annotate(tasks, {2: ACCEPT}))
    (submission,), _ = read_one(ledger, path)
    assert (submission.old, submission.blank_count) == ({uuid}, 1)
    (receipt,) = record(ledger, [submission], LATER).receipts
    assert (receipt.new_count, receipt.changed_count, receipt.unchanged_count) == (1, 0, 1)
    assert read_standing(ledger, QUESTIONS[0]["question_uuid"]) == "reject"


def test_a_file_imported_again_does_not_undo_what_was_decided_on_the_web_since(
    ledger: Ledger, path: Path
) -> None:
    save(path, annotate(read_tasks(path), {1: ACCEPT}))
    given = make_submission("chen", give(QUESTIONS[0]["question_uuid"], "reject"))
    record(ledger, [*read_label_studio(ledger, [path]), given], AFTER_ALL)
    (submission,), _ = read_one(ledger, path)
    assert (submission.old, submission.blank_count) == ({QUESTIONS[0]["question_uuid"]}, 2)
    assert read_standing(ledger, QUESTIONS[0]["question_uuid"]) == "reject"


def test_several_people_in_one_project_are_told_apart_by_their_accounts(
    ledger: Ledger, settings: Settings, path: Path
) -> None:
    write_annotator(ledger, "dai", email="Dai@example.org")
    (shared, _) = export_label_studio(ledger, path.parent, together=True)
    tasks = read_tasks(shared)
    assert len(tasks) == 3
    both = annotate(
        annotate(tasks, {1: ACCEPT}, account=7), {1: ACCEPT}, account={"email": "dai@example.org"}
    )
    save(shared, annotate(both, {2: ACCEPT}, account=9))
    submissions, (message,) = read_one(ledger, shared, people={"7": "chen"})
    assert [(one.annotator, len(one.decisions)) for one in submissions] == [("chen", 1), ("dai", 1)]
    assert "account '9' is no annotator; name it with --person 9=NAME" in message
    # Of two accounts of one person the last word counts, too.
    early = annotate(tasks, {1: ACCEPT}, account=7)
    reject = {"decision": "Reject", "reject_reason": "Unclear"}
    save(shared, annotate(early, {1: reject}, account=6, at="2026-11-02T09:00:00.000000Z"))
    (submission,), _ = read_one(ledger, shared, people={"7": "chen", "6": "chen"})
    assert [one.decision for one in submission.decisions] == ["accept"]
    save(shared, annotate(both, {2: ACCEPT}, account=9))
    # Whom a question is not given to may see it there, but not decide on it.
    submissions, (message,) = read_one(ledger, shared, people={"7": "chen", "9": "eva"})
    assert "task 2, this question is not assigned to eva" in message
    assert [one.annotator for one in submissions] == ["chen", "dai"]
    with ledger.write() as connection:
        connection.execute(delete(review_assignments))
    _, (message,) = read_one(ledger, shared, people={"7": "chen"})
    assert "batch 'b1' is not what this ledger gave to" in message


def test_a_question_that_was_taken_back_costs_only_its_own_task(ledger: Ledger, path: Path) -> None:
    save(path, annotate(read_tasks(path), {1: ACCEPT, 2: ACCEPT}))
    with ledger.write() as connection:
        delete_work(connection, BatchedDocument("b1", (QUESTIONS[0]["question_uuid"],), 0))
    (submission,), (message,) = read_one(ledger, path)
    assert [one.question_uuid for one in submission.decisions] == [QUESTIONS[1]["question_uuid"]]
    assert "task 1, this question is not assigned to chen" in message


def alter_identity(tasks: list[dict[str, Any]]) -> None:
    tasks[0]["data"]["proctor"]["annotator"] = "dai"


def drop_identity(tasks: list[dict[str, Any]]) -> None:
    del tasks[1]["data"]["proctor"]


def swap_identities(tasks: list[dict[str, Any]]) -> None:
    tasks[0]["data"]["proctor"], tasks[1]["data"]["proctor"] = (
        tasks[1]["data"]["proctor"],
        tasks[0]["data"]["proctor"],
    )


def change_card(tasks: list[dict[str, Any]]) -> None:
    tasks[0]["data"]["card"] += " or C"


def repeat_task(tasks: list[dict[str, Any]]) -> None:
    tasks.append(tasks[0] | {"id": 9})


@pytest.mark.parametrize(
    ("change", "message", "taken"),
    [
        (alter_identity, "task 1 does not carry what", 0),
        (drop_identity, "task 2 does not carry what", 0),
        (swap_identities, "task 1, the text of this task was changed", 1),
        (change_card, "task 1, the text of this task was changed", 2),
        (repeat_task, "task 9, the same question stands in another task", 3),
    ],
)
def test_an_altered_export_is_refused_as_far_as_it_was_altered(
    ledger: Ledger, path: Path, change: Callable[[list[dict[str, Any]]], None], message: str, taken: int
) -> None:
    export = annotate(read_tasks(path), {1: ACCEPT, 2: ACCEPT, 3: ACCEPT})
    change(export)
    submissions, (refusal,) = read_one(ledger, save(path, export))
    assert message in refusal
    assert sum(len(one.decisions) for one in submissions) == taken


def test_the_work_of_another_ledger_and_files_of_other_kinds_are_refused(
    ledger: Ledger, settings: Settings, path: Path, tmp_path: Path
) -> None:
    save(path, annotate(read_tasks(path), {1: ACCEPT}))
    with open_ledger(f"sqlite:///{tmp_path / 'other.sqlite'}") as other:
        assert "is not what this ledger gave to chen" in read_one(other, path)[1][0]
    for content in ({"a": 1}, ["x"], "text"):
        assert "this is not an export of Label Studio" in read_one(ledger, save(path, content))[1][0]
    path.write_bytes(b"PK\x03\x04")
    assert "this is not an export of Label Studio" in read_one(ledger, path)[1][0]
    assert "it cannot be read" in read_one(ledger, tmp_path / "nothing.json")[1][0]
