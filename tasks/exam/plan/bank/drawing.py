"""Draw sets: lineages by discipline, and one question of each.

The secret order of a session is drawn here too. Everything drawn follows from the seed of the run by SHA-256 alone
(docs/verify.md, "The draw"), so that anybody can draw again what was drawn once the seed is disclosed, in any language. The
paper draws 1,000 questions per sitting without replacement (LLMEval-Fair §2.2.1).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tasks.exam.plan.bank.bank_index import BankIndex
from tasks.exam.public import digest


@dataclass(frozen=True)
class DrawnQuestion:
    """One question of a set, as drawn.

    Attributes:
        slot: the slot of the lineage that holds it.
        is_anchor: whether other organisations have answered the same question before.
    """

    lineage_uuid: str
    question_uuid: str
    discipline: str
    position: int
    slot: int
    is_anchor: bool = False


class DisciplineShare(NamedTuple):
    """How many lineages of a discipline a set has, and how many of them are to be anchors."""

    discipline: str
    size: int
    anchors: int


def split_anchors(shares: Mapping[str, int], anchor_share: float) -> tuple[DisciplineShare, ...]:
    """The anchors of each discipline, rounded over the whole set: small shares have some, too."""
    found: list[DisciplineShare] = []
    size = wanted = 0
    for discipline, share in shares.items():
        size += share
        before, wanted = wanted, round(size * anchor_share)
        found.append(DisciplineShare(discipline, share, wanted - before))
    return tuple(found)


def make_seed(share: bytes, added: Sequence[bytes] = (), beacon_value: str | None = None) -> bytes:
    """The seed of a run: the operator's share, the candidates' in the log's order, the beacon."""
    return digest("proctor seed", share, *added, beacon_value or "")


def make_set_key(seed: bytes, set_id: str) -> bytes:
    """What the lineages of a set follow from."""
    return digest("proctor set", seed, set_id)


@dataclass(frozen=True)
class Masks:
    """Masks over the lineages of a bank version, bool each.

    Attributes:
        excluded: those that are never drawn.
        avoided: those that are drawn only where a discipline has no others, beside the anchors.
        rested: those that are drawn only where a discipline has none but these, avoided ones included; they are no anchors.
    """

    excluded: NDArray[np.bool_]
    avoided: NDArray[np.bool_]
    rested: NDArray[np.bool_] | None = None


def draw_set(
    index: BankIndex,
    shares: Sequence[DisciplineShare],
    masks: Masks,
    *,
    asked: Mapping[int, str],
    seed: bytes,
    set_id: str,
) -> list[DrawnQuestion]:
    """Draw one set without replacement, in the order of disciplines.

    Args:
        index: the bank version.
        shares: lineages to draw by discipline; each has as many that are not excluded.
        masks: lineages that are not drawn, or only where there are no others.
        asked: position of a lineage that others have answered → the question that they answered, which has a slot.
        seed: the run's seed.
        set_id: the set.
    """
    key, lots = make_set_key(seed, set_id), _Lots(index)
    anchor_key, slot_key = digest("proctor anchors", seed, set_id), digest("proctor slots", seed, set_id)
    drawn: list[DrawnQuestion] = []
    for discipline, count, anchor_count in shares:
        first, end = index.spans[discipline]
        allowed: list[int] = (np.flatnonzero(~masks.excluded[first:end]) + first).tolist()
        known = [position for position in allowed if position in asked] if anchor_count else []
        anchors, again = lots.take(known, anchor_count, anchor_key)
        anchors += again[: anchor_count - len(anchors)]
        taken = set(anchors)
        others = [position for position in allowed if position not in taken]
        for position in anchors:
            slot = index.list_slots(position).index(asked[position])
            drawn.append(
                DrawnQuestion(
                    index.lineage_uuids[position], asked[position], discipline, position, slot, is_anchor=True
                )
            )
        for position in _draw_positions(
            lots, others, count - len(anchors), (masks.avoided, masks.rested), key
        ):
            slots = index.list_slots(position)
            slot = int.from_bytes(make_ticket(slot_key, index.names[position])[:8], "big") % len(slots)
            drawn.append(
                DrawnQuestion(index.lineage_uuids[position], slots[slot], discipline, position, slot)
            )
    return drawn


def draw_order(names: Mapping[str, bytes], seed: bytes, session_id: str) -> list[str]:
    """The lineages of a set (lineage → its public name) in the secret order of one session."""
    key = digest("proctor order", seed, session_id)
    return sorted(names, key=lambda lineage: make_ticket(key, names[lineage]))


def make_ticket(key: bytes, name: bytes) -> bytes:
    """What a lineage is drawn by under a key: the lowest first."""
    return sha256(key + name).digest()


class _Lots:
    """What a set has as it is drawn: a passage once, and again only where nothing else is left."""

    def __init__(self, index: BankIndex) -> None:
        self._names = index.names
        self._passages = index.passages
        self._taken: set[int] = set()

    def take(self, positions: Sequence[int], count: int, key: bytes) -> tuple[list[int], list[int]]:
        """Up to `count` of other passages than the set has, by their tickets.

        Where there are fewer also all the others, likewise.
        """
        names = self._names.pick(positions)
        tickets = sorted(zip((sha256(key + name).digest() for name in names), positions, strict=True))
        drawn: list[int] = []
        again: list[int] = []
        for _, position in tickets:
            if len(drawn) == count:
                break
            passage = int(self._passages[position])
            if passage in self._taken:
                again.append(position)
                continue
            drawn.append(position)
            if passage >= 0:
                self._taken.add(passage)
        return drawn, again


def _draw_positions(
    lots: _Lots, allowed: list[int], count: int, put_off: Sequence[NDArray[np.bool_] | None], key: bytes
) -> list[int]:
    """Draw `count` positions: of those no mask puts off, then the first's, then the second's.

    Last come those of passages that the set has.
    """
    drawn: list[int] = []
    again: list[int] = []
    waiting = allowed
    for place in range(len(put_off) + 1):
        masks = [mask for mask in put_off[place:] if mask is not None]
        tier = [position for position in waiting if not any(mask[position] for mask in masks)]
        found, repeated = lots.take(tier, count - len(drawn), key)
        drawn += found
        again += repeated
        if len(drawn) == count:
            return drawn
        waiting = [position for position in waiting if any(mask[position] for mask in masks)]
    return drawn + again[: count - len(drawn)]
