"""One demo and one Prefect server for the end-to-end tests of a worker; each test that changes something works on a copy."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.reader import Reader

ROOT = Path(__file__).resolve().parents[2]
BIN = Path(sys.executable).parent


@dataclass(frozen=True)
class Home:
    """A PROCTOR_HOME, and `proctor` run in it as a user would."""

    path: Path
    work: Path
    variables: Mapping[str, str]

    def run(
        self, *arguments: str, exit_code: int | None = 0, timeout: float = 240
    ) -> subprocess.CompletedProcess[str]:
        """Run `proctor`; checks the exit code unless it is None."""
        done = subprocess.run(
            [str(BIN / "proctor"), *arguments],
            env=self.environment(),
            cwd=self.work,
            capture_output=True,
            text=True,
            timeout=timeout,
            stdin=subprocess.DEVNULL,
        )
        if exit_code is not None:
            assert done.returncode == exit_code, (
                f"proctor {' '.join(arguments)}\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}"
            )
        return done

    def read_json(self, *arguments: str) -> Any:
        """Run `proctor … --json` and parse what it prints."""
        return json.loads(self.run(*arguments, "--json").stdout)

    def environment(self) -> dict[str, str]:
        """The environment of a fresh shell in which PROCTOR_HOME is set and the virtual environment is active."""
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("PROCTOR_", "PREFECT_"))}
        kept["PATH"] = f"{BIN}{os.pathsep}{kept.get('PATH', '')}"
        return kept | {"PROCTOR_HOME": str(self.path)} | dict(self.variables)

    def copy(self, folder: Path, **variables: str) -> Home:
        """The same home elsewhere; it shares the running Prefect server."""
        shutil.copytree(self.path, folder, ignore=shutil.ignore_patterns("*.lock"))
        return Home(folder, self.work, dict(self.variables) | variables)


@dataclass(frozen=True)
class Demo:
    """The demo as it ended, and what an analyst's process saw meanwhile."""

    home: Home
    result: dict[str, Any]
    reader: Reader


@pytest.fixture(scope="session")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Demo]:
    """`proctor demo` in a new home, while an analyst queries the lake from another process."""
    folder = tmp_path_factory.mktemp("demo")
    work = tmp_path_factory.mktemp("work")
    for name in ("deployments", "docs"):
        (work / name).symlink_to(ROOT / name)
    home = Home(folder / "home", work, {})
    reader = Reader.start(home.path / "lake" / "catalog.sqlite")
    try:
        result = json.loads(home.run("demo", "--json", "--keep-server", timeout=600).stdout)
    finally:
        reader.stop()
    try:
        yield Demo(home, result, reader)
    finally:
        home.run("down", exit_code=None)
