"""Editions in others' forms: their own readers accept them, with the edition's numbers."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import jsonschema
import polars as pl
import pytest
import yaml

from schemas.errors import UsageError
from schemas.settings import Settings
from schemas.tables import get_table
from tasks.exchange.editions.published import note_export, render_citation, render_leaderboard
from tasks.exchange.editions.sittings import Sample, Sitting, iter_sittings, read_edition
from tasks.exchange.editions.writing import iter_harness, render_inspect, write_harness, write_inspect
from tasks.exchange.imports import import_harness, import_inspect
from tests.tasks.editions.kit import publish_run
from tests.tasks.judging.calibration.rated_run import RUN, open_rated_run
from warehouse.lake import Lake
from warehouse.ledger.engine.ledger import Ledger
from warehouse.ledger.trust.users import add_user

SCHEMA = Path(__file__).parents[4] / "docs" / "leaderboard.schema.json"


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Settings, Ledger, Lake]]:
    """A published month of six candidates, two repeats, three styles, some answers unjudged."""
    with open_rated_run(tmp_path_factory.mktemp("exchange") / "home") as (settings, ledger, lake):
        disciplines = (
            lake.query("SELECT DISTINCT discipline FROM allocations ORDER BY 1").to_series().to_list()
        )
        publish_run(lake, settings, RUN, disciplines)
        stated = {"edition_id": f"{RUN}/1", "grade": "witnessed", "witness_count": 2, "beacon": None}
        lake.land("edition_grades", f"{RUN}/1", get_table("edition_grades").frame([stated]))
        with ledger.write() as connection:
            add_user(connection, user_id="eve", role="examiner")
        yield settings, ledger, lake


@pytest.fixture(scope="module")
def lake(opened: tuple[Settings, Ledger, Lake]) -> Lake:
    return opened[2]


@pytest.fixture(scope="module")
def edition(lake: Lake) -> dict[str, Any]:
    return read_edition(lake, RUN)


def test_every_star_of_the_edition_stands_in_the_logs(lake: Lake, edition: dict[str, Any]) -> None:
    counted: dict[tuple[str, str], list[int]] = defaultdict(lambda: [0, 0, 0, 0, 0])
    for sitting in iter_sittings(lake, edition, with_answers=True):
        for sample in sitting.samples:
            counted[(sitting.model, sitting.prompt_style)][4 if sample.stars is None else sample.stars] += 1
    frozen = lake.query(
        """
        SELECT model, prompt_style, sum(stars_0_count), sum(stars_1_count), sum(stars_2_count), sum(stars_3_count), sum(unparsed_count)
        FROM edition_stars GROUP BY ALL
        """
    ).rows()
    assert counted == {(model, style): list(map(int, counts)) for model, style, *counts in frozen}
    assert len(counted) == 18


def test_a_log_of_inspect_is_read_back_with_stars_epochs_and_texts(
    lake: Lake, edition: dict[str, Any], tmp_path: Path
) -> None:
    sitting = next(
        one for one in iter_sittings(lake, edition, with_answers=True) if one.prompt_style == "zero_shot"
    )
    (path,) = write_inspect([sitting], tmp_path / "logs")
    imported = import_inspect(lake, path, "ours")
    rows = lake.query(
        "SELECT item_id, repeat, mark, response, metric FROM imported_marks WHERE benchmark = 'ours' ORDER BY row_number"
    ).rows()
    assert imported.rows == len(rows) == len(sitting.samples) == 80
    assert rows == [
        (
            sample.question_uuid,
            sample.repeat,
            None if sample.stars is None else float(sample.stars),
            sample.answer["response"] if sample.answer else "",
            None if sample.stars is None else "stars",
        )
        for sample in sitting.samples
    ]
    log = json.loads(path.read_text("utf-8"))
    assert log["eval"]["config"]["epochs"] == 2
    assert [path.name for path in tmp_path.rglob("*.part")] == []
    stars = [sample.stars for sample in sitting.samples if sample.stars is not None]
    assert log["results"]["scores"][0]["metrics"]["mean"]["value"] == pytest.approx(sum(stars) / len(stars))
    assert "Statement" in log["samples"][0]["input"][0]["content"]


def test_samples_of_the_harness_are_read_back_with_their_stars(
    lake: Lake, edition: dict[str, Any], tmp_path: Path
) -> None:
    sittings = [one for one in iter_sittings(lake, edition, with_answers=False) if one.model == "西湖-2"][:2]
    paths = write_harness(sittings, tmp_path)
    assert {path.parent.name for path in paths} == {"西湖-2"}
    for sitting, path in zip(sittings, paths, strict=True):
        name = f"harness-{sitting.prompt_style}"
        import_harness(lake, path, sitting.model, name)
        found = lake.query(
            "SELECT mark FROM imported_marks WHERE benchmark = $name ORDER BY row_number", {"name": name}
        ).to_series()
        assert found.to_list() == [float(one.stars) for one in sitting.samples if one.stars is not None]


def test_names_that_differ_only_in_what_no_folder_can_be_named_have_a_folder_each(
    edition: dict[str, Any], tmp_path: Path
) -> None:
    sample = Sample(
        "q1", "Law", 1, [{"role": "user", "content": "Statement"}], "", 3, "scored", None, None, {}
    )
    sittings = [Sitting(edition, model, "zero_shot", [sample]) for model in ("lab/one", "lab-one", "lab one")]
    paths = write_harness(sittings, tmp_path)
    assert len({path for path in paths if path.is_file()}) == len(sittings)
    assert paths[1].parent.name == "lab-one"


def test_what_nobody_could_judge_has_no_score_and_what_nobody_answered_has_none_of_ours(
    edition: dict[str, Any],
) -> None:
    message = [{"role": "user", "content": "Statement"}]
    answer = {"response": "True.", "finish_reason": "length", "input_tokens": 3, "reasoning": "Because."}
    unparsed = Sample("q1", "Law", 1, message, "", None, "unparsed", None, None, answer)
    unanswered = Sample("q2", "Law", 1, message, "", 0, "unanswered", None, None, {})
    sitting = Sitting(edition, "alpha", "zero_shot", [unparsed, unanswered])
    first, second = render_inspect(sitting)["samples"]
    assert first["scores"] == {}
    assert first["output"]["choices"][0]["stop_reason"] == "max_tokens"
    assert first["messages"][1]["content"][0] == {"type": "reasoning", "reasoning": "Because."}
    assert second["scores"]["stars"]["value"] == 0
    assert second["output"]["choices"] == []
    assert [line["doc"]["question_uuid"] for line in iter_harness(sitting)] == ["q2"]


def test_reference_answers_and_reasons_leave_only_when_they_are_asked_for(
    lake: Lake, edition: dict[str, Any]
) -> None:
    without = next(iter_sittings(lake, edition, with_answers=False))
    log = render_inspect(without)
    assert {sample["target"] for sample in log["samples"]} == {""}
    assert {score["explanation"] for sample in log["samples"] for score in sample["scores"].values()} == {
        None
    }
    assert {line["target"] for line in iter_harness(without)} == {""}
    within = render_inspect(next(iter_sittings(lake, edition, with_answers=True)))
    assert within["eval"]["metadata"]["grade"] == "witnessed"
    assert {sample["target"] for sample in within["samples"]} == {"true"}


def test_who_may_not_see_questions_gets_none_and_who_did_is_in_the_log(
    opened: tuple[Settings, Ledger, Lake],
) -> None:
    _, ledger, _ = opened
    for name, says in (("", "--as"), ("nobody", "is not there"), ("ann", "is annotator")):
        with pytest.raises(UsageError, match=says):
            note_export(ledger, name, f"{RUN}/1", with_answers=False)
    note_export(ledger, "eve", f"{RUN}/1", with_answers=True)
    with ledger.read() as connection:
        rows = connection.exec_driver_sql(
            "SELECT user_id, target, code FROM access_log WHERE action = 'export_edition'"
        ).all()
    assert [tuple(row) for row in rows] == [("eve", f"{RUN}/1", "with_answers")]


def test_a_leaderboard_holds_the_frozen_scores_and_keeps_its_schema(
    lake: Lake, edition: dict[str, Any]
) -> None:
    board = render_leaderboard(lake, edition)
    schema = json.loads(SCHEMA.read_text("utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    again = json.loads(json.dumps(board))
    assert list(validator.iter_errors(again)) == []
    frozen = lake.query(
        "SELECT model, score FROM edition_scores WHERE prompt_style = 'zero_shot' AND discipline = 'all' ORDER BY rank, model"
    ).rows()
    assert [(row["model"], row["score"]) for row in board["styles"]["zero_shot"]] == frozen
    assert {len(row["disciplines"]) for row in board["styles"]["zero_shot"]} == {10}
    assert sum(board["edition"]["weights"].values()) == pytest.approx(1)
    assert board["edition"]["grade"] == "witnessed"
    spoilt: list[dict[str, Any]] = [json.loads(json.dumps(board)) for _ in range(3)]
    spoilt[0]["styles"]["zero_shot"][0]["score"] = 101
    del spoilt[1]["edition"]["root_hash"]
    spoilt[2]["question"] = "?"
    assert [bool(list(validator.iter_errors(one))) for one in spoilt] == [True, True, True]


def test_a_citation_names_the_edition_its_hash_and_what_it_rests_on(edition: dict[str, Any]) -> None:
    cited = render_citation(edition, title="Exam & more_2", publisher="考试委员会")
    parsed = yaml.safe_load(cited["cff"])
    assert parsed["cff-version"] == "1.2.0"
    assert parsed["identifiers"][0]["value"] == f"sha256:{edition['root_hash']}"
    assert parsed["authors"] == [{"name": "考试委员会"}]
    assert str(parsed["date-released"]) == edition["published_at"].date().isoformat()
    assert r"Exam \& more\_2" in cited["bibtex"]
    assert edition["edition_id"] in cited["text"]
    assert edition["judge"] in cited["text"]
    assert all("; witnessed" in one for one in cited.values())


def test_an_edition_is_found_by_its_name_by_its_run_or_as_the_last(lake: Lake) -> None:
    assert read_edition(lake, f"{RUN}/1") == read_edition(lake, RUN) == read_edition(lake, "")
    with pytest.raises(UsageError, match=f"{RUN}/1"):
        read_edition(lake, "no-such-run")


def test_without_a_name_it_is_the_last_month_and_no_repetition_or_rehearsal_of_it(lake: Lake) -> None:
    found = lake.read("run_revisions")
    others: list[dict[str, Any]] = [
        {"edition_id": "draw/1", "is_repetition": True},
        {"edition_id": "sim/1", "is_simulated": True, "month": "2099-12"},
        # The last to be planned, of a month that was held late.
        {"edition_id": "late/1", "month": "2001-01"},
    ]
    rows = [found, *(found.with_columns(**{k: pl.lit(v) for k, v in one.items()}) for one in others)]
    frames = {"run_revisions": pl.concat(rows), "graded_editions": lake.read("graded_editions")}

    assert read_edition(cast("Lake", SimpleNamespace(read=frames.get)), "")["edition_id"] == f"{RUN}/1"


def test_a_folder_that_cannot_be_written_is_named(
    lake: Lake, edition: dict[str, Any], tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match="cannot be written"):
        write_inspect([next(iter_sittings(lake, edition, with_answers=False))], tmp_path / "file" / "logs")
