"""Witnesses keep heads, as anybody can, and an edition is graded by what they hold."""

from __future__ import annotations

import copy
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tasks.exam.public import verifier
from tests.tasks.exam.public.made import Made, dump_lines

FILE = Path(verifier.__file__)
NOBODY = 65534
# One that another user may run: ours lies where only we may look.
SYSTEM_PYTHON = shutil.which("python3", path="/usr/bin:/bin") or ""


def run(program: Path, *arguments: object, user: int | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable if user is None else SYSTEM_PYTHON, "-I", str(program), *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
        cwd="/",
        user=user,
    )


def read_grades(folder: Path, *heads: Path) -> dict[str, str]:
    done = run(FILE, folder, "--json", *(part for path in heads for part in ("--head", path)))
    found = json.loads(done.stdout)
    assert found["faults"] == []
    return dict(found["grades"])


def write_heads(made: Made, path: Path, *numbers: int, kept_at: str = "") -> Path:
    """A witness's file; `kept_at`: when it says that it got them."""
    said = {"kept_at": kept_at} if kept_at else {}
    path.write_bytes(dump_lines([made.sign_head(number) | said for number in numbers]))
    return path


def find_lines(made: Made, edition: str) -> tuple[int, int, int]:
    """The numbers of an edition's line, and of its run's last commit and draw."""
    line = next(entry for entry in made.entries if entry["body"].get("edition") == edition)
    own = [entry for entry in made.entries if entry["body"].get("run") == line["body"]["run"]]
    commit = [entry["number"] for entry in own if entry["kind"] == "commit"][-1]
    draw = next(entry["number"] for entry in own if entry["kind"] == "draw")
    return line["number"], commit, draw


def find_beacon_edition(made: Made) -> str | None:
    drawn = {
        entry["body"]["run"]
        for entry in made.entries
        if entry["kind"] == "draw" and entry["body"]["beacon"] is not None
    }
    names = [
        entry["body"]["edition"]
        for entry in made.entries
        if entry["kind"] == "edition" and entry["body"]["run"] in drawn
    ]
    return names[0] if names else None


def test_an_edition_is_witnessed_once_two_witnesses_hold_a_head_that_covers_it(
    made: Made, tmp_path: Path
) -> None:
    folder = made.write(tmp_path / "public")
    last = len(made.entries)
    first, second = (write_heads(made, tmp_path / name, last) for name in ("first", "second"))
    early = write_heads(made, tmp_path / "early", 1)
    assert set(read_grades(folder).values()) == {"self-attested"}
    assert set(read_grades(folder, first).values()) == {"self-attested"}
    assert set(read_grades(folder, first, first).values()) == {"self-attested"}
    assert set(read_grades(folder, first, early).values()) == {"self-attested"}
    assert set(read_grades(folder, first, second).values()) == {"witnessed"}
    assert run(FILE, folder, "--require", "self-attested").returncode == 0
    refused = run(FILE, folder, "--require", "witnessed", "--head", first)
    assert refused.returncode == 1
    assert refused.stdout.startswith("grade_low: edition ")
    assert run(FILE, folder, "--require", "witnessed", "--head", first, "--head", second).returncode == 0


def test_a_beacon_counts_where_two_witnesses_had_the_commit_before_its_value_was_given_out(
    made: Made, tmp_path: Path
) -> None:
    edition = find_beacon_edition(made)
    assert edition is not None, "the world has a run that was drawn with a beacon"
    folder = made.write(tmp_path / "public")
    line, commit, draw = find_lines(made, edition)
    assert commit < draw < line
    before, after = "2023-09-15T11:00:02.999999+00:00", "2023-09-15T11:00:03+00:00"
    cases = {
        "witnessed + beacon": [(commit, before), (commit, before)],
        # The draw's line was there, the head of the commit came after the value, one of two did, and nobody says when.
        "witnessed": [(draw, before), (draw, before)],
        "late": [(commit, after), (commit, after)],
        "one late": [(commit, before), (commit, after)],
        "no clock": [(commit, ""), (commit, "")],
    }
    for name, kept in cases.items():
        heads = [
            write_heads(made, tmp_path / f"{name}-{place}", number, line, kept_at=kept_at)
            for place, (number, kept_at) in enumerate(kept)
        ]
        expected = name if name.startswith("witnessed") else "witnessed"
        assert read_grades(folder, *heads)[edition] == expected, name


