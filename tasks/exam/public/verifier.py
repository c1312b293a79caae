"""Check what an exam has published.

Usage: python verifier.py PUBLIC [--receipts FILE ...] [--head FILE ...] [--key KEY] [--require GRADE] [--json],
or python verifier.py PUBLIC --keep FILE to be a witness (- for PUBLIC: of a head on standard input).

One file, for Python 3.8 or newer, with its standard library alone: copy it anywhere. PUBLIC is a copy of an installation's
folder `public/`; docs/verify.md of Proctor says what is in it and what each statement means. Nothing is read but PUBLIC and
the files that are named, and nothing is written but the file of --keep, to which a witness adds the last signed head.

Exit status: 0 when all holds, 1 when there are faults (`statement: what, where`, one a line), 2 when it was called wrongly.
What cannot be checked is a note and no fault.
"""

from __future__ import annotations

import argparse
import base64
import contextlib
import hashlib
import importlib
import json
import math
import os
import re
import stat
import sys
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime, timedelta, timezone
from typing import Any, NamedTuple, Tuple

sha256 = hashlib.sha256

NO_HASH = "0" * 64
LONGEST_LINE = 1 << 28
LONGEST_FILE = 1 << 30
# How many faults of one statement are printed; all are counted.
SHOWN = 20
# Printed scores agree to this.
TOLERANCE = 1e-6
RUN_FILES = ("plan.json", "exclusions.json", "sets.jsonl", "orders.jsonl", "seed.json")
EDITION_FILES = ("edition.json", "sessions.jsonl")
# How an edition is attested, the weakest first, and how many witnesses it takes.
GRADES = ("self-attested", "witnessed", "witnessed + beacon")
LEAST_WITNESSES = 2
# By so much an entry may be dated before one that it follows: heads and entries of several hosts are not made at once.
A_DAY = timedelta(days=1)
STARS = frozenset("0123ux-")
# The chains of drand whose rounds are checked: name, public key, moment of round 1 and seconds between rounds, by the chain's hash. A
# chained one signs the signature before with the round.
CHAINS = {
    "52db9ba70e0cc0f6eaf7803dd07447a1f5477735fd3f661792ba94600c84e971": (
        "quicknet",
        "83cf0f2896adee7eb8b5f01fcad3912212c437e0073e911fb90022d3e760183c8c4b450b6a0a6c3ac6a5776a2d1064510d1fec758c921cc22b0e17e63aaf4bcb"
        "5ed66304de9cf809bd274ca73bab4af5a6e9c76a4bc09e76eae8991ef5ece45a",
        1692803367,
        3,
    ),
    "8990e7a9aaed2ffed73dbd7092123d6f289930540d7651336225dc172e51b2ce": (
        "default",
        "868f005eb8e6e4ca0a47c8a77ceaa5309a47978a7c71bc5cce96366b5d7a569937c529eeda66c7293784a9402801af31",
        1595431050,
        30,
    ),
}
SIGNED_IN_G1 = b"BLS_SIG_BLS12381G1_XMD:SHA-256_SSWU_RO_NUL_"
SIGNED_IN_G2 = b"BLS_SIG_BLS12381G2_XMD:SHA-256_SSWU_RO_NUL_"
VALUES = {"0": 0, "1": 1, "2": 2, "3": 3, "u": 0, "x": 0, "-": 0}


# --- What is found ---------------------------------------------------------------------------------------------------


class Malformed(Exception):
    """Something that has not the form in which it must be; the text says what."""


class Findings:
    """Faults by statement, notes, and counts of what was looked at."""

    def __init__(self) -> None:
        self.faults: list[tuple[str, str]] = []
        self.counts: dict[str, int] = {}
        self.notes: list[str] = []
        self.checked: dict[str, int] = {}
        # Edition: its grade; and the editions that another one replaces.
        self.grades: dict[str, str] = {}
        self.replaced: set[str] = set()
        self._known: set[tuple[str, str]] = set()

    def fault(self, statement: str, what: str, where: str = "") -> None:
        """Keep one fault; the same one counts once."""
        text = f"{what}, {where}" if where else what
        if (statement, text) in self._known:
            return
        count = self.counts.get(statement, 0) + 1
        self.counts[statement] = count
        if count <= SHOWN:
            self._known.add((statement, text))
            self.faults.append((statement, text))

    def note(self, text: str) -> None:
        """Keep one note, once."""
        if text not in self.notes and len(self.notes) < 1000:
            self.notes.append(text)

    def count(self, what: str, number: int = 1) -> None:
        """Count what was looked at."""
        self.checked[what] = self.checked.get(what, 0) + number

    def guard(self, statement: str, where: str, check: Callable[..., Any], *given: Any) -> Any:
        """The result of a check.

        Anything that the check stumbles over is a fault of this statement, and the result is then None.
        """
        try:
            return check(*given)
        except Malformed as error:
            self.fault(statement, str(error), where)
        except MemoryError:
            self.fault(statement, "it is too large for this machine's memory", where)
        except Exception as error:
            self.fault(statement, f"it cannot be understood ({type(error).__name__})", where)
        return None


# --- Hashes ----------------------------------------------------------------------------------------------------------


def digest(tag: str, *parts: Any) -> bytes:
    """SHA-256 over a tag and parts, each preceded by its length in four bytes.

    Numbers are their decimal text.
    """
    whole = bytearray()
    for part in (tag, *parts):
        raw = part if isinstance(part, bytes) else str(part).encode("utf-8", "surrogatepass")
        whole += len(raw).to_bytes(4, "big")
        whole += raw
    return sha256(whole).digest()


def compute_root(leaves: Iterable[bytes]) -> bytes:
    """The root of RFC 9162 over leaves of 32 bytes, in one pass with a stack of whole subtrees."""
    stack: list[tuple[int, bytes]] = []
    for leaf in leaves:
        size, node = 1, sha256(b"\x00" + leaf).digest()
        while stack and stack[-1][0] == size:
            size, node = size * 2, sha256(b"\x01" + stack.pop()[1] + node).digest()
        stack.append((size, node))
    if not stack:
        return sha256(b"").digest()
    node = stack.pop()[1]
    while stack:
        node = sha256(b"\x01" + stack.pop()[1] + node).digest()
    return node


def follow_path(leaf: bytes, place: int, count: int, path: Sequence[bytes]) -> bytes | None:
    """The root that a leaf, its place among `count` leaves and its path lead to.

    None for a path of another length.
    """
    if not 0 <= place < count:
        return None
    lefts: list[bool] = []
    while count > 1:
        split = 1 << ((count - 1).bit_length() - 1)
        lefts.append(place < split)
        place, count = (place, split) if place < split else (place - split, count - split)
    if len(lefts) != len(path):
        return None
    node = sha256(b"\x00" + leaf).digest()
    for is_left, sibling in zip(reversed(lefts), path):
        node = sha256(b"\x01" + (node + sibling if is_left else sibling + node)).digest()
    return node


# --- Signatures: Ed25519, RFC 8032 section 5.1, without cofactor ------------------------------------------------------

