"""Lineages that many organisations have met rest: they are drawn last."""

from __future__ import annotations

from pathlib import Path

from schemas.settings import Settings
from tasks.exam.public import verifier
from tasks.exam.public.draws.disclosing import disclose_closed_runs
from tests.second_verifier import verify as second
from tests.tasks.exam.public.test_sealed_draws import REGISTRY, Disclosed, draw_again, read_disclosed
from tests.tasks.exam.world import answer_run, make_bank, make_settings, publish
from warehouse.ledger.engine.ledger import Ledger


def sit(ledger: Ledger, settings: Settings, run_id: str, names: list[str], lineages: int) -> Disclosed:
    publish(
        ledger, settings, REGISTRY, make_bank(lineages, variants=2, has_keys=True),
        candidates=names, run_id=run_id, seed=run_id,
    )  # fmt: skip
    answer_run(ledger, run_id)
    assert disclose_closed_runs(ledger, settings) == [run_id]
    return read_disclosed(settings.home / "public", run_id)


def list_places(found: Disclosed, owner: str) -> set[int]:
    """Positions of the lineages of the set that was drawn for one organisation."""
    (name,) = [one["set"] for one in found.plan["sets"] if one["is_new"] and owner in one["drawn_for"]]
    items = {bytes.fromhex(item[0]) for item in found.sets[name]["items"]}
    return {place for place, (lineage, *_) in enumerate(found.bank) if lineage in items}


def check_both(settings: Settings) -> None:
    """No head is signed in these tests; everything else holds by both verifiers."""
    public = settings.home / "public"
    assert {fault[0] for fault in verifier.verify(str(public)).faults} <= {"file_missing"}
    assert {fault.split(":")[0] for fault in second.verify(public)} <= {"file_missing"}


def test_what_one_has_met_rests_while_there_are_others_whoever_sits(ledger: Ledger, tmp_path: Path) -> None:
    settings = make_settings(tmp_path, set_size=30, set_policy="unique", rest_exposed=1, anchor_share=0.2)
    met = list_places(sit(ledger, settings, "a", ["alpha"], 60), "alphalabs")
    later = sit(ledger, settings, "b", ["beta", "gamma"], 60)
    draw_again(later)
    # The reference has answered the first set, too; what rests is the same.
    assert later.met["rested"] == met
    assert later.plan["rest_exposed"] == 1
    assert not list_places(later, "betalabs") & met
    assert not list_places(later, "gammalabs") & met
    assert not later.met["asked"], "a lineage that rests is no anchor"
    check_both(settings)


def test_a_small_bank_draws_those_that_rest_last_and_says_how_many(ledger: Ledger, tmp_path: Path) -> None:
    """Of seven lineages two laboratories met three, three met three, and none met one."""
    settings = make_settings(tmp_path, set_size=9, rest_exposed=3, anchor_share=0, lasting_sets=1)
    two = list_places(sit(ledger, settings, "a", ["alpha"], 7), "alphalabs")
    three = list_places(sit(ledger, settings, "b", ["alpha", "beta"], 7), "betalabs")
    larger = settings.model_copy(update={"set_size": 15})
    plan = publish(
        ledger, larger, REGISTRY, make_bank(7, variants=2, has_keys=True),
        month="2027-02", candidates=["gamma"], run_id="c", seed="c",
    )  # fmt: skip
    answer_run(ledger, "c")
    assert disclose_closed_runs(ledger, larger) == ["c"]
    found = read_disclosed(settings.home / "public", "c")
    draw_again(found)
    assert (found.met["avoided"], found.met["rested"]) == (two | three, three)
    drawn = list_places(found, "gammalabs")
    assert set(range(len(found.bank))) - two - three < drawn
    assert two < drawn
    assert len(drawn & three) == len(settings.disciplines) == 3
    assert [taken.rested_count for taken in plan.sets] == [3]
    check_both(settings)


def test_without_the_setting_nothing_is_said_and_nothing_rests(ledger: Ledger, tmp_path: Path) -> None:
    settings = make_settings(tmp_path, set_size=6)
    sit(ledger, settings, "a", ["alpha"], 20)
    later = sit(ledger, settings, "b", ["beta"], 20)
    assert "rested" not in later.met
    assert "rest_exposed" not in later.plan
