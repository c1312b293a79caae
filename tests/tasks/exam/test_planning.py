"""Sets, seasons, the rule of one meeting per organisation, and the plan that shows them."""

from __future__ import annotations

import dataclasses
from collections import Counter
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import select, update

from schemas.errors import GateError, UsageError
from tasks.exam.plan.due import list_due
from tasks.exam.plan.planning import plan_run
from tasks.exam.plan.publishing import publish_plan
from tasks.exam.plan.run_plan import RunPlan, read_plan
from tasks.exam.plan.shares import BankTooSmall, Shortfall, compute_shares
from tests.tasks.exam.world import (
    DISCIPLINES,
    KEY_MARKER,
    MONTH,
    SEED,
    make_bank,
    make_model,
    make_registry,
    make_settings,
    publish,
)
from warehouse.ledger import exam, users
from warehouse.ledger.engine import Ledger, open_ledger
from warehouse.ledger.tables import allocations, exposures, sessions, set_claims, set_numbers, sets

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
    bank = make_bank(30, variants=3)
    publish(ledger, make_settings(tmp_path, set_size=60), make_registry(ALPHA, RHO), bank)
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


def test_a_small_discipline_is_refused_with_the_numbers_unless_it_may_be_capped(
    ledger: Ledger, tmp_path: Path
) -> None:
    bank = make_bank({"Engineering": 10, "Law": 3, "History": 2})
    registry = make_registry(ALPHA, RHO)
    with pytest.raises(BankTooSmall) as caught:
        publish(ledger, make_settings(tmp_path, set_size=12), registry, bank)
    assert caught.value.exit_code == 3
    assert caught.value.shortfalls == (Shortfall("Law", 4, 3, 3), Shortfall("History", 4, 2, 2))
    assert "Law: 4 needed, 3 left of 3; History: 4 needed, 2 left of 2" in str(caught.value)
    capped = publish(ledger, make_settings(tmp_path, set_size=12, cap_small_disciplines=True), registry, bank)
    assert capped.sessions[0].question_count == 9


def test_the_sixth_set_of_the_papers_smallest_discipline_can_be_drawn_and_the_seventh_cannot(
    ledger: Ledger, tmp_path: Path
) -> None:
    # Military Science has 611 originals (LLMEval-Fair, table 5): six sets of 100.
    bank = make_bank({"Military Science": 611}, variants=0)
    registry = make_registry(ALPHA, RHO)
    base = make_settings(tmp_path, disciplines=("Military Science",), set_size=100)
    plan = publish(ledger, base.model_copy(update={"repeats": 6}), registry, bank)
    assert plan.sets_left == {"alpha labs": {"Military Science": 0}}
    with pytest.raises(BankTooSmall, match="Military Science: 100 needed, 11 left of 611"):
        publish(ledger, base, registry, bank, run_id="next", candidates=["alpha"])


def test_an_empty_bank_and_two_versions_at_once_are_refused(ledger: Ledger, tmp_path: Path) -> None:
    registry = make_registry(ALPHA, RHO)
    with pytest.raises(GateError, match="no questions"):
        publish(ledger, make_settings(tmp_path), registry, make_bank().clear())
    with pytest.raises(Exception, match=r"\[1, 2\]"):
        publish(
            ledger, make_settings(tmp_path), registry, pl.concat([make_bank(), make_bank(bank_version=2)])
        )


# --- who sits which set -------------------------------------------------------------------------------------------


def test_candidates_of_different_organisations_sit_the_same_sets(ledger: Ledger, tmp_path: Path) -> None:
    plan = publish(ledger, make_settings(tmp_path, repeats=3), make_registry(ALPHA, BETA, RHO), make_bank())
    assert (sets_of(plan, "alpha"), sets_of(plan, "beta")) == ([1, 2, 3], [1, 2, 3])
    assert [taken.set_number for taken in plan.sets if taken.is_new] == [1, 2, 3]


def test_two_candidates_of_one_organisation_never_meet_a_lineage_twice(
    ledger: Ledger, tmp_path: Path
) -> None:
    plan = publish(ledger, make_settings(tmp_path, repeats=2), make_registry(ALPHA, SISTER, RHO), make_bank())
    assert (sets_of(plan, "alpha"), sets_of(plan, "sister")) == ([1, 2], [3, 4])
    met = [lineage for taken in plan.sets for lineage in lineages_of(ledger, taken.set_id)]
    assert len(met) == len(set(met)) == 24


