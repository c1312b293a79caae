"""Patterns that are compiled when they are first used."""

from __future__ import annotations

import ast
import importlib
import pickle
import re
import subprocess
import sys

import pytest

from schemas import patterns
from tests.sources import LAYERS, READS_SOURCES, ROOT, list_files, read_source

# What is checked by one file that anybody may copy has Python's library alone.
ALONE = ROOT / "tasks" / "exam" / "public"


def test_a_pattern_is_compiled_when_it_is_first_used_and_then_is_as_python_makes_it() -> None:
    lazy, own = (module.compile(r"(?P<number>\d+)\s*号", re.IGNORECASE) for module in (patterns, re))
    assert lazy in patterns._waiting
    assert lazy.pattern == own.pattern
    assert lazy in patterns._waiting
    assert lazy.sub(r"<\g<number>>", "12 号, 3号") == own.sub(r"<\g<number>>", "12 号, 3号") == "<12>, <3>"
    assert lazy not in patterns._waiting
    for name in patterns._KEPT:
        found = getattr(lazy, name), getattr(own, name)
        assert found[0].__name__ == found[1].__name__ if callable(found[0]) else found[0] == found[1]
    match = lazy.search("第 7 号")
    assert match is not None
    assert (match["number"], match.re) == ("7", own)


def test_a_pattern_goes_to_other_processes_by_its_text_used_or_not() -> None:
    for is_used in (False, True):
        lazy = patterns.compile(r"(\d+)号", re.IGNORECASE)
        if is_used:
            lazy.search("")
        there = pickle.loads(pickle.dumps(lazy))
        assert (there.pattern, there.flags) == (lazy.pattern, lazy.flags)
        assert there.findall("7号") == ["7"]


def test_a_pattern_that_is_wrong_is_found_when_it_is_first_used() -> None:
    wrong = patterns.compile("(")
    with pytest.raises(re.error, match="unterminated"):
        wrong.match("(")
    with pytest.raises(re.error, match="unterminated"):
        patterns.compile_waiting()
    patterns._waiting.discard(wrong)


@READS_SOURCES
def test_every_pattern_of_every_module_can_be_compiled() -> None:
    for layer in LAYERS:
        for path in list_files(layer):
            if any(one.module == "schemas" and "patterns" in one.names for one in read_source(path).imports):
                importlib.import_module(".".join(path.relative_to(ROOT).with_suffix("").parts))
    patterns.compile_waiting()
    assert patterns.compile_waiting() == 0


@READS_SOURCES
def test_no_module_compiles_a_pattern_as_it_is_imported() -> None:
    found = {
        str(path.relative_to(ROOT)): lines
        for layer in LAYERS
        for path in list_files(layer)
        if not path.is_relative_to(ALONE) and any("re" in one.names for one in read_source(path).imports)
        if (lines := _list_compiled(ast.parse(path.read_text(encoding="utf-8"))))
    }
    assert found == {}, "`from schemas import patterns as re` waits until they are used"


def _list_compiled(tree: ast.Module) -> list[int]:
    """The lines outside functions that compile."""
    waiting: list[ast.AST] = [tree]
    found = []
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            continue
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "re.compile":
            found.append(node.lineno)
        waiting += ast.iter_child_nodes(node)
    return sorted(found)


READER = """
import sys
from schemas import patterns
from tasks.ingest.guard import conversion_server
dear = {"lxml.html", "olefile", "pypdfium2", "python_calamine"}
conversion_server.Child = str
for limit in (1, 2):
    conversion_server._fork(limit)
    print(len(dear & {*sys.modules}), len(patterns._waiting) > 500, end=" ")
print(len(patterns._waiting))
"""


def test_what_reads_papers_loads_and_compiles_all_only_before_its_second_child() -> None:
    done = subprocess.run([sys.executable, "-c", READER], capture_output=True, text=True, check=True)
    assert done.stdout == "0 True 4 False 0\n"
