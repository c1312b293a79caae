"""A small public folder, written as docs/verify.md describes.

It has two runs, three candidates and a reference.

Its hashes are those of `tasks.exam.public.hashing`, so that two sets of them meet. A `Lie` is what an operator with all keys
in hand could write instead; the log is chained and signed over it.
"""

from __future__ import annotations

import base64
import hashlib
import json
import random
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from tasks.exam.public import compute_root, digest
from tests.second_verifier.sample_edition import REFERENCE, STYLE, WEIGHTS, erase, publish, sit
from tests.second_verifier.sample_folder import Folder, Item, Lie, dump, dump_lines
from tests.tasks.exam.kit import make_path

# Passage → places in the bank of the lineages that ask about it.
PASSAGES = {"canal": (3, 11, 20, 24), "orchard": (33, 41, 50), "tide": (8, 9), "harvest": (38, 57)}
OWNERS = {"alpha-1": "alpha", "beta-1": "beta", "gamma-1": "gamma", REFERENCE: "steady"}


@dataclass
class SampleBank:
    rows: list[list[Any]]
    slots: dict[str, list[tuple[bytes, bytes]]]
    contents: dict[bytes, tuple[bytes, str]]
    root: bytes
    version: int = 3

    def item(self, lineage: str, slot: int) -> Item:
        row = next(row for row in self.rows if row[0] == lineage)
        leaves = [digest("proctor slot", salt, question) for salt, question in self.slots[lineage]]
        salt, question = self.slots[lineage][slot]
        path = [step.hex() for step in make_path(leaves, slot)]
        return [lineage, row[1], question.hex(), slot, salt.hex(), path]


def draw_picture(place: int) -> bytes:
    """What stands for the picture of a question: no verifier looks at more than its hash."""
    return b"\x89PNG\r\n\x1a\n%d" % place


def make_bank(chance: random.Random, lie: Lie) -> SampleBank:
    rows: list[list[Any]] = []
    slots: dict[str, list[tuple[bytes, bytes]]] = {}
    contents: dict[bytes, tuple[bytes, str]] = {}
    for place in range(60):
        lineage, salt = chance.randbytes(32).hex(), chance.randbytes(32)
        picture = hashlib.sha256(draw_picture(place)).hexdigest()
        shown = [{"number": 1, "place": "stem", "sha256": picture}]
        content = json.dumps({"pictures": shown, "stem": f"Question {place}? [picture:1]"})
        question = digest("proctor question", salt, content)
        contents[question] = (salt, content)
        slots[lineage] = [(chance.randbytes(32), question) for _ in range(1 + place % 3)]
        root = compute_root([digest("proctor slot", own, its) for own, its in slots[lineage]])
        rows.append([lineage, "cs" if place % 2 else "physics", len(slots[lineage]), root.hex()])
    rows.sort(key=lambda row: (row[1], row[0]))
    # Texts that some of them ask about together.
    for passage, places in (PASSAGES | ({"again": lie.same_text} if lie.same_text else {})).items():
        for place in places:
            rows[place].append(digest("proctor sample passage", passage).hex())
    return SampleBank(rows, slots, contents, compute_root(make_leaves(rows)))


def leave(bank: SampleBank, place: int) -> SampleBank:
    """The next version, without the lineage of that place; another one of its passage names it."""
    gone = bank.rows[place]
    rows = [list(row) for row in bank.rows if row is not gone]
    next(row for row in rows if row[4:] == gone[4:]).append(gone[0])
    return SampleBank(rows, bank.slots, bank.contents, compute_root(make_leaves(rows)), bank.version + 1)


def make_leaves(rows: list[list[Any]]) -> list[bytes]:
    return [
        digest("proctor lineage", bytes.fromhex(row[0]), *row[1:3], *(bytes.fromhex(one) for one in row[3:]))
        for row in rows
    ]


def make_bits(bank: SampleBank, lineages: set[str]) -> bytes:
    return sum(1 << place for place, row in enumerate(bank.rows) if row[0] in lineages).to_bytes(8, "little")


