"""The public file of a bank version.

It has every lineage by a name that reveals nothing, with the root of what it can be drawn as. One pass over the content of the
bank, some hundred questions at a time: of a question its commitment is kept, of a lineage its root, and nothing else. The same
bank and the same secret give the same file, so that one that a killed process did not finish is simply made again.
"""

from __future__ import annotations

from array import array
from collections.abc import Collection, Iterator, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from schemas.errors import ContractError, StoreError
from tasks.exam.plan.bank import Hashes, UuidPlaces, pack_uuids
from tasks.exam.public.bank.bank_rows import HELD, BankRows
from tasks.exam.public.bank.blinding import commit_question, slot_salts
from tasks.exam.public.files import encode_line, iter_lines, write_whole
from tasks.exam.public.hashing import compute_root, digest

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

    from tasks.exam.plan.bank import BankIndex

# What `digest("proctor slot", salt, commitment)` hashes, apart from the two: a bank has some 700,000 slots.
_HASH: Final = (32).to_bytes(4, "big")
_VERSION, _LINEAGE, _QUESTION = (
    HELD.index(name) for name in ("bank_version", "lineage_uuid", "question_uuid")
)
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
    places[order] = np.arange(len(order))
    folder = public / "banks"
    for path in sorted(folder.glob("*.jsonl")):
        if (root := _check_file(path, index, order)) is not None:
            return SealedBank(root, places)
    sealed = _seal_lineages(index, rows)
    root = compute_root(
        make_lineage_leaf(index.names[position], discipline, sealed[position], index.name_shared(position))
        for position, discipline in _iter_lineages(index, order)
    )
    write_whole(folder / f"{root.hex()}.jsonl", _write_lines(index, order, sealed))
    return SealedBank(root, places)


def read_unchanged(index: BankIndex, rows: BankRows, lineages: Collection[str]) -> pl.DataFrame:
    """The questions of lineages of an index, all of its version.

    Raises ContractError where the bank has another version by now: what is drawn must be what was sealed.
    """
    found = rows.read_lineages(lineages)
    if set(found["lineage_uuid"]) != set(lineages) or set(found["bank_version"]) - {index.bank_version}:
        raise _changed(index)
    return found


def make_lineage_leaf(
    name: bytes, discipline: str, sealed: SealedLineage, shared: Sequence[bytes] = ()
) -> bytes:
    """The leaf of a lineage in its bank's tree; `shared` is what its line says of its passage."""
    return digest("proctor lineage", name, discipline, sealed.slot_count, sealed.slots_root, *shared)


def make_slot_leaves(
    index: BankIndex, position: int, commitments: Mapping[tuple[str, str], bytes]
) -> list[bytes]:
    """The leaves of a lineage's slots, from (lineage, question) → the question's commitment."""
    lineage = index.lineage_uuids[position]
    try:
        held = [commitments[lineage, question] for question in index.list_slots(position)]
    except KeyError:
        raise _changed(index) from None
    return _hash_slots(index, lineage, held)


def commit_rows(secret: bytes, frame: pl.DataFrame) -> dict[tuple[str, str], bytes]:
    """(lineage, question) → the question's commitment, from rows of the bank."""
    return {
        (row["lineage_uuid"], row["question_uuid"]): commit_question(secret, row)
        for row in frame.iter_rows(named=True)
    }


def _hash_slots(index: BankIndex, lineage: str, held: Sequence[bytes]) -> list[bytes]:
    salts = slot_salts(index.secret, index.bank_version, lineage, len(held))
    return [
        sha256(_SLOT + salt + _HASH + commitment).digest()
        for salt, commitment in zip(salts, held, strict=True)
    ]


def _changed(index: BankIndex) -> ContractError:
    return ContractError(
        f"The bank has changed since version {index.bank_version} was read. Run the command again."
    )


def _sort_lineages(index: BankIndex) -> NDArray[np.int64]:
    """The position of every lineage in the order of the file: by discipline, then by name."""
    names = index.names.array
    return np.concatenate(
        [
            first + np.argsort(names[first:end], kind="stable")
            for _, (first, end) in sorted(index.spans.items())
        ]
    )


