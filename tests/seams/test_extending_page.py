"""docs/extending.md runs as it stands, and names what there is."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from tests.schemas.test_seams import list_seams
from tests.seams.test_third_party import SOURCE

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "extending.md").read_text("utf-8")
SECTIONS = dict(re.findall(r"\n## ([^\n]+)\n((?:(?!\n## ).)*)", PAGE, re.DOTALL))
SEAMS = ["A reader", "A provider", "A metric", "A judge", "A kind of sign-in", "Analyses"]
EXAMPLES = [
    (title, code)
    for title, text in SECTIONS.items()
    for code in re.findall(r"```python\n(.*?)```", text, re.DOTALL)
]


def test_each_seam_has_a_section_with_an_example() -> None:
    assert [title for title in SECTIONS if title in SEAMS] == SEAMS
    shown = {title for title, _ in EXAMPLES}
    whole = {title for title, text in SECTIONS.items() if "(../tests/seams/third_party/proctor_tex/" in text}
    assert shown | whole == set(SEAMS)
    assert set(re.findall(r"\| `(proctor\.\w+)` \|", PAGE)) == {seam.group for seam in list_seams()}
    written = tomllib.loads(PAGE.split("```toml\n")[1].split("```")[0])["project"]["entry-points"]
    assert set(written) == {seam.group for seam in list_seams()}
    package = tomllib.loads((SOURCE / "pyproject.toml").read_text())["project"]["entry-points"]
    assert set(package) == set(written)


@pytest.mark.parametrize(("title", "code"), EXAMPLES)
def test_the_example_runs(title: str, code: str) -> None:
    exec(compile(code, title, "exec"), {})