def draw_items(
    bank: SampleBank,
    seed: bytes,
    name: str,
    shares: list[list[Any]],
    met: set[str],
    avoided: set[str],
    asked: dict[str, int],
) -> list[Item]:
    """The items of a new set.

    Anchors come first, then what is left in the order of its tickets, with avoided lineages last; a passage comes once.
    """

    def ticket(kind: str, lineage: str) -> bytes:
        return hashlib.sha256(digest(f"proctor {kind}", seed, name) + bytes.fromhex(lineage)).digest()

    held: set[str] = set()

    def take(rows: list[list[Any]], count: int) -> list[list[Any]]:
        """The first ones; a passage that the set has already comes last."""
        found = list[list[Any]]()
        for row in rows:
            if len(found) < count and not held.intersection(row[4:]):
                found.append(row)
                held.update(row[4:])
        return (found + [row for row in rows if row not in found])[:count]

    items = []
    for discipline, number, anchors in shares:
        allowed = [row for row in bank.rows if row[1] == discipline and row[0] not in met]
        linking = [row for row in allowed if row[0] in asked]
        linking = take(sorted(linking, key=lambda row: ticket("anchors", row[0])), anchors)
        items += [bank.item(row[0], asked[row[0]]) for row in linking]
        rest = [row for row in allowed if row not in linking]
        rest.sort(key=lambda row: (row[0] in avoided, ticket("set", row[0])))
        for row in take(rest, number - len(linking)):
            items.append(bank.item(row[0], int.from_bytes(ticket("slots", row[0])[:8], "big") % row[2]))
    return sorted(items)


def make_folder(path: Path, lie: Lie | None = None) -> Folder:
    """Write the folder; with a lie, what an operator who signs it would have published."""
    lie = lie or Lie()
    chance = random.Random(7)
    folder, bank = (
        Folder(path, Ed25519PrivateKey.from_private_bytes(chance.randbytes(32))),
        make_bank(chance, lie),
    )
    public = base64.b64encode(folder.public).decode()
    folder.add(
        "begin",
        {"installation": "sample", "key": folder.key_name, "public_key": public, "has_former_runs": False},
    )
    later = leave(bank, lie.leaves)
    for each in (bank, later):
        folder.write(
            f"banks/{each.root.hex()}.jsonl",
            dump_lines([{"bank_version": each.version, "lineages": len(each.rows)}, *each.rows]),
        )
    known: dict[str, list[Item]] = {}
    first = _add_run(folder, bank, chance, lie, known, 1)
    second = _add_run(folder, later, chance, lie, known, 2)
    _add_question(folder, bank, lie, known)
    folder.add("retire", {"count": 1, "bank_version": 5, "reason": "leaked"})
    folder.add("restore", {"count": 1, "bank_version": 6, "reason": "not leaked after all"})
    erase(folder, lie, first, second)
    folder.add("approve", {"what": "release", "target": first, "asked_by": "mei", "approved_by": "otto"})
    folder.add("tracing", {"run": second, "commitment": digest("proctor sample").hex()})
    folder.add_head()
    folder.finish()
    return folder


