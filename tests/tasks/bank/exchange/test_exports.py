"""Slices of the bank in every form; the long tests open them with the tools they are for."""

from __future__ import annotations

import base64
import hashlib
import json
import runpy
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from sqlalchemy import insert

from deployments.model_server import build_answer_key
from schemas.errors import StoreError, UsageError
from schemas.settings import Settings
from schemas.tables import get_table
from tasks.bank.exchange.formats import FORMATS, write_slice
from tasks.bank.exchange.slices import (
    BARE_COLUMNS,
    Slice,
    check_may_see_answers,
    export_run_records,
    read_slice,
)
from tasks.exam.month import read_current_bank
from tasks.exchange.imports import import_question_records
from tasks.questions import BareQuestion
from tasks.questions.forms import import_records
from tasks.questions.identity import compute_question_uuid
from tasks.questions.pictures import name_picture
from tests.fresh import open_new_lake
from tests.tasks.bank.augment.conftest import make_accepted, make_options
from tests.tasks.exchange.imports.test_real_logs import PYTHON, run
from tests.tasks.ingest.kit import normalise_picture
from tests.tasks.ingest.test_pictures import draw, save
from tests.tasks.models.simulation import start_server
from tests.warehouse.bank_rows import BANK, land_bank_rows
from warehouse.lake import Lake
from warehouse.ledger.engine.opening import open_ledger
from warehouse.ledger.engine.tables import users

TOOLS = Path(__file__).parent / "tools"
SECRET = "Count the level above."  # the explanation of every question


def make_bank_row(stem: str, **changes: Any) -> dict[str, Any]:
    row = make_accepted(stem, **changes)
    names = {column.name for column in BANK.own_columns}
    kept = {name: value for name, value in row.items() if name in names}
    return kept | {"bank_version": 1, "parent_uuid": None, "method": "original"}


def make_bank() -> pl.DataFrame:
    truth: dict[str, Any] = {"question_type": "true_false", "options": [], "language": "zh"}
    return BANK.frame(
        [
            make_bank_row("A tree with {{8}} leaves has at most ( ) nodes."),
            make_bank_row(
                "下列属于质数的是（ ）。\u2028", language="zh", options=make_options("八", "七"), answer=["B"]
            ),
            make_bank_row("月球自己发光。", answer=["false"], **truth, discipline="Science"),
            make_bank_row("地球绕太阳公转。", answer=["true"], **truth, discipline="Science"),
            make_bank_row(
                "Why?", question_type="short_answer", options=[], answer=["Because."], discipline="Law"
            ),
        ]
    )


@pytest.fixture
def lake(tmp_path: Path) -> Iterator[Lake]:
    with open_new_lake(Settings(home=tmp_path / "home")) as opened:
        land_bank_rows(opened, make_bank())
        yield opened


@pytest.fixture
def pictured(tmp_path: Path) -> Iterator[tuple[Lake, Settings]]:
    """A bank in which one question shows two pictures and has a third in its answer."""
    settings = Settings(home=tmp_path / "pictured")
    held = {}
    for word in ("stem", "option", "answer"):
        normal = normalise_picture(save(draw(word)))
        assert normal is not None
        path = name_picture(settings.archive_dir, normal.sha256)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(normal.data)
        held[word] = normal.sha256
    pictures = [
        {"number": number, "sha256": held[word], "place": word} for number, word in enumerate(held, 1)
    ]
    shown = make_bank_row(
        "Which one is [picture:1] like?",
        options=make_options("[picture:2]", "neither"),
        explanation="See [picture:3].",
        pictures=pictures,
        discipline="Law",
    )
    described = {
        "sha256": held["stem"], "document_id": shown["document_id"], "media_type": "image/png", "size_bytes": 1, "width": 1, "height": 1,
        "picture_kind": "image", "alt_text": "a stem", "perceptual_hash": "0" * 16,
    }  # fmt: skip
    with open_new_lake(settings) as lake:
        land_bank_rows(lake, pl.concat([make_bank(), BANK.frame([shown])]))
        lake.land("pictures", "d", get_table("pictures").frame([described]))
        yield lake, settings