def test_a_later_run_takes_the_lowest_set_that_the_organisation_has_not_met(
    ledger: Ledger, tmp_path: Path
) -> None:
    registry = make_registry(ALPHA, BETA, SISTER, RHO)
    settings_ = make_settings(tmp_path, repeats=2)
    publish(ledger, settings_, registry, make_bank(), candidates=["alpha"], run_id="a")
    beta = publish(ledger, settings_, registry, make_bank(), candidates=["beta"], run_id="b", seed="other")
    assert (sets_of(beta, "beta"), [taken.is_new for taken in beta.sets]) == ([1, 2], [False, False])
    sister = publish(ledger, settings_, registry, make_bank(), candidates=["sister"], run_id="c")
    assert (sets_of(sister, "sister"), [taken.is_new for taken in sister.sets]) == ([3, 4], [True, True])


def test_with_the_unique_policy_every_candidate_repeat_has_a_set_of_its_own(
    ledger: Ledger, tmp_path: Path
) -> None:
    settings_ = make_settings(tmp_path, repeats=2, set_policy="unique")
    plan = publish(ledger, settings_, make_registry(ALPHA, BETA, RHO), make_bank())
    assert (sets_of(plan, "alpha"), sets_of(plan, "beta")) == ([1, 2], [3, 4])
    own = [lineages_of(ledger, taken.set_id) for taken in plan.sets if taken.set_number in (1, 2)]
    assert own[0].isdisjoint(own[1])


def test_outside_candidates_make_the_unique_policy_the_default(ledger: Ledger, tmp_path: Path) -> None:
    registry = make_registry(ALPHA, RHO)
    plan = publish(ledger, make_settings(tmp_path), registry, make_bank(), candidates=[], outside=["alpha"])
    assert (plan.policy, plan.candidates, plan.outside) == ("unique", ("alpha",), ("alpha",))


def test_styles_sit_the_same_set_each_in_its_own_order(ledger: Ledger, tmp_path: Path) -> None:
    settings_ = make_settings(
        tmp_path, set_size=30, prompt_styles=("zero_shot", "few_shot", "chain_of_thought")
    )
    plan = publish(ledger, settings_, make_registry(ALPHA, RHO), make_bank())
    orders = {
        session.prompt_style: [
            row[0]
            for row in rows(
                ledger,
                select(allocations.c.lineage_uuid)
                .where(allocations.c.session_id == session.session_id)
                .order_by(allocations.c.seq),
            )
        ]
        for session in plan.sessions
        if session.model == "alpha"
    }
    assert {tuple(sorted(order)) for order in orders.values()} == {
        tuple(sorted(lineages_of(ledger, plan.sets[0].set_id)))
    }
    assert len({tuple(order) for order in orders.values()}) == 3


def test_a_new_bank_version_begins_a_new_season_and_old_meetings_still_count(
    ledger: Ledger, tmp_path: Path
) -> None:
    registry = make_registry(ALPHA, BETA, RHO)
    settings_ = make_settings(tmp_path, set_size=30)
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
    assert third.sets == tuple((number, set_id, False) for number, set_id, _ in second.sets)


def test_a_lineage_may_return_after_the_rest_period_and_not_before(ledger: Ledger, tmp_path: Path) -> None:
    registry = make_registry(ALPHA, RHO)
    bank = make_bank(2, variants=0)  # one set of six is all there is
    settings_ = make_settings(tmp_path, rest_months=12)
    publish(ledger, settings_, registry, bank, candidates=["alpha"], run_id="a")
    with pytest.raises(BankTooSmall):
        publish(ledger, settings_, registry, bank, candidates=["alpha"], run_id="b", policy="unique")
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
                publish(ledger, settings_, registry, bank, candidates=["alpha"], run_id="c", policy="unique")
        else:
            plan = publish(
                ledger, settings_, registry, bank, candidates=["alpha"], run_id="d", policy="unique"
            )
            assert plan.call_count == 12


