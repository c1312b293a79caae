"""Public folders made from scratch by docs/verify.md.

They need no home, no bank and none of the verifier's own code. The world: a bank of 110 lineages in three disciplines, and runs
in this order:

- `2026-09`: organisations `a` and `b` share a new set, `c` has one of its own, the reference of `r` answers both.
- `sim-2026-09`: a simulation with the policy `unique`.
- `2026-10`: committed to twice, with a beacon and two candidates' shares. `c` sits the set that `a` and `b` had; these two share
  a new one with anchors; the reference's sitting of the older set serves again.
- `2026-11`: drawn and not disclosed.
"""

from __future__ import annotations

import random

from tasks.exam.public.hashing import make_path
from tests.tasks.exam.public.made import ROUND, Made, dump, hash_bytes, make_bank
from tests.tasks.exam.public.maker import REFERENCE, Maker, RunPlan

SHARES = [["Economics", 4, 1], ["Law", 4, 2], ["Science", 2, 0]]
SIZES = {"Economics": 40, "Law": 40, "Science": 30}


def make_world() -> tuple[Made, Maker]:
    """The whole world of this module's docstring."""
    rng = random.Random(20260901)
    made = Made()
    maker = Maker(made, make_bank(rng, SIZES), rng)
    made.add(
        "begin",
        {
            "installation": "test",
            "key": made.key_name,
            "public_key": made.public_key,
            "has_former_runs": False,
        },
    )
    nothing = {owner: set[int]() for owner in "abcr"}
    plain = [[name, count, 0] for name, count, _ in SHARES]
    maker.add_run(
        RunPlan(
            "2026-09", "2026-09", "2026", "shared",
            [("2026/0001", ["a", "b"], plain), ("2026/0002", ["c"], plain)],
            [
                ("a-1", "a", "2026/0001", False), ("a-2", "a", "2026/0001", False), ("b-1", "b", "2026/0001", False),
                ("c-1", "c", "2026/0002", False), ("ref", "r", "2026/0001", True), ("ref", "r", "2026/0002", True),
            ],
            nothing, {}, styles=("plain", "few-shot"),
        )
    )  # fmt: skip
    maker.publish("2026-09")
    maker.add_run(
        RunPlan(
            "sim-2026-09", "2026-09", "sim-2026", "unique",
            [("sim-2026/0001", ["sim:a"], plain), ("sim-2026/0002", ["sim:b"], plain)],
            [
                ("a-1", "sim:a", "sim-2026/0001", False), ("b-1", "sim:b", "sim-2026/0002", False),
                ("ref", "sim:r", "sim-2026/0001", True), ("ref", "sim:r", "sim-2026/0002", True),
            ],
            {owner: set() for owner in ("sim:a", "sim:b", "sim:r")}, {}, is_simulated=True, repeats=1,
        )
    )  # fmt: skip
    maker.publish("sim-2026-09")
    first, second = (maker.sets[f"2026/000{number}"].items for number in (1, 2))
    met = {"a": set(first), "b": set(first), "c": set(second), "r": set(first) | set(second)}
    later = "2026-10-05T08:00:00+00:00"
    maker.add_run(
        RunPlan(
            "2026-10", "2026-10", "2026", "shared",
            [("2026/0003", ["a", "b"], SHARES)],
            [
                ("a-1", "a", "2026/0003", False), ("b-1", "b", "2026/0003", False), ("c-1", "c", "2026/0001", False),
                ("ref", "r", "2026/0003", True),
            ],
            met, {**second, **first}, styles=("plain", "few-shot"),
        ),
        beacon=ROUND, committed_at="2023-09-15T10:00:00+00:00", shares=["candidate:a-1", "candidate:b-1"], is_committed_again=True,
        avoided=set(first) | set(second), at=later,
    )  # fmt: skip
    again = [
        ("2026-09", one)
        for one in maker.sittings["2026-09"]
        if one.model == REFERENCE and one.set_name == "2026/0001"
    ]
    left = maker.sittings["2026-10"][0]
    left.stars = left.stars[:-1] + "-" if left.stars[-1] != "u" else "-" + left.stars[1:]
    maker.publish("2026-10", borrowed=again, at=later)
    maker.publish("2026-09", 2, reason="a judge was corrected", at=later)
    disclose_question(maker, "2026/0001", ["2026/0001"], later)
    for kind, body in (
        ("approve", {"what": "override", "target": "2026-09/1", "asked_by": "ann", "approved_by": "bo"}),
        ("retire", {"count": 2, "bank_version": 8, "reason": "leaked"}),
        ("restore", {"count": 1, "bank_version": 9, "reason": "not leaked after all"}),
        ("tracing", {"run": "2026-10", "commitment": "ef" * 32}),
        ("weather", {"is": "fair"}),
    ):
        made.add(kind, body, later)
    met = {**met, "a": set(first) | set(maker.sets["2026/0003"].items)}
    maker.add_run(
        RunPlan(
            "2026-11", "2026-11", "2026", "shared", [("2026/0004", ["a"], plain)],
            [("a-1", "a", "2026/0004", False)], met, {},
        ),
        is_disclosed=False, at=later,
    )  # fmt: skip
    made.heads_at = [1, 40, len(made.entries)]
    return made, maker


def disclose_question(maker: Maker, of_set: str, sets: list[str], at: str) -> None:
    """Disclose one question of a set, which only these sets have."""
    bank, drawn = maker.bank, maker.sets[of_set]
    others = {
        tuple(item[:3])
        for name, one in maker.sets.items()
        if name not in sets
        for item in maker.list_items(one, with_proof=False)
    }
    place, slot = next(
        (place, slot)
        for place, slot in drawn.items.items()
        if (
            bank.lineages[place].name.hex(),
            bank.lineages[place].discipline,
            bank.lineages[place].questions[bank.lineages[place].slots[slot]].hex(),
        )
        not in others
    )
    one = bank.lineages[place]
    commitment = one.questions[one.slots[slot]]
    salt, content = bank.contents[commitment]
    raw = dump(
        {
            "commitment": commitment.hex(), "salt": salt.hex(), "content": content, "bank_root": bank.root,
            "lineage": one.name.hex(), "discipline": one.discipline, "slot": slot, "slot_salt": one.salts[slot].hex(),
            "slots": len(one.slots), "path": [node.hex() for node in make_path(one.list_leaves(), slot)],
            "lineage_path": [node.hex() for node in make_path(bank.list_leaves(), place)], "sets": sets,
        }
    )  # fmt: skip
    name = f"{commitment.hex()}.json"
    maker.made.files[f"questions/{name}"] = raw
    maker.made.add("question", {"commitment": commitment.hex(), "file": name, "sha256": hash_bytes(raw)}, at)
