"""A league from its claim to its rankings, with simulated candidates over real HTTP."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from schemas.errors import BudgetError, StoreError, UsageError
from tasks.league.claim import claim_league, find_league
from tasks.league.preview import preview_league
from tasks.league.sandbox.programs import find_room
from tasks.league.statistics import StatisticsRequest, write_statistics
from tasks.league.wording import extract_sections
from tasks.models.registry import read_registry
from tests.tasks.league.conftest import MakeWorld, World
from tests.tasks.league.world import ENTRANT, make_rules, play, write_registry

FOUR = ("sim-a1", "sim-b1", "sim-c1", "sim-d1")
TABLES = (
    "league_rounds",
    "league_questions",
    "league_answers",
    "league_evaluations",
    "league_rankings",
    "league_originality",
    "league_flags",
)


def play_small(world: World, league_id: str = "one", **rules: Any) -> None:
    summary = play(world.ledger, world.lake, world.settings, league_id, make_rules(FOUR, **rules))
    assert summary.is_complete, summary.failure


def read(world: World, table: str) -> pl.DataFrame:
    return world.lake.query(f"SELECT * FROM {table}")


def test_every_candidate_asks_once_a_run_and_nobody_judges_itself_and_the_preview_counts_the_calls(
    make_world: MakeWorld,
) -> None:
    world = make_world()
    rules = make_rules(FOUR, domains=("mathematics", "programming"), run_count=2)
    models = [read_registry(world.settings.registry_path).get(name) for name in FOUR]
    previews = {one.model: one for one in preview_league(rules, models)}
    assert {(one.asking_calls, one.answering_calls, one.judging_calls) for one in previews.values()} == {
        (4, 12, 16)
    }
    assert all(one.cost_usd and one.most_usd for one in previews.values())
    summary = play(world.ledger, world.lake, world.settings, "one", rules)
    assert summary.is_complete, summary.failure
    made = dict(world.lake.query("SELECT model, count(*) FROM llm_calls GROUP BY model").rows())
    assert made == {
        name: one.asking_calls + one.answering_calls + one.judging_calls for name, one in previews.items()
    }
    rounds, questions, answers = (
        read(world, f"league_{name}") for name in ("rounds", "questions", "answers")
    )
    for (_domain, _run), found in rounds.group_by("domain", "league_run"):
        assert sorted(found["asker"]) == sorted(FOUR)
    assert rounds.select("answer_count", "evaluation_count", "void_count").unique().rows() == [(3, 9, 0)]
    assert questions.height == 16
    joined = answers.join(questions.select("league_question_id", "asker"), on="league_question_id")
    assert joined.height == 16 * 3
    assert joined.filter(pl.col("answerer") == pl.col("asker")).is_empty()
    evaluations = read(world, "league_evaluations")
    assert evaluations.filter(pl.col("judge") == pl.col("answerer")).is_empty()
    # The asker judges three answers, each answerer the two others.
    assert evaluations.height == 16 * (3 + 3 * 2)
    borda = evaluations.filter(pl.col("domain") == "mathematics")
    askers = rounds.select("domain", "league_run", "round", "asker")
    lists = (
        borda.join(askers, on=["domain", "league_run", "round"])
        .group_by("league_run", "round", "judge", is_asker=pl.col("judge") == pl.col("asker"))
        .agg(pl.col("score").sort(descending=True))
    )
    assert {tuple(row) for row in lists.filter("is_asker")["score"].to_list()} == {(2, 1, 0)}
    assert {tuple(row) for row in lists.filter(~pl.col("is_asker"))["score"].to_list()} == {(2, 1)}
    assert read(world, "quarantine").is_empty()
    # Rankings are the means of the evaluations up to their round.
    last = read(world, "league_rankings").filter(pl.col("round") == 4)
    means = evaluations.group_by("domain", "league_run", model="answerer").agg(
        mean=pl.col("score").mean(), count=pl.len()
    )
    both = last.join(means, on=["domain", "league_run", "model"])
    assert both.height == 16
    assert both.filter((pl.col("score") - pl.col("mean")).abs() > 1e-9).is_empty()
    assert both.filter(pl.col("evaluation_count") != pl.col("count")).is_empty()


def test_judges_see_letters_drawn_for_each_and_no_names_and_the_league_s_id_alone_continues_it(
    make_world: MakeWorld,
) -> None:
    world = make_world()
    texts: list[str] = []
    write = world.server.state._write_text

    def listen(model: Any, messages: list[dict[str, str]], draw: str, seen: frozenset[str]) -> str:
        texts.append(messages[-1]["content"])
        return write(model, messages, draw, seen)

    world.server.state._write_text = listen  # type: ignore[method-assign]
    play_small(world)
    judged = [
        text
        for text in texts
        if any(name == "answer" for name, _, _ in extract_sections([{"content": text}]))
    ]
    assert len(judged) == 16
    for text in judged:
        assert not any(name in text for name in (*FOUR, "alder", "birch", "cedar", "dogwood"))
    evaluations = read(world, "league_evaluations")
    orders = evaluations.sort("label").group_by("round", "judge").agg(pl.col("answerer"))
    by_round = {
        number: {tuple(found) for found in part["answerer"].to_list()}
        for (number,), part in orders.group_by("round")
    }
    assert all(len(found) > 1 for found in by_round.values())
    assert set(evaluations["label"].unique()) == {"A", "B", "C"}

    before = {table: read(world, table).sort(pl.all()) for table in ("league_rounds", "league_evaluations")}
    sent = sum(world.server.state.requests.values())
    play_small(world)
    assert play(world.ledger, world.lake, world.settings, "one").new_count == 0
    assert sum(world.server.state.requests.values()) == sent
    for table, rows in before.items():
        assert read(world, table).sort(pl.all()).equals(rows)
    registry = read_registry(world.settings.registry_path)
    with pytest.raises(UsageError, match=r"other temperature: 1\.0 there, 0\.5 here"):
        claim_league(world.lake, world.settings, registry, "one", make_rules(FOUR, temperature=0.5))
    with pytest.raises(UsageError, match="other domains"):
        claim_league(world.lake, world.settings, registry, "one", make_rules(FOUR, domains=("law",)))
    with pytest.raises(UsageError, match="no league 'two'"):
        play(world.ledger, world.lake, world.settings, "two")
    (world.settings.home / "secrets" / "league").write_text("0" * 64)
    with pytest.raises(StoreError, match="not the one that league one was claimed with"):
        play(world.ledger, world.lake, world.settings, "one")


def test_a_judge_that_cannot_be_read_is_void_and_never_0(make_world: MakeWorld) -> None:
    def silence(profile: dict[str, Any]) -> None:
        profile["models"]["sim-b1"]["unparsed"] = 1.0

    world = make_world(silence)
    play_small(world)
    evaluations = read(world, "league_evaluations")
    void = evaluations.filter(pl.col("judge") == "sim-b1")
    assert void.height == 3 + 3 * 2
    assert void.select("rank", "score", "parse_status").unique().rows() == [(None, None, "unparsed")]
    assert void["raw"].null_count() == 0
    # Three tries, told on the row of the first answer shown.
    assert void["call_count"].drop_nulls().to_list() == [3] * 4
    assert evaluations.filter(pl.col("judge") != "sim-b1")["score"].null_count() == 0
    assert read(world, "league_rounds").select(pl.col("void_count").sum()).item() == void.height
    ranked = read(world, "league_rankings").filter(pl.col("round") == 4)
    means = evaluations.group_by("answerer").agg(pl.col("score").mean(), count=pl.col("score").count())
    assert sorted(ranked.select("model", "score", "evaluation_count").rows()) == sorted(means.rows())


def test_a_question_that_cannot_be_read_makes_a_void_round_and_the_league_continues(
    make_world: MakeWorld,
) -> None:
    def refuse(profile: dict[str, Any]) -> None:
        profile["models"]["sim-c1"]["faults"] = {"refusal": 1.0}

    world = make_world(refuse)
    play_small(world)
    rounds = {row["asker"]: row for row in read(world, "league_rounds").to_dicts()}
    assert (rounds["sim-c1"]["answer_count"], rounds["sim-c1"]["evaluation_count"]) == (0, 0)
    question = read(world, "league_questions").filter(pl.col("asker") == "sim-c1").row(0, named=True)
    assert (question["stem"], question["parse_status"], question["call_count"]) == (None, "unparsed", 3)
    # Its answers are void in the other rounds: rows without a score, not missing ones.
    evaluations = read(world, "league_evaluations").filter(pl.col("answerer") == "sim-c1")
    assert evaluations.height == 3 * 3 - 3 + 3
    assert evaluations.select("score", "label", "parse_status").unique().rows() == [(None, None, "unparsed")]
    # A list of one answer was not asked for, and so is not void: four of the nine places of a round.
    void_counts = {asker: row["void_count"] for asker, row in rounds.items()}
    assert void_counts == {"sim-a1": 3, "sim-b1": 3, "sim-c1": 0, "sim-d1": 3}
    write_statistics(world.lake, "one", StatisticsRequest(resamples=100, repeats=5))
    for query in ("league_heatmap", "league_by_asker", "league_ranking"):
        assert world.lake.run_named(query)["void_count"].sum() == 9, query
    last = read(world, "league_rankings").filter((pl.col("round") == 4) & (pl.col("model") == "sim-c1"))
    assert last.select("score", "rank", "evaluation_count").rows() == [(None, None, 0)]


def test_a_claim_is_refused_before_anything_is_called(make_world: MakeWorld) -> None:
    world = make_world()
    registry = read_registry(world.settings.registry_path)
    for rules, message in (
        (make_rules(FOUR[:2]), "3 to 26 candidates"),
        (make_rules((*FOUR, "sim-a1")), "named twice"),
        (make_rules(FOUR, language="fr"), "no prompts in 'fr'"),
        (make_rules(FOUR, season="soon"), "is no season"),
        (replace(make_rules(FOUR), domains={}), "at least one domain"),
        (make_rules((*FOUR, "nobody")), "no model 'nobody'"),
    ):
        with pytest.raises(UsageError, match=message):
            claim_league(world.lake, world.settings, registry, "one", rules)
    with pytest.raises(UsageError, match="is no id"):
        claim_league(world.lake, world.settings, registry, "a/b", make_rules(FOUR))
    assert find_league(world.lake, world.settings, "one") is None
    assert not world.server.state.requests


def test_what_a_budget_stops_continues_without_paying_twice(make_world: MakeWorld) -> None:
    world = make_world()
    claim_league(
        world.lake, world.settings, read_registry(world.settings.registry_path), "one", make_rules(FOUR)
    )
    with pytest.raises(BudgetError):
        play(world.ledger, world.lake, world.settings, "one", budget_usd=0.012)
    assert 0 < sum(world.server.state.requests.values()) < 4 * 8
    landed = {table: set(read(world, table)["landing_unit"]) for table in TABLES}
    assert all(units <= landed["league_rounds"] for units in landed.values())
    summary = play(world.ledger, world.lake, world.settings, "one")
    assert summary.is_complete
    assert sum(world.server.state.requests.values()) == 4 * 8
    assert max(world.server.state.repeats.values()) == 1
    spent = world.lake.query("SELECT sum(cost_usd) FROM llm_calls").item()
    parts = [
        world.lake.query(f"SELECT sum(cost_usd) FROM league_{name}").item()
        for name in ("questions", "answers", "evaluations")
    ]
    assert sum(parts) == pytest.approx(spent)


def test_a_call_that_fails_leaves_its_round_open_and_the_same_command_plays_it(make_world: MakeWorld) -> None:
    world = make_world(lambda profile: profile["models"].pop("sim-b1"))
    summary = play(world.ledger, world.lake, world.settings, "one", make_rules(FOUR))
    assert (summary.is_complete, summary.failed_count) == (False, 1)
    assert "sim-b1" in str(summary.failure)
    assert read(world, "league_rounds").is_empty()
    # What failed is taken as void on demand: one endpoint cannot hold a league up.
    voided = play(world.ledger, world.lake, world.settings, "one", voids_failures=True)
    assert voided.is_complete
    rounds = {row["asker"]: row["evaluation_count"] for row in read(world, "league_rounds").to_dicts()}
    # It asks nothing, answers nothing and judges nothing: two answers of the others, by themselves and by the asker.
    assert rounds == {"sim-a1": 2, "sim-b1": 0, "sim-c1": 2, "sim-d1": 2}


def test_questions_too_near_to_others_are_drafted_again(make_world: MakeWorld) -> None:
    world = make_world(copies=1.0)
    play_small(world, run_count=2)
    questions = read(world, "league_questions").sort("league_run", "round")
    near = read(world, "league_originality")
    # Every asker sets its known question first: it is new to the memory once, and too near the second time.
    assert sorted(questions["draft_count"]) == [1] * 4 + [2] * 4
    again = near.filter("is_too_near")
    assert again.height == 4
    assert again.select("draft", "compared_with", "ngram_overlap").unique().rows() == [(1, "memory", 1.0)]
    assert set(again["neighbour"]) <= set(questions["league_question_id"])
    assert questions["stem"].n_unique() == 8


def test_a_benchmark_file_counts_and_a_later_league_remembers_earlier_ones(
    make_world: MakeWorld, tmp_path: Path
) -> None:
    world = make_world(copies=1.0)
    play_small(world)
    stems = read(world, "league_questions")["stem"].to_list()
    play_small(world, "two")
    second = read(world, "league_questions").filter(pl.col("league_id") == "two")
    assert second["draft_count"].to_list() == [2] * 4
    known = tmp_path / "known.txt"
    known.write_text("\n".join(stems))
    from tasks.league.claim import hash_benchmark

    play_small(world, "three", benchmarks={str(known): hash_benchmark(known)})
    names = read(world, "league_originality").filter(pl.col("league_id") == "three")["compared_with"]
    assert set(names) == {"known.txt", "memory"}
    known.write_text("another question that is long enough")
    claim_league(
        world.lake,
        world.settings,
        read_registry(world.settings.registry_path),
        "four",
        make_rules(FOUR, benchmarks={str(known): hash_benchmark(known)}),
    )
    known.write_text("changed after the claim, so it is another file")
    with pytest.raises(UsageError, match="is not what it was"):
        play(world.ledger, world.lake, world.settings, "four")


def test_judged_again_without_reference_the_same_answers_stand_under_the_same_letters(
    make_world: MakeWorld,
) -> None:
    world = make_world()
    registry = read_registry(world.settings.registry_path)
    claim_league(world.lake, world.settings, registry, "one", make_rules(FOUR))
    with pytest.raises(UsageError, match="4 of 4 rounds of league one are not finished"):
        play(world.ledger, world.lake, world.settings, "one", run_type="without_reference")
    play_small(world)
    questions, answers = read(world, "league_questions"), read(world, "league_answers")
    summary = play(world.ledger, world.lake, world.settings, "one", run_type="without_reference")
    assert (summary.is_complete, summary.calls["sent"]) == (True, 4 * 4)
    assert read(world, "league_questions").equals(questions)
    assert read(world, "league_answers").equals(answers)
    evaluations = read(world, "league_evaluations")
    keys = ["league_question_id", "judge", "answerer", "label"]
    full, blind = (
        evaluations.filter(pl.col("run_type") == name).sort(keys) for name in ("full", "without_reference")
    )
    assert full.select(keys).equals(blind.select(keys))
    assert not full.select("raw").equals(blind.select("raw"))
    assert read(world, "league_rankings").filter(pl.col("run_type") == "without_reference").height == 16


def test_an_asker_solves_its_own_question_again(make_world: MakeWorld) -> None:
    world = make_world(setting=-3.0)
    play_small(world, self_consistency=3)
    questions = read(world, "league_questions")
    # Questions are easy for everybody here: most of an author's later solutions agree with the reference.
    assert set(questions["self_consistency"].unique()) <= {0.0, 1 / 3, 2 / 3, 1.0}
    assert questions["self_consistency"].mean() > 0.8  # type: ignore[operator]
    assert questions["call_count"].to_list() == [4] * 4


@pytest.mark.skipif(find_room() is None, reason="this machine offers no room for programs")
def test_programs_are_run_on_the_examples_when_a_league_is_told_to(make_world: MakeWorld) -> None:
    world = make_world(setting=-3.0)
    play_small(world, domains=("programming",), runs_code=True)
    assert read(world, "league_questions")["execution"].to_list() == ["passed"] * 4
    executions = read(world, "league_answers")["execution"]
    assert set(executions) <= {"passed", "failed"}
    assert executions.to_list().count("passed") >= 8
    play_small(world, "two", domains=("programming",))
    second = read(world, "league_answers").filter(pl.col("league_id") == "two")
    assert second["execution"].null_count() == second.height


@pytest.mark.long
def test_a_domain_that_is_only_data_is_played_in_chinese(make_world: MakeWorld) -> None:
    world = make_world()
    play_small(world, domains=("law",), language="zh", season="2026-Q4")
    questions = read(world, "league_questions")
    assert questions["stem"].null_count() == 0
    assert set(questions["topic"]) <= set(find_topics())
    assert questions["prompt_version"].str.ends_with("/zh").all()


def find_topics() -> list[str]:
    from tasks.league.domain import list_topics, read_domain

    return list_topics(read_domain("law"), "2026-Q4", "zh")


def test_simulated_and_real_candidates_do_not_meet(make_world: MakeWorld) -> None:
    world = make_world()
    path = world.settings.registry_path
    content = json.loads(path.read_text())
    content["providers"]["real"] = {"base_url": "https://models.example/v1"}
    content["models"][ENTRANT]["provider"] = "real"
    path.write_text(json.dumps(content))
    with pytest.raises(UsageError, match="simulated ones alone"):
        claim_league(world.lake, world.settings, read_registry(path), "one", make_rules((*FOUR, ENTRANT)))
    write_registry(path)
