"""Whose task a Label Studio task is.

This follows from what it carries beside its card, which also shows whether it is still what was handed out.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from tasks.review.words import LANGUAGES, Language

FORMAT_NAME = "proctor-review-task"
FORMAT_VERSION = 1


@dataclass(frozen=True, slots=True)
class TaskIdentity:
    """What a task says of itself.

    Attributes:
        batch_id: the review batch.
        annotator: whose task it is; empty where several people work on the same tasks.
        role: `reviewer` or `adjudicator`.
        language: of the card and of messages.
        question_uuid, revision: the question.
        digest: a hash of what was handed out.
        shown: a hash of the card as written.
        given: a hash of the decision that the task held when it was written; empty without one.
    """

    batch_id: str
    annotator: str
    role: str
    language: Language
    question_uuid: str
    revision: int
    digest: str
    shown: str
    given: str

    def as_row(self) -> dict[str, Any]:
        """As it stands in the task's data."""
        row = {"format": FORMAT_NAME, "version": FORMAT_VERSION, **asdict(self)}
        return row | {"checksum": _compute_checksum(row)}

    @classmethod
    def from_row(cls, row: object) -> TaskIdentity | None:
        """The identity in a task's data; null where there is none, or it was altered."""
        names = cls.__slots__
        if not isinstance(row, Mapping) or not {"checksum", "format", "version", *names} <= row.keys():
            return None
        body = {name: row[name] for name in ("format", "version", *names)}
        texts = [value for name, value in body.items() if name not in ("version", "revision")]
        is_read = (
            body["format"] == FORMAT_NAME
            and body["version"] == FORMAT_VERSION
            and all(isinstance(text, str) for text in texts)
            and isinstance(body["revision"], int)
            and body["language"] in LANGUAGES
            and row["checksum"] == _compute_checksum(body)
        )
        return cls(**{name: row[name] for name in names}) if is_read else None


def _compute_checksum(row: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(row, ensure_ascii=False, sort_keys=True).encode()).hexdigest()
