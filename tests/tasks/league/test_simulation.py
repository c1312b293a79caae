"""What is planted in a league comes out, and nothing else does."""

from __future__ import annotations

import pytest

from tests.tasks.league.conftest import MakeWorld
from tests.tasks.league.planted import compute_flagged, compute_found, measure_bias
from tests.tasks.league.world import ABILITIES, make_rules, play

FAMILIES = {name: family for name, (family, _, _) in ABILITIES.items()}


@pytest.mark.slow
@pytest.mark.parametrize("bias", [pytest.param(0.0, marks=pytest.mark.long), 1.2])
def test_abilities_bias_and_memorised_answers_come_out_as_they_were_planted(
    make_world: MakeWorld, bias: float
) -> None:
    world = make_world(memorised=0.1, family_bias=bias)
    rules = make_rules(domains=("mathematics", "programming"), run_count=2)
    assert play(world.ledger, world.lake, world.settings, "one", rules).is_complete
    evaluations = world.lake.query("SELECT * FROM league_evaluations")
    # Two runs of eight rounds: seven answers judged by the asker, six by each of the seven others.
    assert evaluations.group_by("domain").len()["len"].to_list() == [2 * 8 * (7 + 7 * 6)] * 2
    for domain, rho in compute_found(evaluations).items():
        assert rho >= 0.9, domain
    for (domain,), part in evaluations.group_by("domain"):
        difference, p = measure_bias(part, FAMILIES)
        if bias:
            assert difference > 0, domain
            assert p < 0.01, domain
        else:
            assert p > 0.01, domain
    planted, found, others, wrong = compute_flagged(
        world.lake.query("SELECT * FROM league_answers"), world.lake.query("SELECT * FROM league_flags")
    )
    assert planted >= 10
    assert found / planted >= 0.9
    assert wrong / others <= 0.02
