"""Texts beyond a limit: cut at a character, with a mark that names size and hash of the whole."""

from __future__ import annotations

import hashlib
from typing import Any


def cut_text(text: str, most: int) -> tuple[str, dict[str, Any] | None]:
    """At most so many characters of a text, its mark included; null, or `bytes` and `sha256` of the whole where it was cut.

    Size and hash are those of its UTF-8. What was cut stays as it is when it is cut again at the same limit.
    """
    if len(text) <= most:
        return text, None
    raw = text.encode("utf-8", "surrogatepass")
    whole = {"bytes": len(raw), "sha256": hashlib.sha256(raw).hexdigest()}
    mark = f"\n[cut here by Proctor: the whole has {whole['bytes']} bytes, SHA-256 {whole['sha256']}]"
    return text[: most - len(mark)] + mark, whole
