"""The words of the pages: both languages have all, and every page finds its own."""

from __future__ import annotations

import re

from deployments.web.pages import STATIC
from deployments.web.show import read_wording

TEMPLATES = STATIC.parent / "templates"


def test_every_word_is_there_in_both_languages_with_the_same_parts() -> None:
    wording = read_wording()
    assert {name: set(words) for name, words in wording.items()} == {name: {"en", "zh"} for name in wording}
    parts = {
        name: [sorted(re.findall(r"\{(\w+)\}", words[one])) for one in ("en", "zh")]
        for name, words in wording.items()
    }
    assert {name: both for name, both in parts.items() if both[0] != both[1]} == {}
    assert [
        name
        for name, words in wording.items()
        if name != "title" and not re.search(r"[一-鿿κα]", words["zh"])
    ] == []


def test_every_word_that_a_page_asks_for_is_there_and_none_is_left_over() -> None:
    text = "".join(
        path.read_text("utf-8")
        for path in [*TEMPLATES.glob("*.html"), *STATIC.glob("*.js"), *STATIC.parent.glob("*.py")]
    )
    asked = set(re.findall(r"say(?:_door)?(?:\(\s*'|\(\s*\"|\.)(\w+)", text))
    prefixes = set(re.findall(r"say\('(\w+_)' ~", text))
    known = set(read_wording())
    assert {name for name in asked - known if name not in prefixes} == set()
    quoted = set(re.findall(r"['\"](\w+)['\"]", text))
    assert {name for name in known - asked - quoted if not name.startswith(tuple(prefixes))} == set()
