"""Reads a whole public folder, as docs/verify.md describes it.

It reads hashes, trees, the log and its files.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

Found = Callable[[str, str], None]


def sha(raw: bytes) -> str:
    return hashlib.sha256(raw).hexdigest()


def digest(tag: str, *parts: str | bytes | int) -> bytes:
    raws = [part if isinstance(part, bytes) else str(part).encode() for part in (tag, *parts)]
    return hashlib.sha256(b"".join(len(raw).to_bytes(4, "big") + raw for raw in raws)).digest()


def tree(leaves: Sequence[bytes]) -> str:
    """The root, level by level: an odd node at the end of a level goes up as it is."""
    level = [hashlib.sha256(b"\0" + leaf).digest() for leaf in leaves]
    if not level:
        return sha(b"")
    while len(level) > 1:
        level = [
            hashlib.sha256(b"\1" + level[i] + level[i + 1]).digest() if i + 1 < len(level) else level[i]
            for i in range(0, len(level), 2)
        ]
    return level[0].hex()


def climb(leaf: bytes, place: int, count: int, path: Sequence[str]) -> str | None:
    """The root to which a path leads, level by level.

    None when the path is too short or too long.
    """
    if not 0 <= place < count:
        return None
    node, siblings = hashlib.sha256(b"\0" + leaf).digest(), [bytes.fromhex(step) for step in path]
    while count > 1:
        if place % 2 or place + 1 < count:
            if not siblings:
                return None
            other = siblings.pop(0)
            node = hashlib.sha256(b"\1" + (other + node if place % 2 else node + other)).digest()
        place, count = place // 2, (count + 1) // 2
    return None if siblings else node.hex()


def hexes(text: Any) -> bytes:
    """A hash as its 32 bytes; raises ValueError for anything else."""
    if not isinstance(text, str) or len(text) != 64 or text != text.lower():
        raise ValueError(f"{text!r} is no hash")
    return bytes.fromhex(text)


def set_root(items: Iterable[Sequence[Any]]) -> str:
    return tree([digest("proctor item", hexes(item[0]), item[1], hexes(item[2])) for item in items])


def has_bit(bitmap: bytes, place: int) -> bool:
    return place // 8 < len(bitmap) and bool(bitmap[place // 8] >> place % 8 & 1)


def signed_by(public_key: bytes, signature: Any, fields: dict[str, Any]) -> bool:
    text = json.dumps(fields, sort_keys=True, separators=(",", ":")).encode()
    try:
        Ed25519PublicKey.from_public_bytes(public_key).verify(
            base64.b64decode(signature, validate=True), text
        )
    except (InvalidSignature, ValueError, TypeError):
        return False
    return True


@dataclass
class Bank:
    """A bank file, in the order of positions.

    `rows` maps lineage → (position, discipline, slots, slots_root), `passages` lineage → the passage that it shares,
    also of lineages that left the bank and are named beside one of it: `beside`.
    """

    rows: dict[str, tuple[int, str, int, str]] = field(default_factory=dict)
    passages: dict[str, str] = field(default_factory=dict)
    beside: dict[str, list[str]] = field(default_factory=dict)

    def leaf(self, lineage: str) -> bytes:
        _, discipline, slots, slots_root = self.rows[lineage]
        named = [hexes(self.passages[lineage])] if lineage in self.passages else []
        named += map(hexes, self.beside.get(lineage, ()))
        return digest("proctor lineage", hexes(lineage), discipline, slots, hexes(slots_root), *named)

    def with_siblings(self, lineages: set[str]) -> set[str]:
        """Those that the bank has of some lineages, and all that share a passage with one of them."""
        read = {self.passages[lineage] for lineage in lineages if lineage in self.passages}
        return {x for x in self.rows if x in lineages or self.passages.get(x) in read}


@dataclass
class Run:
    """What the log and the files say of a run; `files` is empty as long as it is not disclosed."""

    name: str
    commits: dict[int, dict[str, Any]] = field(default_factory=dict)
    given_up: set[int] = field(default_factory=set)
    draws: list[tuple[int, dict[str, Any]]] = field(default_factory=list)
    shares: list[dict[str, Any]] = field(default_factory=list)
    sessions_named: set[str] = field(default_factory=set)
    disclosed: list[dict[str, str]] = field(default_factory=list)
    plan: dict[str, Any] = field(default_factory=dict)
    plan_sha: str = ""
    met: list[dict[str, Any]] = field(default_factory=list)
    exclusions_bank: str = ""
    sets: dict[str, dict[str, Any]] = field(default_factory=dict)
    orders: dict[str, dict[str, Any]] = field(default_factory=dict)
    order_lines: list[dict[str, Any]] = field(default_factory=list)
    seed: bytes = b""
    share: bytes = b""
    is_whole: bool = False

    @property
    def draw(self) -> dict[str, Any] | None:
        return self.draws[0][1] if self.draws else None

    @property
    def number(self) -> int:
        """The entry that committed what was drawn."""
        return int(self.draws[0][1]["commit"]) if self.draws else 0

    @property
    def commit(self) -> dict[str, Any]:
        return self.commits.get(self.number, {})


@dataclass
class World:
    """Everything in the folder."""

    folder: Path
    found: Found
    lines: list[bytes] = field(default_factory=list)
    entries: list[dict[str, Any]] = field(default_factory=list)
    keys: dict[str, tuple[int, bytes]] = field(default_factory=dict)
    ended: dict[str, int] = field(default_factory=dict)
    runs: dict[str, Run] = field(default_factory=dict)
    closes: dict[str, tuple[int, dict[str, Any]]] = field(default_factory=dict)
    banks: dict[str, Bank] = field(default_factory=dict)
    answers: dict[str, list[str | None]] = field(default_factory=dict)

    def read(self, name: str, expected: str | None = None) -> bytes | None:
        """A file's bytes, or None with a fault: it is not there, or not as its entry says."""
        path = self.folder / name
        try:
            if not path.resolve().is_relative_to(self.folder.resolve()):
                raise OSError
            raw = path.read_bytes()
        except (OSError, ValueError):
            self.found("file_missing", name)
            return None
        if expected is not None and sha(raw) != expected:
            self.found("file_changed", name)
            return None
        return raw

    def of(self, kind: str) -> Iterator[tuple[int, dict[str, Any]]]:
        return ((n, entry["body"]) for n, entry in enumerate(self.entries, 1) if entry["kind"] == kind)

    @property
    def has_former_runs(self) -> bool:
        return any(body["has_former_runs"] for _, body in self.of("begin"))


