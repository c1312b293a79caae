"""`proctor stability` from a published run to its two analyses, and what cannot be."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from schemas.settings import Settings
from tests.deployments.test_cli import invoke
from tests.fresh import copy_home
from tests.tasks.editions.conftest import published_home, season_home

__all__ = ["published_home", "season_home"]

JUNE, JULY = "run-2025-06", "run-2025-07"


@pytest.fixture(scope="module")
def home(published_home: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two months of which June is published."""
    home = tmp_path_factory.mktemp("stability") / "home"
    copy_home(published_home, Settings(home=home))
    return home


def test_the_command_fills_what_its_two_analyses_read_and_twice_changes_nothing(home: Path) -> None:
    arguments = ("stability", JUNE, "--sizes", "100,100,200", "--curve-sizes", "10,30", "--samples", "3")

    first, again = (json.loads(invoke(home, *arguments, "--json").stdout) for _ in range(2))

    assert (first["edition_id"], first["is_new"], again["is_new"]) == (f"{JUNE}/1", True, False)
    assert first["sets_left_out"] == []
    assert first | {"is_new": False} == again
    repeats = json.loads(invoke(home, "sql", "repeat_stability", "--json").stdout)
    assert sum(row["resample_count"] for row in repeats) == first["bootstrap_scores"]
    assert {tuple(row["sample_sizes"]) for row in repeats} == {(100, 100, 200)}
    curves = json.loads(invoke(home, "sql", "rating_stability", "--json").stdout)
    assert sum(row["candidate_count"] for row in curves) == first["rating_curves"]
    assert {(row["method"], row["sample_size"]) for row in curves} == {
        (method, size) for method in ("score", "elo", "bradley_terry") for size in (10, 30)
    }


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ((JULY,), f"proctor publish {JULY}"),
        (("run-2031-01",), "There is no run 'run-2031-01'"),
        ((JUNE, "--style", "zero"), "zero_shot, few_shot, chain_of_thought"),
        ((JUNE, "--sizes", "1000,many"), "'many' is not a number of questions"),
        ((JUNE, "--sizes", "-5"), "'-5' is not a number of questions"),
        ((JUNE, "--sizes", "3"), "cannot hold all"),
        ((JUNE, "--curve-sizes", "99999"), "without replacement"),
        ((JUNE, "--samples", "0"), "1 to 200 samples"),
    ],
)
def test_what_cannot_be_done_is_one_sentence(home: Path, arguments: tuple[str, ...], says: str) -> None:
    done = invoke(home, "stability", *arguments)

    assert done.exit_code == 2
    assert says in " ".join(done.stderr.split())
    assert "Traceback" not in done.output
