"""What an edition publishes is enough to compute every S and R again.

This needs the formula of docs/verify.md and nothing else.
"""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path
from statistics import fmean
from typing import Any

import polars as pl
import pytest

from schemas.settings import Settings
from tasks.editions import roots
from tasks.editions.publish import Revision
from tasks.editions.roots import publish_and_keep_root
from tasks.exam.public import compute_root, digest
from tasks.exam.public.bank import lineage_name, read_blinding_secret
from tests.fresh import open_new_lake
from tests.tasks.editions.recomputed import check_boards
from tests.tasks.editions.season import land_frames
from tests.tasks.report.synthetic import build_season
from warehouse.lake import Lake
from warehouse.ledger.engine.logs.public_log import read_public_entries
from warehouse.ledger.engine.opening import open_ledger

JUNE, JULY = "run-2025-06", "run-2025-07"
VALUES = {"0": 0, "1": 1, "2": 2, "3": 3, "u": 0, "x": 0}
Cells = dict[tuple[str, str], list[str]]


def publish(lake: Lake, settings: Settings, run_id: str, revision: Revision | None = None) -> None:
    with open_ledger(settings.ledger_address) as ledger:
        publish_and_keep_root(ledger, lake, settings, run_id, revision)


def lenient(settings: Settings) -> Settings:
    """Return settings beyond their bounds: what is looked at are answers that nobody judged."""
    return settings.model_copy(update={"unparsed_gate": 1.0})


def read_entries(settings: Settings, run_id: str) -> list[dict[str, Any]]:
    with open_ledger(settings.ledger_address) as ledger, ledger.read() as connection:
        return [entry.body for entry in read_public_entries(connection, run_id, ("edition",))]


def read_folder(settings: Settings, name: str) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    folder = settings.home / "public" / "editions" / name
    lines = (folder / "sessions.jsonl").read_text().splitlines()
    return json.loads((folder / "edition.json").read_text()), [json.loads(line) for line in lines]


def read_items(settings: Settings, frames: Mapping[str, pl.DataFrame]) -> dict[str, list[tuple[str, str]]]:
    """Set → its (lineage, discipline) pairs in the order of the stars.

    This is the order in which `sets.jsonl` of a sealed run has them.
    """
    secret = read_blinding_secret(settings)
    sets = dict(frames["sessions"].select("session_id", "set_id").iter_rows())
    found: dict[str, set[tuple[str, str]]] = defaultdict(set)
    for row in frames["allocations"].iter_rows(named=True):
        found[sets[row["session_id"]]].add(
            (lineage_name(secret, row["lineage_uuid"]).hex(), row["discipline"])
        )
    return {name: sorted(items) for name, items in found.items()}


def weigh(weights: Mapping[str, float], means: Mapping[tuple[str, str], float]) -> float | None:
    parts = {
        discipline: [mean for (_, of), mean in means.items() if of == discipline] for discipline in weights
    }
    if not all(parts.values()):
        return None
    return sum(weight * fmean(parts[discipline]) for discipline, weight in weights.items())


def mean_of(cells: Cells) -> dict[tuple[str, str], float]:
    return {question: fmean(VALUES[star] for star in stars) for question, stars in cells.items()}


