from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import polars as pl
import pytest

from schemas.errors import GateError
from schemas.tables import get_table
from tasks.bank.dedupe.publish import BankBuild, build_bank, count_left_out
from tests.tasks.bank.augment.conftest import DECIDED, DOCUMENT, NOW, make_accepted, make_frame, make_options
from tests.tasks.bank.dedupe.banks import MemoryBank
from tests.tasks.bank.kit import augment_questions

OTHER_DOCUMENT = "22222222-2222-5222-8222-222222222222"
STEMS = (
    "Light travels fastest in ( ) among the media that are listed here.",
    "The capital of the province in the lower reaches of the river is ( ).",
    "Which of these poets wrote about the war from their own experience?",
)


@dataclass(frozen=True)
class Built:
    """A build, and the bank that it leaves."""

    build: BankBuild
    after: MemoryBank

    @property
    def bank(self) -> pl.DataFrame:
        return self.after.rows

    def __getattr__(self, name: str) -> Any:
        return getattr(self.build, name)


def publish(
    decisions: pl.DataFrame, variants: pl.DataFrame, previous: Built | None = None, **options: Any
) -> Built:
    before = MemoryBank() if previous is None else previous.after
    made = build_bank(decisions, variants, before, **{"now": NOW, **options})
    return Built(made, before.take(made))


def build(*rows: dict[str, Any], previous: Built | None = None, now: datetime = NOW, **options: Any) -> Built:
    """Augment and publish, as the flow does."""
    decisions = make_frame(*rows)
    variants, _ = augment_questions(decisions.filter(pl.col("outcome") == "accepted"), unit="b1", now=now)
    return publish(decisions, variants, previous, now=now, **options)


def list_originals(result: Built) -> set[str]:
    return set(result.bank.filter(pl.col("method") == "original")["question_uuid"])


def test_accepted_questions_and_their_variants_are_the_first_version() -> None:
    rows = [make_accepted(stem) for stem in STEMS]
    result = build(
        *rows, make_accepted("Rejected?", outcome="rejected"), make_accepted("Open?", outcome="undecided")
    )
    assert (result.version, result.is_unchanged, result.bank.height) == (1, False, 15)
    assert list_originals(result) == {row["question_uuid"] for row in rows}
    version = result.bank_versions.row(0, named=True)
    assert (version["question_count"], version["lineage_count"], version["duplicate_count"]) == (15, 3, 0)
    assert set(result.bank["from_version"]) == {1}
    assert result.bank.columns == [column.name for column in get_table("bank_contents").own_columns]


def test_the_same_content_is_the_same_version() -> None:
    rows = [make_accepted(stem) for stem in STEMS]
    first = build(*rows)
    again = build(*reversed(rows), previous=first, now=NOW + timedelta(days=30))
    assert (again.version, again.is_unchanged) == (1, True)
    assert [again.contents.height, again.exits.height, again.bank_versions.height] == [0, 0, 0]


def test_new_content_is_the_next_version_and_keeps_what_was_there() -> None:
    first = build(make_accepted(STEMS[0]))
    second = build(make_accepted(STEMS[0]), make_accepted(STEMS[1]), previous=first)
    only_new = build(make_accepted(STEMS[1]), previous=first)
    assert (second.version, second.bank.height) == (2, 10)
    assert only_new.bank.equals(second.bank)


def test_a_lineage_rejected_later_is_left_out_of_the_next_version() -> None:
    rows = [make_accepted(stem) for stem in STEMS[:2]]
    first = build(*rows)
    later = {**rows[0], "outcome": "rejected", "batch_id": "b2", "decided_at": DECIDED + timedelta(days=1)}
    second = build(*rows, later, previous=first)
    assert (second.version, second.bank.height) == (2, 5)
    assert second.retired_lineages == [rows[0]["lineage_uuid"]]
    third = build(rows[1], previous=first, retired=[rows[0]["lineage_uuid"]])
    assert third.bank.equals(second.bank)