def _add_run(
    folder: Folder,
    bank: SampleBank,
    chance: random.Random,
    lie: Lie,
    known: dict[str, list[Item]],
    number: int,
) -> str:
    run, month = f"run-{number}", f"2030-0{number}"
    at = f"{month}-05T08:00:00Z"
    sitting = {
        1: {"set-1": ["alpha-1", REFERENCE], "set-2": ["beta-1", REFERENCE]},
        2: {"set-3": ["gamma-1"], "set-2": ["alpha-1"]},
    }[number]
    if lie.sits_again and number == 2:
        sitting["set-1"] = ["alpha-1"]
    new = [name for name in sitting if name not in known]
    met = {owner: set[str]() for owner in sorted({OWNERS[m] for models in sitting.values() for m in models})}
    asked = {item[0]: item[3] for items in known.values() for item in items}
    if number == 2 and not lie.forgotten_met:
        met["alpha"] = {item[0] for item in known["set-1"]}
        # Of these passages it has met a lineage that is in this bank, or one that has left it.
        asking = [
            (row[4], row[:1] + ([] if lie.forgotten_reading else row[5:])) for row in bank.rows if row[4:]
        ]
        read = {passage for passage, lineages in asking if met["alpha"].intersection(lineages)}
        if not lie.forgotten_siblings:
            met["alpha"] |= {row[0] for row in bank.rows if read.intersection(row[4:])}
    exclusions = [
        {
            "name": name,
            "salt": chance.randbytes(32).hex(),
            "bitmap": base64.b64encode(make_bits(bank, lineages)).decode(),
        }
        for name, lineages in (
            *((f"organisation {owner}", lineages) for owner, lineages in met.items()),
            ("avoided", set()),
            ("asked", set(asked)),
        )
    ]
    shares = [["cs", 5, 2], ["physics", 3, 1]]
    models = sorted({model for models in sitting.values() for model in models} | {REFERENCE})
    plan = {
        "run": run, "month": month, "season": "2030", "salt": chance.randbytes(32).hex(), "bank_root": bank.root.hex(),
        "policy": "shared", "set_size": 8, "rest_months": None, "styles": [STYLE], "repeats": 1, "weights": WEIGHTS,
        "reference_model": REFERENCE,
        "candidates": [{"model": m, "organisation": OWNERS[m], "registry": digest("r", m).hex()} for m in models],
        "sets": [
            {
                "set": name, "number": int(name[-1]), "is_new": name in new, "organisations": sorted({OWNERS[m] for m in sitting[name]}),
                **({"drawn_for": sorted({OWNERS[m] for m in sitting[name]}), "shares": shares} if name in new else {"drawn_for": [], "shares": []}),
            }
            for name in sorted(sitting)
        ],
    }  # fmt: skip
    plan_raw, share, other = dump(plan), chance.randbytes(32), chance.randbytes(32)
    sessions = sorted(
        (f"{run}-{name}-{model}", name, model) for name, sat in sitting.items() for model in sat
    )
    committed = {
        "run": run, "month": month, "is_simulated": False, "share_commitment": digest("proctor share", share).hex(),
        "bank": {"version": bank.version, "root": bank.root.hex(), "lineages": len(bank.rows)},
        "exclusions_root": compute_root(
            [digest("proctor met", one["name"], bytes.fromhex(one["salt"]), hashlib.sha256(base64.b64decode(one["bitmap"])).digest()) for one in exclusions]
        ).hex(),
        "plan_commitment": digest("proctor plan", hashlib.sha256(plan_raw).digest()).hex(),
        "session_count": len(sessions), "candidate_count": len({m for _, _, m in sessions} - {REFERENCE}), "code_version": "1",
        "beacon": {"source": "noon of 6 January"} if lie.drand is None else {name: lie.drand[name] for name in ("source", "chain", "round")},
        "replaces": None, "reason": None,
    }  # fmt: skip
    commit = folder.add("commit", committed, at)
    if number == 1:
        commit = folder.add(
            "commit", committed | {"replaces": commit, "reason": "the beacon did not come"}, at
        )
    folder.add("share", {"run": run, "commit": commit, "candidate": "alpha-1", "share": other.hex()}, at)
    given = lie.drand or {"source": "noon of 6 January", "value": "12345"}
    seed = digest("proctor seed", lie.share or share, other, given["value"])
    sets = dict[str, list[Item]]()
    avoided = set[str]()
    for name in sorted(sitting):
        if name in new:
            owners = {OWNERS[model] for model in sitting[name]}
            sets[name] = draw_items(
                bank, seed, name, shares, set().union(*(met[o] for o in owners)), avoided, asked
            )
            if lie.swapped_set:
                row = next(
                    row
                    for row in bank.rows
                    if row[0] not in {item[0] for item in sets[name]} and row[1] == sets[name][0][1]
                )
                sets[name] = sorted([*sets[name][1:], bank.item(row[0], 0)])
            if lie.other_slot:
                place = next(
                    i
                    for i, item in enumerate(sets[name])
                    if len(bank.slots[item[0]]) > 1 and item[0] not in asked
                )
                sets[name][place] = bank.item(
                    sets[name][place][0], (sets[name][place][3] + 1) % len(bank.slots[sets[name][place][0]])
                )
            avoided |= {item[0] for item in sets[name]}
        else:
            sets[name] = known[name]
    known |= sets
    orders: list[dict[str, Any]] = []
    for session, name, model in sessions:
        key = digest("proctor order", seed, session)
        tickets = [hashlib.sha256(key + bytes.fromhex(item[0])).digest() for item in sets[name]]
        order = sorted(range(8), key=tickets.__getitem__)
        orders.append(
            {"session": session, "model": model, "organisation": OWNERS[model], "set": name, "style": STYLE, "repeat": 1,
             "is_reference": model == REFERENCE, "order": order[::-1] if lie.swapped_order else order}
        )  # fmt: skip
    order_leaves = [
        digest(
            "proctor order",
            o["session"],
            o["set"],
            STYLE,
            o["model"],
            o["organisation"],
            ",".join(map(str, o["order"])),
        )
        for o in orders
    ]
    drawn = {
        "run": run, "commit": commit, "beacon": {name: given[name] for name in ("source", "value", "signature") if name in given},
        "seed_commitment": digest("proctor seed commitment", seed).hex(),
        "sets": [{"set": name, "root": _root(sets[name]).hex()} for name in new], "orders_root": compute_root(order_leaves).hex(),
    }  # fmt: skip
    for _ in range(2 if lie.second_draw else 1):
        folder.add("draw", drawn, at)
    printed = sit(folder, chance, lie, run, sets, orders, at)
    plan_raw = dump(plan | {"season": "another"}) if lie.other_plan else plan_raw
    raws = {
        "plan.json": plan_raw,
        "exclusions.json": dump({"bank_root": bank.root.hex(), "met": exclusions}),
        "sets.jsonl": dump_lines(
            [
                {
                    "set": name,
                    "drawn_in": run if name in new else "run-1",
                    "items": items if name in new else [i[:3] for i in items],
                }
                for name, items in sorted(sets.items())
            ]
        ),
        "orders.jsonl": dump_lines(orders),
        "seed.json": dump({"share": share.hex(), "seed": seed.hex()}),
    }
    folder.add(
        "disclose",
        {"run": run, "files": {n: folder.write(f"runs/{run}/{n}", raw) for n, raw in raws.items()}},
        at,
    )
    publish(folder, lie, run, month, sets, printed)
    folder.add_head()
    return run


