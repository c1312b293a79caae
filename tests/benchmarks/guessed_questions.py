"""What a coalition learns of questions not yet met, from public files and its sessions.

    python -m tests.benchmarks.guessed_questions [--months 36] [--worlds 20]

Seven organisations in three groups that share sets, three of them colluding; every month a new set for each group, a fifth of it anchors.
Sets, orders, names and commitments are made by the exam's own functions. The coalition has what is published by then (the bank's file, each
earlier run's seed, sets with commitments, orders) and the seed shares, questions and orders of its own sessions, and plays:

- membership: which lineages that none of it has met will be in its next set? It names as many as the set has fresh ones. Chance: as many of
  those that nobody has been put yet, of their discipline (which the rule of the draw and earlier draws tell anybody).
- content: which of four texts, one of them true, does a commitment in a set of others stand for? Chance: a quarter.
- order: which question comes first in a session, and does its order follow that of others on the same set? Chance: one of the set; none.

An attack is worth nothing unless it succeeds where something was given away: `leak` gives the operator's share, or the salts.
"""

from __future__ import annotations

import argparse
import hashlib
import hmac
import json
import math
import random
from bisect import bisect
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from tasks.exam.plan.bank import (
    BankIndex,
    Masks,
    draw_order,
    draw_set,
    index_bank,
    make_seed,
    make_set_key,
    split_anchors,
)
from tasks.exam.public import digest
from tasks.exam.public.bank import commit_rows
from tests.tasks.exam.world import DISCIPLINES, make_bank

GROUPS = (("c1", "c2", "h1"), ("c3", "h2"), ("h3", "h4"))
COALITION = ("c1", "c2", "c3")
TEXTS = 4
_Z95 = 1.96


@dataclass
class Tally:
    """Right guesses of an attack, what chance gives, and the variance of that."""

    right: int = 0
    tried: int = 0
    expected: float = 0.0
    variance: float = 0.0

    def add(self, right: int, tried: int, expected: float, variance: float) -> None:
        """Count one round."""
        self.right += right
        self.tried += tried
        self.expected += expected
        self.variance += variance

    def describe(self) -> dict[str, float]:
        """Share that is right, chance, and their difference with its interval of 95%."""
        advantage = (self.right - self.expected) / self.tried
        half = _Z95 * math.sqrt(self.variance) / self.tried
        return {
            "tried": self.tried,
            "right": self.right / self.tried,
            "chance": self.expected / self.tried,
            "advantage": advantage,
            "low": advantage - half,
            "high": advantage + half,
        }


@dataclass
class Seen:
    """What the coalition has by the end of a month.

    Attributes:
        keys: of earlier draws, disclosed with their seeds, the last first.
        share: what the coalition adds to the seed of the month that comes.
        drawn: positions of all that was drawn, by month.
        fresh_before: positions that nobody had been put, before each month.
        last_names: what the last month drew, as numbers in order.
    """

    keys: list[bytes] = field(default_factory=list)
    share: bytes = b""
    drawn: list[set[int]] = field(default_factory=list)
    fresh_before: list[set[int]] = field(default_factory=list)
    last_names: list[int] = field(default_factory=list)


@dataclass
class World:
    """One installation and what has been drawn of its bank."""

    index: BankIndex
    rows: dict[str, dict[str, Any]]
    secret: bytes
    commitments: dict[tuple[str, str], bytes]
    met: dict[str, set[int]] = field(default_factory=lambda: defaultdict(set))
    asked: dict[int, str] = field(default_factory=dict)
    asked_by: dict[int, set[str]] = field(default_factory=lambda: defaultdict(set))


Score = Callable[[World, Seen, str, int], Any]


def _by_name(world: World, seen: Seen, set_id: str, place: int) -> Any:
    return world.index.names[place]


def _by_last_ticket(world: World, seen: Seen, set_id: str, place: int) -> Any:
    return hashlib.sha256((seen.keys[0] if seen.keys else b"") + world.index.names[place]).digest()


def _by_own_share(world: World, seen: Seen, set_id: str, place: int) -> Any:
    """As if the operator had added nothing."""
    key = make_set_key(make_seed(bytes(32), [seen.share], ""), set_id)
    return hashlib.sha256(key + world.index.names[place]).digest()


def _by_neighbours(world: World, seen: Seen, set_id: str, place: int) -> Any:
    """Near in the file to what was drawn last."""
    name = int.from_bytes(world.index.names[place][:8], "big")
    at = bisect(seen.last_names, name)
    return min((abs(name - one) for one in seen.last_names[max(at - 1, 0) : at + 1]), default=0)


def _by_size(world: World, seen: Seen, set_id: str, place: int) -> Any:
    return (-len(world.index.list_slots(place)), world.index.names[place])


def _describe_lineage(world: World, seen: Seen, place: int) -> list[float]:
    name = world.index.names[place]
    bits = [(name[0] >> bit) & 1 for bit in range(8)] + [(name[31] >> bit) & 1 for bit in range(8)]
    tickets = [hashlib.sha256(key + name).digest()[0] / 255 for key in seen.keys[:3]]
    return [
        1.0,
        int.from_bytes(name[:4], "big") / 2**32,
        float(len(world.index.list_slots(place))),
        *bits,
        *tickets,
    ]