def test_a_retired_lineage_takes_carried_variants_with_it() -> None:
    rows = [make_accepted(stem) for stem in STEMS[:2]]
    first = build(*rows)
    result = publish(make_frame(), get_table("variants").frame([]), first, retired=[rows[0]["lineage_uuid"]])
    assert set(result.exits["reason"]) == {"retired"}
    assert set(result.bank["lineage_uuid"]) == {rows[1]["lineage_uuid"]}


def test_an_undecided_second_review_changes_nothing() -> None:
    row = make_accepted(STEMS[0])
    later = {**row, "outcome": "undecided", "batch_id": "b2", "decided_at": DECIDED + timedelta(days=1)}
    first = build(row)
    assert build(row, later, previous=first).is_unchanged


def test_an_edited_question_brings_its_own_variants_and_drops_the_old_ones() -> None:
    row = make_accepted(STEMS[0])
    first = build(row)
    edited = {
        **row,
        "revision": 2,
        "batch_id": "b2",
        "was_edited": True,
        "options": make_options("air", "water", "glass", "vacuum"),
        "answer": ["D"],
        "decided_at": DECIDED + timedelta(days=1),
    }
    decisions = make_frame(row, edited)
    old, _ = augment_questions(make_frame(row), unit="b1", now=NOW)
    new, _ = augment_questions(make_frame(edited), unit="b2", now=NOW)
    variants = pl.concat(
        [old.with_columns(landing_unit=pl.lit("b1")), new.with_columns(landing_unit=pl.lit("b2/model"))]
    )
    result = publish(decisions, variants, first)
    assert result.version == 2
    assert result.bank.filter(pl.col("method") == "original").row(0, named=True)["revision"] == 2
    assert set(result.bank.filter(pl.col("method") != "original")["question_uuid"]) == set(
        new["question_uuid"]
    )


@pytest.mark.parametrize(
    ("has_other_key", "reason"),
    [
        (False, "the same question in another document: the reviewed copy stays"),
        (
            True,
            "the same question in another document, where another key is printed: the reviewed copy stays",
        ),
    ],
)
def test_a_copy_in_another_document_is_recorded_and_not_doubled(has_other_key: bool, reason: str) -> None:
    row = make_accepted(STEMS[0])
    occurrences = pl.DataFrame(
        {
            "question_uuid": [row["question_uuid"]] * 3,
            "document_id": [DOCUMENT, OTHER_DOCUMENT, OTHER_DOCUMENT],
            "has_other_key": [False, has_other_key, has_other_key],
        }
    )
    result = build(row, find_occurrences=lambda _: occurrences)
    assert result.bank.height == 5
    assert result.duplicates.rows() == [
        (
            1,
            row["question_uuid"],
            row["question_uuid"],
            DOCUMENT,
            OTHER_DOCUMENT,
            "exact",
            1.0,
            reason,
        )
    ]


def test_options_in_another_order_are_an_exact_duplicate_and_take_their_variants_along() -> None:
    kept = make_accepted(STEMS[0], options=make_options("air", "vacuum"), answer=["B"])
    copy = make_accepted(
        STEMS[0],
        options=make_options("vacuum", "air"),
        answer=["A"],
        document_id=OTHER_DOCUMENT,
        decided_at=DECIDED + timedelta(days=1),
    )
    result = build(copy, kept)
    assert list_originals(result) == {kept["question_uuid"]}
    assert result.bank.height == 3
    row = result.duplicates.row(0, named=True)
    assert (row["kept_uuid"], row["dropped_uuid"], row["method"], row["similarity"], row["reason"]) == (
        kept["question_uuid"],
        copy["question_uuid"],
        "exact",
        1.0,
        "it was accepted earlier",
    )


def test_contradicting_answers_of_one_content_are_named() -> None:
    one = make_accepted(STEMS[0], options=make_options("air", "vacuum"), answer=["B"])
    other = make_accepted(STEMS[0], options=make_options("vacuum", "air"), answer=["B"])
    result = build(one, other)
    assert result.duplicates["reason"][0].endswith("their answers differ, so look at both")