def recompute(
    edition: Mapping[str, Any], sessions: list[dict[str, Any]], items: Mapping[str, list[tuple[str, str]]]
) -> list[dict[str, Any]]:
    """S and R of every model and style, in the words of docs/verify.md."""
    weights = {name: weight for name, weight in edition["weights"].items() if weight > 0}
    stars: dict[tuple[str, str], Cells] = defaultdict(lambda: defaultdict(list))
    for session in sessions:
        if session["is_complete"]:
            for item, star in zip(items[session["set"]], session["stars"], strict=True):
                if item[1] in weights:
                    stars[session["model"], session["style"]][item].append(star)
    rows = []
    for (model, style), own in sorted(stars.items()):
        theirs = {
            item: [star for star in found if star != "x"]
            for item, found in stars[edition["reference_model"], style].items()
        }
        theirs = {item: found for item, found in theirs.items() if found}
        paired = {
            item: theirs[item] if model == edition["reference_model"] else found
            for item, found in own.items()
            if item in theirs
        }
        above = weigh(weights, mean_of(paired))
        below = weigh(weights, mean_of({item: theirs[item] for item in paired}))
        score = weigh(weights, mean_of(own))
        rows.append(
            {
                "model": model,
                "style": style,
                "question_count": sum(map(len, own.values())),
                "score": None if score is None else score / 3 * 100,
                "relative_score": None if above is None or not below else above / below * 100,
                "pair_count": sum(map(len, paired.values())),
            }
        )
    return [row for row in rows if row["question_count"]]


def check_scores(
    settings: Settings, frames: Mapping[str, pl.DataFrame], lake: Lake, run_id: str, revision: int = 1
) -> list[dict[str, Any]]:
    """What is published equals what is recomputed, and what was frozen; returns the sessions."""
    edition, sessions = read_folder(settings, f"{run_id}-{revision}")
    found = recompute(edition, sessions, read_items(settings, frames))
    frozen = lake.query(
        "SELECT model, prompt_style AS style, question_count, score, relative_score, pair_count FROM edition_scores "
        "WHERE edition_id = $edition AND discipline = 'all' ORDER BY model, style",
        {"edition": f"{run_id}/{revision}"},
    ).to_dicts()
    assert len(found) == len(frozen) == len(edition["scores"]) > 0
    for computed, printed, kept in zip(found, edition["scores"], frozen, strict=True):
        assert computed == pytest.approx(kept, abs=1e-9, rel=0)
        assert printed == pytest.approx(kept, abs=1e-9, rel=0)
    return sessions


def test_scores_follow_from_the_published_stars_and_every_value_of_every_board_from_the_rows(
    settings: Settings,
) -> None:
    frames = build_season(unparsed_rate=0.05)
    with open_new_lake(settings) as lake:
        land_frames(lake, frames)
        for run_id in (JUNE, JULY):
            publish(lake, lenient(settings), run_id)
        june = check_scores(settings, frames, lake, JUNE)
        july = check_scores(settings, frames, lake, JULY)
        check_boards(lake, frames)

    assert {"0", "1", "2", "3", "x"} <= set("".join(row["stars"] for row in july))
    assert {row["sat_in_run"] for row in june} == {JUNE}
    # July borrows the sittings of the reference, and those alone.
    borrowed = [row for row in july if row["sat_in_run"] == JUNE]
    assert borrowed == [row for row in june if row["is_reference"]]
    # The roots follow from the lines, the lines from what was landed.
    (body,) = read_entries(settings, JULY)
    landed = {
        (row["session_id"], row["seq"]): hashlib.sha256((row["response"] or "").encode()).hexdigest()
        for row in frames["responses"].iter_rows(named=True)
    }
    leaves = []
    for row in july:
        assert row["answers"] == [
            landed.get((row["session"], seq)) for seq in range(1, len(row["stars"]) + 1)
        ]
        answers = [
            digest("proctor answer", row["session"], seq, bytes.fromhex(answer))
            for seq, answer in enumerate(row["answers"], start=1)
            if answer is not None
        ]
        leaves.append(digest("proctor session answers", row["session"], compute_root(answers)))
    assert body["answers_root"] == compute_root(leaves).hex()
    assert (
        body["judgements_root"]
        == compute_root(digest("proctor judgements", row["session"], row["stars"]) for row in july).hex()
    )
    for name, expected in body["files"].items():
        data = (settings.home / "public" / "editions" / f"{JULY}-1" / name).read_bytes()
        assert hashlib.sha256(data).hexdigest() == expected


