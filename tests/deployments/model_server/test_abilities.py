"""Simulated models are as good as their profile says."""

from __future__ import annotations

import json
from typing import Any

import polars as pl
import pytest

from deployments.model_server.candidates import is_answered, write_answer
from deployments.model_server.generators import find_task, write_task_reply
from deployments.model_server.judges import draw_stars
from deployments.model_server.key import (
    AnswerKey,
    build_answer_key,
    compute_true_stars,
    find_quality,
    is_right,
    parse_answer_key,
)
from deployments.model_server.profile import SimulatedModel
from tasks.bank.augment.requests import Statement, build_messages
from tasks.bank.augment.variant_rules import (
    find_broken_paraphrase_rules,
    find_broken_statement_rules,
    find_broken_support_rules,
)
from tests.tasks.models.simulation import BANK_SCHEMA, make_bank, make_question

SEED = "abilities"


def make_key(count: int, **changes: Any) -> AnswerKey:
    return parse_answer_key(build_answer_key(make_bank(count, **changes)))


@pytest.mark.parametrize("accuracy", [0.3, 0.6, 0.9])
def test_a_candidate_answers_the_share_that_its_profile_says(accuracy: float) -> None:
    model = SimulatedModel("m", accuracy={"default": accuracy})
    entries = make_key(3000).entries.values()
    right = sum(is_answered(model, entry, "zero_shot", "1", SEED) for entry in entries)
    assert right / 3000 == pytest.approx(accuracy, abs=0.03)


def test_abilities_differ_by_discipline() -> None:
    model = SimulatedModel("m", accuracy={"default": 0.2, "Law": 0.9})
    shares = {}
    for discipline in ("Law", "History"):
        entries = make_key(1500, discipline=discipline).entries.values()
        shares[discipline] = (
            sum(is_answered(model, entry, "zero_shot", "1", SEED) for entry in entries) / 1500
        )
    assert shares["Law"] == pytest.approx(0.9, abs=0.04)
    assert shares["History"] == pytest.approx(0.2, abs=0.04)


def test_hard_questions_are_hard_for_every_model() -> None:
    entries = list(make_key(2000).entries.values())
    models = [SimulatedModel(name, accuracy={"default": 0.5}) for name in ("m", "n")]
    first, second = (
        [is_answered(model, entry, "zero_shot", "1", SEED) for entry in entries] for model in models
    )
    both = sum(a and b for a, b in zip(first, second, strict=True)) / 2000
    assert both > 0.5 * 0.5 + 0.03


def test_repeats_mostly_agree_but_not_wholly() -> None:
    model = SimulatedModel("m", accuracy={"default": 0.5})
    entries = list(make_key(2000).entries.values())
    first, second = (
        [is_answered(model, entry, "zero_shot", draw, SEED) for entry in entries] for draw in "12"
    )
    same = sum(a == b for a, b in zip(first, second, strict=True)) / 2000
    assert 0.8 < same < 0.99


def test_chain_of_thought_helps_as_much_as_the_profile_says() -> None:
    model = SimulatedModel("m", accuracy={"default": 0.5}, style_effect={"chain_of_thought": 1.0})
    entries = list(make_key(2000).entries.values())
    zero, chain = (
        sum(is_answered(model, entry, style, "1", SEED) for entry in entries)
        for style in ("zero_shot", "chain_of_thought")
    )
    assert chain / 2000 - zero / 2000 > 0.1


QUESTIONS: dict[str, dict[str, Any]] = {
    "true_false": {},
    "multiple_choice": {
        "question_type": "multiple_choice",
        "options": [{"label": label, "text": f"说法{label}"} for label in "ABCD"],
        "answer": ["C"],
    },
    "several_keys": {
        "question_type": "multiple_choice",
        "options": [{"label": label, "text": f"说法{label}"} for label in "ABCD"],
        "answer": ["A", "C"],
    },
    "all_keys": {
        "question_type": "multiple_choice",
        "options": [{"label": label, "text": f"说法{label}"} for label in "AB"],
        "answer": ["A", "B"],
    },
    "fill_in_the_blank": {"question_type": "fill_in_the_blank", "answer": ["长安", "洛阳"]},
    "calculation": {"question_type": "calculation", "answer": ["12.5 m/s"]},
    "calculation_in_words": {"question_type": "calculation", "answer": ["π"]},
    "short_answer": {"question_type": "short_answer", "answer": ["气压低，沸点随之降低。"]},
    "english": {"question_type": "short_answer", "language": "en", "answer": ["The boiling point falls."]},
}


