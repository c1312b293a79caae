"""A home whose stores are missing or foreign, or that is open to others."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from deployments.home import owner_only
from schemas.settings import Settings
from tests.deployments.test_cli import invoke, run
from tests.warehouse.stores.test_homes import land
from warehouse.lake import open_lake
from warehouse.stores.installation import read_home_id


@pytest.fixture(scope="module", autouse=True)
def _umask_of_most_people() -> Iterator[None]:
    before = os.umask(0o022)
    yield
    os.umask(before)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("made") / "home"
    done = invoke(home, "init")
    assert done.exit_code == 0, done.stderr
    with open_lake(Settings(home=home)) as lake:
        land(lake)
    for path in home.rglob("*"):
        path.chmod(path.stat().st_mode & 0o700)
    return home


@pytest.fixture
def home(made: Path, tmp_path: Path) -> Path:
    shutil.copytree(made, tmp_path / "home")
    return tmp_path / "home"


def examine(home: Path) -> tuple[int, dict[str, Any]]:
    done = invoke(home, "doctor", "--json")
    return done.exit_code, {one["what"]: one for one in json.loads(done.stdout)["findings"]}


def list_open(home: Path) -> list[str]:
    return [str(path) for path in (home, *home.rglob("*")) if path.lstat().st_mode & 0o077]


def test_a_new_home_and_all_in_it_is_its_owners_alone(tmp_path: Path) -> None:
    home = tmp_path / "home"
    done = run(home, "init")  # in a process of its own, which makes its lake itself
    assert done.returncode == 0, done.stderr
    assert list_open(home) == []
    assert read_home_id(Settings(home=home)) is not None


def test_a_home_that_others_may_read_is_closed_with_a_word(home: Path) -> None:
    for path, mode in ((home, 0o755), (home / "lake", 0o755), (home / "ledger.sqlite", 0o644)):
        path.chmod(mode)
    code, found = examine(home)
    assert code == 1
    assert found["files of the home"]["is_fine"] is False
    assert str(home / "ledger.sqlite") in found["files of the home"]["found"]
    assert "chmod -R go=" in found["files of the home"]["fix"]

    told = invoke(home, "exam", "sessions")

    assert told.exit_code == 0
    assert "was open to other users (3 files and folders" in told.stderr
    assert list_open(home) == []
    assert os.umask(0o022) == 0o022  # what a command sets for itself it takes back
    assert "open to other users" not in invoke(home, "exam", "sessions").stderr


def test_a_home_that_another_command_closes_meanwhile_is_no_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "home"
    home.mkdir(mode=0o755)
    really = owner_only.list_lax_files

    def list_after_the_other(path: Path, *, without_secrets: bool = False) -> list[Path]:
        path.chmod(0o700)
        return really(path, without_secrets=without_secrets)

    monkeypatch.setattr(owner_only, "list_lax_files", list_after_the_other)
    assert owner_only.close_home(home) is None


def test_a_secret_that_others_may_read_is_refused_and_not_closed_quietly(home: Path) -> None:
    assert invoke(home, "exam", "keys", "list").exit_code == 0
    keys = home / "secrets" / "exam-keys.json"
    assert keys.stat().st_mode & 0o777 == 0o600
    keys.chmod(0o644)

    done = invoke(home, "exam", "keys", "list")

    assert done.exit_code == 1
    assert "may be read by other users" in done.stderr
    assert keys.stat().st_mode & 0o777 == 0o644


MISSING = {
    "ledger": "ledger.sqlite",
    "catalog": "lake/catalog.sqlite",
    "data file": "lake/data/main/sessions/*.parquet",
}


@pytest.mark.parametrize("store", MISSING)
def test_a_missing_store_is_refused_by_every_command_and_named_by_the_doctor(home: Path, store: str) -> None:
    path = next(home.glob(MISSING[store]))
    path.unlink()
    for command in (("init",), ("exam", "sessions"), ("sql", "select 1")):
        done = invoke(home, *command)
        assert done.exit_code == 1, command
        assert done.stderr.count("\n") == 1
        assert f"The {store} {path} is missing" in done.stderr
        assert "proctor restore" in done.stderr
    assert not path.exists()

    code, found = examine(home)

    assert code == 1
    assert found[store]["is_fine"] is False
    assert str(path) in found[store]["found"]
    assert "proctor restore" in found[store]["fix"]
    assert not path.exists()
    assert invoke(home, "down").exit_code == 0


@pytest.mark.long
def test_a_home_that_is_well_has_nothing_to_mend(home: Path) -> None:
    _, found = examine(home)
    assert found["stores"]["is_fine"]
    assert found["files of the home"]["is_fine"]
    # A note has a remedy as well: what this machine lacks, and a disk that it does not see to be encrypted.
    assert all((one["fix"] is None) == (one["severity"] == "fine") for one in found.values())


@pytest.mark.long
def test_a_store_that_was_put_in_place_on_purpose_is_joined(home: Path, tmp_path: Path) -> None:
    """A ledger moved here is refused until a person states that it is meant."""
    assert invoke(tmp_path / "other", "init").exit_code == 0
    for name in ("ledger.sqlite", "ledger.exam.sqlite"):
        shutil.copyfile(tmp_path / "other" / name, home / name)
        (home / f"{name}-mark").unlink()
    refused = invoke(home, "status")
    assert (refused.exit_code, "is not the one of this home" in refused.stderr) == (1, True)

    joined = invoke(home, "init", "--join")

    assert joined.exit_code == 0, joined.stderr
    assert invoke(home, "status").exit_code == 0
    assert read_home_id(Settings(home=home)) == read_home_id(Settings(home=tmp_path / "other"))
