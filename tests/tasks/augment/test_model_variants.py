"""The model is the simulated generator behind real HTTP; what it cannot produce is tried on the checks directly."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from deployments.model_server.server import RunningServer
from schemas.errors import UsageError
from schemas.settings import Settings
from tasks.augment.model_variants import ModelAugmentation, augment_with_model
from tasks.augment.requests import (
    Statement,
    build_messages,
    find_broken_paraphrase_rules,
    find_broken_statement_rules,
    find_broken_support_rules,
)
from tasks.models.client import ModelClient
from tasks.models.replies import parse_json_object
from tests.tasks.augment.conftest import NOW, make_accepted, make_frame, make_options
from tests.tasks.models.simulation import make_model, start_server
from warehouse.ledger.engine import Ledger, open_ledger

MATERIAL = "长江是中国最长的河流。黄河是第二长的河流。秦岭位于中国中部。珠江有三条支流。"


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    with open_ledger(f"sqlite:///{tmp_path / 'ledger.sqlite'}") as opened:
        yield opened


@pytest.fixture(scope="module")
def server() -> Iterator[RunningServer]:
    with start_server(writer={"kind": "generator"}) as running:
        yield running


def augment(
    ledger: Ledger,
    server: RunningServer,
    *rows: dict[str, Any],
    modes: tuple[str, ...],
    counts: dict[str, int] | None = None,
) -> ModelAugmentation:
    model = replace(make_model("writer"), roles=("generator",), parameters={"max_tokens": 2000})

    async def run() -> ModelAugmentation:
        async with ModelClient(ledger, Settings(), simulated_url=server.url) as client:
            result = await augment_with_model(
                client, model, make_frame(*rows), unit="b1", now=NOW, modes=modes
            )
            if counts is not None:
                counts.update(client.counts)
            return result

    return asyncio.run(run())


def test_a_rewritten_statement_takes_the_templates_place_with_its_truth(
    ledger: Ledger, server: RunningServer
) -> None:
    parent = make_accepted(
        "最早的活字是（ ）。", language="zh", options=make_options("泥活字", "铅活字"), answer=["A"]
    )
    result = augment(ledger, server, parent, modes=("declarative_rewrite",))
    assert result.variants.select("stem", "answer", "method", "generator", "option_label").rows() == [
        ("最早的活字是泥活字。", ["true"], "declarative_rewrite", "writer", "A"),
        ("最早的活字是铅活字。", ["false"], "declarative_rewrite", "writer", "B"),
    ]
    assert set(result.variants["parent_uuid"]) == {parent["question_uuid"]}
    assert (result.written, dict(result.fallback)) == ({"declarative_rewrite": 2}, {})


def test_where_the_models_statement_does_not_pass_the_template_stands_and_the_rule_is_named(
    ledger: Ledger, server: RunningServer
) -> None:
    # The simulated generator hangs the option behind the question, which then still asks.
    parent = make_accepted("下列哪个是质数", language="zh", options=make_options("八", "七"), answer=["B"])
    result = augment(ledger, server, parent, modes=("declarative_rewrite",))
    assert set(result.variants["method"]) == {"multiple_choice_to_true_false"}
    assert result.fallback == {"declarative_rewrite": 2}
    assert set(result.quarantine["rule"]) == {"statement_is_declarative"}


def test_statements_about_a_material_carry_the_sentence_that_supports_them(
    ledger: Ledger, server: RunningServer
) -> None:
    shared: dict[str, Any] = {
        "question_type": "material_analysis",
        "language": "zh",
        "material": MATERIAL,
        "options": [],
    }
    one = make_accepted("概括材料。", answer=["河流与山脉。"], **shared)
    other = make_accepted("材料说明了什么？", answer=["地理。"], **shared)
    result = augment(ledger, server, one, other, modes=("material_to_true_false",))
    assert result.variants.height == 4
    assert set(result.variants["method"]) == {"material_to_true_false"}
    assert set(result.variants["parent_uuid"]) == {min(one["question_uuid"], other["question_uuid"])}
    assert {tuple(answer) for answer in result.variants["answer"]} == {("true",), ("false",)}
    assert all(support in MATERIAL for support in result.variants["support"])
    assert set(result.variants["explanation"]) == {None}


def test_a_paraphrase_keeps_options_and_key(ledger: Ledger, server: RunningServer) -> None:
    parent = make_accepted("满二叉树第六层最多有（ ）个结点。", language="zh")
    result = augment(ledger, server, parent, modes=("paraphrase", "permuted_options"))
    row = result.variants.filter(result.variants["method"] == "paraphrase").row(0, named=True)
    assert (row["options"], row["answer"], row["question_type"]) == (
        parent["options"],
        parent["answer"],
        "multiple_choice",
    )
    assert row["stem"] != parent["stem"]
    assert "permuted_options" in set(result.variants["method"])


def test_making_them_again_sends_nothing_and_gives_the_same_rows(
    ledger: Ledger, server: RunningServer
) -> None:
    parent = make_accepted(
        "最早的活字是（ ）。", language="zh", options=make_options("泥活字", "铅活字"), answer=["A"]
    )
    first = augment(ledger, server, parent, modes=("declarative_rewrite",))
    counts: dict[str, int] = {}
    again = augment(ledger, server, parent, modes=("declarative_rewrite",), counts=counts)
    assert first.variants.equals(again.variants)
    assert (counts.get("sent", 0), counts["replayed"]) == (0, 2)


def test_an_unknown_mode_is_refused(ledger: Ledger, server: RunningServer) -> None:
    with pytest.raises(UsageError, match=r"Unknown augmentation modes \['poem'\]"):
        augment(ledger, server, make_accepted(), modes=("poem",))


@pytest.mark.parametrize(
    ("statement", "rules"),
    [
        ("The number of nodes at level 6 is 39.", []),
        ("Is the number of nodes at level 6 equal to 39?", ["statement_is_declarative"]),
        ("The number of nodes at level 6 is ( ) 39.", ["statement_is_declarative"]),
        ("The number of nodes at level 7 is 39.", ["statement_keeps_the_numbers"]),
        ("The number of nodes at level 6 is not 39.", ["statement_keeps_the_negations"]),
        ("At 6, 39.", ["statement_keeps_the_option"]),
        ("", ["statement_is_declarative", "statement_keeps_the_numbers", "statement_keeps_the_option"]),
    ],
)
def test_a_statement_must_claim_what_the_option_claims(statement: str, rules: list[str]) -> None:
    assert find_broken_statement_rules("The number of nodes at level 6 is ( ).", "39", statement) == rules


@pytest.mark.parametrize(
    ("paraphrase", "rules"),
    [
        ("How many nodes, at most, are there on level 6? ( )", []),
        ("Level 6 has at most ( ) nodes.", ["paraphrase_differs"]),
        ("Level 5 can have at most ( ) nodes.", ["paraphrase_keeps_the_numbers"]),
        ("Level 6 never has more than ( ) nodes.", ["paraphrase_keeps_the_negations"]),
        ("Level 6 can have how many nodes?", ["paraphrase_keeps_the_blanks"]),
        ("6 ( )", ["paraphrase_is_of_like_length"]),
    ],
)
def test_a_paraphrase_must_ask_the_same(paraphrase: str, rules: list[str]) -> None:
    assert find_broken_paraphrase_rules("Level 6 has at most ( ) nodes.", paraphrase) == rules


@pytest.mark.parametrize(
    ("changes", "rules"),
    [
        ({}, []),
        ({"support": "长江是世界最长的河流。"}, ["support_stands_in_the_material"]),
        ({"support": ""}, ["support_stands_in_the_material"]),
        ({"support": None}, ["support_stands_in_the_material"]),
        ({"answer": "maybe"}, ["truth_is_true_or_false"]),
        ({"answer": True}, ["truth_is_true_or_false"]),
        ({"statement": "长江是什么？"}, ["statement_is_declarative"]),
    ],
)
def test_a_statement_about_a_material_must_have_its_support_in_it(
    changes: dict[str, Any], rules: list[str]
) -> None:
    fields = {"statement": "长江很长。", "answer": "true", "support": "长江是中国最长的河流。"} | changes
    assert find_broken_support_rules(MATERIAL, Statement.from_reply(fields)) == rules


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"stem": "x"}', {"stem": "x"}),
        ('Sure:\n```json\n{"stem": "{x}"}\n```', {"stem": "{x}"}),
        ('{broken {"stem": "x"}', {"stem": "x"}),
        ("no object", None),
        ("[1, 2]", None),
    ],
)
def test_a_reply_is_read_whatever_stands_around_it(text: str, value: dict[str, str] | None) -> None:
    assert parse_json_object(text) == value


def test_a_request_ends_with_one_json_object_and_never_holds_the_key() -> None:
    messages = build_messages("declarative_rewrite", stem="1+1=( )", option="2")
    assert json.loads(messages[-1]["content"].rsplit("\n\n", 1)[1]) == {
        "task": "declarative_rewrite",
        "stem": "1+1=( )",
        "option": "2",
    }