def _iter_lineages(index: BankIndex, order: NDArray[np.int64]) -> Iterator[tuple[int, str]]:
    """Position and discipline of every lineage in the order of the file."""
    at = 0
    for discipline, (first, end) in sorted(index.spans.items()):
        for position in order[at : at + end - first]:
            yield int(position), discipline
        at += end - first


class _Sealed:
    """What the file says of every lineage, by position."""

    def __init__(self, count: int) -> None:
        self._slot_counts = array("i", bytes(4 * count))
        self._roots = bytearray(32 * count)

    def __getitem__(self, position: int) -> SealedLineage:
        return SealedLineage(
            self._slot_counts[position], bytes(self._roots[32 * position : 32 * position + 32])
        )

    def __setitem__(self, position: int, sealed: SealedLineage) -> None:
        self._slot_counts[position] = sealed.slot_count
        self._roots[32 * position : 32 * position + 32] = sealed.slots_root


def _seal_lineages(index: BankIndex, rows: BankRows) -> _Sealed:
    commitments = _commit_all(index, rows)
    sealed = _Sealed(len(index.lineage_uuids))
    for position, lineage in enumerate(index.lineage_uuids):
        held = [
            bytes(commitments[32 * place : 32 * place + 32]) for place in index.list_slot_places(position)
        ]
        leaves = _hash_slots(index, lineage, held)
        sealed[position] = SealedLineage(len(leaves), compute_root(leaves))
    return sealed


def _commit_all(index: BankIndex, rows: BankRows) -> bytearray:
    """The commitments of all questions of the index in the order of its column, 32 bytes each."""
    known, secret = UuidPlaces(index.question_uuids), index.secret
    commitments, is_known = bytearray(32 * len(known)), np.zeros(len(known), dtype=np.bool_)
    # The lineage that holds a question here: a question may stand in the bank under several.
    lineages = index.lineage_uuids.array
    holders = np.repeat(np.arange(len(lineages), dtype=np.int32), np.diff(index.questions.offsets))

    def take(held: Sequence[Sequence[Any]]) -> None:
        found = known.find_all(row[_QUESTION] for row in held)
        owners = np.frombuffer(pack_uuids([row[_LINEAGE] for row in held]), dtype="S16")
        found[lineages[holders[found]] != owners] = -1
        for row, place in zip(held, found.tolist(), strict=True):
            if row[_VERSION] != index.bank_version:
                raise _changed(index)
            if place >= 0:
                commitment = commit_question(secret, dict(zip(HELD, row, strict=True)))
                commitments[32 * place : 32 * place + 32] = commitment
        is_known[found[found >= 0]] = True

    rows.feed_contents(take)
    if not is_known.all():
        raise _changed(index)
    return commitments


def _write_lines(index: BankIndex, order: NDArray[np.int64], sealed: _Sealed) -> Iterator[str]:
    yield encode_line({"bank_version": index.bank_version, "lineages": len(order)})
    for position, discipline in _iter_lineages(index, order):
        count, root = sealed[position]
        shared = [name.hex() for name in index.name_shared(position)]
        yield encode_line([index.names[position].hex(), discipline, count, root.hex(), *shared])


def _check_file(path: Path, index: BankIndex, order: NDArray[np.int64]) -> bytes | None:
    """The root of this bank version's file; None for another's, StoreError for a changed one."""
    try:
        lines = iter_lines(path)
        if next(lines) != {"bank_version": index.bank_version, "lineages": len(order)}:
            return None
        read: Iterator[Any] = zip(lines, _iter_lineages(index, order), strict=True)
        leaves = bytearray()
        for (name, discipline, count, slots_root, *shared), (position, expected) in read:
            if bytes.fromhex(name) != index.names[position] or discipline != expected:
                return None
            own = index.name_shared(position)
            # A file that says something else of passages is another file, and stays.
            if shared != [one.hex() for one in own]:
                return None
            sealed = SealedLineage(count, bytes.fromhex(slots_root))
            leaves += make_lineage_leaf(index.names[position], discipline, sealed, own)
        root = compute_root(Hashes(bytes(leaves)))
    except (ValueError, TypeError, StopIteration):
        root = None
    if root is None or root.hex() != path.stem:
        raise StoreError(
            f"{path} is not what was published: its lines do not lead to the root in its name. Restore it from a backup; if no run "
            "names it in the public log, delete it, and it is made again."
        )
    return root
