"""What addresses call a question: a number that says nothing and means nothing to others.

A UUID of a question is computed from its content, so it would let people test what is in the bank. In an address it is
enciphered for the annotator and the batch (a Feistel network of four rounds over HMAC-SHA256: Luby and Rackoff, SIAM J.
Computing 17, 1988). Somebody else's address deciphers to a UUID that nobody was given.
"""

from __future__ import annotations

import hashlib
import hmac
import uuid

from starlette.requests import Request

from deployments.auth import SignedIn

_ROUNDS = 4
_HALF_BYTES = 8


def refer(request: Request, visitor: SignedIn, batch_id: str, question_uuid: str) -> str:
    """How an address of this visitor names the question."""
    return make_reference(request.app.state.key, visitor.user_id, batch_id, question_uuid)


def make_reference(key: bytes, annotator: str, batch_id: str, question_uuid: str) -> str:
    """The 32 hexadecimal digits by which the annotator's addresses name the question."""
    whole = uuid.UUID(question_uuid).bytes
    left, right = whole[:_HALF_BYTES], whole[_HALF_BYTES:]
    for number in range(_ROUNDS):
        left, right = right, _mix(left, _draw(key, annotator, batch_id, number, right))
    return (left + right).hex()


def read_reference(key: bytes, annotator: str, batch_id: str, reference: str) -> str | None:
    """The UUID that a reference stands for, of a question or none; null for no reference."""
    try:
        whole = bytes.fromhex(reference)
    except ValueError:
        return None
    if len(whole) != 2 * _HALF_BYTES:
        return None
    left, right = whole[:_HALF_BYTES], whole[_HALF_BYTES:]
    for number in reversed(range(_ROUNDS)):
        left, right = _mix(right, _draw(key, annotator, batch_id, number, left)), left
    return str(uuid.UUID(bytes=left + right))


def _draw(key: bytes, annotator: str, batch_id: str, number: int, half: bytes) -> bytes:
    # Lengths stand before the names, so that no two pairs of names are the same text.
    text = f"{len(annotator)} {annotator} {len(batch_id)} {batch_id} {number} ".encode() + half
    return hmac.new(key, text, hashlib.sha256).digest()[:_HALF_BYTES]


def _mix(one: bytes, other: bytes) -> bytes:
    return bytes(a ^ b for a, b in zip(one, other, strict=True))
