from __future__ import annotations

from pathlib import Path

import pytest

from deployments.command_line.generated_docs import DOCS, PAGES, write_pages


@pytest.mark.parametrize("name", PAGES)
def test_a_generated_page_in_docs_is_the_one_that_is_rendered(name: str) -> None:
    assert (DOCS / name).read_text("utf-8") == PAGES[name](), f"docs/{name} is stale: run `make docs`"


def test_only_pages_that_changed_are_written(tmp_path: Path) -> None:
    assert write_pages(tmp_path) == [tmp_path / name for name in PAGES]
    (tmp_path / "queries.md").write_text("stale", encoding="utf-8")

    assert write_pages(tmp_path) == [tmp_path / "queries.md"]
    assert write_pages(tmp_path) == []
