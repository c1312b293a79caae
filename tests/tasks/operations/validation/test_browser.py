from __future__ import annotations

from pathlib import Path

import pytest

from schemas.settings import Settings
from tasks.operations.validation.landed import validate_landed
from tests.browser import needs_browser, read_requests, run_browser
from warehouse.lake import open_lake
from warehouse.lake.suite.data_docs import NOTHING_REMOTE

pytestmark = [*needs_browser, pytest.mark.slow]


def list_requests(page: Path, folder: Path) -> list[str]:
    folder.mkdir()
    shown = run_browser(page, folder / "profile", f"--log-net-log={folder / 'net.json'}", "--dump-dom").stdout
    assert "sessions" in shown
    return read_requests(folder / "net.json")


def test_a_browser_that_opens_the_pages_asks_no_other_server_for_anything(tmp_path: Path) -> None:
    with open_lake(Settings(home=tmp_path / "home")) as lake:
        index = validate_landed(lake, tmp_path / "validation", table="sessions").page
    page = next((index.parent / "validations").rglob("*.html"))

    assert list_requests(index, tmp_path / "index") == []
    assert list_requests(page, tmp_path / "page") == []
    # As Great Expectations writes it, the page would ask.
    page.write_text(page.read_text(encoding="utf-8").replace(NOTHING_REMOTE, ""), encoding="utf-8")
    assert list_requests(page, tmp_path / "as-written") != []
