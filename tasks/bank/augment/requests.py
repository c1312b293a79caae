"""What a model is asked, in our words, when it writes variants, and how its reply is read.

Every request ends with one JSON object whose `task` names what is wanted; the reply is one JSON object, held to a schema where
the endpoint offers that. A changed word needs a new `PROMPT_VERSION`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from tasks.texts import read_texts

PROMPT_VERSION = "augment-model/2"

_WORDING: Final[dict[str, Any]] = read_texts("tasks.bank.augment", "requests.yaml")
_SYSTEM = _WORDING["system"]
_TASKS = _WORDING["tasks"]
_TEXT = {"type": "string"}
_REPLIES: dict[str, dict[str, Any]] = {
    "declarative_rewrite": {"statement": _TEXT},
    "paraphrase": {"stem": _TEXT},
    "material_to_true_false": {
        "statements": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "statement": _TEXT,
                    "answer": {"type": "string", "enum": ["true", "false"]},
                    "support": _TEXT,
                },
                "required": ["statement", "answer", "support"],
                "additionalProperties": False,
            },
        }
    },
}


@dataclass(frozen=True, slots=True)
class Statement:
    """What a model states about a material; what is not text in its reply is as good as missing.

    Attributes:
        text: the statement.
        answer: `true` or `false` where the reply keeps to what was asked.
        support: the sentence of the material that decides it.
    """

    text: str = field(repr=False)
    answer: str
    support: str = field(repr=False)

    @classmethod
    def from_reply(cls, fields: Mapping[str, object]) -> Statement:
        """The statement in one object of the reply."""
        texts = [fields.get(name) for name in ("statement", "answer", "support")]
        return cls(*(text if isinstance(text, str) else "" for text in texts))

    @property
    def is_true(self) -> bool:
        """Whether the model calls it true."""
        return self.answer == "true"


def build_messages(task: str, **fields: str | int) -> list[dict[str, str]]:
    """Chat messages for `declarative_rewrite`, `material_to_true_false` or `paraphrase`."""
    request = json.dumps({"task": task, **fields}, ensure_ascii=False)
    return [
        {"role": "system", "content": _SYSTEM},
        {"role": "user", "content": f"{_TASKS[task]}\n\n{request}"},
    ]


def build_reply_schema(task: str) -> dict[str, Any]:
    """The `response_format` that holds a reply to its task's form, where endpoints offer it."""
    fields = _REPLIES[task]
    return {
        "type": "json_schema",
        "json_schema": {
            "name": task,
            "strict": True,
            "schema": {
                "type": "object",
                "properties": fields,
                "required": list(fields),
                "additionalProperties": False,
            },
        },
    }
