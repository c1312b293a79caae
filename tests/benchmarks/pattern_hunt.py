"""The hunt for patterns that backtrack.

Every pattern of the product is run on texts that are built to hold it up.

Patterns are found in what importing the packages leaves reachable (names of modules, attributes of classes, containers, cached
builders without parameters) and in calls of `re` with a text in the source. Each is timed the way the code uses it. Beyond
2,000 characters, four times the text should take four times as long: sixteen times is quadratic, more is worse.
"""

from __future__ import annotations

import argparse
import ast
import functools
import importlib
import pkgutil
import re
import signal
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType, ModuleType
from typing import Any

from schemas.patterns import LazyPattern, compile_waiting
from tasks.ingest.readers.formats import LONGEST_RUN, limit_runs
from tests.benchmarks.ingest_lines import Extraction, Line

PACKAGES = ("schemas", "warehouse", "tasks", "deployments")
METHODS = ("match", "fullmatch", "search", "finditer")
SAME = {"findall": "finditer", "sub": "finditer", "subn": "finditer", "split": "finditer"}
SINGLE = [
    " ", "\t", "\n", "\u3000", "1", ".", "_", "-", "(", ")", "（", "）", "[", "]", "【", "】", "{", "<", "=", "$", '"', "'", "“", "”",
    "a", "A", "、", "，", ",", "：", ":", "/", "\\", "|", "*", "#", "&", "一", "答", "…", "×",
]  # fmt: skip
WORDS = [
    "A.", "A. ", "(1)", "（1）", "(A)", "(A", "一、", "1.", "1. ", "1、", "答案：", "答案", "选", "A,", "ab ", "a1", "1a", "1,", "$1", "\\(",
    "\\text{", "\\boxed{", "=1", "1=", "x=", '{"a":', "--", "- ", "| ", "|-", "[a](", "![", "http://a", "a@", "a.", "第1", "第1题 ",
    "(  ", "( )", "（ ）", "__ ", "_ ", "<a ", "<a>", "3 stars ", "3星", "the ", "I give ", "命题", "A>", "1 (", "A1", "A B ", "✓",
]  # fmt: skip
ENDS = ["", "\x01"]
RUNS = [sign * (LONGEST_RUN - 1) + "a" for sign in (" ", "_", ".", "-", "=")]
SHORT, LONG = 2_000, 8_000
STEEP_MS = 50.0


# Patterns that take long on LONG characters and never see so many: what limits what they look at.
BOUNDED = {
    "tasks.ingest.content.free_answers._TRUTH_PLACE": "the last 1,000 characters of a stem are looked at (_LOOKED_AT)",
    "tasks.ingest.content.questions._find_doubts": "questions look at 3,000 characters of a stem (_LOOKED_AT)",
    "tasks.ingest.words.columns.fold_header": "headers are cut at 1,000 characters",
    "tasks.ingest.words.columns.find_role": "headers are cut at 1,000 characters",
    "tasks.ingest.words.grammar._fold_title": "titles have at most 60 characters",
    "tasks.ingest.words.lexicon.match_type_name": "names of types are cut at 1,000 characters",
    "tasks.questions.display.text._TOKENS": "each formula looks at 3,000 characters: linear beyond",
    "tasks.review.channels.workbook.mathematics._SPANS": "each formula looks at 3,000 characters: linear beyond",
}


@dataclass
class Found:
    """A pattern, where it is named, and how the code uses it."""

    pattern: re.Pattern[str] | re.Pattern[bytes]
    places: set[str] = field(default_factory=set)
    methods: set[str] = field(default_factory=set)


@dataclass(frozen=True)
class Steep:
    """The time that one pattern took on the text that holds it longest.

    `ratio` is None where the limit ended it.
    """

    place: str
    method: str
    unit: str
    long_ms: float
    ratio: float | None


class _Overtime(Exception):
    """A pattern has had its time."""


