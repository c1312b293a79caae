"""The film of the README shows what a terminal showed, and stands still on request."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

from deployments.demo.film import Printed, Shot, record, render

FILM = Path(__file__).resolve().parents[3] / "docs" / "pictures" / "first-month.svg"


def test_a_progress_bar_stands_as_it_ended_and_colours_are_kept() -> None:
    printed = Printed()
    printed.write("\x1b[1mread\x1b[0m  1/10\r\x1b[2Kread 10/10\x1b[32m ok\r\n", 0.5)
    printed.write("two", 0.7)
    printed.write("\r\x1b[2Kover\r\n", 1.0)
    lines = printed.decode()
    assert [line.plain for line in lines] == ["read 10/10 ok", "over"]
    assert printed.seen_at[:2] == [0.5, 1.0]
    film = render([Shot("proctor", lines, printed.seen_at, 1.0)])
    assert '<tspan style="fill:#8bd49c"> ok</tspan>' in film


def test_a_command_is_run_and_shown_as_it_printed(tmp_path: Path) -> None:
    shot = record("proctor --version", tmp_path)
    printed = "".join(line.plain for line in shot.lines)
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
