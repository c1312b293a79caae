"""A model's variants from accepted questions to the bank's door: drafted, sampled, settled."""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from sqlalchemy import func, select

from deployments.model_server import RunningServer
from schemas.errors import BudgetError
from schemas.settings import Settings
from tasks.bank.augment.drafting import draft_variants, name_variant_batch
from tasks.bank.augment.landing import SettledSummary, count_failed, land_variants, settle_variant_batches
from tasks.bank.augment.model_variants import VariantsIncomplete
from tasks.models.registry import RegisteredModel
from tests.fresh import copy_home
from tests.tasks.bank.augment.conftest import make_accepted, make_frame, make_options
from tests.tasks.models.simulation import make_model, start_server
from tests.tasks.review.conftest import LATER, add_annotators, give, make_submission
from tests.tasks.review.kit import Annotator, land_closed_batches, open_sample_batch, record_submission
from warehouse.lake import Lake, open_lake
from warehouse.ledger.engine.ledger import Ledger
from warehouse.ledger.engine.opening import open_ledger
from warehouse.ledger.engine.tables import llm_calls

REWRITE = "declarative_rewrite"
WRITER = replace(make_model("writer"), roles=("generator",), parameters={"max_tokens": 500})
FLAKY = replace(make_model("flaky"), roles=("generator",), parameters={"max_tokens": 500})


@dataclass(frozen=True)
class Bench:
    """A home with accepted questions in the review batch b1, and a generator."""

    settings: Settings
    ledger: Ledger
    lake: Lake
    server: RunningServer

    def draft(self, *methods: str, model: RegisteredModel = WRITER, **options: Any) -> Any:
        return draft_variants(self.ledger, self.lake, self.settings, model, methods or (REWRITE,), **options)

    def decide(self, *, rejected: int = 0) -> None:
        """Let both annotators decide on the sample, rejecting the first `rejected`; close the batch."""
        opened = open_sample_batch(self.settings)
        sample = sorted(self.lake.read("variant_samples")["question_uuid"])
        for name in ("ann", "ben"):
            decisions = [
                give(uuid, "reject" if place < rejected else "accept") for place, uuid in enumerate(sample)
            ]
            record_submission(
                self.ledger, make_submission(name, *decisions, batch_id=str(opened["sample_batch_id"])), LATER
            )
        assert land_closed_batches(self.ledger, self.lake, LATER)["closed_batches"] == [
            opened["sample_batch_id"]
        ]

    def settle(self) -> SettledSummary:
        return settle_variant_batches(self.lake, self.settings)

    def count(self) -> dict[tuple[str, str], int]:
        """Variants by method and generator."""
        return {
            (method, generator): count
            for method, generator, count in self.lake.read("made_variants")
            .group_by("method", "generator")
            .len()
            .rows()
        }


@pytest.fixture(scope="module")
def server() -> Iterator[RunningServer]:
    flaky = {"kind": "generator", "faults": {"server_error": 0.3}}
    with start_server(writer={"kind": "generator"}, flaky=flaky) as running:
        yield running


