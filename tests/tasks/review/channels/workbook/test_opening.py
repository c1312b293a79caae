from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from tests.tasks.review.channels.workbook.conftest import refuse
from warehouse.ledger.engine.ledger import Ledger


def test_a_truncated_workbook_is_refused(ledger: Ledger, path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-20])
    assert "review-b1-chen.xlsx: " in refuse(ledger, path)


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04", b"plain text", b"\xd0\xcf\x11\xe0" + bytes(600)])
def test_what_is_no_workbook_is_refused(ledger: Ledger, path: Path, content: bytes) -> None:
    path.write_bytes(content)
    assert "review-b1-chen.xlsx: " in refuse(ledger, path)


def test_a_workbook_that_would_unpack_to_gigabytes_is_not_opened(ledger: Ledger, path: Path) -> None:
    with zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED) as package:
        package.writestr("xl/media/image1.xml", b"\0" * (48 * 1024 * 1024))
    assert "would unpack to" in refuse(ledger, path)


def test_a_part_with_an_entity_declaration_is_not_opened(ledger: Ledger, path: Path) -> None:
    with zipfile.ZipFile(path, "a") as package:
        package.writestr("xl/extra.xml", '<?xml version="1.0"?><!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>')
    assert "declares a document type" in refuse(ledger, path)
