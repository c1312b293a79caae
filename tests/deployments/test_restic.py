"""The procedure of docs/encryption.md with the real program, there and back."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from schemas.settings import Settings
from schemas.tables import TABLES
from tests.deployments.test_cli import invoke
from warehouse.lake import open_lake
from warehouse.ledger.engine.copies.backups import list_backups
from warehouse.ledger.engine.opening import open_ledger

MARKER = "Zyxomma Petiolatum"

pytestmark = [
    pytest.mark.long,
    pytest.mark.service,
    pytest.mark.skipif(
        shutil.which("restic") is None, reason="restic is not installed: apt-get install restic"
    ),
]


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home with one paper."""
    (tmp_path / "paper.txt").write_text(f"1. What is {MARKER}?\nA. A fly\nB. A bird\n答案：A\n")
    home = tmp_path / "home"
    assert invoke(home, "init").exit_code == 0
    done = invoke(home, "ingest", str(tmp_path / "paper.txt"), "--no-server")
    assert done.exit_code == 0, done.output
    return home


class Restic:
    """A repository with its password in a file beside it."""

    def __init__(self, folder: Path) -> None:
        self.repository = folder / "repository"
        password = folder / "restic-password"
        password.write_text("a password of the test\n")
        password.chmod(0o600)
        self.variables = {
            "PATH": os.environ["PATH"],
            "HOME": str(folder),
            "RESTIC_REPOSITORY": str(self.repository),
            "RESTIC_PASSWORD_FILE": str(password),
            "RESTIC_CACHE_DIR": str(folder / "cache"),
        }
        self.run("init")

    def run(self, *arguments: str, check: bool = True, **variables: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["restic", *arguments],
            env=self.variables | variables,
            check=check,
            capture_output=True,
            text=True,
        )


def read_tables(home: Path) -> dict[str, list[tuple[object, ...]]]:
    with open_lake(Settings(home=home), read_only=True) as lake:
        return {
            name: lake.connection.execute(f'SELECT * FROM "{name}" ORDER BY ALL').fetchall()
            for name in TABLES
        }


def find_marker(folder: Path) -> list[str]:
    """Files below a folder that hold the marker in clear, in their bytes or their names."""
    marker = MARKER.encode()
    return [
        path.name
        for path in sorted(folder.rglob("*"))
        if path.is_file() and (marker in path.read_bytes() or marker in str(path).encode())
    ]


def test_a_backup_lies_encrypted_in_restic_and_comes_back_to_the_same_tables(
    home: Path, tmp_path: Path
) -> None:
    restic = Restic(tmp_path)
    # One folder, made again each time: restic finds in it what it had before.
    folder = tmp_path / "staging" / "backup"
    for _ in range(2):
        assert invoke(home, "backup", str(folder)).exit_code == 0
        plain = find_marker(folder)
        assert [name for name in plain if name.endswith(".original.txt")], "a backup itself is in clear"
        restic.run("backup", str(folder))
        shutil.rmtree(folder)
    restic.run("check", "--read-data")
    assert find_marker(restic.repository) == []
    assert find_marker(tmp_path / "cache") == []
    restic.run("forget", "--keep-last", "1", "--prune")

    restic.run("restore", "latest", "--target", str(tmp_path / "out"))

    restored = tmp_path / "out" / folder.relative_to("/")
    checked = invoke(None, "backup", "--verify", str(restored))
    assert checked.exit_code == 0, checked.output
    done = invoke(tmp_path / "new", "restore", str(restored))
    assert done.exit_code == 0, done.output
    assert read_tables(tmp_path / "new") == read_tables(home)
    with open_ledger(Settings(home=tmp_path / "new").ledger_address) as ledger, ledger.read() as connection:
        assert len(list_backups(connection)) == 2
    originals = [path.name for path in (tmp_path / "new" / "archive").rglob("*.original.txt")]
    assert originals == [path.name for path in (home / "archive").rglob("*.original.txt")]


def test_without_its_password_a_repository_gives_nothing_and_damage_is_found(
    home: Path, tmp_path: Path
) -> None:
    restic = Restic(tmp_path)
    assert invoke(home, "backup", str(tmp_path / "backup")).exit_code == 0
    restic.run("backup", str(tmp_path / "backup"))
    wrong = tmp_path / "wrong"
    wrong.write_text("another\n")
    refused = restic.run(
        "restore", "latest", "--target", str(tmp_path / "out"), check=False, RESTIC_PASSWORD_FILE=str(wrong)
    )
    assert (refused.returncode != 0, "wrong password" in refused.stderr) == (True, True)
    assert not (tmp_path / "out").exists()
    largest = max(
        (restic.repository / "data").rglob("*"), key=lambda path: path.stat().st_size * path.is_file()
    )
    largest.chmod(0o600)
    content = bytearray(largest.read_bytes())
    content[len(content) // 2] ^= 1
    largest.write_bytes(content)
    with pytest.raises(subprocess.CalledProcessError):
        restic.run("check", "--read-data")
