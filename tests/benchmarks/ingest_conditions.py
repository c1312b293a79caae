"""Which branches of ingest any paper needs.

Each `if` is counted, then switched off in turn.

Finer than `ingest_ablation`, which switches off whole functions. One run over all papers notes for every `if` of the
rooms named in which papers its test was ever met. Those met in few papers are switched off for these papers alone, and
what they come to is compared as there.

    python -m tests.benchmarks.ingest_conditions ROOM… FOLDER… [AT_MOST]

prints a line for each branch: where it stands, its lines, the papers that meet it, and what is lost and gained without
it. AT_MOST (8) is how many papers may meet a branch that is switched off; one that none meets is printed with 0.
"""

from __future__ import annotations

import ast
import builtins
import importlib
import importlib.abc
import importlib.machinery
import pkgutil
import sys
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from types import CodeType, ModuleType
from typing import NamedTuple

ROOMS = "tasks.ingest."
NOTE = "note_ingest_condition"


class Condition(NamedTuple):
    """An `if`: its module, its line, and how many lines it governs."""

    module: str
    line: int
    size: int


class Conditions:
    """All conditions, those met of late, and the one that is switched off."""

    def __init__(self) -> None:
        self.all: list[Condition] = []
        self.met: set[int] = set()
        self.off = -1

    def note(self, number: int, value: object) -> object:
        """What a test came to, False where it is switched off."""
        if value:
            self.met.add(number)
        return False if number == self.off else value


class _Numbering(ast.NodeTransformer):
    """Lets every `if` of a module report what its test came to."""

    def __init__(self, module: str, conditions: Conditions) -> None:
        self._module, self._conditions = module, conditions

    def visit_If(self, node: ast.If) -> ast.AST:
        self.generic_visit(node)
        if any(isinstance(one, ast.NamedExpr) for one in ast.walk(node.test)):
            return node  # what stands below needs the name
        number = ast.Constant(len(self._conditions.all))
        last = node.body[-1].end_lineno or node.lineno
        self._conditions.all.append(Condition(self._module, node.lineno, last - node.lineno + 1))
        node.test = ast.Call(ast.Name(NOTE, ast.Load()), [number, node.test], [])
        return node


class _Loader(importlib.machinery.SourceFileLoader):
    def __init__(self, name: str, path: str, conditions: Conditions) -> None:
        super().__init__(name, path)
        self._conditions = conditions

    def get_code(self, fullname: str) -> CodeType:
        tree = ast.parse(Path(self.path).read_text(encoding="utf-8"))
        numbered = ast.fix_missing_locations(_Numbering(fullname, self._conditions).visit(tree))
        return compile(numbered, self.path, "exec", dont_inherit=True)


class _Finder(importlib.abc.MetaPathFinder):
    def __init__(self, rooms: Sequence[str], conditions: Conditions) -> None:
        self._rooms, self._conditions = tuple(f"{ROOMS}{room}." for room in rooms), conditions

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if not name.startswith(self._rooms):
            return None
        spec = importlib.machinery.PathFinder.find_spec(name, path, target)
        if spec is not None and spec.origin is not None:
            spec.loader = _Loader(name, spec.origin, self._conditions)
        return spec


def number_conditions(rooms: Sequence[str]) -> Conditions:
    """Load rooms with their conditions numbered, before anything else of ingest."""
    conditions = Conditions()
    setattr(builtins, NOTE, conditions.note)
    sys.meta_path.insert(0, _Finder(rooms, conditions))
    for room in rooms:
        package = importlib.import_module(f"{ROOMS}{room}")
        for info in pkgutil.iter_modules(package.__path__):
            importlib.import_module(f"{ROOMS}{room}.{info.name}")
    return conditions


def main(arguments: Sequence[str]) -> None:
    """Count branches and switch them off.

    Those of the rooms named, over the papers of the folders named.
    """
    at_most = next((int(one) for one in arguments if one.isdecimal()), 8)
    conditions = number_conditions([one for one in arguments if "/" not in one and not one.isdecimal()])
    from tests.benchmarks.ingest_ablation import clear_caches, list_papers, measure
    from tests.benchmarks.ingest_cache import use_cache

    with use_cache():
        papers = list_papers([Path(one) for one in arguments if "/" in one])
        usual, met_in = {}, defaultdict(list)
        for paper in papers:
            clear_caches()  # what is remembered of one paper is not looked at in the next
            conditions.met.clear()
            usual[paper.path] = measure(paper)
            for number in conditions.met:
                met_in[number].append(paper)
        for number, condition in enumerate(conditions.all):
            touched = met_in.get(number, [])
            if len(touched) > at_most:
                continue
            lost = gained = 0
            conditions.off = number
            for paper in touched:
                clear_caches()
                try:
                    found = measure(paper)
                except Exception:
                    found = (-1.0, 0.0)  # without the branch the paper cannot be read at all
                lost += found < usual[paper.path]
                gained += found > usual[paper.path]
            conditions.off = -1
            place = f"{condition.module.removeprefix(ROOMS)}:{condition.line}"
            print(f"{place:50}{condition.size:5}{len(touched):6}{lost:6}{gained:6}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
