"""Sets, seasons, the rule of one meeting per organisation, and the plan that shows them."""

from __future__ import annotations

import dataclasses
from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import select, update

from deployments.commands.exam.plans import render_plan
from schemas.errors import GateError, UsageError
from tasks.exam.plan.allotment import SetRenewal
from tasks.exam.plan.publishing import publish_plan
from tasks.exam.plan.run_plan import RunPlan, read_plan
from tasks.exam.plan.shares import BankTooSmall, Shortfall, compute_shares, plan_shares
from tests.hunts import tries
from tests.tasks.exam.world import (
    DISCIPLINES,
    KEY_MARKER,
    MONTH,
    SEED,
    answer_run,
    make_bank,
    make_model,
    make_registry,
    make_settings,
    plan_wished,
    publish,
)
from warehouse.ledger.engine.ledger import Ledger
from warehouse.ledger.engine.opening import open_ledger
from warehouse.ledger.engine.tables import allocations, exposures, sessions, set_claims, set_numbers, sets
from warehouse.ledger.exam import sittings as ledger_exam
from warehouse.ledger.exam.plans import read_references
from warehouse.ledger.trust import organisations, users

ALPHA, BETA, GAMMA = make_model("alpha"), make_model("beta"), make_model("gamma")
SISTER = make_model("sister", "alpha labs")
RHO = make_model("rho", roles=("reference",))


def rows(ledger: Ledger, statement: Any) -> list[Any]:
    with ledger.read() as connection:
        return list(connection.execute(statement).all())


def lineages_of(ledger: Ledger, set_id: str) -> set[str]:
    return {row[0] for row in rows(ledger, select(sets.c.lineage_uuid).where(sets.c.set_id == set_id))}


def sets_of(plan: RunPlan, model: str) -> list[int]:
    return sorted({session.set_number for session in plan.sessions if session.model == model})


# --- what a set is ----------------------------------------------------------------------------------------------


def test_a_set_has_equal_shares_and_one_question_of_each_lineage(ledger: Ledger, tmp_path: Path) -> None:
    bank = make_bank(30)
    publish(ledger, make_settings(tmp_path, set_size=9), make_registry(ALPHA, RHO), bank)
    items = rows(ledger, select(sets.c.discipline, sets.c.lineage_uuid, sets.c.question_uuid))
    assert Counter(item.discipline for item in items) == {"Engineering": 3, "Law": 3, "History": 3}
    assert len({item.lineage_uuid for item in items}) == 9
    known = set(bank.select("discipline", "lineage_uuid", "question_uuid").rows())
    assert {tuple(item) for item in items} <= known


def test_a_remainder_goes_to_the_disciplines_that_come_first() -> None:
    assert compute_shares(8, DISCIPLINES) == {"Engineering": 3, "Law": 3, "History": 2}
    assert compute_shares(2, DISCIPLINES) == {"Engineering": 1, "Law": 1, "History": 0}


def test_only_the_disciplines_that_are_set_are_drawn(ledger: Ledger, tmp_path: Path) -> None:
    bank = make_bank({"Law": 10, "History": 10, "Arts": 10})
    settings_ = make_settings(tmp_path, disciplines=("Law", "History"), set_size=4)
    publish(ledger, settings_, make_registry(ALPHA, RHO), bank)
    assert {row[0] for row in rows(ledger, select(sets.c.discipline))} == {"Law", "History"}


def test_variants_are_drawn_as_well_as_originals(ledger: Ledger, tmp_path: Path) -> None:
    bank = make_bank(60, variants=3)
    publish(ledger, make_settings(tmp_path, set_size=60, lasting_sets=1), make_registry(ALPHA, RHO), bank)
    methods = Counter(
        bank.filter(
            pl.col("question_uuid").is_in([row[0] for row in rows(ledger, select(sets.c.question_uuid))])
        )["method"]
    )
    # One of four questions of a lineage is the original: 60 draws give 15 expected, and 4 to 30 in all but 1 of 10^6 cases.
    assert 4 <= methods["original"] <= 30
    assert methods.total() == 60


def test_the_ledger_holds_bare_content_only(ledger: Ledger, tmp_path: Path) -> None:
    publish(ledger, make_settings(tmp_path), make_registry(ALPHA, RHO), make_bank())
    for row in rows(ledger, select(sets.c.content)):
        assert set(row.content) == {"question_type", "language", "stem", "material", "options"}
        assert KEY_MARKER not in str(row.content)


