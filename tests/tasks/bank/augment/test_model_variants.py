"""The simulated generator behind real HTTP; what it cannot produce is tried directly."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from deployments.model_server import RunningServer
from schemas.settings import Settings
from tasks.bank.augment.model_variants import VariantsIncomplete, Writing, WrittenVariants, write_variants
from tasks.bank.augment.requests import Statement, build_messages, build_reply_schema
from tasks.bank.augment.variant_rules import (
    BOTH_TRUTHS_ARE_STATED,
    REPLY_IS_READABLE,
    SAMPLE_PASSES_REVIEW,
    find_broken_paraphrase_rules,
    find_broken_statement_rules,
    find_broken_support_rules,
    has_both_truths,
    is_copied,
)
from tasks.models import ModelClient
from tasks.models.reading import parse_json_object
from tasks.operations.validation import read_rule_notes
from tasks.operations.validation.questions import RuleNote
from tests.local_server import Handler, serve
from tests.tasks.bank.augment.conftest import NOW, make_accepted, make_frame, make_options
from tests.tasks.models.simulation import make_model, start_server
from warehouse.ledger.engine.ledger import Ledger
from warehouse.ledger.engine.opening import open_ledger

MATERIAL = "长江是中国最长的河流。黄河是第二长的河流。秦岭位于中国中部。珠江有三条支流。"


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    with open_ledger(f"sqlite:///{tmp_path / 'ledger.sqlite'}") as opened:
        yield opened


@pytest.fixture(scope="module")
def server() -> Iterator[RunningServer]:
    with start_server(writer={"kind": "generator"}) as running:
        yield running


@pytest.fixture(scope="module")
def wrong() -> Iterator[RunningServer]:
    """Generators that do one thing wrong in every reply, each named for it."""
    names = ("unreadable", "foreign_support", "one_sided", "copied", "changed")
    with start_server(
        models={name: {"kind": "generator", "writing": {name: 1.0}} for name in names}
    ) as running:
        yield running


def write(
    ledger: Ledger,
    server: RunningServer,
    *rows: dict[str, Any],
    method: str,
    model: str = "writer",
    counts: dict[str, int] | None = None,
) -> WrittenVariants:
    generator = replace(make_model(model), roles=("generator",), parameters={"max_tokens": 2000})

    async def run() -> WrittenVariants:
        async with ModelClient(ledger, Settings(), simulated_url=server.url) as client:
            result = await write_variants(
                client, generator, make_frame(*rows), method, Writing(run_id="augment/b1", unit="b1", now=NOW)
            )
            if counts is not None:
                counts.update(client.counts)
            return result

    return asyncio.run(run())


def test_a_statement_by_the_model_has_the_truth_of_its_option(ledger: Ledger, server: RunningServer) -> None:
    parent = make_accepted(
        "最早的活字是（ ）。", language="zh", options=make_options("泥活字", "铅活字"), answer=["A"]
    )
    result = write(ledger, server, parent, method="declarative_rewrite")
    assert result.variants.select("stem", "answer", "method", "generator", "option_label").rows() == [
        ("最早的活字是泥活字。", ["true"], "declarative_rewrite", "writer", "A"),
        ("最早的活字是铅活字。", ["false"], "declarative_rewrite", "writer", "B"),
    ]
    assert set(result.variants["parent_uuid"]) == {parent["question_uuid"]}
    assert (result.parent_count, result.fallback_count) == (2, 0)


def test_a_statement_that_does_not_pass_is_refused_by_the_name_of_its_rule(
    ledger: Ledger, server: RunningServer
) -> None:
    # The simulated generator hangs the option behind the question, which then still asks.
    parent = make_accepted("下列哪个是质数", language="zh", options=make_options("八", "七"), answer=["B"])
    result = write(ledger, server, parent, method="declarative_rewrite")
    assert (result.variants.height, result.fallback_count) == (0, 2)
    assert set(result.quarantine["rule"]) == {"statement_is_declarative"}


def test_an_option_that_speaks_of_the_others_and_a_variant_get_no_statement(
    ledger: Ledger, server: RunningServer
) -> None:
    above = make_accepted(options=make_options("39", "52", "None of the above"), answer=["A"])
    keyed = make_accepted("Level 6 has ( ).", options=make_options("39", "All of the above"), answer=["B"])
    variant = make_accepted("Level 7 has ( ).", lineage_uuid="0b8f1f0e-3d7c-5e0e-9c52-7b1f6a4d2c10")
    result = write(ledger, server, above, keyed, variant, method="declarative_rewrite")
    assert sorted(result.variants["option_label"]) == ["A", "B"]
    assert set(result.variants["parent_uuid"]) == {above["question_uuid"]}


def make_material(stem: str, answer: str, material: str = MATERIAL) -> dict[str, Any]:
    return make_accepted(
        stem, question_type="material_analysis", language="zh", material=material, options=[], answer=[answer]
    )


def test_statements_about_a_material_carry_the_sentence_that_supports_them(
    ledger: Ledger, server: RunningServer
) -> None:
    one, other = make_material("概括材料。", "河流与山脉。"), make_material("材料说明了什么？", "地理。")
    result = write(ledger, server, one, other, method="material_to_true_false")
    assert (result.variants.height, result.parent_count, result.fallback_count) == (4, 1, 0)
    assert set(result.variants["parent_uuid"]) == {min(one["question_uuid"], other["question_uuid"])}
    assert {tuple(answer) for answer in result.variants["answer"]} == {("true",), ("false",)}
    assert all(support in MATERIAL for support in result.variants["support"])
    assert not any(is_copied(stem, MATERIAL) for stem in result.variants["stem"])
    assert set(result.variants["explanation"]) == {None}


@pytest.mark.parametrize(
    ("fault", "method", "rule"),
    [
        ("unreadable", "material_to_true_false", "reply_is_readable"),
        ("unreadable", "declarative_rewrite", "reply_is_readable"),
        ("foreign_support", "material_to_true_false", "support_stands_in_the_material"),
        ("one_sided", "material_to_true_false", "both_truths_are_stated"),
        ("copied", "material_to_true_false", "statement_is_not_copied"),
        ("changed", "declarative_rewrite", "statement_keeps_the_numbers"),
        ("changed", "paraphrase", "paraphrase_keeps_the_numbers"),
    ],
)
def test_what_a_generator_does_wrong_is_refused_by_name_and_nothing_of_it_stands(
    ledger: Ledger, wrong: RunningServer, fault: str, method: str, rule: str
) -> None:
    counts: dict[str, int] = {}
    parent = (
        make_material("概括材料。", "河流与山脉。") if method == "material_to_true_false" else make_accepted()
    )
    result = write(ledger, wrong, parent, method=method, model=fault, counts=counts)
    assert result.variants.is_empty()
    assert rule in set(result.quarantine["rule"])
    # What does not pass is asked for once more.
    assert counts["sent"] == 2 * result.parent_count == 2 * result.fallback_count


def test_a_paraphrase_keeps_options_and_key(ledger: Ledger, server: RunningServer) -> None:
    parent = make_accepted("满二叉树第六层最多有（ ）个结点。", language="zh")
    (row,) = write(ledger, server, parent, method="paraphrase").variants.to_dicts()
    assert (row["options"], row["answer"], row["question_type"]) == (
        parent["options"],
        parent["answer"],
        "multiple_choice",
    )
    assert row["stem"] != parent["stem"]


def test_questions_of_every_type_but_terms_and_statements_are_paraphrased(
    ledger: Ledger, server: RunningServer
) -> None:
    rows = [
        make_accepted(f"Question {place} with ____ here.", question_type=name, options=[], answer=["true"])
        for place, name in enumerate(("fill_in_the_blank", "calculation", "essay", "true_false"))
    ]
    result = write(ledger, server, *rows, method="paraphrase")
    assert sorted(result.variants["question_type"]) == ["calculation", "essay", "fill_in_the_blank"]


def test_writing_them_again_sends_nothing_and_gives_the_same_rows(
    ledger: Ledger, server: RunningServer
) -> None:
    parent = make_accepted(
        "最早的活字是（ ）。", language="zh", options=make_options("泥活字", "铅活字"), answer=["A"]
    )
    first = write(ledger, server, parent, method="declarative_rewrite")
    counts: dict[str, int] = {}
    again = write(ledger, server, parent, method="declarative_rewrite", counts=counts)
    assert first.variants.equals(again.variants)
    assert (counts.get("sent", 0), counts["replayed"]) == (0, 2)


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
        ({"statement": "黄河是第二长的河流。"}, ["statement_is_not_copied"]),
        ({"statement": "秦岭，位于中国中部！"}, ["statement_is_not_copied"]),
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
        ('{"draft": 1} {"stem": "x"}', {"stem": "x"}),
        ('{"stem": "x"} {"stem": "y"}', None),
        ('The paper says {"stem": "x"}, which I leave.', None),
    ],
)
def test_a_reply_is_read_whatever_stands_around_it(text: str, value: dict[str, str] | None) -> None:
    assert parse_json_object(text, "stem") == value


def test_a_request_ends_with_one_json_object_and_never_holds_the_key() -> None:
    messages = build_messages("declarative_rewrite", stem="1+1=( )", option="2")
    assert json.loads(messages[-1]["content"].rsplit("\n\n", 1)[1]) == {
        "task": "declarative_rewrite",
        "stem": "1+1=( )",
        "option": "2",
    }


def test_a_reply_is_held_to_a_schema_where_the_endpoint_offers_that() -> None:
    schema = build_reply_schema("material_to_true_false")["json_schema"]
    (items,) = (field["items"] for field in schema["schema"]["properties"].values())
    assert (schema["strict"], items["required"]) == (True, ["statement", "answer", "support"])


VARIANT_RULES = [note for note in read_rule_notes().values() if note.about == "variant"]


@pytest.mark.parametrize("note", VARIANT_RULES, ids=[note.name for note in VARIANT_RULES])
def test_the_example_of_a_rule_of_variants_breaks_it(note: RuleNote) -> None:
    example = dict(note.example)
    if "reply" in example:
        broken = [] if parse_json_object(example["reply"], "stem") else [REPLY_IS_READABLE]
    elif "answers" in example:
        told = [Statement("A.", answer, "B.") for answer in example["answers"]]
        broken = [] if has_both_truths(told) else [BOTH_TRUTHS_ARE_STATED]
    elif "sample" in example:
        share = example["failed"] / example["sample"]
        broken = [SAMPLE_PASSES_REVIEW] if share > Settings().variant_failure_gate else []
    elif example["method"] == "declarative_rewrite":
        broken = find_broken_statement_rules(example["stem"], example["option"], example["statement"])
    elif example["method"] == "paraphrase":
        broken = find_broken_paraphrase_rules(example["stem"], example["paraphrase"])
    else:
        broken = find_broken_support_rules(example["material"], Statement.from_reply(example))
    assert note.name in broken


def test_a_question_that_its_model_does_not_take_is_refused_and_keeps_none_of_the_others(
    ledger: Ledger,
) -> None:
    class Takes(Handler):
        def do_POST(self) -> None:
            if "too long" in str(self.read_json()["messages"]):
                self.send(400, {"error": {"code": "context_length_exceeded"}})
                return
            choice = {
                "message": {"content": '{"stem": "What is its number of leaves?"}'},
                "finish_reason": "stop",
            }
            self.send(200, {"choices": [choice]})

    def write_all(*stems: str) -> WrittenVariants:
        with serve(Takes) as port:
            model = make_model("real", base_url=f"http://127.0.0.1:{port}/v1", is_simulated=False)
            parents = make_frame(*map(make_accepted, stems))

            async def run() -> WrittenVariants:
                async with ModelClient(ledger, Settings()) as client:
                    writing = Writing(run_id="augment/b1", unit="b1", now=NOW)
                    return await write_variants(client, model, parents, "paraphrase", writing)

            return asyncio.run(run())

    result = write_all("How many leaves has it?", "How many leaves has it? (too long)")
    assert (result.parent_count, result.fallback_count, result.variants.height) == (2, 1, 1)
    assert "400 context_length_exceeded" in str(result.quarantine["row_json"].to_list())
    # Where it takes none, something else is wrong than a question.
    with pytest.raises(VariantsIncomplete):
        write_all("How many nodes has it? (too long)")