def test_missing_disciplines_and_unanswered_questions_are_computed_as_they_are_described(
    settings: Settings,
) -> None:
    frames = build_season(months=("2025-06",), unparsed_rate=0.2)
    gone = frames["allocations"]["discipline"].unique().sort()[0]
    # Nobody was asked anything of one discipline in the first set; every fifth answer was never given.
    first = frames["sessions"].filter(pl.col("set_id") == "set-1")["session_id"]
    lost = frames["allocations"].filter(
        (pl.col("discipline") == gone) & pl.col("session_id").is_in(first.implode())
    )
    unanswered = frames["responses"].filter(pl.col("seq") % 5 == 0)
    keys = ["session_id", "seq"]
    frames["allocations"] = frames["allocations"].join(lost, on=keys, how="anti")
    for table in ("responses", "judgements"):
        frames[table] = (
            frames[table].join(lost, on=keys, how="anti").join(unanswered.select(keys), on=keys, how="anti")
        )
    with open_new_lake(settings) as lake:
        land_frames(lake, frames)
        publish(lake, lenient(settings), JUNE, Revision(reason="a test", overridden=("answered",)))
        sessions = check_scores(settings, frames, lake, JUNE)
        kept = lake.query("SELECT overridden_gates AS overridden, override_reason FROM editions").row(
            0, named=True
        )
    assert "u" in "".join(row["stars"] for row in sessions)
    (body,) = read_entries(settings, JUNE)
    assert (
        {name: body[name] for name in kept}
        == kept
        == {"overridden": ["answered"], "override_reason": "a test"}
    )


def test_publishing_again_changes_nothing_and_a_kill_is_mended(
    published: Lake, settings: Settings, published_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def die(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as broken:
        broken.setattr(roots, "add_edition_entry", die)
        with pytest.raises(KeyboardInterrupt):
            publish(published, settings, JUNE)
    assert read_entries(settings, JUNE) == []
    folder = settings.home / "public"
    before = (folder / "editions" / f"{JUNE}-1" / "edition.json").read_bytes()

    publish(published, settings, JUNE)
    (body,) = read_entries(settings, JUNE)
    assert body["files"]["edition.json"] == hashlib.sha256(before).hexdigest()
    assert (body["edition"], body["revision"], body["replaces"]) == (f"{JUNE}/1", 1, None)
    edition, sessions = read_folder(settings, f"{JUNE}-1")
    theirs = published_home / "public" / "editions" / f"{JUNE}-1" / "edition.json"
    assert (edition, len(sessions)) == (json.loads(theirs.read_text()), 36)
    head = json.loads((folder / "heads.jsonl").read_text().splitlines()[-1])
    assert head["number"] == len((folder / "log.jsonl").read_text().splitlines())
    public = {path: path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}
    assert json.loads(public[folder / "log.jsonl"].splitlines()[-1])["body"] == body

    publish(published, settings, JUNE)
    assert {path: path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()} == public


def test_stars_that_are_not_those_that_were_frozen_are_not_published(
    published: Lake, settings: Settings, caplog: pytest.LogCaptureFixture
) -> None:
    from warehouse.lake import Batch

    row = published.query("SELECT * EXCLUDE (landing_unit) FROM judgements WHERE stars = 3 LIMIT 1")
    unit = "/".join(row.row(0, named=True)[name] for name in ("session_id", "judge", "prompt_version"))
    former = published.query(
        "SELECT * EXCLUDE (landing_unit) FROM judgements WHERE landing_unit = $unit", {"unit": unit}
    )
    changed = former.with_columns(
        stars=pl.when(pl.col("seq") == row["seq"][0]).then(0).otherwise("stars").cast(former["stars"].dtype)
    )
    published.land_together([Batch("judgements", unit, changed)])
    publish(published, settings, JUNE)
    assert read_entries(settings, JUNE) == []
    assert f"{JUNE}/1 has no entry in the public log" in caplog.text
