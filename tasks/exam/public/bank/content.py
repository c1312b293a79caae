"""A question's content as the text that its commitment is made over."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from tasks.exam.public.bank.blinding import question_salt
from tasks.exam.public.hashing import digest

# What is asked and what is right; nothing of where a question comes from or what it is called here.
_CONTENT: Final = ("question_type", "language", "stem", "material", "options", "answer")
_encode: Final = json.JSONEncoder(sort_keys=True, ensure_ascii=False, separators=(",", ":")).encode


def write_content(row: Mapping[str, Any]) -> str:
    """The content of a question of the bank as canonical JSON, with the hashes of its pictures."""
    content = {name: row[name] for name in _CONTENT}
    if pictures := row.get("pictures"):
        content["pictures"] = [
            {name: picture[name] for name in ("number", "place", "sha256")} for picture in pictures
        ]
    return _encode(content)


def commit_question(secret: bytes, row: Mapping[str, Any]) -> bytes:
    """A question's commitment from its row: the same in every version that holds it unchanged."""
    salt = question_salt(secret, row["question_uuid"], row["revision"])
    return digest("proctor question", salt, write_content(row))
