from __future__ import annotations

import asyncio
from pathlib import Path

import polars as pl
import pytest

from schemas.errors import UsageError
from tasks.league.entry import EntrantRating, EntryRequest, enter_candidate
from tests.tasks.league.conftest import MakeWorld, World
from tests.tasks.league.world import ABILITIES, ENTRANT, make_rules, play


def enter(world: World, count: int, candidate: str = ENTRANT) -> list[EntrantRating]:
    return asyncio.run(
        enter_candidate(world.ledger, world.lake, world.settings, "one", EntryRequest(candidate, count))
    )


def test_an_entrant_finds_its_place_and_its_interval_shrinks(make_world: MakeWorld) -> None:
    world = make_world(entrant=1.3)
    assert play(world.ledger, world.lake, world.settings, "one", make_rules(run_count=2)).is_complete
    [rating] = enter(world, 64)
    matches = world.lake.query("SELECT * FROM league_matches ORDER BY match")
    assert matches.height == 64
    width = (matches["rating_high"] - matches["rating_low"]).to_list()
    # Match by match it may widen a little, where the estimate moves away from the opponents; over doublings it does not.
    assert width[63] < width[31] < width[15] < width[7]
    assert width[63] < 0.6 * width[7]
    # 1.3 lies between the first (1.6) and the second (1.2) of eight.
    assert rating.rank <= 4
    assert rating.rating_low < rating.rating < rating.rating_high
    # Every question is put once before one is put again, never against its asker, never judged by the opponent.
    assert matches.head(16)["league_question_id"].n_unique() == 16
    askers = world.lake.query("SELECT league_question_id, asker FROM league_questions")
    joined = matches.join(askers, on="league_question_id")
    assert joined.filter(pl.col("opponent") == pl.col("asker")).is_empty()
    assert joined.filter(pl.col("opponent") == pl.col("judge")).is_empty()
    families = {name: family for name, (family, _, _) in ABILITIES.items()}
    assert all(
        families[judge] != families[other] for judge, other in matches.select("judge", "opponent").rows()
    )
    entrants = world.lake.query("SELECT model, joined FROM league_candidates WHERE joined = 'entrant'")
    assert entrants.rows() == [(ENTRANT, "entrant")]


def test_more_matches_later_begin_with_the_same_ones_and_are_not_paid_twice(make_world: MakeWorld) -> None:
    world = make_world()
    play(world.ledger, world.lake, world.settings, "one", make_rules(("sim-a1", "sim-b1", "sim-c1")))
    enter(world, 2)
    first = world.lake.query("SELECT * FROM league_matches ORDER BY match")
    sent = sum(world.server.state.requests.values())
    enter(world, 2)
    assert sum(world.server.state.requests.values()) == sent
    enter(world, 5)
    assert world.lake.query("SELECT * FROM league_matches ORDER BY match").head(2).equals(first)
    # One more question to answer, and three more matches to judge.
    assert sum(world.server.state.requests.values()) == sent + 1 + 3
    assert max(world.server.state.repeats.values()) == 1
    with pytest.raises(UsageError, match="has 5 matches in mathematics already"):
        enter(world, 4)


def test_who_cannot_enter_is_told_why(make_world: MakeWorld, tmp_path: Path) -> None:
    world = make_world()
    with pytest.raises(UsageError, match="no league 'one'"):
        enter(world, 2)
    from tasks.league.claim import claim_league
    from tasks.models.registry import read_registry

    registry = read_registry(world.settings.registry_path)
    claim_league(world.lake, world.settings, registry, "one", make_rules(("sim-a1", "sim-b1", "sim-c1")))
    with pytest.raises(UsageError, match="is a candidate of league one already"):
        enter(world, 2, "sim-a1")
    # Matches drawn among a part of the questions would be others once all are there, and paid again.
    with pytest.raises(UsageError, match="3 of 3 rounds of league one are not finished"):
        enter(world, 2)


@pytest.mark.long
def test_a_judge_that_cannot_be_read_makes_a_match_without_result(make_world: MakeWorld) -> None:
    world = make_world()
    play(world.ledger, world.lake, world.settings, "one", make_rules(("sim-a1", "sim-b1", "sim-c1")))
    import dataclasses

    models = world.server.state.profile.models
    for name in list(models):
        models[name] = dataclasses.replace(models[name], unparsed=1.0)
    [rating] = enter(world, 3)
    assert rating.void_count == 3
    assert rating.rating == 1000.0
    rows = world.lake.query("SELECT result, parse_status, call_count FROM league_matches")
    assert rows.unique().rows() == [(None, "unparsed", 3)]
