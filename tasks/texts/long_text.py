"""Texts beyond a limit.

They are cut at a character, with a mark that names size and hash of the whole.
"""

from __future__ import annotations

import hashlib
from typing import Any

from schemas import patterns as re

_MARK = re.compile(r"\n\[cut here by Proctor: the whole has (\d{1,15}) bytes, SHA-256 ([0-9a-f]{64})\]\Z")
_LONGEST_MARK = 200


def cut_text(text: str, most: int) -> tuple[str, dict[str, Any] | None]:
    """At most so many characters of a text, its mark included.

    Also returned are `bytes` and `sha256` of the whole where it was cut, else None.

    Size and hash are those of its UTF-8. What was cut stays as it is when it is cut again at the same limit, and at a lower one
    keeps the size and the hash that its mark names.
    """
    if len(text) <= most:
        return text, None
    earlier = _MARK.search(text, max(0, len(text) - _LONGEST_MARK))
    if earlier:
        whole: dict[str, Any] = {"bytes": int(earlier[1]), "sha256": earlier[2]}
    else:
        raw = text.encode("utf-8", "surrogatepass")
        whole = {"bytes": len(raw), "sha256": hashlib.sha256(raw).hexdigest()}
    mark = f"\n[cut here by Proctor: the whole has {whole['bytes']} bytes, SHA-256 {whole['sha256']}]"
    return text[: most - len(mark)] + mark, whole


def make_storable(text: str) -> str:
    """The text as every store and every signature takes it: no NUL, no half of a surrogate pair."""
    if "\x00" in text:
        text = text.replace("\x00", "\ufffd")
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text
