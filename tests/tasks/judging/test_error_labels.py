"""Failed responses are sampled and pre-labelled."""

from __future__ import annotations

import asyncio

import polars as pl
import pytest

from deployments.model_server import build_answer_key
from schemas.errors import UsageError
from schemas.judgements import ERROR_CLASSES
from schemas.settings import Settings
from schemas.tables import get_table
from tasks.judging.error_labels import draw_failure_sample, label_failures, parse_label, render_label_prompt
from tasks.judging.judge import join_questions
from tasks.models import ModelClient
from tasks.questions import BareQuestion, QuestionContent
from tests.tasks.judging.simulated_run import make_full_bank, make_responses
from tests.tasks.models.simulation import make_model, start_server
from tests.warehouse.lake.kit import RefusedRow, find_refusals
from warehouse.ledger.engine.ledger import Ledger

LABELLER = make_model("labeller", roles=("judge",))


def make_failed(count: int, model: str = "m") -> pl.DataFrame:
    return pl.DataFrame(
        [{"session_id": f"s-{model}", "seq": seq, "model": model} for seq in range(1, count + 1)]
    )


def find_refused_labels(labels: list[dict[str, object]]) -> list[RefusedRow]:
    table = get_table("error_labels")
    return find_refusals(table, table.frame(labels).with_columns(pl.lit("unit").alias("landing_unit")))


def test_a_sample_records_its_sizes_and_is_the_same_for_the_same_seed() -> None:
    failed = pl.concat([make_failed(40), make_failed(3, "n")])
    first = draw_failure_sample(failed, per_model=5, seed="x")
    assert first.group_by("model", "failed_count", "sample_size").len().sort("model").rows() == [
        ("m", 40, 5, 5),
        ("n", 3, 3, 3),
    ]
    assert first.equals(draw_failure_sample(failed.reverse(), per_model=5, seed="x"))
    assert not first.equals(draw_failure_sample(failed, per_model=5, seed="y"))
    with pytest.raises(UsageError, match="at least one response"):
        draw_failure_sample(failed, per_model=0, seed="x")


def test_a_labeller_gives_each_failure_one_of_the_five_classes(ledger: Ledger) -> None:
    bank = make_full_bank(30)
    responses = join_questions(make_responses([("错误。凭印象。", "answered")] * 30), bank)
    failures = responses.with_columns(pl.lit(30).alias("sample_size"))

    async def run(url: str) -> list[dict[str, object]]:
        async with ModelClient(ledger, Settings(), simulated_url=url) as client:
            return await label_failures(client, LABELLER, failures)

    with start_server(build_answer_key(bank), labeller={"kind": "judge"}) as server:
        labels = asyncio.run(run(server.url))
    assert [label["seq"] for label in labels] == list(range(1, 31))
    assert {label["labeller"] for label in labels} == {"labeller"}
    assert not any(label["is_human"] for label in labels)
    found = {str(label["error_class"]) for label in labels}
    assert found <= set(ERROR_CLASSES)
    assert len(found) >= 3
    assert {(label["parse_status"], label["prompt_version"]) for label in labels} == {("parsed", "1/zh")}
    assert find_refused_labels(labels) == []


def test_a_label_that_cannot_be_read_is_a_row_without_a_class(ledger: Ledger) -> None:
    bank = make_full_bank(1)
    failures = join_questions(make_responses([("错误。", "answered")]), bank).with_columns(
        pl.lit(1).alias("sample_size")
    )

    async def run(url: str) -> list[dict[str, object]]:
        async with ModelClient(ledger, Settings(), simulated_url=url) as client:
            return await label_failures(client, LABELLER, failures, most_tries=2)

    with start_server(build_answer_key(bank), labeller={"faults": {"empty": 1.0}}) as server:
        (label,) = asyncio.run(run(server.url))
        assert server.state.requests["labeller"] == 2
    assert (label["error_class"], label["parse_status"]) == (None, "unparsed")
    assert find_refused_labels([label]) == []


@pytest.mark.parametrize("language", ["zh", "en"])
def test_the_request_describes_all_five_classes(language: str) -> None:
    question = QuestionContent(BareQuestion("true_false", language, "x"), ("true",))
    text = render_label_prompt(question, "false")[0]["content"]
    assert [name for name in ERROR_CLASSES if f"\n{name}" in text] == list(ERROR_CLASSES)


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ('{"error_class": "misunderstanding"}', "misunderstanding"),
        ('```json\n{"error_class": "Logical_Reasoning"}\n```', "logical_reasoning"),
        ("factual_inaccuracy", "factual_inaccuracy"),
        ('{"error_class": "laziness"}', None),
        ("misunderstanding or logical_reasoning", None),
        ("", None),
        ("{broken misunderstanding}", "misunderstanding"),
        ('It wrote {"error_class": "format_compliance"}. My verdict: logical_reasoning', "logical_reasoning"),
        ('It wrote {"error_class": "format_compliance"}.', None),
        ('{"error_class": "misunderstanding"} {"error_class": "logical_reasoning"}', None),
        ('Not misunderstanding, then. {"error_class": "logical_reasoning"}', "logical_reasoning"),
    ],
)
def test_a_label_is_read_only_where_one_class_is_named(text: str, label: str | None) -> None:
    assert parse_label(text) == label
