"""Months that compare, and what a plan says where nothing links."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select, update

from deployments.commands.exam.plans import render_plan
from schemas.settings import Settings
from tasks.exam.plan.run_plan import RunPlan, read_plan
from tests.tasks.exam.world import answer_run, make_bank, make_model, make_registry, make_settings, publish
from warehouse.ledger.engine.ledger import Ledger
from warehouse.ledger.engine.tables import exposures, set_claims, sets

RHO = make_model("rho", roles=("reference",))
MODELS = [make_model(f"m{number}") for number in range(4)]
NAMES = [model.name for model in MODELS]
BY_DEFAULT: dict[str, Any] = {"set_size": 30, "set_groups": Settings.model_fields["set_groups"].default}


def hold(
    ledger: Ledger, settings: Settings, run_id: str, names: list[str] | None = None, bank_version: int = 1
) -> RunPlan:
    """Plan, publish and answer a run of these candidates, all of an organisation of their own."""
    plan = publish(
        ledger, settings, make_registry(*MODELS, make_model("sister", "m0 labs"), RHO),
        make_bank(120, variants=1, bank_version=bank_version), candidates=names or NAMES, run_id=run_id, seed=run_id,
    )  # fmt: skip
    answer_run(ledger, run_id)
    return plan


def list_groups(plan: RunPlan) -> list[tuple[str, ...]]:
    return sorted(tuple(taken.organisations) for taken in plan.sets)


def list_links(plan: RunPlan) -> list[str]:
    return [
        line for line in render_plan(plan.summary()) if "other months" in line or "what would link" in line
    ]


def test_by_default_every_set_has_its_anchors_from_the_second_month_on(
    ledger: Ledger, tmp_path: Path
) -> None:
    settings = make_settings(tmp_path, **BY_DEFAULT)
    first, *later = [hold(ledger, settings, f"month {number}") for number in range(4)]
    assert first.link is not None
    assert (first.link.reason, first.link.months_until, first.link.offers) == ("first", 1, ())
    # There is nothing to compare with: half a sentence says so.
    assert list_links(first) == ["  other months: this is the first"]
    assert "anchors" not in "".join(render_plan(first.summary()))
    for plan in later:
        assert [(taken.anchor_count, taken.wanted_anchors) for taken in plan.sets] == [(6, 6), (6, 6)]
        assert list_groups(plan) == list_groups(first)
        assert plan.link is not None
        assert (plan.link.reason, plan.link.months_until) == ("linked", 0)
        assert (plan.link.anchor_count, plan.link.wanted_count, plan.link.answers_behind) == (12, 12, 2.0)
        # What the first plan foresaw of the second month is what that one expects.
        assert plan.link.expected_se == first.link.expected_se
    assert read_plan(ledger, "month 2").link == later[1].link


def test_a_reference_that_is_a_candidate_sits_what_the_others_are_asked_for_the_first_time(
    ledger: Ledger, tmp_path: Path
) -> None:
    settings = make_settings(tmp_path, **BY_DEFAULT)
    registry = make_registry(*MODELS, make_model("rho", roles=("candidate", "reference")))
    met: set[str] = set()
    for number in range(4):
        plan = publish(
            ledger, settings, registry, make_bank(120, variants=4, has_keys=True),
            candidates=[*NAMES, "rho"], run_id=f"month {number}", seed=f"month {number}",
        )  # fmt: skip
        answer_run(ledger, plan.run_id)
        with ledger.read() as connection:
            asked = {
                taken.set_id: {
                    row.question_uuid: (row.lineage_uuid, row.is_anchor)
                    for row in connection.execute(select(sets).where(sets.c.set_id == taken.set_id))
                }
                for taken in plan.sets
            }
        assert plan.link is not None and len(plan.sets) == (3 if number else 2)
        own = next(taken for taken in plan.sets if "rho labs" in taken.organisations)
        lineages = {lineage for lineage, _ in asked[own.set_id].values()}
        # It meets nothing that it has met, as a candidate or as the reference.
        assert not lineages & met and len(lineages) == 30
        met |= {lineage for found in asked.values() for lineage, _ in found.values()}
        if not number:
            # Nothing is old: it sits what one group sits.
            assert not own.is_from_others
            continue
        assert own.is_from_others and own.organisations == ("rho labs",)
        new = {
            question
            for set_id, found in asked.items()
            for question, (_, is_anchor) in found.items()
            if set_id != own.set_id and not is_anchor
        }
        assert asked[own.set_id].keys() <= new
        # The others' sets have their anchors, of which each was answered by two and the reference.
        assert (plan.link.reason, plan.link.anchor_count, plan.link.wanted_count) == ("linked", 12, 12)
        assert all(taken.is_new for taken in plan.sets)
        assert any(
            "of what the others are asked" in line and "rho labs" in line
            for line in render_plan(plan.summary())
        )


def test_a_plan_says_where_few_answers_link_it(ledger: Ledger, tmp_path: Path) -> None:
    small = make_settings(tmp_path, **BY_DEFAULT)
    first, second = hold(ledger, small, "a"), hold(ledger, small, "b")
    for plan in (first, second):
        assert plan.link is not None
        # Six anchors in each of two sets, put to two candidates and the reference, over three disciplines.
        assert (plan.link.link_answers, plan.link.is_thin) == (12.0, True)
        thin = [line for line in render_plan(plan.summary()) if "answers link a discipline" in line]
        assert thin == [
            "    about 12 answers link a discipline, fewer than 100: equated scores may be withheld; larger sets or more candidates would "
            "make the link stronger"
        ]
    assert read_plan(ledger, "b").link == second.link
    large = make_settings(
        tmp_path, **{**BY_DEFAULT, "set_size": 240, "lasting_sets": 1, "anchor_share": 0.25}
    )
    hold(ledger, small, "c")
    enough = hold(ledger, large, "d", bank_version=2)
    assert enough.link is not None
    assert enough.link.link_answers == round(enough.link.anchor_count * 3 / 3, 1) >= 100
    assert not enough.link.is_thin


def test_groups_outlast_a_new_bank_version(ledger: Ledger, tmp_path: Path) -> None:
    settings = make_settings(tmp_path, **BY_DEFAULT)
    first = hold(ledger, settings, "a")
    second = hold(ledger, settings, "b", bank_version=2)
    assert second.season != first.season
    assert list_groups(second) == list_groups(first)
    assert [taken.anchor_count for taken in second.sets] == [6, 6]
    assert second.link is not None and first.link is not None
    # Two sets of one bank are alike up to the drawing; a set of another bank has its anchors alone.
    assert (second.link.expected_se or 0) > (first.link.expected_se or 0)


def test_a_new_organisation_joins_the_group_with_fewer_candidates(ledger: Ledger, tmp_path: Path) -> None:
    settings = make_settings(tmp_path, **BY_DEFAULT)
    hold(ledger, settings, "a", ["m0", "sister", "m1"])
    later = hold(ledger, settings, "b", ["m0", "sister", "m1", "m2", "m3"])
    assert list_groups(later) == [("m0 labs", "m3 labs"), ("m1 labs", "m2 labs")]


def test_who_sat_one_set_every_month_is_parted_and_linked_from_the_next_run_on(
    ledger: Ledger, tmp_path: Path
) -> None:
    together = make_settings(tmp_path, set_size=30, set_groups=1)
    hold(ledger, together, "a")
    never = hold(ledger, together, "b")
    assert never.link is not None
    assert (never.link.reason, never.link.months_until, never.link.offers) == (
        "one_group",
        None,
        ("groups", "rest"),
    )
    assert list_links(never) == [
        "  other months: not linked, since those who sit have met every answered question; no later month will be linked as things "
        "stand",
        "    what would link: share sets in two groups (PROCTOR_SET_GROUPS=2), which answer for each other from the next run on; "
        "or let questions return after a rest (PROCTOR_REST_MONTHS)",
    ]
    apart = make_settings(tmp_path, **BY_DEFAULT)
    parted = hold(ledger, apart, "c")
    assert (len(parted.sets), parted.link and parted.link.reason) == (2, "parted")
    linked = hold(ledger, apart, "d")
    assert (linked.link and linked.link.reason, [taken.anchor_count for taken in linked.sets]) == (
        "linked",
        [6, 6],
    )


def test_one_organisation_alone_is_offered_a_bridge_and_with_it_is_linked(
    ledger: Ledger, tmp_path: Path
) -> None:
    settings = make_settings(tmp_path, **BY_DEFAULT)
    first = hold(ledger, settings, "a", ["m0", "sister"])
    assert first.link is not None
    assert (first.link.reason, first.link.months_until, first.link.expected_se) == ("first", None, None)
    alone = hold(ledger, settings, "b", ["m0", "sister"])
    assert alone.link is not None
    assert (alone.link.reason, alone.link.months_until) == ("alone", None)
    assert alone.link.offers == ("bridge", "rest")
    # The bridge sits what the others sat before, wholly; from the next run on both draw anchors from each other.
    bridged = hold(ledger, settings, "c", ["m0", "sister", "m1"])
    assert bridged.link is not None
    assert bridged.link.months_until == 0
    later = hold(ledger, settings, "d", ["m0", "sister", "m1"])
    assert [taken.anchor_count for taken in later.sets if taken.is_new] == [6] * len(
        [taken for taken in later.sets if taken.is_new]
    )


def test_a_rest_says_in_how_many_months_questions_return_and_then_they_link(
    ledger: Ledger, tmp_path: Path
) -> None:
    settings = make_settings(tmp_path, **BY_DEFAULT, rest_months=6)
    hold(ledger, settings, "a", ["m0"])
    waiting = hold(ledger, settings, "b", ["m0"])
    assert waiting.link is not None
    assert (waiting.link.reason, waiting.link.months_until, waiting.link.offers) == ("alone", 6, ("bridge",))
    with ledger.write() as connection:
        long_ago = "2020-01-01T00:00:00.000000+00:00"
        connection.execute(update(exposures).values(exposed_at=long_ago))
        connection.execute(update(set_claims).values(claimed_at=long_ago))
    returned = hold(ledger, settings, "c", ["m0"])
    assert returned.link is not None
    assert returned.link.months_until == 0


def test_without_anchors_asked_for_a_plan_says_so(ledger: Ledger, tmp_path: Path) -> None:
    settings = make_settings(tmp_path, **BY_DEFAULT, anchor_share=0)
    hold(ledger, settings, "a")
    plan = hold(ledger, settings, "b")
    assert plan.link is not None
    assert (plan.link.reason, plan.link.months_until, plan.link.offers) == ("unwanted", None, ("share",))


@pytest.mark.parametrize("policy", ["shared", "unique"])
def test_a_month_in_which_few_anchors_are_left_says_how_many_it_has(
    ledger: Ledger, tmp_path: Path, policy: str
) -> None:
    settings = make_settings(tmp_path, **BY_DEFAULT, set_policy=policy)
    hold(ledger, settings.model_copy(update={"set_size": 6}), "a", ["m0"])
    plan = hold(ledger, settings.model_copy(update={"anchor_share": 0.5}), "b", ["m1"])
    assert plan.link is not None
    assert (plan.link.reason, plan.link.anchor_count, plan.link.wanted_count) == ("few", 6, 15)
    assert list_links(plan)[0].startswith(
        "  other months: linked by 6 anchors of 15, each answered by 1 candidates before;"
    )
