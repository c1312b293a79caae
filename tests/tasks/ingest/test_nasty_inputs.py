"""Inputs that once stopped a batch or lost an original.

Every file ends as a row, and its bytes stay what they were.
"""

from __future__ import annotations

import os
import socket
from pathlib import Path
from typing import Any

import pytest

from schemas.errors import DocumentError
from schemas.settings import Settings
from tasks.ingest import documents, landing
from tasks.ingest.archiving import archive_document
from tasks.ingest.documents import IngestOptions, ParsedDocument, parse_document
from tasks.ingest.intake import take_in
from tasks.ingest.landing import land_documents
from tests.tasks.ingest.builders import write
from warehouse.lake import Lake

PAPER = "一、判断题\n1. 地球绕太阳转。（√）\n2. 月球绕地球转。（√）\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "papers"
    made.mkdir()
    return made


def read_rows(lake: Lake) -> dict[str, tuple[str, str | None]]:
    rows = lake.query("select document_name, status, error from documents").to_dicts()
    return {row["document_name"]: (row["status"], row["error"]) for row in rows}


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("paper.txt", PAPER),
        (
            "paper.json",
            '[{"question": "甲是什么", "answer": "乙"}, {"question": "丙是什么", "answer": "丁"}]',
        ),
    ],
)
def test_the_original_of_a_text_or_json_file_is_kept_as_it_was(
    folder: Path, lake: Lake, settings: Settings, name: str, content: str
) -> None:
    raw = content.encode("gb18030" if name.endswith("txt") else "utf-8") + b"\r\n"
    write(folder, name, raw)
    land_documents(lake, settings, [folder])
    land_documents(lake, settings, [folder], again=True)
    kept = [path for path in settings.archive_dir.rglob("*") if path.is_file() and path.read_bytes() == raw]
    assert len(kept) == 1
    assert kept[0].name.endswith(f".original{Path(name).suffix}")


def test_a_pipe_a_socket_and_a_dangling_link_are_rows_with_a_reason(
    folder: Path, lake: Lake, settings: Settings
) -> None:
    os.mkfifo(folder / "pipe.txt")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(os.path.relpath(folder / "socket.txt"))
        (folder / "gone.docx").symlink_to(folder / "nowhere.docx")
        write(folder, "good.txt", PAPER)
        land_documents(lake, settings, [folder])
    rows = read_rows(lake)
    assert {name: status for name, (status, _) in rows.items()} == {
        "pipe.txt": "unsupported",
        "socket.txt": "corrupt",
        "gone.docx": "unsupported",
        "good.txt": "parsed",
    }
    assert rows["pipe.txt"][1] == "This is a named pipe and no file with content. Leave it out."
    assert str(rows["gone.docx"][1]).startswith("This is a link, and links in a folder are not followed")


def test_a_device_that_is_named_does_not_hang(settings: Settings) -> None:
    parsed = parse_document(Path("/dev/zero"), IngestOptions())
    assert (parsed.document["status"], parsed.document["error"]) == (
        "unsupported",
        "This is a device and no file with content. Leave it out.",
    )


def test_a_name_in_gbk_bytes_is_read_and_written_as_what_it_says(
    folder: Path, lake: Lake, settings: Settings
) -> None:
    name = os.fsdecode("期末试卷.txt".encode("gbk"))
    (folder / name).write_bytes(PAPER.encode())
    land_documents(lake, settings, [folder])
    assert read_rows(lake) == {"期末试卷.txt": ("parsed", None)}