def test_a_small_discipline_gives_a_smaller_share_down_to_the_least_and_is_refused_below_it_with_the_numbers(
    ledger: Ledger, tmp_path: Path
) -> None:
    bank = make_bank({"Engineering": 100, "Law": 30, "History": 4})
    registry = make_registry(ALPHA, RHO)
    sizes: dict[str, Any] = {"set_size": 30, "lasting_sets": 6, "least_share": 2}
    plan = publish(ledger, make_settings(tmp_path, **sizes), registry, bank, candidates=["alpha"])
    assert plan.shares == {"Engineering": 10, "Law": 5, "History": 2}
    (said,) = (line for line in render_plan(plan.summary()) if "PROCTOR_SET_SIZE" in line)
    assert said.startswith("  fewer than the 30 questions")
    assert said.endswith("instead of 10 of each discipline a new set has Law 5, History 2")
    uneven = {**plan.summary(), "set_size": 31, "shares": {"Engineering": 11, "Law": 10, "History": 2}}
    (said,) = (line for line in render_plan(uneven) if "PROCTOR_SET_SIZE" in line)
    assert said.endswith("a new set has History 2")
    items = rows(ledger, select(sets.c.discipline))
    assert Counter(item.discipline for item in items) == {"Engineering": 10, "Law": 5, "History": 2}
    publish(ledger, make_settings(tmp_path, **sizes), registry, bank, candidates=["alpha"], run_id="b")
    with pytest.raises(BankTooSmall) as caught:
        publish(ledger, make_settings(tmp_path, **sizes), registry, bank, candidates=["alpha"], run_id="c")
    assert caught.value.exit_code == 3
    assert caught.value.shortfalls == (Shortfall("History", 2, 0, 4),)
    assert "History: 2 needed, 0 left of 4" in str(caught.value)


def test_where_shares_may_not_be_smaller_a_small_discipline_is_refused_with_the_numbers(
    ledger: Ledger, tmp_path: Path
) -> None:
    bank = make_bank({"Engineering": 10, "Law": 3, "History": 2})
    with pytest.raises(BankTooSmall) as caught:
        publish(
            ledger,
            make_settings(tmp_path, set_size=12, cap_small_disciplines=False),
            make_registry(ALPHA, RHO),
            bank,
        )
    assert caught.value.shortfalls == (Shortfall("Law", 4, 3, 3), Shortfall("History", 4, 2, 2))
    assert "Law: 4 needed, 3 left of 3; History: 4 needed, 2 left of 2" in str(caught.value)


def test_the_papers_smallest_discipline_lasts_three_years_and_nothing_of_it_is_left_over(
    ledger: Ledger, tmp_path: Path
) -> None:
    # Military Science has 611 originals (LLMEval-Fair, table 6): 36 sets of 16 and the last with what is left.
    rule = plan_shares(100, {"Military Science": 611}, is_capped=True, lasting_sets=36, least_share=10)
    left, sizes = 611, []
    while True:
        shares, shortfalls = rule.fit({"Military Science": left})
        assert rule.count_sets({"Military Science": left})["Military Science"] >= bool(not shortfalls)
        if shortfalls:
            break
        sizes.append(shares["Military Science"])
        left -= sizes[-1]
    assert (sizes, left) == ([16] * 37 + [19], 0)
    bank = make_bank({"Military Science": 611}, variants=0)
    base = make_settings(tmp_path, disciplines=("Military Science",), set_size=100)
    plan = publish(ledger, base, make_registry(ALPHA, RHO), bank)
    assert plan.sets_left["alpha labs"] == {"Military Science": 37}


def test_an_empty_bank_and_two_versions_at_once_are_refused(ledger: Ledger, tmp_path: Path) -> None:
    registry = make_registry(ALPHA, RHO)
    with pytest.raises(GateError, match="no questions"):
        publish(ledger, make_settings(tmp_path), registry, make_bank().clear())
    with pytest.raises(Exception, match=r"\[1, 2\]"):
        publish(
            ledger, make_settings(tmp_path), registry, pl.concat([make_bank(), make_bank(bank_version=2)])
        )


# --- who sits which set -------------------------------------------------------------------------------------------


def read_order(ledger: Ledger, session_id: str) -> tuple[str, ...]:
    """The lineages of a session in its order."""
    query = select(allocations.c.lineage_uuid).where(allocations.c.session_id == session_id)
    return tuple(row[0] for row in rows(ledger, query.order_by(allocations.c.seq)))


