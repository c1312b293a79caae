"""The public file of a bank version: every lineage by a name that says nothing, with the root of what it can be drawn as.

One pass over the content of the bank, a part at a time: of a lineage its root is kept and nothing else. The same bank and the
same secret give the same file, so that one that a killed process did not finish is simply made again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from schemas.errors import ContractError, StoreError
from tasks.exam.public.bank_rows import BankRows
from tasks.exam.public.blinding import slot_salts
from tasks.exam.public.content import commit_question
from tasks.exam.public.files import encode_line, iter_lines, write_whole
from tasks.exam.public.hashing import compute_root, digest

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

    from tasks.exam.plan.bank_index import BankIndex

# What `digest("proctor slot", salt, commitment)` hashes, apart from the two: a bank has some 700,000 slots.
_HASH: Final = (32).to_bytes(4, "big")
_SLOT: Final = len(b"proctor slot").to_bytes(4, "big") + b"proctor slot" + _HASH


class SealedBank(NamedTuple):
    """A bank version as it is published.

    Attributes:
        root: of the tree over its lineages.
        places: by position in the bank index, the lineage's position in the file.
    """

    root: bytes
    places: NDArray[np.int64]


class SealedLineage(NamedTuple):
    """What the file says of a lineage besides its name and discipline."""

    slot_count: int
    slots_root: bytes


def seal_bank(index: BankIndex, rows: BankRows, public: Path) -> SealedBank:
    """The file `banks/<root>.jsonl` of the bank version, written unless it is there.

    Raises StoreError for a file that does not say what its name promises, ContractError where the content is another version's.
    """
    order = _sort_lineages(index)
    places = np.empty(len(order), dtype=np.int64)
    places[[position for position, _ in order]] = np.arange(len(order))
    folder = public / "banks"
    for path in sorted(folder.glob("*.jsonl")):
        if (root := _check_file(path, index, order)) is not None:
            return SealedBank(root, places)
    sealed = _seal_lineages(index, rows)
    root = compute_root(
        make_lineage_leaf(index.names[position], discipline, sealed[position])
        for position, discipline in order
    )
    write_whole(folder / f"{root.hex()}.jsonl", _write_lines(index, order, sealed))
    return SealedBank(root, places)


def make_lineage_leaf(name: bytes, discipline: str, sealed: SealedLineage) -> bytes:
    """The leaf of a lineage in the tree of its bank."""
    return digest("proctor lineage", name, discipline, sealed.slot_count, sealed.slots_root)


def make_slot_leaves(
    index: BankIndex, position: int, commitments: Mapping[tuple[str, str], bytes]
) -> list[bytes]:
    """The leaves of a lineage's slots, from (lineage, question) → the question's commitment."""
    lineage = index.lineage_uuids[position]
    try:
        held = [commitments[lineage, question] for question in index.list_slots(position)]
    except KeyError:
        raise ContractError(
            f"The bank has changed since version {index.bank_version} was read. Run the command again."
        ) from None
    salts = slot_salts(index.secret, index.bank_version, lineage, len(held))
    return [
        sha256(_SLOT + salt + _HASH + commitment).digest()
        for salt, commitment in zip(salts, held, strict=True)
    ]


def commit_rows(secret: bytes, frame: pl.DataFrame) -> dict[tuple[str, str], bytes]:
    """(lineage, question) → the question's commitment, from rows of the bank."""
    return {
        (row["lineage_uuid"], row["question_uuid"]): commit_question(secret, row)
        for row in frame.iter_rows(named=True)
    }


def _sort_lineages(index: BankIndex) -> list[tuple[int, str]]:
    """Position and discipline of every lineage in the order of the file."""
    found = [
        (position, discipline)
        for discipline, (first, end) in index.spans.items()
        for position in range(first, end)
    ]
    return sorted(found, key=lambda one: (one[1], index.names[one[0]]))


def _seal_lineages(index: BankIndex, rows: BankRows) -> Sequence[SealedLineage]:
    found: list[SealedLineage | None] = [None] * len(index.lineage_uuids)
    for frame in rows.iter_parts():
        commitments = commit_rows(index.secret, frame)
        for lineage in dict.fromkeys(lineage for lineage, _ in commitments):
            position = index.positions.get(lineage)
            if position is not None:
                leaves = make_slot_leaves(index, position, commitments)
                found[position] = SealedLineage(len(leaves), compute_root(leaves))
    sealed = [one for one in found if one is not None]
    if len(sealed) < len(found):
        raise ContractError(
            f"The bank has changed since version {index.bank_version} was read. Run the command again."
        )
    return sealed


def _write_lines(
    index: BankIndex, order: Sequence[tuple[int, str]], sealed: Sequence[SealedLineage]
) -> Iterator[str]:
    yield encode_line({"bank_version": index.bank_version, "lineages": len(order)})
    for position, discipline in order:
        count, root = sealed[position]
        yield encode_line([index.names[position].hex(), discipline, count, root.hex()])


def _check_file(path: Path, index: BankIndex, order: Sequence[tuple[int, str]]) -> bytes | None:
    """The root of a file that is this bank version's; null for the file of another one.

    Raises StoreError where it is this version's and not what was written.
    """
    try:
        lines = iter_lines(path)
        if next(lines) != {"bank_version": index.bank_version, "lineages": len(order)}:
            return None
        read: Iterator[Any] = zip(lines, order, strict=True)
        leaves = []
        for (name, discipline, count, slots_root), (position, expected) in read:
            if bytes.fromhex(name) != index.names[position] or discipline != expected:
                return None
            sealed = SealedLineage(count, bytes.fromhex(slots_root))
            leaves.append(make_lineage_leaf(index.names[position], discipline, sealed))
        root = compute_root(leaves)
    except (ValueError, TypeError, StopIteration):
        root = None
    if root is None or root.hex() != path.stem:
        raise StoreError(
            f"{path} is not what was published: its lines do not lead to the root in its name. Restore it from a backup; if no run "
            "names it in the public log, delete it, and it is made again."
        )
    return root