def learn(world: World, seen: Seen) -> NDArray[np.float64] | None:
    """Weights of a logistic regression: what of the fresh was drawn; None before three months."""
    if len(seen.drawn) < 3:
        return None
    rows, labels = [], []
    for fresh, drawn in zip(seen.fresh_before[-3:], seen.drawn[-3:], strict=True):
        for place in fresh:
            rows.append(_describe_lineage(world, seen, place))
            labels.append(place in drawn)
    x, y = np.array(rows), np.array(labels, dtype=float)
    x[:, 1:] = (x[:, 1:] - x[:, 1:].mean(0)) / (x[:, 1:].std(0) + 1e-9)
    weights = np.zeros(x.shape[1])
    for _ in range(100):
        weights += 1.0 * x.T @ (y - 1 / (1 + np.exp(-x @ weights))) / len(y)
    return weights


SCORES: Mapping[str, Score] = {
    "the lowest names": _by_name,
    "the key of the last draw": _by_last_ticket,
    "its own share of the seed": _by_own_share,
    "neighbours of the last set": _by_neighbours,
    "the largest lineages": _by_size,
}
LEARNED = "what was drawn before, learned"


def play(months: int, seed: int, *, per_discipline: int, set_size: int, leak: str = "") -> dict[str, Any]:
    """One world over many months: a tally for each attack, and what is no secret.

    `leak` gives the coalition the operator's shares (`share`) or the salts of commitments (`salt`).
    """
    rng = random.Random(seed)
    secret = rng.randbytes(32)
    half = per_discipline // 2
    bank = pl.concat(
        [make_bank(half, variants=2, prefix=f"w{seed}-"), make_bank(half, variants=0, prefix=f"x{seed}-")]
    )
    rows = {row["question_uuid"]: row for row in bank.iter_rows(named=True)}
    world = World(index_bank(bank, DISCIPLINES, secret), rows, secret, commit_rows(secret, bank))
    seen, tallies = Seen(), defaultdict[str, Tally](Tally)
    shares = {name: set_size // len(DISCIPLINES) for name in DISCIPLINES}
    met_by_others = anchors_known = anchors = shared = 0
    for month in range(months):
        seen.share = rng.randbytes(32)
        run_seed = make_seed(bytes(32) if leak == "share" else rng.randbytes(32), [seen.share], "")
        ever = set().union(*world.met.values()) if world.met else set()
        seen.fresh_before.append(set(range(len(world.index.names))) - ever)
        weights = learn(world, seen)
        drawn_now: set[int] = set()
        avoided = _mask(world.index, ever)
        for number, group in enumerate(GROUPS):
            set_id = f"s/{month}/{number}"
            excluded = _mask(world.index, set().union(*(world.met[owner] for owner in group)))
            asked = {place: one for place, one in world.asked.items() if not excluded[place]}
            items = draw_set(
                world.index,
                split_anchors(shares, 0.2),
                Masks(excluded, avoided),
                asked=asked,
                seed=run_seed,
                set_id=set_id,
            )
            places = {item.position for item in items}
            if number == 0:
                known = set().union(*(world.met[owner] for owner in COALITION))
                met_by_others += len(places & world.met["c3"])
                shared += len(places)
                anchors += sum(item.is_anchor for item in items)
                anchors_known += sum(item.is_anchor and item.position in known for item in items)
                _guess_members(world, seen, set_id, items, avoided, tallies, weights)
            elif not set(COALITION) & set(group):
                _guess_contents(world, items, tallies, rng, leak)
            _guess_order(world, items, run_seed, set_id, tallies)
            avoided[list(places)] = True
            drawn_now |= places
            for owner in group:
                world.met[owner] |= places
            for item in items:
                world.asked[item.position] = item.question_uuid
            seen.keys.insert(0, make_set_key(run_seed, set_id))
        seen.drawn.append(drawn_now)
        seen.last_names = sorted(int.from_bytes(world.index.names[place][:8], "big") for place in drawn_now)
    return {
        "tallies": dict(tallies),
        "shared": shared,
        "met": met_by_others,
        "anchors": anchors,
        "known": anchors_known,
    }


def _mask(index: BankIndex, places: Iterable[int]) -> NDArray[np.bool_]:
    mask = index.make_mask()
    mask[list(places)] = True
    return mask


def _guess_members(
    world: World,
    seen: Seen,
    set_id: str,
    items: Sequence[Any],
    avoided: NDArray[np.bool_],
    tallies: dict[str, Tally],
    weights: NDArray[np.float64] | None,
) -> None:
    fresh = {item.position for item in items if not item.is_anchor}
    for first, end in world.index.spans.values():
        open_places = [place for place in range(first, end) if not avoided[place]]
        true = fresh & set(open_places)
        count, size = len(true), len(open_places)
        if not 0 < count < size:
            continue
        # Guesses without replacement among `size`, `count` of them right: hypergeometric.
        expected = count * count / size
        variance = expected * (1 - count / size) * (size - count) / (size - 1)
        ranked = {
            name: sorted(open_places, key=partial(score, world, seen, set_id))
            for name, score in SCORES.items()
        }
        if weights is not None:
            x = np.array([_describe_lineage(world, seen, place) for place in open_places])
            x[:, 1:] = (x[:, 1:] - x[:, 1:].mean(0)) / (x[:, 1:].std(0) + 1e-9)
            ranked[LEARNED] = [open_places[at] for at in np.argsort(-(x @ weights), kind="stable")]
        for name, order in ranked.items():
            tallies[f"membership: {name}"].add(len(true & set(order[:count])), count, expected, variance)


def _guess_contents(
    world: World, items: Sequence[Any], tallies: dict[str, Tally], rng: random.Random, leak: str
) -> None:
    """Of the fresh questions of a set that no member of the coalition sits."""
    everything = sorted(world.rows)
    for item in items:
        if item.is_anchor:
            continue
        commitment = world.commitments[item.lineage_uuid, item.question_uuid]
        texts = [item.question_uuid, *rng.sample(everything, TEXTS - 1)]
        rng.shuffle(texts)
        salts = [b"", bytes(32), world.index.names[item.position], commitment]
        guess = None
        for one in texts:
            row = world.rows[one]
            own = [_find_salt(world.secret, row)] if leak == "salt" else []
            if any(
                digest("proctor question", salt, write_content(row)) == commitment for salt in salts + own
            ):
                guess = one
        if guess is None:
            guess = min(texts, key=lambda one: digest("guess", commitment, write_content(world.rows[one])))
        chance = 1 / TEXTS
        tallies["content: of four texts"].add(guess == item.question_uuid, 1, chance, chance * (1 - chance))


def write_content(row: Mapping[str, Any]) -> str:
    """A text as a question's content is committed to (docs/verify.md)."""
    fields = {
        name: row[name] for name in ("question_type", "language", "stem", "material", "options", "answer")
    }
    return json.dumps(fields, sort_keys=True, ensure_ascii=False, separators=(",", ":"))


def _find_salt(secret: bytes, row: Mapping[str, Any]) -> bytes:
    """The salt, as whoever has the installation's secret makes it."""
    return hmac.digest(secret, f"question|{row['question_uuid']}|{row['revision']}".encode(), "sha256")


def _guess_order(
    world: World, items: Sequence[Any], run_seed: bytes, set_id: str, tallies: dict[str, Tally]
) -> None:
    names = {item.lineage_uuid: world.index.names[item.position] for item in items}
    own, other = (draw_order(names, run_seed, f"{set_id}-{sitter}") for sitter in ("own", "other"))
    chance = 1 / len(names)
    tallies["order: the first question, as in one's own session"].add(
        own[0] == other[0], 1, chance, chance * (1 - chance)
    )
    lowest = min(names, key=names.__getitem__)
    tallies["order: the first question, by name"].add(lowest == other[0], 1, chance, chance * (1 - chance))
    rank = {lineage: place for place, lineage in enumerate(own)}
    rising = sum(rank[a] < rank[b] for a, b in zip(other[::2], other[1::2], strict=False))
    pairs = len(other) // 2
    tallies["order: which of two comes first, as in one's own session"].add(
        rising, pairs, pairs / 2, pairs / 4
    )


def run(months: int, worlds: int, *, per_discipline: int, set_size: int, leak: str = "") -> dict[str, Any]:
    """Many worlds: each attack over all of them, and what members have met of the next set."""
    tallies, told = defaultdict[str, Tally](Tally), defaultdict[str, int](int)
    for seed in range(worlds):
        found = play(months, seed, per_discipline=per_discipline, set_size=set_size, leak=leak)
        for name, one in found.pop("tallies").items():
            tallies[name].add(one.right, one.tried, one.expected, one.variance)
        for name, count in found.items():
            told[name] += count
    return {
        "attacks": {name: one.describe() for name, one in tallies.items()},
        "next_set_met_by_a_member_of_another_group": told["met"] / told["shared"],
        "anchors_met_by_a_member": told["known"] / max(told["anchors"], 1),
    }


def main() -> None:
    """Print the advantage of every attack over chance."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--months", type=int, default=24)
    parser.add_argument("--worlds", type=int, default=20)
    parser.add_argument("--leak", default="", choices=["", "share", "salt"])
    parser.add_argument("--json", action="store_true")
    chosen = parser.parse_args()
    found = run(chosen.months, chosen.worlds, per_discipline=1_500, set_size=60, leak=chosen.leak)
    if chosen.json:
        print(json.dumps(found, indent=2))
        return
    for name, one in found["attacks"].items():
        print(
            f"{name}: right {one['right']:.4f} of {one['tried']}, chance {one['chance']:.4f}, advantage {one['advantage']:+.4f} "
            f"({one['low']:+.4f} to {one['high']:+.4f})"
        )
    for name in ("next_set_met_by_a_member_of_another_group", "anchors_met_by_a_member"):
        print(f"{name.replace('_', ' ')}: {found[name]:.3f}")


if __name__ == "__main__":
    main()