def make_choice(number: int) -> dict[str, Any]:
    return make_accepted(
        f"满二叉树第{number}层最多有（ ）个结点。",
        language="zh",
        options=make_options(*(f"{number}{letter}" for letter in "甲乙丙")),
        answer=["B"],
    )


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home of two annotators and five accepted choices with variants; a copy for each test."""
    settings = Settings(home=tmp_path_factory.mktemp("template") / "home")
    settings.home.mkdir()
    with open_ledger(settings.ledger_address) as ledger, open_lake(settings) as lake:
        add_annotators(ledger, Annotator("ann"), Annotator("ben"))
        lake.land("review_decisions", "b1", make_frame(*(make_choice(number) for number in range(1, 6))))
        land_variants(lake)
    return settings.home


@pytest.fixture
def bench(
    template: Path, tmp_path: Path, server: RunningServer, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Bench]:
    monkeypatch.setenv("PROCTOR_SIMULATED_URL", server.url)
    settings = Settings(home=tmp_path / "home", variant_sample_share=0.2)
    copy_home(template, settings)
    with open_ledger(settings.ledger_address) as ledger, open_lake(settings) as lake:
        yield Bench(settings, ledger, lake, server)


def test_drafts_are_no_variants_until_their_sample_has_passed(bench: Bench) -> None:
    summary = bench.draft()
    name = name_variant_batch("b1", REWRITE, WRITER)
    assert (summary.batches, summary.drafts, summary.sampled) == ([name], 15, 3)
    assert bench.count() == {("multiple_choice_to_true_false", "template"): 15}
    (row,) = bench.lake.query("select * from variant_batches").to_dicts()
    assert (row["status"], row["is_simulated"], row["call_count"]) == ("held", True, 15)
    assert row["cost_usd"] == pytest.approx(bench.lake.query("select sum(cost_usd) from llm_calls").item())
    assert row["cost_usd"] == summary.cost_usd > 0
    # Nobody has decided yet.
    assert bench.settle() == SettledSummary(held=1)

    bench.decide()
    assert bench.settle() == SettledSummary(released=1, variants=15)
    # A released statement takes the template's place; a sampled variant is no parent of further ones.
    land_variants(bench.lake)
    assert bench.count() == {(REWRITE, "writer"): 15}
    assert bench.lake.query("select status, failed_count from variant_batches").rows() == [("released", 0)]
    assert bench.settle() == SettledSummary()


def test_a_batch_whose_sample_fails_is_refused_whole_and_the_templates_stay(bench: Bench) -> None:
    bench.draft()
    bench.decide(rejected=1)
    assert bench.settle() == SettledSummary(refused=1)
    assert bench.count() == {("multiple_choice_to_true_false", "template"): 15}
    refused = bench.lake.query("select rule, count(*) from quarantine group by rule").rows()
    assert refused == [("sample_passes_review", 15)]
    # Refused is refused: the same command writes nothing and pays for nothing.
    assert bench.draft().batches == []
    assert bench.settle() == SettledSummary()


def test_what_people_reject_or_whose_key_they_correct_has_failed() -> None:
    sample = pl.DataFrame(
        {
            "outcome": ["accepted", "accepted", "rejected"],
            "answer": [["true"], ["true"], ["false"]],
            "decided_answer": [["true"], ["false"], ["false"]],
        }
    )
    assert count_failed(sample) == 2


def test_a_sample_that_nobody_settled_is_given_out_again_and_the_batch_stays_held(bench: Bench) -> None:
    bench.draft()
    first = open_sample_batch(bench.settings)
    assert first == {"waiting_samples": 3, "sample_batch_id": first["sample_batch_id"]}
    # While people are at it, the same sample is opened only once.
    assert open_sample_batch(bench.settings)["sample_batch_id"] == first["sample_batch_id"]
    land_closed_batches(bench.ledger, bench.lake, "2027-06-01T00:00:00.000000+00:00")
    assert bench.settle() == SettledSummary(held=1)
    second = open_sample_batch(bench.settings)
    assert second["sample_batch_id"] not in (None, first["sample_batch_id"])


def test_the_same_command_again_pays_for_nothing_and_another_method_is_another_batch(bench: Bench) -> None:
    bench.draft()
    before = bench.server.state.requests["writer"]
    assert bench.draft().batches == []
    assert bench.server.state.requests["writer"] == before
    assert bench.draft(REWRITE, "paraphrase").batches == [name_variant_batch("b1", "paraphrase", WRITER)]


def test_a_budget_stops_the_writing_and_more_money_continues_it(bench: Bench) -> None:
    whole = bench.draft("paraphrase").cost_usd
    assert whole > 0
    with pytest.raises(BudgetError):
        bench.draft(budget_usd=whole + 0.003)
    sent = bench.server.state.served["writer"]
    assert bench.lake.landed("variant_batches", [name_variant_batch("b1", REWRITE, WRITER)]) == set()
    done = bench.draft(budget_usd=10.0)
    assert done.drafts == 15
    # What the first attempt paid for was replayed.
    assert done.calls["replayed"] + bench.server.state.served["writer"] - sent == 15
    assert done.calls["replayed"] > 0


def test_calls_that_fail_leave_the_batch_for_the_next_time_and_waste_no_other(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tasks.bank.augment.drafting.ModelClient", _hurried)
    with pytest.raises(VariantsIncomplete, match="calls of 15 got no reply"):
        bench.draft(model=FLAKY)
    for _ in range(8):
        try:
            done = bench.draft(model=FLAKY)
            break
        except VariantsIncomplete:
            continue
    assert (done.drafts, bench.server.state.served["flaky"]) == (15, 15)


def _hurried(ledger: Ledger, settings: Settings, **options: Any) -> Any:
    from tasks.models import ModelClient

    return ModelClient(ledger, settings, most_attempts=1, backoff_s=0.001, **options)


def test_templates_of_other_kinds_are_made_when_they_are_named(bench: Bench) -> None:
    plain = make_accepted("The capital of France is", options=make_options("Paris", "Lyon"), answer=["A"])
    bench.lake.land("review_decisions", "b2", make_frame(plain | {"batch_id": "b2"}))
    summary = land_variants(bench.lake, ["permuted_options", "free_response"], "b2")
    assert (summary.batches, summary.variants) == (2, 2)
    free = bench.lake.query("select question_type, stem, answer from variants where method = 'free_response'")
    assert free.rows() == [("fill_in_the_blank", "The capital of France is ____", ["Paris"])]
    assert land_variants(bench.lake, ["free_response"], "b2").batches == 0


ROOT = Path(__file__).resolve().parents[4]
KILLED = """
import pickle, sys
from pathlib import Path
from schemas.settings import Settings
from tasks.bank.augment.drafting import draft_variants
from warehouse.lake.store import open_lake
from warehouse.ledger.engine.opening import open_ledger

