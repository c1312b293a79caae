"""The words of the report are data, in both languages.

Each word in the data is shown somewhere, and each word that is shown is in the data.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

import tasks.report
from tasks.report.labels import LABELS, SHORT_DISCIPLINES
from tasks.report.page_data import COMMON_WORDS, read_page
from tasks.texts import read_bilingual

REPORT = Path(tasks.report.__file__).parent
PAGES = sorted(path.stem for path in (REPORT / "pages").glob("*.yaml") if path.stem != "common")
# A label's name may be put together: of a gate, a purpose, a role, and so on, with the value that a row has.
PREFIXES = ("curve_", "gate_", "grade_", "kind_", "provisional_", "purpose_", "role_", "unequated_", "unit_")
LABEL_IN_CODE = re.compile(r"""(?:\bt|\bplain|\blabel|\bspoken|LABELS|labels)[(\[]"([A-Za-z0-9_ ]+)\"""")


def read_sources(*suffixes: str) -> str:
    """Every file of the report with one of these suffixes, as one text.

    The labels themselves are left out.
    """
    paths = (path for path in REPORT.rglob("*") if path.suffix in suffixes and path.name != "labels.yaml")
    return "\n".join(path.read_text("utf-8") for path in sorted(paths))


def list_strings(content: Any) -> Iterator[str]:
    """Every text of a page's data that is no pair: names of labels, columns, groups of words."""
    if isinstance(content, str):
        yield content
    elif isinstance(content, Mapping):
        for value in content.values():
            yield from list_strings(value)
    elif isinstance(content, list):
        for value in content:
            yield from list_strings(value)


def test_no_two_labels_have_the_same_name() -> None:
    sections = read_bilingual("tasks.report", "labels.yaml")
    names = [name for section, words in sections.items() if section != "short_disciplines" for name in words]
    assert sorted(names) == sorted(LABELS)
    assert set(SHORT_DISCIPLINES) <= set(LABELS)


# Of the ranking methods of a league, which its page shows by the value of a row: `t(row.method)`.
SHOWN_BY_VALUE = {"bradley_terry", "elo"}


def test_every_label_is_shown_somewhere() -> None:
    code = read_sources(".py", ".j2", ".js")
    quoted = set(re.findall(r"""["']([A-Za-z0-9_ ]+)["']""", code))
    data = {
        text
        for page in [*PAGES, "common"]
        for text in list_strings(read_bilingual("tasks.report.pages", f"{page}.yaml"))
    }
    made = tuple(prefix for prefix in PREFIXES if re.search(rf"""["']{prefix}(?:\{{|["'])""", code))
    assert made == PREFIXES
    used = quoted | data | SHOWN_BY_VALUE
    assert [name for name in LABELS if name not in used and not name.startswith(made)] == []


def test_every_purpose_of_a_paid_call_has_its_words() -> None:
    code = "".join(path.read_text("utf-8") for path in sorted((REPORT.parent).rglob("*.py")))
    named = set(re.findall(r'(?:purpose=|PURPOSE(?:: Final)? = )"(\w+)"', code)) - {"batch"}
    roles = set(re.findall(r'role = "(\w+)" if with_reference else "(\w+)"', code).pop()) | {"ask", "answer"}
    assert {"exam", "judge"} < named
    assert (named | {f"league_{role}" for role in roles}) - set(COMMON_WORDS["purposes"]) == set()


def test_every_label_that_is_shown_is_there() -> None:
    shown = set(LABEL_IN_CODE.findall(read_sources(".py", ".j2", ".js")))
    assert shown - set(LABELS) - set(PREFIXES) == set()


@pytest.mark.parametrize("name", PAGES)
def test_a_page_finds_the_words_of_its_panels_and_shows_every_panel_and_group_that_it_has(name: str) -> None:
    modules = [path.read_text("utf-8") for path in sorted((REPORT / "pages").glob("*.py"))]
    page, code = read_page(name), "".join(one for one in modules if f'read_page("{name}")' in one)
    groups = set(re.findall(r'"(\w+)"', code))
    for title, panel in page.panels.items():
        assert f'"{title}"' in code, title
        for cell in panel.get("cells", ()):
            page.cell(cell)
        groups |= set(list_strings(panel))
        for part in panel.get("figure", {}).values():
            if isinstance(part, Mapping) and "words" in part:
                assert page.find_group(part["words"])
    assert set(page.words) <= groups
    assert not set(page.words) & set(COMMON_WORDS)
