"""Candidates that saw pictures and candidates that did not stand in no number together."""

from __future__ import annotations

import json
from collections.abc import Collection
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from schemas.settings import Settings
from tasks.editions.roots import find_changed_editions, publish_and_keep_root
from tests.fresh import open_new_lake
from tests.tasks.editions.season import land_frames
from tests.tasks.report.synthetic import REFERENCE, build_season
from tests.warehouse.bank_rows import BANK, land_bank_rows
from warehouse.lake import Lake
from warehouse.ledger.engine.opening import open_ledger
from warehouse.ledger.trust.editions import read_roots

JUNE = "run-2025-06"
BLIND = "south-chat"


def make_frames(
    blind: Collection[str], both: str = "", repeats: int = 2
) -> tuple[dict[str, pl.DataFrame], pl.DataFrame]:
    """A month in which a question of each discipline of a set shows a picture, and its bank.

    `blind` are told in words what it shows; `both` is told so in its second repeat alone.
    """
    frames = build_season(months=("2025-06",), unparsed_rate=0.0, repeats=repeats)
    asked = frames["sets"].sort("set_id", "discipline", "question_uuid")
    shown = set(asked.group_by("set_id", "discipline").agg(pl.col("question_uuid").first())["question_uuid"])
    bank = BANK.frame(
        [
            {
                "bank_version": 1,
                "question_uuid": row["question_uuid"],
                "revision": 1,
                "lineage_uuid": row["lineage_uuid"],
                "method": "original",
                "document_id": row["lineage_uuid"],
                "question_type": "short_answer",
                "discipline": row["discipline"],
                "source_kind": "other",
                "language": "en",
                "stem": f"What does [picture:1] show in {row['question_uuid']}?",
                "options": [],
                "answer": ["a key"],
                "pictures": [{"number": 1, "sha256": "0" * 64, "place": place}],
            }
            for row in asked.unique("question_uuid", maintain_order=True).iter_rows(named=True)
            for place in ["stem" if row["question_uuid"] in shown else "answer"]
        ]
    )
    is_told = pl.col("model").is_in(list(blind)) | ((pl.col("model") == both) & (pl.col("repeat") == 2))
    way = pl.when(is_told).then(pl.lit("v1/alt_text")).otherwise(pl.lit("v1/pictures"))
    frames["responses"] = frames["responses"].with_columns(
        prompt_version=pl.when(pl.col("question_uuid").is_in(list(shown))).then(way).otherwise(pl.lit("v1"))
    )
    return frames, bank.with_columns(has_shown=pl.col("question_uuid").is_in(list(shown)))


def publish(settings: Settings, frames: dict[str, pl.DataFrame], bank: pl.DataFrame) -> dict[str, Any]:
    with open_new_lake(settings) as lake, open_ledger(settings.ledger_address) as ledger:
        land_frames(lake, frames)
        land_bank_rows(lake, bank.drop("has_shown"))
        publish_and_keep_root(ledger, lake, settings, JUNE)
        with ledger.read() as connection:
            assert find_changed_editions(lake, read_roots(connection)) == []
        return read_edition(lake)


def read_edition(lake: Lake) -> dict[str, Any]:
    scores = (
        "SELECT * FROM edition_scores WHERE discipline = 'all' AND prompt_style = 'zero_shot' ORDER BY model"
    )
    series = scores.replace("edition_scores", "edition_series").replace("BY", "BY series DESC,")
    return {
        "scope": lake.query("SELECT picture_scope FROM editions").item(),
        "scores": lake.query(scores),
        "series": lake.query(series),
        "pairs": lake.query(
            "SELECT DISTINCT pair_count FROM edition_pairs WHERE discipline = 'all' AND prompt_style = 'zero_shot'"
        ),
        "table": lake.run_named("picture_series"),
        "board": lake.run_named("leaderboard"),
    }


def score(
    frames: dict[str, pl.DataFrame], bank: pl.DataFrame, model: str, *, is_text_only: bool
) -> float | None:
    """S by its formula from the stars of the first judge."""
    kept = bank.filter(~pl.col("has_shown")) if is_text_only else bank
    stars = (
        frames["judgements"]
        .filter(judge="judge-a", model=model, prompt_style="zero_shot")
        .join(kept.select("question_uuid", "discipline"), on="question_uuid")
    )
    questions = stars.group_by("discipline", "question_uuid").agg(pl.col("stars").mean())
    value = questions.group_by("discipline").agg(pl.col("stars").mean())["stars"].mean()
    assert isinstance(value, float)
    return value / 3 * 100


