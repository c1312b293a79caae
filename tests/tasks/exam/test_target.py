"""Sets that are planned for an error of S: `proctor exam plan --target-se`."""

from __future__ import annotations

import json
import shlex
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

from deployments.cli import app
from deployments.commands.exam.plans import render_plan
from schemas.errors import GateError, UsageError
from schemas.settings import Settings, load_settings
from schemas.tables import get_table
from tasks.exam.month import preview_month, preview_target, publish_month
from tasks.exam.plan import RunPlan, RunWishes, SizeForecast
from tasks.exam.public.draws import commit_run, draw_run
from tests.tasks.exam.test_month import REGISTRY
from tests.tasks.exam.world import DISCIPLINES, MONTH, answer_run, make_bank, make_settings, make_uuid
from tests.warehouse.bank_rows import land_bank_rows
from warehouse.lake import Lake, open_lake
from warehouse.ledger.engine.ledger import Ledger
from warehouse.ledger.exam.closed import read_set_rows

PRICED = REGISTRY.replace(
    "{provider: own, organisation: alpha}",
    "{provider: own, organisation: alpha, input_price_usd: 2.0, output_price_usd: 10.0}",
)
# How often who gets a right answer to a question of the discipline: hard to foresee, seldom wrong, never wrong.
CHANCES = {"Engineering": 0.5, "Law": 0.9, "History": 0.99}


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    home = tmp_path / "home"
    home.mkdir()
    (home / "models.yaml").write_text(PRICED)
    return make_settings(home, least_share=2, set_size=60)


@pytest.fixture
def lake(settings: Settings) -> Iterator[Lake]:
    with open_lake(settings) as opened:
        land_bank_rows(opened, make_bank(400, variants=0))
        yield opened


def land_edition(
    lake: Lake, *, month: str = "2026-10", repeats: int = 1, seed: int = 1, is_simulated: bool = False
) -> dict[tuple[str, str], list[float]]:
    """An edition of 60 questions of each discipline: (model, discipline) → points."""
    generator = np.random.default_rng(seed)
    edition = f"{month}-r1"
    points: dict[tuple[str, str], list[float]] = {}
    rows: list[dict[str, object]] = []
    for model in ("alpha", "beta", "rho"):
        for discipline, chance in CHANCES.items():
            for number in range(60):
                right = int(generator.binomial(repeats, chance))
                points.setdefault((model, discipline), []).append(100 * right / repeats)
                rows.append(
                    {
                        "edition_id": edition,
                        "month": month,
                        "sat_in_run_id": month,
                        "set_id": "set",
                        "model": model,
                        "prompt_style": "zero_shot",
                        "question_uuid": make_uuid(f"{discipline}-{number}"),
                        "lineage_uuid": make_uuid(f"{discipline}-{number}"),
                        "passage": None,
                        "discipline": discipline,
                        "stars_0_count": repeats - right,
                        "stars_1_count": 0,
                        "stars_2_count": 0,
                        "stars_3_count": right,
                        "unparsed_count": 0,
                        "is_simulated": is_simulated,
                    }
                )
    head = {
        "edition_id": edition,
        "run_id": month,
        "month": month,
        "revision": 1,
        "is_repetition": False,
        "planned_at": datetime(2026, int(month[5:]), 1, tzinfo=UTC),
        "published_at": datetime(2026, int(month[5:]), 20, tzinfo=UTC),
        "bank_version": 1,
        "set_size": 180,
        "reference_model": "rho",
        "judge": "judge",
        "judge_prompt_version": "v1",
        "is_provisional": True,
        "disciplines": list(CHANCES),
        "weights": json.dumps(dict.fromkeys(CHANCES, 1 / 3)),
        "candidate_count": 3,
        "unparsed_count": 0,
        "code_version": "test",
        "basis_hash": "0" * 64,
        "root_hash": "0" * 64,
        "is_simulated": is_simulated,
    }
    lake.land("editions", edition, get_table("editions").frame([head]))
    lake.land("edition_stars", edition, get_table("edition_stars").frame(rows))
    return points


def aim(
    ledger: Ledger, lake: Lake, settings: Settings, target_se: float, **wishes: object
) -> tuple[RunPlan, SizeForecast]:
    found = preview_target(ledger, lake, settings, RunWishes(**{"month": MONTH, **wishes}), target_se)  # type: ignore[arg-type]
    assert found is not None
    return found


def expect_se(points: Mapping[tuple[str, str], list[float]], shares: Mapping[str, int]) -> float:
    """Σ w² s²/n with the mean of the candidates' variances.

    60 questions of a discipline may mislead: they borrow as much as ten would say from all disciplines.
    """
    own = {
        name: np.mean([np.var(found, ddof=1) for (_, of), found in points.items() if of == name])
        for name in shares
    }
    common = np.mean(list(own.values()))
    variances = {name: (59 * variance + 10 * common) / 69 for name, variance in own.items()}
    return float(np.sqrt(sum(variances[name] / 9 / share for name, share in shares.items())))