def test_repeats_styles_and_all_candidates_that_can_share_sit_one_set(ledger: Ledger, tmp_path: Path) -> None:
    settings_ = make_settings(tmp_path, repeats=3, prompt_styles=("zero_shot", "few_shot"))
    plan = publish(ledger, settings_, make_registry(ALPHA, SISTER, BETA, RHO), make_bank())
    sittings = Counter((s.model, s.set_number) for s in plan.sessions if not s.is_reference)
    assert sittings == {("alpha", 1): 6, ("sister", 1): 6, ("beta", 1): 6}
    assert [(taken.set_number, taken.is_new, taken.organisations) for taken in plan.sets] == [
        (1, True, ("alpha labs", "beta labs"))
    ]
    orders = {read_order(ledger, session.session_id) for session in plan.sessions}
    # 20 sessions of six questions: two of 720 orders coincide now and then, all of them never.
    assert len(orders) > 10
    assert {tuple(sorted(order)) for order in orders} == {
        tuple(sorted(lineages_of(ledger, plan.sets[0].set_id)))
    }


def test_a_later_run_takes_the_lowest_set_that_its_organisations_have_not_met(
    ledger: Ledger, tmp_path: Path
) -> None:
    registry = make_registry(ALPHA, BETA, GAMMA, SISTER, RHO)
    settings_ = make_settings(tmp_path)
    publish(ledger, settings_, registry, make_bank(), candidates=["alpha"], run_id="a")
    beta = publish(ledger, settings_, registry, make_bank(), candidates=["beta"], run_id="b", seed="other")
    assert (sets_of(beta, "beta"), [taken.is_new for taken in beta.sets]) == ([1], [False])
    # Set 1 would serve gamma alone; a new one serves both.
    both = publish(ledger, settings_, registry, make_bank(), candidates=["sister", "gamma"], run_id="c")
    assert (sets_of(both, "sister"), sets_of(both, "gamma")) == ([2], [2])
    assert [taken.is_new for taken in both.sets] == [True]


def test_who_cannot_share_any_more_sits_apart_and_who_has_met_everything_is_refused_alone(
    ledger: Ledger, tmp_path: Path
) -> None:
    bank = make_bank(4, variants=0)  # two sets of six
    registry = make_registry(ALPHA, BETA, GAMMA, SISTER, RHO)
    settings_ = make_settings(tmp_path)
    for run_id in ("a", "b"):
        publish(ledger, settings_, registry, bank, candidates=["alpha"], run_id=run_id)
    publish(ledger, settings_, registry, bank, candidates=["beta"], run_id="c")
    plan = publish(ledger, settings_, registry, bank, candidates=["beta", "gamma", "sister"], run_id="d")
    assert (sets_of(plan, "beta"), sets_of(plan, "gamma")) == ([2], [2])
    assert plan.candidates == ("beta", "gamma")
    assert [(one.organisation, one.candidates) for one in plan.refused] == [("alpha labs", ("sister",))]
    assert plan.refused[0].shortfalls == tuple(Shortfall(name, 2, 0, 4) for name in DISCIPLINES)
    assert "Engineering: 2 needed, 0 left of 4" in plan.refused[0].reason
    assert read_plan(ledger, "d").refused == plan.refused
    assert sets_of(plan, "sister") == []


def test_with_the_unique_policy_every_organisation_has_a_set_of_its_own(
    ledger: Ledger, tmp_path: Path
) -> None:
    settings_ = make_settings(tmp_path, repeats=2, set_policy="unique")
    plan = publish(ledger, settings_, make_registry(ALPHA, SISTER, BETA, RHO), make_bank())
    assert [sets_of(plan, name) for name in ("alpha", "sister", "beta", "rho")] == [[1], [1], [2], [1, 2]]


def test_outside_candidates_make_the_unique_policy_the_default(ledger: Ledger, tmp_path: Path) -> None:
    registry = make_registry(replace(ALPHA, base_url="outside"), RHO)
    with pytest.raises(UsageError, match=r"alpha sits with a client of its own .* Name it with --outside"):
        publish(ledger, make_settings(tmp_path), registry, make_bank(), candidates=["alpha"])
    plan = publish(ledger, make_settings(tmp_path), registry, make_bank(), candidates=[], outside=["alpha"])
    assert (plan.policy, plan.candidates, plan.outside) == ("unique", ("alpha",), ("alpha",))