def test_a_file_that_may_not_be_read_is_a_row_and_the_others_are_landed(
    folder: Path, lake: Lake, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(folder, "good.txt", PAPER)
    locked = write(folder, "locked.txt", PAPER + "3. 火星绕太阳转。（√）\n")
    real = os.open

    def refuse(path: Any, *arguments: Any, **named: Any) -> int:
        if str(path) == locked.name:
            raise PermissionError(13, "Permission denied")
        return real(path, *arguments, **named)

    monkeypatch.setattr(os, "open", refuse)  # the tests may run as a user who may read everything
    land_documents(lake, settings, [folder])
    assert read_rows(lake) == {
        "good.txt": ("parsed", None),
        "locked.txt": (
            "corrupt",
            "The file cannot be opened (Permission denied). Check that it is there and its permissions.",
        ),
    }


def test_a_file_deleted_or_changed_after_it_was_read_is_landed_and_kept_as_it_was_read(
    folder: Path, lake: Lake, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone, changed = (
        write(folder, "gone.txt", PAPER),
        write(folder, "changed.txt", PAPER + "3. 地球是方的。（×）\n"),
    )
    before = {changed.read_bytes(), gone.read_bytes()}
    real = archive_document

    def change_first(archive: Path, parsed: ParsedDocument) -> None:
        gone.unlink(missing_ok=True)
        changed.write_bytes(b"something else")
        real(archive, parsed)

    monkeypatch.setattr(landing, "archive_document", change_first)
    land_documents(lake, settings, [folder])
    assert {status for status, _ in read_rows(lake).values()} == {"parsed"}
    originals = {path.read_bytes() for path in settings.archive_dir.rglob("*.original.txt")}
    assert originals == before
    assert list((settings.archive_dir / ".spool").iterdir()) == []


def test_one_bad_line_among_json_lines_costs_that_line_alone(folder: Path) -> None:
    lines = [
        '{"question": "甲是什么？", "answer": "乙"}',
        '{"question": ',
        '{"question": "丙是什么？", "answer": "丁"}',
    ]
    parsed = parse_document(write(folder, "bank.jsonl", "\n".join(lines)), IngestOptions())
    assert [question["stem"] for question in parsed.questions] == ["甲是什么？", "丙是什么？"]
    assert "1 of 3 lines are no JSON object and were left out: 2." in parsed.document["warnings"]


def test_a_digit_that_is_no_decimal_number_stops_no_paper(folder: Path) -> None:
    paper = '<ol start="②"><li value="²">Why is the sky blue?<li>Why not green?</ol><table><tr><td colspan="³">a<td>b</table>'
    found = parse_document(write(folder, "quiz.html", paper), IngestOptions())
    assert (found.document["status"], len(found.questions)) == ("parsed", 2), found.document["error"]


def test_nuls_in_a_text_do_not_reach_the_questions(folder: Path) -> None:
    parsed = parse_document(write(folder, "nul.txt", PAPER.replace("太阳", "太\0阳")), IngestOptions())
    assert (parsed.document["status"], parsed.questions[0]["stem"]) == ("parsed", "地球绕太阳转。")


def test_a_copy_that_a_killed_ingest_left_is_deleted_by_the_next_one(
    folder: Path, lake: Lake, settings: Settings
) -> None:
    left = settings.archive_dir / ".spool" / "999999-dead"
    left.mkdir(parents=True)
    (left / "copy").write_bytes(b"x")
    write(folder, "good.txt", PAPER)
    land_documents(lake, settings, [folder])
    assert not left.exists()


def test_a_link_in_a_folder_is_a_row_with_a_reason_and_what_it_leads_to_is_not_read(
    folder: Path, lake: Lake, settings: Settings, tmp_path: Path
) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    secret = write(elsewhere, "secret.txt", PAPER.replace("地球", "root:x"))
    write(folder, "good.txt", PAPER)
    (folder / "good-答案.txt").symlink_to(secret)
    (folder / "passwd.txt").symlink_to(secret)
    (folder / "inner").symlink_to(elsewhere, target_is_directory=True)
    land_documents(lake, settings, [folder])
    rows = read_rows(lake)
    assert {name: status for name, (status, _) in rows.items()} == {
        "good.txt": "parsed",
        "good-答案.txt": "unsupported",
        "passwd.txt": "unsupported",
        "inner": "unsupported",
    }
    assert "links in a folder are not followed" in str(rows["passwd.txt"][1])
    kept = [path.read_bytes() for path in settings.archive_dir.rglob("*") if path.is_file()]
    assert not any(b"root:x" in content for content in kept)


def test_a_folder_that_becomes_a_link_after_it_was_listed_is_not_followed(
    folder: Path, tmp_path: Path
) -> None:
    (folder / "inner").mkdir()
    write(folder / "inner", "a.txt", PAPER)
    elsewhere = tmp_path / "elsewhere"
    (folder / "inner").rename(elsewhere)
    (folder / "inner").symlink_to(elsewhere, target_is_directory=True)
    with pytest.raises(DocumentError):
        take_in(folder / "inner" / "a.txt", 1 << 20, root=folder)
    assert take_in(elsewhere / "a.txt", 1 << 20, root=elsewhere).size > 0


def test_a_link_that_is_named_itself_is_followed(folder: Path, tmp_path: Path) -> None:
    paper = write(folder, "a.txt", PAPER)
    (tmp_path / "link.txt").symlink_to(paper)
    (tmp_path / "linked").symlink_to(folder, target_is_directory=True)
    sources = documents.list_sources([tmp_path / "link.txt", tmp_path / "linked"])
    assert [source.path for source in sources] == [paper.resolve()]
    assert parse_document(tmp_path / "link.txt", IngestOptions()).document["status"] == "parsed"


def test_every_file_of_a_folder_is_listed(folder: Path) -> None:
    write(folder, "a.txt", PAPER)
    (folder / "b.txt").symlink_to(folder / "nowhere")
    os.mkfifo(folder / "c.txt")
    assert [path.name for path in documents.list_documents([folder])] == ["a.txt", "b.txt", "c.txt"]
