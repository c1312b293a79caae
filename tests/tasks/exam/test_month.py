"""The month's run as the commands see it: taken up again, planned for who is due, or named."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from deployments.commands.exam import evaluate
from deployments.commands.exam.plans import render_ahead, render_plan
from schemas.errors import BudgetError, RegistryError, UsageError
from schemas.settings import Settings
from tasks.exam.closed import force_close
from tasks.exam.month import preview_month, publish_month, shape_draw
from tasks.exam.plan.run_plan import RunPlan
from tasks.exam.plan.wishes import RunWishes
from tests.tasks.exam.world import MONTH, answer_run, make_bank, make_settings
from tests.warehouse.bank_rows import land_bank_rows
from warehouse.lake import Lake, open_lake
from warehouse.ledger.engine.ledger import Ledger
from warehouse.ledger.exam.closed import read_set_rows

REGISTRY = """
providers:
  own: {base_url: "http://127.0.0.1:9/v1"}
organisations:
  Alpha Labs: {aliases: [Alpha]}
  Beta Labs:
  Rho Labs:
models:
  alpha: {provider: own, organisation: alpha}
  beta: {provider: own, organisation: Beta Labs, reexamine_every: 1}
  rho: {provider: own, organisation: Rho Labs, roles: [reference]}
"""


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    home = tmp_path / "home"
    home.mkdir()
    (home / "models.yaml").write_text(REGISTRY)
    return make_settings(home)


@pytest.fixture
def lake(settings: Settings) -> Iterator[Lake]:
    with open_lake(settings) as opened:
        land_bank_rows(opened, make_bank())
        yield opened


def preview(ledger: Ledger, lake: Lake, settings: Settings, **options: object) -> RunPlan | None:
    return preview_month(ledger, lake, settings, RunWishes(**{"month": MONTH, **options}))  # type: ignore[arg-type]


def act(ledger: Ledger, lake: Lake, settings: Settings, **options: object) -> RunPlan:
    plan = preview(ledger, lake, settings, **options)
    assert plan is not None
    publish_month(ledger, settings, plan)
    return plan


def test_a_month_examines_who_is_due_and_a_later_one_only_those_whose_time_is_up(
    ledger: Ledger, lake: Lake, settings: Settings
) -> None:
    first = act(ledger, lake, settings)
    assert (first.run_id, first.candidates) == (MONTH, ("alpha", "beta"))
    assert first.sets[0].organisations == ("Alpha Labs", "Beta Labs")
    answer_run(ledger, first.run_id)
    again = preview(ledger, lake, settings)
    assert again is not None
    assert (again.is_published, again.sessions) == (True, first.sessions)
    assert act(ledger, lake, settings, month="2026-12").candidates == ("beta",)
    (settings.home / "models.yaml").write_text(REGISTRY.replace(", reexamine_every: 1", ""))
    assert preview(ledger, lake, settings, month="2027-01") is None


def test_a_missing_key_is_found_before_anything_is_started_and_does_not_hinder_a_look_at_the_plan(
    ledger: Ledger, lake: Lake, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    (settings.home / "models.yaml").write_text(
        REGISTRY.replace('/v1"}', '/v1", key_variable: OWN_API_KEY}', 1), encoding="utf-8"
    )
    monkeypatch.setattr("deployments.commands.checks.load_settings", lambda: settings)
    monkeypatch.setattr("deployments.commands.exam.evaluate.load_settings", lambda: settings)
    assert evaluate.preview(RunWishes(MONTH, ["beta"])) is not None
    with pytest.raises(RegistryError, match="OWN_API_KEY"):
        evaluate.preview(RunWishes(MONTH, ["beta"]), is_to_run=True)
    monkeypatch.setenv("OWN_API_KEY", "key")
    shown = evaluate.preview(RunWishes(MONTH, ["beta"]), is_to_run=True)
    assert shown is not None
    assert shown["candidates"] == ["beta"]


def test_who_has_sat_its_month_may_leave_the_registry_before_the_others_have(
    ledger: Ledger, lake: Lake, settings: Settings
) -> None:
    run = act(ledger, lake, settings)
    path = settings.home / "models.yaml"
    path.write_text(REGISTRY.replace("  alpha: {provider: own, organisation: alpha}\n", ""))
    with pytest.raises(RegistryError, match="there is no model 'alpha'"):
        act(ledger, lake, settings)
    force_close(ledger, run.run_id, "its provider has withdrawn it")
    assert act(ledger, lake, settings).run_id == run.run_id


def test_a_run_with_a_budget_that_no_price_can_hold_is_not_planned(
    ledger: Ledger, lake: Lake, settings: Settings
) -> None:
    limited = settings.model_copy(update={"budget_usd": 5.0})
    with pytest.raises(BudgetError, match="so the most that a call can cost is unknown"):
        act(ledger, lake, limited)
    # Nothing was claimed: without a budget it is planned, and has none.
    assert act(ledger, lake, settings).budget_usd is None


def test_a_month_that_has_not_begun_is_warned_of() -> None:
    assert list(render_ahead(datetime.now(UTC).strftime("%Y-%m"))) == list(render_ahead("2026-01")) == []
    (line,) = render_ahead("2206-11")
    assert line.startswith("Warning: 2206-11 has not begun.")


def test_who_has_become_due_since_is_shown_and_examined_in_a_further_run_only(
    ledger: Ledger, lake: Lake, settings: Settings
) -> None:
    act(ledger, lake, settings, candidates=["alpha"])
    shown = preview(ledger, lake, settings)
    assert shown is not None
    lines = render_plan(shown.summary())
    assert "2 sessions (1 of the reference)" in lines[1]
    assert "2 sessions, " in render_plan(shown.summary() | {"reference_session_count": 0})[1]
    assert (
        "  due, but not in this run: beta: new, examined every month; name a further run to examine it (--repetition NAME)"
        in lines
    )
    with pytest.raises(UsageError, match="without beta"):
        preview(ledger, lake, settings, candidates=["beta"])
    further = act(ledger, lake, settings, repetition="week")
    week = datetime.now(UTC).isocalendar().week
    assert (further.run_id, further.candidates) == (f"{MONTH}-week-{week:02d}", ("beta",))
    # The same week continues the same run; nobody is due for another.
    again = preview(ledger, lake, settings, repetition="week")
    assert again is not None
    assert again.is_published
    assert preview(ledger, lake, settings, repetition="other") is None


def test_a_week_that_comes_before_its_month_makes_the_months_own_run(
    ledger: Ledger, lake: Lake, settings: Settings
) -> None:
    first = act(ledger, lake, settings, repetition="week")
    assert (first.run_id, first.repetition, first.candidates) == (MONTH, "", ("alpha", "beta"))
    monthly = preview(ledger, lake, settings)
    assert monthly is not None
    assert (monthly.is_published, monthly.sessions) == (True, first.sessions)
    assert preview(ledger, lake, settings, repetition="week") is None


def test_a_plan_is_shown_with_who_is_refused_and_how_long_the_bank_lasts(
    ledger: Ledger, lake: Lake, settings: Settings
) -> None:
    small = settings.model_copy(update={"set_size": 60, "cap_small_disciplines": False})
    act(ledger, lake, small, candidates=["alpha"], run_id="a")
    act(ledger, lake, small, candidates=["alpha"], run_id="b")
    plan = preview(ledger, lake, small, candidates=["alpha", "beta"], run_id="c")
    assert plan is not None
    summary = json.loads(json.dumps(plan.summary()))
    assert summary["candidates"] == ["beta"]
    assert summary["refused"][0]["candidates"] == ["alpha"]
    assert summary["refused"][0]["shortfalls"][0] == {
        "discipline": "Engineering",
        "needed": 20,
        "available": 0,
        "total": 40,
    }
    lines = render_plan(summary)
    assert lines[0].startswith("Run c (planned, repetition c of the month): bank version 1, policy shared")
    for line in (
        "  candidates: beta",
        "  set 1 (drawn for an earlier run): Beta Labs",
        "  due: beta: new, examined every month",
        "  refused: alpha. Bank version 1 has too few questions that 'Alpha Labs' has not met: Engineering: 20 needed, "
        "0 left of 40; Law: 20 needed, 0 left of 40; History: 20 needed, 0 left of 40.",
        "  left for Beta Labs: 1 set (Engineering ends first), enough for 1 month at 1 set a month; bring more papers",
    ):
        assert line in lines, lines
    nobody = preview(ledger, lake, small, candidates=["alpha"], run_id="c")
    assert nobody is not None
    assert (nobody.candidates, nobody.sessions) == ((), ())


def test_a_renewed_reference_and_a_bridging_run_are_shown(
    ledger: Ledger, lake: Lake, settings: Settings
) -> None:
    act(ledger, lake, settings, candidates=["alpha"])
    renewed = preview(ledger, lake, settings, candidates=["beta"], run_id="b", is_reference_renewed=True)
    assert renewed is not None
    assert "  rho answers 1 set again (asked for)" in render_plan(renewed.summary())
    (settings.home / "models.yaml").write_text(REGISTRY.replace("127.0.0.1:9", "127.0.0.1:10"))
    changed = preview(ledger, lake, settings, candidates=["beta"], run_id="b")
    assert changed is not None
    assert "  rho answers 1 set again (endpoint changed)" in render_plan(changed.summary())
    other = (
        REGISTRY.replace("roles: [reference]", "")
        + "  sigma: {provider: own, organisation: Rho Labs, roles: [reference]}\n"
    )
    (settings.home / "models.yaml").write_text(other)
    bridging = preview(ledger, lake, settings, candidates=["beta"], run_id="b")
    without = preview(ledger, lake, settings, candidates=["beta"], run_id="b", is_bridging=False)
    assert bridging is not None
    assert without is not None
    assert "  bridging run: the former reference rho sits it, too" in render_plan(bridging.summary())
    assert without.bridged_reference is None


def test_a_further_draw_has_its_own_size_and_questions_that_nobody_of_the_run_has_met(
    ledger: Ledger, lake: Lake, settings: Settings
) -> None:
    month = act(ledger, lake, settings, candidates=["alpha"])
    answer_run(ledger, month.run_id)
    drawn, name = shape_draw(settings, 3, None)
    assert (drawn.set_size, drawn.repeats, drawn.prompt_styles, name) == (3, 1, ("zero_shot",), "draw-3")
    draw = act(ledger, lake, drawn, candidates=["alpha"], repetition=name)
    assert draw.run_id == f"{MONTH}-draw-3"
    assert {session.question_count for session in draw.sessions} == {3}
    with ledger.read() as connection:
        sets = {taken.set_id for taken in (*month.sets, *draw.sets)}
        rows = read_set_rows(connection, sorted(sets))
    lineages = [row["lineage_uuid"] for row in rows]
    assert len(set(lineages)) == len(lineages)


def test_who_sits_a_further_draw_is_due_for_the_month_all_the_same(
    ledger: Ledger, lake: Lake, settings: Settings
) -> None:
    drawn, name = shape_draw(settings, 3, None)
    act(ledger, lake, drawn, candidates=["alpha"], repetition=name)
    own = preview(ledger, lake, settings)
    assert own is not None
    assert own.candidates == ("alpha", "beta")
    assert [(one.model, one.last_month, one.reason) for one in own.due] == [
        ("alpha", None, "new"),
        ("beta", None, "new"),
    ]


def test_a_draw_that_is_none_or_too_small(settings: Settings) -> None:
    assert shape_draw(settings, 0, "week") == (settings, "week")
    assert shape_draw(settings, 9, "draw-9-again")[1] == "draw-9-again"
    with pytest.raises(UsageError, match="cannot hold 3 disciplines"):
        shape_draw(settings, 2, None)
