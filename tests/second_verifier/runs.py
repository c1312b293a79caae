"""What a run disclosed against what it committed to: plan, exclusions, sets and orders."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Sequence
from datetime import datetime
from itertools import chain, pairwise
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator
from py_arkworks_bls12381 import GT, G1Point, G2Point
from referencing import Registry, Resource

from tests.second_verifier.meetings import check_meetings, is_simulated
from tests.second_verifier.reading import (
    Bank,
    Run,
    World,
    climb,
    digest,
    has_bit,
    hexes,
    parse_lines,
    read_bank,
    set_root,
    sha,
    tree,
)

QUICKNET = (
    "83cf0f2896adee7eb8b5f01fcad3912212c437e0073e911fb90022d3e760183c8c4b450b6a0a6c3ac6a5776a2d1064510d1fec758c921cc22b0e17e63aaf4bcb"
    "5ed66304de9cf809bd274ca73bab4af5a6e9c76a4bc09e76eae8991ef5ece45a"
)
SCHEMAS = [
    json.loads((Path(__file__).parents[2] / f"docs/schemas/{name}.json").read_bytes())
    for name in ("plan", "words")
]
PLAN = Draft202012Validator(
    SCHEMAS[0],
    registry=Registry().with_resources((one["$id"], Resource.from_contents(one)) for one in SCHEMAS),
)
# A rest of a thousand years is none that a calendar has.
LONGEST_REST = 12_000
FILES = ("plan.json", "exclusions.json", "sets.jsonl", "orders.jsonl", "seed.json")


def gather_runs(world: World) -> None:
    """Sort the log's entries by their runs.

    Commits, draws and shares that may not follow one another are faults.
    """
    for number, entry in enumerate(world.entries, 1):
        kind, body = entry["kind"], entry["body"]
        if kind not in ("commit", "draw", "share", "open", "close", "disclose"):
            continue
        run = world.runs.setdefault(body["run"], Run(body["run"]))
        if kind == "commit":
            _add_commit(world, run, number, body)
        elif kind == "draw":
            if run.draws:
                world.found("drawn_twice", f"run {run.name} is drawn again in entry {number}")
            elif body["commit"] not in run.commits or body["commit"] in run.given_up:
                world.found(
                    "drawn_twice", f"entry {number} draws entry {body['commit']}, which is no standing commit"
                )
            for other in world.runs.values():
                for _, draw in other.draws if other is not run else ():
                    for again in {one["set"] for one in draw["sets"]} & {one["set"] for one in body["sets"]}:
                        world.found("drawn_twice", f"set {again} is drawn again in entry {number}")
            run.draws.append((number, body))
        elif kind == "share":
            if body["commit"] not in run.commits or body["commit"] in run.given_up or run.draws:
                world.found(
                    "share_wrong", f"the share of entry {number} is none of a commit that can be drawn"
                )
            run.shares.append(body)
        elif kind == "disclose":
            run.disclosed.append(body["files"])
        else:
            run.sessions_named.add(body["session"])
            if kind == "close":
                if body["session"] in world.closes:
                    world.found(
                        "answers_wrong", f"session {body['session']} is closed again in entry {number}"
                    )
                world.closes.setdefault(body["session"], (number, body))


def _add_commit(world: World, run: Run, number: int, body: dict[str, Any]) -> None:
    replaced = body.get("replaces")
    standing = [n for n in run.commits if n not in run.given_up]
    if run.draws:
        world.found("drawn_twice", f"run {run.name} is committed again in entry {number}, after its draw")
    elif standing != ([] if replaced is None else [replaced]):
        world.found(
            "drawn_twice",
            f"entry {number} commits run {run.name} and replaces {replaced}, but {standing} stands",
        )
    elif replaced is not None and not body.get("reason"):
        world.found("drawn_twice", f"entry {number} replaces a commit and does not say why")
    if replaced is not None:
        run.given_up.add(replaced)
    run.commits[number] = body


def read_runs(world: World) -> None:
    """The five files of every run that is disclosed."""
    for commit_of_any in world.of("commit"):
        read_bank(world, commit_of_any[1]["bank"]["root"])
    for run in world.runs.values():
        raws: dict[str, bytes] = {}
        for files in run.disclosed:
            for name, expected in files.items():
                raw = world.read(f"runs/{run.name}/{name}", str(expected))
                if raw is not None:
                    raws[name] = raw
        if not run.disclosed:
            continue
        for name in FILES:
            if not all(name in files for files in run.disclosed):
                world.found("file_missing", f"runs/{run.name}/{name} is not disclosed")
        are_good = [_read_file(world, run, name, raws[name]) for name in FILES if name in raws]
        run.is_whole = len(are_good) == len(FILES) and all(are_good)
        if run.is_whole and not run.draws:
            world.found("seed_wrong", f"run {run.name} is disclosed and was not drawn")


def _read_file(world: World, run: Run, name: str, raw: bytes) -> bool:
    fault = dict(
        zip(FILES, ("plan_wrong", "exclusions_wrong", "set_wrong", "order_wrong", "seed_wrong"), strict=True)
    )
    try:
        if name == "plan.json":
            run.plan, run.plan_sha = json.loads(raw), sha(raw)
            if misfits := [one.message for one in PLAN.iter_errors(run.plan)]:
                raise ValueError(misfits[0])
            if (run.plan["rest_months"] or 0) > LONGEST_REST:
                raise ValueError("rest_months")
            for new in run.plan["sets"]:
                new["shares"] = [(of, int(count), int(linking)) for of, count, linking in new["shares"]]
        elif name == "exclusions.json":
            whole = json.loads(raw)
            run.met, run.exclusions_bank = whole["met"], whole["bank_root"]
            for one in run.met:
                one["bits"] = base64.b64decode(one["bitmap"], validate=True)
                hexes(one["salt"]), one["name"]
        elif name == "sets.jsonl":
            for line in parse_lines(raw):
                size = 6 if line["drawn_in"] == run.name else 3
                if line["set"] in run.sets or any(len(item) != size for item in line["items"]):
                    raise ValueError(line["set"])
                for item in line["items"]:
                    hexes(item[0]), hexes(item[2])
                run.sets[line["set"]] = line
        elif name == "orders.jsonl":
            run.order_lines = parse_lines(raw)
            run.orders = {line["session"]: line for line in run.order_lines}
            for line in run.order_lines:
                (
                    line["set"],
                    line["style"],
                    line["model"],
                    line["organisation"],
                    line["repeat"],
                    line["is_reference"],
                )
                [int(place) for place in line["order"]]
        else:
            seed = json.loads(raw)
            run.seed, run.share = hexes(seed["seed"]), hexes(seed["share"])
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        world.found(fault[name], f"runs/{run.name}/{name} is not what the page says ({error!r})")
        return False
    return True


def check_runs(world: World) -> None:
    drawn = (run for run in world.runs.values() if run.is_whole and run.draws and run.number in run.commits)
    whole = sorted(drawn, key=lambda run: run.number)
    for run in whole:
        _check_seed(world, run)
        _check_plan(world, run)
        _check_exclusions_root(world, run)
        _check_sets(world, run, whole)
        _check_orders(world, run, whole)
        for session in sorted(run.sessions_named - run.orders.keys()):
            world.found("session_unknown", f"session {session} is not planned in run {run.name}")
    check_meetings(world, whole)


def _check_seed(world: World, run: Run) -> None:
    commit, draw = run.commit, run.draws[0][1]
    if digest("proctor share", run.share).hex() != commit["share_commitment"]:
        world.found("seed_wrong", f"the operator's share of run {run.name} is not what was committed to")
    beacon, named = draw.get("beacon"), commit.get("beacon")
    if (beacon and beacon["source"]) != (named and named["source"]):
        world.found("seed_wrong", f"run {run.name} is drawn with another beacon than was named")
    if beacon and named and "chain" in named and (fault := _find_beacon_fault(world, run, named, beacon)):
        world.found("beacon_wrong", f"run {run.name}: {fault}")
    others = [hexes(body["share"]) for body in run.shares if body["commit"] == run.number]
    seed = digest("proctor seed", run.share, *others, beacon["value"] if beacon else "")
    if seed != run.seed or digest("proctor seed commitment", run.seed).hex() != draw["seed_commitment"]:
        world.found(
            "seed_wrong", f"the seed of run {run.name} does not follow from the shares and the beacon"
        )


def _find_beacon_fault(world: World, run: Run, named: dict[str, Any], given: dict[str, Any]) -> str:
    """What is wrong with a round of drand's quicknet; empty for nothing."""
    if named["chain"] != "52db9ba70e0cc0f6eaf7803dd07447a1f5477735fd3f661792ba94600c84e971":
        return "another chain than this verifier knows"
    signature = bytes.fromhex(given.get("signature", ""))
    if hashlib.sha256(signature).hexdigest() != given["value"]:
        return "the value is not that of the signature"
    committed_at = datetime.fromisoformat(world.entries[run.number - 1]["at"])
    if committed_at.timestamp() >= 1_692_803_367 + 3 * (named["round"] - 1):
        return "the round was known at the commit"
    signed = G1Point.hash_to_curve(
        hashlib.sha256(int(named["round"]).to_bytes(8, "big")).digest(),
        b"BLS_SIG_BLS12381G1_XMD:SHA-256_SSWU_RO_NUL_",
    )
    try:
        point = G1Point.from_compressed_bytes(signature)
    except ValueError:
        return "the signature is no point"
    if GT.pairing(signed, G2Point.from_compressed_bytes(bytes.fromhex(QUICKNET))) != GT.pairing(
        point, G2Point()
    ):
        return "the chain did not sign it"
    return ""


