"""Statistics of a league that was played.

The tests cover what lands, what is left out, and what the statistics rest on.
"""

from __future__ import annotations

import polars as pl
import pytest

from schemas.errors import UsageError
from schemas.tables import get_table
from tasks.league.statistics.landing import write_statistics
from tasks.league.statistics.tables import StatisticsRequest, make_full_lists
from tests.tasks.league.statistics.conftest import LandLeague
from tests.tasks.league.statistics.synthetic import FAMILIES, NOON, Spec, build_league
from warehouse.lake import Lake

QUICK = StatisticsRequest(resamples=100, repeats=1)
NAMES = list(FAMILIES)


def test_the_order_of_abilities_is_found_again_in_both_domains(lake: Lake, land_league: LandLeague) -> None:
    land_league(Spec(runs=2))
    written = write_statistics(lake, "autumn", QUICK)

    assert written.parts == {"mathematics, full": 2 * 8 * 49, "programming, full": 2 * 8 * 49}
    for domain in ("mathematics", "programming"):
        found = lake.run_named("league_ranking", {"league_id": "autumn", "domain": domain})
        assert found["rank"].to_list() == list(range(1, 9))
        assert found["model"].to_list() == NAMES
        assert set(found["score_count"]) == {2 * 7 * 7} and set(found["answer_count"]) == {2 * 7}
        assert (
            (found["answer_high"] - found["answer_low"]) > (found["score_high"] - found["score_low"])
        ).all()
        assert (found["answer_low"] < found["score"]).all() and (found["score"] < found["answer_high"]).all()
        assert set(found["run_count"]) == {2}
    scale = dict(lake.query("select distinct domain, most_points from league_scores").iter_rows())
    assert scale == {"mathematics": 6.0, "programming": 100.0}
    # Borda points say nothing of how hard a question is.
    known = lake.query(
        "select domain, count(setting_score) as n from league_scores group by domain order by domain"
    )
    assert known.rows() == [("mathematics", 0), ("programming", 8)]
    compared = lake.run_named("league_agreement", {"league_id": "autumn"})
    assert set(compared.select("domain", "compared_with").iter_rows()) == {("programming", "setting")}
    assert lake.query("select count(*) from quarantine").item() == 0


def test_an_unfinished_round_is_in_no_statistic(lake: Lake) -> None:
    frames = build_league(Spec(runs=2, domains=("programming",)))
    frames["league_rounds"] = frames["league_rounds"].filter(pl.col("league_run") == 1)
    for name, frame in frames.items():
        lake.land(name, "autumn", frame)

    assert write_statistics(lake, "autumn", QUICK).parts == {"programming, full": 8 * 49}


def test_a_planted_favour_is_found_and_none_where_none_is_planted(
    lake: Lake, land_league: LandLeague
) -> None:
    land_league(Spec("fair", runs=5))
    land_league(Spec("biased", runs=5, favour=0.8))
    for league in ("fair", "biased"):
        write_statistics(lake, league, QUICK)

    found = lake.run_named("league_families").filter(unit="answer_excess")
    p_value = {
        (row["league_id"], row["domain"], row["family"]): row["p_value"]
        for row in found.iter_rows(named=True)
    }
    assert {key[2] for key in p_value} == {"Amber", "Birch"}
    assert all(p < 0.001 for key, p in p_value.items() if key[0] == "biased")
    assert all(p > 0.01 for key, p in p_value.items() if key[0] == "fair")


def test_types_of_run_are_kept_apart_and_set_side_by_side(lake: Lake, land_league: LandLeague) -> None:
    land_league(Spec(runs=1, domains=("programming",), run_types=("full", "without_reference")))
    write_statistics(lake, "autumn", QUICK)

    units = lake.query("select distinct run_type, landing_unit from league_scores order by all")
    assert units.rows() == [
        ("full", "autumn/programming/full"),
        ("without_reference", "autumn/programming/without_reference"),
    ]
    both = lake.run_named("league_run_types", {"league_id": "autumn"})
    assert both["full_rank"].to_list() == list(range(1, 9))
    assert set(both["model"]) == set(NAMES)
    assert (both["score_change"] == both["without_score"] - both["full_score"]).all()
    assert both["rank_correlation"][0] > 0.9


