"""`proctor exam verify`, as it is typed."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tests.deployments.conftest import copy_new_home
from tests.deployments.test_cli import invoke
from tests.tasks.exam.public.world import make_world


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A published folder, a witness's head and the receipts of its candidates."""
    folder = tmp_path_factory.mktemp("published")
    made, _ = make_world()
    made.write(folder / "public")
    (folder / "witness.jsonl").write_text(json.dumps(made.sign_head(40)))
    (folder / "receipts.jsonl").write_text("\n".join(json.dumps(receipt) for receipt in made.receipts))
    return folder


def test_verify_needs_no_home_and_takes_heads_and_receipts(
    published: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    given = ["--head", str(published / "witness.jsonl"), "--receipts", str(published / "receipts.jsonl")]
    done = invoke(tmp_path / "no-home", "exam", "verify", str(published / "public"), *given, "--json")
    found = json.loads(capfd.readouterr().out)
    assert (done.exit_code, found["holds"], found["faults"]) == (0, True, [])
    assert (found["checked"]["given_heads"], found["checked"]["receipts"]) == (1, 73)


def test_verify_ends_with_1_and_names_the_fault(
    published: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "public"
    shutil.copytree(published / "public", folder)
    with (folder / "log.jsonl").open("ab") as file:
        file.write(b"{}\n")
    assert invoke(tmp_path / "no-home", "exam", "verify", str(folder)).exit_code == 1
    assert capfd.readouterr().out.splitlines()[0] == "log_broken: `number` is missing, line 103 of log.jsonl"


def test_verify_looks_at_what_the_home_has_published(
    published: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    home = tmp_path / "home"
    copy_new_home(home)
    shutil.rmtree(home / "public", ignore_errors=True)
    nothing = invoke(home, "exam", "verify")
    assert (nothing.exit_code, "nothing of this home was published yet" in nothing.output) == (2, True)
    shutil.copytree(published / "public", home / "public")
    assert invoke(home, "exam", "verify").exit_code == 0
    assert "All holds: 102 entries" in capfd.readouterr().out


def test_verify_with_a_key_that_is_none_ends_with_2(published: Path, tmp_path: Path) -> None:
    assert invoke(tmp_path, "exam", "verify", str(published / "public"), "--key", "none").exit_code == 2
    assert invoke(tmp_path, "exam", "verify", str(tmp_path / "nowhere")).exit_code == 2
