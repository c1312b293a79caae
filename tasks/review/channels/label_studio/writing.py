"""Review work for Label Studio: its configuration, and one file per annotator or batch."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from schemas.errors import UsageError
from tasks.review.batch import list_open_batches
from tasks.review.channels.label_studio.layout import CARD, CHOICES, PICTURES, TaskIdentity, render_config
from tasks.review.channels.pictures import render_pictures
from tasks.review.channels.workbook.card import render_card
from tasks.review.channels.workbook.cells import render_input_cells
from tasks.review.channels.workbook.identity import compute_digest, compute_given_digest, compute_shown_digest
from tasks.review.channels.workbook.layout import choose_language
from tasks.review.channels.workbook.rows import parse_texts
from tasks.review.channels.workbook.writing import name_workbook
from tasks.review.desk import WorkItem, list_people, read_work
from tasks.review.words import Language
from warehouse.ledger.engine.ledger import Ledger
from warehouse.stores.whole_files import SHARED, writing_whole


def export_label_studio(
    ledger: Ledger,
    folder: Path,
    batch_id: str | None = None,
    *,
    language: Language | None = None,
    together: bool = False,
    archive: Path | None = None,
) -> list[Path]:
    """Write the tasks of a batch, or of every open one; returns the paths.

    The configuration of each language is written too; without a `language` it is that of most of somebody's questions.
    `together` makes one file per batch, for a project in which all work. Without an `archive` no pictures are shown.

    Raises:
        UsageError: there is no such batch, or it holds no work.
    """
    folder.mkdir(parents=True, exist_ok=True)
    names = [batch_id] if batch_id else [batch.batch_id for batch in list_open_batches(ledger)]
    paths: list[Path] = []
    languages: set[Language] = set()
    has_pictures = False
    written: list[tuple[Path, list[dict[str, Any]]]] = []

    def render(batch: str, annotator: str, role: str, chosen: Language, one: WorkItem) -> dict[str, Any]:
        nonlocal has_pictures
        task = render_task(batch, annotator, role, chosen, one)
        if archive is not None and (shown := render_pictures(one.item.content, archive, chosen)):
            task["data"][PICTURES] = shown
            has_pictures = True
        return task

    for name in names:
        people = list_people(ledger, name)
        if not people:
            raise UsageError(f"There is no work in review batch {name!r}. See `proctor review status`.")
        shared: dict[tuple[str, str], dict[str, Any]] = {}
        for annotator, role in people:
            work = read_work(ledger, name, annotator, role)
            chosen = language or choose_language(one.item for one in work.values())
            languages.add(chosen)
            if together and role == "reviewer":
                shared |= {
                    ("", uuid): render(name, "", role, chosen, _show_to_all(one))
                    for uuid, one in work.items()
                }
                continue
            tasks = [
                render(name, annotator, role, chosen, one)
                for one in sorted(work.values(), key=lambda one: one.place)
            ]
            written.append((folder / _name_file(name, annotator, role), tasks))
        if shared:
            written.append((folder / f"label-studio-{name}.json", list(shared.values())))
    for path, tasks in written:
        for task in tasks if has_pictures else ():
            # The configuration shows them: every task of its project says whether it has any.
            task["data"].setdefault(PICTURES, "")
        paths.append(_write(path, tasks))
    return [*paths, *(_write_config(folder, one, has_pictures=has_pictures) for one in sorted(languages))]


def _show_to_all(one: WorkItem) -> WorkItem:
    """What everybody may see of a question."""
    return WorkItem(one.item, None, messages=[said for said in one.messages if said.is_to_all])


def render_task(
    batch_id: str, annotator: str, role: str, language: Language, one: WorkItem
) -> dict[str, Any]:
    """A question as a task, with the decision so far as an annotation: no export loses it."""
    given = one.own.given if one.own else None
    inputs = render_input_cells(given, one.item.content.question_type, language)
    # What would come back as another decision (emptied) is not shown: a task without an annotation keeps what was decided.
    is_unshown = given is not None and parse_texts(inputs, one.item)[0] != given
    card = render_task_card(one, language, is_unshown=is_unshown)
    identity = TaskIdentity(
        batch_id=batch_id,
        annotator=annotator,
        role=role,
        language=language,
        question_uuid=one.item.question_uuid,
        revision=one.item.revision,
        digest=compute_digest(batch_id, one.item),
        shown=compute_shown_digest([card]),
        given="" if is_unshown else compute_given_digest(given),
    )
    task: dict[str, Any] = {"data": {CARD: card, "proctor": identity.as_row()}}
    if given is not None and not is_unshown:
        task["annotations"] = [{"result": render_result(inputs)}]
    return task


def render_task_card(one: WorkItem, language: Language, *, is_unshown: bool) -> str:
    """The text of a question's card, as the workbook has it."""
    return "\n".join(part.whole for part in render_card(one, language, is_kept_unshown=is_unshown))


def render_result(inputs: Mapping[str, str]) -> list[dict[str, Any]]:
    """What is filled in, by field, as the regions of an annotation."""
    return [
        {"from_name": name, "to_name": CARD, "type": "choices", "value": {"choices": [text]}}
        if name in CHOICES
        else {"from_name": name, "to_name": CARD, "type": "textarea", "value": {"text": [text]}}
        for name, text in inputs.items()
        if text
    ]


def _name_file(batch_id: str, annotator: str, role: str) -> str:
    workbook = name_workbook(batch_id, annotator, role)
    return "label-studio" + workbook.removeprefix("review").removesuffix(".xlsx") + ".json"


def _write(path: Path, tasks: Sequence[Mapping[str, Any]]) -> Path:
    with writing_whole(path, SHARED) as draft:
        draft.write_text(json.dumps(tasks, ensure_ascii=False, indent=1), encoding="utf-8")
    return path


def _write_config(folder: Path, language: Language, *, has_pictures: bool) -> Path:
    path = folder / f"label-studio-config-{language}.xml"
    path.write_text(render_config(language, has_pictures=has_pictures), encoding="utf-8")
    return path