def _root(items: list[Item]) -> bytes:
    return compute_root(
        [digest("proctor item", bytes.fromhex(i[0]), i[1], bytes.fromhex(i[2])) for i in items]
    )


def _add_question(folder: Folder, bank: SampleBank, lie: Lie, known: dict[str, list[Item]]) -> None:
    lineage, discipline, question, slot, salt, path = known["set-1"][0]
    place = next(n for n, row in enumerate(bank.rows) if row[0] == lineage)
    leaves = make_leaves(bank.rows)
    own_salt, content = bank.contents[bytes.fromhex(question)]
    body = {
        "commitment": question, "salt": own_salt.hex(), "content": content, "bank_root": bank.root.hex(), "lineage": lineage,
        "discipline": discipline, "slot": slot, "slot_salt": salt, "slots": len(bank.slots[lineage]), "path": path,
        "lineage_path": [step.hex() for step in make_path(leaves, place)],
        "sets": sorted(name for name, items in known.items() if any(item[2] == question for item in items)),
    }  # fmt: skip
    if lie.shown != "lost":
        (picture,) = json.loads(content)["pictures"]
        drawn = {hashlib.sha256(draw_picture(n)).hexdigest(): draw_picture(n) for n in range(len(bank.rows))}
        shown = drawn[picture["sha256"]] if lie.shown is None else draw_picture(len(bank.rows))
        folder.write(f"questions/{picture['sha256']}.picture", shown)
    sha = folder.write(f"questions/{question[:16]}.json", dump(body))
    folder.add("question", {"commitment": question, "file": f"{question[:16]}.json", "sha256": sha})