def _check_plan(world: World, run: Run) -> None:
    commit, plan = run.commit, run.plan
    if digest("proctor plan", hexes(run.plan_sha)).hex() != commit["plan_commitment"]:
        world.found("plan_wrong", f"the plan of run {run.name} is not what was committed to")
    named = (plan.get("run"), plan.get("month"), plan.get("bank_root"))
    if named != (run.name, commit["month"], commit["bank"]["root"]):
        world.found("plan_wrong", f"the plan of run {run.name} is one of {named}")
    candidates = {line["model"] for line in run.order_lines if not line["is_reference"]}
    if len(candidates) != commit["candidate_count"]:
        world.found(
            "plan_wrong",
            f"run {run.name} has {len(candidates)} candidates, {commit['candidate_count']} committed",
        )
    numbers = [one.get("number", 0) for one in plan["sets"]]
    if numbers != sorted(numbers):
        world.found("plan_wrong", f"the sets of run {run.name} do not stand by number")


def _check_exclusions_root(world: World, run: Run) -> None:
    leaves = [
        digest("proctor met", one["name"], hexes(one["salt"]), hashlib.sha256(one["bits"]).digest())
        for one in run.met
    ]
    if tree(leaves) != run.commit["exclusions_root"] or run.exclusions_bank != run.commit["bank"]["root"]:
        world.found("exclusions_wrong", f"run {run.name}: who met what is not what was committed to")
    names = [one["name"] for one in run.met]
    owners = [name for name in names if name.startswith("organisation ")]
    if names[len(owners) :] not in (["avoided", "asked"], ["rested", "avoided", "asked"]):
        world.found("exclusions_wrong", f"run {run.name}: its names are {names}")


