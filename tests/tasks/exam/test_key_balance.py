"""A plan looks at how the keys of its new sets lie."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from deployments.commands.exam.plans import render_plan
from tasks.exam.plan.run_plan import read_plan
from tests.tasks.exam.world import make_bank, make_model, make_registry, make_settings, plan_wished, publish
from warehouse.ledger.engine.ledger import Ledger

REGISTRY = make_registry(make_model("alpha"), make_model("rho", roles=("reference",)))


def with_keys(bank: pl.DataFrame, label: str) -> pl.DataFrame:
    """The bank with this option as the key of every choice."""
    is_choice = pl.col("question_type") == "multiple_choice"
    return bank.with_columns(
        answer=pl.when(is_choice).then(pl.lit([label], dtype=pl.List(pl.String))).otherwise("answer")
    )


def test_a_plan_tells_the_chance_level_of_its_sets_and_keeps_it(ledger: Ledger, tmp_path: Path) -> None:
    bank = with_keys(make_bank(60, variants=2, has_keys=True), "A")
    settings = make_settings(tmp_path, set_size=90, lasting_sets=1)
    plan = publish(ledger, settings, REGISTRY, bank)
    (found,) = plan.keys
    # Of two statements of a lineage one is true; of the two options both have three letters, so that the first is the longest.
    assert found.counts["A"] == found.counts["longest"]
    assert found.counts["A"] + found.counts["true"] + found.counts["false"] == 90
    best = found.counts["A"] + max(found.counts["true"], found.counts["false"])
    assert found.chance_score == round(best / 90 * 2 / 3 * 100, 1)
    assert found.chance_answers.startswith("A, ")
    assert "A" in found.uneven
    # Before it is published the plan has drawn on trial, and says so; the next drawing is another.
    trial = next(line for line in render_plan(plan.summary()) if "chance" in line)
    assert trial.startswith("  chance level of set 1, in a trial draw: ")
    drawn = read_plan(ledger, plan.run_id)
    line = next(line for line in render_plan(drawn.summary()) if "chance level" in line)
    assert line.startswith(f"  chance level of set 1: {found.chance_score} points (always A, ")
    assert f"right more often than an even draw makes it: A ({found.counts['A']} times)" in line
    assert drawn.keys == plan.keys


def test_keys_that_lie_evenly_are_not_called_uneven(ledger: Ledger, tmp_path: Path) -> None:
    # Statements alone, drawn with equal probability of either truth.
    bank = make_bank(60, variants=2, has_keys=True).filter(pl.col("question_type") == "true_false")
    settings = make_settings(tmp_path, set_size=90, lasting_sets=1)
    plans = [plan_wished(ledger, settings, REGISTRY, bank, seed=f"even {number}") for number in range(5)]
    found = [keys for plan in plans for keys in plan.keys]
    assert [sum(keys.counts.values()) for keys in found] == [90] * 5
    # The home's secret is new each time: a draw in some hundred lies unevenly by chance.
    assert sum(bool(keys.uneven) for keys in found) <= 2
