"""What is installed is what was locked: a file that differs from its hash is refused."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tasks.operations.packages import list_packages
from tests.deployments.test_cli import invoke
from tests.test_packaging import read_declared

ROOT = Path(__file__).resolve().parents[1]
LOCKS = ("constraints.txt", "constraints-cpu.txt")


def read_lock(name: str) -> dict[str, tuple[Requirement, list[str]]]:
    """Each package of a lock with its pin and the SHA-256 of its files."""
    found: dict[str, tuple[Requirement, list[str]]] = {}
    for block in re.split(r"\n(?=[a-zA-Z0-9])", "\n" + (ROOT / name).read_text("utf-8")):
        lines = [
            line.strip(" \\") for line in block.splitlines() if line.strip() and not line.startswith("#")
        ]
        if lines:
            pin = Requirement(lines[0])
            found[canonicalize_name(pin.name)] = (
                pin,
                [line.removeprefix("--hash=sha256:") for line in lines[1:]],
            )
    return found


@pytest.mark.parametrize("name", LOCKS)
def test_every_package_of_a_lock_has_one_version_and_hashes(name: str) -> None:
    for pin, hashes in read_lock(name).values():
        assert [one.operator for one in pin.specifier] == ["=="], pin
        assert hashes and all(re.fullmatch(r"[0-9a-f]{64}", one) for one in hashes), pin


@pytest.mark.parametrize("name", LOCKS)
def test_no_lock_names_an_index(name: str) -> None:
    # Whoever installs says where from; the hashes say what.
    assert "://" not in (ROOT / name).read_text("utf-8")


def test_what_is_declared_and_what_is_installed_is_locked() -> None:
    lock = read_lock("constraints.txt")
    core, extras = read_declared()
    assert {canonicalize_name(one) for one in core | extras} - set(lock) == set()
    for one in list_packages()[1:]:
        pin, _ = lock[one.name]
        assert pin.specifier.contains(one.version, prereleases=True), (one.name, one.version)


def test_the_build_for_the_cpu_is_of_the_version_that_is_locked() -> None:
    (pin,) = {pin.specifier for pin, _ in read_lock("constraints-cpu.txt").values()}
    (locked,) = read_lock("constraints.txt")["torch"][0].specifier
    assert str(pin) == f"=={locked.version}+cpu"


def test_a_lock_covers_machines_of_both_kinds() -> None:
    """What only some systems need is locked, too, whatever machine wrote the lock."""
    lock = read_lock("constraints.txt")
    assert {"nvidia-cublas", "triton", "colorama", "pywin32"} <= set(lock)
    # A wheel for each of several systems, processors and versions of Python.
    assert all(len(lock[name][1]) > 20 for name in ("numpy", "cryptography", "pyyaml", "torch"))


@pytest.mark.slow
def test_a_file_that_differs_from_its_hash_is_not_installed(tmp_path: Path) -> None:
    pin, hashes = read_lock("constraints.txt")["six"]

    def install(hashes: list[str]) -> subprocess.CompletedProcess[str]:
        lock = tmp_path / "lock.txt"
        lock.write_text(f"{pin} " + " ".join(f"--hash=sha256:{one}" for one in hashes))
        (tmp_path / "pyproject.toml").write_text(
            '[project]\nname = "x"\nversion = "1"\ndependencies = ["six>=1"]\n'
        )
        command = [
            "uv",
            "pip",
            "install",
            "--target",
            str(tmp_path / "there"),
            "--require-hashes",
            "--no-cache",
        ]
        return subprocess.run(
            [sys.executable, "-m", *command, "-c", str(lock), "-r", str(tmp_path / "pyproject.toml")],
            capture_output=True,
            text=True,
            check=False,
        )

    refused = install(["0" * 64])
    assert refused.returncode != 0
    assert "Hash mismatch for `six" in refused.stderr
    assert not list((tmp_path / "there").glob("six*"))
    assert install(hashes).returncode == 0
    assert (tmp_path / "there" / "six.py").is_file()


def test_whoever_installs_installs_by_the_locks() -> None:
    """`make setup`, the image and the host's script have one way of installing."""
    for name in ("Makefile", "deployments/server/Dockerfile", "deployments/server/host"):
        text = (ROOT / name).read_text("utf-8")
        assert "install-packages" in text, name
        installs = [line for line in text.splitlines() if re.search(r"pip install", line)]
        # The two environments beside it are for test-long alone.
        assert [line for line in installs if "NEEDS)" not in line] == [], name