def split_lines(raw: bytes) -> list[bytes]:
    """Lines that are each ended by one newline; raises ValueError for a last one that is not."""
    if raw and not raw.endswith(b"\n"):
        raise ValueError("the last line is not ended")
    return raw.split(b"\n")[:-1]


def parse_lines(raw: bytes) -> list[Any]:
    return [json.loads(line) for line in split_lines(raw)]


# The fields of each kind of entry without which no check could be made, by type.
_TEXT, _HASH, _NUMBER, _LIST, _MAP, _BOOL = "text", "hash", "number", "list", "map", "bool"
_FIELDS = {
    "begin": {"installation": _TEXT, "has_former_runs": _BOOL},
    "key": {"key": _TEXT, "public_key": _TEXT},
    "commit": {
        "run": _TEXT,
        "month": _TEXT,
        "is_simulated": _BOOL,
        "share_commitment": _HASH,
        "bank": _MAP,
        "exclusions_root": _HASH,
        "plan_commitment": _HASH,
        "session_count": _NUMBER,
        "candidate_count": _NUMBER,
    },
    "share": {"run": _TEXT, "commit": _NUMBER, "candidate": _TEXT, "share": _HASH},
    "draw": {
        "run": _TEXT,
        "commit": _NUMBER,
        "seed_commitment": _HASH,
        "sets": _LIST,
        "orders_root": _HASH,
    },
    "open": {"run": _TEXT, "session": _TEXT},
    "close": {
        "run": _TEXT,
        "session": _TEXT,
        "question_count": _NUMBER,
        "answer_count": _NUMBER,
        "answers_root": _HASH,
    },
    "disclose": {"run": _TEXT, "files": _MAP},
    "edition": {
        "edition": _TEXT,
        "run": _TEXT,
        "revision": _NUMBER,
        "answers_root": _HASH,
        "judgements_root": _HASH,
        "files": _MAP,
    },
    "question": {"commitment": _HASH, "file": _TEXT, "sha256": _HASH},
    "tracing": {"run": _TEXT, "commitment": _HASH},
    "approve": {"what": _TEXT, "target": _TEXT, "asked_by": _TEXT, "approved_by": _TEXT},
    "retire": {"count": _NUMBER},
    "restore": {"count": _NUMBER},
    "erasure": {
        "run": _TEXT,
        "cause": _TEXT,
        "session_count": _NUMBER,
        "answer_count": _NUMBER,
        "answers_root": _HASH,
    },
}