def test_a_new_bank_version_begins_a_new_season_and_old_meetings_still_count(
    ledger: Ledger, tmp_path: Path
) -> None:
    registry = make_registry(ALPHA, BETA, RHO)
    settings_ = make_settings(tmp_path, set_size=30, anchor_share=0, cap_small_disciplines=False)
    publish(ledger, settings_, registry, make_bank(30), candidates=["alpha"], run_id="a")
    second = publish(
        ledger, settings_, registry, make_bank(30, bank_version=2), candidates=["alpha"], run_id="b"
    )
    assert second.season != read_plan(ledger, "a").season
    met = [
        lineage
        for plan in (read_plan(ledger, "a"), second)
        for lineage in lineages_of(ledger, plan.sets[0].set_id)
    ]
    assert len(met) == len(set(met)) == 60
    # Beta has met nothing, yet takes the set that alpha's run drew: it was drawn to be shared.
    third = publish(
        ledger, settings_, registry, make_bank(30, bank_version=2), candidates=["beta"], run_id="c"
    )
    assert [(taken.set_id, taken.is_new) for taken in third.sets] == [(second.sets[0].set_id, False)]


def test_a_lineage_may_return_after_the_rest_period_and_not_before(ledger: Ledger, tmp_path: Path) -> None:
    registry = make_registry(ALPHA, RHO)
    bank = make_bank(2, variants=0)  # one set of six is all there is
    settings_ = make_settings(tmp_path, rest_months=12)
    unique = settings_.model_copy(update={"set_policy": "unique"})
    publish(ledger, settings_, registry, bank, candidates=["alpha"], run_id="a")
    with pytest.raises(BankTooSmall):
        publish(ledger, unique, registry, bank, candidates=["alpha"], run_id="b")
    today = datetime.now(UTC)
    met_at = {11: GateError, 13: None}
    for months, expected in met_at.items():
        year, month = divmod(today.year * 12 + today.month - 1 - months, 12)
        with ledger.write() as connection:
            at = f"{year:04d}-{month + 1:02d}-01T00:00:00.000000+00:00"
            connection.execute(update(exposures).values(exposed_at=at))
            connection.execute(update(set_claims).values(claimed_at=at))
        if expected is not None:
            with pytest.raises(expected):
                publish(ledger, unique, registry, bank, candidates=["alpha"], run_id="c")
        else:
            plan = publish(ledger, unique, registry, bank, candidates=["alpha"], run_id="d")
            assert plan.call_count == 12


