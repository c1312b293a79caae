"""A text built against the patterns costs no more than its length.

This holds whatever reads it: replies, answers, judgements, papers.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable
from itertools import product
from types import ModuleType

import pytest

from schemas import patterns
from tasks.exam import extract_answer
from tasks.ingest.readers.extraction import Extraction, Line
from tasks.ingest.readers.formats import LONGEST_RUN, limit_runs
from tasks.judging import find_address
from tasks.league.parsing import parse_ranking, parse_scores
from tasks.models.reading import parse_json_object
from tasks.questions import BareQuestion, Option
from tests.benchmarks.ingest_mutations import read_lines
from tests.benchmarks.pattern_hunt import BOUNDED, RUNS, SINGLE, WORDS, Found, _walk_module, find_patterns
from tests.benchmarks.pattern_hunt import find_steep as find_patterns_steep
from tests.tasks.judging.kit import parse_judgement, parse_label

OPTIONS = tuple(Option(label, label) for label in "ABCD")
READERS: dict[str, Callable[[str], object]] = {
    "judgement": parse_judgement,
    "label": parse_label,
    "ranking": lambda text: parse_ranking(text, "AB"),
    "scores": lambda text: parse_scores(text, "AB"),
    "JSON": lambda text: parse_json_object(text, "stem"),
    "address": find_address,
    "true or false": lambda text: extract_answer(BareQuestion("true_false", "zh", "x", None), text),
    "choice": lambda text: extract_answer(BareQuestion("multiple_choice", "zh", "x", None, OPTIONS), text),
    "final answer": lambda text: extract_answer(BareQuestion("short_answer", "zh", "x", None), text),
}
UNITS = [
    " ", "\n", " \n", "\u3000", "1", "(", "（", ".", "_", "-", "A", "a ", "A. ", "(A)", "(1)", "一、", "1. ", "答案：", "答案", "选", "A,",
    "选 ", "<", "{", "[", '{"a":', '{"a":[', '{"stars":', '"', "“", "3 stars ", "3星", "the ", "ignore ", "给", "I give ", "\\boxed{",
    "\\text{", "statement ", "not ", "命题", ">", "A>", "×", "…", "$", "|",
]  # fmt: skip
HEADS = ["", "选A"]


def measure(read: Callable[[str], object], text: str) -> float:
    began = time.process_time()
    read(text)
    return time.process_time() - began


def find_steep(
    read: Callable[[str], object], size: int, units: Iterable[str] = UNITS, heads: Iterable[str] = HEADS
) -> list[tuple[str, float, float]]:
    """Beginnings of texts whose time grows faster than their length.

    With four times the text, they take more than eight times as long.
    """
    steep: list[tuple[str, float, float]] = []
    for unit, head in product(units, heads):
        short, long = (head + unit * (length // len(unit)) + "\x01" for length in (size, 4 * size))
        # Other work on the machine can only slow it down, so the best of three counts.
        for _ in range(3):
            times = measure(read, short), measure(read, long)
            if times[1] <= 8 * times[0] + 0.4:
                break
        else:
            steep.append((head + unit, *times))
    return steep


def read_paper(text: str) -> object:
    return read_lines(text.split("\n"))


@pytest.mark.parametrize("reader", READERS)
def test_no_text_holds_a_reader_of_replies(reader: str) -> None:
    assert find_steep(READERS[reader], 1_500) == []


# Underlines before an answer took a time that doubled with each of them; lines of blanks one that grew by its fourth power.
def test_no_text_holds_the_reader_of_papers() -> None:
    units = ["_", "_" * 119 + "a", " " * 119 + "a\n", "_" * 119 + "\n", "(A)", "1", "(", "答案：\n"]
    assert find_steep(read_paper, 5_000, units, ["1. "]) == []
    for unit in units:
        assert measure(read_paper, unit * (20_000 // len(unit))) < 5


def test_long_runs_of_one_sign_are_limited_and_what_stands_out_keeps_its_place() -> None:
    line = Line(
        "1. ab" + " " * 500 + "cd" + "_" * 300 + "ef",
        label_length=2,
        emphasis=((505, 507, "bold"), (807, 809, "colour"), (0, 2, "bold")),
    )
    found = limit_runs(Extraction("text", "1", lines=[line, Line("a | b" + "-" * LONGEST_RUN)]))
    limited, same = found.lines
    assert limited.text == "1. ab" + " " * LONGEST_RUN + "cd" + "_" * LONGEST_RUN + "ef"
    assert [limited.text[first:last] for first, last, _ in limited.emphasis] == ["cd", "ef", "1."]
    assert (limited.label_length, same.text) == (2, "a | b" + "-" * LONGEST_RUN)
    assert found.warnings == [
        f"2 runs of more than {LONGEST_RUN} equal signs or blanks were read as {LONGEST_RUN} of them."
    ]


def test_the_hunt_finds_a_pattern_that_backtracks_and_passes_one_that_does_not() -> None:
    def hunt(pattern: str) -> list[str]:
        return [one.method for one in find_patterns_steep(Found(re.compile(pattern), {"x"}, {"search"}), 0.2)]

    assert hunt(r"(?:a+)+b") == hunt(r"\s+$") == ["search"]
    assert hunt(r"(?:a++)b") == []


def test_the_hunt_finds_a_pattern_that_waits_to_be_used() -> None:
    module = ModuleType("papers")
    vars(module)["PLACES"] = {"first": patterns.compile(r"\s+$", re.IGNORECASE)}
    assert list(_walk_module(module)) == [("PLACES", re.compile(r"\s+$", re.IGNORECASE))]


@pytest.mark.long
def test_no_pattern_of_the_product_takes_long_on_any_text() -> None:
    """Those of `BOUNDED` never see so much text."""
    found = find_patterns()
    places = {place for one in found for place in one.places}
    assert BOUNDED.keys() <= places
    steep = [
        one
        for pattern in found
        if not pattern.places & BOUNDED.keys()
        # Other work on the machine can only slow it down.
        for one in (find_patterns_steep(pattern) and find_patterns_steep(pattern))
    ]
    assert steep == []


@pytest.mark.long
@pytest.mark.parametrize("reader", READERS)
def test_no_text_of_the_longest_kind_holds_a_reader_of_replies(reader: str) -> None:
    assert find_steep(READERS[reader], 60_000) == []


@pytest.mark.long
def test_no_text_of_the_longest_kind_holds_the_reader_of_papers() -> None:
    units = [*UNITS, *SINGLE, *WORDS, *RUNS, *(unit + "\n" for unit in (*RUNS, "1. a", "A. a", "答案："))]
    assert find_steep(read_paper, 25_000, dict.fromkeys(units), ["", "1. "]) == []
