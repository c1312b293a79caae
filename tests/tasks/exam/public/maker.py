"""Runs made by docs/verify.md without the verifier's own code: drawn, sat, disclosed."""

from __future__ import annotations

import base64
import hashlib
import random
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from tasks.exam.public.hashing import compute_root, digest, make_path
from tests.tasks.exam.public.made import Bank, Made, dump, dump_lines, hash_bytes, pack, root_answers

WEIGHTS = {"Economics": 0.25, "Law": 0.25, "Science": 0.5}
REFERENCE = "ref"


@dataclass
class Drawn:
    """A set: lineage position → slot, and what the world knows of its items."""

    name: str
    drawn_in: str
    items: dict[int, int]


@dataclass
class Sitting:
    session: str
    model: str
    organisation: str
    set_name: str
    style: str
    repeat: int
    is_reference: bool
    order: list[int] = field(default_factory=list)
    answers: list[str | None] = field(default_factory=list)
    stars: str = ""


@dataclass
class RunPlan:
    """What a run of the world is to be."""

    run: str
    month: str
    season: str
    policy: str
    new: list[tuple[str, list[str], list[list[Any]]]]
    sittings: list[tuple[str, str, str, bool]]
    met: dict[str, set[int]]
    asked: dict[int, int]
    is_simulated: bool = False
    styles: tuple[str, ...] = ("plain",)
    repeats: int = 2
    rest_months: int | None = None


