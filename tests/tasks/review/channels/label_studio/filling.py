"""What Label Studio makes of tasks that people annotate: its exports JSON and JSON-MIN."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tasks.review.channels.label_studio.layout import CHOICES

MOMENT = "2026-11-03T08:00:00.000000Z"


def read_tasks(path: Path) -> list[dict[str, Any]]:
    tasks: list[dict[str, Any]] = json.loads(path.read_text("utf-8"))
    return tasks


def annotate(
    tasks: list[dict[str, Any]],
    fields: Mapping[int, Mapping[str, str]],
    *,
    account: object = 1,
    at: str = MOMENT,
) -> list[dict[str, Any]]:
    """The export JSON of the tasks, numbered from 1; those `fields` names are annotated."""
    found = []
    for number, task in enumerate(tasks, start=1):
        annotations = list(task.get("annotations", []))
        if number in fields:
            result = [
                {
                    "id": f"r{number}{name}",
                    "from_name": name,
                    "to_name": "card",
                    "type": "choices" if name in CHOICES else "textarea",
                    "origin": "manual",
                    "value": {"choices": [text]} if name in CHOICES else {"text": [text]},
                }
                for name, text in fields[number].items()
            ]
            annotations.append(
                {
                    "id": 100 + number + len(annotations) * 1000,
                    "completed_by": account,
                    "result": result,
                    "was_cancelled": False,
                    "ground_truth": False,
                    "created_at": at,
                    "updated_at": at,
                    "lead_time": 3.5,
                }
            )
        found.append({"id": number, "data": task["data"], "annotations": annotations, "predictions": []})
    return found


def make_minimal(export: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The same as JSON-MIN: one row per annotation, a field with one value as that value."""
    rows = []
    for task in export:
        for one in task["annotations"]:
            values = {region["from_name"]: next(iter(region["value"].values())) for region in one["result"]}
            rows.append(
                {
                    "id": task["id"],
                    **task["data"],
                    **{name: value[0] if len(value) == 1 else value for name, value in values.items()},
                    "annotator": one.get("completed_by"),
                    "annotation_id": one.get("id"),
                    "created_at": one.get("created_at"),
                    "updated_at": one.get("updated_at"),
                    "lead_time": one.get("lead_time"),
                }
            )
    return rows


def save(path: Path, content: object) -> Path:
    path.write_text(json.dumps(content, ensure_ascii=False), encoding="utf-8")
    return path
