"""Old Word documents that LibreOffice does not open are read from their own bytes."""

from __future__ import annotations

from pathlib import Path

import pytest

from schemas.errors import DocumentError
from tasks.ingest.readers.formats import DOC
from tasks.ingest.readers.office import convert_with_libreoffice, find_libreoffice
from tasks.ingest.readers.word_binary import WARNING, read_word_binary
from tests.tasks.ingest.builders import make_docx, table

needs_office = pytest.mark.skipif(find_libreoffice() is None, reason="LibreOffice is not installed")
PAPER = [
    "一、单项选择题",
    "1. 物理模型是（ ）。",
    "A. x    B. y",
    table([["题号", "答案"], ["1", "A"]]),
    "Ende: ü é €",
]


@pytest.fixture(scope="module")
def old_word() -> bytes:
    return convert_with_libreoffice(make_docx(PAPER), "docx", "doc", 100)


@needs_office
def test_paragraphs_and_table_rows_are_read_in_their_order(old_word: bytes) -> None:
    lines = [(line.text, line.cells) for line in read_word_binary(old_word).lines if line.text.strip()]
    rows = [("题号 | 答案", ("题号", "答案")), ("1 | A", ("1", "A"))]
    assert lines == [*((text, ()) for text in PAPER[:3]), *rows, (PAPER[4], ())]


@needs_office
def test_a_document_that_libreoffice_fails_over_is_read_and_says_so(
    old_word: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "soffice"
    program.write_text("#!/bin/sh\nexit 1\n")
    program.chmod(0o755)
    monkeypatch.setenv("PROCTOR_SOFFICE", str(program))
    extraction = DOC.read(old_word, {"time_limit_s": 60.0, "use_ocr": False})
    assert extraction.warnings == [WARNING]
    assert "1. 物理模型是（ ）。" in [line.text for line in extraction.lines]


@needs_office
def test_a_protected_document_says_that_it_is(old_word: bytes, tmp_path: Path) -> None:
    """The flag is in the first bytes of the main stream, which begins in its own sector."""
    place = old_word.index(b"\xec\xa5")
    protected = bytearray(old_word)
    protected[place + 0x0B] |= 0x01
    with pytest.raises(DocumentError, match="password"):
        read_word_binary(bytes(protected))


@needs_office
@pytest.mark.parametrize("size", [600, 2_000, 5_000])
def test_a_document_cut_off_is_damaged_or_read_and_never_a_crash(old_word: bytes, size: int) -> None:
    try:
        read_word_binary(old_word[:size])
    except DocumentError as error:
        assert error.code == "corrupt"