def test_a_server_writes_the_bytecode_of_what_it_installs() -> None:
    """Who runs Proctor there may not write beside the packages."""
    for name in ("Dockerfile", "host"):
        text = (ROOT / "deployments/server" / name).read_text("utf-8")
        assert text.index("install-packages") < text.index("write-bytecode"), name


@pytest.mark.long
def test_after_it_commands_compile_next_to_nothing(tmp_path: Path) -> None:
    """The bytecode lies in a folder of its own, in the place of one that nobody else may write."""
    cache, paper = tmp_path / "cache", tmp_path / "paper.txt"
    paper.write_text("一、判断题\n1. 地球绕太阳转。（√）\n", encoding="utf-8")
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    variables = kept | {"PYTHONPYCACHEPREFIX": str(cache), "PROCTOR_HOME": str(tmp_path / "home")}

    def run(*command: str) -> None:
        subprocess.run([sys.executable, *command], env=variables, capture_output=True, check=True)

    run(str(ROOT / "deployments/server/write-bytecode"))
    written = set(cache.rglob("*.pyc"))
    assert len(written) > 5000
    for command in (["init"], ["ingest", str(paper), "--no-server"], ["status"], ["report", "--no-server"]):
        run("-m", "deployments.cli", *command)
    # What is imported by a name that is put together, of some 1,900 modules of a command.
    assert len(set(cache.rglob("*.pyc")) - written) < 30


def test_an_unknown_build_of_pytorch_is_refused(tmp_path: Path) -> None:
    """Nothing is installed here: a program in Python's place writes down what it is asked."""
    asked = tmp_path / "asked"
    python = tmp_path / "python"
    python.write_text(f'#!/bin/sh\necho "$@" >>{asked}\n')
    python.chmod(0o700)

    def run(backend: str) -> subprocess.CompletedProcess[str]:
        script = ROOT / "deployments/server/install-packages"
        variables = {"PATH": "/usr/bin:/bin", "TORCH_BACKEND": backend}
        return subprocess.run(
            [str(script), str(python), "ocr"], env=variables, capture_output=True, text=True, check=False
        )

    refused = run("cu130")
    assert refused.returncode == 2
    assert "no file of 'cu130' is known" in refused.stderr
    asked.unlink()
    assert run("cpu").returncode == 0
    where, uv, needs, own = asked.read_text().splitlines()
    assert where == "-m pip config list"
    assert "--require-hashes" in uv
    assert needs.endswith("--torch-backend=cpu -b constraints.txt -r pyproject.toml --extra ocr")
    assert "--require-hashes -c constraints.txt -c constraints-cpu.txt" in needs
    assert own.endswith("--no-deps -b constraints.txt -e .")

    # A build for the CPU in a folder that pip's own file names, one of two.
    wheels = tmp_path / "wheels"
    wheels.mkdir()
    (wheels / "torch-2.0+cpu-cp311-cp311-linux_x86_64.whl").touch()
    told = tmp_path / "told"
    told.write_text(f"global.cert='x'\nglobal.find-links='\\n/nowhere\\n{wheels}'\n")
    python.write_text(f'#!/bin/sh\necho "$UV_FIND_LINKS $@" >>{asked}\n[ "$3" != config ] || cat {told}\n')
    asked.unlink()
    assert run("").returncode == 0
    _, _, needs, _ = asked.read_text().splitlines()
    assert needs.startswith(f"/nowhere,{wheels} ")
    assert "-c constraints-cpu.txt -b constraints.txt" in needs


def test_the_command_ends_with_three_where_an_advisory_is_about_what_is_installed(tmp_path: Path) -> None:
    affected = {
        "package": {"ecosystem": "PyPI", "name": "Jinja2"},
        "ranges": [{"type": "ECOSYSTEM", "events": [{"introduced": "0"}]}],
    }
    (tmp_path / "one.json").write_text(
        json.dumps(
            {
                "id": "PYSEC-2026-9",
                "aliases": ["CVE-2026-9"],
                "modified": "2026-11-01T00:00:00Z",
                "affected": [affected],
            }
        )
    )

    refused = invoke(None, "packages", "check", str(tmp_path), "--json")
    assert refused.exit_code == 3, refused.stderr
    found = json.loads(refused.stdout)
    assert (found["advisories"], found["newest"]) == (1, "2026-11-01T00:00:00Z")
    assert [one["package"] for one in found["found"]] == ["jinja2"]
    passed = invoke(None, "packages", "check", str(tmp_path), "--json", "--except", "CVE-2026-9")
    assert passed.exit_code == 0
