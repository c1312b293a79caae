"""The film of the README shows what a terminal showed, and stands still on request."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

from deployments.demo.film import Screen, record, render

FILM = Path(__file__).resolve().parents[3] / "docs" / "pictures" / "first-month.svg"


def read_rows(screen: Screen) -> list[str]:
    return ["".join(character for character, _ in line) for line in screen.lines]


def test_a_progress_bar_stands_as_it_ended_and_colours_are_kept() -> None:
    screen = Screen()
    screen.write("\x1b[1mread\x1b[0m  1/10\r\x1b[2Kread 10/10\x1b[32m ok\n", 0.5)
    screen.write("two\nthree\x1b[1A\r\x1b[Kover", 1.0)
    assert read_rows(screen) == ["read 10/10 ok", "over", "three"]
    assert screen.lines[0][-1] == ("k", ("#8bd49c", False, False))
    assert screen.seen_at == [0.5, 1.0, 1.0]


def test_a_command_is_run_and_shown_as_it_printed(tmp_path: Path) -> None:
    shot = record("proctor --version", tmp_path)
    printed = "".join(character for line in shot.lines for character, _ in line)
    assert re.search(r"\d+\.\d+", printed)
    film = render([shot])
    texts = ["".join(text.itertext()) for text in ElementTree.fromstring(film).findall(".//{*}text")]
    assert texts[1:] == ["$ proctor --version", *(row for row in [printed] if row)]


def test_the_film_of_the_readme_is_small_and_respects_reduced_motion() -> None:
    film = FILM.read_text(encoding="utf-8")
    assert len(film.encode()) <= 300_000
    assert "@media (prefers-reduced-motion:reduce)" in film
    assert "<script" not in film
    assert "proctor verdict" in "".join(ElementTree.fromstring(film).itertext())
    assert "/tmp/" not in film
