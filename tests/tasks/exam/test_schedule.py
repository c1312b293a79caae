"""Who is due and when, and how long the bank lasts."""

from __future__ import annotations

from datetime import date
from pathlib import Path

from tasks.exam.plan.due import Schedule, add_months, list_due, read_schedule
from tasks.exam.plan.forecast import forecast_sets
from tasks.exam.plan.shares import plan_shares
from tests.tasks.exam.world import MONTH, make_bank, make_model, make_registry, make_settings, publish
from warehouse.ledger.engine.ledger import Ledger

ALPHA, BETA = make_model("alpha"), make_model("beta")
RHO = make_model("rho", roles=("reference",))


def test_months_are_added_over_the_end_of_a_year() -> None:
    assert [add_months("2026-11", count) for count in (0, 1, 2, 14)] == [
        "2026-11",
        "2026-12",
        "2027-01",
        "2028-01",
    ]


def test_due_are_the_new_the_changed_and_those_whose_time_is_up(ledger: Ledger, tmp_path: Path) -> None:
    settings = make_settings(tmp_path)
    future = make_model("future", released=date(2027, 2, 1))
    often = make_model("often", every=2)
    registry = make_registry(ALPHA, BETA, future, often, make_model("rho", roles=("candidate", "reference")))

    def due(month: str, registry_: object = registry) -> list[tuple[str, str | None]]:
        found = read_schedule(ledger, registry_, settings, month, is_simulated=False)  # type: ignore[arg-type]
        assert list_due(found) == [entry.model for entry in found if entry.reason]
        return [(entry.model, entry.reason) for entry in found if entry.reason]

    assert due(MONTH) == [("alpha", "new"), ("beta", "new"), ("often", "new"), ("rho", "new")]
    publish(ledger, settings, registry, make_bank())
    assert due(MONTH) == []
    # The reference every month, `often` every two, the others every three.
    assert due("2026-12") == [("rho", "due")]
    assert due("2027-01") == [("often", "due"), ("rho", "due")]
    assert due("2027-02") == [
        ("alpha", "due"),
        ("beta", "due"),
        ("future", "new"),
        ("often", "due"),
        ("rho", "due"),
    ]
    changed = make_registry(make_model("alpha", parameters={"temperature": 1}), BETA, RHO)
    assert due("2026-12", changed) == [("alpha", "changed")]
    moved = make_registry(make_model("alpha", base_url="http://127.0.0.1:10/v1"), BETA, RHO)
    assert due("2026-12", moved) == []


def test_a_month_that_is_made_up_for_after_a_later_one_has_its_own_due(
    ledger: Ledger, tmp_path: Path
) -> None:
    settings, registry = make_settings(tmp_path), make_registry(ALPHA, make_model("often", every=1), RHO)

    def due(month: str) -> list[str]:
        return list_due(read_schedule(ledger, registry, settings, month, is_simulated=False))

    publish(ledger, settings, registry, make_bank())
    publish(ledger, settings, registry, make_bank(), month="2027-01", candidates=["often", "alpha"])
    assert due("2026-12") == ["often"]
    publish(ledger, settings, registry, make_bank(), month="2026-12", candidates=["often", "alpha"])
    # Planned last, but not sat last; and nobody is due in months before the first.
    assert (due("2027-03"), due("2027-04"), due("2026-10")) == (["often"], ["alpha", "often"], [])


def test_a_schedule_says_when_everybody_sat_and_will_sit(ledger: Ledger, tmp_path: Path) -> None:
    own = make_model("own", base_url="outside")
    registry = make_registry(ALPHA, make_model("late", released=date(2027, 2, 9)), own, RHO)
    settings = make_settings(tmp_path, reexamine_every=6)
    publish(ledger, settings, registry, make_bank())
    assert read_schedule(ledger, registry, settings, "2026-12", is_simulated=False) == [
        Schedule("alpha", "alpha labs", 6, MONTH, "2027-05", None),
        Schedule("late", "late labs", 6, None, "2027-02", None),
        # Nobody here can call it: it is named, and never due.
        Schedule("own", "own labs", 6, None, None, None),
    ]


def test_a_forecast_counts_months_until_the_scarcest_discipline_ends() -> None:
    rule = plan_shares(20, {"Law": 1000, "History": 100}, is_capped=True, lasting_sets=10, least_share=5)
    schedule = [
        Schedule("a", "Lab", 3, "2026-11", "2027-02", None),
        # In step with the other: one set for both.
        Schedule("b", "Lab", 6, "2026-11", "2027-02", None),
        Schedule("c", "House", 3, None, "2026-11", "new"),
    ]
    found = forecast_sets(
        "2026-11",
        rule,
        {
            "Lab": {"Law": 1000, "History": 40},
            "House": {"Law": 100, "History": 90},
            "Rho": {"Law": 60, "History": 100},
        },
        schedule,
        sitting_now=["c"],
        reference_owners=["Rho"],
        is_shared=True,
    )
    lab, house, rho = (
        next(one for one in found if one.organisation == name) for name in ("Lab", "House", "Rho")
    )
    # Months 3, 6, 9 and 12 of the coming twelve: a set every three months, and the reference answers each.
    assert (lab.sets_per_month, lab.sets_left, lab.months_left) == (
        0.33,
        {"Law": 100, "History": 4},
        {"Law": 300, "History": 12},
    )
    assert (lab.scarcest, lab.bearable_months) == ("History", 9)
    assert (house.sets_per_month, house.months_left["History"]) == (0.33, 27)
    assert (rho.sets_per_month, rho.scarcest, rho.months_left["Law"]) == (0.33, "Law", 18)
    assert [one.organisation for one in found] == ["Lab", "Rho", "House"]


def test_a_forecast_for_who_has_nothing_left_says_so(ledger: Ledger, tmp_path: Path) -> None:
    registry, bank = make_registry(ALPHA, RHO), make_bank(2, variants=0)
    plan = publish(ledger, make_settings(tmp_path), registry, bank, candidates=["alpha"])
    one = next(one for one in plan.forecast if one.organisation == "alpha labs")
    assert (set(one.sets_left.values()), set(one.months_left.values()), one.bearable_months) == (
        {0},
        {0},
        None,
    )
