"""What is installed is what was written.

Every import is declared, every file is in the wheel, and the wheel alone runs.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from functools import cache
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

from tests.sources import READS_SOURCES, ROOT, list_files, read_source

PACKAGES = ("deployments", "flows", "schemas", "tasks", "warehouse")


def read_declared() -> tuple[set[str], set[str]]:
    """The distributions that are declared, those of the extras apart."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]

    def name(requirement: str) -> str:
        return re.split(r"[\s\[<>=!~;]", requirement, maxsplit=1)[0].lower().replace("_", "-")

    extras = {
        name(one)
        for extra, needs in project["optional-dependencies"].items()
        if extra != "dev"
        for one in needs
    }
    return {name(one) for one in project["dependencies"]}, extras


@cache
def list_imports() -> dict[str, set[str]]:
    """Each top-level module that the packages import, with the files that do."""
    found: dict[str, set[str]] = {}
    for package in PACKAGES:
        for path in list_files(package):
            for one in read_source(path).imports:
                for name in (one.module,) if one.is_from else one.names:
                    found.setdefault(name.partition(".")[0], set()).add(str(path.relative_to(ROOT)))
    return found


def read_version() -> str:
    version: str = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["version"]
    return version


@READS_SOURCES
def test_every_import_is_of_a_declared_distribution() -> None:
    declared, extras = read_declared()
    known = packages_distributions()
    undeclared = {}
    for module, files in list_imports().items():
        if module in sys.stdlib_module_names or module in PACKAGES or module == "__future__":
            continue
        owners = {owner.lower().replace("_", "-") for owner in known.get(module, [module])}
        if not owners & (declared | extras):
            undeclared[module] = sorted(files)[:3]
    assert undeclared == {}


def build_wheel(folder: Path) -> Path:
    """The wheel of what git tracks, as it lies here."""
    source = folder / "source"
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True).stdout
    for name in filter(None, listed.decode().split("\0")):
        if name.startswith(PACKAGES) or name in ("pyproject.toml", "README.md", "LICENSE"):
            target = source / name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes((ROOT / name).read_bytes())
    build = [sys.executable, "-m", "uv", "build", "--wheel", "--quiet", "-o", str(folder), str(source)]
    subprocess.run(build, check=True)
    (wheel,) = folder.glob("*.whl")
    return wheel


@pytest.mark.slow
def test_the_wheel_holds_every_file_of_the_packages(tmp_path: Path) -> None:
    listed = subprocess.run(["git", "ls-files", "-z", *PACKAGES], cwd=ROOT, capture_output=True, check=True)
    with zipfile.ZipFile(build_wheel(tmp_path)) as archive:
        held = {name for name in archive.namelist() if ".dist-info/" not in name}
    assert held == set(filter(None, listed.stdout.decode().split("\0")))


@pytest.mark.long
def test_the_wheel_runs_the_demo_an_ingest_and_a_report_in_an_empty_environment(tmp_path: Path) -> None:
    wheel, environment, work = build_wheel(tmp_path), tmp_path / "environment", tmp_path / "elsewhere"
    work.mkdir()
    subprocess.run([sys.executable, "-m", "venv", str(environment)], check=True)
    python = environment / "bin" / "python"
    install = [
        sys.executable,
        "-m",
        "uv",
        "pip",
        "install",
        "--quiet",
        "--python",
        str(python),
        "-c",
        str(ROOT / "constraints.txt"),
    ]
    # As deployments/server/install-packages: uv does not look where pip was told to, and a build of PyTorch for the CPU that
    # lies there is known by its own hashes.
    links = os.environ.get("UV_FIND_LINKS") or os.environ.get("PIP_FIND_LINKS", "")
    if any(list(Path(folder).glob("torch-*+cpu-*.whl")) for folder in links.split()):
        install += ["-c", str(ROOT / "constraints-cpu.txt")]
    subprocess.run(
        [*install, str(wheel)], check=True, env=os.environ | ({"UV_FIND_LINKS": links} if links else {})
    )
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("PROCTOR_", "PREFECT_", "PYTHON"))}

    def run(*command: str, home: str = ".proctor") -> str:
        program = str(environment / "bin" / "proctor")
        variables = kept | {"PROCTOR_HOME": str(work / home)}
        done = subprocess.run(
            [program, *command], cwd=work, env=variables, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
        return done.stdout

    # Without a checkout there is no commit to name.
    assert run("--version") == f"proctor {read_version()}\n"
    assert "sim-summit-1" in run("demo")
    assert (work / ".proctor" / "public").is_dir()
    run("report", "--out", "site", "--no-server")
    assert "sim-summit-1" in (work / "site" / "leaderboard.csv").read_text("utf-8")
    shutil.copy(ROOT / "deployments/demo/papers/history/history-final-2024.docx", work / "paper.docx")
    run("init", home="other")
    read = json.loads(run("ingest", "paper.docx", "--no-server", "--json", home="other"))
    assert (read["documents"], read["question_count"]) == ({"parsed": 1}, 17)
