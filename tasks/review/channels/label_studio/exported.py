"""What Label Studio exports (JSON, JSON-MIN): tasks as filled in, the newest last, unjudged."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from schemas.errors import WorkbookError
from tasks.review.channels.label_studio.layout import CARD
from tasks.review.channels.workbook.layout import list_inputs

MOST_BYTES = 64 * 2**20
FIELDS = tuple(column.name for column in list_inputs())


@dataclass(frozen=True)
class Annotation:
    """What one account filled in on a task.

    Attributes:
        account: number or address of the account, as text; empty for one that was imported with the task.
        updated_at: when it was last changed, as the export writes it.
        texts: what is filled in, by field.
    """

    account: str
    updated_at: str
    texts: Mapping[str, str] = field(repr=False)


@dataclass(frozen=True)
class ExportedTask:
    """A task: its place in the file (from 1), number there, what it carries, and annotations."""

    place: int
    number: str
    card: object = field(repr=False)
    identity_row: object = field(repr=False)
    annotations: Sequence[Annotation]


def read_export(path: Path) -> list[ExportedTask]:
    """The tasks of an export; raises WorkbookError for a file that is none."""
    refusal = WorkbookError(
        f"{path.name}: this is not an export of Label Studio in the form JSON or JSON-MIN. Export the project again in one of "
        "them. Nothing was imported."
    )
    try:
        if path.stat().st_size > MOST_BYTES:
            raise WorkbookError(
                f"{path.name}: it is larger than {MOST_BYTES // 2**20} MiB. Export fewer tasks at once. Nothing was imported."
            )
        content = json.loads(path.read_bytes())
    except OSError as error:
        raise WorkbookError(f"{path.name}: it cannot be read ({type(error).__name__}).") from None
    except (ValueError, RecursionError):
        raise refusal from None
    if not isinstance(content, list) or not all(isinstance(task, dict) for task in content):
        raise refusal
    tasks = [_read_task(task, place) for place, task in enumerate(content, start=1)]
    # JSON-MIN has a line of its own for each annotation of a task.
    joined: dict[str, ExportedTask] = {}
    for task in tasks:
        before = joined.get(task.number)
        if task.number and before is not None and before.identity_row == task.identity_row:
            task = ExportedTask(
                before.place,
                task.number,
                before.card,
                before.identity_row,
                [*before.annotations, *task.annotations],
            )
        joined[task.number or f"place {task.place}"] = task
    return list(joined.values())


def _read_task(task: Mapping[str, Any], place: int) -> ExportedTask:
    data = task.get("data")
    number = str(task.get("id") or "")
    if isinstance(data, dict):
        annotations = list(_read_annotations(task.get("annotations")))
        return ExportedTask(place, number, data.get(CARD), data.get("proctor"), annotations)
    texts = {name: text for name in FIELDS if (text := _read_value(task.get(name)))}
    account = _name_account(task.get("annotator"))
    found = [Annotation(account, str(task.get("updated_at") or ""), texts)] if texts else []
    return ExportedTask(place, number, task.get(CARD), task.get("proctor"), found)


def _read_annotations(annotations: object) -> Iterator[Annotation]:
    for one in annotations if isinstance(annotations, list) else []:
        # A task that was skipped is exported as a cancelled annotation.
        if not isinstance(one, dict) or one.get("was_cancelled"):
            continue
        texts: dict[str, str] = {}
        regions = one.get("result")
        for region in regions if isinstance(regions, list) else []:
            name = region.get("from_name") if isinstance(region, dict) else None
            if name in FIELDS:
                text = _read_value(region.get("value"))
                texts[name] = "\n".join(filter(None, (texts.get(name), text)))
        if texts:
            updated = str(one.get("updated_at") or one.get("created_at") or "")
            yield Annotation(_name_account(one.get("completed_by")), updated, texts)


def _read_value(value: object) -> str:
    """A text, a list of texts, or a region's value; what is none of these says nothing."""
    if isinstance(value, dict):
        value = value.get("choices", value.get("text"))
    if isinstance(value, list):
        return "\n".join(str(part).strip() for part in value if isinstance(part, str | int | float))
    return str(value).strip() if isinstance(value, str | int | float) else ""


def _name_account(account: object) -> str:
    if isinstance(account, dict):
        account = account.get("email") or account.get("id")
    return "" if account is None else str(account).strip().casefold()