def _check_sets(world: World, run: Run, whole: Sequence[Run]) -> None:
    """Roots, items in the bank, and that the new sets are those which the seed draws."""
    draw = run.draws[0][1]
    new = [one["set"] for one in run.plan["sets"] if one["is_new"]]
    drawn = {one["set"]: one["root"] for one in draw["sets"]}
    own = {name for name, line in run.sets.items() if line["drawn_in"] == run.name}
    if set(new) != set(drawn) or own != set(drawn) or len(draw["sets"]) != len(drawn):
        world.found(
            "set_wrong",
            f"run {run.name}: {sorted(new)} are planned, {sorted(drawn)} drawn, {sorted(own)} disclosed",
        )
    bank = world.banks.get(run.commit["bank"]["root"], Bank())
    for name, line in run.sets.items():
        lineages = [item[0] for item in line["items"]]
        if any(a >= b for a, b in pairwise(lineages)):
            world.found("set_wrong", f"the items of set {name} do not stand by lineage")
        root = _find_root(world, line)
        if root is None and line["drawn_in"] is not None:
            world.found("set_wrong", f"set {name} was not drawn in run {line['drawn_in']}")
        elif root is None and (not world.has_former_runs or _is_drawn(world, name)):
            world.found("set_wrong", f"set {name} is older than a log that has no former runs")
        try:
            if root is not None and set_root(line["items"]) != root:
                world.found("set_wrong", f"the root of set {name} in run {run.name} is another")
        except ValueError:
            world.found("set_wrong", f"an item of set {name} has no hash")
        if line["drawn_in"] == run.name:
            for item in line["items"]:
                if not _is_in_bank(bank, item):
                    world.found(
                        "question_wrong",
                        f"set {name}, lineage {item[0]}: not in the bank that was committed to",
                    )
    if bank.rows:
        _check_drawing(world, run, bank, whole)


