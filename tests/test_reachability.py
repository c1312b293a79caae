"""Everything that tasks/ and warehouse/ offer is reached from a command or a flow.

Otherwise, it states what it waits for.
"""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import NamedTuple

import pytest
import yaml

from tests.reachability import Module, Node, find_reached, list_definitions, list_nodes, read_modules

ROOT = Path(__file__).resolve().parents[1]
PROGRAMS = ("deployments", "flows")
LIBRARIES = ("tasks", "warehouse")
# Found by alembic in its folder.
MIGRATIONS = "warehouse.ledger.engine.migrations"


class Waiting(NamedTuple):
    """A name that nothing reaches yet."""

    name: str
    since: date
    waits_for: str


def read_waiting() -> list[Waiting]:
    groups = yaml.safe_load((ROOT / "tests" / "reachability.yaml").read_text(encoding="utf-8"))
    return [Waiting(name, group["since"], group["waits_for"]) for group in groups for name in group["names"]]


def list_unreached(modules: dict[str, Module], *also: Node) -> set[str]:
    """Functions and classes of the libraries that no program reaches."""
    roots = [*list_nodes(modules, PROGRAMS), *also]
    roots += [node for node in list_nodes(modules, LIBRARIES) if node.module.startswith(MIGRATIONS)]
    reached = find_reached(modules, roots)
    return {str(node) for node in list_definitions(modules, LIBRARIES) if node not in reached}


def is_public(name: str) -> bool:
    return not name.rpartition(".")[2].startswith("_")


@pytest.fixture(scope="module")
def modules() -> dict[str, Module]:
    return read_modules(ROOT, (*PROGRAMS, *LIBRARIES))


@pytest.fixture(scope="module")
def unreached(modules: dict[str, Module]) -> set[str]:
    return list_unreached(modules)


def test_what_nothing_reaches_says_what_it_waits_for(unreached: set[str]) -> None:
    assert {one for one in unreached if is_public(one)} - {entry.name for entry in read_waiting()} == set()


def test_what_is_reached_or_gone_leaves_the_list(unreached: set[str]) -> None:
    assert {entry.name for entry in read_waiting()} - unreached == set()


def test_nothing_private_is_left_over(modules: dict[str, Module]) -> None:
    waiting = {entry.name for entry in read_waiting()}
    kept = [node for node in list_definitions(modules, LIBRARIES) if str(node) in waiting]
    assert {name for name in list_unreached(modules, *kept) if not is_public(name)} == set()


def test_every_entry_is_dated_and_says_why() -> None:
    entries = read_waiting()
    assert all(isinstance(entry.since, date) and len(entry.waits_for) > 10 for entry in entries)
    assert len({entry.name for entry in entries}) == len(entries)


def write_tree(root: Path, **texts: str) -> dict[str, Module]:
    """A small house: each keyword is a path with `__` for `/`."""
    for name, text in texts.items():
        path = root / f"{name.replace('__', '/')}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return read_modules(root, (*PROGRAMS, *LIBRARIES))


def test_a_function_that_only_a_test_calls_is_reported(tmp_path: Path) -> None:
    modules = write_tree(
        tmp_path,
        tasks__work="def used(): ...\ndef tested(): ...\n",
        flows__run="from tasks.work import used\ndef run():\n    used()\n",
        tests__test_work="from tasks.work import tested\ndef test_it():\n    tested()\n",
    )
    assert list_unreached(modules) == {"tasks.work.tested"}


def test_what_only_an_unreached_function_calls_is_reported_with_it(tmp_path: Path) -> None:
    modules = write_tree(
        tmp_path,
        tasks__work="def first():\n    second()\ndef second():\n    _third()\ndef _third():\n    first()\n",
        flows__run="import tasks.work\n",
    )
    assert list_unreached(modules) == {"tasks.work.first", "tasks.work.second", "tasks.work._third"}


def test_an_import_alone_is_no_use(tmp_path: Path) -> None:
    modules = write_tree(
        tmp_path,
        tasks__work="def imported(): ...\n",
        flows__run="from tasks.work import imported\n__all__ = ['imported']\n",
    )
    assert list_unreached(modules) == {"tasks.work.imported"}


def test_every_way_to_a_name_is_followed(tmp_path: Path) -> None:
    modules = write_tree(
        tmp_path,
        tasks__work="def one(): ...\ndef two(): ...\ndef three(): ...\ndef four(): ...\ndef five(): ...\n",
        tasks__table="from tasks.work import four\nTABLE = {'four': four}\n",
        tasks__door="from tasks.work import five\n",
        flows__run=(
            "import tasks.work\n"
            "from tasks import work as other\n"
            "from tasks.table import TABLE\n"
            "from tasks.door import five\n"
            "def run():\n"
            "    from tasks.work import three\n"
            "    tasks.work.one(), other.two(), list(map(three, [])), TABLE, five()\n"
        ),
    )
    assert list_unreached(modules) == set()


def test_a_name_of_the_function_s_own_hides_the_module_s(tmp_path: Path) -> None:
    modules = write_tree(
        tmp_path,
        tasks__work="def score(): ...\ndef rank(): ...\ndef run(score):\n    rank = 1\n    return score, rank\n",
        flows__run="from tasks.work import run\nrun(1)\n",
    )
    assert list_unreached(modules) == {"tasks.work.score", "tasks.work.rank"}


def test_a_class_is_used_where_it_can_be_made(tmp_path: Path) -> None:
    modules = write_tree(
        tmp_path,
        tasks__work=(
            "from typing import Protocol\n"
            "class Made: ...\n"
            "class Base: ...\n"
            "class Derived(Base): ...\n"
            "class Shape(Protocol): ...\n"
            "class Named: ...\n"
            "class Asked: ...\n"
            "class Caught(Exception): ...\n"
        ),
        flows__run=(
            "from tasks.work import *\n"
            "from tasks.work import Asked, Caught, Derived, Made, Named, Shape\n"
            "def run(shape: Shape, named: Named) -> Made:\n"
            "    try:\n"
            "        return Made() if isinstance(named, Asked) else Derived()\n"
            "    except Caught:\n"
            "        raise\n"
        ),
    )
    assert list_unreached(modules) == {"tasks.work.Named", "tasks.work.Asked", "tasks.work.Caught"}


def test_a_child_process_runs_its_module(tmp_path: Path) -> None:
    modules = write_tree(
        tmp_path,
        tasks__worker="def serve(): ...\ndef rest(): ...\nif __name__ == '__main__':\n    serve()\n",
        tasks__work="WORKER = [\"-m\", 'tasks.worker']\n",
        flows__run="from tasks.work import WORKER\nprint(WORKER)\n",
    )
    assert list_unreached(modules) == {"tasks.worker.rest"}