def test_shares_are_neymans_by_how_far_the_last_editions_answers_lie_apart(
    ledger: Ledger, lake: Lake, settings: Settings
) -> None:
    land_edition(lake, month="2026-09", seed=9)
    points = land_edition(lake)

    plan, found = aim(ledger, lake, settings, 2.5)

    shares = found.proposed.shares
    assert plan.shares == shares
    assert plan.set_size == found.proposed.question_count == sum(shares.values())
    assert {taken.question_count for taken in plan.sets} == {plan.set_size}
    assert found.edition_id == "2026-10-r1"
    assert (found.proposed.expected_se or 9.0) <= 2.5
    assert expect_se(points, shares) == pytest.approx(found.proposed.expected_se, abs=1e-3)
    spreads = np.array([found.spreads[name] for name in DISCIPLINES])
    assert np.array(list(shares.values())) == pytest.approx(plan.set_size * spreads / spreads.sum(), abs=1.01)
    assert shares["Engineering"] > shares["Law"] > shares["History"]
    assert found.equal_count is not None
    assert found.equal_count > 1.1 * plan.set_size
    assert found.narrowest_se <= (found.proposed.expected_se or 0.0) <= found.widest_se
    assert (found.assumed, found.is_likeness_assumed) == ([], False)


def test_every_size_has_its_error_its_costs_and_its_months_and_the_plan_can_be_taken_as_it_is(
    ledger: Ledger, lake: Lake, settings: Settings
) -> None:
    land_edition(lake)

    plan, found = aim(ledger, lake, settings, 4.0)

    sizes = [size for size in found.sizes if not size.is_set]
    errors = [size.expected_se or 0.0 for size in sizes]
    assert errors == sorted(errors, reverse=True)
    assert len(sizes) >= 5
    proposed = found.proposed
    assert proposed.call_count == plan.call_count
    assert proposed.cost_usd == pytest.approx(plan.cost_usd, abs=1e-4)
    assert proposed.cost_usd > 0
    for size in sizes:
        assert size.call_count == 3 * size.question_count
        assert size.cost_usd / proposed.cost_usd == pytest.approx(
            size.question_count / proposed.question_count, rel=1e-3
        )
    # What the plan itself says of months.
    assert proposed.months_left == min(
        months for one in plan.forecast for months in one.months_left.values() if months is not None
    )
    months = [size.months_left or 0 for size in sizes]
    assert months == sorted(months, reverse=True)
    assert months[0] > months[-1]
    now = next(size for size in found.sizes if size.is_set)
    assert now.shares == {"Engineering": 11, "Law": 11, "History": 11}

    kept = settings.model_copy(update={"set_shares": dict(found.proposed.shares)})
    again = preview_month(ledger, lake, kept, RunWishes(month=MONTH))

    assert again is not None
    same = ("shares", "season", "set_size", "candidates", "call_count", "cost_usd", "forecast", "link")
    assert [getattr(again, name) for name in same] == [getattr(plan, name) for name in same]
    publish_month(ledger, kept, again)
    answer_run(ledger, again.run_id)
    with ledger.read() as connection:
        drawn = read_set_rows(connection, [again.sets[0].set_id])
    assert len({row["lineage_uuid"] for row in drawn}) == again.set_size
    # The next month meets none of them again, and has as many.
    later = preview_month(ledger, lake, kept, RunWishes(month="2026-12", candidates=["alpha"]))
    assert later is not None
    publish_month(ledger, kept, later)
    with ledger.read() as connection:
        both = read_set_rows(connection, [again.sets[0].set_id, later.sets[0].set_id])
    assert len({row["lineage_uuid"] for row in both}) == 2 * again.set_size
    with pytest.raises(UsageError, match=f"Run {MONTH} is planned, with sets of {again.set_size} questions"):
        aim(ledger, lake, settings, 4.0)


def test_a_run_that_is_committed_to_with_shares_is_drawn_with_them_or_not_at_all(
    ledger: Ledger, lake: Lake, settings: Settings
) -> None:
    land_edition(lake)
    plan, found = aim(ledger, lake, settings, 4.0)
    kept = settings.model_copy(update={"set_shares": dict(found.proposed.shares)})
    committed = commit_run(ledger, lake, kept, RunWishes(month=MONTH), source="the lottery of Saturday")
    assert committed is not None

    with pytest.raises(GateError, match="is not drawn: since it was committed to, the plan"):
        draw_run(ledger, lake, settings, MONTH, "4 8 15 16 23 42")
    drawn = draw_run(ledger, lake, kept, MONTH, "4 8 15 16 23 42")

    assert drawn.shares == plan.shares
    with ledger.read() as connection:
        rows = read_set_rows(connection, [drawn.sets[0].set_id])
    assert Counter(row["discipline"] for row in rows) == plan.shares


