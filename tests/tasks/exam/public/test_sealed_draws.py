"""A run's draw is sealed before the first question; at its close anybody draws it again."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import random
import re
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from sqlalchemy import select, update

from schemas.errors import ContractError, GateError, StoreError, UsageError
from schemas.settings import Settings
from tasks.exam.plan import RunPlan, RunWishes, publish_plan
from tasks.exam.plan.bank import BankIndex, DrawnQuestion, Masks, draw_set, index_bank
from tasks.exam.public import verifier
from tasks.exam.public.bank.bank_file import seal_bank
from tasks.exam.public.bank.bank_rows import FrameRows, LakeRows
from tasks.exam.public.bank.blinding import read_blinding_secret
from tasks.exam.public.draws import disclosing
from tasks.exam.public.draws.committing import add_share, commit_run, draw_run
from tasks.exam.public.draws.disclosing import disclose_closed_runs, find_refused_runs
from tasks.exam.public.hashing import compute_root, digest, follow_path
from tests.second_verifier import verify as second
from tests.tasks.exam.world import (
    DISCIPLINES,
    KEY_MARKER,
    MONTH,
    SECRET,
    WHY_MARKER,
    answer_run,
    make_bank,
    make_model,
    make_registry,
    make_settings,
    plan_wished,
    publish,
)
from tests.warehouse.bank_rows import land_bank_rows, split_bank
from warehouse.lake import Batch, Lake, open_lake
from warehouse.ledger.engine.ledger import Ledger
from warehouse.ledger.engine.logs.public_log import PublicStep, list_public_entries, read_public_entries
from warehouse.ledger.engine.opening import open_ledger
from warehouse.ledger.engine.tables import responses, run_seals, sessions, sets
from warehouse.ledger.exam.sittings import list_run_ids

ALPHA, BETA, GAMMA = make_model("alpha"), make_model("beta"), make_model("gamma")
RHO = make_model("rho", roles=("reference",))
REGISTRY = make_registry(ALPHA, BETA, GAMMA, RHO)


def read_entries(ledger: Ledger, run_id: str, *kinds: str) -> list[PublicStep]:
    with ledger.read() as connection:
        return read_public_entries(connection, run_id, kinds)


@dataclass
class Disclosed:
    """A disclosed run, read from its public files alone."""

    entries: Mapping[str, dict[str, Any]]
    plan: dict[str, Any]
    met: Mapping[str, set[int]]
    sets: Mapping[str, dict[str, Any]]
    orders: Sequence[dict[str, Any]]
    bank: Sequence[tuple[bytes, str, int, bytes]]
    seed: bytes


def read_disclosed(public: Path, run_id: str) -> Disclosed:
    """Read what is published, and check every hash and root on the way by docs/verify.md."""
    log = [json.loads(line) for line in (public / "log.jsonl").read_text().splitlines()]
    of_run = [entry for entry in log if entry["body"].get("run") == run_id]
    entries = {entry["kind"]: entry["body"] for entry in of_run}
    numbers = {entry["kind"]: entry["number"] for entry in of_run}
    commit, draw = entries["commit"], entries["draw"]
    assert draw["commit"] == numbers["commit"] < numbers["draw"] < numbers["disclose"]
    raw = {name: (public / "runs" / run_id / name).read_bytes() for name in entries["disclose"]["files"]}
    assert sorted(raw) == ["exclusions.json", "orders.jsonl", "plan.json", "seed.json", "sets.jsonl"]
    assert {name: hashlib.sha256(data).hexdigest() for name, data in raw.items()} == entries["disclose"][
        "files"
    ]

    plan, exclusions, secret = (json.loads(raw[f"{name}.json"]) for name in ("plan", "exclusions", "seed"))
    share, seed = bytes.fromhex(secret["share"]), bytes.fromhex(secret["seed"])
    assert commit["share_commitment"] == digest("proctor share", share).hex()
    added = [bytes.fromhex(entry["body"]["share"]) for entry in of_run if entry["kind"] == "share"]
    assert seed == digest("proctor seed", share, *added, draw["beacon"]["value"] if draw["beacon"] else "")
    assert draw["seed_commitment"] == digest("proctor seed commitment", seed).hex()
    hashed = hashlib.sha256(raw["plan.json"]).digest()
    assert commit["plan_commitment"] == digest("proctor plan", hashed).hex()

    lines = (public / "banks" / f"{commit['bank']['root']}.jsonl").read_text().splitlines()
    bank = [
        (bytes.fromhex(name), discipline, slots, bytes.fromhex(root))
        for name, discipline, slots, root in map(json.loads, lines[1:])
    ]
    assert bank == sorted(bank, key=lambda one: (one[1], one[0]))
    assert compute_root(digest("proctor lineage", *one) for one in bank).hex() == commit["bank"]["root"]
    assert json.loads(lines[0]) == {"bank_version": commit["bank"]["version"], "lineages": len(bank)}

    leaves, met = [], {}
    for one in exclusions["met"]:
        bitmap = base64.b64decode(one["bitmap"])
        hashed = hashlib.sha256(bitmap).digest()
        leaves.append(digest("proctor met", one["name"], bytes.fromhex(one["salt"]), hashed))
        met[one["name"]] = {place for place in range(len(bank)) if bitmap[place // 8] >> place % 8 & 1}
    assert compute_root(leaves).hex() == commit["exclusions_root"]
    orders = [json.loads(line) for line in raw["orders.jsonl"].splitlines()]
    assert commit["session_count"] == len(orders)
    names = ("session", "set", "style", "model", "organisation")
    assert (
        draw["orders_root"]
        == compute_root(
            digest("proctor order", *(one[name] for name in names), ",".join(map(str, one["order"])))
            for one in orders
        ).hex()
    )
    sets = {one["set"]: one for one in map(json.loads, raw["sets.jsonl"].splitlines())}
    return Disclosed(entries, plan, met, sets, orders, bank, seed)


def find_faults(public: Path) -> set[str]:
    """What either verifier finds; no head is signed in these tests."""
    found = {fault[0] for fault in verifier.verify(str(public)).faults}
    assert {fault.split(":")[0] for fault in second.verify(public)} | {"file_missing"} == found | {
        "file_missing"
    }
    return found - {"file_missing"}


def draw_again(found: Disclosed) -> None:
    """Draw sets and orders from the seed, in the words of docs/verify.md, and check the items."""
    place_of = {name: place for place, (name, *_) in enumerate(found.bank)}
    avoided = set(found.met["avoided"]) if found.plan["policy"] == "shared" else set()
    rested = found.met.get("rested", set())
    roots = {one["set"]: one["root"] for one in found.entries["draw"]["sets"]}
    new = [one for one in found.plan["sets"] if one["is_new"]]
    assert set(roots) == {one["set"] for one in new}
    taken: dict[int, int | None] = {}
    for one in new:
        late = set(range(len(found.bank))) - set(taken) if one.get("from_others") else avoided
        keys = {tag: digest(f"proctor {tag}", found.seed, one["set"]) for tag in ("set", "anchors", "slots")}

        def sort_by(tag: str, places: set[int], keys: Mapping[str, bytes] = keys) -> list[int]:
            return sorted(places, key=lambda p: hashlib.sha256(keys[tag] + found.bank[p][0]).digest())

        met = set().union(*(found.met[f"organisation {owner}"] for owner in one["drawn_for"]))
        expected: dict[int, int | None] = {}
        for discipline, count, wanted in one["shares"]:
            allowed = {place for place, (_, name, *_) in enumerate(found.bank) if name == discipline} - met
            anchors = sort_by("anchors", allowed & found.met["asked"])[:wanted]
            left = allowed - set(anchors)
            fresh = left - rested
            others = [
                *sort_by("set", fresh - late),
                *sort_by("set", fresh & late),
                *sort_by("set", left & rested),
            ][: count - len(anchors)]
            expected |= dict.fromkeys(anchors)
            for place in others:
                ticket = hashlib.sha256(keys["slots"] + found.bank[place][0]).digest()
                expected[place] = int.from_bytes(ticket[:8], "big") % found.bank[place][2]
        if one.get("from_others"):
            expected |= {place: slot for place, slot in taken.items() if place in expected}
        taken |= expected
        items = found.sets[one["set"]]["items"]
        assert [item[0] for item in items] == sorted(item[0] for item in items)
        assert {place_of[bytes.fromhex(item[0])] for item in items} == set(expected)
        for name, discipline, question, slot, salt, path in items:
            place = place_of[bytes.fromhex(name)]
            _, of_bank, slots, slots_root = found.bank[place]
            assert discipline == of_bank
            assert expected[place] in (None, slot)
            leaf = digest("proctor slot", bytes.fromhex(salt), bytes.fromhex(question))
            assert follow_path(leaf, slot, slots, [bytes.fromhex(node) for node in path]) == slots_root
        leaves = [
            digest("proctor item", bytes.fromhex(item[0]), item[1], bytes.fromhex(item[2])) for item in items
        ]
        assert roots[one["set"]] == compute_root(leaves).hex()
        avoided |= set(expected) if found.plan["policy"] == "shared" else set()
    for line in found.orders:
        items = [bytes.fromhex(item[0]) for item in found.sets[line["set"]]["items"]]
        key = digest("proctor order", found.seed, line["session"])
        assert line["order"] == sorted(
            range(len(items)), key=lambda place: hashlib.sha256(key + items[place]).digest()
        )


@pytest.mark.parametrize("policy", ["shared", "unique"])
def test_what_is_disclosed_leads_from_the_seed_to_every_set_slot_and_order(
    ledger: Ledger, tmp_path: Path, policy: str
) -> None:
    settings = make_settings(
        tmp_path, set_size=30, set_policy=policy, prompt_styles=("zero_shot", "few_shot")
    )
    bank = make_bank(60, variants=4, has_keys=True)
    for run_id, names in (("a", ["alpha"]), ("b", ["beta", "gamma"]), ("c", ["alpha", "beta"])):
        publish(ledger, settings, REGISTRY, bank, candidates=names, run_id=run_id, seed=None)
        answer_run(ledger, run_id)
        assert disclose_closed_runs(ledger, settings) == [run_id]
        draw_again(read_disclosed(settings.home / "public", run_id))
    last = read_disclosed(settings.home / "public", "c")
    # The bitmap of an organisation holds the sets that it sat before, and `drawn_in` names their runs.
    first = read_disclosed(settings.home / "public", "a")
    items = {bytes.fromhex(item[0]) for one in first.sets.values() for item in one["items"]}
    places = {place for place, (name, *_) in enumerate(first.bank) if name in items}
    assert places
    assert last.met["organisation alphalabs"] == places
    assert {one["drawn_in"] for one in last.sets.values()} == {"c"}
    anchors = sum(
        place in last.met["asked"]
        for one in last.sets.values()
        for place, (name, *_) in enumerate(last.bank)
        if name.hex() in {item[0] for item in one["items"]}
    )
    # Two that share a set have met all that was answered.
    assert (anchors > 0) is (policy == "unique")


def test_a_references_own_set_follows_from_the_seed_and_from_the_sets_before_it(
    ledger: Ledger, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = make_settings(tmp_path, set_size=30, set_groups=2)
    registry = make_registry(ALPHA, BETA, GAMMA, make_model("rho", roles=("candidate", "reference")))
    bank, names = make_bank(90, variants=4, has_keys=True), ["alpha", "beta", "gamma", "rho"]
    public = settings.home / "public"
    for run_id in ("a", "b", "c"):
        publish(ledger, settings, registry, bank, candidates=names, run_id=run_id, seed=None)
        answer_run(ledger, run_id)
        disclose_closed_runs(ledger, settings)
        draw_again(read_disclosed(public, run_id))
    found = read_disclosed(public, "c")
    assert [one.get("from_others", False) for one in found.plan["sets"]] == [False, False, True]
    *others, own = (found.sets[one["set"]]["items"] for one in found.plan["sets"])
    # The same questions in the same slots, by what is published of them.
    assert {(name, question, slot) for name, _, question, slot, *_ in own} <= {
        (name, question, slot) for items in others for name, _, question, slot, *_ in items
    }
    assert find_faults(public) == set()

    # A set that is said to follow from the others' and does not.
    def draw_apart(index: BankIndex, shares: Any, masks: Masks, **given: Any) -> list[DrawnQuestion]:
        is_own = not any(share.anchors for share in shares)
        return draw_set(index, shares, replace(masks, avoided=~masks.avoided) if is_own else masks, **given)

    monkeypatch.setattr("tasks.exam.plan.sharing.draw_set", draw_apart)
    publish(ledger, settings, registry, bank, candidates=names, run_id="d", seed=None)
    answer_run(ledger, "d")
    disclose_closed_runs(ledger, settings)
    assert find_faults(public) == {"set_wrong"}


def test_a_set_of_an_earlier_run_is_disclosed_as_the_run_that_drew_it_committed_to_it(
    ledger: Ledger, tmp_path: Path
) -> None:
    settings, bank = make_settings(tmp_path), make_bank()
    publish(ledger, settings, REGISTRY, bank, candidates=["alpha"], run_id="a", seed=None)
    publish(ledger, settings, REGISTRY, bank, candidates=["beta"], run_id="b", seed=None)
    for run_id in ("a", "b"):
        answer_run(ledger, run_id)
    assert disclose_closed_runs(ledger, settings) == ["a", "b"]
    first, second = (read_disclosed(settings.home / "public", run_id) for run_id in ("a", "b"))
    ((name, own),) = first.sets.items()
    assert {len(item) for item in own["items"]} == {6}
    assert second.sets == {name: {**own, "items": [item[:3] for item in own["items"]]}}
    assert [one["is_new"] for one in second.plan["sets"]] == [False]
    assert second.entries["draw"]["sets"] == []
    draw_again(second)


def test_nothing_is_disclosed_before_every_session_is_closed_and_twice_changes_nothing(
    ledger: Ledger, tmp_path: Path
) -> None:
    settings = make_settings(tmp_path)
    plan = publish(ledger, settings, REGISTRY, make_bank(), candidates=["alpha"], seed=None)
    with ledger.write() as connection:
        one = plan.sessions[0].session_id
        connection.execute(update(sessions).where(sessions.c.session_id == one).values(status="closed"))
    assert disclose_closed_runs(ledger, settings) == []
    assert not (settings.home / "public" / "runs").exists()
    answer_run(ledger, plan.run_id)
    assert disclose_closed_runs(ledger, settings) == [plan.run_id]
    before = (settings.home / "public" / "log.jsonl").read_bytes()
    assert disclose_closed_runs(ledger, settings) == []
    assert (settings.home / "public" / "log.jsonl").read_bytes() == before


def test_a_disclosure_that_was_killed_before_its_entry_is_made_again_the_same(
    ledger: Ledger, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = make_settings(tmp_path)
    plan = publish(ledger, settings, REGISTRY, make_bank(), candidates=["alpha"], seed=None)
    answer_run(ledger, plan.run_id)

    def be_killed(*_: object) -> None:
        raise KeyboardInterrupt

    folder = settings.home / "public" / "runs" / plan.run_id
    with monkeypatch.context() as patched:
        patched.setattr(disclosing, "add_public_entry", be_killed)
        with pytest.raises(KeyboardInterrupt):
            disclose_closed_runs(ledger, settings)
    left = {path.name: path.read_bytes() for path in folder.iterdir()}
    (folder / "sets.jsonl").write_bytes(left["sets.jsonl"][:100])
    assert read_entries(ledger, plan.run_id, "disclose") == []
    assert disclose_closed_runs(ledger, settings) == [plan.run_id]
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == left
    draw_again(read_disclosed(settings.home / "public", plan.run_id))


def test_a_run_that_was_planned_before_is_neither_committed_nor_disclosed(
    ledger: Ledger, tmp_path: Path
) -> None:
    settings = make_settings(tmp_path)
    plan = publish(ledger, settings, REGISTRY, make_bank(), candidates=["alpha"])
    with ledger.write() as connection:
        connection.execute(run_seals.delete())
    answer_run(ledger, plan.run_id)
    assert disclose_closed_runs(ledger, settings) == []


def test_a_closed_run_that_cannot_be_disclosed_stays_so_and_is_named_until_it_can(
    ledger: Ledger, tmp_path: Path
) -> None:
    settings = make_settings(tmp_path)
    plan = publish(ledger, settings, REGISTRY, make_bank(), candidates=["alpha"], seed=None)
    answer_run(ledger, plan.run_id)
    place = (sets.c.set_id == plan.sets[0].set_id) & (
        sets.c.lineage_uuid == select(sets.c.lineage_uuid).limit(1).scalar_subquery()
    )
    with ledger.write() as connection:
        seal = connection.execute(select(run_seals.c.share)).scalar_one()
        content = connection.execute(select(sets.c.content).where(place)).scalar_one()
        session = connection.execute(select(sessions.c.session_id).limit(1)).scalar_one()
    unlogged = {"response": "A", "answer_status": "answered", "prompt_version": "1", "answered_at": "2030"}
    for changed, restored, words in (
        (
            update(run_seals).values(share="11" * 32),
            update(run_seals).values(share=seal),
            "the ledger's share is not",
        ),
        (
            update(sets).where(place).values(content={**content, "stem": "easier"}),
            update(sets).where(place).values(content=content),
            "1 of its sets .* than were drawn",
        ),
        (
            responses.insert().values(session_id=session, seq=1, **unlogged),
            responses.delete(),
            "the answers of 1 .* are not those that the audit log has",
        ),
    ):
        with ledger.write() as connection:
            connection.execute(changed)
        assert disclose_closed_runs(ledger, settings) == []
        (reason,) = find_refused_runs(ledger, settings)
        assert re.search(f"Run {plan.run_id}.*{words}", reason)
        # Whoever has held the answers to the audit log need not have them counted; nothing else is left out.
        known = find_refused_runs(ledger, settings, are_answers_logged=True)
        assert known == ([] if "answers" in words else [reason])
        with ledger.write() as connection:
            connection.execute(restored)
    assert find_refused_runs(ledger, settings) == []
    assert disclose_closed_runs(ledger, settings) == [plan.run_id]


def test_nothing_of_a_question_or_a_lineage_is_in_the_public_folder_and_no_secret_before_the_close(
    ledger: Ledger, tmp_path: Path
) -> None:
    settings, bank = make_settings(tmp_path), make_bank()
    plan = publish(ledger, settings, REGISTRY, bank, candidates=["alpha"], seed=None)
    assert plan.request is not None
    public = settings.home / "public"

    def read_all() -> bytes:
        return b"".join(path.read_bytes() for path in public.rglob("*") if path.is_file())

    chance = plan.request.chance
    for secret in (chance.share, chance.seed, read_blinding_secret(settings)):
        assert secret.hex().encode() not in read_all()
    answer_run(ledger, plan.run_id)
    disclose_closed_runs(ledger, settings)
    found = read_all()
    words = [KEY_MARKER, WHY_MARKER, "asks something", *bank["lineage_uuid"], *bank["question_uuid"]]
    assert [word for word in words if word.encode() in found] == []
    assert read_blinding_secret(settings).hex().encode() not in found
    assert chance.share.hex().encode() in found


# --- the bank's file ------------------------------------------------------------------------------------------------


def test_the_file_of_a_bank_version_is_written_once_and_the_same_whatever_the_order_of_rows(
    tmp_path: Path,
) -> None:
    bank = make_bank(20, variants=3, has_keys=True)
    index = index_bank(bank, DISCIPLINES, SECRET)
    sealed = seal_bank(index, FrameRows(bank), tmp_path)
    (path,) = (tmp_path / "banks").glob("*.jsonl")
    written = path.stat().st_mtime_ns
    shuffled = bank.sample(fraction=1.0, shuffle=True, seed=4)
    again = seal_bank(index_bank(shuffled, DISCIPLINES, SECRET), FrameRows(shuffled), tmp_path)
    assert again.root == sealed.root == bytes.fromhex(path.stem)
    assert path.stat().st_mtime_ns == written
    # Another secret, another file; nothing else could tell the two apart.
    other = seal_bank(index_bank(bank, DISCIPLINES, bytes(32)), FrameRows(bank), tmp_path)
    assert other.root != sealed.root
    assert len(list((tmp_path / "banks").glob("*.jsonl"))) == 2


def test_the_same_bank_has_the_root_that_it_had_when_it_was_first_sealed(tmp_path: Path) -> None:
    # The root as an earlier version of Proctor made it, by another way of reading: what is published never changes.
    bank = make_bank({name: 5 + place for place, name in enumerate(DISCIPLINES)}, variants=3, has_keys=True)
    # A question that stands in two lineages belongs to the first of them.
    second = bank.slice(3, 1).with_columns(lineage_uuid=pl.lit(bank["lineage_uuid"][9]))
    bank = pl.concat([bank, second])
    sealed = seal_bank(index_bank(bank, DISCIPLINES, bytes(range(32))), FrameRows(bank), tmp_path)
    (path,) = (tmp_path / "banks").glob("*")
    assert (
        sealed.root.hex() == path.stem == "c36be856a20c9fdb1639329461127da0f16c7b7c4e79b1d4ccb396cb06a666b1"
    )
    with pytest.raises(ContractError, match="has changed since"):
        rows = FrameRows(bank.filter(bank["question_uuid"] != bank["question_uuid"][0]))
        seal_bank(index_bank(bank, DISCIPLINES, SECRET), rows, tmp_path / "other")
    with pytest.raises(ContractError, match="has changed since"):
        rows = FrameRows(bank.with_columns(bank_version=pl.lit(2)))
        seal_bank(index_bank(bank, DISCIPLINES, SECRET), rows, tmp_path / "other")


def test_a_bank_file_that_was_changed_or_cut_is_named_and_never_overwritten(tmp_path: Path) -> None:
    bank = make_bank(5)
    index = index_bank(bank, DISCIPLINES, SECRET)
    seal_bank(index, FrameRows(bank), tmp_path)
    (path,) = (tmp_path / "banks").glob("*.jsonl")
    whole = path.read_text()
    lines = whole.splitlines(keepends=True)
    changed = json.loads(lines[3])
    changed[3] = "00" * 32
    for text in (
        "".join(lines[:-1]),
        "".join([*lines[:3], json.dumps(changed) + "\n", *lines[4:]]),
        "",
        whole[:-30],
    ):
        path.write_text(text)
        with pytest.raises(StoreError, match="is not what was published"):
            seal_bank(index, FrameRows(bank), tmp_path)
        assert path.read_text() == text


def test_an_edited_question_is_no_anchor_any_more(ledger: Ledger, tmp_path: Path) -> None:
    settings = make_settings(tmp_path, set_size=30, set_policy="unique")
    bank = make_bank(60, variants=0)
    publish(ledger, settings, REGISTRY, bank, candidates=["alpha"], run_id="a", seed=None)
    answer_run(ledger, "a")
    edited = bank.with_columns(pl.lit(2).cast(bank["revision"].dtype).alias("revision"))
    later = publish(ledger, settings, REGISTRY, edited, candidates=["beta"], run_id="b", seed=None)
    assert later.sets[0].anchor_count == 0
    unchanged = publish(ledger, settings, REGISTRY, bank, candidates=["gamma"], run_id="c", seed=None)
    assert unchanged.sets[0].anchor_count == 6


# --- committed to first, drawn later --------------------------------------------------------------------------------

MODELS = """
providers:
  own: {base_url: http://127.0.0.1:9/v1}
models:
  alpha: {provider: own, organisation: alpha labs, endpoint_model: alpha}
  beta: {provider: own, organisation: beta labs, endpoint_model: beta}
  rho: {provider: own, organisation: rho labs, endpoint_model: rho, roles: [reference]}
"""
ROOT = Path(__file__).parents[4]
SOURCE = "the lottery of 1 December, all six numbers"


@dataclass
class Home:
    """A home with a bank, in which a run is committed to."""

    ledger: Ledger
    lake: Lake
    settings: Settings

    def commit(self, **options: Any) -> tuple[RunPlan, int]:
        how = {"source": SOURCE} | {
            name: options.pop(name) for name in ("source", "again") if name in options
        }
        wishes = RunWishes(**{"month": MONTH, "candidates": ["alpha"], **options})
        found = commit_run(self.ledger, self.lake, self.settings, wishes, **how)
        assert found is not None
        return found.plan, found.entry

    def draw(self, value: str = "7e1f", run_id: str = MONTH) -> RunPlan:
        return draw_run(self.ledger, self.lake, self.settings, run_id, value)


@pytest.fixture(scope="module")
def shared_lake(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lake]:
    """A bank that no test changes."""
    with open_lake(make_settings(tmp_path_factory.mktemp("lake"))) as lake:
        land_bank(lake, make_bank(20, has_keys=True))
        yield lake


@pytest.mark.parametrize(
    ("is_edited", "names"),
    [
        (True, ["beta"]),
        (False, ["gamma"]),
        pytest.param(True, ["gamma"], marks=pytest.mark.long),
        pytest.param(False, ["beta"], marks=pytest.mark.long),
    ],
)
def test_what_is_planned_of_a_bank_that_has_changed_since_is_not_published(
    ledger: Ledger, tmp_path: Path, names: list[str], is_edited: bool
) -> None:
    settings, bank = make_settings(tmp_path, set_size=48, anchor_share=0.0), make_bank(20)
    with open_lake(settings) as lake:
        land_bank_rows(lake, bank)
        publish(ledger, settings, REGISTRY, LakeRows(lake), candidates=["alpha", "beta"], run_id="a")
        planned = plan_wished(
            ledger, settings, REGISTRY, LakeRows(lake), candidates=names, run_id="b", seed="another"
        )
        edited = bank.with_columns(revision=pl.lit(2, pl.Int64), stem=pl.col("stem") + " And why?")
        later = edited if is_edited else bank.filter(pl.col("discipline") != "Law")
        land_bank_rows(lake, pl.concat([bank, later.with_columns(bank_version=pl.lit(2, pl.Int64))]))
        with pytest.raises(ContractError, match="The bank has changed since version 1 was read"):
            publish_plan(ledger, planned)
    with ledger.read() as connection:
        assert list_run_ids(connection) == ["a"]


def land_bank(lake: Lake, bank: pl.DataFrame) -> None:
    lake.land_together([Batch(name, "1", rows) for name, rows in split_bank(bank).items()])


def make_home(ledger: Ledger, lake: Lake, folder: Path) -> Home:
    settings = make_settings(folder, reference_model="rho")
    folder.mkdir(exist_ok=True)
    settings.registry_path.write_text(MODELS, "utf-8")
    return Home(ledger, lake, settings)


@pytest.fixture
def home(ledger: Ledger, shared_lake: Lake, tmp_path: Path) -> Home:
    return make_home(ledger, shared_lake, tmp_path / "home")


@pytest.fixture
def own_home(ledger: Ledger, tmp_path: Path) -> Iterator[Home]:
    """The same with a lake of its own."""
    with open_lake(make_settings(tmp_path / "home")) as lake:
        land_bank(lake, make_bank(20, has_keys=True))
        yield make_home(ledger, lake, tmp_path / "home")


def test_a_run_with_a_beacon_and_shares_is_committed_to_drawn_and_verified(home: Home) -> None:
    plan, number = home.commit()
    assert read_entries(home.ledger, MONTH, "commit", "draw")[0].body["beacon"] == {"source": SOURCE}
    with home.ledger.read() as connection:
        assert connection.execute(select(sessions.c.session_id)).all() == []
    share = hashlib.sha256(b"of alpha").hexdigest()
    add_share(home.ledger, home.settings, MONTH, "alpha", share)
    drawn = home.draw("7e1f0c")
    assert {one.model for one in drawn.sessions} == {one.model for one in plan.sessions}
    answer_run(home.ledger, MONTH)
    disclose_closed_runs(home.ledger, home.settings)
    found = read_disclosed(home.settings.home / "public", MONTH)
    assert found.entries["draw"]["commit"] == number
    assert found.entries["draw"]["beacon"] == {"source": SOURCE, "value": "7e1f0c"}
    draw_again(found)


def test_another_value_or_another_share_draws_other_questions_in_another_order(home: Home) -> None:
    drawn = {}
    for run, (value, share) in {"a": ("1", None), "b": ("2", None), "c": ("1", "ab" * 32)}.items():
        home.commit(run_id=run)
        if share:
            add_share(home.ledger, home.settings, run, "alpha", share)
        drawn[run] = home.draw(value, run)
    assert len({plan.sessions[0].session_id for plan in drawn.values()}) == 3
    with home.ledger.read() as connection:
        commits = list_public_entries(connection, ("draw",))
    assert len({entry.body["seed_commitment"] for entry in commits}) == 3


def test_a_run_is_committed_to_once_unless_somebody_says_why_and_drawn_once(home: Home) -> None:
    _, first = home.commit()
    with pytest.raises(GateError, match="--again REASON"):
        home.commit()
    _, second = home.commit(again="the registry was wrong")
    last = read_entries(home.ledger, MONTH, "commit")[-1]
    assert (last.number, last.body["replaces"], last.body["reason"]) == (
        second,
        first,
        "the registry was wrong",
    )
    home.draw()
    for again in (None, "it does not please"):
        with pytest.raises(GateError, match="drawn once"):
            home.commit(again=again)
    with pytest.raises(GateError, match="drawn once"):
        home.draw()
    with pytest.raises(GateError, match="drawn once"):
        add_share(home.ledger, home.settings, MONTH, "alpha", "00" * 32)
    assert [entry.kind for entry in read_entries(home.ledger, MONTH, "commit", "draw")] == [
        "commit",
        "commit",
        "draw",
    ]


def test_who_names_another_run_is_told_which_ones_wait_for_their_draw(home: Home) -> None:
    with pytest.raises(GateError, match="Waiting for their draw: none"):
        home.draw(run_id="1999-01")
    home.commit()
    with pytest.raises(GateError, match=f"Waiting for their draw: {MONTH}"):
        home.draw(run_id="1999-01")
    home.draw()
    with pytest.raises(GateError, match="Waiting for their draw: none"):
        home.draw(run_id="1999-01")


def test_a_run_that_waits_for_its_draw_is_not_planned_beside_it(home: Home) -> None:
    from tasks.exam.month import preview_month

    home.commit()
    with pytest.raises(GateError, match="waits for 'the lottery"):
        preview_month(home.ledger, home.lake, home.settings, RunWishes(MONTH, ["beta"]))
    # Nobody is due any more: the month was passed over as one of nobody, with exit code 0.
    home.settings.registry_path.write_text(re.sub(r"(?m)^  (alpha|beta):.*\n", "", MODELS), "utf-8")
    with pytest.raises(GateError, match="waits for"):
        preview_month(home.ledger, home.lake, home.settings, RunWishes(MONTH, run_id=MONTH))


def test_a_draw_is_refused_where_somebody_has_met_more_since(home: Home) -> None:
    home.commit(candidates=["alpha"])
    other = home.commit(candidates=["alpha"], run_id="other")
    home.draw(run_id="other")
    with pytest.raises(GateError, match="who has met what"):
        home.draw()
    assert read_entries(home.ledger, MONTH, "draw") == []
    # Committed to anew, it is drawn.
    _, number = home.commit(candidates=["alpha"], again="another run came between")
    assert number > other[1]
    home.draw()


def test_a_draw_is_refused_where_the_bank_or_the_registration_changed(own_home: Home) -> None:
    own_home.commit()
    text = own_home.settings.registry_path.read_text()
    own_home.settings.registry_path.write_text(
        text.replace("endpoint_model: alpha", "endpoint_model: alpha-2")
    )
    with pytest.raises(GateError, match="the plan"):
        own_home.draw()
    own_home.settings.registry_path.write_text(text)
    rows = pl.concat([make_bank(20, has_keys=True), make_bank(20, bank_version=2, prefix="new ")])
    land_bank(own_home.lake, rows)
    with pytest.raises(GateError, match="the bank"):
        own_home.draw()


def test_a_share_that_the_ledger_lost_cannot_be_replaced_by_one_that_pleases(home: Home) -> None:
    home.commit()
    with home.ledger.write() as connection:
        connection.execute(update(run_seals).values(share="11" * 32))
    with pytest.raises(GateError, match="not the one that was committed to"):
        home.draw()


@pytest.mark.parametrize("share", ["", "xyz", "ab" * 31, "g" * 64])
def test_a_share_is_a_hash_of_a_candidate_given_once(home: Home, share: str) -> None:
    home.commit()
    with pytest.raises(UsageError, match="64 hexadecimal"):
        add_share(home.ledger, home.settings, MONTH, "alpha", share)
    with pytest.raises(UsageError, match="does not examine"):
        add_share(home.ledger, home.settings, MONTH, "beta", "ab" * 32)
    add_share(home.ledger, home.settings, MONTH, "alpha", "AB" * 32)
    with pytest.raises(UsageError, match="has given its share"):
        add_share(home.ledger, home.settings, MONTH, "alpha", "cd" * 32)


# --- kills ----------------------------------------------------------------------------------------------------------

WORKER = """
import sys
from pathlib import Path
from schemas.errors import GateError
from tasks.exam.plan import RunWishes
from tasks.exam.public.draws.committing import add_share, commit_run, draw_run
from tasks.exam.public.draws.disclosing import disclose_closed_runs
from tests.tasks.exam.world import answer_run, make_settings
from warehouse.lake.store import open_lake
from warehouse.ledger.engine.opening import open_ledger
from warehouse.ledger.exam.sittings import read_run
from warehouse.ledger.engine.logs.public_log import read_public_entries

home = Path(sys.argv[1])
settings = make_settings(home, reference_model="rho")
print("ready", flush=True)
with open_ledger(settings.ledger_address) as ledger, open_lake(settings, read_only=True) as lake:
    for run_id in ("one", "two", "three"):
        def did(kind):
            with ledger.read() as connection:
                return bool(read_public_entries(connection, run_id, (kind,)))
        if not did("commit"):
            commit_run(ledger, lake, settings, RunWishes("2026-11", ["alpha"], run_id=run_id), source="a lottery")
        if not did("share"):
            add_share(ledger, settings, run_id, "alpha", "ab" * 32)
        if not did("draw"):
            draw_run(ledger, lake, settings, run_id, "17")
        answer_run(ledger, run_id)
        disclose_closed_runs(ledger, settings)
"""


@pytest.mark.long
def test_whoever_commits_draws_and_discloses_is_killed_again_and_again_and_the_run_verifies(
    own_home: Home,
) -> None:
    seed = int(os.environ.get("PROCTOR_TEST_SEED", str(time.time_ns() % 100_000)))
    print(f"seed {seed}: PROCTOR_TEST_SEED={seed} repeats this run")
    moments = random.Random(seed)
    command = [sys.executable, "-c", WORKER, str(own_home.settings.home)]
    kills = code = 0
    for _ in range(60):
        with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE) as worker:
            assert worker.stdout is not None
            worker.stdout.readline()
            try:
                code = worker.wait(timeout=moments.uniform(0.01, 0.3) if kills < 12 else 120)
                break
            except subprocess.TimeoutExpired:
                worker.kill()
                kills += 1
    assert (code, kills >= 3) == (0, True)
    with open_ledger(own_home.settings.ledger_address) as ledger:
        for run_id in ("one", "two", "three"):
            kinds = [
                entry.kind for entry in read_entries(ledger, run_id, "commit", "share", "draw", "disclose")
            ]
            assert kinds == ["commit", "share", "draw", "disclose"]
            draw_again(read_disclosed(own_home.settings.home / "public", run_id))
