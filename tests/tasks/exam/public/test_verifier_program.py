"""The verifier as a program: in a bare Python, on damaged files, with words for every fault."""

from __future__ import annotations

import ast
import json
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tasks.exam.public import verifier
from tests.hunts import tries
from tests.tasks.exam.public.made import Made
from tests.tasks.exam.public.world import make_world

FILE = Path(verifier.__file__)


def run(*arguments: object) -> subprocess.CompletedProcess[str]:
    """As outsiders run it: no site packages, no environment, no folder of ours on the path."""
    return subprocess.run(
        [sys.executable, "-I", "-S", str(FILE), *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
        cwd="/",
    )


def test_it_is_one_file_for_python_3_8_with_the_standard_library_alone() -> None:
    tree = ast.parse(FILE.read_text(encoding="utf-8"), feature_version=(3, 8))
    names = {
        name.split(".")[0]
        for node in ast.walk(tree)
        for name in (
            [alias.name for alias in node.names]
            if isinstance(node, ast.Import)
            else [node.module or ""]
            if isinstance(node, ast.ImportFrom)
            else []
        )
    }
    assert names <= set(sys.stdlib_module_names) | {"__future__"}
    assert "tasks" not in names


def test_a_bare_python_accepts_the_world_and_names_what_is_wrong(made: Made, tmp_path: Path) -> None:
    folder = made.write(tmp_path / "public")
    receipts = tmp_path / "receipts.json"
    receipts.write_text(json.dumps(made.receipts))
    good = run(folder, "--receipts", receipts, "--key", made.public_key, "--progress")
    assert (good.returncode, good.stdout.splitlines()[-1].partition(":")[0]) == (0, "All holds")
    assert "checking run 2026-10\n" in good.stderr
    name = "editions/2026-09-1/edition.json"
    (folder / name).write_bytes(made.files[name].replace(b'"pair_count":', b'"pair_count":1'))
    bad = run(folder, "--json")
    assert (bad.returncode, bad.stderr) == (1, "")
    found = json.loads(bad.stdout)
    assert (found["holds"], {fault["statement"] for fault in found["faults"]}) == (
        False,
        {"file_changed", "score_wrong"},
    )
    assert (
        run(folder).stdout.splitlines()[0] == f"file_changed: it is not what the log has the hash of, {name}"
    )


@pytest.mark.parametrize(
    "arguments", [[], ["no-such-folder"], ["/", "--receipts", "none"], ["/", "--key", "none"]]
)
def test_a_wrong_call_ends_with_2(arguments: list[str]) -> None:
    assert run(*arguments).returncode == 2


def test_an_empty_folder_and_one_of_folders_are_faults(tmp_path: Path) -> None:
    assert {statement for statement, _ in verifier.verify(str(tmp_path)).faults} == {"file_missing"}
    (tmp_path / "log.jsonl").mkdir()
    assert {statement for statement, _ in verifier.verify(str(tmp_path)).faults} == {"file_missing"}


ODD: list[bytes] = [
    b"null", b"[]", b"{}", b"-1", b"1e999", b"NaN", b"1" * 5000, b'"\\ud800"', b'"' + b"x" * 5000 + b'"', b"[" * 50_000,
    b'{"a":' * 20_000, b"true", b"0.5", b"9223372036854775808", b"\xff", b'[[[["x"]]]]', b'{"a":1,"a":1}',
]  # fmt: skip


def damage(rng: random.Random, raw: bytes) -> bytes:
    """Damage a file at random: cut, flipped, removed or added bytes, or an odd value."""
    place = rng.randrange(len(raw))
    kind = rng.randrange(5)
    if kind == 0:
        return raw[:place]
    if kind == 1:
        return raw[:place] + bytes([raw[place] ^ 1 << rng.randrange(8)]) + raw[place + 1 :]
    if kind == 2:
        return raw[:place] + raw[place + rng.randrange(1, 60) :]
    if kind == 3:
        return raw[:place] + rng.randbytes(rng.randrange(1, 40)) + raw[place:]
    return replace_value(rng, raw)


def replace_value(rng: random.Random, raw: bytes) -> bytes:
    """Replace one value of a line by something odd, whether the line stays JSON or not."""
    lines = raw.split(b"\n")
    number = rng.randrange(max(1, len(lines) - 1))
    value = json.loads(lines[number])
    ways = [way for way in list_ways(value) if way]
    marker = "a place for something odd"
    if not ways:
        return rng.choice(ODD)
    way = rng.choice(ways)
    found: Any = value
    for name in way[:-1]:
        found = found[name]
    found[way[-1]] = marker
    lines[number] = (
        json.dumps(value, separators=(",", ":")).encode().replace(b'"%s"' % marker.encode(), rng.choice(ODD))
    )
    return b"\n".join(lines)


def list_ways(value: Any, way: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [way, *[found for key, inner in pairs for found in list_ways(inner, (*way, key))]]


def find_unnamed(made: Made, folder: Path, seed: int, count: int, *, is_forged: bool) -> list[str]:
    """Damages that were no fault, or that the verifier could not put into words of its own."""
    rng = random.Random(seed)
    made.write(folder)
    names = [*made.files, *(() if is_forged else ("log.jsonl", "heads.jsonl"))]
    unnamed = []
    for number in range(count):
        name = rng.choice(names)
        raw = (folder / name).read_bytes()
        damaged = replace_value(rng, raw) if is_forged else damage(rng, raw)
        if damaged == raw:
            continue
        before = made.files.get(name, b"")
        if is_forged:
            made.files[name] = damaged
            made.rehash()
            made.write(folder)
        else:
            (folder / name).write_bytes(damaged)
        faults = verifier.verify(str(folder)).faults
        if not faults or any("cannot be understood" in what for _, what in faults):
            unnamed.append(f"{seed}/{number}: {name}: {faults[:3]}")
        if is_forged:
            made.files[name] = before
            made.rehash()
            made.write(folder)
        (folder / name).write_bytes(raw)
    return unnamed


@pytest.mark.hunt
def test_whatever_is_damaged_is_a_named_fault(made: Made, tmp_path: Path) -> None:
    assert find_unnamed(made, tmp_path, 1, tries(20, 60), is_forged=False) == []


@pytest.mark.long
def test_files_of_any_shape_that_the_log_vouches_for_never_stop_it(made: Made, tmp_path: Path) -> None:
    """A holder of the key can publish anything; what cannot be understood is a fault."""
    assert [
        line for line in find_unnamed(made, tmp_path, 2, 30, is_forged=True) if "cannot be understood" in line
    ] == []


@pytest.mark.parametrize("content", [9223372036854775808, None, {}])
def test_a_question_whose_content_is_no_text_is_named_and_nothing_else_is(
    made: Made, tmp_path: Path, content: object
) -> None:
    name = next(name for name in made.files if name.startswith("questions/"))
    said = json.loads(made.files[name])
    made.files[name] = json.dumps({**said, "content": content}, separators=(",", ":")).encode()
    made.rehash()
    made.write(tmp_path)
    faults = verifier.verify(str(tmp_path)).faults
    assert faults == [("question_wrong", f"`content` is no such value, {name}")]


@pytest.mark.long
@pytest.mark.parametrize("seed", range(10, 14))
def test_thousands_of_damages_are_all_named(seed: int, tmp_path: Path) -> None:
    made, _ = make_world()
    assert find_unnamed(made, tmp_path, seed, 1000, is_forged=False) == []
    again = find_unnamed(made, tmp_path, seed, 300, is_forged=True)
    assert [line for line in again if "cannot be understood" in line] == []