@pytest.mark.parametrize(
    ("better", "worse", "reason"),
    [
        ({"accept_count": 3}, {"accept_count": 2}, "more reviewers accepted it"),
        ({}, {"explanation": None}, "it has the longer explanation"),
        ({}, {"sub_discipline": None}, "more is known about it (discipline, sub-discipline, source)"),
        ({}, {"decided_at": DECIDED + timedelta(hours=1)}, "it was accepted earlier"),
    ],
)
def test_which_copy_stays_and_why(better: dict[str, Any], worse: dict[str, Any], reason: str) -> None:
    first = make_accepted(STEMS[0], **better)
    second = make_accepted("Note: " + STEMS[0], **worse)
    result = build(second, first)
    row = result.duplicates.row(0, named=True)
    assert (row["kept_uuid"], row["method"], row["reason"]) == (first["question_uuid"], "near", reason)
    assert 0.8 <= row["similarity"] < 1


def test_a_question_of_the_bank_is_never_displaced_by_a_better_new_one() -> None:
    old = make_accepted(STEMS[0], explanation=None, accept_count=1)
    first = build(old)
    better = make_accepted("Note: " + STEMS[0], accept_count=5)
    second = build(old, better, previous=first)
    assert second.is_unchanged
    assert second.duplicates["reason"].to_list() == ["it is in the bank already"]
    assert second.duplicates["bank_version"].to_list() == [1]


def test_equal_stems_with_different_options_are_not_duplicates() -> None:
    one = make_accepted(
        "下列说法正确的是（ ）", options=make_options("甲地多雨", "乙地少雨"), answer=["A"], language="zh"
    )
    other = make_accepted(
        "下列说法正确的是（ ）", options=make_options("金属导电", "木材导电"), answer=["A"], language="zh"
    )
    result = build(one, other)
    assert list_originals(result) == {one["question_uuid"], other["question_uuid"]}
    assert result.duplicates.is_empty()


def test_siblings_of_one_question_are_not_duplicates_of_each_other() -> None:
    row = make_accepted(
        STEMS[0],
        options=make_options("a vacuum chamber", "a vacuum chamberr", "a vacuum chambers"),
        answer=["A"],
    )
    result = build(row)
    assert (result.bank.height, result.duplicates.height) == (4, 0)


def test_a_variant_that_equals_one_of_another_lineage_is_dropped_alone() -> None:
    one = make_accepted(STEMS[0], options=make_options("air", "vacuum"), answer=["B"])
    other = make_accepted(STEMS[0], options=make_options("vacuum", "syrup", "oil"), answer=["A"])
    result = build(one, other)
    assert len(list_originals(result)) == 2
    assert result.bank.height == 2 + 2 + 3 - 1
    assert result.duplicates["method"].to_list() == ["exact"]


def test_a_variant_dropped_once_stays_dropped_when_both_lineages_are_built_again() -> None:
    one = make_accepted(STEMS[0], options=make_options("air", "vacuum"), answer=["B"])
    other = make_accepted(STEMS[0], options=make_options("vacuum", "syrup", "oil"), answer=["A"])
    first = build(one, other)
    again = build(other, one, previous=first)
    assert again.is_unchanged
    assert first.bank["question_uuid"].is_unique().all()
    assert again.duplicates.height == first.duplicates.height == 1