def test_before_any_edition_of_real_candidates_the_spread_is_assumed_and_what_cannot_be_had_is_refused(
    ledger: Ledger, lake: Lake, settings: Settings
) -> None:
    plan, found = aim(ledger, lake, settings, 3.0)

    assert found.edition_id is None
    assert list(found.assumed) == list(DISCIPLINES)
    assert found.proposed.question_count == pytest.approx((43.4 / 3.0) ** 2, abs=3)
    assert max(plan.shares.values()) - min(plan.shares.values()) <= 1
    lines = render_plan({**plan.summary(), "target": asdict(found)})
    assert any("how far answers lie apart is assumed" in line for line in lines)

    with pytest.raises(GateError, match=r"error of 0\.5: with all 1200 questions .* it is 1\.25"):
        aim(ledger, lake, settings, 0.5)
    more = settings.model_copy(update={"disciplines": (*DISCIPLINES, "Art")})
    with pytest.raises(GateError, match="has no question of Art that"):
        aim(ledger, lake, more, 3.0)
    with pytest.raises(UsageError, match="Leave out --draw"):
        aim(ledger, lake, settings, 3.0, draw=30)
    for shares in (
        {"Law": 3},
        {"Engineering": 3, "Law": 3, "History": 0},
        dict.fromkeys((*DISCIPLINES, "Art"), 3),
    ):
        with pytest.raises(UsageError, match="PROCTOR_SET_SHARES must have one share"):
            preview_month(
                ledger, lake, settings.model_copy(update={"set_shares": shares}), RunWishes(month=MONTH)
            )
    land_edition(lake, is_simulated=True)
    assert aim(ledger, lake, settings, 3.0)[1].edition_id is None


def test_repeats_that_are_planned_count_as_far_as_repeats_differed(
    ledger: Ledger, lake: Lake, settings: Settings
) -> None:
    # Answers of one chance: repeats differ by all that there is, so that three of them take two thirds off.
    land_edition(lake, repeats=3)

    once, thrice = (
        aim(ledger, lake, settings.model_copy(update={"repeats": repeats}), 3.0)[1].proposed.question_count
        for repeats in (1, 3)
    )

    assert once / thrice == pytest.approx(3.0, rel=0.15)


def test_texts_with_several_questions_are_counted_by_what_they_have_in_common(
    ledger: Ledger, settings: Settings
) -> None:
    # 30 texts with ten questions each and nothing else: from the 31st question of a discipline on, texts come again.
    bank = make_bank(300, variants=0).with_columns(
        material=pl.format(
            "Text {} of {}.",
            pl.col("stem").str.extract(r"-(\d+) ").cast(pl.Int64) // 10,
            pl.col("discipline"),
        )
    )
    with open_lake(settings) as lake:
        land_bank_rows(lake, bank)
        plan, found = aim(ledger, lake, settings, 3.2)

    assert plan.set_size > 1.2 * (43.4 / 3.2) ** 2
    share = plan.shares["Law"]
    assert share > 30
    assert (found.is_likeness_assumed, found.likeness) == (True, 0.3)
    lines = render_plan({**plan.summary(), "target": asdict(found)})
    assert any("some texts would be asked about twice" in line for line in lines)


def test_the_command_shows_the_sizes_and_how_to_let_the_plan_run(
    ledger: Ledger, lake: Lake, settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    land_edition(lake)
    for name, value in {
        "HOME": str(settings.home),
        "LEDGER_URL": f"sqlite:///{tmp_path / 'ledger.sqlite'}",
        "DISCIPLINES": json.dumps(DISCIPLINES),
        "PROMPT_STYLES": json.dumps(settings.prompt_styles),
        "REPEATS": "1",
        "LEAST_SHARE": "2",
    }.items():
        monkeypatch.setenv(f"PROCTOR_{name}", value)
    load_settings.cache_clear()

    command = ["exam", "plan", "--month", MONTH, "--target-se", "4"]
    shown, told = (CliRunner().invoke(app, [*command, *more]) for more in ([], ["--json"]))

    assert (shown.exit_code, told.exit_code) == (0, 0), shown.output
    summary = json.loads(told.stdout)
    target = summary["target"]
    proposed = next(size for size in target["sizes"] if size["is_proposed"])
    assert summary["shares"] == proposed["shares"]
    table = [
        line.split() for line in shown.output.splitlines() if line.endswith(("month", "months", "proposed"))
    ]
    assert [str(size["question_count"]) for size in target["sizes"] if not size["is_set"]] == [
        line[0] for line in table if line[0].isdigit()
    ]
    assert f"takes {proposed['question_count']} questions" in shown.output
    # What is next is a command of which the shell makes the settings that were proposed.
    last = shlex.split(shown.stderr.partition("Next: ")[2].splitlines()[0])
    assert last[1:] == ["proctor", "evaluate", "--month", MONTH]
    monkeypatch.setenv(*last[0].split("=", 1))
    load_settings.cache_clear()
    taken = json.loads(CliRunner().invoke(app, [*command[:4], "--json"]).stdout)
    assert taken["shares"] == proposed["shares"]
    assert taken["season"] == summary["season"]
    toml = next(line for line in shown.output.splitlines() if "set_shares = " in line)
    assert tomllib.loads(toml.partition(": ")[2].removesuffix(" in proctor.toml")) == {
        "set_shares": proposed["shares"]
    }
