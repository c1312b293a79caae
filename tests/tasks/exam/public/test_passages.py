"""Questions about one text: a set has one of them, and nobody meets the text again."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from schemas.errors import GateError
from schemas.settings import Settings
from tasks.bank import retire_question
from tasks.exam.plan.bank import BankIndex, DisciplineShare, Masks, draw_set, index_bank
from tasks.exam.public import verifier
from tasks.exam.public.bank import BankRows, LakeRows, lineage_name, read_blinding_secret
from tasks.exam.public.draws.disclosing import disclose_closed_runs
from tests.fresh import open_new_lake
from tests.hunts import tries
from tests.second_verifier import verify as second
from tests.tasks.bank.augment.conftest import make_accepted, make_options
from tests.tasks.bank.dedupe.test_landing import STEMS, land_batch
from tests.tasks.bank.dedupe.test_landing import publish as publish_bank
from tests.tasks.exam.public.test_sealed_draws import ALPHA, BETA, GAMMA, REGISTRY, RHO
from tests.tasks.exam.world import (
    DISCIPLINES,
    SECRET,
    answer_run,
    make_bank,
    make_model,
    make_registry,
    make_settings,
    make_uuid,
    publish,
)
from tests.warehouse.bank_rows import land_bank_rows
from warehouse.lake import open_lake
from warehouse.ledger.engine.ledger import Ledger

SIZE = 5
# Its organisation answers every set as the reference.
SIGMA = make_model("sigma", "rho labs")
TEAMS = make_registry(ALPHA, BETA, GAMMA, RHO, SIGMA)


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


def draw_from(index: BankIndex, share: int, key: str, masks: Masks | None = None) -> list[str]:
    masks = masks or Masks(excluded=index.make_mask(), avoided=index.make_mask())
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


@pytest.mark.parametrize("put_off", ["avoided", "rested"])
def test_a_passage_comes_again_only_after_what_is_put_off(put_off: str) -> None:
    bank = make_passages(40, shared=30)
    texts, index = name_texts(bank), index_bank(bank, DISCIPLINES, SECRET)
    alone = index.passages < 0
    masks = Masks(**{"excluded": index.make_mask(), "avoided": index.make_mask(), put_off: alone})

    drawn = draw_from(index, 17, "key", masks)

    # Six texts, all ten questions without one, and one of a text again.
    assert sum(lineage not in texts for lineage in drawn) == 10 * len(DISCIPLINES)
    assert len({texts[lineage] for lineage in drawn if lineage in texts}) == 6 * len(DISCIPLINES)


def test_a_text_that_one_question_has_alone_is_no_passage() -> None:
    bank = make_passages(10, shared=1)
    index = index_bank(bank, DISCIPLINES, SECRET)

    assert set(index.passages.tolist()) == {-1}
    assert [index.name_shared(position) for position in range(3)] == [[]] * 3


def test_a_question_that_is_in_the_bank_and_not_examined_shares_its_text_all_the_same() -> None:
    bank = make_bank(2).with_columns(material=pl.lit("The text of all."))
    law = index_bank(bank.filter(pl.col("discipline") == "Law"), ("Law",), SECRET)
    index = index_bank(bank, ("Law",), SECRET)

    assert index.passages.tolist() == law.passages.tolist() == [0, 0]
    assert law.name_shared(0) == law.name_shared(1) == index.name_shared(1)
    others = sorted(
        lineage_name(SECRET, make_uuid(f"{name}-{number}"))
        for name in ("Engineering", "History")
        for number in range(2)
    )
    assert index.name_shared(0) == [*law.name_shared(0), *others]
    assert index.locate_read([make_uuid("History-1")]).tolist() == [0, 1]
    assert index.locate_read([make_uuid("Law-1"), make_uuid("nobody")]).tolist() == []


@pytest.mark.hunt
def test_a_question_of_a_passage_is_drawn_about_as_often_as_any_other() -> None:
    bank = make_passages(60, shared=30)
    texts, drawn = name_texts(bank), Counter[str]()
    index = index_bank(bank, DISCIPLINES, SECRET)
    for number in range(tries(300, 1_500)):
        drawn.update(draw_from(index, 6, f"key {number}"))

    of_passages = sum(count for lineage, count in drawn.items() if lineage in texts)

    # Half of the bank; that a text comes once takes a little from it: 6 of 60 drawn, so about a tenth of repeated texts.
    assert 0.44 < of_passages / sum(drawn.values()) < 0.5


def sit(
    ledger: Ledger, settings: Settings, bank: pl.DataFrame | BankRows, run_id: str, names: list[str]
) -> set[str]:
    """The lineages of the new set of the run, by their public names."""
    publish(ledger, settings, TEAMS, bank, candidates=names, run_id=run_id, seed=run_id)
    answer_run(ledger, run_id)
    assert disclose_closed_runs(ledger, settings) == [run_id]
    lines = (settings.home / f"public/runs/{run_id}/sets.jsonl").read_text().splitlines()
    return {
        item[0] for line in map(json.loads, lines) if line["drawn_in"] == run_id for item in line["items"]
    }


def test_nobody_meets_a_text_again_and_both_verifiers_see_that(ledger: Ledger, tmp_path: Path) -> None:
    settings = make_settings(tmp_path, set_size=18, set_policy="unique", anchor_share=0.2)
    bank = make_passages(80, shared=50)

    drawn = [sit(ledger, settings, bank, run, ["alpha"]) for run in ("a", "b", "c")]

    (path,) = (settings.home / "public/banks").glob("*.jsonl")
    lines = [json.loads(line) for line in path.read_text().splitlines()[1:]]
    texts = {line[0]: line[4] for line in lines if len(line) == 5}
    assert len(texts) == 50 * len(DISCIPLINES)
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


Change = Callable[[pl.DataFrame, set[str]], pl.DataFrame]


def retire(bank: pl.DataFrame, met: set[str]) -> pl.DataFrame:
    return bank.filter(~pl.col("lineage_uuid").is_in(sorted(met)))


def edit(bank: pl.DataFrame, met: set[str]) -> pl.DataFrame:
    """Other words in the text of the questions that were asked."""
    is_met = pl.col("lineage_uuid").is_in(sorted(met))
    return bank.with_columns(
        material=pl.when(is_met).then(pl.col("material") + " In other words.").otherwise("material"),
        revision=pl.when(is_met).then(2).otherwise("revision"),
    )


def make_pairs(count: int) -> pl.DataFrame:
    """A bank of questions of which every two ask about one text."""
    bank = make_bank(count, variants=1, has_keys=True)
    names = {
        make_uuid(f"{discipline}-{number}"): f"The text {number // 2} of {discipline}."
        for discipline in DISCIPLINES
        for number in range(count)
    }
    return bank.with_columns(material=pl.col("lineage_uuid").replace_strict(names, return_dtype=pl.String))


class History:
    """A bank whose versions follow each other, and the runs that are drawn from them."""

    def __init__(self, ledger: Ledger, folder: Path, **wishes: object) -> None:
        self.ledger, self.folder = ledger, folder
        self.settings = make_settings(folder / "home", set_size=18, anchor_share=0, **wishes)
        self.versions: list[pl.DataFrame] = []
        self.secret = read_blinding_secret(self.settings)

    def publish(self, bank: pl.DataFrame) -> None:
        self.versions.append(bank.with_columns(bank_version=pl.lit(len(self.versions) + 1, dtype=pl.Int64)))

    def sit(self, run: str, *names: str) -> set[str]:
        """The lineages of what these candidates sit in a run on the latest version."""
        lake_home = make_settings(self.folder / "lake")
        with open_lake(lake_home) as lake:
            land_bank_rows(lake, pl.concat(self.versions))
            drawn = sit(self.ledger, self.settings, LakeRows(lake), run, list(names))
        names_of = {
            lineage_name(self.secret, one).hex(): one
            for one in pl.concat(self.versions)["lineage_uuid"].unique()
        }
        return {names_of[name] for name in drawn}

    def list_faults(self) -> set[str]:
        public = self.settings.home / "public"
        faults = [*(fault[0] for fault in verifier.verify(str(public)).faults)]
        faults += [fault.split(":")[0] for fault in second.verify(public)]
        # No head is signed in these tests.
        return set(faults) - {"file_missing"}

    def read_bank(self) -> list[list[object]]:
        """The lines of the file of the latest version."""
        for path in (self.settings.home / "public/banks").glob("*.jsonl"):
            first, *lines = map(json.loads, path.read_text().splitlines())
            if first["bank_version"] == len(self.versions):
                return lines
        raise AssertionError


@pytest.mark.parametrize("change", [pytest.param(retire, marks=pytest.mark.long), edit])
def test_a_text_once_read_is_not_met_again_when_its_question_has_left_the_bank_or_was_edited(
    ledger: Ledger, tmp_path: Path, change: Change
) -> None:
    history, bank = History(ledger, tmp_path, set_policy="unique"), make_pairs(40)
    texts = name_texts(bank)
    history.publish(bank)
    met = history.sit("a", "alpha")
    history.publish(change(bank, met))
    later = history.sit("b", "alpha")

    read = [{texts[lineage] for lineage in drawn} for drawn in (met, later)]

    assert (*map(len, read), len(set.union(*read))) == (18, 18, 36)
    assert history.list_faults() == set()


def test_a_text_once_read_is_not_met_again_where_its_other_question_is_new(
    ledger: Ledger, tmp_path: Path
) -> None:
    history, bank = History(ledger, tmp_path, set_policy="unique"), make_pairs(40)
    texts = name_texts(bank)
    # At first the bank has one question of every text.
    alone = bank.filter(
        pl.col("lineage_uuid").is_in(list({text: one for one, text in texts.items()}.values()))
    )
    history.publish(alone)
    met = history.sit("a", "alpha")
    assert {len(line) for line in history.read_bank()} == {4}
    # Of the texts that it read the questions are retired, and the other ones come.
    history.publish(retire(bank, met))
    later = history.sit("b", "alpha")

    assert len({texts[lineage] for lineage in met | later}) == 36
    assert history.list_faults() == set()


@pytest.mark.long
def test_a_text_of_which_one_question_is_left_before_the_first_run_is_asked_like_any_other(
    ledger: Ledger, tmp_path: Path
) -> None:
    history, bank = History(ledger, tmp_path, set_policy="unique"), make_pairs(40)
    texts = name_texts(bank)
    left = set({text: one for one, text in texts.items()}.values())
    history.publish(bank)
    history.publish(bank.filter(pl.col("lineage_uuid").is_in(sorted(left))))
    met = history.sit("a", "alpha")
    assert {len(line) for line in history.read_bank()} == {6}
    # What left comes back: nobody was asked it, and yet its text was read.
    history.publish(bank)
    history.publish(retire(bank, met))
    later = history.sit("b", "alpha")

    assert len({texts[lineage] for lineage in met | later}) == 36
    assert history.list_faults() == set()


def test_whoever_sat_a_set_has_read_its_texts_after_its_questions_left_and_so_has_the_reference(
    ledger: Ledger, tmp_path: Path
) -> None:
    history, bank = History(ledger, tmp_path, set_policy="shared"), make_pairs(60)
    texts = name_texts(bank)
    history.publish(bank)
    met = history.sit("a", "alpha", "beta")
    history.publish(retire(bank, met))
    later = history.sit("b", "alpha", "gamma") | history.sit("c", "beta")
    read = {texts[lineage] for lineage in met}
    assert read.isdisjoint(texts[lineage] for lineage in later)
    history.publish(retire(bank, met | later))
    last = history.sit("d", "sigma")

    assert (read | {texts[lineage] for lineage in later}).isdisjoint(texts[lineage] for lineage in last)
    assert history.list_faults() == set()


@pytest.mark.parametrize(
    ("copy", "arrives_later"),
    [
        pytest.param(make_accepted("Note: " + STEMS[0]), False, marks=pytest.mark.long),
        (make_accepted(STEMS[0], options=make_options("119", "52", "39", "111"), answer=["D"]), True),
    ],
)
def test_a_copy_that_comes_in_for_a_retired_question_is_not_put_to_who_has_met_that_one(
    ledger: Ledger, tmp_path: Path, copy: dict[str, Any], arrives_later: bool
) -> None:
    settings = make_settings(
        tmp_path, disciplines=("Engineering",), set_size=1, set_policy="unique", anchor_share=0
    )
    met = make_accepted(STEMS[0])
    with open_new_lake(settings) as lake:
        land_batch(lake, "b1", met)
        publish_bank(lake, settings)
        land_batch(lake, "b2", make_accepted(STEMS[1]), *(() if arrives_later else (copy,)))
        (first,) = sit(ledger, settings, LakeRows(lake), "a", ["alpha"])
        retire_question(lake, settings, met["question_uuid"], "the key is wrong")
        land_batch(lake, "b3", *((copy,) if arrives_later else ()))
        publish_bank(lake, settings)
        assert copy["lineage_uuid"] in lake.read("bank_members")["lineage_uuid"]
        (later,) = sit(ledger, settings, LakeRows(lake), "b", ["alpha"])
        with pytest.raises(GateError, match="too few questions that 'alpha labs' has not met"):
            sit(ledger, settings, LakeRows(lake), "c", ["alpha"])

    secret = read_blinding_secret(settings)
    assert first == lineage_name(secret, met["lineage_uuid"]).hex()
    assert later != lineage_name(secret, copy["lineage_uuid"]).hex()
    public = settings.home / "public"
    faults = [*(fault[0] for fault in verifier.verify(str(public)).faults)]
    faults += [fault.split(":")[0] for fault in second.verify(public)]
    assert set(faults) <= {"file_missing"}