@pytest.mark.hunt
@given(
    organisation_numbers=st.lists(st.integers(0, 2), min_size=1, max_size=5),
    repeats=st.integers(1, 3),
    policies=st.lists(st.sampled_from(["shared", "unique"]), min_size=1, max_size=3),
    versions=st.lists(st.integers(1, 2), min_size=3, max_size=3),
)
@settings(max_examples=tries(4, 25), deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_whatever_is_planned_no_organisation_meets_a_lineage_in_two_sets(
    tmp_path_factory: pytest.TempPathFactory,
    organisation_numbers: list[int],
    repeats: int,
    policies: list[str],
    versions: list[int],
) -> None:
    home = tmp_path_factory.mktemp("exam")
    models = [make_model(f"m{n}", f"organisation {number}") for n, number in enumerate(organisation_numbers)]
    registry = make_registry(*models, RHO)
    settings_ = make_settings(home, repeats=repeats)
    with open_ledger(f"sqlite:///{home / 'ledger.sqlite'}") as ledger:
        for number, policy in enumerate(policies):
            plan = publish(
                ledger,
                settings_.model_copy(update={"set_policy": policy}),
                registry,
                make_bank(40, variants=1, bank_version=versions[number]),
                run_id=f"run {number}",
                seed=f"{SEED}{number}",
                candidates=[model.name for model in models],
            )
            answer_run(ledger, plan.run_id)
        meetings = rows(
            ledger,
            select(sessions.c.organisation, sessions.c.set_id, sets.c.lineage_uuid)
            .join(sets, sets.c.set_id == sessions.c.set_id)
            .where(sessions.c.is_reference.is_(False))
            .distinct(),
        )
        pairs = [(row.organisation, row.lineage_uuid) for row in meetings]
        assert len(pairs) == len(set(pairs))
        counted = rows(ledger, select(exposures.c.organisation, exposures.c.lineage_uuid))
        assert sorted(tuple(row) for row in counted if row.organisation != "rholabs") == sorted(pairs)
        in_runs = rows(
            ledger,
            select(sessions.c.run_id, sessions.c.organisation, sessions.c.set_id)
            .where(sessions.c.is_reference.is_(False))
            .distinct(),
        )
        # In one run an organisation sits one set, and it sits in every run.
        assert len(in_runs) == len({(row.run_id, row.organisation) for row in in_runs})
        assert len(in_runs) == len(policies) * len(set(organisation_numbers))


# --- the reference ------------------------------------------------------------------------------------------------


def test_the_reference_answers_each_set_once_per_style_and_its_organisation_has_met_it(
    ledger: Ledger, tmp_path: Path
) -> None:
    registry = make_registry(ALPHA, BETA, make_model("half-sister", "rho labs"), RHO)
    settings_ = make_settings(tmp_path, repeats=2, prompt_styles=("zero_shot", "few_shot"))
    first = publish(ledger, settings_, registry, make_bank(), candidates=["alpha"], run_id="a")
    sittings = [(s.set_number, s.prompt_style, s.repeat) for s in first.sessions if s.is_reference]
    assert sittings == [(1, "zero_shot", 1), (1, "few_shot", 1)]
    assert {row[0] for row in rows(ledger, select(exposures.c.organisation))} == {"alphalabs", "rholabs"}
    assert rows(
        ledger,
        select(set_claims.c.organisation, set_claims.c.is_reference).order_by(set_claims.c.organisation),
    ) == [("alphalabs", False), ("rholabs", True)]
    second = publish(ledger, settings_, registry, make_bank(), candidates=["beta"], run_id="b")
    assert [s for s in second.sessions if s.is_reference] == []
    # Its own candidates draw from other sets, which the reference answers then.
    third = publish(ledger, settings_, registry, make_bank(), candidates=["half-sister"], run_id="c")
    assert (sets_of(third, "half-sister"), sets_of(third, "rho")) == ([2], [2])


def test_candidates_of_the_references_organisation_share_a_set_that_is_new_to_it_in_the_same_run(
    ledger: Ledger, tmp_path: Path
) -> None:
    registry = make_registry(ALPHA, make_model("half-sister", "rho labs"), RHO)
    plan = publish(ledger, make_settings(tmp_path), registry, make_bank())
    assert [sets_of(plan, name) for name in ("alpha", "half-sister", "rho")] == [[1], [1], [1]]
    claims = rows(ledger, select(set_claims.c.organisation, set_claims.c.is_reference))
    assert sorted(map(tuple, claims)) == [("alphalabs", False), ("rholabs", False)]


def test_a_reference_that_is_due_sits_as_a_candidate_and_its_own_sitting_serves(
    ledger: Ledger, tmp_path: Path
) -> None:
    both = make_model("rho", roles=("candidate", "reference"))
    plan = publish(ledger, make_settings(tmp_path, repeats=2), make_registry(ALPHA, both), make_bank())
    assert [(s.model, s.set_number, s.repeat, s.is_reference) for s in plan.sessions] == [
        ("alpha", 1, 1, False),
        ("alpha", 1, 2, False),
        ("rho", 1, 1, False),
        ("rho", 1, 2, False),
    ]


def test_a_reference_that_becomes_a_candidate_does_not_sit_a_set_again(
    ledger: Ledger, tmp_path: Path
) -> None:
    both = make_model("rho", roles=("candidate", "reference"))
    registry = make_registry(ALPHA, both)
    publish(ledger, make_settings(tmp_path), registry, make_bank(), candidates=["alpha"], run_id="a")
    plan = publish(ledger, make_settings(tmp_path), registry, make_bank(), candidates=["rho"], run_id="b")
    assert [(s.set_number, s.is_reference) for s in plan.sessions] == [(2, False)]


def test_a_changed_reference_makes_a_bridging_run_sat_by_both(ledger: Ledger, tmp_path: Path) -> None:
    sigma = make_model("sigma", roles=("reference",))
    publish(
        ledger,
        make_settings(tmp_path),
        make_registry(ALPHA, BETA, GAMMA, RHO),
        make_bank(),
        candidates=["alpha"],
    )
    registry = make_registry(ALPHA, BETA, GAMMA, SISTER, RHO, sigma)
    changed = make_settings(tmp_path, reference_model="sigma")
    bridge = publish(ledger, changed, registry, make_bank(), candidates=["beta", "sister"], run_id="bridge")
    assert (bridge.reference_model, bridge.bridged_reference) == ("sigma", "rho")
    # Both sit the new set 2; rho's sitting of set 1 would have served, and nobody needs it here.
    assert sorted((s.model, s.set_number) for s in bridge.sessions if s.is_reference) == [
        ("rho", 2),
        ("sigma", 2),
    ]
    after = publish(ledger, changed, registry, make_bank(), candidates=["gamma"], run_id="after")
    assert (after.bridged_reference, sets_of(after, "gamma"), sets_of(after, "sigma")) == (None, [1], [1])


def test_bridges_chain_over_three_references_and_one_left_out_is_made_up_for(
    ledger: Ledger, tmp_path: Path
) -> None:
    references = [make_model(name, roles=("reference",)) for name in ("rho", "sigma", "tau")]
    registry = make_registry(*(make_model(f"m{n}") for n in range(6)), *references)

    def run(number: int, reference: str, **options: Any) -> str | None:
        settings_ = make_settings(tmp_path, reference_model=reference)
        plan = publish(
            ledger,
            settings_,
            registry,
            make_bank(),
            candidates=[f"m{number}"],
            run_id=f"run {number}",
            **options,
        )
        return plan.bridged_reference

    assert run(0, "rho") is None
    assert run(1, "sigma") == "rho"
    assert run(2, "tau", is_bridging=False) is None
    assert run(3, "tau") == "sigma"
    # Back to the one before: that bridge stands.
    assert run(4, "sigma") is None
    assert run(5, "tau") is None
    with ledger.read() as connection:
        found = {
            frozenset(pair)
            for pair in (
                (row.reference_model, row.bridged_reference)
                for row in read_references(connection, is_simulated=False)
            )
            if None not in pair
        }
    assert found == {frozenset({"rho", "sigma"}), frozenset({"sigma", "tau"})}


JUDGING = {"judge_prompt": "1", "judge one": "known"}


@pytest.mark.parametrize(
    ("changes", "judging", "changed"),
    [
        ({"base_url": "http://127.0.0.1:10/v1"}, JUDGING, ("endpoint",)),
        ({"mode": "thinking"}, JUDGING, ("mode",)),
        ({"parameters": {"temperature": 1}}, JUDGING, ("parameters",)),
        ({}, JUDGING | {"judge_prompt": "2"}, ("judge_prompt",)),
        # R would hold what one judge gave the reference beside what another gave the candidates.
        ({}, JUDGING | {"judge one": "another"}, ("judge one",)),
        ({}, JUDGING, None),
        # Who judged before is the same.
        ({}, JUDGING | {"judge two": "new"}, None),
    ],
)
def test_a_reference_answers_again_when_what_it_answered_with_has_changed(
    ledger: Ledger,
    tmp_path: Path,
    changes: dict[str, Any],
    judging: dict[str, str],
    changed: tuple[str, ...] | None,
) -> None:
    settings_ = make_settings(tmp_path)
    first = {"candidates": ["alpha"], "run_id": "a", "judging": JUDGING}
    publish(ledger, settings_, make_registry(ALPHA, BETA, RHO), make_bank(), **first)
    registry = make_registry(ALPHA, BETA, make_model("rho", roles=("reference",), **changes))
    plan = publish(ledger, settings_, registry, make_bank(), candidates=["beta"], run_id="b", judging=judging)
    again = [] if changed is None else [SetRenewal("rho", 1, changed)]
    assert list(plan.renewed) == again
    assert sets_of(plan, "rho") == ([] if changed is None else [1])
    # Once renewed, it serves.
    third = publish(
        ledger,
        settings_,
        make_registry(*registry.models.values(), GAMMA),
        make_bank(),
        candidates=["gamma"],
        run_id="c",
        judging=judging,
    )
    assert (third.renewed, sets_of(third, "gamma"), sets_of(third, "rho")) == ((), [1], [])


def test_a_changed_exam_prompt_renews_the_reference_and_so_does_the_option(
    ledger: Ledger, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings_, registry = make_settings(tmp_path), make_registry(ALPHA, BETA, GAMMA, RHO)
    publish(ledger, settings_, registry, make_bank(), candidates=["alpha"], run_id="a")
    asked = publish(
        ledger, settings_, registry, make_bank(), candidates=["beta"], run_id="b", is_reference_renewed=True
    )
    assert asked.renewed == (SetRenewal("rho", 1, ()),)
    monkeypatch.setattr("tasks.exam.plan.fingerprint.EXAM_PROMPT", "2")
    changed = publish(ledger, settings_, registry, make_bank(), candidates=["gamma"], run_id="c")
    assert changed.renewed == (SetRenewal("rho", 1, ("exam_prompt",)),)


def test_a_reference_that_left_the_registry_cannot_bridge(ledger: Ledger, tmp_path: Path) -> None:
    publish(ledger, make_settings(tmp_path), make_registry(ALPHA, RHO), make_bank(), candidates=["alpha"])
    sigma = make_registry(BETA, make_model("sigma", roles=("reference",)))
    with pytest.raises(GateError, match="'rho' is no longer registered"):
        publish(ledger, make_settings(tmp_path), sigma, make_bank(), candidates=["beta"], run_id="b")
    plan = publish(
        ledger,
        make_settings(tmp_path),
        sigma,
        make_bank(),
        candidates=["beta"],
        run_id="b",
        is_bridging=False,
    )
    assert plan.bridged_reference is None


# --- simulated runs -------------------------------------------------------------------------------------------------


def test_simulated_runs_take_nothing_from_real_ones_and_obey_the_rule_among_themselves(
    ledger: Ledger, tmp_path: Path
) -> None:
    ghost = make_model("ghost", "alpha labs", is_simulated=True)
    shade = make_model("shade", "alpha labs", is_simulated=True)
    sim_rho = make_model("sim-rho", roles=("reference",), is_simulated=True)
    simulated = make_registry(ghost, shade, sim_rho)
    sim = publish(ledger, make_settings(tmp_path), simulated, make_bank(), is_simulated=True)
    assert (sets_of(sim, "ghost"), sets_of(sim, "shade")) == ([1], [1])
    assert sim.run_id == "sim-2026-11"
    assert sim.season.startswith("sim:")
    real = publish(ledger, make_settings(tmp_path), make_registry(ALPHA, RHO), make_bank())
    assert sets_of(real, "alpha") == [1]
    assert real.sets_left["alpha labs"] == dict.fromkeys(DISCIPLINES, 19)
    assert {row[0] for row in rows(ledger, select(exposures.c.organisation))} == {
        "alphalabs",
        "rholabs",
        "sim:alphalabs",
        "sim:simrholabs",
    }


def test_a_simulated_candidate_cannot_take_part_in_a_real_run(ledger: Ledger, tmp_path: Path) -> None:
    registry = make_registry(make_model("ghost", is_simulated=True), RHO)
    with pytest.raises(UsageError, match="'ghost' is simulated"):
        publish(ledger, make_settings(tmp_path), registry, make_bank(), candidates=["ghost"])


# --- preview and publication ----------------------------------------------------------------------------------------


def test_a_preview_shows_sets_sessions_calls_cost_and_what_is_left_and_writes_nothing(
    ledger: Ledger, tmp_path: Path
) -> None:
    free = make_model("free", price=None)
    settings_ = make_settings(
        tmp_path, repeats=2, prompt_styles=("zero_shot", "chain_of_thought"), budget_usd=5
    )
    plan = plan_wished(
        ledger,
        settings_,
        make_registry(ALPHA, free, RHO),
        make_bank(20),
        month=MONTH,
        is_simulated=False,
        seed=SEED,
    )
    summary = plan.summary()
    assert (summary["session_count"], summary["reference_session_count"], summary["call_count"]) == (
        10,
        2,
        60,
    )
    # 12 zero-shot questions of (200 + 350) and 12 chain-of-thought ones of (260 + 800) tokens, at 1 USD a million.
    assert summary["calls_by_model"] == {"alpha": 24, "free": 24, "rho": 12}
    assert summary["cost_by_model"] == {"alpha": 0.0193, "free": 0.0, "rho": 0.0097}
    assert (summary["unpriced"], summary["budget_usd"]) == (["free"], 5)
    assert summary["sets_left"] == {
        name: dict.fromkeys(DISCIPLINES, 9) for name in ("alpha labs", "free labs", "rho labs")
    }
    assert [(one["model"], one["reason"], one["every_months"]) for one in summary["due"]] == [
        ("alpha", "new", 3),
        ("free", "new", 3),
    ]
    assert [rows(ledger, select(table)) for table in (set_numbers, sessions, exposures)] == [[], [], []]
    assert SEED not in repr(plan) + str(summary)


def test_the_same_seed_gives_the_same_run_and_another_seed_another(tmp_path: Path) -> None:
    drawn = []
    for number, seed in enumerate((SEED, SEED, "another")):
        with open_ledger(f"sqlite:///{tmp_path / f'{number}.sqlite'}") as ledger:
            plan = publish(ledger, make_settings(tmp_path), make_registry(ALPHA, RHO), make_bank(), seed=seed)
            order = select(allocations.c.session_id, allocations.c.seq, allocations.c.lineage_uuid)
            drawn.append((plan.sessions, sorted(map(tuple, rows(ledger, order)))))
    assert drawn[0] == drawn[1]
    assert drawn[0] != drawn[2]


def test_publishing_twice_claims_once_and_a_published_run_is_planned_as_it_is(
    ledger: Ledger, tmp_path: Path
) -> None:
    settings_, registry, bank = make_settings(tmp_path), make_registry(ALPHA, RHO), make_bank()
    plan = publish(ledger, settings_, registry, bank)
    assert publish_plan(ledger, plan) == plan.run_id
    again = plan_wished(
        ledger, settings_, registry, bank, month=MONTH, is_simulated=False, run_id=plan.run_id
    )
    assert again.is_published
    assert again == dataclasses.replace(
        plan, is_published=True, cost_usd=again.cost_usd, cost_by_model=again.cost_by_model
    )
    assert publish_plan(ledger, again) == plan.run_id
    assert len(rows(ledger, select(exposures).where(exposures.c.organisation == "alphalabs"))) == 6


def test_two_plans_made_side_by_side_do_not_claim_the_same_lineage(ledger: Ledger, tmp_path: Path) -> None:
    registry, bank = make_registry(ALPHA, SISTER, RHO), make_bank()
    plans = [
        plan_wished(
            ledger,
            make_settings(tmp_path),
            registry,
            bank,
            month=MONTH,
            is_simulated=False,
            run_id=f"run {name}",
            candidates=[name],
        )
        for name in ("alpha", "sister")
    ]
    assert [plan.sets[0].set_number for plan in plans] == [1, 1]
    for plan in plans:
        publish_plan(ledger, plan)
    assert [
        sets_of(read_plan(ledger, plan.run_id), name)[0]
        for plan, name in zip(plans, ("alpha", "sister"), strict=True)
    ] == [1, 2]


def test_a_refused_publication_leaves_nothing_behind(ledger: Ledger, tmp_path: Path) -> None:
    registry, bank = make_registry(ALPHA, SISTER, RHO), make_bank(2, variants=0)
    plans = [
        plan_wished(
            ledger,
            make_settings(tmp_path),
            registry,
            bank,
            month=MONTH,
            is_simulated=False,
            run_id=f"run {name}",
            candidates=[name],
        )
        for name in ("alpha", "sister")
    ]
    publish_plan(ledger, plans[0])
    with pytest.raises(BankTooSmall):
        publish_plan(ledger, plans[1])
    with ledger.read() as connection:
        assert ledger_exam.list_run_ids(connection) == ["run alpha"]
    assert {row[0] for row in rows(ledger, select(sessions.c.run_id))} == {"run alpha"}


def test_who_has_reached_a_limit_is_refused_alone_when_questions_are_allocated(
    ledger: Ledger, tmp_path: Path
) -> None:
    registry = make_registry(ALPHA, BETA, RHO)
    publish(ledger, make_settings(tmp_path), registry, make_bank(), candidates=["alpha"], run_id="a")
    with ledger.write() as connection:
        organisations.write_organisation_limit(connection, "Alpha Labs", 11)
    with pytest.raises(GateError, match="may be allocated 11 questions; with this run it would have 12"):
        publish(ledger, make_settings(tmp_path), registry, make_bank(), candidates=["alpha"], run_id="b")
    both = publish(
        ledger, make_settings(tmp_path), registry, make_bank(), candidates=["alpha", "beta"], run_id="b"
    )
    assert (both.candidates, [one.candidates for one in both.refused]) == (("beta",), [("alpha",)])
    with ledger.write() as connection:
        organisations.write_organisation_limit(connection, "alpha labs", None)
        users.write_user_limit(connection, "candidate:alpha", 7)
    with pytest.raises(GateError, match="'candidate:alpha' may be allocated 7 questions"):
        publish(ledger, make_settings(tmp_path), registry, make_bank(), candidates=["alpha"], run_id="c")
    with ledger.write() as connection:
        users.write_user_limit(connection, "candidate:rho", 7)
    with pytest.raises(GateError, match="The reference cannot sit"):
        publish(
            ledger,
            make_settings(tmp_path),
            make_registry(ALPHA, BETA, GAMMA, RHO),
            make_bank(40),
            candidates=["beta"],
            run_id="d",
        )
