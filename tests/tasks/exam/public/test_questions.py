"""A single question is disclosed, and proved to have been in bank and set."""

from __future__ import annotations

import hashlib
import json
from datetime import timedelta
from pathlib import Path

import polars as pl
import pytest
from sqlalchemy import select

from schemas.errors import GateError, StoreError, UsageError
from schemas.settings import Settings
from tasks.bank import find_question, restore_question, retire_question
from tasks.exam.public.bank import LakeRows
from tasks.exam.public.bank.blinding import lineage_name, read_blinding_secret
from tasks.exam.public.bank.questions import check_undisclosed, disclose_question
from tasks.exam.public.bank.showable import read_showable
from tasks.exam.public.draws.disclosing import disclose_closed_runs
from tasks.exam.public.hashing import digest, follow_path
from tests.tasks.bank.augment.conftest import DECIDED, make_accepted
from tests.tasks.bank.dedupe.test_landing import STEMS, land_batch
from tests.tasks.bank.dedupe.test_landing import publish as publish_bank
from tests.tasks.exam.public.test_sealed_draws import REGISTRY, land_bank, read_disclosed, read_entries
from tests.tasks.exam.world import answer_run, make_bank, make_settings, publish
from warehouse.lake import Lake, open_lake
from warehouse.ledger.engine.ledger import Ledger
from warehouse.ledger.engine.logs.public_log import list_public_entries
from warehouse.ledger.engine.tables import sets

WHY = "asked for by a candidate"


def show(
    ledger: Ledger, lake: Lake, settings: Settings, question_type: str = "multiple_choice"
) -> tuple[list[str], int, int, int]:
    """The questions that may be shown, and how many are live, in sessions, or left otherwise."""
    found = read_showable(ledger, lake, settings, [question_type])
    questions = found.questions["question_uuid"].to_list()
    return questions, found.live_count, found.sitting_count, found.unretired_count


def find_drawn(ledger: Ledger) -> str:
    with ledger.read() as connection:
        return str(connection.execute(select(sets.c.question_uuid).order_by(sets.c.lineage_uuid)).scalar())


def test_a_disclosed_question_leads_to_the_bank_and_names_its_sets(ledger: Ledger, tmp_path: Path) -> None:
    settings, bank = make_settings(tmp_path), make_bank(20, variants=3, has_keys=True)
    with open_lake(settings) as lake:
        land_bank(lake, bank)
        plan = publish(ledger, settings, REGISTRY, bank, candidates=["alpha"], seed=None)
        answer_run(ledger, plan.run_id)
        disclose_closed_runs(ledger, settings)
        entry = find_question(lake, find_drawn(ledger))
        found = disclose_question(ledger, lake, settings, entry, WHY, is_leaked=True)
        again = disclose_question(ledger, lake, settings, entry, WHY, is_leaked=True)
        assert (found.is_new, again.is_new) == (True, False)
        # What everybody can read may be shown, also while it is in the bank.
        kind = str(entry["question_type"])
        count = bank.filter(pl.col("question_type") == kind).height
        assert show(ledger, lake, settings, kind) == ([entry["question_uuid"]], count - 1, 0, 0)
        # A bank's file that was changed proves nothing.
        (file,) = (settings.home / "public" / "banks").glob("*.jsonl")
        whole = file.read_text()
        lines = whole.splitlines(keepends=True)
        name = lineage_name(read_blinding_secret(settings), str(entry["lineage_uuid"])).hex()
        at = next(place for place, line in enumerate(lines) if place and name not in line)
        file.write_text("".join([*lines[:at], *lines[at + 1 :]]))
        with pytest.raises(StoreError, match="is not what was published"):
            disclose_question(ledger, lake, settings, entry, WHY, is_leaked=True)
        file.write_text(whole)

    run = read_disclosed(settings.home / "public", plan.run_id)
    path = settings.home / "public" / "questions" / found.file
    said = json.loads(path.read_text())
    commitment = digest("proctor question", bytes.fromhex(said["salt"]), said["content"])
    assert commitment.hex() == said["commitment"] == found.commitment
    assert json.loads(said["content"])["stem"] == entry["stem"]
    place = [name.hex() for name, *_ in run.bank].index(said["lineage"])
    leaf = digest("proctor slot", bytes.fromhex(said["slot_salt"]), commitment)
    up = [bytes.fromhex(node) for node in said["path"]]
    assert follow_path(leaf, said["slot"], said["slots"], up) == run.bank[place][3]
    leaf = digest("proctor lineage", *run.bank[place])
    up = [bytes.fromhex(node) for node in said["lineage_path"]]
    assert follow_path(leaf, place, len(run.bank), up).hex() == said["bank_root"]
    assert said["bank_root"] == run.entries["commit"]["bank"]["root"]
    holding = [
        name for name, one in run.sets.items() if any(item[2] == found.commitment for item in one["items"])
    ]
    assert said["sets"] == sorted(holding) != []

    with ledger.read() as connection:
        (step,) = list_public_entries(connection, ("question",))
    sha256 = hashlib.sha256(path.read_bytes()).hexdigest()
    assert step.body == {"commitment": found.commitment, "file": found.file, "sha256": sha256}


