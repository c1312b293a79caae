"""Every link of every page leads somewhere: to a file that exists, and to a heading of it."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = [*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md"), *(ROOT / "docs" / "decisions").glob("*.md")]


def read_prose(page: Path) -> str:
    """A page without its blocks of code."""
    return re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)


@cache
def list_anchors(page: Path) -> frozenset[str]:
    """What leads to each heading, as the usual readers of Markdown name it."""
    headings = re.findall(r"^#+ (.*)$", read_prose(page), re.MULTILINE)
    return frozenset(
        re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-") for heading in headings
    )


def find_dead_links(page: Path) -> list[str]:
    """The links of a page that lead nowhere; addresses of other sites are not asked."""
    dead = []
    for link in re.findall(r"\]\(([^)\s]+)\)", read_prose(page)):
        if link.startswith(("http:", "https:")):
            continue
        file, _, anchor = link.partition("#")
        target = (page.parent / file).resolve() if file else page
        is_page = target.suffix == ".md"
        if not target.exists() or (anchor and is_page and anchor not in list_anchors(target)):
            dead.append(link)
    return dead


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_of_the_page_leads_somewhere(page: Path) -> None:
    assert find_dead_links(page) == []


def test_every_page_is_at_most_two_steps_from_the_readme() -> None:
    def list_linked(page: Path) -> set[Path]:
        links = re.findall(r"\]\(([^)#\s]+\.md)(?:#[^)]*)?\)", read_prose(page))
        return {(page.parent / link).resolve() for link in links if not link.startswith("http")}

    one = list_linked(ROOT / "README.md")
    two = one.union(*(list_linked(page) for page in one))
    assert set((ROOT / "docs").glob("*.md")) - two == set()


def test_a_dead_link_is_found(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("# One\n[a](#one) [b](#two) [c](none.md) [d](page.md#one)\n```\n[e](none.md)\n```\n")
    assert find_dead_links(page) == ["#two", "none.md"]
