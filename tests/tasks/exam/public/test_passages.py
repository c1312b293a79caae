"""Questions about one text: a set has one of them, and nobody meets the text again."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import polars as pl

from schemas.settings import Settings
from tasks.exam.plan.bank import BankIndex, DisciplineShare, Masks, draw_set, index_bank
from tasks.exam.public import verifier
from tasks.exam.public.draws.disclosing import disclose_closed_runs
from tests.second_verifier import verify as second
from tests.tasks.exam.public.test_sealed_draws import REGISTRY
from tests.tasks.exam.world import (
    DISCIPLINES,
    SECRET,
    answer_run,
    make_bank,
    make_settings,
    make_uuid,
    publish,
)
from warehouse.ledger.engine.ledger import Ledger

SIZE = 5


def make_passages(lineages: int, *, shared: int) -> pl.DataFrame:
    """A bank whose first `shared` lineages of each discipline ask about texts, five about each."""
    texts = {
        make_uuid(f"{discipline}-{number}"): f"The text {number // SIZE}\n of {discipline}."
        for discipline in DISCIPLINES
        for number in range(shared)
    }
    bank = make_bank(lineages, variants=1, has_keys=True)
    return bank.with_columns(
        material=pl.col("lineage_uuid").replace_strict(texts, default=None, return_dtype=pl.String)
    )


def name_texts(bank: pl.DataFrame) -> dict[str, str]:
    return dict(bank.drop_nulls("material").select("lineage_uuid", "material").iter_rows())


def draw(bank: pl.DataFrame, share: int, key: str) -> list[str]:
    return draw_from(index_bank(bank, DISCIPLINES, SECRET), share, key)


def draw_from(index: BankIndex, share: int, key: str) -> list[str]:
    masks = Masks(excluded=index.make_mask(), avoided=index.make_mask())
    shares = [DisciplineShare(discipline, share, 0) for discipline in DISCIPLINES]
    return [
        item.lineage_uuid
        for item in draw_set(index, shares, masks, asked={}, seed=key.encode(), set_id="set")
    ]


def test_a_passage_comes_once_and_again_only_where_there_is_nothing_else() -> None:
    bank = make_passages(40, shared=30)
    texts = name_texts(bank)

    # Six texts and ten questions without one: sixteen can come without a text twice.
    for number in range(20):
        counts = Counter(texts[lineage] for lineage in draw(bank, 16, f"few {number}") if lineage in texts)
        assert set(counts.values()) == {1}
    counts = Counter(texts[lineage] for lineage in draw(bank, 20, "many") if lineage in texts)

    assert sum(counts.values()) == 10 * len(DISCIPLINES)
    assert len(counts) == 6 * len(DISCIPLINES)


def test_a_text_that_one_question_has_alone_is_no_passage() -> None:
    bank = make_passages(10, shared=1)
    index = index_bank(bank, DISCIPLINES, SECRET)

    assert set(index.passages.tolist()) == {-1}
    assert [index.name_passage(position) for position in range(3)] == [None] * 3


def test_a_question_of_a_passage_is_drawn_about_as_often_as_any_other() -> None:
    bank = make_passages(60, shared=30)
    texts, drawn = name_texts(bank), Counter[str]()
    index = index_bank(bank, DISCIPLINES, SECRET)
    for number in range(1_500):
        drawn.update(draw_from(index, 6, f"key {number}"))

    of_passages = sum(count for lineage, count in drawn.items() if lineage in texts)

    # Half of the bank; that a text comes once takes a little from it: 6 of 60 drawn, so about a tenth of repeated texts.
    assert 0.44 < of_passages / sum(drawn.values()) < 0.5


def sit(ledger: Ledger, settings: Settings, bank: pl.DataFrame, run_id: str, names: list[str]) -> set[str]:
    """The lineages of the new set of the run, by their public names."""
    publish(ledger, settings, REGISTRY, bank, candidates=names, run_id=run_id, seed=run_id)
    answer_run(ledger, run_id)
    assert disclose_closed_runs(ledger, settings) == [run_id]
    lines = (settings.home / f"public/runs/{run_id}/sets.jsonl").read_text().splitlines()
    return {
        item[0] for line in map(json.loads, lines) if line["drawn_in"] == run_id for item in line["items"]
    }


def test_nobody_meets_a_text_again_and_both_verifiers_see_that(ledger: Ledger, tmp_path: Path) -> None:
    settings = make_settings(tmp_path, set_size=18, set_policy="unique", anchor_share=0.2)
    bank = make_passages(80, shared=30)

    drawn = [sit(ledger, settings, bank, run, ["alpha"]) for run in ("a", "b", "c")]

    (path,) = (settings.home / "public/banks").glob("*.jsonl")
    lines = [json.loads(line) for line in path.read_text().splitlines()[1:]]
    texts = {line[0]: line[4] for line in lines if len(line) == 5}
    assert len(texts) == 30 * len(DISCIPLINES)
    met = [{texts[lineage] for lineage in lineages if lineage in texts} for lineages in drawn]
    assert all(met)
    assert len(met[0] | met[1] | met[2]) == sum(map(len, met))
    faults = [*(fault[0] for fault in verifier.verify(str(settings.home / "public")).faults)]
    faults += [fault.split(":")[0] for fault in second.verify(settings.home / "public")]
    # No head is signed in these tests.
    assert set(faults) <= {"file_missing"}


def test_a_plan_says_how_many_questions_ask_about_a_text_that_the_set_has_already(
    ledger: Ledger, tmp_path: Path
) -> None:
    counts = []
    for run, size in (("a", 48), ("b", 60)):
        settings = make_settings(tmp_path, set_size=size, set_policy="unique", anchor_share=0, lasting_sets=1)
        bank = make_passages(40, shared=30)
        plan = publish(
            ledger, settings, REGISTRY, bank, candidates=["alpha" if run == "a" else "beta"], run_id=run
        )
        counts.append([taken.repeated_count for taken in plan.sets])

    # Of each discipline six texts and ten questions without one.
    assert counts == [[0], [4 * len(DISCIPLINES)]]


def test_what_was_drawn_before_texts_were_kept_apart_stands(ledger: Ledger, tmp_path: Path) -> None:
    settings = make_settings(tmp_path, set_size=18, set_policy="unique")
    bank = make_passages(80, shared=30)
    plain = bank.with_columns(material=pl.lit(None, dtype=pl.String))

    for run in ("a", "b"):
        sit(ledger, settings, plain, run, ["alpha"])
    later = sit(ledger, settings, bank.with_columns(bank_version=pl.lit(2)), "c", ["alpha"])

    assert later
    found = verifier.verify(str(settings.home / "public")).faults
    assert {fault[0] for fault in found} <= {"file_missing"}
