"""Sessions in the public log: that one was opened, and what it held when closed; no text."""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha256
from typing import TYPE_CHECKING

from tasks.exam.public.hashing import compute_root, join_parts
from warehouse.ledger.engine.logs.public_log import add_public_entry
from warehouse.ledger.trust.answer_hashes import read_answer_hashes, read_session_size

if TYPE_CHECKING:
    from warehouse.ledger.engine.ledger import Connection

OPEN = "open"
CLOSE = "close"


def add_opening(connection: Connection, session_id: str) -> None:
    """Note that a session was opened for the first time, with the transaction that opens it."""
    run_id, _ = read_session_size(connection, session_id)
    add_public_entry(connection, OPEN, {"run": run_id, "session": session_id})


def add_closing(connection: Connection, session_id: str, reason: str | None = None) -> None:
    """Note what a session holds as it closes; `reason` is null after the last answer."""
    run_id, question_count = read_session_size(connection, session_id)
    hashes = read_answer_hashes(connection, session_id)
    body = {
        "run": run_id,
        "session": session_id,
        "question_count": question_count,
        "answer_count": len(hashes),
        "answers_root": compute_answers_root(session_id, hashes),
        "reason": reason,
    }
    add_public_entry(connection, CLOSE, body)


def compute_answers_root(session_id: str, hashes: Mapping[int, str]) -> str:
    """The root over a session's answers; `hashes` has the SHA-256 of each by its position."""
    # `digest` of each, position and hash (32 bytes, a space) after their lengths, in one step.
    start = join_parts("proctor answer", session_id)
    return compute_root(
        sha256(b"%b\0\0\0%c%d\0\0\0 %b" % (start, len(str(seq)), seq, bytes.fromhex(hashes[seq]))).digest()
        for seq in sorted(hashes)
    ).hex()
