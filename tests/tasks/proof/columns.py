"""The table of changes by who finds each, run for real.

`python -m tests.tasks.proof.columns HOME --work FOLDER`: HOME is a home after `proctor demo`. Each change is made in a fresh copy of it: `home` puts the copy where HOME lies, `moved` elsewhere. A
container with a new name is `unshare --uts sh -c 'hostname another; python -m …'`. `doctor` counts lines that are bad and were not
before; `verify` is the public verifier, and an outsider gives it a head that was kept before the change, after the operator has sealed
the log again.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import shutil
import socket
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from deployments.doctor import examine_home
from schemas.errors import ProctorError
from schemas.settings import Settings
from tasks.exam.log import check_log
from tasks.exam.public import run_verifier
from tasks.exam.public.log import check_public_log, seal_public_log
from tasks.proof import check_stages
from tests.tasks.proof.changes import CHANGES
from warehouse.lake import open_lake
from warehouse.ledger.engine.opening import open_ledger


def list_findings(home: Path, *, with_rows: bool = False) -> set[str]:
    """The names of what `proctor exam audit` finds."""
    settings = Settings(home=home)
    try:
        with open_ledger(settings.ledger_address) as ledger, open_lake(settings, read_only=True) as lake:
            reports = (
                check_log(ledger, settings),
                check_public_log(ledger, settings),
                check_stages(ledger, lake, settings, with_rows=with_rows),
            )
    except ProctorError as error:
        return {type(error).__name__}
    return {finding.name for report in reports for finding in report.findings}


def list_bad_lines(home: Path) -> set[str]:
    """The lines of `proctor doctor` that are bad, and that of the stages as it reads."""
    found = examine_home(Settings(home=home))
    return {
        f"{one.what}: {one.found}" if one.what == "stages" else one.what
        for one in found
        if one.severity == "wrong" or one.what == "stages"
    }


def is_verified(home: Path, heads: Sequence[Path] = ()) -> bool:
    """Whether the public verifier finds nothing; what it prints is dropped."""
    saved, sink = os.dup(1), os.open(os.devnull, os.O_WRONLY)
    os.dup2(sink, 1)
    try:
        return run_verifier(home / "public", heads=heads)
    finally:
        os.dup2(saved, 1)
        os.close(saved)
        os.close(sink)


def hash_folder(folder: Path) -> str:
    """One hash over names and bytes."""
    whole = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            whole.update(
                f"{path.relative_to(folder)}\n".encode() + hashlib.sha256(path.read_bytes()).digest()
            )
    return whole.hexdigest()


def try_change(
    pristine: Path, home: Path, name: str, head: Path, usual: set[str] | None
) -> dict[str, object]:
    """Who finds one change, in a fresh copy of the home.

    Without `usual` the doctor is not asked.
    """
    shutil.rmtree(home, ignore_errors=True)
    shutil.copytree(pristine, home)
    change = CHANGES[name]
    change.act(home)
    found: dict[str, object] = {
        "change": name,
        "audit": sorted(list_findings(home, with_rows=change.finding == "landing_changed")),
    }
    if usual is not None:
        found["doctor"] = sorted(line.partition(":")[0] for line in list_bad_lines(home) - usual)
    # The verifier reads nothing but this folder.
    is_same = hash_folder(home / "public") == hash_folder(pristine / "public")
    found["verify"] = not (is_same or is_verified(home))
    settings = Settings(home=home)
    with suppress(ProctorError), open_ledger(settings.ledger_address) as ledger:
        seal_public_log(ledger, settings, ())
    is_same = hash_folder(home / "public") == hash_folder(pristine / "public")
    found["head"] = not (is_same or is_verified(home, [head]))
    return found


def main() -> None:
    """Print one JSON line a change."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("home", type=Path)
    parser.add_argument("--place", choices=("home", "moved"), default="moved")
    parser.add_argument("--names", nargs="*", default=list(CHANGES))
    parser.add_argument("--work", type=Path, required=True, help="a folder for copies")
    parser.add_argument(
        "--doctor", action="store_true", help="ask the doctor too, which takes 4 CPU s a change"
    )
    chosen = parser.parse_args()
    pristine, head = chosen.work / "pristine", chosen.work / "head.jsonl"
    if not pristine.exists():
        shutil.copytree(chosen.home, pristine, ignore=shutil.ignore_patterns("*.lock", "prefect"))
    head.write_bytes((pristine / "public" / "heads.jsonl").read_bytes().splitlines(keepends=True)[-1])
    home = chosen.home if chosen.place == "home" else chosen.work / "elsewhere" / "home"
    shutil.rmtree(home, ignore_errors=True)
    shutil.copytree(pristine, home)
    usual = list_bad_lines(home) if chosen.doctor else None
    assert not list_findings(home)
    assert is_verified(home, [head])
    for name in chosen.names:
        print(
            json.dumps(
                {"host": socket.gethostname(), "place": chosen.place}
                | try_change(pristine, home, name, head, usual)
            ),
            flush=True,
        )


if __name__ == "__main__":
    main()
