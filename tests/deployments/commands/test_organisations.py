"""`proctor organisations` as it is typed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.deployments.test_cli import invoke


def read_limits(home: Path, *words: str) -> dict[str, int | None]:
    done = invoke(home, "organisations", *words, "--json")
    assert done.exit_code == 0, f"{done.stdout}{done.stderr}"
    return {row["organisation"]: row["question_limit"] for row in json.loads(done.stdout)}


@pytest.fixture
def home(tmp_path: Path) -> Path:
    folder = tmp_path / "home"
    assert invoke(folder, "init").exit_code == 0
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


@pytest.mark.parametrize(
    "words", ["=3", "Alpha", "Alpha=", "Alpha=-1", "Alpha=1.5", "Alpha=²", "Alpha=9999999999"]
)
def test_a_limit_that_is_none_is_one_sentence_and_changes_nothing(home: Path, words: str) -> None:
    before = read_limits(home, "--register")
    name = min(before)
    done = invoke(home, "organisations", "--limit", f"{name}=7", "--limit", words)
    assert (done.exit_code, "is not NAME=QUESTIONS" in done.stderr) == (2, True)
    assert read_limits(home) == before


def test_an_organisation_that_is_not_registered_is_named_and_no_other_is_limited(home: Path) -> None:
    before = read_limits(home, "--register")
    name = min(before)
    done = invoke(home, "organisations", "--limit", f"{name}=7", "--limit", "Nobody=7")
    assert done.exit_code == 2
    assert "'Nobody' is not registered" in done.stderr
    assert read_limits(home) == before