def test_small_differences_do_not_chain_into_strangers() -> None:
    words = [
        "amber",
        "brook",
        "cedar",
        "delta",
        "ember",
        "fjord",
        "grove",
        "haven",
        "inlet",
        "jetty",
        "knoll",
        "ledge",
        "marsh",
        "north",
        "orbit",
    ]
    chain = [" ".join(words[start : start + 13]) for start in range(3)]
    rows = [
        make_accepted(
            stem,
            question_type="short_answer",
            options=[],
            answer=[f"Because {place}."],
            decided_at=DECIDED + timedelta(hours=place),
        )
        for place, stem in enumerate(chain)
    ]
    result = build(*rows, threshold=0.8)
    assert list_originals(result) == {rows[0]["question_uuid"], rows[2]["question_uuid"]}
    assert result.duplicates.select("kept_uuid", "dropped_uuid").rows() == [
        (rows[0]["question_uuid"], rows[1]["question_uuid"])
    ]


def test_an_accepted_question_that_breaks_a_format_rule_stays_out_and_is_counted() -> None:
    result = build(make_accepted(STEMS[0]), make_accepted(STEMS[1], answer=["E"]))
    assert (len(list_originals(result)), result.refused) == (1, {"key_is_among_labels": 1})


def test_a_variant_rejected_in_review_stays_out() -> None:
    row = make_accepted(STEMS[0])
    variants, _ = augment_questions(make_frame(row), unit="b1", now=NOW)
    judged = variants.row(0, named=True)
    decision = {
        **make_accepted("x"),
        **{name: judged[name] for name in ("question_uuid", "lineage_uuid", "stem", "options", "answer")},
        "question_type": "true_false",
        "document_id": None,
        "batch_id": "b2",
        "outcome": "rejected",
    }
    result = publish(make_frame(row, decision), variants)
    assert judged["question_uuid"] not in set(result.bank["question_uuid"])
    assert result.bank.height == 4
    later = publish(make_frame(row, decision), variants, build(row))
    assert later.exits.select("question_uuid", "reason").rows() == [(judged["question_uuid"], "rejected")]


def test_a_variant_corrected_in_review_enters_as_corrected() -> None:
    row = make_accepted(STEMS[0])
    variants, _ = augment_questions(make_frame(row), unit="b1", now=NOW)
    judged = variants.row(0, named=True)
    decision = {
        **make_accepted("x"),
        **{name: judged[name] for name in ("question_uuid", "lineage_uuid", "options", "answer")},
        "stem": "Is air the medium in which light is fastest?",
        "question_type": "true_false",
        "revision": 2,
        "batch_id": "b2",
    }
    result = publish(make_frame(row, decision), variants)
    corrected = result.bank.filter(pl.col("question_uuid") == judged["question_uuid"]).row(0, named=True)
    assert (corrected["stem"], corrected["revision"]) == ("Is air the medium in which light is fastest?", 2)


def test_nothing_accepted_is_no_bank() -> None:
    with pytest.raises(GateError, match="No question is accepted yet"):
        build(make_accepted(STEMS[0], outcome="rejected"))


def test_the_content_hash_follows_from_uuids_and_revisions_alone() -> None:
    rows = [make_accepted(stem) for stem in STEMS]
    one = build(*rows, now=datetime(2027, 1, 1, tzinfo=UTC)).bank_versions["content_hash"][0]
    assert one == build(*reversed(rows)).bank_versions["content_hash"][0]
    assert one != build(*rows[:2]).bank_versions["content_hash"][0]


def test_each_copy_of_a_question_that_has_left_is_told_and_none_is_counted_as_left_out() -> None:
    stem = "Light travels the fastest of all in ( ) among the many media that are listed here below for the reader."
    former = make_accepted(stem)
    copies = [make_accepted(f"Please note well: {stem}"), make_accepted(f"{stem} Choose one here now.")]
    first = build(former)
    left = build(previous=first, retired=[former["question_uuid"]])
    came = build(*copies, previous=left, retired=[former["question_uuid"]])
    # They are no copies of each other, so that both are in the bank.
    told = came.duplicates.filter(pl.col("dropped_uuid") == former["question_uuid"])
    assert list_originals(came) == {copy["question_uuid"] for copy in copies} == set(told["kept_uuid"])
    assert came.bank_versions["duplicate_count"].item() == 0
    assert count_left_out(came.duplicates) == 0