# Fields that may be null, or that no check reads: they are there all the same.
_NAMED = {
    "begin": ("key", "public_key"),
    "commit": ("code_version", "beacon", "replaces", "reason"),
    "draw": ("beacon",),
    "close": ("reason",),
    "edition": ("replaces", "reason", "overridden", "override_reason"),
    "retire": ("bank_version", "reason"),
    "restore": ("bank_version", "reason"),
    "erasure": ("sessions",),
}


def _has(value: Any, kind: str) -> bool:
    if kind == _HASH:
        try:
            return len(hexes(value)) == 32
        except ValueError:
            return False
    if kind == _NUMBER:
        return isinstance(value, int) and not isinstance(value, bool)
    return isinstance(value, {_TEXT: str, _LIST: list, _MAP: dict, _BOOL: bool}[kind])


def is_whole(kind: str, body: Any) -> bool:
    """Whether the body of an entry has the fields of its kind.

    An entry of another kind may have any fields.
    """
    if not isinstance(body, dict):
        return False
    if not all(_has(body.get(name), wanted) for name, wanted in _FIELDS.get(kind, {}).items()):
        return False
    if not all(name in body for name in _NAMED.get(kind, ())):
        return False
    if kind == "commit":
        bank = body["bank"]
        beacon = body.get("beacon")
        return (
            _has(bank.get("root"), _HASH)
            and _has(bank.get("lineages"), _NUMBER)
            and (beacon is None or (_has(beacon, _MAP) and _has(beacon.get("source"), _TEXT)))
        )
    if kind == "draw":
        beacon = body.get("beacon")
        return all(
            _has(one, _MAP) and _has(one.get("root"), _HASH) and _has(one.get("set"), _TEXT)
            for one in body["sets"]
        ) and (
            beacon is None
            or (_has(beacon, _MAP) and all(_has(beacon.get(n), _TEXT) for n in ("source", "value")))
        )
    return True


def read_log(world: World) -> None:
    """The chain, line by line; what is after a line that is no entry is still read."""
    raw = world.read("log.jsonl")
    if raw is None:
        return
    previous = "0" * 64
    if raw and not raw.endswith(b"\n"):
        world.found("log_broken", "the last line is not ended")
        raw = raw[: raw.rfind(b"\n") + 1]
    for number, line in enumerate(raw.split(b"\n")[:-1], 1):
        try:
            entry = json.loads(line)
            if entry["number"] != number:
                world.found("log_broken", f"line {number} has number {entry['number']}")
            elif entry["previous"] != previous:
                world.found("log_broken", f"line {number} does not follow the line before")
            if not is_whole(entry["kind"], entry["body"]) or not isinstance(entry["at"], str):
                raise ValueError
            if (entry["kind"] == "begin") != (number == 1):
                world.found("log_broken", f"line {number}: the log begins with `begin`, once")
        except (ValueError, KeyError, TypeError):
            world.found("log_broken", f"line {number} is no entry")
            entry = {"kind": "", "body": {}, "at": ""}
        world.lines.append(line)
        world.entries.append(entry)
        previous = sha(line)
    if not world.entries:
        world.found("log_broken", "the log has no entry")


def read_keys(world: World) -> None:
    for kind in ("begin", "key"):
        for number, body in world.of(kind):
            # An installation whose key was not noted yet enters it as a `key`.
            if kind == "begin" and body.get("key") is None and body.get("public_key") is None:
                continue
            try:
                public = base64.b64decode(str(body.get("public_key")), validate=True)
            except ValueError:
                public = b""
            if len(public) != 32 or sha(public)[:16] != body.get("key"):
                world.found(
                    "log_broken", f"line {number}: key {body.get('key')} is not named after its bytes"
                )
            else:
                world.keys.setdefault(body["key"], (number, public))
                if "ends" in body:
                    _end_key(world, number, body, public)