def test_where_one_did_not_see_all_are_compared_on_the_rest_and_the_public_files_say_so(
    settings: Settings,
) -> None:
    frames, bank = make_frames([BLIND])
    found = publish(settings, frames, bank)
    assert found["scope"] == "text_only"
    # 10 disciplines with 4 questions in 2 sets, of which each has one with a picture.
    assert set(found["scores"]["item_count"]) == {60}
    assert set(found["pairs"]["pair_count"]) == {60}
    for row in found["scores"].iter_rows(named=True):
        assert row["score"] == pytest.approx(score(frames, bank, row["model"], is_text_only=True))
    assert {(row["series"], row["model"], row["question_count"], row["picture_count"]) for row in found["series"].iter_rows(named=True)} == {
        *(("text_only", model, 60, 0) for model in found["scores"]["model"]),
        *(("pictures", model, 80, 20) for model in found["scores"]["model"] if model != BLIND),
        ("alt_text", BLIND, 80, 20),
    }  # fmt: skip
    for row in found["series"].iter_rows(named=True):
        is_text_only = row["series"] == "text_only"
        assert row["score"] == pytest.approx(score(frames, bank, row["model"], is_text_only=is_text_only))
    ranked = found["series"].filter(series="pictures").sort("rank")
    assert ranked["rank"].to_list() == [1, 2, 3, 4, 5]
    (told,) = found["series"].filter(series="alt_text").to_dicts()
    # The reference saw: nobody who did not is held to it.
    assert (told["rank"], told["relative_score"]) == (1, None)
    assert found["series"].filter(series="pictures", model=REFERENCE)["relative_score"].item() == 100.0
    assert set(found["board"]["marks"]) == {"text only"}
    assert found["table"].filter(pl.col("on_board"))["series"].unique().to_list() == ["text_only"]
    check_public_files(settings, found["series"])


def test_where_all_saw_every_question_counts(settings: Settings) -> None:
    frames, bank = make_frames([], repeats=1)
    found = publish(settings, frames, bank)
    assert found["scope"] == "pictures"
    assert set(found["scores"]["item_count"]) == {40}
    assert set(found["series"]["series"]) == {"text_only", "pictures"}
    of_board = found["scores"].select("model", "score", "relative_score", "rank", "rank_low", "rank_high")
    assert found["series"].filter(series="pictures").select(of_board.columns).equals(of_board)
    assert set(found["board"]["marks"]) == {"with pictures"}


@pytest.mark.long
def test_who_did_both_is_counted_on_the_text_alone(settings: Settings) -> None:
    frames, bank = make_frames([], both=BLIND)
    found = publish(settings, frames, bank)
    assert found["scope"] == "text_only"
    assert found["series"].filter(model=BLIND)["series"].to_list() == ["text_only"]


def test_an_edition_without_pictures_says_nothing_of_them(published: Lake) -> None:
    assert published.query("SELECT picture_scope FROM editions")["picture_scope"].to_list() == [None]
    assert published.query("SELECT * FROM edition_series").is_empty()
    assert published.run_named("picture_series").is_empty()
    assert set(published.run_named("leaderboard")["marks"]) == {None}


def check_public_files(settings: Settings, series: pl.DataFrame) -> None:
    """The public files name the questions and the series."""
    folder: Path = settings.home / "public" / "editions" / f"{JUNE}-1"
    said = json.loads((folder / "edition.json").read_text())
    lines = [json.loads(line) for line in (folder / "sessions.jsonl").read_text().splitlines()]
    assert said["picture_scope"] == "text_only"
    assert [row["question_count"] for row in said["scores"]] == [60] * 18
    shown = {
        (row["series"], row["model"]): row["score"]
        for row in said["series"]
        if row["style"] == "zero_shot"
    }  # fmt: skip
    assert shown == {(row["series"], row["model"]): row["score"] for row in series.iter_rows(named=True)}
    # A question of each of ten disciplines in a set of forty, the same in every session of the set.
    places = {(line["set"], tuple(line["pictures"])) for line in lines}
    assert sorted(len(shown) for _, shown in places) == [10, 10]
