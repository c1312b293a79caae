"""Files of the public folder: whole or not there, whatever happens while they are written."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final

from schemas import patterns as re
from warehouse.stores.whole_files import sweep_drafts, writing_whole

# How drafts ended before: backups and mirrors would take what an earlier version left.
_FORMER: Final = re.compile(r"\..*\.part", re.DOTALL)

_encode: Final = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


def encode_line(value: Any) -> str:
    """A JSON value as one line without its newline."""
    return _encode(value)


def write_whole(path: Path, lines: Iterable[str]) -> str:
    """Write lines, each with its newline, to a file that appears whole; its SHA-256 as text."""
    return _write_pieces(path, (line.encode() + b"\n" for line in lines))


def write_bytes(path: Path, data: bytes) -> str:
    """Write a file that appears whole; returns its SHA-256 as text."""
    return _write_pieces(path, (data,))


def _write_pieces(path: Path, pieces: Iterable[bytes]) -> str:
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    whole = hashlib.sha256()
    with writing_whole(path) as draft, draft.open("wb") as file:
        sweep_drafts(path.parent, draft.stat().st_mtime, _FORMER)
        for piece in pieces:
            whole.update(piece)
            file.write(piece)
    return whole.hexdigest()


def iter_lines(path: Path) -> Iterator[Any]:
    """The JSON values of a file of lines."""
    with path.open(encoding="utf-8") as file:
        for line in file:
            yield json.loads(line)