def test_a_typed_beacon_and_a_program_without_the_library_give_no_grade_and_say_so(
    made: Made, tmp_path: Path
) -> None:
    edition = find_beacon_edition(made)
    assert edition is not None
    line, commit, _ = find_lines(made, edition)
    before = "2023-09-15T11:00:02+00:00"

    def check(folder: Path, *options: str) -> tuple[str, str]:
        heads = [write_heads(made, tmp_path / f"{place}", commit, line, kept_at=before) for place in (1, 2)]
        done = subprocess.run(
            [sys.executable, "-I", *options, str(FILE), str(folder), "--json", "--head", *map(str, heads)],
            capture_output=True,
            text=True,
            check=True,
        )
        found = json.loads(done.stdout)
        [note] = [note for note in found["notes"] if "2026-10:" in note and "never closed" not in note]
        return found["grades"][edition], note

    folder = made.write(tmp_path / "drand")
    assert check(folder, "-S") == (
        "witnessed",
        "Run 2026-10: the signature of drand's round was not checked; `pip install py-arkworks-bls12381` lets this program do it.",
    )
    run_id = edition.rpartition("/")[0]
    for kind, names in (("commit", ("chain", "round")), ("draw", ("signature",))):
        for entry in made.entries:
            if entry["kind"] == kind and entry["body"]["run"] == run_id:
                for name in names:
                    entry["body"]["beacon"].pop(name, None)
    typed = made.write(tmp_path / "typed")
    assert check(typed) == (
        "witnessed",
        "Run 2026-10: the beacon's value was typed; look it up: drand quicknet, round 657413.",
    )


@pytest.mark.parametrize("user", [None, NOBODY])
def test_a_witness_keeps_each_head_once_as_any_user_with_python_alone(
    made: Made, tmp_path: Path, user: int | None
) -> None:
    if user is not None and (os.geteuid() != 0 or not SYSTEM_PYTHON):
        pytest.skip("only root can run a process of another user, by the system's Python")
    # A folder that another user can reach and write to: pytest's own are closed.
    place = Path("/tmp") / f"witness-{os.getpid()}-{user}"
    place.mkdir()
    try:
        folder = made.write(place / "public")
        program = Path(shutil.copy(FILE, place / "verifier.py"))
        place.chmod(0o777)
        kept = place / "heads.jsonl"
        first = run(program, folder, "--keep", kept, user=user)
        assert (first.returncode, first.stderr) == (0, "")
        again = run(program, folder, "--keep", kept, user=user)
        assert again.stdout == "Nothing new: the last head is kept already.\n"
        [line] = kept.read_text().splitlines()
        assert json.loads(line)["kept_at"] > "2026"
        assert kept.stat().st_uid == (os.geteuid() if user is None else user)
        assert run(program, folder, "--head", kept).returncode == 0
    finally:
        shutil.rmtree(place)


def test_a_witness_keeps_nothing_of_a_log_that_is_another_than_it_was_shown(
    made: Made, tmp_path: Path
) -> None:
    folder, kept = made.write(tmp_path / "public"), tmp_path / "heads.jsonl"
    assert run(FILE, folder, "--keep", kept).returncode == 0
    before = kept.read_bytes()
    # A split view: the same keys sign another history, which holds in itself.
    other: Any = copy.copy(made)
    other.entries = copy.deepcopy(made.entries)
    other.entries[1]["at"] = "2020-01-01T00:00:00.000000+00:00"
    other.chain()
    log = folder / "log.jsonl"
    lines = log.read_bytes().splitlines(keepends=True)
    log.write_bytes(b"".join(lines[:-1]))
    cut = run(FILE, folder, "--keep", kept)
    assert cut.returncode == 1
    assert "log_truncated" in cut.stdout
    shutil.rmtree(folder)
    other.write(folder)
    (folder / "heads.jsonl").write_bytes(dump_lines([other.sign_head(len(other.entries))]))
    split = run(FILE, folder, "--keep", kept)
    assert split.returncode == 1
    assert "was rewritten" in split.stdout
    assert kept.read_bytes() == before


def test_a_program_that_is_told_each_head_keeps_it_with_its_own_moment(made: Made, tmp_path: Path) -> None:
    made.write(tmp_path / "public")
    kept = tmp_path / "heads.jsonl"

    def tell(head: dict[str, Any], key: str = made.public_key) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-I", "-S", str(FILE), "-", "--keep", str(kept), "--key", key],
            input=json.dumps(head),
            capture_output=True,
            text=True,
            check=False,
        )

    assert tell(made.sign_head(3)).stdout == "Kept: head 3.\n"
    assert tell(made.sign_head(3)).stdout.startswith("Nothing new")
    assert tell(made.sign_head(5)).returncode == 0
    lines = [json.loads(line) for line in kept.read_text().splitlines()]
    assert [(line["number"], line["kept_at"] > "2026") for line in lines] == [(3, True), (5, True)]
    before = kept.read_bytes()
    for head, statement in (
        (made.sign_head(4), "log_truncated"),
        (made.sign_head(6) | {"signature": made.sign_head(7)["signature"]}, "head_wrong"),
        ({"number": 8}, "head_wrong"),
    ):
        refused = tell(head)
        assert (refused.returncode, refused.stdout.split(":")[0]) == (1, statement)
    made.entries[4]["at"] = "2020-01-01T00:00:00.000000+00:00"
    made.chain()
    assert "entry 5 was rewritten" in tell(made.sign_head(5)).stdout
    assert kept.read_bytes() == before
    assert tell(made.sign_head(9), key="").returncode == 2