def test_pictures_leave_with_their_questions_and_those_of_answers_with_answers(
    pictured: tuple[Lake, Settings], tmp_path: Path
) -> None:
    lake, settings = pictured
    for with_answers, count in ((False, 2), (True, 3)):
        questions = read_slice(lake, Slice(), with_answers=with_answers)
        assert write_slice(questions, "parquet", tmp_path / "bank.parquet", settings.archive_dir) == 6
        assert write_slice(questions, "jsonl", tmp_path / "bank.jsonl", settings.archive_dir) == 6
        # What comes back is what left: rows, the pictures that they name, and who each question is.
        again = pl.read_parquet(tmp_path / "bank.parquet")
        assert again.equals(questions)
        table = pl.read_parquet(tmp_path / "bank.pictures.parquet")
        named = [one for held in again["pictures"] if held is not None for one in held]
        assert len(named) == table.height == count
        assert {one["sha256"] for one in named} == set(table["sha256"])
        for row in table.iter_rows(named=True):
            assert hashlib.sha256(row["data"]).hexdigest() == row["sha256"]
        assert [one["alt_text"] for one in named] == ["a stem", *[None] * (count - 1)]
        (row,) = again.filter(pl.col("pictures").is_not_null()).to_dicts()
        assert compute_question_uuid(BareQuestion.from_row(row)) == row["question_uuid"]
        assert len(list((tmp_path / "bank.pictures").iterdir())) == count


def test_a_picture_stands_where_its_question_names_it_in_the_forms_of_other_tools(
    pictured: tuple[Lake, Settings], tmp_path: Path
) -> None:
    lake, settings = pictured
    questions = read_slice(lake, Slice(), with_answers=True)
    for form in ("inspect", "lm-eval"):
        write_slice(questions, form, tmp_path / form.replace("-", "_"), settings.archive_dir)
    lines = [json.loads(line) for line in (tmp_path / "inspect" / "inspect.jsonl").read_text().splitlines()]
    assert sum(isinstance(line["input"], str) for line in lines) == 5
    (message,) = next(line["input"] for line in lines if not isinstance(line["input"], str))
    parts = message["content"]
    assert [part["type"] for part in parts] == ["text", "image", "text", "image", "text"]
    assert parts[0]["text"].endswith("Which one is [picture:1]")
    shown = [base64.b64decode(part["image"].partition(",")[2]) for part in parts if part["type"] == "image"]
    (held,) = (one for one in questions["pictures"] if one is not None)
    assert [hashlib.sha256(data).hexdigest() for data in shown] == [one["sha256"] for one in held][:2]
    task = (tmp_path / "lm_eval" / "lm_eval.yaml").read_text()
    assert "doc_to_image: !function 'pictures.doc_to_image'" in task
    docs = [json.loads(line) for line in (tmp_path / "lm_eval" / "lm_eval.jsonl").read_text().splitlines()]
    (doc,) = (doc for doc in docs if doc["pictures"])
    assert doc["prompt"].count("<image>") == len(doc["pictures"]) == 2
    opened = runpy.run_path(str(tmp_path / "lm_eval" / "pictures.py"))["doc_to_image"](doc)
    assert [image.size for image in opened] == [(120, 60), (120, 60)]
    with pytest.raises(UsageError, match="Records of figure 8 have no place for pictures"):
        write_slice(questions, "record", tmp_path / "records.jsonl", settings.archive_dir)


def test_a_lost_picture_is_refused_before_anything_is_written(
    pictured: tuple[Lake, Settings], tmp_path: Path
) -> None:
    lake, settings = pictured
    questions = read_slice(lake, Slice(discipline="Law"))
    for path in settings.archive_dir.rglob("*.picture"):
        path.unlink()
    for form in FORMATS:
        with pytest.raises(StoreError, match="is not in"):
            write_slice(questions, form, tmp_path / "a_slice", settings.archive_dir)
    assert [path for path in tmp_path.glob("a_slice*") if path.is_file()] == []