def find_patterns() -> list[Found]:
    """Every pattern that is reachable or written in the source, by its text and flags."""
    found: dict[tuple[object, int], Found] = {}

    def note(pattern: re.Pattern[str] | re.Pattern[bytes], place: str, methods: set[str]) -> None:
        one = found.setdefault((pattern.pattern, pattern.flags), Found(pattern))
        one.places.add(place)
        one.methods |= methods

    for name in _find_modules():
        module = importlib.import_module(name)
        if module.__file__ is None:
            continue
        # One that waits to be used is among those that wait as well, and leaves them while they are looked through.
        compile_waiting()
        source = Path(module.__file__).read_text()
        for place, pattern in _walk_module(module):
            name_used = re.escape(place.split(".")[-1])
            used = re.findall(rf"\b{name_used}(?:\[[^]]*\])?\.(\w+)\(", source)
            methods = {SAME.get(use, use) for use in used} & set(METHODS)
            if re.search(rf"\.find\(\s*{name_used}\s*,", source):
                methods.add("match")  # IndexedLines.find: at the beginning of lines
            note(pattern, f"{name}.{place}", methods)
        for method, function, pattern in _read_calls(source):
            note(pattern, f"{name}.{function}", {SAME.get(method, method)} & set(METHODS))
    for one in found.values():
        # A pattern that is handed on is used nobody knows how.
        one.methods = one.methods or set(METHODS)
    return sorted(found.values(), key=lambda one: min(one.places))


def find_steep(found: Found, limit_s: float = 2.0) -> list[Steep]:
    """The worst text for each way of use that takes more than STEEP_MS.

    The text has LONG characters. A pattern that was ended counts.
    """
    return [
        worst
        for method in sorted(found.methods)
        if (worst := _find_worst(found, method, limit_s)) and worst.long_ms > STEEP_MS
    ]


def _find_worst(found: Found, method: str, limit_s: float) -> Steep | None:
    worst: Steep | None = None
    is_of_papers = all(place.startswith("tasks.ingest") for place in found.places)
    for head, unit, end in _build_texts():
        # What is quadratic and takes STEEP_MS on LONG characters takes a sixteenth of it on SHORT ones: the rest needs no look.
        short_ms = _measure(found.pattern, method, head, unit, end, SHORT, limit_s, is_of_papers)
        if short_ms < STEEP_MS / 32:
            continue
        long_ms = _measure(found.pattern, method, head, unit, end, LONG, limit_s, is_of_papers)
        if worst is None or long_ms > worst.long_ms:
            ratio = long_ms / short_ms if short_ms and long_ms < limit_s * 1000 else None
            worst = Steep(min(found.places), method, f"{head!r} {unit!r} {end!r}", long_ms, ratio)
        if long_ms >= limit_s * 1000:
            break
    return worst


def _build_texts() -> Iterator[tuple[str, str, str]]:
    for unit in (
        *SINGLE,
        *WORDS,
        *RUNS,
        *(first + second for first in SINGLE[:11] for second in ("a", "1", "A.", "、") if first != second),
    ):
        for end in ENDS:
            yield "", unit, end
    for head in ("选A", "1. a", "答案：", "(", "A. ", '"', "$", "a="):
        for unit in (" ", "1", "A ", "_", ". ", "( ", "\u3000"):
            yield head, unit, "\x01"


def _measure(
    pattern: re.Pattern[str] | re.Pattern[bytes],
    method: str,
    head: str,
    unit: str,
    end: str,
    size: int,
    limit_s: float,
    is_of_papers: bool,
) -> float:
    """CPU milliseconds of one use; at the limit it is ended."""
    text: str | bytes = head + unit * (size // len(unit)) + end
    if is_of_papers:
        # As the readers of papers hand it over.
        text = limit_runs(Extraction("text", "1", lines=[Line(str(text))])).lines[0].text
    if isinstance(pattern.pattern, bytes):
        text = str(text).encode()[:size]
    use: Callable[..., object] = getattr(pattern, method)

    def end_it(number: int, frame: FrameType | None) -> None:
        raise _Overtime

    # The engine of patterns looks for signals while it works, so that one pattern cannot hold the hunt.
    before = signal.signal(signal.SIGVTALRM, end_it)
    began = time.process_time()
    signal.setitimer(signal.ITIMER_VIRTUAL, limit_s)
    try:
        for _ in use(text) if method == "finditer" else (use(text),):  # type: ignore[attr-defined]
            pass
    except _Overtime:
        return max(limit_s * 1000, 1000 * (time.process_time() - began))
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)
    return 1000 * (time.process_time() - began)


