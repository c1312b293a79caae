"""Letters, points, seasons, nearness: what a league computes without calling anybody."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import date
from pathlib import Path

import numpy as np
import pytest

from schemas.errors import ContractError, UsageError
from tasks.league.anonymity import draw_labels
from tasks.league.asking import Usage
from tasks.league.claim import describe_candidates
from tasks.league.domain import list_topics, name_season, pick_topic, read_domain
from tasks.league.originality import Collection, compute_grams, read_benchmark
from tasks.league.rows import Standing, Tally, compute_borda_points
from tasks.models.registry import read_registry
from tests.tasks.league.world import write_registry

NAMES = [f"model-{number}" for number in range(7)]


def test_with_eight_candidates_the_asker_gives_6_to_0_and_the_others_6_to_1() -> None:
    assert [compute_borda_points(8, rank) for rank in range(1, 8)] == [6, 5, 4, 3, 2, 1, 0]
    assert [compute_borda_points(8, rank) for rank in range(1, 7)] == [6, 5, 4, 3, 2, 1]
    # The mean over a question as the published radar has it: (21 + 7 * 21) / 49.
    assert (sum(range(7)) + 7 * sum(range(1, 7))) / 49 == pytest.approx(3.428571, abs=1e-6)
    for rank in (0, 8):
        with pytest.raises(ContractError, match="no rank"):
            compute_borda_points(8, rank)


def test_an_entrant_of_another_organisation_is_of_another_family_of_that_name(tmp_path: Path) -> None:
    write_registry(tmp_path / "models.yaml", ["a", "b"], organisation="North", family="chat")
    member, other = (read_registry(tmp_path / "models.yaml").get(name) for name in "ab")
    other = replace(other, organisation="South")

    assert [row["family"] for row in describe_candidates("l", [member, other], "member")] == [
        "chat (North)", "chat (South)",
    ]  # fmt: skip
    assert [row["family"] for row in describe_candidates("l", [other], "entrant", [member])] == [
        "chat (South)"
    ]
    assert [row["family"] for row in describe_candidates("l", [member], "member")] == ["chat"]


def test_means_leave_out_what_could_not_be_read_and_equal_means_share_the_better_rank() -> None:
    tally = Tally()
    for model, score in (("a", 6.0), ("a", None), ("b", 6.0), ("c", 0.0), ("c", 2.0)):
        tally.add(model, score)
    assert tally.rank(["d", "c", "b", "a"]) == [
        Standing("a", 1, 6.0, 1),
        Standing("b", 1, 6.0, 1),
        Standing("c", 2, 1.0, 3),
        Standing("d", 0, None, None),
    ]


def test_letters_are_drawn_for_each_judge_and_are_the_same_again() -> None:
    draws = {judge: draw_labels(b"key", NAMES, "round-1", judge) for judge in NAMES}
    assert all(
        sorted(labels.values()) == NAMES and list(labels) == list("ABCDEFG") for labels in draws.values()
    )
    assert len({tuple(labels.values()) for labels in draws.values()}) == len(NAMES)
    assert draw_labels(b"key", reversed(NAMES), "round-1", NAMES[0]) == draws[NAMES[0]]
    assert draw_labels(b"other", NAMES, "round-1", NAMES[0]) != draws[NAMES[0]]


def test_every_place_of_a_list_is_as_likely_for_everybody() -> None:
    counts = np.zeros((7, 7))
    for number in range(2100):
        for place, name in enumerate(draw_labels(b"key", NAMES, "round", number).values()):
            counts[place, NAMES.index(name)] += 1
    chi_squared = float(((counts - 300) ** 2 / 300).sum())
    # 36 degrees of freedom: 0.999 quantile.
    assert chi_squared < 67.99


def test_seasons_take_topics_in_turn_until_all_have_come() -> None:
    domain = read_domain("law")
    seasons = [f"{year}-Q{quarter}" for year in (2026, 2027) for quarter in (1, 2, 3, 4)]
    drawn = [list_topics(domain, season, "en") for season in seasons]
    assert {topic for topics in drawn[:4] for topic in topics} == set(domain.topics["en"])
    assert drawn[0] == drawn[4]
    assert name_season(date(2026, 11, 22)) == "2026-Q4"
    assert name_season(date(2026, 3, 31)) == "2026-Q1"
    assert [pick_topic(["a", "b"], 1, number) for number in (1, 2, 3)] == ["a", "b", "a"]
    assert pick_topic(["a", "b"], 2, 1) == "b"
    assert pick_topic([], 1, 1) is None
    with pytest.raises(UsageError, match="is no season"):
        list_topics(domain, "autumn", "en")


def test_overlap_is_the_share_of_5_grams_found_there() -> None:
    collection = Collection("known")
    collection.add([("1", "one two three four five six seven"), ("2", "nothing of the kind is here at all")])
    near = collection.compare("One, two: three four FIVE six eight nine ten")
    assert (near.neighbour, near.ngram_overlap, near.similarity) == ("1", 2 / 5, None)
    assert collection.compare("entirely other words stand in this one").ngram_overlap == 0
    assert collection.compare("too short").ngram_overlap == 0
    assert collection.compare("one two three four five six seven").ngram_overlap == 1


def test_chinese_is_counted_by_character() -> None:
    assert len(compute_grams("求方程的整数解")) == 3
    collection = Collection("known")
    collection.add([("1", "求下列方程的整数解")])
    assert collection.compare("方程的整数解有几个").ngram_overlap == pytest.approx(2 / 5)


def test_similarity_is_the_cosine_of_the_nearest() -> None:
    vectors = {"a": [1.0, 0.0], "b": [0.0, 1.0], "c": [0.6, 0.8]}
    collection = Collection(
        "known", lambda texts: np.array([vectors[text] for text in texts], dtype=np.float32)
    )
    collection.add([("1", "a")])
    collection.add([("2", "b")])
    near = collection.compare("c")
    assert near.neighbour == "2"
    assert near.similarity == pytest.approx(0.8)


def test_benchmarks_are_read_in_their_forms_and_faults_name_the_line(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text(
        json.dumps({"problem": "p 1"}) + "\n\n" + json.dumps({"question": "p 2"})
    )
    (tmp_path / "a.csv").write_text("id,question\n1,p 1\n2,p 2\n")
    (tmp_path / "a.txt").write_text("p 1\n\np 2\n")
    assert read_benchmark(tmp_path / "a.jsonl") == [("1", "p 1"), ("3", "p 2")]
    assert read_benchmark(tmp_path / "a.csv") == [("2", "p 1"), ("3", "p 2")]
    assert read_benchmark(tmp_path / "a.txt") == [("1", "p 1"), ("3", "p 2")]
    odd = "one\u2028two\x85three"
    (tmp_path / "odd.jsonl").write_text(f'{{"problem": "{odd}"}}\n{{"problem": "p"}}\n', encoding="utf-8")
    (tmp_path / "odd.csv").write_text(f"problem\n{odd}\np\n", encoding="utf-8")
    assert [read_benchmark(tmp_path / f"odd.{suffix}") for suffix in ("jsonl", "csv")] == [
        [("1", odd), ("2", "p")], [("2", odd), ("3", "p")],
    ]  # fmt: skip
    (tmp_path / "b.jsonl").write_text("{}")
    (tmp_path / "b.csv").write_text("id\n1\n")
    (tmp_path / "open.csv").write_text('question\np 1\n"p 2\np 3\n')
    (tmp_path / "b.txt").write_text("")
    for name, message in (
        ("b.jsonl", "line 1: no field"),
        ("b.csv", "no column"),
        ("open.csv", "after line 2 .* Close its quoted cells"),
        ("b.txt", "no question"),
        ("c", "not exist"),
    ):
        with pytest.raises(UsageError, match=message):
            read_benchmark(tmp_path / name)


def test_what_a_provider_does_not_tell_of_a_call_is_unknown_and_not_nothing() -> None:
    usage = Usage()
    usage.add(Usage(1, 10, 5, 0.25))
    usage.add(Usage(1, 20, 5, None))
    assert usage == Usage(2, 30, 10, None)
    usage.add(Usage(1, None, None, 0.25))
    assert usage == Usage(3, None, None, None)