class Maker:
    """Makes one world; `sets` are all that were drawn."""

    def __init__(self, made: Made, bank: Bank, rng: random.Random, *, unanswered_share: float = 0.1) -> None:
        self.made, self.bank, self.rng = made, bank, rng
        self.unanswered_share = unanswered_share
        self.sets: dict[str, Drawn] = {}
        self.sittings: dict[str, list[Sitting]] = {}
        self.plans: dict[str, dict[str, Any]] = {}
        made.files[f"banks/{bank.root}.jsonl"] = bank.file

    def draw(self, plan: RunPlan, seed: bytes, avoided: set[int]) -> None:
        """Draw the new sets of a plan from its seed; step by step as docs/verify.md says."""
        names = [one.name for one in self.bank.lineages]
        for set_name, drawn_for, shares in plan.new:
            keys = [digest(f"proctor {what}", seed, set_name) for what in ("set", "anchors", "slots")]
            tickets = [[hashlib.sha256(key + name).digest() for name in names] for key in keys]
            items: dict[int, int] = {}
            for discipline, count, anchors in shares:
                allowed = {
                    place
                    for place, one in enumerate(self.bank.lineages)
                    if one.discipline == discipline
                    and not any(place in plan.met[owner] for owner in drawn_for)
                }
                chosen = sorted(allowed & set(plan.asked), key=tickets[1].__getitem__)[:anchors]
                items |= {place: plan.asked[place] for place in chosen}
                rest = sorted(
                    allowed - set(chosen),
                    key=lambda place: (place in avoided and plan.policy != "unique", tickets[0][place]),
                )
                for place in rest[: count - len(chosen)]:
                    slots = len(self.bank.lineages[place].slots)
                    items[place] = int.from_bytes(tickets[2][place][:8], "big") % slots
            avoided |= set(items)
            self.sets[set_name] = Drawn(set_name, plan.run, items)

    def list_items(self, drawn: Drawn, *, with_proof: bool) -> list[list[Any]]:
        found = []
        for place in sorted(drawn.items, key=lambda place: self.bank.lineages[place].name):
            one, slot = self.bank.lineages[place], drawn.items[place]
            item: list[Any] = [one.name.hex(), one.discipline, one.questions[one.slots[slot]].hex()]
            if with_proof:
                item += [
                    slot,
                    one.salts[slot].hex(),
                    [node.hex() for node in make_path(one.list_leaves(), slot)],
                ]
            found.append(item)
        return found

    def root_set(self, drawn: Drawn) -> str:
        items = self.list_items(drawn, with_proof=False)
        return compute_root(
            digest("proctor item", bytes.fromhex(item[0]), item[1], bytes.fromhex(item[2])) for item in items
        ).hex()

    def add_run(
        self,
        plan: RunPlan,
        *,
        beacon: dict[str, Any] | None = None,
        committed_at: str = "",
        shares: Sequence[str] = (),
        is_committed_again: bool = False,
        is_disclosed: bool = True,
        avoided: set[int] | None = None,
        at: str = "",
    ) -> None:
        made, rng, bank = self.made, self.rng, self.bank
        size = len(bank.lineages)
        avoided = set(avoided or set())
        owners = sorted({owner for _, owner, _, _ in plan.sittings})
        met = [(f"organisation {owner}", sorted(plan.met.get(owner, set()))) for owner in owners]
        met += [("avoided", sorted(avoided)), ("asked", sorted(plan.asked))]
        bitmaps = [
            {"name": name, "salt": rng.randbytes(32).hex(), "bitmap": pack(places, size)}
            for name, places in met
        ]
        exclusions = {"bank_root": bank.root, "met": bitmaps}
        exclusions_root = compute_root(
            digest(
                "proctor met",
                row["name"],
                bytes.fromhex(row["salt"]),
                hashlib.sha256(base64.b64decode(row["bitmap"])).digest(),
            )
            for row in bitmaps
        ).hex()
        new = {name: (drawn_for, each) for name, drawn_for, each in plan.new}
        names = sorted({name for _, _, name, _ in plan.sittings})
        described = {
            "run": plan.run, "month": plan.month, "season": plan.season, "salt": rng.randbytes(16).hex(),
            "bank_root": bank.root, "policy": plan.policy, "set_size": 10, "rest_months": plan.rest_months,
            "styles": list(plan.styles), "repeats": plan.repeats, "weights": WEIGHTS, "reference_model": REFERENCE,
            "candidates": [
                {"model": model, "organisation": owner, "registry": hash_bytes(model.encode())}
                for model, owner in sorted({(model, owner) for model, owner, _, _ in plan.sittings})
            ],
            "sets": [
                {
                    "set": name, "number": int(name.rpartition("/")[2]), "is_new": name in new,
                    "organisations": sorted({owner for _, owner, sat, _ in plan.sittings if sat == name}),
                    "drawn_for": new[name][0] if name in new else [], "shares": new[name][1] if name in new else [],
                }
                for name in names
            ],
        }  # fmt: skip
        raw_plan = dump(described)
        share = rng.randbytes(32)
        sittings = [
            Sitting("s" + rng.randbytes(12).hex(), model, owner, name, style, repeat, is_reference)
            for model, owner, name, is_reference in plan.sittings
            for style in plan.styles
            for repeat in range(1, (1 if is_reference else plan.repeats) + 1)
        ]
        sittings.sort(key=lambda one: one.session)
        commit = {
            "run": plan.run, "month": plan.month, "is_simulated": plan.is_simulated,
            "share_commitment": digest("proctor share", share).hex(),
            "bank": {"version": bank.version, "root": bank.root, "lineages": size}, "exclusions_root": exclusions_root,
            "plan_commitment": digest("proctor plan", hashlib.sha256(raw_plan).digest()).hex(),
            "session_count": len(sittings), "candidate_count": len({one.model for one in sittings if not one.is_reference}),
            "code_version": "1.0",
            "beacon": None if beacon is None else {name: beacon[name] for name in ("source", "chain", "round")},
            "replaces": None, "reason": None,
        }  # fmt: skip
        number = made.add("commit", dict(commit), committed_at or at)
        if is_committed_again:
            made.add(
                "share",
                {"run": plan.run, "commit": number, "candidate": "candidate:early", "share": "12" * 32},
                at,
            )
            number = made.add(
                "commit", {**commit, "replaces": number, "reason": "the bank has changed"}, committed_at or at
            )
        given = []
        for candidate in shares:
            given.append(digest("a share", candidate))
            made.add(
                "share",
                {"run": plan.run, "commit": number, "candidate": candidate, "share": given[-1].hex()},
                at,
            )
        seed = digest("proctor seed", share, *given, beacon["value"] if beacon else "")
        self.draw(plan, seed, avoided)
        for one in sittings:
            key = digest("proctor order", seed, one.session)
            lineages = [
                bytes.fromhex(item[0]) for item in self.list_items(self.sets[one.set_name], with_proof=False)
            ]
            one.order = sorted(
                range(len(lineages)), key=lambda place: hashlib.sha256(key + lineages[place]).digest()
            )
        made.add(
            "draw",
            {
                "run": plan.run, "commit": number,
                "beacon": None if beacon is None else {name: beacon[name] for name in ("source", "value", "signature")},
                "seed_commitment": digest("proctor seed commitment", seed).hex(),
                "sets": [{"set": name, "root": self.root_set(self.sets[name])} for name in sorted(new)],
                "orders_root": compute_root(hash_order(one) for one in sittings).hex(),
            },
            at,
        )  # fmt: skip
        self.sittings[plan.run], self.plans[plan.run] = sittings, described
        if not is_disclosed:
            return
        for one in sittings:
            self.sit(plan.run, one, at)
        inside = f"runs/{plan.run}"
        files = {
            "plan.json": raw_plan,
            "exclusions.json": dump(exclusions),
            "sets.jsonl": dump_lines(
                [
                    {
                        "set": name, "drawn_in": self.sets[name].drawn_in,
                        "items": self.list_items(self.sets[name], with_proof=name in new),
                    }
                    for name in names
                ]
            ),
            "orders.jsonl": dump_lines([describe_order(one) for one in sittings]),
            "seed.json": dump({"share": share.hex(), "seed": seed.hex()}),
        }  # fmt: skip
        made.files |= {f"{inside}/{name}": raw for name, raw in files.items()}
        made.add(
            "disclose", {"run": plan.run, "files": {name: hash_bytes(raw) for name, raw in files.items()}}, at
        )

    def sit(self, run: str, one: Sitting, at: str) -> None:
        """Sit a session: one answer in ten is missing, one judgement in twelve unreadable."""
        made, rng = self.made, self.rng
        made.add("open", {"run": run, "session": one.session}, at)
        stars = [""] * len(one.order)
        for place in one.order:
            answer = None if rng.random() < self.unanswered_share else rng.randbytes(32).hex()
            one.answers.append(answer)
            stars[place] = "u" if answer is None else rng.choice("0123" * 3 + "x")
        one.stars = "".join(stars)
        made.add(
            "close",
            {
                "run": run, "session": one.session, "question_count": len(one.order),
                "answer_count": sum(answer is not None for answer in one.answers),
                "answers_root": root_answers(one.session, one.answers).hex(),
                "reason": rng.choice([None, "forced", "deadline"]),
            },
            at,
        )  # fmt: skip
        made.receipts += [
            made.sign_receipt(one.session, seq, answer)
            for seq, answer in enumerate(one.answers[:2], start=1)
            if answer is not None
        ]

    def publish(
        self,
        run: str,
        revision: int = 1,
        borrowed: Sequence[tuple[str, Sitting]] = (),
        reason: str | None = None,
        at: str = "",
    ) -> None:
        made = self.made
        speaking = sorted(
            [(run, one) for one in self.sittings[run]] + list(borrowed), key=lambda pair: pair[1].session
        )
        rows = [
            {
                "session": one.session, "sat_in_run": sat_in, "set": one.set_name, "model": one.model,
                "organisation": one.organisation, "style": one.style, "repeat": one.repeat,
                "is_reference": one.model == REFERENCE, "is_complete": "-" not in one.stars, "stars": one.stars,
                "answers": one.answers,
            }
            for sat_in, one in speaking
        ]  # fmt: skip
        counted = [one for _, one in speaking if "-" not in one.stars]
        gathered = self.gather(counted)
        edition = f"{run}/{revision}"
        described = {
            "edition": edition, "run": run, "revision": revision, "month": self.plans[run]["month"],
            "published_at": "2026-12-01T00:00:00+00:00", "reference_model": REFERENCE, "judge": "judge/1",
            "weights": WEIGHTS,
            "scores": [
                {"model": model, "style": style, **self.score(gathered, model, style)}
                for model, style in sorted({(one.model, one.style) for one in counted})
            ],
        }  # fmt: skip
        inside = f"editions/{run}-{revision}"
        files = {"edition.json": dump(described), "sessions.jsonl": dump_lines(rows)}
        made.files |= {f"{inside}/{name}": raw for name, raw in files.items()}
        body = {
            "edition": edition, "run": run, "revision": revision,
            "replaces": f"{run}/{revision - 1}" if revision > 1 else None, "reason": reason, "overridden": [],
            "override_reason": None, "answers_root": "", "judgements_root": "", "files": dict.fromkeys(files, ""),
        }  # fmt: skip
        made.add("edition", body, at)
        made.seal_edition(edition)

    def score(
        self, gathered: Mapping[tuple[str, str], dict[tuple[str, ...], Stars]], model: str, style: str
    ) -> dict[str, Any]:
        """S, R and their counts by the words of docs/verify.md, in fractions."""
        mine, others = (gathered.get((name, style), {}) for name in (model, REFERENCE))
        means = {key: Fraction(sum(stars.values_of()), len(stars)) for key, stars in mine.items()}
        score = weigh(means)
        pairs = {key: stars for key, stars in others.items() if stars.readable() and key in mine}
        if model == REFERENCE:
            means = {
                key: Fraction(sum(stars.readable()), len(stars.readable())) for key, stars in pairs.items()
            }
        above = weigh({key: means[key] for key in pairs})
        below = weigh(
            {key: Fraction(sum(stars.readable()), len(stars.readable())) for key, stars in pairs.items()}
        )
        return {
            "question_count": sum(len(stars) for stars in mine.values()),
            "score": None if score is None else float(score / 3 * 100),
            "relative_score": float(above / below * 100) if above is not None and below else None,
            "pair_count": sum(
                len(mine[key].readable()) if model == REFERENCE else len(mine[key]) for key in pairs
            ),
        }

    def gather(self, counted: Sequence[Sitting]) -> dict[tuple[str, str], dict[tuple[str, ...], Stars]]:
        """Model and style → question → its stars."""
        found: dict[tuple[str, str], dict[tuple[str, ...], Stars]] = {}
        items = {one.set_name: self.list_items(self.sets[one.set_name], with_proof=False) for one in counted}
        for one in counted:
            stars = found.setdefault((one.model, one.style), defaultdict(Stars))
            for item, star in zip(items[one.set_name], one.stars, strict=True):
                stars[tuple(item)].append(star)
        return found


class Stars(list[str]):
    """The stars of one question over the sessions."""

    def values_of(self) -> list[int]:
        return [int(star) if star in "0123" else 0 for star in self]

    def readable(self) -> list[int]:
        return [int(star) if star in "0123" else 0 for star in self if star != "x"]


def weigh(means: dict[tuple[str, ...], Fraction]) -> Fraction | None:
    """Weighted sum of the disciplines' means; a key's second part is its discipline."""
    total = Fraction(0)
    for discipline, weight in WEIGHTS.items():
        found = [mean for key, mean in means.items() if key[1] == discipline]
        if not found:
            return None
        total += Fraction(weight) * sum(found) / len(found)
    return total


def describe_order(one: Sitting) -> dict[str, Any]:
    return {
        "session": one.session, "model": one.model, "organisation": one.organisation, "set": one.set_name,
        "style": one.style, "repeat": one.repeat, "is_reference": one.is_reference, "order": one.order,
    }  # fmt: skip


def hash_order(one: Sitting) -> bytes:
    return digest(
        "proctor order",
        one.session,
        one.set_name,
        one.style,
        one.model,
        one.organisation,
        ",".join(map(str, one.order)),
    )
