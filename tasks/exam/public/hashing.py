"""Hashes of what is published: digests of tagged parts, Merkle trees (RFC 9162, §2.1)."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from itertools import islice

LEAF = b"\x00"
NODE = b"\x01"
# Leaves whose root is computed level by level: a power of two, so that the tree is the same for any number.
_AT_ONCE = 1024


def digest(tag: str, *parts: str | bytes | int) -> bytes:
    """SHA-256 over a tag and parts, each after its length (four bytes); numbers as decimals."""
    return hashlib.sha256(join_parts(tag, *parts)).digest()


def join_parts(*parts: str | bytes | int) -> bytes:
    """What `digest` hashes."""
    raws = [part if isinstance(part, bytes) else str(part).encode("utf-8", "surrogatepass") for part in parts]
    return b"".join([len(raw).to_bytes(4, "big") + raw for raw in raws])


def compute_root(leaves: Iterable[bytes]) -> bytes:
    """The root over leaves of 32 bytes, in one pass, some at once (none: SHA-256 of nothing)."""
    sha256 = hashlib.sha256
    hashed = (sha256(LEAF + leaf).digest() for leaf in leaves)
    stack: list[tuple[int, bytes]] = []
    while nodes := list(islice(hashed, _AT_ONCE)):
        size = len(nodes)
        while len(nodes) > 1:
            # One that has no neighbour goes up as it is.
            alone = nodes[-1:] if len(nodes) % 2 else []
            pairs = zip(nodes[::2], nodes[1::2], strict=False)
            nodes = [sha256(NODE + left + right).digest() for left, right in pairs] + alone
        node = nodes[0]
        while stack and stack[-1][0] == size:
            size, node = size * 2, sha256(NODE + stack.pop()[1] + node).digest()
        stack.append((size, node))
    if not stack:
        return sha256(b"").digest()
    node = stack.pop()[1]
    while stack:
        node = sha256(NODE + stack.pop()[1] + node).digest()
    return node


def make_path(leaves: Sequence[bytes], place: int) -> list[bytes]:
    """The siblings of a leaf from the leaf upwards."""
    if len(leaves) <= 1:
        return []
    split = 1 << (len(leaves) - 1).bit_length() - 1
    if place < split:
        return [*make_path(leaves[:split], place), compute_root(leaves[split:])]
    return [*make_path(leaves[split:], place - split), compute_root(leaves[:split])]


def follow_path(leaf: bytes, place: int, count: int, path: Sequence[bytes]) -> bytes:
    """The root from a leaf, its place among `count` and its path; ValueError for another length."""
    node = hashlib.sha256(LEAF + leaf).digest()
    for is_left, sibling in zip(_list_sides(place, count), path, strict=True):
        node = hashlib.sha256(NODE + (node + sibling if is_left else sibling + node)).digest()
    return node


def _list_sides(place: int, count: int) -> list[bool]:
    """Whether the way up comes from the left, from the leaf upwards."""
    sides: list[bool] = []
    while count > 1:
        split = 1 << (count - 1).bit_length() - 1
        is_left = place < split
        sides.append(is_left)
        place, count = (place, split) if is_left else (place - split, count - split)
    return sides[::-1]
