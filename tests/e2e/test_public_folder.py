"""What the demo has published verifies in a bare Python, and what is changed in it does not.

Where the installation cannot seal draws, or publish editions' files, there is nothing of it to look at: those tests begin to run
with the code that does.
"""

from __future__ import annotations

import importlib.util
import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.conftest import ROOT, Demo

VERIFIER = ROOT / "tasks" / "exam" / "public" / "verifier.py"


def is_there(module: str) -> bool:
    return importlib.util.find_spec(module) is not None


pytestmark = pytest.mark.skipif(
    not is_there("tasks.exam.public.disclosing"), reason="draws are not sealed yet"
)


def verify(folder: Path, *options: str) -> dict[str, Any]:
    """What a copy of the verifier says that knows nothing of this checkout."""
    copied = shutil.copy(VERIFIER, folder.parent / "copied.py")
    done = subprocess.run(
        [sys.executable, "-I", "-S", str(copied), str(folder), "--json", *options],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) in ((0, ""), (1, ""))
    found: dict[str, Any] = json.loads(done.stdout)
    return found


@pytest.fixture
def public(demo: Demo, tmp_path: Path) -> Path:
    """What a copy of the demo's home has published, sealed, with the head beside it as a witness keeps it."""
    home = demo.home.copy(tmp_path / "home")
    home.run("exam", "seal", "--witness", str(tmp_path / "witness.jsonl"))
    folder = home.path / "public"
    assert home.run("exam", "verify").returncode == 0
    return folder


def test_the_demo_publishes_what_a_bare_python_accepts(public: Path, demo: Demo, tmp_path: Path) -> None:
    found = verify(public, "--head", str(tmp_path / "witness.jsonl"))
    assert (found["faults"], found["checked"]["given_heads"]) == ([], 1)
    assert found["checked"]["runs"] == 2
    assert found["checked"]["planned_sessions"] > 20


@pytest.mark.skipif(not is_there("tasks.editions.public_files"), reason="editions publish no files yet")
def test_every_edition_of_the_demo_is_recomputed(public: Path, demo: Demo) -> None:
    found = verify(public)
    assert found["checked"]["editions"] == len(demo.home.read_json("editions"))
    assert not [note for note in found["notes"] if "recomputed" in note]


def edit(name: str, old: bytes, new: bytes) -> Callable[[Path], None]:
    """Replace the last occurrence in the files of this name."""

    def change(folder: Path) -> None:
        paths = sorted(folder.glob(name))
        assert paths
        raw = paths[0].read_bytes()
        place = raw.rfind(old)
        assert place >= 0
        paths[0].write_bytes(raw[:place] + new + raw[place + len(old) :])

    return change


def cut_log(folder: Path) -> None:
    lines = (folder / "log.jsonl").read_bytes().splitlines(keepends=True)
    (folder / "log.jsonl").write_bytes(b"".join(lines[:-5]))
    (folder / "heads.jsonl").write_bytes(b"")


TAMPERINGS: dict[str, tuple[Callable[[Path], None], str]] = {
    "another seed": (edit("runs/*/seed.json", b'"seed":', b'"former":'), "seed_wrong"),
    "an order": (edit("runs/*/orders.jsonl", b'"order":[', b'"order":[9,'), "order_wrong"),
    "a weight": (edit("runs/*/plan.json", b'"weights":{', b'"weights":{"History":1,'), "plan_wrong"),
    "a question": (edit("runs/*/sets.jsonl", b'"items":[["', b'"items":[["0'), "set_wrong"),
    "a bank": (edit("banks/*.jsonl", b'",1,"', b'",2,"'), "bank_wrong"),
    "a closing": (edit("log.jsonl", b'"kind":"close"', b'"kind":"quit"'), "log_broken"),
    "the end of the log, with all heads": (cut_log, "log_truncated"),
}


@pytest.mark.parametrize("name", TAMPERINGS)
def test_what_an_editor_changes_in_the_demo_s_folder_is_refused(
    name: str, public: Path, tmp_path: Path
) -> None:
    change, statement = TAMPERINGS[name]
    change(public)
    found = verify(public, "--head", str(tmp_path / "witness.jsonl"))
    assert statement in {fault["statement"] for fault in found["faults"]}
