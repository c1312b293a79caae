"""The table of changes by who finds each, run for real; `docs/changes.csv` keeps what it came to.

`python -m tests.tasks.proof.columns HOME --work FOLDER --into docs/changes.csv`: HOME is a home after `proctor demo`. Each change is
made in a fresh copy of it: `--place home` puts the copy where HOME lies, `moved` elsewhere, and `container` (as root) into namespaces
of its own: mounts, host name, processes, IPC and network, with the home at another path, none at the old one, and an account that has no name. No image
is built: that needs a container engine. `doctor` counts lines that are bad and were not before; `verify` is the public verifier, and an
outsider gives it a head that was kept before the change, after the operator has sealed the log again.
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import os
import shlex
import shutil
import socket
import subprocess
import sys
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

PLACES = ("home", "moved", "container")
# Who acts in the container: an account without a name or a folder there.
_ACCOUNT = 12345
_MOUNT = Path("/mnt")


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


def try_change(pristine: Path, home: Path, name: str, head: Path, usual: set[str] | None) -> list[str]:
    """Who finds one change, in a fresh copy of the home.

    `audit` only where it names what it should. Without `usual` the doctor is not asked.
    """
    shutil.rmtree(home, ignore_errors=True)
    shutil.copytree(pristine, home)
    change = CHANGES[name]
    change.act(home)
    found = []
    if change.finding and change.finding in list_findings(
        home, with_rows=change.finding == "landing_changed"
    ):
        found.append("audit")
    if usual is not None and list_bad_lines(home) - usual:
        found.append("doctor")
    # The verifier reads nothing but this folder.
    if hash_folder(home / "public") != hash_folder(pristine / "public") and not is_verified(home):
        found.append("verifier")
    settings = Settings(home=home)
    with suppress(ProctorError), open_ledger(settings.ledger_address) as ledger:
        seal_public_log(ledger, settings, ())
    if hash_folder(home / "public") != hash_folder(pristine / "public") and not is_verified(home, [head]):
        found.append("outsider with a head")
    return found


def write_found(table: Path, place: str, found: dict[str, list[str]]) -> None:
    """Write who found what in one place; what the table has of other places stays."""
    rows: dict[str, dict[str, str]] = {}
    if table.exists():
        with table.open(encoding="utf-8", newline="") as file:
            rows = {row["change"]: row for row in csv.DictReader(file)}
    with table.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, ["change", "finding", *PLACES], lineterminator="\n")
        writer.writeheader()
        for name, change in CHANGES.items():
            kept = rows.get(name, dict.fromkeys(PLACES, ""))
            row = {"change": name, "finding": change.finding} | {one: kept[one] for one in PLACES}
            if name in found:
                row[place] = ", ".join(found[name])
            writer.writerow(row)


def enter_container(chosen: argparse.Namespace) -> int:
    """Run this program on a copy of the home in namespaces of its own, as an account without a name."""
    work = chosen.work / "container"
    shutil.rmtree(work, ignore_errors=True)
    shutil.copytree(
        chosen.home, work / "pristine", ignore=shutil.ignore_patterns("*.lock", "prefect"), symlinks=True
    )
    # The interpreter may lie below a folder that is closed to others.
    base, python = Path(sys.base_prefix).resolve(), work / "python"
    python.mkdir()
    closed = next((one for one in reversed(base.parents) if not one.stat().st_mode & 0o001), None)
    opened = (
        f"mount --bind {base} {python}; mount -t tmpfs -o mode=755 tmpfs {closed}; mkdir -p {base}; mount --bind {python} {base}"
        if closed is not None
        else "true"
    )
    for path in (work, *work.rglob("*")):
        os.chown(path, _ACCOUNT, _ACCOUNT, follow_symlinks=False)
    inner = [
        *(sys.executable, "-m", "tests.tasks.proof.columns", str(_MOUNT / "elsewhere" / "home")),
        *("--place", "inside", "--work", str(_MOUNT), "--into", str(_MOUNT / "found.csv")),
        *(("--doctor",) if chosen.doctor else ()),
        *("--names", *chosen.names),
    ]
    script = (
        f"set -e; mount --make-rprivate /; hostname another-name; ip link set lo up; {opened}; "
        f"mount --bind {work} {_MOUNT}; mount -t tmpfs tmpfs {chosen.home.resolve()}; "
        f"exec setpriv --reuid {_ACCOUNT} --regid {_ACCOUNT} --clear-groups env HOME={_MOUNT} {shlex.join(inner)}"
    )
    spaces = ("--mount", "--uts", "--ipc", "--net", "--pid", "--fork", "--mount-proc")
    done = subprocess.run(["unshare", *spaces, "sh", "-c", script], check=False)
    if done.returncode == 0:
        with (work / "found.csv").open(encoding="utf-8", newline="") as file:
            found = {row["change"]: row["container"].split(", ") for row in csv.DictReader(file)}
        write_found(chosen.into, "container", {name: found[name] for name in chosen.names})
    return done.returncode


def main() -> int:
    """Print a line a change, and write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("home", type=Path)
    parser.add_argument("--place", choices=(*PLACES, "inside"), default="moved")
    parser.add_argument("--names", nargs="*", default=list(CHANGES))
    parser.add_argument("--work", type=Path, required=True, help="a folder for copies")
    parser.add_argument(
        "--into", type=Path, required=True, help="the table, whose column of the place is written"
    )
    parser.add_argument(
        "--doctor", action="store_true", help="ask the doctor too, which takes 4 CPU s a change"
    )
    chosen = parser.parse_args()
    if chosen.place == "container":
        return enter_container(chosen)
    pristine, head = chosen.work / "pristine", chosen.work / "head.jsonl"
    if not pristine.exists():
        shutil.copytree(chosen.home, pristine, ignore=shutil.ignore_patterns("*.lock", "prefect"))
    head.write_bytes((pristine / "public" / "heads.jsonl").read_bytes().splitlines(keepends=True)[-1])
    home = chosen.work / "elsewhere" / "home" if chosen.place == "moved" else chosen.home
    shutil.rmtree(home, ignore_errors=True)
    shutil.copytree(pristine, home)
    usual = list_bad_lines(home) if chosen.doctor else None
    assert not list_findings(home)
    assert is_verified(home, [head])
    place = "container" if chosen.place == "inside" else chosen.place
    for name in chosen.names:
        found = try_change(pristine, home, name, head, usual)
        write_found(chosen.into, place, {name: found})
        print(f"{socket.gethostname()} {os.getuid()} {home}: {name}: {', '.join(found)}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
