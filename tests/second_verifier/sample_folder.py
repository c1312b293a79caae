"""A folder that is written entry by entry.

It also holds what could be written in the folder instead of the truth.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

Item = list[Any]


@dataclass
class Lie:
    """What is written instead of the truth.

    Each field is named after what `make_folder` would have written.
    """

    weights: dict[str, float] | None = None
    swapped_set: bool = False
    swapped_order: bool = False
    share: bytes | None = None
    forgotten_met: bool = False
    forgotten_siblings: bool = False
    forgotten_reading: bool = False
    leaves: int = 9
    same_text: tuple[int, ...] = ()
    stars: str | None = None
    score: float | None = None
    left_out: str | None = None
    second_draw: bool = False
    sits_again: bool = False
    revision: int = 1
    other_slot: bool = False
    other_plan: bool = False
    erased_root: str | None = None
    erased_more: int = 0
    erased_twice: bool = False
    pictures: str | None = None
    shown: str | None = None
    drand: dict[str, Any] | None = None


@dataclass
class Folder:
    path: Path
    key: Ed25519PrivateKey
    lines: list[bytes] = field(default_factory=list)
    receipts: list[dict[str, Any]] = field(default_factory=list)
    heads: list[dict[str, Any]] = field(default_factory=list)

    @property
    def public(self) -> bytes:
        return self.key.public_key().public_bytes_raw()

    @property
    def key_name(self) -> str:
        return hashlib.sha256(self.public).hexdigest()[:16]

    def add(self, kind: str, body: Mapping[str, Any], at: str = "2030-01-05T08:00:00Z") -> int:
        previous = hashlib.sha256(self.lines[-1]).hexdigest() if self.lines else "0" * 64
        entry = {"number": len(self.lines) + 1, "at": at, "kind": kind, "previous": previous, "body": body}
        self.lines.append(dump(entry))
        return len(self.lines)

    def sign(self, fields: Mapping[str, Any]) -> str:
        return base64.b64encode(self.key.sign(dump(dict(sorted(fields.items()))))).decode()

    def add_head(self) -> None:
        fields = {
            "hash": hashlib.sha256(self.lines[-1]).hexdigest(),
            "key": self.key_name,
            "number": len(self.lines),
            "signed_at": "2030-01-31T00:00:00Z",
        }
        self.heads.append(fields | {"signature": self.sign(fields | {"log": "public"})})

    def write(self, name: str, raw: bytes) -> str:
        path = self.path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(raw)
        return hashlib.sha256(raw).hexdigest()

    def finish(self) -> None:
        self.write("log.jsonl", b"".join(line + b"\n" for line in self.lines))
        self.write("heads.jsonl", dump_lines(self.heads))
        given = [
            {"witness": "a friend", "number": h["number"], "hash": h["hash"], "given_at": h["signed_at"]}
            for h in self.heads
        ]
        self.write("witnesses.jsonl", dump_lines(given))
        stated = {"grade": "self-attested", "witness_count": 1, "beacon": None}
        self.write("grades.json", dump({"run-1/1": stated}) + b"\n")


def dump(value: Any) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode()


def dump_lines(values: list[Any]) -> bytes:
    return b"".join(dump(value) + b"\n" for value in values)
