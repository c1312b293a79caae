"""A report that is made again makes the pages that change, and is what a whole one is."""

from __future__ import annotations

import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from schemas.settings import Settings
from tasks.report import site
from tasks.report.frame import SITE_PAGES, Issue
from tasks.report.panels import Source
from tasks.report.site import PANEL_PAGES, render_site
from tests.benchmarks.history_rows import History, land_month, publish_month
from tests.tasks.report.conftest import NOON
from warehouse.lake import Lake, hold_rows, open_lake

pytestmark = pytest.mark.slow


def render(lake: Lake, folder: Path, *, is_plain: bool = False, at: datetime = NOON) -> list[str]:
    """Render into the folder; answers with the pages that were made."""
    before = {path: path.stat().st_mtime_ns for path in folder.glob("*.html")}
    with hold_rows(lake) as held:
        run_named = lake.run_named if is_plain else held.run_named
        render_site(Source(run_named, mark_query=held.mark), Issue(folder, generated_at=at))
    return sorted(path.stem for path in folder.glob("*.html") if before.get(path) != path.stat().st_mtime_ns)


def read(folder: Path) -> dict[str, bytes]:
    # The drawing library, which takes a second to put together, is the same file for all.
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and path.name not in ("vega.js", "kept.json")
    }


def test_only_what_changed_is_made_again_and_all_is_as_if_it_were(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Of the pages of panels three, since all are made alike.
    some = [page for page in site.PANEL_PAGES if page.name in ("errors", "judges", "method")]
    monkeypatch.setattr(site, "PANEL_PAGES", some)
    settings = Settings(home=tmp_path / "home")
    history, whole, kept = History(3, 30), tmp_path / "whole", tmp_path / "kept"
    left_out = {page.name for page in PANEL_PAGES} - {page.name for page in some}
    every = sorted(page.name for page in SITE_PAGES if page.name not in left_out)
    with open_lake(settings) as lake:
        for number, month in enumerate(("2025-01", "2025-02")):
            land_month(lake, history.list_frames(number, month), datetime(2026, 1, 1, tzinfo=UTC))
        publish_month(lake, settings, "2025-01", is_equated=False)
        assert render(lake, kept) == every
        first = read(kept)
        # Only what the public folder says is not known by files of the lake.
        assert render(lake, kept) == ["method"]
        assert read(kept) == first
        # A kill leaves pages without what they rest on: done again, that is what it would have been.
        rested = (kept / "data" / "kept.json").read_bytes()
        (kept / "data" / "kept.json").unlink()
        assert render(lake, kept, at=NOON + timedelta(days=1)) == every
        assert (kept / "data" / "kept.json").read_bytes() == rested
        assert render(lake, kept) == ["method"]

        publish_month(lake, settings, "2025-02", is_equated=False)
        # Each page names at its top the editions that are provisional, and there is one more.
        assert render(lake, kept) == every
        # What a damaged file says of pages that are there counts for nothing.
        shutil.copytree(kept, whole, ignore=shutil.ignore_patterns("data"))
        (whole / "data").mkdir()
        (whole / "data" / "kept.json").write_text("{", encoding="utf-8")
        assert render(lake, whole, is_plain=True) == every
        assert read(kept) == read(whole)
        assert read(kept)["index.html"] != first["index.html"]

        (kept / "errors.html").write_text("edited by hand", encoding="utf-8")
        (kept / "data" / "board.js").unlink()
        assert render(lake, kept) == ["errors", "index", "method"]
        assert read(kept) == read(whole)