def _find_root(world: World, line: dict[str, Any]) -> str | None:
    """The root with which the run that the line names drew the set; null names none."""
    origin = world.runs.get(line["drawn_in"] or "")
    roots = {one["set"]: str(one["root"]) for one in (origin.draw or {}).get("sets", ())} if origin else {}
    return roots.get(line["set"])


def _is_drawn(world: World, name: str) -> bool:
    return any(
        one["set"] == name for run in world.runs.values() for _, draw in run.draws for one in draw["sets"]
    )


def _is_in_bank(bank: Bank, item: Sequence[Any]) -> bool:
    lineage, discipline, question, slot, salt, path = item
    row = bank.rows.get(lineage)
    if row is None or row[1] != discipline:
        return False
    try:
        leaf = digest("proctor slot", hexes(salt), hexes(question))
        return climb(leaf, slot, row[2], path) == row[3]
    except (ValueError, TypeError):
        return False


def _check_drawing(world: World, run: Run, bank: Bank, whole: Sequence[Run]) -> None:
    bits = {one["name"]: one["bits"] for one in run.met}
    asked, is_unique = bits.get("asked", b""), run.plan.get("policy") == "unique"
    avoided = {
        name for name, row in bank.rows.items() if not is_unique and has_bit(bits.get("avoided", b""), row[0])
    }
    resting = {name for name, row in bank.rows.items() if has_bit(bits.get("rested", b""), row[0])}
    before = _list_known(world, run, whole)
    drawn_now: dict[str, int | None] = {}
    for planned in run.plan["sets"]:
        line = run.sets.get(planned["set"])
        if not planned["is_new"] or line is None:
            continue
        name = planned["set"]
        owners = [f"organisation {key}" for key in planned["drawn_for"]]
        for owner in owners:
            if owner not in bits:
                world.found("exclusions_wrong", f"run {run.name}: nothing says what {owner} has met")
        chosen, anchors, slots = [
            digest(f"proctor {kind}", run.seed, name) for kind in ("set", "anchors", "slots")
        ]
        expected: dict[str, int | None] = {}
        read = set[str]()
        for discipline, count, anchor_count in planned["shares"]:
            allowed = [
                lineage
                for lineage, (place, of, _, _) in bank.rows.items()
                if of == discipline and not any(has_bit(bits.get(owner, b""), place) for owner in owners)
            ]
            linking = sorted(
                (x for x in allowed if has_bit(asked, bank.rows[x][0])), key=lambda x: _ticket(anchors, x)
            )
            linking = list(chain(*_pick(bank, linking, anchor_count, read)))[:anchor_count]
            expected |= dict.fromkeys(linking)
            wanted, others, repeated = count - len(linking), list[str](), list[str]()
            late = bank.rows.keys() - drawn_now if planned.get("from_others", False) else avoided
            for kind in ((False, False), (False, True), (True, False)):
                rest = sorted(
                    (x for x in set(allowed) - set(linking) if _put_off(x, resting, late) == kind),
                    key=lambda x: _ticket(chosen, x),
                )
                first, later = _pick(bank, rest, wanted - len(others), read)
                others, repeated = others + first, repeated + later
            for lineage in (others + repeated)[:wanted]:
                expected[lineage] = int.from_bytes(_ticket(slots, lineage)[:8], "big") % bank.rows[lineage][2]
        if planned.get("from_others", False):
            expected |= {x: slot for x, slot in drawn_now.items() if x in expected}
        drawn_now |= expected
        found = {item[0]: item for item in line["items"]}
        if found.keys() != expected.keys():
            much = len(found.keys() ^ expected.keys())
            world.found("set_wrong", f"set {name} does not follow from the seed: {much} lineages differ")
        for lineage in found.keys() & expected.keys():
            slot, item = expected[lineage], found[lineage]
            if slot is not None and item[3] != slot:
                world.found("set_wrong", f"set {name}, lineage {lineage}: slot {item[3]}, not {slot}")
            if slot is None and lineage in before and item[2] not in before[lineage]:
                world.found("set_wrong", f"set {name}: the anchor {lineage} is put with another question")
        if not is_unique:
            avoided |= found.keys()


