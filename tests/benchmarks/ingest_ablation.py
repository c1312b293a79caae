"""Which rules of ingest any paper needs: each is switched off in turn.

A rule is a function whose result has a neutral form: the lines as they came, nothing, False. One run over all papers
notes for which of them a rule's result was ever another than that. Then the rule is switched off for those papers alone,
and what they come to is compared: listed questions fully right where there is truth, questions that no contract doubts
where there is none.

    python -m tests.benchmarks.ingest_ablation ROOM… FOLDER…

prints a line for each rule: its lines, the papers it touches, and what is lost and gained without it.
"""

from __future__ import annotations

import functools
import importlib
import inspect
import pkgutil
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FunctionType
from typing import Any, NamedTuple

from tasks.ingest.confidence import read_truths
from tests.benchmarks.ingest_accuracy import compare, read_landed
from tests.benchmarks.ingest_cache import use_cache


def list_rules(room: str) -> Iterator[tuple[str, FunctionType]]:
    """The functions of a room, by `module.name`."""
    package = importlib.import_module(f"tasks.ingest.{room}")
    for info in pkgutil.iter_modules(package.__path__):
        module = importlib.import_module(f"tasks.ingest.{room}.{info.name}")
        for name, function in vars(module).items():
            if isinstance(function, FunctionType) and function.__module__ == module.__name__:
                yield f"{info.name}.{name}", function


def make_neutral(function: FunctionType) -> Callable[..., Any] | None:
    """What the rule would be if it did nothing; None where it has no such form."""
    kind = str(function.__annotations__.get("return", ""))
    first = next(iter(inspect.signature(function).parameters), None)
    taken = str(function.__annotations__.get(first, "")) if first else ""
    if kind == "bool":
        return lambda *_, **__: False
    if kind.endswith("| None"):
        return lambda *_, **__: None
    if kind in ("IndexedLines", "list[Piece]", "Piece") and (kind == taken or "Piece" in taken):
        return lambda given, *_, **__: list(given) if kind == "list[Piece]" else given
    empty = {"list": list, "dict": dict, "set": set, "str": str, "int": int}.get(kind.split("[")[0])
    return (lambda *_, **__: empty()) if empty is not None else None


@contextmanager
def put_in_place(function: FunctionType, other: Callable[..., Any]) -> Iterator[None]:
    """Let every module of ingest call another function in the place of one."""
    places = [
        (module, name)
        for key, module in list(sys.modules.items())
        if key.startswith("tasks.ingest")
        for name, value in list(vars(module).items())
        if value is function
    ]
    for module, name in places:
        setattr(module, name, other)
    try:
        yield
    finally:
        for module, name in places:
            setattr(module, name, function)


class Measured(NamedTuple):
    """A paper to be read again and again, with its truth where it has one."""

    path: Path
    truth: dict[str, Any] | None


def measure(paper: Measured) -> tuple[float, float]:
    """What a paper came to: listed questions right and count, or questions and their doubts."""
    result = read_landed(paper.path)
    if paper.truth is not None:
        row = compare(result["document"], result["questions"], paper.truth)
        return row["right_count"], -abs(row["count"] - row["truth_count"])
    return len(result["questions"]), -sum(len(question["parse_notes"]) for question in result["questions"])


def clear_caches() -> None:
    """Forget what ingest remembers of the texts it read."""
    for key, module in list(sys.modules.items()):
        if key.startswith("tasks.ingest"):
            for value in list(vars(module).values()):
                if hasattr(value, "cache_clear"):
                    value.cache_clear()


def find_touched(rules: Mapping[str, FunctionType], papers: Sequence[Measured]) -> dict[str, set[Path]]:
    """For each rule the papers in which its result was ever another than its neutral one."""
    touched: dict[str, set[Path]] = defaultdict(set)
    current = [Path()]

    def watch(name: str, function: FunctionType, neutral: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def watched(*given: Any, **named: Any) -> Any:
            result = function(*given, **named)
            if current[0] not in touched[name]:
                nothing = neutral(*given, **named)
                if result is not nothing and result != nothing:
                    touched[name].add(current[0])
            return result

        return watched

    watchers = []
    for name, function in rules.items():
        neutral = make_neutral(function)
        if neutral is not None:
            watchers.append(put_in_place(function, watch(name, function, neutral)))
    for watcher in watchers:
        watcher.__enter__()
    for paper in papers:
        current[0] = paper.path
        measure(paper)
    for watcher in reversed(watchers):
        watcher.__exit__(None, None, None)
    return touched


def list_papers(folders: Sequence[Path]) -> list[Measured]:
    """The papers of folders with truth files; all files of others."""
    found: list[Measured] = []
    for folder in folders:
        truths = read_truths(folder) if (folder / "truth").is_dir() else {}
        paths = [folder / name for name in truths] or sorted(folder.iterdir())
        found += [Measured(path, truths.get(path.name)) for path in paths if path.is_file()]
    return found


def main(arguments: Sequence[str]) -> None:
    """Switch off the rules of the rooms named, over the papers of the folders named."""
    folders = [Path(one) for one in arguments if Path(one).is_dir() and "/" in one]
    rules = {
        f"{room}/{name}": function
        for room in arguments
        if "/" not in room
        for name, function in list_rules(room)
    }
    with use_cache():
        papers = list_papers(folders)
        usual = {paper.path: measure(paper) for paper in papers}
        clear_caches()
        touched = find_touched(rules, papers)
        for name, function in rules.items():
            neutral = make_neutral(function)
            if neutral is None:
                continue
            lost = gained = 0
            clear_caches()
            with put_in_place(function, neutral):
                for paper in papers:
                    if paper.path in touched[name]:
                        try:
                            found = measure(paper)
                        except Exception:
                            found = (-1.0, 0.0)  # without the rule the paper cannot be read at all
                        lost += found < usual[paper.path]
                        gained += found > usual[paper.path]
            size = len(inspect.getsource(function).splitlines())
            print(f"{name:60}{size:5}{len(touched[name]):6}{lost:6}{gained:6}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