@pytest.mark.parametrize("form", FORMATS)
def test_no_form_holds_an_answer_that_was_not_asked_for(lake: Lake, tmp_path: Path, form: str) -> None:
    questions = read_slice(lake, Slice())
    assert questions.columns == list(BARE_COLUMNS)
    assert write_slice(questions, form, tmp_path / "a_slice", tmp_path) == 5
    files = [path for path in tmp_path.rglob("a_slice*") if path.is_file()]
    written = b"".join(path.read_bytes() for path in files)
    assert "月球自己发光".encode() in written
    assert SECRET.encode() not in written
    assert b"Because." not in written
    if form in ("inspect", "lm-eval"):
        lines = (tmp_path / "a_slice" / "a_slice.jsonl").read_text("utf-8").split("\n")
        assert [json.loads(line)["target"] for line in lines if line] == [""] * 5


def test_what_leaves_with_answers_is_the_slice_whole(lake: Lake, tmp_path: Path) -> None:
    questions = read_slice(lake, Slice(), with_answers=True)
    write_slice(questions, "parquet", tmp_path / "bank.parquet", tmp_path)
    write_slice(questions, "jsonl", tmp_path / "bank.jsonl", tmp_path)
    assert pl.read_parquet(tmp_path / "bank.parquet").equals(questions)
    again = pl.read_ndjson(tmp_path / "bank.jsonl", schema=questions.schema)
    assert again.equals(questions)


def test_a_slice_is_of_what_is_asked_for_and_its_draw_repeats(lake: Lake) -> None:
    assert set(read_slice(lake, Slice(discipline="Science"))["stem"]) == {
        "月球自己发光。",
        "地球绕太阳公转。",
    }
    assert read_slice(lake, Slice(question_type="true_false", language="zh")).height == 2
    drawn = read_slice(lake, Slice(size=2))
    assert drawn.height == 2
    assert drawn.equals(read_slice(lake, Slice(size=2)))
    with pytest.raises(UsageError, match="no such question"):
        read_slice(lake, Slice(language="zh", discipline="Law"))
    with pytest.raises(UsageError, match="no discipline 'Magic'"):
        read_slice(lake, Slice(discipline="Magic"))


def test_answers_leave_for_those_who_run_the_exam(tmp_path: Path) -> None:
    with open_ledger(f"sqlite:///{tmp_path / 'ledger.sqlite'}") as ledger:
        with ledger.write() as connection:
            for name, role, is_active in (
                ("eve", "examiner", True),
                ("ann", "analyst", True),
                ("old", "admin", False),
            ):
                connection.execute(
                    insert(users).values(
                        user_id=name, role=role, is_active=is_active, created_at="2026-11-01"
                    )
                )
        check_may_see_answers(ledger, "eve")
        for name, says in (
            ("ann", "is analyst"),
            ("old", "is shut out"),
            ("zoe", "is not there"),
            ("", "--as"),
        ):
            with pytest.raises(UsageError, match=says):
                check_may_see_answers(ledger, name)


@pytest.mark.parametrize("name", ["Law Slice", "8_slice", "x.y"])
def test_a_task_has_a_name_that_its_tool_can_read(lake: Lake, tmp_path: Path, name: str) -> None:
    with pytest.raises(UsageError, match="gives the task its name"):
        write_slice(read_slice(lake, Slice()), "inspect", tmp_path / name, tmp_path)


