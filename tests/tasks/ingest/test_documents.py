"""Whole documents through the guarded child process: rows, statuses, encodings, companions."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
import uuid
from contextlib import suppress
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

import pytest

from schemas.errors import DocumentError, UsageError
from schemas.vocabulary import DISCIPLINES, QUESTION_TYPES
from tasks.ingest.confidence import read_fit
from tasks.ingest.documents import (
    IngestOptions,
    list_documents,
    parse_document,
    parse_documents,
    render_document_json,
)
from tasks.ingest.guard import client
from tasks.ingest.originals import pages
from tasks.ingest.readers.formats import extract
from tasks.ingest.readers.plain_text import decode
from tasks.questions.identity import compute_document_id
from tests.tasks.ingest.builders import make_compound_file, make_docx, make_pdf, make_xlsx, make_zip, write

OPTIONS = IngestOptions(time_limit_s=60, use_ocr=False)
PAPER = "数据结构期末考试\n一、单项选择题（每题2分）\n1．栈的特点是（ B ）\nA．先进先出 B．后进先出 C．随机 D．无序\n二、简答题\n2．什么是队列？\n答：先进先出的线性表。\n"


def test_a_document_row_describes_the_file_and_its_questions_name_it(tmp_path: Path) -> None:
    path = write(tmp_path, "数据结构.txt", PAPER)
    parsed = parse_document(path, OPTIONS)
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    judged = {
        name: parsed.document.pop(name) for name in ("expected_right_rate", "confidence_version", "reading")
    }
    assert judged["expected_right_rate"] > 0.5
    assert judged["confidence_version"] == read_fit(None).version
    assert json.loads(judged["reading"])["score"] == 1.0
    assert parsed.document == {
        "document_id": compute_document_id(digest),
        "sha256": digest,
        "document_name": "数据结构.txt",
        "source_path": "数据结构.txt",
        "size_bytes": len(PAPER.encode()),
        "media_type": "text/plain",
        "page_count": None,
        "converter": "text",
        "language": "zh",
        "discipline": "Engineering",
        "sub_discipline": "Computer Science and Technology",
        "source_kind": "undergraduate_final",
        "status": "parsed",
        "error": None,
        "question_count": 2,
        "warnings": [],
    }
    assert parsed.text is not None
    assert parsed.text["text"] == PAPER
    assert parsed.text["char_count"] == len(PAPER)
    first = parsed.questions[0]
    assert uuid.UUID(first["question_uuid"]).version == 5
    assert first["lineage_uuid"] == first["question_uuid"]
    assert {
        key: first[key]
        for key in ("position", "number_label", "question_type", "stem", "options", "answer", "marks")
    } == {
        "position": 1,
        "number_label": "1．",
        "question_type": "multiple_choice",
        "stem": "栈的特点是（）",
        "options": [
            {"label": "A", "text": "先进先出"},
            {"label": "B", "text": "后进先出"},
            {"label": "C", "text": "随机"},
            {"label": "D", "text": "无序"},
        ],
        "answer": ["B"],
        "marks": 2.0,
    }
    assert PAPER[first["text_start"] : first["text_end"]].startswith("1．栈")


def test_the_same_bytes_under_two_names_have_one_id(tmp_path: Path) -> None:
    one, two = write(tmp_path, "a.txt", PAPER), write(tmp_path, "b.docx", PAPER)
    rows = [parse_document(path, OPTIONS) for path in (one, two)]
    assert rows[0].document["document_id"] == rows[1].document["document_id"]
    assert [q["question_uuid"] for q in rows[0].questions] == [q["question_uuid"] for q in rows[1].questions]


@pytest.mark.parametrize("encoding", ["gb18030", "gbk", "utf-8-sig", "utf-16", "utf-16-le", "utf-8"])
def test_chinese_text_is_read_in_every_encoding(tmp_path: Path, encoding: str) -> None:
    parsed = parse_document(write(tmp_path, "paper.txt", PAPER.encode(encoding)), OPTIONS)
    assert [question["stem"] for question in parsed.questions] == ["栈的特点是（）", "什么是队列？"]


def test_an_english_text_that_a_chinese_program_saved_keeps_its_dashes_and_bullets(tmp_path: Path) -> None:
    paper = "What feeds a lamp – and burns?\n\uf0a7\tcorn\n\uf0a7\toil\n" * 5
    assert decode(paper.encode("gb18030")) == (paper, "gb18030")


def test_traditional_chinese_in_big5_is_read(tmp_path: Path) -> None:
    paper = "一、選擇題\n1. 下列何者為質數？\n(A) 四 (B) 六 (C) 七 (D) 九\n答案：C\n"
    parsed = parse_document(write(tmp_path, "paper.txt", paper.encode("big5")), OPTIONS)
    assert [(question["stem"], question["answer"]) for question in parsed.questions] == [
        ("下列何者為質數？", ["C"])
    ]


@pytest.mark.parametrize(
    ("name", "data", "media_type"),
    [
        ("paper.pdf", make_docx(PAPER.splitlines()), "application/vnd.openxmlformats-officedocument.wordprocessingml.document"),
        ("paper.xls", make_xlsx({"S": [["题干", "A", "B", "答案"], ["栈的特点是（ ）", "甲", "乙", "B"]]}),
         "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"),
        ("paper.docx", PAPER.encode("gb18030"), "text/plain"),
        ("paper.xls ", "<html><table><tr><td>题干</td><td>A</td><td>B</td><td>答案</td></tr>"
         "<tr><td>栈的特点是（ ）</td><td>甲</td><td>乙</td><td>B</td></tr></table></html>".encode("gb18030"), "text/html"),
    ],
    ids=["docx named pdf", "xlsx named xls", "text named docx", "a web page named xls"],
)  # fmt: skip
def test_content_decides_and_not_the_suffix(tmp_path: Path, name: str, data: bytes, media_type: str) -> None:
    parsed = parse_document(write(tmp_path, name, data), OPTIONS)
    assert parsed.document["media_type"] == media_type
    assert parsed.questions[0]["stem"] == "栈的特点是（）"
    assert parsed.questions[0]["answer"] == ["B"]


def _stray_cell(quote: str, held: str = "><v>1</v></c>") -> bytes:
    import io
    import zipfile

    with zipfile.ZipFile(io.BytesIO(make_xlsx({"S": [["题干", "答案"], ["甲是什么", "乙"]]}))) as package:
        files: dict[str, str | bytes] = {name: package.read(name) for name in package.namelist()}
    sheet = files["xl/worksheets/sheet1.xml"]
    assert isinstance(sheet, bytes)
    stray = f"<row r={quote}1048576{quote}><c r={quote}XFD1048576{quote}{held}</row></sheetData>"
    files["xl/worksheets/sheet1.xml"] = sheet.replace(b"</sheetData>", stray.encode())
    return make_zip(files)


@pytest.mark.parametrize("held", ["/>", ' s="3"/>', "></c>", ' s="3"><v/></c>', "><v></v></c>"])
def test_empty_cells_far_away_are_coloured_and_no_part_of_the_table(tmp_path: Path, held: str) -> None:
    parsed = parse_document(write(tmp_path, "coloured.xlsx", _stray_cell('"', held)), OPTIONS)
    assert [(one["stem"], one["answer"]) for one in parsed.questions] == [("甲是什么", ["乙"])]


@cache
def make_bad_files() -> dict[str, tuple[bytes, str]]:
    """Name → bytes and the status they must get; made when asked for: a zip bomb costs a second."""
    return {
        "empty.docx": (b"", "empty"),
        "zeros.xlsx": (b"\x00" * 4096, "empty"),
        "cut.docx": (make_docx(["甲" * 4000])[:-300], "corrupt"),
        "cut.pdf": (make_pdf([[(50, 800, "x")]])[:300], "corrupt"),
        "locked.pdf": (make_pdf([[(50, 800, "x")]], password="secret"), "encrypted"),
        "locked.xlsx": (make_compound_file("EncryptedPackage"), "encrypted"),
        "bomb.docx": (make_docx(["x"], {"big.xml": "0" * 300_000_000}), "zip_bomb"),
        "stray.xlsx": (_stray_cell('"'), "too_large"),
        "stray2.xlsx": (_stray_cell("'"), "too_large"),
        "~$lock.docx": (b"\x05owner" + b" " * 100, "unsupported"),
        "noise.txt": (bytes(range(1, 32)) * 50, "unsupported"),
        "broken.json": (b'{"a": [1, 2', "corrupt"),
        "archive.docx": (make_zip({"readme.md": "x"}), "unsupported"),
    }


def test_bad_documents_become_rows_with_an_error_and_stop_nothing(tmp_path: Path) -> None:
    bad = make_bad_files()
    for name, (data, _) in bad.items():
        write(tmp_path, name, data)
    write(tmp_path, "zz-good.txt", PAPER)
    results = {parsed.path.name: parsed for parsed in parse_documents([tmp_path], OPTIONS, workers=2)}
    assert {name: results[name].document["status"] for name in bad} == {
        name: status for name, (_, status) in bad.items()
    }
    for name in bad:
        assert results[name].document["error"].endswith("."), name
        assert results[name].questions == []
    assert len(results["zz-good.txt"].questions) == 2


def test_a_file_above_the_size_limit_is_not_opened(tmp_path: Path) -> None:
    path = write(tmp_path, "big.txt", PAPER * 100)
    parsed = parse_document(path, IngestOptions(max_bytes=1000))
    assert (parsed.document["status"], parsed.document["size_bytes"]) == ("too_large", path.stat().st_size)


def test_a_document_that_takes_too_long_is_stopped_and_the_next_one_read(tmp_path: Path) -> None:
    slow = write(tmp_path, "slow.txt", "\n".join(f"{n % 7 + 1}. 甲乙丙（ ）丁" for n in range(400_000)))
    assert parse_document(slow, IngestOptions(time_limit_s=1)).document["status"] == "timeout"
    assert len(parse_document(write(tmp_path, "good.txt", PAPER), OPTIONS).questions) == 2


def test_a_document_that_needs_too_much_memory_is_stopped(tmp_path: Path) -> None:
    path = write(tmp_path, "large.txt", ("甲" * 200 + "\n") * 200_000)
    parsed = parse_document(path, IngestOptions(memory_limit_mb=400, time_limit_s=60))
    assert parsed.document["status"] in ("too_large", "crashed")


def test_results_come_in_the_order_of_the_files_with_paths_below_the_folder(tmp_path: Path) -> None:
    for index in range(12):
        folder = tmp_path / f"folder{index % 3}"
        folder.mkdir(exist_ok=True)
        write(folder, f"paper{index:02d}.txt", PAPER + str(index))
    write(tmp_path, ".hidden.txt", PAPER)
    files = list_documents([tmp_path])
    results = list(parse_documents([tmp_path], OPTIONS, workers=3))
    assert [parsed.path for parsed in results] == files
    assert len(files) == 12
    assert results[0].document["source_path"] == f"{tmp_path.name}/folder0/paper00.txt"


def test_paths_that_do_not_exist_and_empty_folders_are_a_usage_error(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="does not exist"):
        list_documents([tmp_path / "nothing.docx"])
    with pytest.raises(UsageError, match="no file"):
        list_documents([tmp_path])


def test_a_separate_answer_file_answers_the_paper_beside_it(tmp_path: Path) -> None:
    write(
        tmp_path,
        "期末A.txt",
        "一、选择题\n1. 甲（ ）\nA. 1 B. 2 C. 3 D. 4\n2. 乙（ ）\nA. 1 B. 2 C. 3 D. 5\n二、简答题\n1. 什么是丙？\n",
    )
    write(tmp_path, "期末A答案.txt", "期末A参考答案\n一、选择题\n1-2 CA\n二、简答题\n1. 丙就是丙。\n")
    paper, key = list(parse_documents([tmp_path], OPTIONS, workers=1))
    assert [question["answer"] for question in paper.questions] == [["C"], ["A"], ["丙就是丙。"]]
    assert (key.document["status"], key.questions) == ("no_questions", [])
    assert "answers" in key.document["error"]


def test_the_discipline_comes_from_the_mapping_before_folder_and_name(tmp_path: Path) -> None:
    folder = tmp_path / "Medicine"
    folder.mkdir()
    path = write(folder, "宏观经济学.txt", "1. 甲是什么？\n2. 乙是什么？\n")
    assert parse_document(path, OPTIONS).document["discipline"] == "Medicine"
    mapped = parse_document(path, IngestOptions(discipline_map={"宏观经济学": "History/World History"}))
    assert (mapped.document["discipline"], mapped.document["sub_discipline"]) == ("History", "World History")


def test_columns_of_an_unknown_sheet_are_reported_and_can_be_mapped(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        "bank.xlsx",
        make_xlsx({"Blatt": [["Kysymys", "Vastaus"], ["Was ist ein Atom?", "Ein Teilchen"]]}),
    )
    plain = parse_document(path, OPTIONS)
    assert plain.document["status"] == "no_questions"
    assert "'Kysymys', 'Vastaus'" in plain.document["warnings"][0]
    mapping = write(tmp_path, "mapping.yaml", "columns:\n  stem: [Kysymys]\n  answer: [Vastaus]\n")
    mapped = parse_document(path, IngestOptions(mapping_file=mapping))
    assert [(question["stem"], question["answer"]) for question in mapped.questions] == [
        ("Was ist ein Atom?", ["Ein Teilchen"])
    ]


def test_a_mapping_file_that_is_no_mapping_is_a_usage_error(tmp_path: Path) -> None:
    mapping = write(tmp_path, "mapping.yaml", "- 1\n- 2\n")
    with pytest.raises(UsageError, match="mapping file"):
        parse_document(write(tmp_path, "a.txt", PAPER), IngestOptions(mapping_file=mapping))


def test_a_question_printed_twice_is_kept_once_and_the_document_says_so(tmp_path: Path) -> None:
    block = "{}. 水的化学式是（ ）\nA. H₂O B. CO₂ C. O₂ D. N₂\n"
    parsed = parse_document(
        write(tmp_path, "a.txt", "一、选择题\n" + block.format(1) + block.format(2)), OPTIONS
    )
    assert parsed.document["question_count"] == len(parsed.questions) == 1
    assert parsed.document["warnings"] == [
        "1 of 2 questions repeat another of this document and were left out."
    ]


def test_doubtful_questions_are_kept_with_their_reasons(tmp_path: Path) -> None:
    paper = "一、单项选择题\n1. 下列哪个数最大（ E ）\nA. 1 B. 2 C. 3 D. 4\n2. 没有选项的选择题是什么样子\n3. 下列哪个数最小\nA. 1 B. 1 C. 1 D. 2\n"
    parsed = parse_document(write(tmp_path, "a.txt", paper), IngestOptions(confidence_threshold=0.55))
    assert [(question["status"], question["parse_notes"]) for question in parsed.questions] == [
        ("low_confidence", []),
        ("low_confidence", ["options_missing"]),
        ("low_confidence", ["options_equal"]),
    ]


def test_the_json_of_a_document_follows_the_published_schema(tmp_path: Path) -> None:
    jsonschema = pytest.importorskip("jsonschema")
    schema = json.loads(
        resources.files("schemas").joinpath("data/document.schema.json").read_text(encoding="utf-8")
    )
    assert tuple(schema["$defs"]["question"]["properties"]["question_type"]["enum"]) == QUESTION_TYPES
    assert tuple(schema["$defs"]["discipline"]["enum"][:-1]) == DISCIPLINES
    for name, data in {"good.txt": PAPER.encode(), "bad.docx": b""}.items():
        parsed = parse_document(write(tmp_path, name, data), OPTIONS)
        jsonschema.validate(json.loads(render_document_json(parsed)), schema)


def test_a_paper_read_from_its_own_json_gives_the_same_questions(tmp_path: Path) -> None:
    parsed = parse_document(write(tmp_path, "a.txt", PAPER), OPTIONS)
    again = parse_document(write(tmp_path, "a.json", render_document_json(parsed)), OPTIONS)
    kept = ("question_uuid", "stem", "options", "answer")
    assert [[q[key] for key in kept] for q in again.questions] == [
        [q[key] for key in kept] for q in parsed.questions
    ]


@pytest.mark.parametrize("asking", ["a paper is read", "an original is shown"])
def test_what_opens_papers_is_given_no_key(
    asking: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    secrets = {"HOUSE_KEY": "k", "PGPASSWORD": "p", "PROCTOR_LEDGER_URL": "postgresql://u:p@db/x"}
    for name, value in secrets.items():
        monkeypatch.setenv(name, value)
    told = tmp_path / "told.json"
    tell = (
        sys.executable,
        "-c",
        f"import json, os; json.dump(dict(os.environ), open({str(told)!r}, 'w')); print('{{}}')",
    )
    if asking == "a paper is read":
        monkeypatch.setattr(client, "_COMMAND", tell)
        client._Server().close()
    else:
        monkeypatch.setattr(pages, "_COMMAND", tell)
        with suppress(DocumentError, KeyError):
            pages.ask_child({}, 60)
    given = json.loads(told.read_text())
    assert "PATH" in given and not secrets.keys() & given.keys()


def test_a_reader_that_returns_something_else_is_told_so() -> None:
    class Words:
        media_type = "text/x-mine"

        def read(self, data: bytes, options: object) -> Any:
            return "words"

    with pytest.raises(DocumentError, match="The reader of text/x-mine returned str, and no Extraction"):
        extract(b"a", Words(), {})


@pytest.mark.parametrize("begun", [0, 1], ids=["as it starts", "while it reads"])
def test_a_ctrl_c_within_a_lock_of_threads_does_not_keep_the_end_waiting(begun: int) -> None:
    """It comes where the main thread has just taken a lock, and would leave it held."""
    code = f"""
import itertools, sys, threading
from tasks.ingest import documents

def interrupt(frame, event, _):
    if event == "return" and frame.f_code is threading.Condition.__enter__.__code__:
        sys.setprofile(None)
        raise KeyboardInterrupt

documents._parse = lambda source, options: source
found = documents.parse_sources(range(40), documents.IngestOptions(), 2)
read = list(itertools.islice(found, {begun}))
sys.setprofile(interrupt)
try:
    read += found
except KeyboardInterrupt:
    print("interrupted")
else:
    print(read == list(range(40)))
"""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True
    )
    # Once the threads are there, no lock of theirs is taken any more.
    assert done.stdout.split() == (["True"] if begun else ["interrupted"])