settings, model = Settings(home=Path(sys.argv[1]), call_concurrency=2), pickle.loads(bytes.fromhex(sys.argv[2]))
with open_ledger(settings.ledger_address) as ledger, open_lake(settings) as lake:
    draft_variants(ledger, lake, settings, model, ["declarative_rewrite"])
"""


def kill_and_continue(
    template: Path, folder: Path, rows: list[dict[str, Any]], kills: tuple[int, ...]
) -> None:
    """Kill the writing several times, then finish it here.

    Each time, it is killed once a given number of replies are in the ledger. The result is compared with that of a
    run without a kill.
    """
    found: list[pl.DataFrame] = []
    for name in ("undisturbed", "killed"):
        settings = Settings(home=folder / name, call_concurrency=2)
        copy_home(template, settings)
        with (
            start_server(writer={"kind": "generator", "latency_ms": 4.0}) as server,
            open_ledger(settings.ledger_address) as ledger,
        ):
            with open_lake(settings) as lake:
                lake.land("review_decisions", "b1", make_frame(*rows))
            for target in kills if name == "killed" else ():
                _kill_writing(settings, ledger, server.url, target)
            with pytest.MonkeyPatch.context() as patch, open_lake(settings) as lake:
                patch.setenv("PROCTOR_SIMULATED_URL", server.url)
                assert draft_variants(ledger, lake, settings, WRITER, [REWRITE]).drafts == 3 * len(rows)
                drafts = lake.query("select * from variant_drafts order by question_uuid")
                calls = lake.query("select distinct call_key, status from llm_calls")
            assert drafts.height == calls.height == len(server.state.repeats) == 3 * len(rows)
            assert calls["status"].unique().to_list() == ["done"]
            # Only what was in flight when a process died may have been sent again: two calls at a time.
            assert sum(server.state.repeats.values()) - 3 * len(rows) <= 2 * len(kills)
        found.append(drafts)
    assert found[0].equals(found[1])


def _kill_writing(settings: Settings, ledger: Ledger, url: str, target: int) -> None:
    """Write in a process of its own and kill it when `target` replies are in the ledger."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PROCTOR_")}
    process = subprocess.Popen(
        [sys.executable, "-c", KILLED, str(settings.home), pickle.dumps(WRITER).hex()],
        env=environment | {"PROCTOR_SIMULATED_URL": url, "PROCTOR_QUIET": "1"},
        cwd=ROOT,
        stdin=subprocess.DEVNULL,
    )
    try:
        deadline = time.monotonic() + 600
        while count_done(ledger) < target:
            assert process.poll() is None, "it ended before it could be killed"
            assert time.monotonic() < deadline
            time.sleep(0.02)
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()


def count_done(ledger: Ledger) -> int:
    with ledger.read() as connection:
        return int(
            connection.execute(
                select(func.count()).select_from(llm_calls).where(llm_calls.c.status == "done")
            ).scalar_one()
        )


@pytest.mark.long
def test_writing_that_is_killed_repeats_no_paid_call_and_loses_no_variant(
    template: Path, tmp_path: Path
) -> None:
    kill_and_continue(template, tmp_path, [make_choice(number) for number in range(1, 13)], (11,))


@pytest.mark.long
def test_writing_that_is_killed_again_and_again_repeats_no_paid_call_and_loses_no_variant(
    template: Path, tmp_path: Path
) -> None:
    rows = [make_choice(number) for number in range(1, 301)]
    kill_and_continue(template, tmp_path, rows, (20, 90, 91, 250, 400, 555, 700, 850))