@given(
    organisation_numbers=st.lists(st.integers(0, 2), min_size=1, max_size=5),
    repeats=st.integers(1, 3),
    policies=st.lists(st.sampled_from(["shared", "unique"]), min_size=1, max_size=3),
    versions=st.lists(st.integers(1, 2), min_size=3, max_size=3),
)
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
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
            bank = make_bank(40, variants=1, bank_version=versions[number])
            try:
                publish(
                    ledger,
                    settings_,
                    registry,
                    bank,
                    run_id=f"run {number}",
                    policy=policy,
                    seed=f"{SEED}{number}",
                    candidates=[model.name for model in models],
                )
            except BankTooSmall:
                continue  # a refusal claims nothing, which the count below would show
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
        assert sorted(map(tuple, counted)) == sorted(pairs)


# --- the reference ------------------------------------------------------------------------------------------------


def test_the_reference_answers_each_set_once_per_style_when_it_is_first_used_and_is_shown_to_be_exempt(
    ledger: Ledger, tmp_path: Path
) -> None:
    registry = make_registry(ALPHA, BETA, RHO)
    settings_ = make_settings(tmp_path, repeats=2, prompt_styles=("zero_shot", "few_shot"))
    first = publish(ledger, settings_, registry, make_bank(), candidates=["alpha"], run_id="a")
    sittings = [(s.set_number, s.prompt_style, s.repeat) for s in first.sessions if s.is_reference]
    assert sittings == [(1, "zero_shot", 1), (1, "few_shot", 1), (2, "zero_shot", 1), (2, "few_shot", 1)]
    assert first.exempt == {"rho labs": tuple(set_id for _, set_id, _ in first.sets)}
    assert {row[0] for row in rows(ledger, select(exposures.c.organisation))} == {"alpha labs"}
    second = publish(ledger, settings_, registry, make_bank(), candidates=["beta"], run_id="b")
    assert [s for s in second.sessions if s.is_reference] == []


