"""`proctor organisations` as it is typed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.deployments.conftest import copy_new_home
from tests.deployments.test_cli import invoke


def read_limits(home: Path, *words: str) -> dict[str, int | None]:
    done = invoke(home, "organisations", *words, "--json")
    assert done.exit_code == 0, f"{done.stdout}{done.stderr}"
    return {row["organisation"]: row["question_limit"] for row in json.loads(done.stdout)}


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("organisations") / "home"
    copy_new_home(folder)
    return folder


def test_an_organisation_is_limited_however_its_name_is_written_until_the_limit_ends(home: Path) -> None:
    before = read_limits(home, "--register")
    name = min(before)
    assert set(before.values()) == {None}
    limited = read_limits(home, "--limit", f"{name.upper()}=3000")
    assert limited == {**before, name: 3000}
    # Of two limits for one the later counts, as of any option given twice.
    assert read_limits(home, "--limit", f"{name}=1", "--limit", f"{name}=0")[name] == 0
    assert read_limits(home) == {**before, name: 0}
    assert read_limits(home, "--limit", f"{name}=none") == before


def test_a_limit_that_is_none_or_nobodys_is_one_sentence_and_changes_nothing(home: Path) -> None:
    before = read_limits(home, "--register")
    name = min(before)
    for words in (
        "=3",
        "Alpha",
        "Alpha=",
        "Alpha=-1",
        "Alpha=1.5",
        "Alpha=²",
        "Alpha=9999999999",
        "Nobody=7",
    ):
        done = invoke(home, "organisations", "--limit", f"{name}=7", "--limit", words)
        said = "'Nobody' is not registered" if words == "Nobody=7" else "is not NAME=QUESTIONS"
        assert (done.exit_code, said in done.stderr) == (2, True), words
    assert read_limits(home) == before