def test_records_of_a_run_come_back_as_marks(lake: Lake, tmp_path: Path) -> None:
    questions = read_slice(lake, Slice())
    uuid = questions["question_uuid"][0]
    shared = {"run_id": "r1", "session_id": "s1", "seq": 1, "question_uuid": uuid, "month": "2026-11"}
    put = {"prompt_style": "zero_shot", "model": "sim"}
    lake.land("responses", "s1", fill("responses", [shared | put | {"response": "false. It does not."}]))
    mark = {"judge": "j", "stars": 2, "raw": "2 stars: fair", "reason": "fair"}
    lake.land("judgements", "s1/j", fill("judgements", [shared | put | mark]))
    path = tmp_path / "records.jsonl"
    assert export_run_records(lake, questions, "r1", path) == 1
    (record,) = import_records(path)
    assert record.judge is not None
    assert (record.question_uuid, record.response, record.judge.stars) == (uuid, "false. It does not.", 2)
    found = import_question_records(lake, path, "pilot", "sim")
    assert (found.rows, found.models, found.without_mark) == (1, 1, 0)
    assert import_question_records(lake, path, "pilot", "sim").is_unchanged
    row = lake.query("select * from imported_marks").row(0, named=True)
    assert (row["item_id"], row["metric"], row["mark"], row["import_kind"]) == (uuid, "stars", 2.0, "records")
    with pytest.raises(UsageError, match="no response to these questions"):
        export_run_records(lake, questions, "r2", path)


def fill(table: str, rows: list[dict[str, Any]]) -> pl.DataFrame:
    from tests.warehouse.test_sql_cases import fill_rows

    own = {column.name for column in get_table(table).own_columns}
    frame = fill_rows(
        get_table(table), [{key: value for key, value in row.items() if key in own} for row in rows]
    )
    return frame.drop("landing_unit")


@pytest.mark.long
@pytest.mark.parametrize("with_answers", [True, False])
def test_inspect_opens_its_task_and_asks_every_question(
    lake: Lake, tmp_path: Path, *, with_answers: bool
) -> None:
    if not PYTHON.exists():
        pytest.skip(f"{PYTHON} is not there: `make test-long` installs Inspect.")
    questions = read_slice(lake, Slice(), with_answers=with_answers)
    folder = tmp_path / "a_slice"
    write_slice(questions, "inspect", folder, tmp_path)
    with start_server(build_answer_key(make_bank()), sim={"accuracy": 0.999}) as server:
        said = run(
            [str(TOOLS / "open_inspect.py"), str(folder), "a_slice"], tmp_path,
            LOCAL_BASE_URL=server.url, LOCAL_API_KEY="none",
        )  # fmt: skip
        assert server.state.requests["sim"] == 5
    found = json.loads(said[said.index("{") :])
    assert (found["status"], found["task"]) == ("success", "a_slice")
    samples = {sample["id"]: sample for sample in found["samples"]}
    assert set(samples) == set(questions["question_uuid"])
    for row in questions.iter_rows(named=True):
        sample = samples[row["question_uuid"]]
        assert row["stem"].strip() in sample["input"]
        assert sample["metadata"]["bank_version"] == 1
        closed = row["question_type"] in ("true_false", "multiple_choice")
        if with_answers and closed:
            assert sample["scores"] == {"match": "C"}, (row["stem"], sample)
        if not with_answers:
            assert (sample["target"], sample["scores"]) == ("", {})


