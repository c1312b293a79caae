"""Signed heads of the public log in a file, one a line, here or with a witness."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final, NamedTuple

from schemas.settings import Settings
from tasks.exam.log.signing import is_signed
from tasks.exam.public.log.folder import HEADS, name_public_folder

# More than any head takes.
TAIL_BYTES: Final = 4096


class PublicSignedHead(NamedTuple):
    """A signed head as it stands in the file, and with witnesses.

    Attributes:
        number: number of the entry.
        hash: SHA-256 of its line.
        key: name of the key.
        signed_at: when, in UTC.
        signature: Ed25519, in base64.
    """

    number: int
    hash: str
    key: str
    signed_at: str
    signature: str

    def describe(self) -> dict[str, object]:
        """What is signed."""
        return describe_public_head(self.number, self.hash, self.key, self.signed_at)

    def is_good(self, public_key: str) -> bool:
        """Whether the key has signed it."""
        return is_signed(public_key, self.signature, self.describe())

    def write_line(self) -> str:
        """The head as a line, without its newline."""
        return json.dumps(self._asdict(), separators=(",", ":"))


def describe_public_head(number: int, line_hash: str, key: str, signed_at: str) -> dict[str, object]:
    """What the signature of a head covers."""
    return {"hash": line_hash, "key": key, "log": "public", "number": number, "signed_at": signed_at}


def name_public_heads_file(settings: Settings) -> Path:
    """The file of signed heads."""
    return name_public_folder(settings) / HEADS


def read_last_head_number(settings: Settings) -> int:
    """The number of the head that was signed last here, 0 for none; read from the file's end."""
    path = name_public_heads_file(settings)
    if not path.exists():
        return 0
    with path.open("rb") as file:
        file.seek(max(path.stat().st_size - TAIL_BYTES, 0))
        lines = file.read().split(b"\n")[:-1]
    heads = [head for head in iter_heads(lines[-1:]) if head is not None]
    return heads[-1].number if heads else 0


def iter_heads(lines: Iterable[bytes | str]) -> Iterator[PublicSignedHead | None]:
    """The heads of some lines, in their order; null for a line that is none."""
    for line in lines:
        if not line.strip():
            continue
        try:
            values = json.loads(line)
            head = PublicSignedHead(*(values[name] for name in PublicSignedHead._fields))
        except (ValueError, TypeError, KeyError):
            yield None
            continue
        is_whole = isinstance(head.number, int) and all(isinstance(value, str) for value in head[1:])
        yield head if is_whole else None