def _find_modules() -> Iterator[str]:
    for package in PACKAGES:
        yield package
        for module in pkgutil.walk_packages(importlib.import_module(package).__path__, package + "."):
            if not module.name.endswith("__main__"):
                yield module.name


def _walk_module(module: ModuleType) -> Iterator[tuple[str, re.Pattern[str]]]:
    for name, value in list(vars(module).items()):
        if isinstance(value, type) and value.__module__ == module.__name__:
            for inner, held in list(vars(value).items()):
                yield from ((f"{name}.{inner}", pattern) for pattern in _walk(held, 0))
        elif not isinstance(value, ModuleType):
            if isinstance(value, functools._lru_cache_wrapper) and value.__module__ == module.__name__:
                try:
                    value = value()
                except Exception:
                    continue
            yield from ((name, pattern) for pattern in _walk(value, 0))


def _walk(value: object, depth: int) -> Iterator[re.Pattern[str]]:
    if isinstance(value, re.Pattern):
        yield value
    elif isinstance(value, LazyPattern):
        yield value.search.__self__
    elif depth > 5:
        return
    elif isinstance(value, Mapping):
        for key, held in value.items():
            yield from _walk(key, depth + 1)
            yield from _walk(held, depth + 1)
    elif isinstance(value, list | tuple | set | frozenset):
        for held in value:
            yield from _walk(held, depth + 1)
    elif isinstance(value, functools.partial):
        yield from _walk((value.args, value.keywords), depth + 1)
    elif str(getattr(value, "__module__", "")).split(".")[0] in PACKAGES and not isinstance(value, type):
        for name in (*getattr(value, "__dict__", {}), *getattr(type(value), "__slots__", ())):
            yield from _walk(getattr(value, name, None), depth + 1)
        # Patterns held by a function: its defaults and what it closes over.
        yield from _walk(getattr(value, "__defaults__", None), depth + 1)
        for cell in getattr(value, "__closure__", None) or ():
            yield from _walk(cell.cell_contents, depth + 1)


def _read_calls(source: str) -> Iterator[tuple[str, str, re.Pattern[str]]]:
    """Calls such as `re.sub(r"...", ...)`.

    Each comes with the function that it stands in and the flags that are written there.
    """
    tree = ast.parse(source)
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    for node in ast.walk(tree):
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.args):
            continue
        if not (isinstance(node.func.value, ast.Name) and node.func.value.id == "re"):
            continue
        given = node.args[0]
        if isinstance(given, ast.Constant) and isinstance(given.value, str | bytes):
            flags = 0
            for part in ast.walk(node):
                if isinstance(part, ast.Attribute) and part.attr.isupper():
                    flags |= getattr(re, part.attr, 0)
            inside = [one for one in functions if one.lineno <= node.lineno <= (one.end_lineno or one.lineno)]
            function = max(inside, key=lambda one: one.lineno).name if inside else "<module>"
            written: Any = given.value
            yield node.func.attr, function, re.compile(written, flags)


def main(arguments: Sequence[str] = ()) -> None:
    """List the patterns that take more than 50 ms on 8,000 characters."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="part of the place of the patterns that are looked at")
    parser.add_argument("--limit", type=float, default=0.5, help="CPU seconds after which a use is ended")
    options = parser.parse_args(arguments)
    patterns = [one for one in find_patterns() if any(options.only in place for place in one.places)]
    print(f"{len(patterns)} patterns", flush=True)
    for found in patterns:
        if found.places & BOUNDED.keys():
            continue
        for steep in find_steep(found, options.limit):
            ratio = "ended" if steep.ratio is None else f"{steep.ratio:.0f}x"
            print(
                f"{steep.place:70} {steep.method:9} {steep.long_ms:8.0f} ms {ratio:>6}  {steep.unit}",
                flush=True,
            )


if __name__ == "__main__":
    main(sys.argv[1:])