@pytest.mark.long
def test_inspect_and_the_harness_send_every_picture_where_its_question_names_it(
    pictured: tuple[Lake, Settings], tmp_path: Path
) -> None:
    if not PYTHON.exists():
        pytest.skip(f"{PYTHON} is not there: `make test-long` installs both programs.")
    lake, settings = pictured
    questions = read_slice(lake, Slice(discipline="Law", question_type="multiple_choice"), with_answers=True)
    assert questions.height == 1
    # The server knows a question with pictures only where it was sent the bytes of all that the question shows.
    answers = build_answer_key(read_current_bank(lake))
    for form in ("inspect", "lm-eval"):
        write_slice(questions, form, tmp_path / form.replace("-", "_") / "a_slice", settings.archive_dir)
    with start_server(answers, sim={"accuracy": 0.999, "sees_pictures": True}) as server:
        said = run(
            [str(TOOLS / "open_inspect.py"), str(tmp_path / "inspect" / "a_slice"), "a_slice"], tmp_path,
            LOCAL_BASE_URL=server.url, LOCAL_API_KEY="none",
        )  # fmt: skip
        (sample,) = json.loads(said[said.index("{") :])["samples"]
        assert sample["scores"] == {"match": "C"}
        # The harness sends one picture unless it is told of more, and writes each anew: the server does not know these bytes.
        run(
            [
                "-m", "lm_eval", "--model", "local-chat-completions", "--model_args",
                f"model=sim,base_url={server.url}/chat/completions,num_concurrent=1,tokenizer_backend=none,max_images=2",
                "--tasks", "a_slice", "--include_path", str(tmp_path / "lm_eval" / "a_slice"), "--output_path", "out",
                "--apply_chat_template", "--log_samples",
            ],
            tmp_path, OPENAI_API_KEY="none",
        )  # fmt: skip
        assert server.state.requests["sim"] == 2
    (samples,) = (tmp_path / "out").rglob("samples_*.jsonl")
    (line,) = [json.loads(line) for line in samples.read_text("utf-8").split("\n") if line]
    assert line["doc"]["question_uuid"] == questions["question_uuid"][0]
    assert line["doc"]["prompt"].count("<image>") == len(line["doc"]["pictures"]) == 2
    assert line["resps"][0][0]


@pytest.mark.long
@pytest.mark.parametrize("with_answers", [True, False])
def test_the_harness_opens_its_task_and_asks_every_question(
    lake: Lake, tmp_path: Path, *, with_answers: bool
) -> None:
    if not PYTHON.exists():
        pytest.skip(f"{PYTHON} is not there: `make test-long` installs lm-evaluation-harness.")
    questions = read_slice(lake, Slice(question_type="true_false"), with_answers=with_answers)
    folder = tmp_path / "a_slice"
    write_slice(questions, "lm-eval", folder, tmp_path)
    with start_server(build_answer_key(make_bank()), sim={"accuracy": 0.999}) as server:
        run(
            [
                "-m", "lm_eval", "--model", "local-chat-completions", "--model_args",
                f"model=sim,base_url={server.url}/chat/completions,num_concurrent=1,tokenizer_backend=none",
                "--tasks", "a_slice", "--include_path", str(folder), "--output_path", "out",
                "--apply_chat_template", "--log_samples",
            ],
            tmp_path, OPENAI_API_KEY="none",
        )  # fmt: skip
        assert server.state.requests["sim"] == 2
    (samples,) = (tmp_path / "out").rglob("samples_*.jsonl")
    lines = [json.loads(line) for line in samples.read_text("utf-8").split("\n") if line]
    assert {line["doc"]["question_uuid"] for line in lines} == set(questions["question_uuid"])
    assert {line["target"] for line in lines} == ({"正确", "错误"} if with_answers else {""})
    if with_answers:
        assert [line["exact_match"] for line in lines] == [1.0, 1.0]


@pytest.mark.long
def test_parquet_and_json_lines_open_in_duckdb_and_pandas(lake: Lake, tmp_path: Path) -> None:
    questions = read_slice(lake, Slice(), with_answers=True)
    for form, name in (("parquet", "bank.parquet"), ("jsonl", "bank.jsonl")):
        write_slice(questions, form, tmp_path / name, tmp_path)
    script = (
        "import duckdb, pandas; print(duckdb.sql(\"select count(*), sum(len(options)) from 'bank.parquet'\").fetchone(), "
        "duckdb.sql(\"select count(*) from 'bank.jsonl'\").fetchone(), len(pandas.read_parquet('bank.parquet')), "
        "len(pandas.read_json('bank.jsonl', lines=True)))"
    )
    import sys

    said = subprocess.run(
        [sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, check=True
    ).stdout
    assert said.split() == ["(5,", "6)", "(5,)", "5", "5"]