def _end_key(world: World, number: int, body: dict[str, Any], public: bytes) -> None:
    """The former key ends where both have signed the change."""
    fields = {name: body.get(name) for name in ("ends", "key", "public_key")} | {"log": "public"}
    _, former = world.keys.get(str(body["ends"]), (0, b""))
    if (
        former
        and signed_by(former, body.get("ends_signature"), fields)
        and signed_by(public, body.get("signature"), fields)
    ):
        world.ended.setdefault(body["ends"], number)
    else:
        world.found("log_broken", f"line {number}: the change of key is not signed by both")


def check_heads(world: World, held: Sequence[dict[str, Any]]) -> None:
    raw = world.read("heads.jsonl")
    last = 0
    for line in raw.split(b"\n") if raw else []:
        if not line:
            continue
        try:
            head = json.loads(line)
            number = int(head["number"])
        except (ValueError, KeyError, TypeError):
            world.found("head_wrong", f"{line[:60]!r} is no head")
            continue
        if number < last:
            world.found("head_wrong", f"the head of line {number} stands after that of line {last}")
        last = max(last, number)
        if not _is_signed_head(world, head):
            world.found("head_wrong", f"the signature of the head of line {number}")
        elif not 1 <= number <= len(world.lines):
            world.found("log_truncated", f"a head of line {number}, but the log has {len(world.lines)} lines")
        elif sha(world.lines[number - 1]) != head["hash"]:
            world.found("head_wrong", f"the hash of line {number} is another")
    for head in held:
        claimed = head.get("number")
        if not isinstance(claimed, int) or (
            head.get("key") in world.keys and not _is_signed_head(world, head)
        ):
            world.found(
                "head_wrong", f"the head that is held of line {claimed} is not signed by a key of the log"
            )
        elif not 1 <= claimed <= len(world.lines) or sha(world.lines[claimed - 1]) != head.get("hash"):
            world.found("log_truncated", f"the head that is held of line {claimed} is not in the log")


def _is_signed_head(world: World, head: dict[str, Any]) -> bool:
    """Whether a key that was in the log by then signed the head."""
    since, public = world.keys.get(str(head.get("key")), (0, b""))
    fields = {name: head.get(name) for name in ("hash", "key", "number", "signed_at")}
    return (
        bool(public)
        and since <= head["number"]
        and head["number"] < world.ended.get(str(head.get("key")), head["number"] + 1)
        and signed_by(public, head.get("signature"), fields | {"log": "public"})
    )


def read_bank(world: World, root: str) -> Bank:
    """A bank file, once; with faults where it is not what its root says."""
    if root in world.banks:
        return world.banks[root]
    bank = world.banks[root] = Bank()
    raw = world.read(f"banks/{root}.jsonl")
    if raw is None:
        return bank
    try:
        first, *rows = parse_lines(raw)
        leaves, last = [], ("", "")
        for place, (lineage, discipline, slots, slots_root, *shared) in enumerate(rows):
            if (discipline, lineage) <= last or not isinstance(slots, int) or slots < 1:
                raise ValueError(f"line {place + 2}")
            last = (discipline, lineage)
            bank.rows[lineage] = (place, discipline, slots, slots_root)
            if shared:
                passage, *bank.beside[lineage] = shared
                bank.passages |= dict.fromkeys([lineage, *bank.beside[lineage]], passage)
            leaves.append(bank.leaf(lineage))
        if first["lineages"] != len(rows) or tree(leaves) != root or len(bank.rows) != len(rows):
            raise ValueError("its root or its count")
        if any(
            [first["bank_version"], first["lineages"]] != [c["bank"].get("version"), c["bank"]["lineages"]]
            for _, c in world.of("commit")
            if c["bank"]["root"] == root
        ):
            raise ValueError("its version")
    except (ValueError, KeyError, TypeError) as error:
        world.found("bank_wrong", f"banks/{root}.jsonl: {error}")
    return bank
