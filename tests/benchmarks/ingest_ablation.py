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
import pickle
import pkgutil
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FunctionType
from typing import Any

from tasks.ingest.reading import read_extraction
from tests.benchmarks.ingest_accuracy import compare, read_options, read_truths
from tests.benchmarks.ingest_cache import find_cache, use_cache


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


Paper = tuple[str, Any, Mapping[str, Any] | None]


def measure(paper: Paper) -> tuple[float, ...]:
    """What a paper came to: listed questions right, or questions that no contract doubts."""
    name, extraction, truth = paper
    document: dict[str, Any] = {
        "document_id": name, "document_name": name, "source_path": name, "source_kind": "other",
        "discipline": None, "sub_discipline": None, "error": None, "warnings": [],
    }  # fmt: skip
    _clear_caches()
    result = read_extraction(extraction, Path(name), document, read_options(Path(name)))
    if truth is not None:
        row = compare(result["document"], result["questions"], dict(truth))
        return (row["right_count"], -abs(row["count"] - row["truth_count"]))
    notes = sum(len(question["parse_notes"]) for question in result["questions"])
    return (len(result["questions"]), -notes)


def _clear_caches() -> None:
    for key, module in list(sys.modules.items()):
        if key.startswith("tasks.ingest"):
            for value in list(vars(module).values()):
                if hasattr(value, "cache_clear"):
                    value.cache_clear()


def find_touched(rules: Mapping[str, FunctionType], papers: Sequence[Paper]) -> dict[str, set[str]]:
    """For each rule the papers in which its result was ever another than its neutral one."""
    touched: dict[str, set[str]] = defaultdict(set)
    current = [""]

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
        current[0] = paper[0]
        measure(paper)
    for watcher in reversed(watchers):
        watcher.__exit__(None, None, None)
    return touched


def read_papers(folders: Sequence[Path]) -> list[Paper]:
    """The extractions of all papers, from the cache of the benchmarks, with their truth."""
    from tasks.ingest.readers.formats import extract, find_reader
    from tasks.ingest.readers.sniffing import sniff

    papers: list[Paper] = []
    for folder in folders:
        truths = read_truths(folder) if (folder / "truth").is_dir() else {}
        for path in sorted(folder / name for name in truths) if truths else sorted(folder.iterdir()):
            if not path.is_file():
                continue
            data = path.read_bytes()
            kept = find_cache() / f"extraction-{hash_of(data)}"
            if not kept.exists():
                reader = find_reader(sniff(data, path.name), path.name)
                kept.write_bytes(pickle.dumps(extract(data, reader, read_options(path))))
            papers.append((str(path), pickle.loads(kept.read_bytes()), truths.get(path.name)))
    return papers


def hash_of(data: bytes) -> str:
    """A name for the extraction of a file."""
    import hashlib

    return hashlib.sha256(data).hexdigest()[:24]


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
        papers = read_papers(folders)
        usual = {paper[0]: measure(paper) for paper in papers}
        touched = find_touched(rules, papers)
        for name, function in rules.items():
            neutral = make_neutral(function)
            if neutral is None:
                continue
            lost = gained = 0
            with put_in_place(function, neutral):
                for paper in papers:
                    if paper[0] in touched[name]:
                        try:
                            found = measure(paper)
                        except Exception:
                            found = (-1.0, 0.0)  # without the rule the paper cannot be read at all
                        lost += found < usual[paper[0]]
                        gained += found > usual[paper[0]]
            size = len(inspect.getsource(function).splitlines())
            print(f"{name:60}{size:5}{len(touched[name]):6}{lost:6}{gained:6}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
