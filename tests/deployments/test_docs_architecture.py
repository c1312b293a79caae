"""docs/architecture.md and its pictures name what there is, and leave no package out."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

from schemas.tables import TABLES
from warehouse.lake.reading.queries import read_queries
from warehouse.ledger.engine.tables import metadata

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
PAGE = (DOCS / "architecture.md").read_text(encoding="utf-8")
ROOMS = (DOCS / "rooms.md").read_text(encoding="utf-8")
ROADS = ("question-road.svg", "answer-road.svg")
FOLDERS = ("flows", "tasks", "schemas", "warehouse", "deployments", "tests", "docs")


def find_paths(page: str) -> list[str]:
    """What a page sets in backticks as a path of the repository."""
    return [
        name
        for name in re.findall(r"`([^`\s]+)`", page)
        if name.split("/")[0] in FOLDERS and "/" in name and "→" not in name
    ]


def list_packages(folder: str) -> list[str]:
    """Every folder below with Python or SQL in it."""
    files = [*(ROOT / folder).rglob("*.py"), *(ROOT / folder).rglob("*.sql")]
    folders = {path.parent.relative_to(ROOT).as_posix() for path in files if "__pycache__" not in path.parts}
    return sorted(folders - {folder})


def read_stores(picture: str) -> list[tuple[str, str]]:
    """(store, table) for everything in the lower boxes of a picture, whose lines may continue."""
    text = (DOCS / "pictures" / picture).read_text(encoding="utf-8")
    found, store = [], ""
    for line in re.findall(r'class="f">([^<]+)</text>', text):
        if "/" in line:
            continue
        named = re.match(r"(\w+): (.*)", line)
        if named is not None:
            store, line = named.groups()
        found += [(store, name) for name in re.findall(r"\w+", line)]
    return found


def test_every_path_of_the_page_exists() -> None:
    paths = find_paths(PAGE)
    assert len(paths) > 80
    # A recipe writes `<stage>` for a name that is to be chosen: some file of that shape is there already.
    assert [path for path in paths if not list(ROOT.glob(re.sub(r"<\w+>", "*", path)))] == []


@pytest.mark.parametrize("folder", ["tasks", "warehouse", "deployments"])
def test_every_package_stands_in_the_tree_or_among_the_rooms(folder: str) -> None:
    missing = [name for name in list_packages(folder) if f"\n## `{name}/`\n" not in ROOMS]
    assert [name for name in missing if f"| `{name}/` |" not in PAGE] == []


def test_every_flow_stands_in_the_tree() -> None:
    flows = [path for path in sorted((ROOT / "flows").glob("*.py")) if path.stem != "__init__"]
    assert [path.name for path in flows if f"| `flows/{path.name}` |" not in PAGE] == []


def test_every_picture_and_page_that_is_linked_exists() -> None:
    links = re.findall(r"\]\(([^)#:]+)\)", PAGE)
    assert {f"pictures/{road}" for road in ROADS} < set(links)
    assert [link for link in links if not (DOCS / link).exists()] == []


def test_every_capability_that_waits_stands_among_those_that_no_command_reaches() -> None:
    section = PAGE.split("## What no command reaches yet")[1].split("\n## ")[0]
    waiting = yaml.safe_load((ROOT / "tests" / "reachability.yaml").read_text(encoding="utf-8"))
    missing = [
        group["waits_for"]
        for group in waiting
        if not group["waits_for"].startswith("nothing:")
        and not any(f"{name.rpartition('.')[0].replace('.', '/')}.py" in section for name in group["names"])
    ]
    assert missing == []


@pytest.mark.parametrize("picture", ROADS)
def test_every_folder_of_a_road_exists(picture: str) -> None:
    text = (DOCS / "pictures" / picture).read_text(encoding="utf-8")
    places = [
        place for line in re.findall(r'class="f">([^<]*/[^<]*)</text>', text) for place in line.split(", ")
    ]
    assert len(places) >= 8
    assert [place for place in places if not (ROOT / place).is_dir()] == []


@pytest.mark.parametrize("picture", ROADS)
def test_every_table_of_a_road_is_one_of_its_store(picture: str) -> None:
    known = {
        "lake": set(TABLES),
        "ledger": set(metadata.tables),
        "views": set(read_queries("marts")),
        "analyses": set(read_queries("analyses")),
    }
    stores = read_stores(picture)
    assert len(stores) >= 14
    assert [(store, name) for store, name in stores if name not in known[store]] == []