def _put_off(lineage: str, resting: set[str], avoided: set[str]) -> tuple[bool, bool]:
    return lineage in resting, lineage in avoided and lineage not in resting


def _pick(bank: Bank, ordered: Sequence[str], count: int, read: set[str]) -> tuple[list[str], list[str]]:
    """The first ones of passages that were not read, and those of passages that were."""
    first, later = list[str](), list[str]()
    for lineage in ordered:
        passage = bank.passages.get(lineage, "")
        if passage in read:
            later.append(lineage)
        elif len(first) < count:
            first.append(lineage)
            read |= {passage} - {""}
    return first, later


def _ticket(key: bytes, lineage: str) -> bytes:
    return hashlib.sha256(key + bytes.fromhex(lineage)).digest()


def _list_known(world: World, run: Run, whole: Sequence[Run]) -> dict[str, set[str]]:
    """Lineage → the questions with which earlier sets of runs of the same kind put it."""
    known: dict[str, set[str]] = {}
    for other in whole:
        if is_simulated(other) != is_simulated(run):
            continue
        for line in other.sets.values():
            origin = world.runs.get(line["drawn_in"] or "")
            if origin is None or (origin.draws and origin.draws[0][0] < run.draws[0][0]):
                for item in line["items"]:
                    known.setdefault(item[0], set()).add(item[2])
    return known


def _check_orders(world: World, run: Run, whole: Sequence[Run]) -> None:
    lines = run.order_lines
    leaves = [
        digest(
            "proctor order",
            line["session"],
            line["set"],
            line["style"],
            line["model"],
            line["organisation"],
            ",".join(map(str, line["order"])),
        )
        for line in lines
    ]
    if tree(leaves) != run.draws[0][1]["orders_root"]:
        world.found("order_wrong", f"the orders of run {run.name} are not those of its draw")
    references = {
        other.plan["reference_model"]
        for other in whole
        if other.number <= run.number and is_simulated(other) == is_simulated(run)
    }
    for line in lines:
        if line["is_reference"] and line["model"] not in references:
            world.found("session_unknown", f"{line['model']} sits run {run.name} as a reference and is none")
    sessions = [line["session"] for line in lines]
    if sessions != sorted(set(sessions)) or len(sessions) != run.commit["session_count"]:
        world.found(
            "order_wrong",
            f"run {run.name} has {len(sessions)} orders for {run.commit['session_count']} sessions",
        )
    candidates = {one["model"]: one.get("organisation") for one in run.plan["candidates"]}
    for line in lines:
        if line["set"] not in run.sets:
            world.found(
                "order_wrong", f"session {line['session']} sits set {line['set']}, which is not disclosed"
            )
            continue
        items = run.sets[line["set"]]["items"]
        key = digest("proctor order", run.seed, line["session"])
        tickets = [_ticket(key, item[0]) for item in items]
        if line["order"] != sorted(range(len(items)), key=tickets.__getitem__):
            world.found(
                "order_wrong", f"the order of session {line['session']} does not follow from the seed"
            )
        planned = {one["set"] for one in run.plan["sets"]}
        if candidates.get(line["model"]) != line["organisation"] or line["set"] not in planned:
            world.found(
                "plan_wrong",
                f"session {line['session']}: {line['model']} or {line['set']} is not in the plan",
            )
        if line["style"] not in run.plan["styles"]:
            world.found(
                "plan_wrong", f"session {line['session']}: the style {line['style']} is not in the plan"
            )
