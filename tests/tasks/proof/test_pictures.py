"""The pictures of the archive are held to their names, as originals are."""

from __future__ import annotations

from pathlib import Path

from schemas.settings import Settings
from tasks.proof import check_stages
from tasks.questions.pictures import name_picture
from tests.fresh import open_new_lake
from tests.tasks.ingest.kit import land_documents
from tests.tasks.ingest.test_pictures import CHOICES, PICTURES, write_word
from warehouse.ledger.engine.opening import open_ledger


def test_a_changed_and_a_missing_picture_are_found_by_paper(tmp_path: Path) -> None:
    settings = Settings(home=tmp_path / "home")
    write_word(tmp_path / "paper.docx", CHOICES, PICTURES)
    with open_new_lake(settings) as lake, open_ledger(settings.ledger_address) as ledger:
        land_documents(lake, settings, [tmp_path / "paper.docx"])
        report = check_stages(ledger, lake, settings)
        assert (report.original_count, report.picture_count, report.findings) == (1, 6, ())
        changed, missing, *_ = lake.query("SELECT sha256 FROM pictures ORDER BY sha256")["sha256"]
        path = name_picture(settings.archive_dir, changed)
        data = bytearray(path.read_bytes())
        data[len(data) // 2] ^= 1
        path.write_bytes(data)
        name_picture(settings.archive_dir, missing).unlink()
        found = check_stages(ledger, lake, settings).findings
    assert [(one.name, one.where) for one in found] == [
        ("picture_changed", "paper.docx"),
        ("picture_missing", "paper.docx"),
    ]