P = 2**255 - 19
L = 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, P - 2, P) % P
ROOT_OF_MINUS_ONE = pow(2, (P - 1) // 4, P)
Point = Tuple[int, int, int, int]  # noqa: UP006
NEUTRAL: Point = (0, 1, 1, 0)


def add_points(first: Point, second: Point) -> Point:
    """The sum of two points in extended coordinates (section 5.1.4)."""
    a = (first[1] - first[0]) * (second[1] - second[0]) % P
    b = (first[1] + first[0]) * (second[1] + second[0]) % P
    c = 2 * first[3] * second[3] * D % P
    d = 2 * first[2] * second[2] % P
    e, f, g, h = b - a, d - c, d + c, b + a
    return e * f % P, g * h % P, f * g % P, e * h % P


def decode_point(raw: bytes) -> Point | None:
    """A point from its 32 bytes, in the one form that it may have (section 5.1.3).

    None for anything else.
    """
    if len(raw) != 32:
        return None
    number = int.from_bytes(raw, "little")
    sign, y = number >> 255, number & ((1 << 255) - 1)
    if y >= P:
        return None
    u, v = (y * y - 1) % P, (D * y * y + 1) % P
    x = u * pow(v, 3, P) * pow(u * pow(v, 7, P), (P - 5) // 8, P) % P
    if v * x * x % P == (-u) % P:
        x = x * ROOT_OF_MINUS_ONE % P
    if v * x * x % P != u or (x == 0 and sign):
        return None
    if x & 1 != sign:
        x = P - x
    return x, y, 1, x * y % P


def encode_point(point: Point) -> bytes:
    """The 32 bytes of a point (section 5.1.2)."""
    inverse = pow(point[2], P - 2, P)
    x, y = point[0] * inverse % P, point[1] * inverse % P
    return (y | ((x & 1) << 255)).to_bytes(32, "little")


def make_table(point: Point) -> list[list[Point]]:
    """J * 16^i * point for i below 64 and j below 16: a multiple is then a sum of 64 of them."""
    table: list[list[Point]] = []
    for _ in range(64):
        row = [NEUTRAL]
        for _ in range(15):
            row.append(add_points(row[-1], point))
        table.append(row)
        point = add_points(row[-1], point)
    return table


def multiply(table: list[list[Point]], number: int, start: Point = NEUTRAL) -> Point:
    """`start` and a multiple of the table's point, below 2^256, together."""
    for row in table:
        if number & 15:
            start = add_points(start, row[number & 15])
        number >>= 4
    return start


_BASE = decode_point((4 * pow(5, P - 2, P) % P).to_bytes(32, "little"))
_tables: dict[bytes, list[list[Point]] | None] = {}


def is_signed(public_key: bytes, signature: bytes, message: bytes) -> bool:
    """Whether the signature is that of the key over the message (section 5.1.7).

    False for something that is not a key or not a signature.
    """
    if len(signature) != 64:
        return False
    for name in (b"base", public_key):
        if name not in _tables:
            point = _BASE if name == b"base" else decode_point(public_key)
            # The negative of the key, for R = sB - kA.
            if point is not None and name != b"base":
                point = (P - point[0], point[1], 1, P - point[3])
            _tables[name] = None if point is None else make_table(point)
    base, table = _tables[b"base"], _tables[public_key]
    s = int.from_bytes(signature[32:], "little")
    if base is None or table is None or s >= L:
        return False
    k = int.from_bytes(hashlib.sha512(signature[:32] + public_key + message).digest(), "little") % L
    return encode_point(multiply(base, s, multiply(table, k))) == signature[:32]


# --- Reading ---------------------------------------------------------------------------------------------------------


def _parse_whole(text: str) -> int:
    if len(text) > 19:
        raise ValueError("a number of too many digits")
    return int(text)


def _parse_fraction(text: str) -> float:
    number = float(text) if len(text) < 64 else math.inf
    if not math.isfinite(number):
        raise ValueError("a number beyond all bounds")
    return number


def _refuse_constant(text: str) -> Any:
    raise ValueError(f"{text} is no JSON")


def _make_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a name stands twice in one object")
    return found


_DECODER = json.JSONDecoder(
    parse_int=_parse_whole,
    parse_float=_parse_fraction,
    parse_constant=_refuse_constant,
    object_pairs_hook=_make_object,
)


def parse_json(raw: bytes) -> Any:
    """The value of a JSON text in UTF-8; raises Malformed for anything else."""
    try:
        return _DECODER.decode(raw.decode("utf-8"))
    except RecursionError:
        raise Malformed("it is nested too deeply") from None
    except ValueError:
        raise Malformed("it is no JSON") from None


def parse_base64(text: Any) -> bytes | None:
    """The bytes of a text in base64 in its one form; null for anything else."""
    if not isinstance(text, str):
        return None
    try:
        raw = base64.b64decode(text.encode("ascii"), validate=True)
    except ValueError:
        return None
    return raw if base64.b64encode(raw).decode() == text else None


class Folder:
    """The published files; only plain files in it are read."""

    def __init__(self, root: str) -> None:
        self.root = root

    def locate(self, name: str) -> str:
        """Where a file lies; raises Malformed where there is none."""
        path = os.path.join(self.root, *name.split("/"))
        try:
            is_plain = stat.S_ISREG(os.stat(path).st_mode)
        except (OSError, ValueError):
            is_plain = False
        if not is_plain:
            raise Malformed("there is no such file")
        return path

    def has(self, name: str) -> bool:
        """Whether there is such a file."""
        try:
            self.locate(name)
        except Malformed:
            return False
        return True

    def read(self, name: str) -> bytes:
        """A whole file."""
        path = self.locate(name)
        try:
            if os.path.getsize(path) > LONGEST_FILE:
                raise Malformed("it is too large")
            with open(path, "rb") as file:
                return file.read()
        except OSError as error:
            raise Malformed(f"it cannot be read ({type(error).__name__})") from None

    def iter_lines(self, name: str) -> Iterator[bytes]:
        """The lines of a file without their newlines; raises Malformed for a last line without one."""
        path = self.locate(name)
        try:
            with open(path, "rb") as file:
                while True:
                    line = file.readline(LONGEST_LINE)
                    if not line:
                        return
                    if not line.endswith(b"\n"):
                        raise Malformed("a line has no end")
                    yield line[:-1]
        except OSError as error:
            raise Malformed(f"it cannot be read ({type(error).__name__})") from None

    def hash(self, name: str) -> str:
        """The SHA-256 of a file."""
        found = sha256()
        try:
            with open(self.locate(name), "rb") as file:
                for part in iter(lambda: file.read(1 << 20), b""):
                    found.update(part)
        except OSError as error:
            raise Malformed(f"it cannot be read ({type(error).__name__})") from None
        return found.hexdigest()


# --- Shapes ----------------------------------------------------------------------------------------------------------

_HASH = re.compile(r"[0-9a-f]{64}\Z")
_KEY = re.compile(r"[0-9a-f]{16}\Z")
_RUN = re.compile(r"[A-Za-z0-9][A-Za-z0-9._ -]{0,127}\Z")
_FILE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}\Z")
_MONTH = re.compile(r"\d{4}-\d{2}\Z", re.ASCII)
_MOMENT = re.compile(r"(\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2})(?:\.\d{1,9})?(?:Z|\+00:00)\Z", re.ASCII)


def parse_moment(value: Any) -> datetime | None:
    """A moment in UTC, to the second; null for anything else."""
    found = _MOMENT.match(value) if isinstance(value, str) else None
    try:
        return datetime.strptime(found.group(1), "%Y-%m-%dT%H:%M:%S") if found else None
    except ValueError:
        return None


def is_anything(value: Any) -> bool:
    """Any value."""
    return True


def is_text(value: Any) -> bool:
    """A text."""
    return isinstance(value, str)


def is_flag(value: Any) -> bool:
    """True or false."""
    return isinstance(value, bool)


def is_whole(value: Any) -> bool:
    """A whole number from 0."""
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 1 << 53


def is_number(value: Any) -> bool:
    """A number."""
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def is_hash(value: Any) -> bool:
    """64 hexadecimal digits in lower case."""
    return isinstance(value, str) and _HASH.match(value) is not None


def is_hex(value: Any) -> bool:
    """Bytes in lower-case hexadecimal digits."""
    return isinstance(value, str) and bool(re.fullmatch(r"([0-9a-f]{2}){1,1000}", value))


def is_key_name(value: Any) -> bool:
    """16 hexadecimal digits in lower case."""
    return isinstance(value, str) and _KEY.match(value) is not None


def is_run(value: Any) -> bool:
    """The name of a run, which may be part of a path."""
    return isinstance(value, str) and _RUN.match(value) is not None


def is_file(value: Any) -> bool:
    """The name of a file in its folder."""
    return isinstance(value, str) and _FILE.match(value) is not None


def is_month(value: Any) -> bool:
    """A month."""
    return isinstance(value, str) and _MONTH.match(value) is not None


def is_moment(value: Any) -> bool:
    """A moment in UTC."""
    return parse_moment(value) is not None


def maybe(shape: Any) -> Callable[[Any], bool]:
    """The shape, or null."""
    return lambda value: value is None or fits(value, shape)


def map_of(name: Any, shape: Any) -> Callable[[Any], bool]:
    """An object whose names and values have these shapes."""
    return lambda value: (
        isinstance(value, dict)
        and all(fits(key, name) and fits(inner, shape) for key, inner in value.items())
    )


def fits(value: Any, shape: Any) -> bool:
    """Whether a value has a shape.

    A shape is a function, a list of one shape, a tuple of shapes, or an object with these names.
    """
    if isinstance(shape, dict):
        return isinstance(value, dict) and all(
            name in value and fits(value[name], inner) for name, inner in shape.items()
        )
    if isinstance(shape, list):
        return isinstance(value, list) and all(fits(inner, shape[0]) for inner in value)
    if isinstance(shape, tuple):
        return (
            isinstance(value, list)
            and len(value) == len(shape)
            and all(fits(inner, part) for inner, part in zip(value, shape))
        )
    return bool(shape(value))


def name_misfit(value: Any, shape: dict[str, Any]) -> str:
    """Which name of an object is missing or has a wrong value; empty when the shape fits."""
    if not isinstance(value, dict):
        return "it is no object"
    for name, inner in shape.items():
        if name not in value:
            return f"`{name}` is missing"
        if not fits(value[name], inner):
            return f"`{name}` is no such value"
    return ""


def require(value: Any, shape: dict[str, Any]) -> Any:
    """The value itself; raises Malformed when it has not the shape."""
    misfit = name_misfit(value, shape)
    if misfit:
        raise Malformed(misfit)
    return value


BODIES: dict[str, dict[str, Any]] = {
    "begin": {
        "installation": is_text,
        "key": maybe(is_key_name),
        "public_key": maybe(is_text),
        "has_former_runs": is_flag,
    },
    "key": {"key": is_key_name, "public_key": is_text},
    "commit": {
        "run": is_run,
        "month": is_month,
        "is_simulated": is_flag,
        "share_commitment": is_hash,
        "bank": {"version": is_whole, "root": is_hash, "lineages": is_whole},
        "exclusions_root": is_hash,
        "plan_commitment": is_hash,
        "session_count": is_whole,
        "candidate_count": is_whole,
        "code_version": is_text,
        "beacon": maybe({"source": is_text}),
        "replaces": maybe(is_whole),
        "reason": maybe(is_text),
    },
    "share": {"run": is_run, "commit": is_whole, "candidate": is_text, "share": is_hash},
    "draw": {
        "run": is_run,
        "commit": is_whole,
        "beacon": maybe({"source": is_text, "value": is_text}),
        "seed_commitment": is_hash,
        "sets": [{"set": is_text, "root": is_hash}],
        "orders_root": is_hash,
    },
    "open": {"run": is_run, "session": is_text},
    "close": {
        "run": is_run,
        "session": is_text,
        "question_count": is_whole,
        "answer_count": is_whole,
        "answers_root": is_hash,
        "reason": lambda value: value in (None, "forced", "deadline"),
    },
    "disclose": {"run": is_run, "files": map_of(is_file, is_hash)},
    "edition": {
        "edition": is_text,
        "run": is_run,
        "revision": is_whole,
        "replaces": maybe(is_text),
        "reason": maybe(is_text),
        "overridden": [is_text],
        "override_reason": maybe(is_text),
        "answers_root": is_hash,
        "judgements_root": is_hash,
        "files": map_of(is_file, is_hash),
    },
    "question": {"commitment": is_hash, "file": is_file, "sha256": is_hash},
    "tracing": {"run": is_run, "commitment": is_hash},
    "approve": {"what": is_text, "target": is_text, "asked_by": is_text, "approved_by": is_text},
    "retire": {"count": is_whole, "bank_version": maybe(is_whole), "reason": maybe(is_text)},
    "restore": {"count": is_whole, "bank_version": maybe(is_whole), "reason": maybe(is_text)},
    "erasure": {
        "run": is_run,
        "cause": lambda value: value in ("policy", "withdrawal"),
        "sessions": maybe([is_text]),
        "session_count": is_whole,
        "answer_count": is_whole,
        "answers_root": is_hash,
    },
}
ENTRY = {
    "number": is_whole,
    "at": is_moment,
    "kind": is_text,
    "previous": is_hash,
    "body": map_of(is_text, is_anything),
}
# Of a beacon that is drand's: what `commit` names of it, and what `draw` adds. Any other is typed.
NAMED_ROUND = {"source": is_text, "chain": is_hash, "round": is_whole}
GIVEN_ROUND = {"source": is_text, "value": is_hash, "signature": is_hex}
ROTATION = {
    "key": is_key_name,
    "public_key": is_text,
    "ends": is_key_name,
    "ends_signature": is_text,
    "signature": is_text,
}
HEAD = {"number": is_whole, "hash": is_hash, "key": is_key_name, "signed_at": is_text, "signature": is_text}
PLAN = {
    "run": is_run,
    "month": is_month,
    "season": is_text,
    "salt": is_text,
    "bank_root": is_hash,
    "policy": is_text,
    "set_size": is_whole,
    "rest_months": maybe(is_whole),
    "styles": [is_text],
    "repeats": is_whole,
    "weights": map_of(is_text, is_number),
    "reference_model": maybe(is_text),
    "candidates": [{"model": is_text, "organisation": is_text, "registry": is_hash}],
    "sets": [{"set": is_text, "number": is_whole, "is_new": is_flag, "organisations": [is_text]}],
}
NEW_SET = {"drawn_for": [is_text], "shares": [(is_text, is_whole, is_whole)]}
EXCLUSIONS = {"bank_root": is_hash, "met": [{"name": is_text, "salt": is_hash, "bitmap": is_text}]}
SEED = {"share": is_hash, "seed": is_hash}
SET = {"set": is_text, "drawn_in": maybe(is_run), "items": is_anything}
DRAWN_ITEM = (is_hash, is_text, is_hash, is_whole, is_hash, [is_hash])
KNOWN_ITEM = (is_hash, is_text, is_hash)
ORDER = {
    "session": is_text,
    "model": is_text,
    "organisation": is_text,
    "set": is_text,
    "style": is_text,
    "repeat": is_whole,
    "is_reference": is_flag,
    "order": [is_whole],
}
SCORE: dict[str, Any] = {
    "model": is_text,
    "style": is_text,
    "question_count": is_whole,
    "score": maybe(is_number),
    "relative_score": maybe(is_number),
    "pair_count": is_whole,
}
EDITION = {
    "edition": is_text,
    "run": is_run,
    "revision": is_whole,
    "month": is_month,
    "published_at": is_text,
    "reference_model": maybe(is_text),
    "judge": is_anything,
    "weights": map_of(is_text, is_number),
    "scores": [SCORE],
}
SPEAKER = {
    "session": is_text,
    "sat_in_run": is_run,
    "set": is_text,
    "model": is_text,
    "organisation": is_text,
    "style": is_text,
    "repeat": is_whole,
    "is_reference": is_flag,
    "is_complete": is_flag,
    "stars": is_text,
    "answers": [maybe(is_hash)],
}
# Ways of counting questions with pictures (docs/verify.md, "Editions").
TEXT_ONLY = "text_only"
SERIES = (TEXT_ONLY, "pictures", "alt_text")
# The end of the names of files that are pictures of disclosed questions.
PICTURE = ".picture"
QUESTION = {
    "commitment": is_hash,
    "salt": is_hash,
    "content": is_text,
    "bank_root": is_hash,
    "lineage": is_hash,
    "discipline": is_text,
    "slot": is_whole,
    "slot_salt": is_hash,
    "slots": is_whole,
    "path": [is_hash],
    "lineage_path": [is_hash],
    "sets": [is_text],
}
RECEIPT = {
    "session_id": is_text,
    "seq": is_whole,
    "answer_sha256": is_hash,
    "entry": is_whole,
    "head": is_text,
}


# --- The log ---------------------------------------------------------------------------------------------------------


class Entry(NamedTuple):
    """A line of the log."""

    number: int
    at: datetime
    kind: str
    body: dict[str, Any]


class Run:
    """What the log says of one run, and then what its disclosed files say."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.commits: list[Entry] = []
        self.shares: list[Entry] = []
        self.draw: Entry | None = None
        self.opens: dict[str, Entry] = {}
        self.closes: dict[str, Entry] = {}
        self.disclosure: Entry | None = None
        self.editions: list[Entry] = []
        self.erased: set[str] = set()
        self.plan: dict[str, Any] | None = None
        self.seed: bytes | None = None
        self.met: dict[str, bytes] = {}
        self.sets: dict[str, KnownSet] = {}
        self.sessions: dict[str, Session] = {}
        # When the round that the draw used was given out; None where its value is not proven by its source.
        self.beacon_at: datetime | None = None

    @property
    def commit(self) -> Entry | None:
        """The commit that counts: the last one."""
        return self.commits[-1] if self.commits else None

    @property
    def is_simulated(self) -> bool:
        """Whether it is a simulation."""
        return bool(self.commits and self.commits[-1].body["is_simulated"])

    @property
    def is_known(self) -> bool:
        """Whether all of its sets and sessions are; what is missing is a fault, or not disclosed."""
        return (
            self.plan is not None
            and {planned["set"] for planned in self.plan["sets"]} <= set(self.sets)
            and len(self.sessions) == self.commits[-1].body["session_count"]
        )


class Log:
    """The entries of a log, in their order, and what follows from them."""

    def __init__(self) -> None:
        self.hashes: list[str] = []
        self.entries: list[Entry] = []
        self.runs: dict[str, Run] = {}
        # Name of a key: its bytes, and the number of the entry that adds it.
        self.keys: dict[str, tuple[bytes, int]] = {}
        # The number of the entry by which another key took the place of this one.
        self.ended: dict[str, int] = {}
        self.has_former_runs = False
        # For each file of heads that was given: the numbers of those that the log agrees with, and when the witness got each.
        self.witnessed: dict[str, list[tuple[int, datetime | None]]] = {}

    def find_run(self, name: str) -> Run:
        """What the log says of a run."""
        if name not in self.runs:
            self.runs[name] = Run(name)
        return self.runs[name]


def read_log(folder: Folder, findings: Findings) -> Log:
    """The log, with every line checked.

    A line is checked against its number, the hash of the line before, and its form.
    """
    log = Log()
    name = "log.jsonl"
    if not folder.has(name):
        findings.fault("file_missing", "there is no log", name)
        return log

    def read() -> None:
        previous = NO_HASH
        for number, line in enumerate(folder.iter_lines(name), start=1):
            log.hashes.append(sha256(line).hexdigest())
            findings.guard("log_broken", f"line {number} of {name}", take_line, number, line, previous)
            previous = log.hashes[-1]

    def take_line(number: int, line: bytes, previous: str) -> None:
        value = require(parse_json(line), ENTRY)
        if value["number"] != number:
            raise Malformed("the number is {}".format(value["number"]))
        if value["previous"] != previous:
            cause = "; its end was made that of Windows: take a copy that nothing changed"
            raise Malformed("`previous` is not the hash of the line before" + cause * line.endswith(b"\r"))
        kind = value["kind"]
        if (kind == "begin") != (number == 1):
            raise Malformed("the first entry, and no other, is `begin`")
        if kind in BODIES:
            require(value["body"], BODIES[kind])
        moment = parse_moment(value["at"])
        assert moment is not None
        entry = Entry(number, moment, kind, value["body"])
        if kind in ("begin", "key"):
            add_key(log, entry)
        log.entries.append(entry)

    findings.guard("log_broken", name, read)
    if not log.hashes:
        findings.fault("log_broken", "it has no entry", name)
    findings.count("entries", len(log.hashes))
    return log


def add_key(log: Log, entry: Entry) -> None:
    """Add a key that signs from this entry on.

    A log that began before its home had a key names none in `begin`.
    """
    log.has_former_runs = log.has_former_runs or bool(entry.body.get("has_former_runs", False))
    if entry.kind == "begin" and entry.body["key"] is None and entry.body["public_key"] is None:
        return
    raw = parse_base64(entry.body["public_key"])
    if raw is None or len(raw) != 32 or sha256(raw).hexdigest()[:16] != entry.body["key"]:
        raise Malformed("the name of the key is not that of its bytes")
    log.keys.setdefault(entry.body["key"], (raw, entry.number))
    if entry.kind == "key" and "ends" in entry.body:
        end_key(log, entry, raw)


def end_key(log: Log, entry: Entry, raw: bytes) -> None:
    """Another key takes the place of a former one; both sign that it does."""
    body = require(entry.body, ROTATION)
    former = log.keys.get(body["ends"])
    signed = '{{"ends":"{}","key":"{}","log":"public","public_key":"{}"}}'.format(
        body["ends"], body["key"], body["public_key"]
    ).encode()
    for public, name in ((former[0] if former else b"", "ends_signature"), (raw, "signature")):
        signature = parse_base64(body[name])
        if not public or signature is None or not is_signed(public, signature, signed):
            raise Malformed(f"`{name}` is not that of the key")
    log.ended.setdefault(body["ends"], entry.number)


def is_head_signed(log: Log, head: dict[str, Any]) -> bool:
    """Whether a key of the log signed the head."""
    key = log.keys.get(head["key"])
    signature = parse_base64(head["signature"])
    if key is None or signature is None:
        return False
    # What a former key signs after its end, whoever has it by then may have signed.
    if head["key"] in log.ended and head["number"] >= log.ended[head["key"]]:
        return False
    signed = '{{"hash":"{}","key":"{}","log":"public","number":{},"signed_at":{}}}'.format(
        head["hash"],
        head["key"],
        head["number"],
        json.dumps(head["signed_at"]),
    )
    return is_signed(key[0], signature, signed.encode())


def check_heads(log: Log, folder: Folder, findings: Findings, given_key: str) -> None:
    """The signed heads of the folder: signatures, and that the log has the line that each names."""
    name = "heads.jsonl"
    if not folder.has(name):
        findings.fault("file_missing", "there are no signed heads", name)
        return
    last = 0
    vouched: dict[str, int] = {}

    def take_head(line: bytes) -> int:
        head = require(parse_json(line), HEAD)
        number = int(head["number"])
        if number < last:
            raise Malformed(f"head {number} stands after head {last}")
        if not is_head_signed(log, head):
            raise Malformed(f"the signature of head {number} is not good")
        if number < 1 or log.keys[head["key"]][1] > number:
            raise Malformed(f"head {number} is signed with a key that was added later")
        if number > len(log.hashes):
            findings.fault(
                "log_truncated", f"head {number} is signed, and the log ends at {len(log.hashes)}", name
            )
        elif head["hash"] != log.hashes[number - 1]:
            raise Malformed(f"the log has another line {number} than head {number} says")
        vouched[head["key"]] = max(vouched.get(head["key"], 0), number)
        return number

    def read() -> None:
        nonlocal last
        for place, line in enumerate(folder.iter_lines(name), start=1):
            found = findings.guard("head_wrong", f"line {place} of {name}", take_head, line)
            last = max(last, found or 0)
            findings.count("heads")

    findings.guard("head_wrong", name, read)
    if log.hashes and last < len(log.hashes):
        findings.note("The last %s entries of the log have no signed head yet." % (len(log.hashes) - last))
    for key, (_, added) in log.keys.items():
        others = [number for other, number in vouched.items() if log.keys[other][1] < added]
        if added in log.ended.values():
            continue
        if added > 1 and not any(number >= added for number in others):
            findings.note(f"Key {key} was added by entry {added}; no head of an earlier key covers it.")
    if given_key:
        check_given_key(log, findings, given_key, vouched)


def check_given_key(log: Log, findings: Findings, given: str, vouched: dict[str, int]) -> None:
    """Check the key by which the caller knows the installation.

    It must be the log's, and must have signed heads of it.
    """
    raw = parse_base64(given)
    key = sha256(raw).hexdigest()[:16] if raw is not None and len(raw) == 32 else given
    if key not in log.keys:
        findings.fault("head_wrong", f"key {key}, which you gave, is none of this log", "log.jsonl")
    elif key not in vouched:
        findings.fault("head_wrong", f"no good head is signed with key {key}, which you gave", "heads.jsonl")
    elif vouched[key] < len(log.hashes):
        findings.note(f"The key that you gave vouches for the first {vouched[key]} entries of the log.")


def check_given_heads(log: Log, findings: Findings, path: str) -> None:
    """Heads that somebody kept: the log must have the line that each names."""
    # One file is one witness, by whatever path it is given.
    agreed = log.witnessed.setdefault(os.path.realpath(path), [])
    for place, value in enumerate(iter_values(path), start=1):
        where = f"head {place} of {path}"
        misfit = name_misfit(value, HEAD)
        if misfit:
            findings.fault("head_wrong", misfit, where)
            continue
        findings.count("given_heads")
        number = value["number"]
        if value["key"] in log.keys and not is_head_signed(log, value):
            findings.fault("head_wrong", "the signature is not good", where)
        elif value["key"] not in log.keys:
            findings.fault("log_truncated", "the log does not have the key that signed it", where)
        elif not 1 <= number <= len(log.hashes):
            findings.fault("log_truncated", f"entry {number} is not in the log any more", where)
        elif log.hashes[number - 1] != value["hash"]:
            findings.fault("log_truncated", f"entry {number}, or one before it, was rewritten", where)
        else:
            agreed.append((number, parse_moment(value.get("kept_at"))))


def grade_edition(log: Log, entry: Entry) -> str:
    """How an edition is attested, by the heads that were given.

    The higher its grade, the less its operator could do alone.

    `witnessed`: two witnesses hold heads that cover it. `witnessed + beacon`: besides, its run was drawn with a value that is proven to
    be the beacon's, and two witnesses wrote down that they had the commit before that value was given out. A line without the witness's
    own moment (`kept_at`) does not say when it came.
    """
    run = log.find_run(entry.body["run"])
    if count_witnesses(log, lambda number, kept_at: number >= entry.number) < LEAST_WITNESSES:
        return GRADES[0]
    commit, draw, given_out = run.commit, run.draw, run.beacon_at
    if commit is None or draw is None or given_out is None:
        return GRADES[1]
    # Whoever saw the value of a commit that was then replaced could choose between two draws.
    rounds = [one.body["beacon"] for one in run.commits]
    if any(one is None or one.get("chain") not in CHAINS for one in rounds):
        return GRADES[1]
    given_out = min(find_round_time(one["chain"], one["round"]) for one in rounds)
    early = count_witnesses(
        log,
        lambda number, kept_at: (
            commit.number <= number < draw.number and kept_at is not None and kept_at < given_out
        ),
    )
    return GRADES[2] if early >= LEAST_WITNESSES else GRADES[1]


def note_dates(log: Log, findings: Findings) -> None:
    """Entries that say that they are older than a log that a witness had without them."""
    known = sorted(
        (number, kept_at)
        for kept in log.witnessed.values()
        for number, kept_at in kept
        if kept_at is not None
    )
    last: tuple[datetime, int] | None = None
    seen: datetime | None = None
    place = 0
    for entry in log.entries:
        while place < len(known) and known[place][0] < entry.number:
            seen = known[place][1] if seen is None else max(seen, known[place][1])
            place += 1
        if last is not None and entry.at < last[0] - A_DAY:
            findings.note(
                f"Entry {entry.number} is dated {entry.at}, and follows entry {last[1]} of {last[0]}."
            )
        elif seen is not None and entry.at < seen - A_DAY:
            findings.note(
                f"Entry {entry.number} is dated {entry.at}, and on {seen} a witness had a log that ended before it."
            )
        if last is None or entry.at > last[0]:
            last = (entry.at, entry.number)


def count_witnesses(log: Log, holds: Callable[[int, datetime | None], bool]) -> int:
    """How many witnesses have a head of this kind."""
    return sum(any(holds(*head) for head in kept) for kept in log.witnessed.values())


def keep_head(root: str, path: str, key: str = "") -> tuple[Findings, int | None]:
    """Check log and heads of a published folder, and keep its last head as a witness does.

    The file has a head on each line, with the moment at which this witness got it. Nothing is kept of a log that does not hold, or does
    not continue what was kept before. Returns what was found, and the number of the head; null where there is no newer one.
    """
    findings = Findings()
    folder = Folder(root)
    log = read_log(folder, findings)
    if log.hashes:
        findings.guard("head_wrong", "heads.jsonl", check_heads, log, folder, findings, key)
    if os.path.exists(path):
        check_given_heads(log, findings, path)
    last = max((number for number, _ in log.witnessed.get(os.path.realpath(path), ())), default=0)
    if findings.faults:
        return findings, None
    heads = [
        value for value in iter_values(os.path.join(root, "heads.jsonl")) if not name_misfit(value, HEAD)
    ]
    newest = max(heads, key=lambda head: head["number"], default=None)
    if newest is None or newest["number"] <= last:
        return findings, None
    add_head(path, newest)
    return findings, int(newest["number"])


def keep_given_head(raw: bytes, path: str, key: str) -> tuple[Findings, int | None]:
    """Keep a head that the exam hands over.

    It is to be signed with the key, and later than what was kept. For a witness that is told each head as it is made, and has no copy of the log: whoever has one holds the file against it.
    """
    findings = Findings()
    head = findings.guard("head_wrong", "standard input", lambda: require(parse_json(raw), HEAD))
    public = parse_base64(key)
    if head is None or public is None:
        return findings, None
    log = Log()
    log.keys[sha256(public).hexdigest()[:16]] = (public, 1)
    if not is_head_signed(log, head):
        findings.fault("head_wrong", "it is not signed with the key that you gave", "standard input")
        return findings, None
    kept = (
        [] if not os.path.exists(path) else [one for one in iter_values(path) if not name_misfit(one, HEAD)]
    )
    for one in kept:
        if one["number"] == head["number"] and one["hash"] != head["hash"]:
            findings.fault("log_truncated", "entry {} was rewritten".format(head["number"]), path)
        elif one["number"] > head["number"]:
            findings.fault("log_truncated", "entry {} was kept before".format(one["number"]), path)
    if findings.faults or any(one["number"] == head["number"] for one in kept):
        return findings, None
    add_head(path, head)
    return findings, int(head["number"])


def add_head(path: str, head: dict[str, Any]) -> None:
    """Add a head to a witness's file, with the moment at which it came."""
    line = dict(head, kept_at=datetime.now(timezone.utc).isoformat())
    with open(path, "ab") as file:
        file.write(json.dumps(line).encode() + b"\n")
        file.flush()
        os.fsync(file.fileno())


def iter_values(path: str) -> Iterator[Any]:
    """The JSON values of a file that was given: one, a list of them, or one on each line.

    A line that is not a JSON value comes as its text.
    """
    with open(path, "rb") as file:
        raw = file.read(LONGEST_FILE)
    # What editors and shells of Windows put before a text says how it is written.
    for mark, code in ((b"\xef\xbb\xbf", "utf-8-sig"), (b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16")):
        if raw.startswith(mark):
            raw = raw.decode(code, "replace").encode()
    try:
        whole = parse_json(raw)
        for value in whole if isinstance(whole, list) else [whole]:
            yield value
        return
    except Malformed:
        pass
    for line in raw.split(b"\n"):
        if not line.strip():
            continue
        try:
            value = parse_json(line)
        except Malformed:
            value = line
        yield value


# --- What the log says of runs ----------------------------------------------------------------------------------------


def sort_entries(log: Log, findings: Findings) -> None:
    """Give every run its entries, and hold them to the order in which they may come."""
    takers = {
        "commit": take_commit,
        "share": take_share,
        "draw": take_draw,
        "open": take_opening,
        "close": take_closing,
        "disclose": take_disclosure,
        "edition": take_edition,
        "erasure": take_erasure,
    }
    drawn: dict[tuple[bool, str], str] = {}
    for entry in log.entries:
        taker = takers.get(entry.kind)
        if taker is not None:
            taker(log, log.find_run(entry.body["run"]), entry, findings)
        if entry.kind == "draw":
            run = log.find_run(entry.body["run"])
            for new in entry.body["sets"]:
                key = (run.is_simulated, new["set"])
                if key in drawn:
                    findings.fault(
                        "drawn_twice",
                        "set {} was drawn before, by run {}".format(new["set"], drawn[key]),
                        name_entry(entry),
                    )
                drawn[key] = run.name


def name_entry(entry: Entry) -> str:
    """Where an entry stands."""
    return f"entry {entry.number}"


def take_commit(log: Log, run: Run, entry: Entry, findings: Findings) -> None:
    """A commitment: the first of its run, or one that says which it replaces and why."""
    where = name_entry(entry)
    former = run.commit
    replaces = entry.body["replaces"]
    if run.draw is not None:
        findings.fault("drawn_twice", f"run {run.name} is committed to again after its draw", where)
    if former is None and replaces is not None:
        findings.fault("drawn_twice", f"run {run.name} has no commit {replaces} to replace", where)
    elif former is not None and replaces != former.number:
        findings.fault(
            "drawn_twice",
            f"run {run.name} is committed to again, and commit {former.number} is not replaced",
            where,
        )
    elif former is not None and not (entry.body["reason"] or "").strip():
        findings.fault("drawn_twice", f"run {run.name} is committed to again without a reason", where)
    named = former.body["beacon"] if former is not None else None
    if former is not None and named is not None and named.get("chain") in CHAINS:
        given_out = find_round_time(named["chain"], named["round"])
        if entry.at >= given_out:
            findings.note(
                f"Run {run.name}: commit {former.number} was replaced after its round was given out."
            )
    if former is not None and former.body["is_simulated"] != entry.body["is_simulated"]:
        findings.fault(
            "plan_wrong", f"run {run.name} is a simulation in one commit and none in the other", where
        )
    run.commits.append(entry)


def take_share(log: Log, run: Run, entry: Entry, findings: Findings) -> None:
    """A candidate's share: for the commit that stands, before the draw, one of each."""
    where = name_entry(entry)
    if run.commit is None or entry.body["commit"] != run.commit.number:
        findings.fault("share_wrong", f"it is for a commit of run {run.name} that does not stand", where)
    elif run.draw is not None:
        findings.fault("share_wrong", f"it was added after run {run.name} was drawn", where)
    elif any(
        share.body["commit"] == entry.body["commit"] and share.body["candidate"] == entry.body["candidate"]
        for share in run.shares
    ):
        findings.fault("share_wrong", "{} has given one before".format(entry.body["candidate"]), where)
    run.shares.append(entry)


def take_draw(log: Log, run: Run, entry: Entry, findings: Findings) -> None:
    """The draw of a run: one, of the commit that stands."""
    where = name_entry(entry)
    if run.draw is not None:
        findings.fault("drawn_twice", f"run {run.name} was drawn by entry {run.draw.number}", where)
        return
    if run.commit is None or entry.body["commit"] != run.commit.number:
        findings.fault("drawn_twice", f"run {run.name} is drawn by a commit that does not stand", where)
    elif (run.commit.body["beacon"] is None) != (entry.body["beacon"] is None) or (
        entry.body["beacon"] and entry.body["beacon"]["source"] != run.commit.body["beacon"]["source"]
    ):
        findings.fault("seed_wrong", f"the beacon of run {run.name} is not the one that was named", where)
    elif run.commit.body["beacon"] is not None:
        findings.guard("beacon_wrong", where, check_beacon, run, entry, findings)
    run.draw = entry


def find_round_time(chain: str, number: int) -> datetime:
    """When a round of a chain is given out."""
    _, _, first, seconds = CHAINS[chain]
    return datetime(1970, 1, 1) + timedelta(seconds=first + (number - 1) * seconds)


def is_round_signed(chain: str, number: int, signature: bytes, previous: bytes) -> bool | None:
    """Whether a chain signed a round with this; None where no library is there to tell.

    It is BLS over BLS12-381 (RFC 9380), and the one thing here that needs a package: `pip install py-arkworks-bls12381`.
    """
    try:
        curve = importlib.import_module("py_arkworks_bls12381")
    except ImportError:
        return None
    key = bytes.fromhex(CHAINS[chain][1])
    message = sha256(previous + number.to_bytes(8, "big")).digest()
    try:
        if len(key) == 48:
            signed = curve.G2Point.hash_to_curve(message, SIGNED_IN_G2)
            left, right = (
                [curve.G1Point.from_compressed_bytes(key), -curve.G1Point()],
                [
                    signed,
                    curve.G2Point.from_compressed_bytes(signature),
                ],
            )
        else:
            signed = curve.G1Point.hash_to_curve(message, SIGNED_IN_G1)
            left, right = (
                [signed, -curve.G1Point.from_compressed_bytes(signature)],
                [
                    curve.G2Point.from_compressed_bytes(key),
                    curve.G2Point(),
                ],
            )
        return bool(curve.GT.pairing_check(left, right))
    except (ValueError, TypeError):
        return False


def check_beacon(run: Run, draw: Entry, findings: Findings) -> None:
    """The value of a draw's beacon.

    Of drand it is signed, and given out after the commit; any other is typed.
    """
    assert run.commit is not None
    named, given = run.commit.body["beacon"], draw.body["beacon"]
    if "chain" not in named:
        findings.note(f"Run {run.name}: the beacon's value was typed; look it up: {named['source']}.")
        return
    require(named, NAMED_ROUND)
    require(given, GIVEN_ROUND)
    if not maybe(is_hex)(given.get("previous")):
        raise Malformed("`previous` is no such value")
    chain, number, signature = named["chain"], int(named["round"]), bytes.fromhex(given["signature"])
    if chain not in CHAINS or not 1 <= number < 1 << 40:
        raise Malformed(f"run {run.name} names a round of drand that is not known here")
    if given["value"] != sha256(signature).hexdigest():
        raise Malformed(f"the value of run {run.name} is not the hash of its signature")
    given_out = find_round_time(chain, number)
    if given_out <= run.commit.at:
        raise Malformed(f"round {number} of run {run.name} was given out before the commit")
    previous = bytes.fromhex(given.get("previous") or "")
    is_signed_by_chain = is_round_signed(chain, number, signature, previous)
    if is_signed_by_chain is None:
        findings.note(
            f"Run {run.name}: the signature of drand's round was not checked; `pip install py-arkworks-bls12381` lets this program do it."
        )
        return
    if not is_signed_by_chain:
        raise Malformed(f"drand's chain did not sign the value of run {run.name} in round {number}")
    run.beacon_at = given_out
    findings.count("beacons")


def is_former(log: Log, run: Run, entry: Entry, findings: Findings, statement: str, what: str) -> bool:
    """Whether the run was planned before the log began.

    It is a fault where the log states that there is no such run.
    """
    if run.commits:
        return False
    if log.has_former_runs:
        findings.note(
            f"Run {run.name} was planned before this log began: its plan and draw cannot be checked."
        )
    else:
        findings.fault(
            statement, f"{what} of run {run.name}, which was never committed to", name_entry(entry)
        )
    return True


def take_opening(log: Log, run: Run, entry: Entry, findings: Findings) -> None:
    """A session is opened once, and not before the draw."""
    session = entry.body["session"]
    if session in run.opens:
        findings.fault(
            "log_broken", f"session {session} is opened for the first time twice", name_entry(entry)
        )
    if not is_former(log, run, entry, findings, "session_unknown", f"session {session}") and run.draw is None:
        findings.fault(
            "session_unknown",
            f"session {session} was opened before run {run.name} was drawn",
            name_entry(entry),
        )
    run.opens.setdefault(session, entry)


def take_closing(log: Log, run: Run, entry: Entry, findings: Findings) -> None:
    """A session is closed once; one with answers was opened."""
    session = entry.body["session"]
    where = name_entry(entry)
    if session in run.closes:
        findings.fault("answers_wrong", f"session {session} is closed a second time", where)
    if entry.body["answer_count"] > entry.body["question_count"]:
        findings.fault("answers_wrong", f"session {session} has more answers than questions", where)
    if not is_former(log, run, entry, findings, "session_unknown", f"session {session}"):
        if run.draw is None:
            findings.fault(
                "session_unknown",
                f"session {session} was closed before run {run.name} was drawn",
                where,
            )
        elif session not in run.opens and entry.body["answer_count"]:
            findings.fault("session_unknown", f"session {session} has answers and was never opened", where)
    run.closes.setdefault(session, entry)


def take_disclosure(log: Log, run: Run, entry: Entry, findings: Findings) -> None:
    """The disclosure of a run that was drawn."""
    where = name_entry(entry)
    if not is_former(log, run, entry, findings, "plan_wrong", "the disclosure") and run.draw is None:
        findings.fault("plan_wrong", f"run {run.name} is disclosed and was never drawn", where)
    if run.disclosure is not None and run.disclosure.body["files"] != entry.body["files"]:
        findings.fault("file_changed", f"run {run.name} was disclosed with other files before", where)
    run.disclosure = entry


def take_edition(log: Log, run: Run, entry: Entry, findings: Findings) -> None:
    """Editions of a run: revisions without a gap, each naming the one before."""
    where = name_entry(entry)
    body = entry.body
    is_former(log, run, entry, findings, "plan_wrong", "an edition")
    wanted = len(run.editions) + 1
    if body["edition"] != "{}/{}".format(run.name, body["revision"]):
        findings.fault(
            "revision_wrong", "edition {} is not named by its run and revision".format(body["edition"]), where
        )
    if body["revision"] != wanted:
        findings.fault(
            "revision_wrong",
            "edition {} comes where revision {} is due".format(body["edition"], wanted),
            where,
        )
    before = run.editions[-1].body["edition"] if run.editions else None
    if body["replaces"] != before:
        findings.fault(
            "revision_wrong",
            "edition {} replaces {}, and the one before is {}".format(
                body["edition"], body["replaces"], before
            ),
            where,
        )
    if before is not None and not (body["reason"] or "").strip():
        findings.fault("revision_wrong", "edition {} gives no reason".format(body["edition"]), where)
    run.editions.append(entry)


def take_erasure(log: Log, run: Run, entry: Entry, findings: Findings) -> None:
    """Record that texts of a run's answers are no more.

    The entry states which sessions they were of, and the root over the hashes that stay of them.
    """
    where = name_entry(entry)
    body = entry.body
    closed = {name: close for name, close in run.closes.items() if close.body["answer_count"]}
    if not run.editions:
        findings.fault("erasure_wrong", f"run {run.name} had no edition when its answers were erased", where)
    named = body["sessions"]
    own = sorted(set(closed) - run.erased) if named is None else named
    if own != sorted(set(own)) or not own:
        findings.fault("erasure_wrong", "its sessions do not stand by session, each once", where)
    for session in sorted(set(own)):
        if session not in closed:
            findings.fault(
                "erasure_wrong", f"session {session} of run {run.name} was not closed with answers", where
            )
        if session in run.erased:
            findings.fault("erasure_wrong", f"session {session} was erased before", where)
    known = [closed[session] for session in own if session in closed]
    counts = (len(known), sum(close.body["answer_count"] for close in known))
    if counts != (body["session_count"], body["answer_count"]):
        findings.fault(
            "erasure_wrong", "it counts other sessions or answers than were closed with them", where
        )
    root = compute_root(
        digest("proctor session answers", close.body["session"], bytes.fromhex(close.body["answers_root"]))
        for close in known
    )
    if root.hex() != body["answers_root"]:
        findings.fault("erasure_wrong", "its root is not that of the answers of its sessions", where)
    run.erased |= set(own)
    findings.note(
        "Run {}: the texts of {} answers were erased (entry {}); their hashes stand.".format(
            run.name, body["answer_count"], entry.number
        )
    )


def check_files(
    folder: Folder, findings: Findings, inside: str, files: dict[str, str], wanted: Sequence[str]
) -> None:
    """Every file that an entry names is there and unchanged; the entry names those that it must."""
    for name in wanted:
        if name not in files:
            findings.fault("file_missing", "no entry has its hash", f"{inside}/{name}")
    for name, expected in files.items():
        path = f"{inside}/{name}"
        if not folder.has(path):
            findings.fault("file_missing", "it is in the log and not there", path)
        elif findings.guard("file_changed", path, folder.hash, path) != expected:
            findings.fault("file_changed", "it is not what the log has the hash of", path)
        findings.count("files")


# --- The bank --------------------------------------------------------------------------------------------------------


class Bank:
    """A bank version: its lineages by position."""

    def __init__(self) -> None:
        self.lineages: list[bytes] = []
        self.positions: dict[bytes, int] = {}
        self.slots = array("Q")
        self.slots_roots: list[bytes] = []
        # By position: the passage that a lineage shares with others, empty for none; and by passage its positions.
        self.passages: list[bytes] = []
        self.sharing: dict[bytes, list[int]] = {}
        # By lineage that is not here, but asked about a passage of those here: the passage; and by position those in its line.
        self.former: dict[bytes, bytes] = {}
        self.beside: dict[int, list[bytes]] = {}
        # Discipline: first position, and the one after the last.
        self.spans: dict[str, tuple[int, int]] = {}
        self.disciplines: list[str] = []

    def list_shared(self, position: int) -> list[bytes]:
        """What the line of a lineage says of its passage."""
        return [self.passages[position], *self.beside.get(position, ())] if self.passages[position] else []

    def list_read(self, lineage: bytes) -> Sequence[int]:
        """The positions of all that ask about the passage of a lineage, which may have left.

        Of a lineage without a passage its own position; of one that the file does not name none.
        """
        position = self.positions.get(lineage)
        passage = self.former.get(lineage, b"") if position is None else self.passages[position]
        if passage:
            return self.sharing[passage]
        return () if position is None else (position,)

    def find_span(self, discipline: str) -> tuple[int, int]:
        """The positions of a discipline."""
        return self.spans.get(discipline, (0, 0))


class Banks:
    """The bank files, each read once; of several the last few are kept."""

    KEPT = 3

    def __init__(self, folder: Folder, findings: Findings) -> None:
        self._folder, self._findings = folder, findings
        self._read: dict[str, Bank | None] = {}

    def get(self, root: str) -> Bank | None:
        """A bank by its root; null, and a fault, where it is not there or another."""
        if root not in self._read:
            name = f"banks/{root}.jsonl"
            while len(self._read) >= self.KEPT:
                del self._read[next(iter(self._read))]
            if self._folder.has(name):
                self._read[root] = self._findings.guard("bank_wrong", name, self._read_bank, root, name)
            else:
                self._findings.fault("file_missing", "a run was drawn from it, and it is not there", name)
                self._read[root] = None
        return self._read[root]

    def _read_bank(self, root: str, name: str) -> Bank:
        bank = Bank()
        lines = self._folder.iter_lines(name)
        header = require(parse_json(next(lines, b"")), {"bank_version": is_whole, "lineages": is_whole})
        former = ("", "")

        def iter_leaves() -> Iterator[bytes]:
            nonlocal former
            for line in lines:
                row = parse_json(line)
                more = len(row) - 4 if isinstance(row, list) else 0
                form = (is_hash, is_text, is_whole, is_hash, *[is_hash] * more)
                if not fits(row, form) or row[2] < 1:
                    raise Malformed(f"lineage {len(bank.lineages)} has not the form of one")
                if (row[1], row[0]) <= former:
                    raise Malformed(f"lineage {len(bank.lineages)} does not stand in its place")
                former = (row[1], row[0])
                lineage, slots_root = bytes.fromhex(row[0]), bytes.fromhex(row[3])
                position = len(bank.lineages)
                first = bank.spans.get(row[1], (position, position))[0]
                bank.spans[row[1]] = (first, position + 1)
                bank.positions[lineage] = position
                bank.lineages.append(lineage)
                bank.slots.append(row[2])
                bank.slots_roots.append(slots_root)
                shared = [bytes.fromhex(one) for one in row[4:]]
                passage = shared[0] if shared else b""
                bank.passages.append(passage)
                if passage:
                    bank.sharing.setdefault(passage, []).append(position)
                if len(shared) > 1:
                    bank.beside[position] = shared[1:]
                    bank.former.update(dict.fromkeys(shared[1:], passage))
                yield make_lineage_leaf(lineage, row[1], row[2], slots_root, shared)

        if compute_root(iter_leaves()).hex() != root:
            raise Malformed("the root of its lineages is another")
        if header["lineages"] != len(bank.lineages) or len(bank.positions) != len(bank.lineages):
            raise Malformed("it does not have the lineages that it counts")
        self._findings.count("bank_lineages", len(bank.lineages))
        self.version = header["bank_version"]
        return bank


def make_lineage_leaf(
    lineage: bytes, discipline: str, slots: int, slots_root: bytes, shared: list[bytes]
) -> bytes:
    """The leaf of a lineage in the tree of its bank."""
    return digest("proctor lineage", lineage, discipline, slots, slots_root, *shared)


def check_banks(log: Log, banks: Banks, folder: Folder, findings: Findings) -> None:
    """Check that the bank of every commit that stands is there.

    It must have the version and size that the commit states.
    """
    for run in log.runs.values():
        commit = run.commit
        if commit is None:
            continue
        said = commit.body["bank"]
        bank = banks.get(said["root"])
        if bank is None:
            continue
        name = "banks/{}.jsonl".format(said["root"])
        header = parse_json(next(folder.iter_lines(name), b""))
        if said["lineages"] != len(bank.lineages) or said["version"] != header["bank_version"]:
            findings.fault("bank_wrong", f"commit {commit.number} says another version or size", name)


# --- A disclosed run --------------------------------------------------------------------------------------------------


class KnownSet:
    """The questions of a set, by lineage.

    Attributes:
        drawn_in: the run that drew it; null when it is older than the log.
        lineages, disciplines, commitments: of each item.
        root: the root over its items.
        slots: of each item; null where another run drew the set.

    """

    def __init__(self, name: str, drawn_in: str | None, items: list[list[Any]]) -> None:
        self.name, self.drawn_in = name, drawn_in
        self.slots: list[int] | None = None
        self.lineages = [bytes.fromhex(item[0]) for item in items]
        self.disciplines = [item[1] for item in items]
        self.commitments = [bytes.fromhex(item[2]) for item in items]
        self.root = compute_root(
            digest("proctor item", *item) for item in zip(self.lineages, self.disciplines, self.commitments)
        )


class Session(NamedTuple):
    """A planned session."""

    model: str
    organisation: str
    set_name: str
    style: str
    repeat: int
    is_reference: bool
    order: Any


def check_disclosure(
    log: Log, run: Run, banks: Banks, folder: Folder, findings: Findings, earlier: list[Run]
) -> None:
    """Check everything that the disclosed files of a run state.

    It is checked in the order in which it follows. The runs in `earlier` were drawn before.
    """
    assert run.disclosure is not None
    inside = f"runs/{run.name}"
    check_files(folder, findings, inside, run.disclosure.body["files"], RUN_FILES)
    if run.commit is None or run.draw is None:
        return
    bank = banks.get(run.commit.body["bank"]["root"])

    def read(statement: str, name: str, check: Callable[..., Any], *given: Any) -> Any:
        path = f"{inside}/{name}"
        if not folder.has(path):
            return None
        return findings.guard(statement, path, check, run, path, folder, findings, *given)

    run.plan = read("plan_wrong", "plan.json", read_plan)
    run.seed = read("seed_wrong", "seed.json", read_seed)
    run.met = read("exclusions_wrong", "exclusions.json", read_exclusions, bank) or {}
    read("set_wrong", "sets.jsonl", read_sets, log, bank)
    if bank is not None and run.plan is not None and run.seed is not None and run.met:
        findings.guard("set_wrong", inside, check_draw, run, bank, findings, earlier)
    read("order_wrong", "orders.jsonl", read_orders, earlier, log)
    findings.count("runs")


def read_plan(run: Run, path: str, folder: Folder, findings: Findings) -> dict[str, Any]:
    """The plan, which the commit fixed."""
    assert run.commit is not None and run.draw is not None
    commit = run.commit.body
    raw = folder.read(path)
    if digest("proctor plan", sha256(raw).digest()).hex() != commit["plan_commitment"]:
        findings.fault("plan_wrong", "it is not the plan that was committed to", path)
    plan: dict[str, Any] = require(parse_json(raw), PLAN)
    for name, expected in (
        ("run", run.name),
        ("month", commit["month"]),
        ("bank_root", commit["bank"]["root"]),
    ):
        if plan[name] != expected:
            findings.fault("plan_wrong", f"`{name}` is not that of the commit", path)
    names = [planned["set"] for planned in plan["sets"]]
    numbers = [planned["number"] for planned in plan["sets"]]
    if len(set(names)) != len(names) or numbers != sorted(set(numbers)):
        findings.fault("plan_wrong", "its sets do not stand by number, each once", path)
    new = [planned for planned in plan["sets"] if planned["is_new"]]
    for planned in new:
        misfit = name_misfit(planned, NEW_SET)
        if not isinstance(planned.get("from_others", False), bool):
            misfit = "`from_others` is no such value"
        if misfit or any(anchors > count for _, count, anchors in planned["shares"]):
            raise Malformed("set {}: {}".format(planned["set"], misfit or "more anchors than questions"))
    if sorted(planned["set"] for planned in new) != sorted(drawn["set"] for drawn in run.draw.body["sets"]):
        findings.fault("plan_wrong", "its new sets are not those of the draw", path)
    return plan


def read_seed(run: Run, path: str, folder: Folder, findings: Findings) -> bytes:
    """The seed, mixed from the shares and the beacon."""
    assert run.commit is not None and run.draw is not None
    said = require(parse_json(folder.read(path)), SEED)
    share, seed = bytes.fromhex(said["share"]), bytes.fromhex(said["seed"])
    if digest("proctor share", share).hex() != run.commit.body["share_commitment"]:
        findings.fault("seed_wrong", "the operator's share is not the one that was committed to", path)
    beacon = run.draw.body["beacon"]
    shares = [entry.body["share"] for entry in run.shares if entry.body["commit"] == run.commit.number]
    mixed = digest(
        "proctor seed", share, *[bytes.fromhex(one) for one in shares], beacon["value"] if beacon else ""
    )
    if mixed != seed:
        findings.fault("seed_wrong", "it does not follow from the shares and the beacon", path)
    if digest("proctor seed commitment", seed).hex() != run.draw.body["seed_commitment"]:
        findings.fault("seed_wrong", "it is not the seed of the draw", path)
    if beacon is None and not shares:
        findings.note(
            f"Run {run.name}: the operator alone chose the seed (no beacon, no share of a candidate)."
        )
    return seed


def read_exclusions(
    run: Run, path: str, folder: Folder, findings: Findings, bank: Bank | None
) -> dict[str, bytes]:
    """Who had met what, as bitmaps over the positions of the bank."""
    assert run.commit is not None
    said = require(parse_json(folder.read(path)), EXCLUSIONS)
    if said["bank_root"] != run.commit.body["bank"]["root"]:
        findings.fault("exclusions_wrong", "`bank_root` is not that of the commit", path)
    names = [row["name"] for row in said["met"]]
    owners = names[:-3] if names[-3:-2] == ["rested"] else names[:-2]
    named = [name.startswith("organisation ") for name in owners]
    if names[-2:] != ["avoided", "asked"] or not all(named) or len(set(names)) != len(names):
        raise Malformed(
            "its names are not those of organisations, each once, then (rested,) avoided and asked"
        )
    met: dict[str, bytes] = {}
    leaves = []
    for row in said["met"]:
        bitmap = parse_base64(row["bitmap"])
        if bitmap is None:
            raise Malformed("{} has no bitmap".format(row["name"]))
        if bank is not None:
            count = len(bank.lineages)
            if len(bitmap) != (count + 7) // 8 or int.from_bytes(bitmap, "little") >> count:
                raise Malformed("the bitmap of {} has not the size of the bank".format(row["name"]))
        met[row["name"]] = bitmap
        leaves.append(digest("proctor met", row["name"], bytes.fromhex(row["salt"]), sha256(bitmap).digest()))
    if compute_root(leaves).hex() != run.commit.body["exclusions_root"]:
        findings.fault("exclusions_wrong", "its root is not the one that was committed to", path)
    return met


def read_sets(run: Run, path: str, folder: Folder, findings: Findings, log: Log, bank: Bank | None) -> None:
    """The questions of every set, held to the roots of the draws and to the bank."""
    assert run.draw is not None
    roots = {new["set"]: new["root"] for new in run.draw.body["sets"]}
    for line in folder.iter_lines(path):
        row = require(parse_json(line), SET)
        where = "set {} in {}".format(row["set"], path)
        if row["set"] in run.sets:
            raise Malformed("set {} stands twice".format(row["set"]))
        is_new = row["drawn_in"] == run.name
        if not fits(row["items"], [DRAWN_ITEM if is_new else KNOWN_ITEM]):
            raise Malformed("the items of set {} have not the form of items".format(row["set"]))
        known = KnownSet(row["set"], row["drawn_in"], row["items"])
        if any(first >= second for first, second in zip(known.lineages, known.lineages[1:])):
            findings.fault("set_wrong", "its items do not stand by lineage, each once", where)
        run.sets[known.name] = known
        findings.count("sets")
        if is_new or known.name in roots:
            if not is_new or roots.get(known.name) != known.root.hex():
                findings.fault("set_wrong", "its root is not that of the draw", where)
            if is_new:
                known.slots = [item[3] for item in row["items"]]
            if bank is not None and is_new:
                check_items(bank, known, row["items"], findings, where)
        elif known.drawn_in is None:
            if log.has_former_runs:
                findings.note(f"Set {known.name} is older than this log: its draw cannot be checked.")
            else:
                findings.fault(
                    "set_wrong", "it is said to be older than the log, which has no former runs", where
                )
        else:
            check_borrowed(log, run, known, findings, where)
    planned = {one["set"] for one in run.plan["sets"]} if run.plan else set()
    missing = sorted((set(roots) | planned) - set(run.sets))
    if missing:
        findings.fault("set_wrong", f"set {missing[0]} of the plan is not there", path)


def check_borrowed(log: Log, run: Run, known: KnownSet, findings: Findings, where: str) -> None:
    """A set of an earlier run is the one that was drawn then."""
    drawer = log.runs.get(known.drawn_in or "")
    assert run.draw is not None
    if drawer is None or drawer.draw is None or drawer.draw.number > run.draw.number:
        findings.fault("set_wrong", f"run {known.drawn_in}, which is to have drawn it, did not", where)
        return
    roots = {new["set"]: new["root"] for new in drawer.draw.body["sets"]}
    if roots.get(known.name) != known.root.hex():
        findings.fault("set_wrong", f"its root is not that of the draw of run {drawer.name}", where)


def check_items(bank: Bank, known: KnownSet, items: list[list[Any]], findings: Findings, where: str) -> None:
    """Every question of a set stands in the bank, in the slot that is named."""
    for lineage, item in zip(known.lineages, items):
        position = bank.positions.get(lineage)
        first, end = bank.find_span(item[1])
        if position is None or not first <= position < end:
            findings.fault("question_wrong", f"lineage {item[0]} is not in the bank", where)
            continue
        leaf = digest("proctor slot", bytes.fromhex(item[4]), bytes.fromhex(item[2]))
        path = [bytes.fromhex(one) for one in item[5]]
        if follow_path(leaf, item[3], bank.slots[position], path) != bank.slots_roots[position]:
            findings.fault(
                "question_wrong", f"the question of lineage {item[0]} is not in its slot of the bank", where
            )


def check_draw(run: Run, bank: Bank, findings: Findings, earlier: list[Run]) -> None:
    """Every new set follows from the seed."""
    assert run.plan is not None and run.seed is not None and run.draw is not None
    avoided = bytearray(run.met["avoided"])
    size = len(avoided)
    # What sets of this run have, with its slots: a set that is drawn from theirs avoids all else.
    taken: dict[int, int | None] = {}
    others = bytearray(b"\xff" * size)
    for planned in run.plan["sets"]:
        if not planned["is_new"]:
            continue
        name = planned["set"]
        where = f"set {name} of run {run.name}"
        excluded = 0
        for organisation in planned["drawn_for"]:
            bitmap = run.met.get(f"organisation {organisation}")
            if bitmap is None:
                findings.fault("exclusions_wrong", f"what {organisation} had met is not there", where)
            excluded |= int.from_bytes(bitmap or b"", "little")
        put_off = bytes(size) if run.plan["policy"] == "unique" else bytes(avoided)
        drawn = draw_set(
            bank,
            run.seed,
            name,
            planned["shares"],
            Marks(
                excluded.to_bytes(size, "little"),
                bytes(others) if planned.get("from_others") else put_off,
                run.met.get("rested", bytes(size)),
                run.met["asked"],
            ),
        )
        if planned.get("from_others"):
            drawn |= {position: taken[position] for position in drawn.keys() & taken.keys()}
        taken.update(drawn)
        for position in drawn:
            avoided[position >> 3] |= 1 << (position & 7)
            others[position >> 3] &= ~(1 << (position & 7)) & 0xFF
        known = run.sets.get(name)
        if known is None:
            continue
        if {bank.lineages[position] for position in drawn} != set(known.lineages):
            findings.fault("set_wrong", "its lineages are not those that follow from the seed", where)
            continue
        if sum(share[1] for share in planned["shares"]) != len(drawn):
            findings.fault("set_wrong", "the bank had too few lineages for its shares", where)
        check_slots(bank, known, drawn, findings, earlier, where)


def check_slots(
    bank: Bank,
    known: KnownSet,
    drawn: dict[int, int | None],
    findings: Findings,
    earlier: list[Run],
    where: str,
) -> None:
    """Check which question of its lineage each item is.

    It must be the question of its ticket or, for an anchor, the one that was put before.
    """
    if known.slots is None:
        return
    before: dict[bytes, set[bytes]] = {
        lineage: set() for lineage in known.lineages if drawn[bank.positions[lineage]] is None
    }
    if before:
        for former in earlier:
            for other in former.sets.values():
                for lineage, commitment in zip(other.lineages, other.commitments):
                    if lineage in before:
                        before[lineage].add(commitment)
    for lineage, commitment, slot in zip(known.lineages, known.commitments, known.slots):
        wanted = drawn[bank.positions[lineage]]
        if wanted is None:
            if before[lineage] and commitment not in before[lineage]:
                findings.fault(
                    "set_wrong", f"anchor {lineage.hex()} is put with another question than before", where
                )
        elif wanted != slot:
            findings.fault(
                "set_wrong",
                f"the question of lineage {lineage.hex()} is not the one that follows from the seed",
                where,
            )


class Marks(NamedTuple):
    """A bit for each position of the bank: what is met, avoided, rests, and was asked."""

    met: bytes
    avoided: bytes
    rested: bytes
    asked: bytes


def draw_set(
    bank: Bank,
    seed: bytes,
    name: str,
    shares: list[Any],
    marks: Marks,
) -> dict[int, int | None]:
    """The positions that are drawn, each with its slot; null for an anchor."""
    met, avoided, rested, asked = marks
    keys = [digest(tag, seed, name) for tag in ("proctor set", "proctor anchors", "proctor slots")]
    lineages = bank.lineages
    # The passages that the set has: each comes once, and again only where nothing else is left.
    held: set[bytes] = set()

    def take_lowest(key: bytes, positions: list[int], count: int) -> tuple[list[int], list[int]]:
        tickets = sorted((sha256(key + lineages[position]).digest(), position) for position in positions)
        chosen: list[int] = []
        again: list[int] = []
        for _, position in tickets:
            if len(chosen) == count:
                break
            passage = bank.passages[position]
            if passage and passage in held:
                again.append(position)
            else:
                chosen.append(position)
                held.add(passage)
        return chosen, again

    drawn: dict[int, int | None] = {}
    for discipline, count, anchor_count in shares:
        first, end = bank.find_span(discipline)
        allowed = [place for place in range(first, end) if not met[place >> 3] >> (place & 7) & 1]
        anchors: set[int] = set()
        if anchor_count:
            known = [place for place in allowed if asked[place >> 3] >> (place & 7) & 1]
            linking, again = take_lowest(keys[1], known, anchor_count)
            anchors = {*linking, *again[: anchor_count - len(linking)]}
        rest = [place for place in allowed if place not in anchors] if anchors else allowed
        wanted = count - len(anchors)
        # Those that nothing puts off, then those that are avoided only, then those that rest.
        tiers: list[list[int]] = [[], [], []]
        for place in rest:
            if rested[place >> 3] >> (place & 7) & 1:
                tiers[2].append(place)
            else:
                tiers[avoided[place >> 3] >> (place & 7) & 1].append(place)
        others: list[int] = []
        repeated: list[int] = []
        for tier in tiers:
            if len(others) < wanted:
                chosen, again = take_lowest(keys[0], tier, wanted - len(others))
                others += chosen
                repeated += again
        for place in others + repeated[: wanted - len(others)]:
            ticket = sha256(keys[2] + lineages[place]).digest()
            drawn[place] = int.from_bytes(ticket[:8], "big") % bank.slots[place]
        for place in anchors:
            drawn[place] = None
    return drawn


def read_orders(
    run: Run, path: str, folder: Folder, findings: Findings, earlier: list[Run], log: Log
) -> None:
    """Who sits what in which order: the sessions of the draw, each order from the seed."""
    assert run.commit is not None and run.draw is not None
    leaves = []
    last = None
    owners = {row["model"]: row["organisation"] for row in run.plan["candidates"]} if run.plan else None
    planned = {row["set"] for row in run.plan["sets"]} if run.plan else None
    for line in folder.iter_lines(path):
        row = require(parse_json(line), ORDER)
        session, order, set_name = row["session"], row["order"], row["set"]
        where = f"session {session} in {path}"
        if last is not None and session <= last:
            findings.fault("order_wrong", "the sessions do not stand by name, each once", where)
        last = session
        numbers = ",".join(map(str, order))
        leaves.append(
            digest(
                "proctor order", session, set_name, row["style"], row["model"], row["organisation"], numbers
            )
        )
        if owners is not None and owners.get(row["model"]) != row["organisation"]:
            findings.fault(
                "session_unknown",
                "{} of {} is no candidate of the plan".format(row["model"], row["organisation"]),
                where,
            )
        known = run.sets.get(set_name)
        if planned is not None and set_name not in planned:
            findings.fault("order_wrong", f"its set {set_name} is not among those of the plan", where)
        # Where a set is not there, that is the fault of its file.
        elif known is not None and run.seed is not None:
            key = digest("proctor order", run.seed, session)
            wanted = sorted(
                range(len(known.lineages)),
                key=[sha256(key + one).digest() for one in known.lineages].__getitem__,
            )
            if wanted != order:
                findings.fault("order_wrong", "its order is not the one that follows from the seed", where)
        if row["is_reference"] and run.plan:
            check_is_reference(run, row["model"], findings, earlier, log, where)
        run.sessions[session] = Session(
            row["model"],
            row["organisation"],
            set_name,
            row["style"],
            row["repeat"],
            row["is_reference"],
            array("Q", order),
        )
        findings.count("planned_sessions")
    if compute_root(leaves).hex() != run.draw.body["orders_root"]:
        findings.fault("order_wrong", "its root is not that of the draw", path)
    if len(leaves) != run.commit.body["session_count"]:
        findings.fault(
            "order_wrong",
            "the commit counts {} sessions, and here are {}".format(
                run.commit.body["session_count"], len(leaves)
            ),
            path,
        )
    sitting = {planned.model for planned in run.sessions.values() if not planned.is_reference}
    if len(sitting) != run.commit.body["candidate_count"]:
        findings.fault(
            "plan_wrong",
            "the commit counts {} candidates, and {} sit".format(
                run.commit.body["candidate_count"], len(sitting)
            ),
            path,
        )
    sat = {planned.set_name for planned in run.sessions.values()}
    for name in sorted(set(run.sets) - sat):
        findings.fault("set_wrong", f"no session sits set {name}", path)


def check_is_reference(
    run: Run, model: str, findings: Findings, earlier: list[Run], log: Log, where: str
) -> None:
    """Who sits as the reference is that of the plan, or one of before to which it is bridged."""
    assert run.plan is not None
    known = {run.plan["reference_model"]}
    known |= {
        former.plan["reference_model"]
        for former in earlier
        if former.plan and former.is_simulated == run.is_simulated
    }
    if model in known:
        return
    if log.has_former_runs or has_undisclosed(log, run):
        findings.note(f"Run {run.name}: whether {model} was the reference before cannot be checked.")
    else:
        findings.fault("session_unknown", f"{model} sits as the reference, and is none", where)


def has_undisclosed(log: Log, run: Run) -> bool:
    """Whether a run of the same kind that was committed to before is not known as a whole."""
    assert run.commit is not None
    return any(
        not other.is_known
        and other.commits[0].number < run.commit.number
        and other.is_simulated == run.is_simulated
        for other in log.runs.values()
        if other.commits and other is not run
    )


# --- Who met what -----------------------------------------------------------------------------------------------------


class Meeting(NamedTuple):
    """That an organisation met a set in a run."""

    run: Run
    known: KnownSet
    is_candidate: bool


def check_meetings(log: Log, runs: list[Run], banks: Banks, findings: Findings) -> None:
    """Check that no organisation meets a lineage twice.

    The bitmaps of every run must have what was met before.
    """
    # Kind of run and organisation: lineage, when it was last met, and in which run.
    met: dict[tuple[bool, str], dict[bytes, tuple[datetime, Run]]] = {}
    for run in runs:
        assert run.draw is not None and run.commit is not None
        findings.guard(
            "exclusions_wrong",
            f"runs/{run.name}/exclusions.json",
            check_bitmaps,
            log,
            run,
            banks,
            findings,
            met,
        )
        bound = find_rest_bound(run)
        bank = banks.get(run.commit.body["bank"]["root"])
        for organisation, sitting in sorted(list_meetings(run).items()):
            before = met.setdefault((run.is_simulated, organisation), {})
            now: dict[bytes, str] = {}
            for meeting in sitting:
                if meeting.is_candidate:
                    check_meeting(meeting, organisation, before, now, bound, findings)
                    if bank is not None and bank.sharing:
                        check_siblings(meeting, organisation, before, bank, bound, findings)
            for meeting in sitting:
                for lineage in meeting.known.lineages:
                    before[lineage] = (run.draw.at, run)


def list_meetings(run: Run) -> dict[str, list[Meeting]]:
    """The sets that each organisation meets in a run, each once.

    What a candidate sits stands before what the reference sits.
    """
    found: dict[str, dict[str, bool]] = {}
    for session in run.sessions.values():
        sets = found.setdefault(session.organisation, {})
        sets[session.set_name] = sets.get(session.set_name, False) or not session.is_reference
    return {
        organisation: [
            Meeting(run, run.sets[name], is_candidate)
            for name, is_candidate in sorted(sets.items())
            if name in run.sets
        ]
        for organisation, sets in found.items()
    }


def check_meeting(
    meeting: Meeting,
    organisation: str,
    before: dict[bytes, tuple[datetime, Run]],
    now: dict[bytes, str],
    bound: datetime | None,
    findings: Findings,
) -> None:
    """Check that a set has nothing that the organisation has met already.

    Candidates of the organisation sit the set; it may have nothing that the organisation met in an earlier run or
    in another set of this one.
    """
    again: dict[str, int] = {}
    for lineage in meeting.known.lineages:
        if lineage in now:
            where = f"set {now[lineage]} of the same run"
            again[where] = again.get(where, 0) + 1
        elif lineage in before:
            at, former = before[lineage]
            if bound is None or at >= bound:
                again[f"run {former.name}"] = again.get(f"run {former.name}", 0) + 1
        now[lineage] = meeting.known.name
    for where, count in sorted(again.items()):
        findings.fault(
            "lineage_met_twice",
            f"{organisation} meets {count} lineages again that it met in {where}",
            f"set {meeting.known.name} of run {meeting.run.name}",
        )


def check_siblings(
    meeting: Meeting,
    organisation: str,
    before: dict[bytes, tuple[datetime, Run]],
    bank: Bank,
    bound: datetime | None,
    findings: Findings,
) -> None:
    """Check that a set has no passage that was met in an earlier run by another lineage."""
    again: dict[str, int] = {}
    own = set(meeting.known.lineages)
    for passage in {bank.passages[bank.positions[lineage]] for lineage in own if lineage in bank.positions}:
        places = bank.sharing.get(passage, ())
        for lineage in (
            one for place in places for one in (bank.lineages[place], *bank.beside.get(place, ()))
        ):
            if lineage in before and lineage not in own:
                at, former = before[lineage]
                if bound is None or at >= bound:
                    again[former.name] = again.get(former.name, 0) + 1
                    break
    for name, count in sorted(again.items()):
        findings.fault(
            "lineage_met_twice",
            f"{organisation} meets {count} passages again that it met in run {name}",
            f"set {meeting.known.name} of run {meeting.run.name}",
        )


def find_rest_bound(run: Run) -> datetime | None:
    """What was met before this moment may have rested for a run; null when nothing ever returns."""
    assert run.commit is not None
    months = run.plan["rest_months"] if run.plan else None
    if months is None:
        return None
    at = run.commit.at
    year, month = divmod(at.year * 12 + at.month - 1 - months, 12)
    if year < 1:
        return datetime(1, 1, 1)
    return datetime(year, month + 1, min(at.day, 28))


def check_bitmaps(
    log: Log,
    run: Run,
    banks: Banks,
    findings: Findings,
    met: dict[tuple[bool, str], dict[bytes, tuple[datetime, Run]]],
) -> None:
    """Check that the bitmaps of a run have exactly what its organisations met before.

    That is what they met in runs drawn before this run was committed to, and nothing else.
    """
    assert run.commit is not None
    if not run.met:
        return
    bank = banks.get(run.commit.body["bank"]["root"])
    if bank is None:
        return
    path = f"runs/{run.name}/exclusions.json"
    bound = find_rest_bound(run)
    for name, bitmap in run.met.items():
        if not name.startswith("organisation "):
            continue
        organisation = name[len("organisation ") :]
        missing, known = 0, bytearray(len(bitmap))
        for lineage, (at, former) in met.get((run.is_simulated, organisation), {}).items():
            is_before = former.draw is not None and former.draw.number < run.commit.number
            # Whoever has met a lineage has met its passage, and so all that ask about it.
            for place in bank.list_read(lineage):
                known[place >> 3] |= 1 << (place & 7)
                if is_before and (bound is None or at >= bound):
                    missing += not bitmap[place >> 3] >> (place & 7) & 1
        if missing:
            findings.fault(
                "exclusions_wrong",
                f"{organisation} had met {missing} lineages that its bitmap lacks",
                path,
            )
        if int.from_bytes(bitmap, "little") & ~int.from_bytes(known, "little"):
            if log.has_former_runs or has_undisclosed(log, run):
                findings.note(f"Run {run.name}: what else {organisation} had met cannot be checked yet.")
            else:
                findings.fault(
                    "exclusions_wrong", f"the bitmap of {organisation} has lineages that it never met", path
                )
    for organisation, sitting in list_meetings(run).items():
        if any(meeting.is_candidate for meeting in sitting) and f"organisation {organisation}" not in run.met:
            findings.fault("exclusions_wrong", f"what {organisation} had met is not there", path)


# --- Editions --------------------------------------------------------------------------------------------------------


class Tally:
    """The stars of one model in one style.

    They map a question to [sum, sessions, sessions whose judgement could be read].
    """

    def __init__(self) -> None:
        self.questions: dict[int, list[int]] = {}
        self.is_whole = True

    def leave_out(self, pictured: dict[int, bool]) -> Tally:
        """The same without the questions that show a picture."""
        text = Tally()
        text.is_whole = self.is_whole
        text.questions = {number: cell for number, cell in self.questions.items() if not pictured[number]}
        return text


class Questions:
    """Numbers for questions (a commitment with its lineage), the same in all sets."""

    def __init__(self) -> None:
        self._numbers: dict[bytes, int] = {}
        self.disciplines: list[str] = []
        self._of_sets: dict[bytes, list[int]] = {}

    def number(self, known: KnownSet) -> list[int]:
        """The numbers of the questions of a set."""
        if known.root not in self._of_sets:
            self._of_sets[known.root] = [
                self._find(lineage + commitment, discipline)
                for lineage, commitment, discipline in zip(
                    known.lineages, known.commitments, known.disciplines
                )
            ]
        return self._of_sets[known.root]

    def _find(self, key: bytes, discipline: str) -> int:
        if key not in self._numbers:
            self._numbers[key] = len(self.disciplines)
            self.disciplines.append(discipline)
        return self._numbers[key]


class EditionCheck:
    """One edition: its sessions line by line, then its scores."""

    def __init__(
        self, log: Log, run: Run, entry: Entry, findings: Findings, kept: dict[str, list[list[str | None]]]
    ) -> None:
        self.log, self.run, self.entry, self.findings = log, run, entry, findings
        self.kept = kept
        self.inside = "editions/{}-{}".format(run.name, entry.body["revision"])
        self.said: dict[str, Any] | None = None
        self.questions = Questions()
        self.tallies: dict[tuple[str, str], Tally] = {}
        self.question_count = 0
        self.unanswered_count = 0
        # Whether a question shows a picture, as its first session says.
        self.pictured: dict[int, bool] = {}
        self.seen: set[str] = set()
        self.is_read = False

    def check(self, folder: Folder) -> None:
        """Files, sessions, roots and scores."""
        check_files(folder, self.findings, self.inside, self.entry.body["files"], EDITION_FILES)
        path = self.inside + "/edition.json"
        if folder.has(path):
            self.said = self.findings.guard("score_wrong", path, self.read_edition, folder, path)
        path = self.inside + "/sessions.jsonl"
        if folder.has(path):
            self.findings.guard("answers_wrong", path, self.read_sessions, folder, path)
        if self.said is not None and self.is_read:
            self.findings.guard("score_wrong", self.inside, self.check_scores)
        self.findings.count("editions")

    def read_edition(self, folder: Folder, path: str) -> dict[str, Any]:
        """What the edition says of itself, held to its entry and to the plan."""
        said: dict[str, Any] = require(parse_json(folder.read(path)), EDITION)
        for name in ("edition", "run", "revision", "overridden", "override_reason"):
            if said.get(name, self.entry.body[name]) != self.entry.body[name]:
                self.findings.fault(
                    "revision_wrong", f"`{name}` is not that of entry {self.entry.number}", path
                )
        if self.run.commit is not None and said["month"] != self.run.commit.body["month"]:
            self.findings.fault("score_wrong", "the month is not that of the run", path)
        if (
            self.run.commit is not None
            and said.get("is_simulated", self.run.is_simulated) != self.run.is_simulated
        ):
            self.findings.fault("score_wrong", "whether it is a simulation is said wrongly", path)
        plan = self.run.plan
        if plan is not None:
            if said["reference_model"] != plan["reference_model"]:
                self.findings.fault("score_wrong", "the reference is not that of the plan", path)
            same = set(said["weights"]) == set(plan["weights"]) and all(
                abs(weight - plan["weights"][name]) <= 1e-9 for name, weight in said["weights"].items()
            )
            if not same:
                self.findings.fault("score_wrong", "the weights are not those of the plan", path)
        return said

    def read_sessions(self, folder: Folder, path: str) -> None:
        """Every session that speaks, and the roots over all of them."""
        answers, judgements = [], []
        last = None
        for line in folder.iter_lines(path):
            row = require(parse_json(line), SPEAKER)
            name = row["session"]
            where = "session {} of edition {}".format(name, self.entry.body["edition"])
            if last is not None and name <= last:
                self.findings.fault("session_unknown", "the sessions do not stand by name, each once", where)
            last = name
            self.seen.add(name)
            if len(row["stars"]) != len(row["answers"]) or set(row["stars"]) - STARS:
                self.findings.fault("judgements_wrong", "it has not a star for every question", where)
            root = compute_root(
                digest("proctor answer", name, seq, bytes.fromhex(answer))
                for seq, answer in enumerate(row["answers"], start=1)
                if answer is not None
            )
            answers.append(digest("proctor session answers", name, root))
            judgements.append(digest("proctor judgements", name, row["stars"]))
            self.check_session(row, root, where)
            if name in self.kept:
                self.kept[name].append(row["answers"])
            self.findings.count("sessions")
            self.findings.count("answers", sum(answer is not None for answer in row["answers"]))
        self.is_read = True
        if compute_root(answers).hex() != self.entry.body["answers_root"]:
            self.findings.fault(
                "answers_wrong", f"the root of the answers is not that of entry {self.entry.number}", path
            )
        if compute_root(judgements).hex() != self.entry.body["judgements_root"]:
            self.findings.fault(
                "judgements_wrong",
                f"the root of the judgements is not that of entry {self.entry.number}",
                path,
            )
        for session, close in sorted(self.run.closes.items()):
            if session not in self.seen and close.number < self.entry.number:
                self.findings.fault(
                    "session_missing",
                    "session {} was closed and is not in edition {}".format(
                        session, self.entry.body["edition"]
                    ),
                    path,
                )

    def check_session(self, row: dict[str, Any], root: bytes, where: str) -> None:
        """A session is one that was planned, closed with these answers, and judged."""
        sat_in = self.log.runs.get(row["sat_in_run"])
        tally = self.tallies.setdefault((row["model"], row["style"]), Tally())
        if sat_in is None or not sat_in.commits:
            tally.is_whole = tally.is_whole and not row["is_complete"]
            if not self.log.has_former_runs:
                self.findings.fault(
                    "session_unknown", "run {} is not in the log".format(row["sat_in_run"]), where
                )
            else:
                self.findings.note(
                    "Session {} was sat in run {}, before this log began.".format(
                        row["session"], row["sat_in_run"]
                    )
                )
        if sat_in is not None:
            self.check_answers(row, root, sat_in, where)
        reference = self.said["reference_model"] if self.said else None
        if self.said and row["is_reference"] != (row["model"] == reference):
            self.findings.fault("session_unknown", "whether it is the reference's is said wrongly", where)
        if row["sat_in_run"] != self.run.name:
            is_apart = sat_in is not None and sat_in.commits and sat_in.is_simulated != self.run.is_simulated
            if not row["is_reference"] or is_apart:
                self.findings.fault(
                    "session_unknown",
                    "it was sat in run {}, and only the reference's serve again".format(row["sat_in_run"]),
                    where,
                )
        if "-" in row["stars"] and row["is_complete"]:
            self.findings.fault(
                "judgements_wrong", "it counts as complete with answers that were not judged", where
            )
        if sat_in is None or not sat_in.commits:
            return
        if sat_in.plan is None or not sat_in.sessions:
            tally.is_whole = tally.is_whole and not row["is_complete"]
            self.findings.note(
                "Run {} is not disclosed, or not wholly here: its sessions in edition {} cannot be recomputed.".format(
                    sat_in.name, self.entry.body["edition"]
                )
            )
            return
        self.check_planned(row, sat_in, tally, where)

    def check_answers(self, row: dict[str, Any], root: bytes, sat_in: Run, where: str) -> None:
        """Check that the answers are those with which the session was closed.

        A session is complete when it is closed and wholly judged.
        """
        close = sat_in.closes.get(row["session"])
        if close is None or close.number > self.entry.number:
            if row["is_complete"] and sat_in.commits:
                self.findings.fault("session_missing", "it counts, and was not closed before", where)
            return
        count = sum(answer is not None for answer in row["answers"])
        if close.body["answers_root"] != root.hex() or close.body["answer_count"] != count:
            self.findings.fault("answers_wrong", "its answers are not those with which it was closed", where)
        if close.body["question_count"] != len(row["answers"]):
            self.findings.fault("answers_wrong", "it was closed with another number of questions", where)
        if row["stars"] and "-" not in row["stars"] and not row["is_complete"]:
            self.findings.fault("judgements_wrong", "it is closed and judged, and does not count", where)

    def check_planned(self, row: dict[str, Any], sat_in: Run, tally: Tally, where: str) -> None:
        """A session of a disclosed run is one of its plan; its stars are counted."""
        planned = sat_in.sessions.get(row["session"])
        if planned is None:
            self.findings.fault("session_unknown", f"run {sat_in.name} did not plan it", where)
            tally.is_whole = tally.is_whole and not row["is_complete"]
            return
        said = (row["model"], row["organisation"], row["set"], row["style"], row["repeat"])
        if said != planned[:5]:
            self.findings.fault("session_unknown", "it is not whose, what or how it was planned", where)
        known = sat_in.sets.get(planned.set_name)
        if known is None:
            tally.is_whole = tally.is_whole and not row["is_complete"]
            return
        stars = row["stars"]
        if len(stars) != len(known.lineages) or len(row["answers"]) != len(known.lineages):
            self.findings.fault(
                "judgements_wrong", "it has not a star and an answer for every question of its set", where
            )
            tally.is_whole = tally.is_whole and not row["is_complete"]
            return
        self.question_count += len(stars)
        self.unanswered_count += stars.count("u")
        for place, answer in zip(planned.order, row["answers"]):
            if place < len(stars) and (answer is None) != (stars[place] == "u"):
                self.findings.fault(
                    "judgements_wrong", "`u` does not stand exactly where there is no answer", where
                )
                break
        pictures = row.get("pictures", [])
        if not fits(pictures, [is_whole]) or sorted(set(pictures) & set(range(len(stars)))) != pictures:
            self.findings.fault("score_wrong", "its `pictures` are not places of its set", where)
            pictures = []
        marked = set(pictures)
        for place, number in enumerate(self.questions.number(known)):
            if self.pictured.setdefault(number, place in marked) != (place in marked):
                self.findings.fault(
                    "score_wrong", "a question has a picture in one session and none in another", where
                )
                break
        if row["is_complete"]:
            questions = tally.questions
            for number, star in zip(self.questions.number(known), stars):
                cell = questions.get(number)
                if cell is None:
                    cell = questions[number] = [0, 0, 0]
                cell[0] += VALUES.get(star, 0)
                cell[1] += 1
                cell[2] += star != "x"

    def check_scores(self) -> None:
        """S, R and their counts follow from the stars, for every model and style."""
        assert self.said is not None
        if self.unanswered_count:
            self.findings.note(
                "edition {}: {} of {} questions were not answered and count 0".format(
                    self.entry.body["edition"], self.unanswered_count, self.question_count
                )
            )
        scope, series = self.said.get("picture_scope"), self.said.get("series", [])
        shape = [{**SCORE, "series": is_text}]
        if not fits(series, shape) or any(row["series"] not in SERIES for row in series):
            self.findings.fault(
                "score_wrong", "`series` is no list of scores with and without pictures", self.inside
            )
            return
        told = {row["series"] for row in series}
        if scope not in ((TEXT_ONLY, "pictures") if any(self.pictured.values()) else (None, *SERIES[:2])) or (
            scope == "pictures" and "alt_text" in told
        ):
            self.findings.fault(
                "score_wrong", "its scores mix candidates that saw pictures and others", self.inside
            )
        self.check_lines(self.said["scores"], scope == TEXT_ONLY, None, "")
        for name in SERIES if scope is not None else ():
            rows = [row for row in series if row["series"] == name]
            keys = None if name == TEXT_ONLY else {(row["model"], row["style"]) for row in rows}
            self.check_lines(rows, name == TEXT_ONLY, keys, f", series {name}")

    def check_lines(
        self,
        rows: list[dict[str, Any]],
        is_text_only: bool,
        keys: set[tuple[str, str]] | None,
        of_series: str,
    ) -> None:
        """The scores of one way of counting.

        Those of some models and styles alone where `keys` names them.
        """
        assert self.said is not None
        weights = {name: weight for name, weight in self.said["weights"].items() if weight > 0}
        printed: dict[tuple[str, str], dict[str, Any]] = {}
        for line in rows:
            if (line["model"], line["style"]) in printed:
                self.findings.fault(
                    "score_wrong",
                    "{} in style {} has two scores".format(line["model"], line["style"]),
                    self.inside,
                )
            printed[line["model"], line["style"]] = line
        tallies = {
            key: tally.leave_out(self.pictured) if is_text_only else tally
            for key, tally in self.tallies.items()
            if keys is None or key in keys
        }
        for key, tally in sorted(tallies.items()):
            row = printed.pop(key, None)
            where = "{} in style {} of edition {}{}".format(
                key[0], key[1], self.entry.body["edition"], of_series
            )
            if not tally.is_whole:
                continue
            reference = tallies.get((self.said["reference_model"] or "", key[1]), Tally())
            self.check_score(row, tally, reference, weights, key[0] == self.said["reference_model"], where)
        for (model, style), row in sorted(printed.items()):
            if (
                row["score"] is not None
                or row["relative_score"] is not None
                or row["question_count"]
                or row["pair_count"]
            ):
                self.findings.fault(
                    "score_wrong", f"{model} has a score in style {style} and no session", self.inside
                )

    def check_score(
        self,
        row: dict[str, Any] | None,
        tally: Tally,
        reference: Tally,
        weights: dict[str, float],
        is_reference: bool,
        where: str,
    ) -> None:
        """One printed score beside its recomputation."""
        disciplines = self.questions.disciplines
        cells = [(disciplines[number], number, cell) for number, cell in tally.questions.items()]
        cells = [cell for cell in cells if cell[0] in weights]
        if not cells:
            if row is not None and (row["score"] is not None or row["question_count"]):
                self.findings.fault("score_wrong", "it has a score and no stars", where)
            return
        if row is None:
            self.findings.fault("score_wrong", "it has stars and no score", where)
            return
        score = weigh(weights, ((discipline, cell[0] / cell[1]) for discipline, _, cell in cells))
        self.compare("score", row["score"], None if score is None else score / 3 * 100, where)
        self.compare("question_count", row["question_count"], sum(cell[1] for _, _, cell in cells), where)
        if not reference.is_whole:
            return
        pairs = []
        for discipline, number, cell in cells:
            other = reference.questions.get(number)
            if other is not None and other[2]:
                count = cell[2] if is_reference else cell[1]
                pairs.append((discipline, cell[0] / count, other[0] / other[2], count))
        above = weigh(weights, ((pair[0], pair[1]) for pair in pairs))
        below = weigh(weights, ((pair[0], pair[2]) for pair in pairs))
        relative = None if above is None or not below else above / below * 100
        self.compare("relative_score", row["relative_score"], relative, where)
        self.compare("pair_count", row["pair_count"], sum(pair[3] for pair in pairs), where)

    def compare(self, name: str, printed: float | None, found: float | None, where: str) -> None:
        """A printed number beside the one that was found."""
        if (printed is None) != (found is None) or (
            printed is not None and found is not None and abs(printed - found) > TOLERANCE
        ):
            self.findings.fault("score_wrong", f"`{name}` is {printed}, and the stars say {found}", where)


def weigh(weights: dict[str, float], values: Iterable[tuple[str, float]]) -> float | None:
    """The weighted sum of the disciplines' means; null when one that has weight has no value."""
    sums: dict[str, list[float]] = {}
    for discipline, value in values:
        cell = sums.setdefault(discipline, [0.0, 0.0])
        cell[0] += value
        cell[1] += 1
    if set(weights) - set(sums):
        return None
    return sum(weight * sums[name][0] / sums[name][1] for name, weight in weights.items())


# --- Disclosed questions and receipts ---------------------------------------------------------------------------------


def check_question(log: Log, entry: Entry, banks: Banks, folder: Folder, findings: Findings) -> None:
    """A disclosed question is what was committed to: in the bank, and in the sets that it names."""
    path = "questions/{}".format(entry.body["file"])
    check_files(folder, findings, "questions", {entry.body["file"]: entry.body["sha256"]}, ())
    if not folder.has(path):
        return
    said = require(parse_json(folder.read(path)), QUESTION)
    commitment = bytes.fromhex(said["commitment"])
    if said["commitment"] != entry.body["commitment"]:
        raise Malformed(f"its commitment is not that of entry {entry.number}")
    if digest("proctor question", bytes.fromhex(said["salt"]), said["content"]) != commitment:
        raise Malformed("its content and salt are not what was committed to")
    pictures = {name: name[: -len(PICTURE)] for name in list_pictures(said["content"])}
    check_files(folder, findings, "questions", pictures, ())
    roots = {commit.body["bank"]["root"] for run in log.runs.values() for commit in run.commits}
    if said["bank_root"] not in roots:
        raise Malformed("its bank is none that a run was committed to")
    bank = banks.get(said["bank_root"])
    if bank is None:
        return
    lineage = bytes.fromhex(said["lineage"])
    position = bank.positions.get(lineage)
    if position is None or bank.slots[position] != said["slots"]:
        raise Malformed("its lineage is not in the bank")
    leaf = digest("proctor slot", bytes.fromhex(said["slot_salt"]), commitment)
    slots_root = follow_path(leaf, said["slot"], said["slots"], [bytes.fromhex(one) for one in said["path"]])
    if slots_root != bank.slots_roots[position]:
        raise Malformed("it is not in its slot of the bank")
    leaf = make_lineage_leaf(
        lineage, said["discipline"], said["slots"], slots_root, bank.list_shared(position)
    )
    path_up = [bytes.fromhex(one) for one in said["lineage_path"]]
    if follow_path(leaf, position, len(bank.lineages), path_up) != bytes.fromhex(said["bank_root"]):
        raise Malformed("its lineage does not lead to the root of the bank")
    holding, known = set(), set()
    for run in log.runs.values():
        for each in run.sets.values():
            known.add(each.name)
            if any(pair == (lineage, commitment) for pair in zip(each.lineages, each.commitments)):
                holding.add((each.name, run.disclosure.number if run.disclosure else 0))
    names = {name for name, _ in holding}
    for name in said["sets"]:
        if name in known and name not in names:
            raise Malformed(f"set {name} does not have it")
    left_out = sorted({name for name, number in holding if number < entry.number} - set(said["sets"]))
    if left_out:
        raise Malformed(f"set {left_out[0]} has it, and is not named")


def list_pictures(content: str) -> list[str]:
    """The files of the pictures that a disclosed question's content names, by hash."""
    value = parse_json(content.encode("utf-8"))
    named = value.get("pictures", []) if isinstance(value, dict) else []
    if not isinstance(named, list) or not all(
        isinstance(one, dict) and is_hash(one.get("sha256")) for one in named
    ):
        raise Malformed("what it says of pictures has not the form of one")
    return sorted({one["sha256"] + PICTURE for one in named})


def read_receipts(path: str, findings: Findings) -> list[tuple[str, dict[str, Any]]]:
    """The receipts of a file, each with where it stands: alone, or as `receipt` of a reply."""
    found = []
    for place, value in enumerate(iter_values(path), start=1):
        where = f"receipt {place} of {path}"
        body = value
        if isinstance(value, dict) and isinstance(value.get("receipt"), dict):
            body = dict(value["receipt"])
            body.setdefault("session_id", value.get("session_id"))
        misfit = name_misfit(body, RECEIPT)
        if misfit:
            findings.fault("receipt_wrong", misfit, where)
        else:
            found.append((where, body))
        findings.count("receipts")
    if not found and not findings.counts.get("receipt_wrong"):
        findings.note(f"{path} holds no receipt.")
    return found


def check_receipt(
    log: Log,
    receipt: dict[str, Any],
    where: str,
    kept: dict[str, list[list[str | None]]],
    findings: Findings,
) -> None:
    """A receipt is signed by a key of the log, and its answer is among those of its session."""
    session, seq = receipt["session_id"], receipt["seq"]
    signature = parse_base64(receipt.get("signature"))
    signed = json.dumps(
        {name: receipt[name] for name in ("answer_sha256", "entry", "head", "seq", "session_id")},
        sort_keys=True,
        separators=(",", ":"),
    ).encode()
    if signature is None or not any(is_signed(key, signature, signed) for key, _ in log.keys.values()):
        raise Malformed("no key of the log signed it")
    editions = kept.get(session, [])
    for answers in editions:
        if not 1 <= seq <= len(answers) or answers[seq - 1] != receipt["answer_sha256"]:
            raise Malformed(f"answer {seq} is not in the root of session {session}")
    if editions:
        return
    is_known = any(session in run.opens or session in run.closes for run in log.runs.values())
    if is_known or log.has_former_runs:
        findings.note(
            f"{where}: its signature is good; the answers of session {session} are in no edition yet."
        )
    else:
        raise Malformed(f"session {session} is not in the log")


# --- All of it -------------------------------------------------------------------------------------------------------


def verify(
    root: str,
    receipts: Sequence[str] = (),
    heads: Sequence[str] = (),
    key: str = "",
    report: Callable[[str], None] = lambda text: None,
) -> Findings:
    """Check a published folder.

    `report` is called with what comes next. Raises OSError for a given file that cannot be read.
    """
    findings = Findings()
    folder = Folder(root)
    report("the log")
    log = read_log(folder, findings)
    if not log.hashes:
        return findings
    findings.guard("head_wrong", "heads.jsonl", check_heads, log, folder, findings, key)
    for path in heads:
        check_given_heads(log, findings, path)
    given = [receipt for path in receipts for receipt in read_receipts(path, findings)]
    kept: dict[str, list[list[str | None]]] = {receipt["session_id"]: [] for _, receipt in given}
    findings.guard("log_broken", "log.jsonl", sort_entries, log, findings)
    note_dates(log, findings)
    report("the banks")
    banks = Banks(folder, findings)
    findings.guard("bank_wrong", "banks", check_banks, log, banks, folder, findings)
    disclosed = check_runs(log, banks, folder, findings, report)
    report("who met what")
    findings.guard("lineage_met_twice", "runs", check_meetings, log, disclosed, banks, findings)
    for entry in log.entries:
        if entry.kind == "edition":
            report("edition {}".format(entry.body["edition"]))
            check = EditionCheck(log, log.find_run(entry.body["run"]), entry, findings, kept)
            findings.guard("score_wrong", check.inside, check.check, folder)
            findings.grades[entry.body["edition"]] = grade_edition(log, entry)
            findings.replaced.add(str(entry.body["replaces"]))
        elif entry.kind == "question":
            where = "questions/{}".format(entry.body["file"])
            findings.guard("question_wrong", where, check_question, log, entry, banks, folder, findings)
            findings.count("questions")
    report("receipts")
    for where, receipt in given:
        findings.guard("receipt_wrong", where, check_receipt, log, receipt, where, kept, findings)
    findings.guard("file_changed", root, note_strangers, log, folder, findings)
    return findings


def check_runs(
    log: Log, banks: Banks, folder: Folder, findings: Findings, report: Callable[[str], None]
) -> list[Run]:
    """Check every run that was disclosed, in the order in which they were drawn; returns them."""
    runs = sorted(log.runs.values(), key=lambda run: run.draw.number if run.draw else 0)
    disclosed: list[Run] = []
    for run in runs:
        if run.disclosure is None:
            if run.commits:
                findings.note(f"Run {run.name} is not disclosed yet.")
            continue
        report(f"run {run.name}")
        where = f"runs/{run.name}"
        findings.guard("plan_wrong", where, check_disclosure, log, run, banks, folder, findings, disclosed)
        if run.commits and run.draw is not None:
            disclosed.append(run)
            findings.guard("session_unknown", where, check_sessions, run, findings)
    return disclosed


def check_sessions(run: Run, findings: Findings) -> None:
    """What the log opened and closed was planned; what was planned and never closed is a note."""
    if not run.sessions:
        return
    for entries in (run.opens, run.closes):
        for session, entry in entries.items():
            if session not in run.sessions:
                findings.fault(
                    "session_unknown",
                    f"session {session} is not in the plan of run {run.name}",
                    name_entry(entry),
                )
    for session, close in run.closes.items():
        planned = run.sessions.get(session)
        if planned is not None and close.body["question_count"] != len(planned.order):
            findings.fault(
                "answers_wrong",
                f"session {session} has another number of questions than its set",
                name_entry(close),
            )
    unclosed = len(set(run.sessions) - set(run.closes))
    if unclosed:
        findings.note(f"Run {run.name}: {unclosed} planned sessions were never closed.")


def note_strangers(log: Log, folder: Folder, findings: Findings) -> None:
    """Files in the folders of runs, editions and questions that no entry names are a note."""
    named = {"questions/{}".format(entry.body["file"]) for entry in log.entries if entry.kind == "question"}
    for path in sorted(named):
        with contextlib.suppress(Malformed):
            said = require(parse_json(folder.read(path)), QUESTION)
            named |= {f"questions/{name}" for name in list_pictures(said["content"])}
    for run in log.runs.values():
        if run.disclosure is not None:
            named |= {f"runs/{run.name}/{name}" for name in run.disclosure.body["files"]}
        for entry in run.editions:
            inside = "editions/{}-{}".format(run.name, entry.body["revision"])
            named |= {f"{inside}/{name}" for name in entry.body["files"]}
    for part in ("runs", "editions", "questions"):
        for here, _, names in os.walk(os.path.join(folder.root, part)):
            for name in names:
                path = os.path.relpath(os.path.join(here, name), folder.root).replace(os.sep, "/")
                if path not in named:
                    findings.note(f"{path} is named by no entry of the log.")


def note_stated(root: str, findings: Findings) -> None:
    """Where the operator states a higher grade than the given heads show, a note says so."""
    folder = Folder(root)
    if not folder.has("grades.json"):
        return
    stated = findings.guard("file_changed", "grades.json", lambda: parse_json(folder.read("grades.json")))
    for edition, grade in findings.grades.items():
        said = stated.get(edition, {}).get("grade") if isinstance(stated, dict) else None
        if said in GRADES and GRADES.index(said) > GRADES.index(grade):
            findings.note(
                f"Edition {edition} is said to be {said}: ask its witnesses for their heads, and give them with --head."
            )


def main(arguments: Sequence[str] | None = None) -> int:
    """Check what is given on the command line; returns the exit status."""
    parser = argparse.ArgumentParser(prog="verifier.py", description="Check what an exam has published.")
    parser.add_argument(
        "public",
        metavar="PUBLIC",
        help="a copy of the folder public/; -, with --keep: a head on standard input",
    )
    parser.add_argument(
        "--receipts", metavar="FILE", nargs="+", action="append", default=[], help="receipts of answers"
    )
    parser.add_argument(
        "--head",
        metavar="FILE",
        nargs="+",
        action="append",
        default=[],
        help="signed heads that somebody kept",
    )
    parser.add_argument(
        "--key", metavar="KEY", default="", help="the installation's public key (base64), or its name"
    )
    parser.add_argument(
        "--require",
        choices=GRADES,
        default=GRADES[0],
        help="fail where an edition that stands has a lower grade",
    )
    parser.add_argument(
        "--keep", metavar="FILE", default="", help="be a witness: keep the last signed head in FILE"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    parser.add_argument("--progress", action="store_true", help="say on standard error what is looked at")
    chosen = parser.parse_args(arguments)
    for stream in (sys.stdout, sys.stderr):
        # A name that is no text for the terminal is shown by its code points.
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    is_given = chosen.public == "-" and bool(chosen.keep)
    if not is_given and not os.path.isdir(chosen.public):
        parser.error(f"{chosen.public} is no folder")
    raw = parse_base64(chosen.key)
    if chosen.key and not is_key_name(chosen.key) and (raw is None or len(raw) != 32):
        parser.error(f"{chosen.key} is no public key: 32 bytes in base64, or the 16 digits of its name")

    def report(text: str) -> None:
        if chosen.progress:
            sys.stderr.write(f"checking {text}\n")
            sys.stderr.flush()

    if chosen.keep:
        return be_witness(parser, chosen)
    receipts = [path for group in chosen.receipts for path in group]
    heads = [path for group in chosen.head for path in group]
    for path in receipts + heads:
        if not os.path.isfile(path):
            parser.error(f"{path} is no file")
    try:
        findings = verify(chosen.public, receipts, heads, chosen.key, report)
    except OSError as error:
        parser.error(f"{error.filename} cannot be read ({type(error).__name__})")
    note_stated(chosen.public, findings)
    for edition, grade in findings.grades.items():
        if edition not in findings.replaced and GRADES.index(grade) < GRADES.index(chosen.require):
            findings.fault(
                "grade_low", f"edition {edition} is {grade}, and {chosen.require} is required", "editions"
            )
    write = sys.stdout.write
    if chosen.json:
        document = {
            "holds": not findings.faults,
            "faults": [{"statement": statement, "what": what} for statement, what in findings.faults],
            "counts": findings.counts,
            "notes": findings.notes,
            "checked": findings.checked,
            "grades": findings.grades,
        }
        write(json.dumps(document, indent=2) + "\n")
        return 1 if findings.faults else 0
    for statement, what in findings.faults:
        write(f"{statement}: {what}\n")
    for statement, count in findings.counts.items():
        if count > SHOWN:
            write(f"{statement}: and {count - SHOWN} more\n")
    for note in findings.notes:
        write(f"Note: {note}\n")
    for edition, grade in findings.grades.items():
        write(f"Edition {edition}: {grade}.\n")
    if not findings.faults:
        seen = ", ".join(
            "{} {}".format(count, name.replace("_", " ")) for name, count in findings.checked.items()
        )
        write(f"All holds: {seen}.\n")
    return 1 if findings.faults else 0


def be_witness(parser: argparse.ArgumentParser, chosen: argparse.Namespace) -> int:
    """Keep a head as a witness; returns the exit status."""
    if chosen.public == "-" and len(parse_base64(chosen.key) or b"") != 32:
        parser.error("a head on standard input takes the exam's public key in base64: --key KEY")
    try:
        if chosen.public == "-":
            findings, number = keep_given_head(sys.stdin.buffer.read(1 << 16), chosen.keep, chosen.key)
        else:
            findings, number = keep_head(chosen.public, chosen.keep, chosen.key)
    except OSError as error:
        parser.error(f"{error.filename} cannot be read or written ({type(error).__name__})")
    if chosen.json:
        document = {
            "holds": not findings.faults,
            "faults": [{"statement": statement, "what": what} for statement, what in findings.faults],
            "kept": number,
        }
        sys.stdout.write(json.dumps(document, indent=2) + "\n")
        return 1 if findings.faults else 0
    for statement, what in findings.faults:
        sys.stdout.write(f"{statement}: {what}\n")
    if findings.faults:
        sys.stdout.write("Nothing was kept: show this to others who keep heads of this log.\n")
        return 1
    sys.stdout.write(
        f"Kept: head {number}.\n" if number is not None else "Nothing new: the last head is kept already.\n"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
