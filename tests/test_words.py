"""One word, one meaning, and no more words than somebody reads.

A class that others can see is the only one with its name, and so is a word of `tests/words.yaml`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import yaml

from tests.sources import LAYERS, READS_SOURCES, ROOT, list_files, read_source

pytestmark = READS_SOURCES

# The verifier is one file that strangers run without the rest of the house: it brings its own words for what it reads.
ALONE = "tasks/exam/public/verifier.py"

# Classes of one name in two rooms, with the reason. Neither of the two is on a face.
SHARED: Mapping[str, str] = {
    "Cell": "what stands in a table: a paper's, or one on a page of the report",
    "Source": "what is read from: a paper's file, or the lake behind a page of the report",
}


# Pages that `make docs` writes.
GENERATED = frozenset(
    {
        "commands.md",
        "data-dictionary.md",
        "papers-tables.md",
        "problem-codes.md",
        "queries.md",
        "rooms.md",
        "team-sight.md",
    }
)
# What all pages that people write may hold beside the one that lists attacks.
MOST_WORDS = 34_000
LONGEST_PAGE = "attacks.md"


def list_definitions() -> Iterator[tuple[str, str]]:
    """Each public class or function at the top of a module of the house.

    It is given as its name and the module's path.
    """
    for layer in LAYERS:
        for path in list_files(layer):
            place = path.relative_to(ROOT).as_posix()
            if place != ALONE:
                yield from ((name, place) for name in read_source(path).definitions if name[0] != "_")


def find_places() -> dict[str, list[str]]:
    """Public name → the modules that define it."""
    places: dict[str, list[str]] = {}
    for name, place in list_definitions():
        places.setdefault(name, []).append(place)
    return places


def read_words() -> dict[str, str]:
    """Word → the module that defines it, from the list in `tests/words.yaml`."""
    listed = yaml.safe_load((ROOT / "tests" / "words.yaml").read_text(encoding="utf-8"))
    return {word: entry["where"] for word, entry in listed.items()}


def test_no_two_rooms_define_a_class_of_one_name() -> None:
    twice = {name for name, places in find_places().items() if name[0].isupper() and len(places) > 1}
    assert twice == set(SHARED)


def test_a_word_of_the_list_is_defined_in_one_place_the_one_that_the_table_names() -> None:
    words, places = read_words(), find_places()
    assert len(words) > 10
    assert {word: places.get(word) for word in words} == {word: [place] for word, place in words.items()}


def count_words(path: Path) -> int:
    return len(path.read_text(encoding="utf-8").split())


def list_written_pages() -> list[Path]:
    """README and the pages that people write; decisions and generated pages are others."""
    pages = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
    return [page for page in pages if page.name not in GENERATED]


def test_pages_say_what_to_do_and_decide_and_no_more() -> None:
    counts = {page.name: count_words(page) for page in list_written_pages()}
    assert len(counts) > 30
    # Whoever writes a new page takes as many words out of others.
    assert sum(counts.values()) - counts[LONGEST_PAGE] <= MOST_WORDS, counts
