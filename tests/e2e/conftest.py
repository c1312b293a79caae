"""One demo and one Prefect server for the end-to-end tests of all workers.

A test that changes something works on a copy.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from filelock import FileLock

from tests.e2e.reader import Reader, Seen
from tests.hunts import IS_WHOLE

ROOT = Path(__file__).resolve().parents[2]
BIN = Path(sys.executable).parent
# Stands in the shell of whoever starts a server; the server must not have it.
PLANTED_KEY = "QZXW_API_KEY"
# In every run one lineage of each discipline is in a set, in a long one three, as whoever types `make demo` has it.
SMALL: Mapping[str, str] = {} if IS_WHOLE else {"PROCTOR_SET_SIZE": "10"}
ANSWERS = 240 if SMALL else 720


# A command that is not done after so long hangs; on a busy machine the whole demo has taken a quarter of it.
HUNG_S = 2_400.0


@dataclass(frozen=True)
class Home:
    """A PROCTOR_HOME, and `proctor` run in it as a user would."""

    path: Path
    work: Path
    variables: Mapping[str, str]
    bin: Path = BIN

    def run(
        self, *arguments: str, exit_code: int | None = 0, timeout: float = HUNG_S
    ) -> subprocess.CompletedProcess[str]:
        """Run `proctor`; checks the exit code unless it is None."""
        done = subprocess.run(
            [str(self.bin / "proctor"), *arguments],
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
        """The environment of a fresh shell.

        PROCTOR_HOME is set in it, and the virtual environment is active.
        """
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("PROCTOR_", "PREFECT_"))}
        kept["PATH"] = os.pathsep.join([str(self.bin), str(BIN), kept.get("PATH", "")])
        return kept | {"PROCTOR_HOME": str(self.path)} | dict(self.variables)

    def copy(self, folder: Path, **variables: str) -> Home:
        """The same home elsewhere; it shares the running Prefect server.

        Whoever looked at the home last may close a store in this moment, and a log that was listed is gone: then it is copied anew.
        """
        for tries_left in (4, 3, 2, 1, 0):
            try:
                shutil.copytree(self.path, folder, ignore=shutil.ignore_patterns("*.lock"))
                break
            except shutil.Error:
                shutil.rmtree(folder)
                if not tries_left:
                    raise
                time.sleep(0.2)
        return replace(self, path=folder, variables=dict(self.variables) | variables)


@dataclass(frozen=True)
class Demo:
    """The demo as it ended, and what an analyst's process saw meanwhile."""

    home: Home
    result: dict[str, Any]
    reader: Seen


@pytest.fixture(scope="session")
def demo(tmp_path_factory: pytest.TempPathFactory, warm: Path) -> Demo:
    """`proctor demo` in a new home, while an analyst queries the lake from another process.

    Made once for all workers, by the first that needs it; a test that changes something works on a copy. Its Prefect server
    runs until the last worker is done.
    """
    shared = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        shared = shared.parent
    folder = shared / "demo"
    work = folder / "work"
    home = Home(folder / "home", work, {PLANTED_KEY: "QZXW-KEY-OF-A-MODEL", **SMALL}, warm)
    with FileLock(shared / "demo.lock"):
        if (folder / "failed").exists():
            pytest.fail("The shared demo failed; the test that asked for it first shows how.", pytrace=False)
        if not (folder / "reader.json").exists():
            work.mkdir(parents=True)
            (folder / "failed").touch()
            for name in ("deployments", "docs"):
                (work / name).symlink_to(ROOT / name)
            reader = Reader.start(home.path / "lake" / "catalog.sqlite")
            try:
                result = home.run("demo", "--json", "--keep-server").stdout
            finally:
                seen = reader.stop()
            (folder / "result.json").write_text(result)
            (folder / "reader.json").write_text(seen)
            (folder / "failed").unlink()
    return Demo(home, json.loads((folder / "result.json").read_text()), Seen.read(folder / "reader.json"))


@pytest.fixture(scope="session")
def home_without_server(demo: Demo, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Home]:
    """The demo's home as if no server had ever run in it.

    The first command that needs one starts it.

    Starting one costs 15 s of CPU: the tests that ask for this home are one group, and share it.
    """
    work = tmp_path_factory.mktemp("own-server")
    home = demo.home.copy(work / "home")
    shutil.rmtree(home.path / "prefect")
    (home.path / "prefect").mkdir()
    home = replace(home, work=work)
    try:
        yield home
    finally:
        home.run("down", exit_code=None)