def test_a_reference_that_is_due_sits_as_a_candidate_and_its_own_sitting_serves(
    ledger: Ledger, tmp_path: Path
) -> None:
    both = make_model("rho", roles=("candidate", "reference"))
    plan = publish(ledger, make_settings(tmp_path, repeats=2), make_registry(ALPHA, both), make_bank())
    assert [(s.model, s.set_number, s.is_reference) for s in plan.sessions] == [
        ("alpha", 1, False),
        ("alpha", 2, False),
        ("rho", 1, False),
        ("rho", 2, False),
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
    newer = make_model("sigma", roles=("reference",))
    publish(
        ledger,
        make_settings(tmp_path),
        make_registry(ALPHA, BETA, GAMMA, RHO),
        make_bank(),
        candidates=["alpha"],
    )
    registry = make_registry(ALPHA, BETA, GAMMA, SISTER, RHO, newer)
    changed = make_settings(tmp_path, reference_model="sigma", repeats=1)
    bridge = publish(ledger, changed, registry, make_bank(), candidates=["beta", "sister"], run_id="bridge")
    assert (bridge.reference_model, bridge.bridged_reference) == ("sigma", "rho")
    # Rho has sat set 1 before; set 2 is new to both.
    assert sorted((s.model, s.set_number) for s in bridge.sessions if s.is_reference) == [
        ("rho", 2),
        ("sigma", 1),
        ("sigma", 2),
    ]
    after = publish(ledger, changed, registry, make_bank(), candidates=["gamma"], run_id="after")
    assert (after.bridged_reference, [s for s in after.sessions if s.is_reference]) == (None, [])


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
    assert (sets_of(sim, "ghost"), sets_of(sim, "shade")) == ([1], [2])
    assert sim.run_id == "sim-2026-11"
    assert sim.season.startswith("sim:")
    real = publish(ledger, make_settings(tmp_path), make_registry(ALPHA, RHO), make_bank())
    assert sets_of(real, "alpha") == [1]
    assert real.sets_left == {"alpha labs": dict.fromkeys(DISCIPLINES, 19)}
    assert {row[0] for row in rows(ledger, select(exposures.c.organisation))} == {
        "alpha labs",
        "sim:alpha labs",
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
    plan = plan_run(
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
        12,
        4,
        72,
    )
    # 12 zero-shot questions of (200 + 350) and 12 chain-of-thought ones of (260 + 800) tokens, at 1 USD a million.
    assert summary["cost_by_model"] == {"alpha": 0.0193, "free": 0.0, "rho": 0.0193}
    assert (summary["unpriced"], summary["budget_usd"]) == (["free"], 5)
    assert summary["sets_left"] == {
        name: dict.fromkeys(DISCIPLINES, 8) for name in ("alpha labs", "free labs")
    }
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
    again = plan_run(ledger, settings_, registry, bank, month=MONTH, is_simulated=False, run_id=plan.run_id)
    assert again.is_published
    assert again == dataclasses.replace(
        plan, is_published=True, cost_usd=again.cost_usd, cost_by_model=again.cost_by_model
    )
    assert publish_plan(ledger, again) == plan.run_id
    assert len(rows(ledger, select(exposures))) == 6


def test_two_plans_made_side_by_side_do_not_claim_the_same_lineage(ledger: Ledger, tmp_path: Path) -> None:
    registry, bank = make_registry(ALPHA, SISTER, RHO), make_bank()
    plans = [
        plan_run(
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
    ] == [
        1,
        2,
    ]


def test_a_refused_publication_leaves_nothing_behind(ledger: Ledger, tmp_path: Path) -> None:
    registry, bank = make_registry(ALPHA, SISTER, RHO), make_bank(2, variants=0)
    plans = [
        plan_run(
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
        assert [row["run_id"] for row in exam.list_runs(connection)] == ["run alpha"]
    assert {row[0] for row in rows(ledger, select(sessions.c.run_id))} == {"run alpha"}


def test_limits_on_candidate_and_organisation_are_kept_when_questions_are_allocated(
    ledger: Ledger, tmp_path: Path
) -> None:
    registry = make_registry(ALPHA, RHO)
    with ledger.write() as connection:
        users.write_organisation_limit(connection, "alpha labs", 11)
    publish(ledger, make_settings(tmp_path), registry, make_bank(), candidates=["alpha"], run_id="a")
    with pytest.raises(GateError, match="may be allocated 11 questions; with this run it would have 12"):
        publish(ledger, make_settings(tmp_path), registry, make_bank(), candidates=["alpha"], run_id="b")
    with ledger.write() as connection:
        users.write_organisation_limit(connection, "alpha labs", None)
        users.write_user_limit(connection, "candidate:alpha", 7)
    with pytest.raises(GateError, match="'candidate:alpha' may be allocated 7 questions"):
        publish(ledger, make_settings(tmp_path), registry, make_bank(), candidates=["alpha"], run_id="b")


def test_runs_of_a_month_are_numbered_and_a_plan_for_nobody_is_not_published(
    ledger: Ledger, tmp_path: Path
) -> None:
    registry = make_registry(ALPHA, BETA, RHO)
    first = publish(ledger, make_settings(tmp_path), registry, make_bank(), candidates=["alpha"])
    second = publish(ledger, make_settings(tmp_path), registry, make_bank(), candidates=["beta"])
    assert (first.run_id, second.run_id) == ("2026-11", "2026-11-2")
    with pytest.raises(UsageError, match="no candidate is due"):
        publish(ledger, make_settings(tmp_path), registry, make_bank())


# --- who is due -----------------------------------------------------------------------------------------------------


def test_due_are_the_new_the_changed_and_the_named_that_have_not_sat_this_month(
    ledger: Ledger, tmp_path: Path
) -> None:
    future = make_model("future", released=date(2027, 2, 1))
    registry = make_registry(ALPHA, BETA, future, RHO)
    assert [(due.model.name, due.reason) for due in list_due(ledger, registry, MONTH)] == [
        ("alpha", "new"),
        ("beta", "new"),
    ]
    publish(ledger, make_settings(tmp_path), registry, make_bank())
    assert list_due(ledger, registry, MONTH, reexamined=["alpha"]) == []
    assert list_due(ledger, registry, "2026-12") == []
    changed = make_registry(make_model("alpha", parameters={"temperature": 1}), BETA, future, RHO)
    assert [
        (due.model.name, due.reason) for due in list_due(ledger, changed, "2027-02", reexamined=["beta"])
    ] == [("alpha", "changed"), ("beta", "named"), ("future", "new")]
