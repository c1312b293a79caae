"""Who finds each change, run for real; `docs/changes.csv` keeps what it came to.

`python -m tests.tasks.proof.columns HOME --work FOLDER --into docs/changes.csv`: HOME is a home after `proctor demo`. Each change is
made in a fresh copy of it: `--place home` puts the copy where HOME lies, `moved` elsewhere, and `container` into one of podman's (as root), with
another host name, the home at another path, an account without a name, no network, and none of this machine's files but its programs and this
tree, read-only. `--doctor` asks the doctor too, and counts lines that are bad and were not before; `verifier` is the public one, and the outsider
gives it a head that was kept before the change, after the operator has sealed the log again.
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import os
import shutil
import socket
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from filelock import FileLock

from deployments.doctor import examine_home
from schemas.errors import ProctorError
from schemas.settings import Settings
from tasks.exam.log import check_log
from tasks.exam.public import run_verifier
from tasks.exam.public.log import check_public_log, seal_public_log
from tasks.proof import check_stages
from tests.deployments.test_containers import Podman
from tests.tasks.proof.changes import CHANGES
from warehouse.lake import open_lake
from warehouse.ledger.engine.opening import open_ledger

PLACES = {"home": "where it was made", "moved": "elsewhere", "container": "in a container of another name"}
# Who is asked about every change; the doctor costs more, and is asked where `--doctor` says so.
FINDERS = ("audit", "verifier", "outsider with a head")
ROOT = Path(__file__).parents[3]
# Who acts in the container: an account without a name there.
_ACCOUNT = 12345
_MOUNT = Path("/exam")


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
    """Who finds one change in a fresh copy of the home; the doctor only where `usual`."""
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


def read_found(table: Path) -> list[dict[str, str]]:
    """The rows of the table: a change, its finding, and who found it in each place."""
    with table.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def write_found(table: Path, place: str, found: dict[str, list[str]]) -> None:
    """Write who found what in one place; what the table has of other places stays."""
    with FileLock(f"{table}.lock"):
        rows = {row["change"]: row for row in read_found(table)} if table.exists() else {}
        _write(table, rows, place, found)


def _write(
    table: Path, rows: Mapping[str, Mapping[str, str]], place: str, found: Mapping[str, list[str]]
) -> None:
    with table.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, ["change", "finding", *PLACES], lineterminator="\n")
        writer.writeheader()
        for name, change in CHANGES.items():
            kept = rows.get(name, dict.fromkeys(PLACES, ""))
            row = {"change": name, "finding": change.finding} | {one: kept[one] for one in PLACES}
            if name in found:
                row[place] = ", ".join(found[name])
            writer.writerow(row)


def render_counts(rows: Sequence[Mapping[str, str]]) -> str:
    """How many changes each finds in each place, as rows for docs/attacks.md."""
    lines = []
    for place, words in PLACES.items():
        counts = (sum(who in row[place].split(", ") for row in rows) for who in FINDERS)
        lines.append(f"| {words} | {' | '.join(map(str, counts))} |")
    return "\n".join(lines)


def enter_container(chosen: argparse.Namespace, names: Sequence[str]) -> None:
    """Run this program on a copy of the home in a container, as an account without a name."""
    work = chosen.work / "container"
    shutil.rmtree(work, ignore_errors=True)
    shutil.copytree(chosen.home, work / "pristine", ignore=shutil.ignore_patterns("*.lock", "prefect"))
    for path in (work, *work.rglob("*")):
        os.chown(path, _ACCOUNT, _ACCOUNT, follow_symlinks=False)
    system = chosen.work / "system"
    for name in ("usr", "etc", "proc", "sys", "dev", "tmp", "run", "var"):
        (system / name).mkdir(parents=True, exist_ok=True)
    for name in ("bin", "lib", "lib64", "sbin"):
        (system / name).unlink(missing_ok=True)
        (system / name).symlink_to(f"usr/{name}")
    seen = {"/usr", sys.base_prefix, str(ROOT)}
    inner = [
        *(sys.executable, "-m", "tests.tasks.proof.columns", str(_MOUNT / "elsewhere" / "home")),
        *("--place", "inside", "--work", str(_MOUNT), "--into", str(_MOUNT / "found.csv")),
        *(("--doctor",) if chosen.doctor else ()),
        *("--names", *names),
    ]
    print(
        Podman(chosen.work).run(
            *("podman", "run", "--rm", "--network", "none", "--hostname", "another-name"),
            *("--user", f"{_ACCOUNT}:{_ACCOUNT}", "--workdir", str(ROOT)),
            *(f"--env={name}={_MOUNT}" for name in ("HOME", "TMPDIR")),
            *(f"--volume={path}:{path}:ro" for path in sorted(seen)),
            f"--volume={work}:{_MOUNT}",
            *("--rootfs", str(system)),
            *inner,
            timeout=36_000,
        )
    )
    found = {row["change"]: row["container"].split(", ") for row in read_found(work / "found.csv")}
    write_found(chosen.into, "container", {name: found[name] for name in names})


def main() -> None:
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
    parser.add_argument("--part", default="1/1", help="every so many-th change alone, as in 1/3")
    chosen = parser.parse_args()
    part, count = map(int, chosen.part.split("/"))
    names = chosen.names[part - 1 :: count]
    if chosen.place == "container":
        enter_container(chosen, names)
        return
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
    for name in names:
        found = try_change(pristine, home, name, head, usual)
        write_found(chosen.into, place, {name: found})
        print(f"{socket.gethostname()} {os.getuid()} {home}: {name}: {', '.join(found)}", flush=True)


if __name__ == "__main__":
    main()