def test_a_question_is_disclosed_only_when_nobody_can_be_asked_it(ledger: Ledger, tmp_path: Path) -> None:
    settings, bank = make_settings(tmp_path), make_bank(20, has_keys=True)
    with open_lake(settings) as lake:
        land_bank(lake, bank)
        question = find_question(lake, str(bank["question_uuid"][0]))
        with pytest.raises(UsageError, match="in no bank that a run was committed to"):
            disclose_question(ledger, lake, settings, question, WHY, is_leaked=True)
        plan = publish(ledger, settings, REGISTRY, bank, candidates=["alpha"], seed=None)
        question = find_question(lake, find_drawn(ledger))
        with pytest.raises(UsageError, match="Say why"):
            disclose_question(ledger, lake, settings, question, " ", is_leaked=True)
        with pytest.raises(GateError, match="is not retired"):
            disclose_question(ledger, lake, settings, question, WHY)
        with pytest.raises(GateError, match="which is not closed"):
            disclose_question(ledger, lake, settings, question, WHY, is_leaked=True)
    assert read_entries(ledger, plan.run_id, "question") == []
    assert not (settings.home / "public" / "questions").exists()


def test_a_question_whose_copy_can_be_asked_is_not_disclosed(ledger: Ledger, tmp_path: Path) -> None:
    settings = make_settings(
        tmp_path, disciplines=("Engineering",), set_size=1, set_policy="unique", anchor_share=0
    )
    first, copy = make_accepted(STEMS[0]), make_accepted("Note: " + STEMS[0])
    with open_lake(settings) as lake:
        land_batch(lake, "b1", first)
        publish_bank(lake, settings)
        plan = publish(ledger, settings, REGISTRY, LakeRows(lake), candidates=["alpha"], seed=None)
        answer_run(ledger, plan.run_id)
        disclose_closed_runs(ledger, settings)
        land_batch(lake, "b2", copy)
        retire_question(lake, settings, first["question_uuid"], "the key is wrong")
        entry = find_question(lake, first["question_uuid"])
        lineage = {"lineage_uuid": first["lineage_uuid"]}
        with pytest.raises(GateError, match=f"{copy['question_uuid']} says the same"):
            disclose_question(ledger, lake, settings, entry, WHY)
        assert show(ledger, lake, settings) == ([], 2, 0, 0)
        publish(ledger, settings, REGISTRY, LakeRows(lake), candidates=["beta"], run_id="b", seed=None)
        retire_question(lake, settings, copy["question_uuid"], "the key is wrong, too")
        with pytest.raises(GateError, match="which is not closed"):
            disclose_question(ledger, lake, settings, entry, WHY)
        assert show(ledger, lake, settings) == ([], 0, 2, 0)
        answer_run(ledger, "b")
        both = sorted([first["question_uuid"], copy["question_uuid"]])
        assert show(ledger, lake, settings) == (both, 0, 0, 0)
        check_undisclosed(ledger, lake, settings, entry)
        assert disclose_question(ledger, lake, settings, entry, WHY).is_new
        # Nor do its variants come back.
        for name in (
            first["question_uuid"],
            str(lake.read("entries_of_lineage", lineage)["question_uuid"][-1]),
        ):
            with pytest.raises(GateError, match=f"{first['question_uuid']} was disclosed"):
                check_undisclosed(ledger, lake, settings, find_question(lake, name))
        # Nor does the copy.
        with pytest.raises(GateError, match=f"The lineage of {copy['question_uuid']} stays out"):
            check_undisclosed(ledger, lake, settings, find_question(lake, copy["question_uuid"]))


def test_a_retired_variant_is_shown_only_when_nothing_of_its_lineage_can_be_asked(
    ledger: Ledger, tmp_path: Path
) -> None:
    settings, question = make_settings(tmp_path), make_accepted(STEMS[0])
    with open_lake(settings) as lake:
        land_batch(lake, "b1", question)
        publish_bank(lake, settings)
        lineage = {"lineage_uuid": question["lineage_uuid"]}
        entries = lake.read("entries_of_lineage", lineage).filter(pl.col("method") != "original")
        variants = entries["question_uuid"].to_list()
        retire_question(lake, settings, variants[0], "badly put")
        assert show(ledger, lake, settings, "true_false") == ([], len(variants), 0, 0)
        with pytest.raises(GateError, match=f"is of the same lineage as {variants[0]} and is in the bank"):
            disclose_question(ledger, lake, settings, find_question(lake, variants[0]), WHY)
        retire_question(lake, settings, question["question_uuid"], "the key is wrong")
        assert show(ledger, lake, settings, "true_false") == (sorted(variants), 0, 0, 0)
        restore_question(lake, settings, question["question_uuid"], "it was right")
        assert show(ledger, lake, settings, "true_false") == ([], len(variants), 0, 0)
        # What a later decision put out was never said to be over.
        again = {**question, "outcome": "rejected", "decided_at": DECIDED + timedelta(days=9)}
        land_batch(lake, "b2", again)
        publish_bank(lake, settings)
        found = show(ledger, lake, settings, "true_false")
        assert (found[0], found[3]) == ([variants[0]], len(variants) - 1)
