"""Time grows with the size of a paper, whatever it consists of."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest

from tests.benchmarks.ingest_mutations import read_lines

MADE: dict[str, Callable[[int], list[str]]] = {
    "one line of prose": lambda size: ["1. " + "The river flows past the harbour, " * (size // 34)],
    "one line of Chinese": lambda size: ["1、" + "当地居民发现，茶园改变了。" * (size // 13)],
    "underscores": lambda size: ["1. " + "_" * size],
    "spaces": lambda size: ["1. a" + " " * size + "b"],
    "brackets": lambda size: ["1. " + "(" * size],
    "digits": lambda size: ["1" * size],
    "keys on one line": lambda size: [" ".join(f"{number}. A" for number in range(size // 6))],
    "short questions": lambda size: [f"{number}. Name it." for number in range(1, size // 12)],
    "one question again and again": lambda size: ["1. What is it? ( )"] * (size // 19),
    "options without an end": lambda size: ["1. Which?", *(["A. one"] * (size // 7))],
    "prose": lambda size: ["The river flows past the old harbour and the mill."] * (size // 51),
}


def measure(lines: list[str]) -> float:
    started = time.process_time()
    read_lines(lines)
    return time.process_time() - started


@pytest.mark.parametrize("name", MADE)
def test_time_does_not_grow_with_the_square_of_the_text(name: str) -> None:
    """Eight times the text would take 64 times as long.

    Other work on the machine can only slow it down, so the best of three counts.
    """
    read_lines(MADE[name](2_000))
    tries = [(measure(MADE[name](12_500)), measure(MADE[name](100_000)))]
    while tries[-1][1] > 24 * tries[-1][0] + 0.3 and len(tries) < 3:
        tries.append((measure(MADE[name](12_500)), measure(MADE[name](100_000))))
    assert tries[-1][1] <= 24 * tries[-1][0] + 0.3, tries


@pytest.mark.parametrize("lines", [["x" * 200_000], ["1. " + "_" * 100_000], ["地" * 200_000]])
def test_a_line_of_any_length_is_read_at_once(lines: list[str]) -> None:
    """The first form took 36 to 50 s."""
    assert measure(lines) < 10
