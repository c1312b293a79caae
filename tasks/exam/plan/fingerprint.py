"""What a sitting's answers depend on besides the questions, kept with it as short hashes.

Two sittings of the reference may stand for each other only where all of it is the same (SPEC §5.1): R never mixes two
versions. Addresses and parameters are hashed: the ledger's rows travel further than the registry.
"""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any

from tasks.questions.forms import VERSION as EXAM_PROMPT

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tasks.models.registry import RegisteredModel

# What makes a candidate answer otherwise; its address does not: a server may move.
_IDENTITY = ("endpoint_model", "mode", "parameters")


def describe_sitting(model: RegisteredModel, judging: Mapping[str, str] | None = None) -> str:
    """The fingerprint of what this model would answer now, and how it would be judged, as JSON."""
    return json.dumps(
        {
            "endpoint": _hash(model.base_url),
            "endpoint_model": model.endpoint_model,
            "mode": model.mode,
            "parameters": _hash(model.parameters),
            "exam_prompt": EXAM_PROMPT,
        }
        | dict(judging or {})
        | ({"sees_pictures": True} if model.sees_pictures else {}),
        sort_keys=True,
    )


def list_changes(kept: str | None, present: str) -> list[str]:
    """What differs between a kept fingerprint and the present one, where it was kept."""
    before, now = json.loads(kept or "{}"), json.loads(present)
    return [
        name
        for name, value in now.items()
        if value is not None and before.get(name) is not None and before[name] != value
    ]


def compare_entry(kept: str | None, model: RegisteredModel) -> list[str]:
    """What of a candidate's entry makes it answer otherwise than was kept."""
    return [name for name in list_changes(kept, describe_sitting(model)) if name in _IDENTITY]


def _hash(value: Any) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()[:16]