@pytest.mark.parametrize("style", ["zero_shot", "few_shot", "chain_of_thought"])
@pytest.mark.parametrize("case", QUESTIONS)
def test_what_a_candidate_means_right_is_right_and_what_it_means_wrong_is_wrong(
    case: str, style: str
) -> None:
    others = [
        make_question(number, **{**QUESTIONS[case], "answer": [f"别的答案{number}"]}) for number in (1, 2)
    ]
    question = make_question(0, **QUESTIONS[case])
    frame = pl.DataFrame([question, *others], schema=BANK_SCHEMA)
    key = parse_answer_key(build_answer_key(frame))
    entry = next(iter(key.entries.values()))
    knowing = SimulatedModel("knowing", accuracy={"default": 1.0}, explanation=1.0)
    guessing = SimulatedModel("guessing", accuracy={"default": 0.0}, explanation=0.0)
    for draw in "123456":
        right = write_answer(knowing, entry, key, style, draw, SEED)
        wrong = write_answer(guessing, entry, key, style, draw, SEED)
        assert is_right(entry, right), right
        assert not is_right(entry, wrong), wrong
        assert compute_true_stars(entry, right) == 3
        assert compute_true_stars(entry, wrong) == 0
        assert (find_quality(right), find_quality(wrong)) == ("reasonable", "wrong")


def test_all_four_stars_occur_and_a_blank_response_has_none() -> None:
    key = make_key(400)
    model = SimulatedModel("m", accuracy={"default": 0.5}, explanation=0.6)
    stars = {
        compute_true_stars(entry, write_answer(model, entry, key, "zero_shot", "1", SEED))
        for entry in key.entries.values()
    }
    assert stars == {0, 1, 2, 3}
    assert compute_true_stars(next(iter(key.entries.values())), "  ") == 0


@pytest.mark.parametrize(("leniency", "sign"), [(1.0, 1), (-1.0, -1)])
def test_a_judge_agrees_as_often_as_its_profile_says_and_errs_on_its_side(leniency: float, sign: int) -> None:
    judge = SimulatedModel("j", kind="judge", agreement=0.7, leniency=leniency)
    given = [
        (2 if sign > 0 else 1, draw_stars(judge, 2 if sign > 0 else 1, (SEED, number)))
        for number in range(2000)
    ]
    assert sum(true == stars for true, stars in given) / 2000 == pytest.approx(0.7, abs=0.04)
    assert {stars - true for true, stars in given} == {0, sign}


def test_a_judge_that_errs_stays_on_the_scale() -> None:
    judge = SimulatedModel("j", kind="judge", agreement=0.0)
    given = {(true, draw_stars(judge, true, (SEED, number))) for true in range(4) for number in range(50)}
    assert given == {(0, 1), (1, 0), (1, 2), (2, 1), (2, 3), (3, 2)}


def ask(task: str, **fields: Any) -> dict[str, Any]:
    found = find_task(build_messages(task, **fields))
    assert found is not None
    reply: dict[str, Any] = json.loads(write_task_reply(found))
    return reply


@pytest.mark.parametrize(
    ("stem", "option", "statement"),
    [
        ("陆上丝绸之路的东端是（ ）。", "长安", "陆上丝绸之路的东端是长安。"),
        ("The unit of force is ____.", "the newton", "The unit of force is the newton."),
        ("光年是一种单位，它所量度的是：", "距离", "光年是一种单位，它所量度的是：距离。"),
    ],
)
def test_a_generator_makes_one_statement_of_stem_and_option(stem: str, option: str, statement: str) -> None:
    assert ask("declarative_rewrite", stem=stem, option=option) == {"statement": statement}
    assert find_broken_statement_rules(stem, option, statement) == []


def test_a_generator_states_a_material_truly_and_falsely_and_names_its_support() -> None:
    material = "甲河是该省最长的河流。流域内有三座大型水库。中游为平原。下游两岸可以行船。"
    statements = ask("material_to_true_false", material=material, count=4)["statements"]
    assert [statement["answer"] for statement in statements] == ["true", "false", "true", "false"]
    for statement in statements:
        assert find_broken_support_rules(material, Statement.from_reply(statement)) == []
        repeats = statement["support"].rstrip("。") in statement["statement"]
        assert repeats == (statement["answer"] == "true")


def test_a_generator_asks_a_question_in_other_words() -> None:
    stem = "声音在15℃的空气中每秒传播约（ ）米。"
    assert find_broken_paraphrase_rules(stem, ask("paraphrase", stem=stem)["stem"]) == []