def test_a_void_is_in_no_mean_and_counted_and_a_query_leads_from_a_rank_to_the_texts_behind_it(
    lake: Lake, land_league: LandLeague
) -> None:
    land_league(Spec(runs=2, void_judge="cedar-1", domains=("programming",)))
    write_statistics(lake, "autumn", QUICK)

    scores = lake.query("select model, score, score_count, void_count from league_scores").rows_by_key(
        "model", named=True
    )
    marks = lake.query("select answerer, score from league_evaluations where judge <> 'cedar-1'")
    for name in NAMES:
        (own_row,) = scores[name]
        own = marks.filter(answerer=name)["score"]
        assert own_row["score"] == pytest.approx(own.mean())
        assert (own_row["score_count"], own_row["void_count"]) == (
            len(own),
            0 if name == "cedar-1" else 2 * 7,
        )
    top = lake.run_named("league_top_k", {"league_id": "autumn"})
    assert set(top["round_count"]) == {16}
    assert (
        lake.query("select count(*) from league_cells where judge = 'cedar-1' and score is not null").item()
        == 0
    )

    found = lake.run_named(
        "league_evidence", {"league_id": "autumn", "model": "birch-1", "domain": "programming"}
    )

    ranked = lake.query("select score, score_count, void_count from league_scores where model = 'birch-1' and domain = 'programming'").row(0)  # fmt: skip
    assert found["score"].mean() == pytest.approx(ranked[0])
    assert (found["score"].count(), found["score"].null_count()) == ranked[1:]
    row = found.row(-1, named=True)
    assert row["stem"].startswith("MARKED QUESTION autumn-programming")
    assert row["reference_answer"].startswith("MARKED REFERENCE")
    assert row["response"] == "MARKED ANSWER of birch-1"
    assert row["reason"] == f"MARKED REASON of {row['judge']}"
    assert all(row[name] for name in ("question_raw", "answer_raw", "evaluation_raw"))


def test_what_is_not_there_or_out_of_bounds_is_said(lake: Lake, land_league: LandLeague) -> None:
    with pytest.raises(UsageError, match=r"There is no league 'autumn'\. There is none yet"):
        write_statistics(lake, "autumn", QUICK)
    land_league(Spec(runs=1, domains=("programming",)))
    with pytest.raises(UsageError, match=r"no league 'spring'\. There are autumn"):
        write_statistics(lake, "spring", QUICK)
    with pytest.raises(UsageError, match="100 to 100,000 resamples, not 5"):
        write_statistics(lake, "autumn", StatisticsRequest(resamples=5))
    with pytest.raises(UsageError, match="from 0, not -1"):
        write_statistics(lake, "autumn", StatisticsRequest(seed=-1))
    with pytest.raises(UsageError, match="Replay 1 to 1000 samples"):
        write_statistics(lake, "autumn", StatisticsRequest(repeats=0))


def test_a_seed_replaces_the_rows_of_another_and_what_people_refuse_later_leaves_the_statistics(
    lake: Lake, land_league: LandLeague
) -> None:
    land_league(Spec(runs=1, domains=("programming",)))
    before = write_statistics(lake, "autumn", QUICK)
    questions = lake.query("select league_question_id from league_questions order by 1").to_series().to_list()

    def refuse(names: list[str], unit: str) -> None:
        rows: list[dict[str, object]] = [
            {"league_id": "autumn", "league_question_id": name, "person": person, "is_valid": False, "decided_at": NOON}
            for name in names
            for person in ("eve", "max", "tom")
        ]  # fmt: skip
        lake.land("league_validations", unit, get_table("league_validations").frame(rows))

    # The same seed lands the same rows, and another replaces them.
    assert not write_statistics(lake, "autumn", QUICK).is_new
    assert write_statistics(lake, "autumn", StatisticsRequest(seed=1, resamples=100, repeats=1)).is_new
    assert set(lake.query("select seed from league_scores")["seed"]) == {1}
    assert lake.query("select count(*) from league_scores").item() == 8
    costs = lake.run_named("league_costs", {"league_id": "autumn"}).filter(model="amber-1")
    assert costs.select("role", "call_count", "input_tokens").rows() == [
        ("answerer", 7, 700),
        ("asker", 1, 100),
        ("judge", 49, 4900),
    ]

    refuse(questions[:1], "late")
    after = write_statistics(lake, "autumn", QUICK)
    assert (before.parts, before.refused_count) == ({"programming, full": 8 * 49}, 0)
    assert (after.parts, after.refused_count) == ({"programming, full": 7 * 49}, 1)

    refuse(questions[1:], "later")
    last = write_statistics(lake, "autumn", QUICK)
    assert (last.parts, last.refused_count) == ({}, 8)
    assert lake.query("select count(*) from league_scores").item() == 0


def test_a_league_without_a_round_says_how_to_play_one(lake: Lake) -> None:
    frames = build_league(Spec(runs=1, domains=("programming",)))
    for name in ("leagues", "league_candidates"):
        lake.land(name, "autumn", frames[name])
    with pytest.raises(UsageError, match="has no score yet"):
        write_statistics(lake, "autumn", QUICK)


def test_the_lists_of_a_whole_round_miss_each_judge_s_own_answer() -> None:
    missing = [[at for at, value in enumerate(row) if value != value] for row in make_full_lists(4).tolist()]
    assert missing == [[], [0], [1], [2]]
