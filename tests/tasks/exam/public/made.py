"""What is published, chained and signed by docs/verify.md without the verifier's own code."""

from __future__ import annotations

import base64
import hashlib
import json
import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from tasks.exam.public.hashing import compute_root, digest


def dump(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def dump_lines(values: Sequence[object]) -> bytes:
    return b"".join(dump(value) + b"\n" for value in values)


def hash_bytes(raw: bytes) -> str:
    return hashlib.sha256(raw).hexdigest()


def pack(places: Sequence[int], size: int) -> str:
    raw = bytearray((size + 7) // 8)
    for place in places:
        raw[place // 8] |= 1 << place % 8
    return base64.b64encode(bytes(raw)).decode()


# A round of drand's quicknet as its users' documents print it; it was given out on 2023-09-15 at 11:00:03 UTC.
ROUND: dict[str, Any] = {
    "source": "drand quicknet, round 657413",
    "chain": "52db9ba70e0cc0f6eaf7803dd07447a1f5477735fd3f661792ba94600c84e971",
    "round": 657413,
    "value": "fc1873a13f3545aeade8401532ef5519920652eee6b0d2b19ca12643b87b3587",
    "signature": "b713718a38ae728dfd477991af2822e08d2f305e47718cef9f7848ce4050e7be41076862b98fad56e91a6b85b89cd97b",
}


@dataclass
class Lineage:
    name: bytes
    discipline: str
    questions: list[bytes]
    salts: list[bytes]
    slots: list[int]

    def list_leaves(self) -> list[bytes]:
        return [
            digest("proctor slot", salt, self.questions[question])
            for salt, question in zip(self.salts, self.slots, strict=True)
        ]

    @property
    def root(self) -> bytes:
        return compute_root(self.list_leaves())


@dataclass
class Bank:
    version: int
    lineages: list[Lineage]
    contents: dict[bytes, tuple[bytes, str]]

    def list_leaves(self) -> list[bytes]:
        return [
            digest("proctor lineage", one.name, one.discipline, len(one.slots), one.root)
            for one in self.lineages
        ]

    @property
    def root(self) -> str:
        return compute_root(self.list_leaves()).hex()

    @property
    def file(self) -> bytes:
        head: list[object] = [{"bank_version": self.version, "lineages": len(self.lineages)}]
        return dump_lines(
            head + [[one.name.hex(), one.discipline, len(one.slots), one.root.hex()] for one in self.lineages]
        )


def make_bank(rng: random.Random, sizes: dict[str, int], version: int = 7) -> Bank:
    contents: dict[bytes, tuple[bytes, str]] = {}
    lineages = []
    for discipline, size in sizes.items():
        for _ in range(size):
            questions = []
            for _ in range(rng.randint(1, 3)):
                salt, content = rng.randbytes(32), dump({"stem": f"问 {rng.random()}"}).decode()
                questions.append(digest("proctor question", salt, content))
                contents[questions[-1]] = (salt, content)
            slots = [place % len(questions) for place in range(rng.randint(len(questions), 5))]
            lineages.append(
                Lineage(rng.randbytes(32), discipline, questions, [rng.randbytes(32) for _ in slots], slots)
            )
    lineages.sort(key=lambda one: (one.discipline, one.name))
    return Bank(version, lineages, contents)


@dataclass
class Made:
    """What is to be published: entries and files; `write` numbers, chains and signs them."""

    key: Ed25519PrivateKey = field(
        default_factory=lambda: Ed25519PrivateKey.from_private_bytes(hashlib.sha256(b"made").digest())
    )
    entries: list[dict[str, Any]] = field(default_factory=list)
    files: dict[str, bytes] = field(default_factory=dict)
    heads_at: list[int] = field(default_factory=list)
    receipts: list[dict[str, Any]] = field(default_factory=list)
    lines: list[bytes] = field(default_factory=list)

    @property
    def public_key(self) -> str:
        return base64.b64encode(self.key.public_key().public_bytes_raw()).decode()

    @property
    def key_name(self) -> str:
        return hash_bytes(self.key.public_key().public_bytes_raw())[:16]

    def add(self, kind: str, body: dict[str, Any], at: str = "") -> int:
        number = len(self.entries) + 1
        moment = at or f"2026-09-{1 + number // 50:02d}T10:{number % 50:02d}:00.123456+00:00"
        self.entries.append({"number": number, "at": moment, "kind": kind, "previous": "", "body": body})
        return number

    def find(self, kind: str, **wanted: object) -> dict[str, Any]:
        """The body of the last entry of a kind whose body has these values."""
        return next(
            entry["body"]
            for entry in reversed(self.entries)
            if entry["kind"] == kind and all(entry["body"][name] == value for name, value in wanted.items())
        )

    def chain(self) -> None:
        """Number and chain the entries as they now are."""
        previous = "0" * 64
        self.lines = []
        for number, entry in enumerate(self.entries, start=1):
            entry["number"], entry["previous"] = number, previous
            self.lines.append(dump(entry))
            previous = hash_bytes(self.lines[-1])

    def sign_head(self, number: int) -> dict[str, Any]:
        hashed, at = hash_bytes(self.lines[number - 1]), f"2026-12-01T00:00:00+00:00#{number}"
        signed = f'{{"hash":"{hashed}","key":"{self.key_name}","log":"public","number":{number},"signed_at":"{at}"}}'
        signature = base64.b64encode(self.key.sign(signed.encode())).decode()
        return {
            "number": number,
            "hash": hashed,
            "key": self.key_name,
            "signed_at": at,
            "signature": signature,
        }

    def sign_receipt(self, session: str, seq: int, answer: str) -> dict[str, Any]:
        signed = {"answer_sha256": answer, "entry": 5, "head": "ab" * 32, "seq": seq, "session_id": session}
        raw = json.dumps(signed, sort_keys=True, separators=(",", ":")).encode()
        return signed | {"signature": base64.b64encode(self.key.sign(raw)).decode()}

    def rehash(self) -> None:
        """Let every entry name the files as they now are, as somebody does who rewrites all of it."""
        for entry in self.entries:
            body = entry["body"]
            inside = {
                "disclose": lambda body: f"runs/{body['run']}",
                "edition": lambda body: f"editions/{body['run']}-{body['revision']}",
            }.get(entry["kind"])
            if inside:
                body["files"] = {
                    name: hash_bytes(self.files[f"{inside(body)}/{name}"]) for name in body["files"]
                }
            if entry["kind"] == "question":
                body["sha256"] = hash_bytes(self.files[f"questions/{body['file']}"])

    def write(self, folder: Path) -> Path:
        self.chain()
        numbers = [number for number in self.heads_at if number <= len(self.lines)] or [len(self.lines)]
        found = dict(self.files)
        found["log.jsonl"] = b"".join(line + b"\n" for line in self.lines)
        found["heads.jsonl"] = dump_lines([self.sign_head(number) for number in numbers])
        for name, raw in found.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(raw)
        return folder

    def edit_json(self, name: str, change: Any) -> None:
        """Change the value of a JSON file."""
        value = json.loads(self.files[name])
        change(value)
        self.files[name] = dump(value)

    def edit_lines(self, name: str, change: Any) -> None:
        """Change the list of values of a `.jsonl` file."""
        values = [json.loads(line) for line in self.files[name].splitlines()]
        change(values)
        self.files[name] = dump_lines(values)

    def seal_edition(self, edition: str) -> None:
        """An edition's roots again from its sessions, as somebody who changed them would."""
        run, _, revision = edition.rpartition("/")
        rows = [
            json.loads(line) for line in self.files[f"editions/{run}-{revision}/sessions.jsonl"].splitlines()
        ]
        body = self.find("edition", edition=edition)
        body["answers_root"] = compute_root(
            digest("proctor session answers", row["session"], root_answers(row["session"], row["answers"]))
            for row in rows
        ).hex()
        body["judgements_root"] = compute_root(
            digest("proctor judgements", row["session"], row["stars"]) for row in rows
        ).hex()
        self.rehash()


def root_answers(session: str, answers: Sequence[str | None]) -> bytes:
    return compute_root(
        digest("proctor answer", session, seq, bytes.fromhex(answer))
        for seq, answer in enumerate(answers, start=1)
        if answer is not None
    )
