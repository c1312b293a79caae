"""Commands that begin and end beside a long one.

The locks of the long one's files are watched.
"""

from __future__ import annotations

import subprocess
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import psutil

from tests.e2e.conftest import BIN, Home

RUN = "sim-2026-11"
ADMIN = "company-admin"
# One of every kind that a user types while a month runs: what only reads, what writes to the ledger, to the lake, to both, what
# copies, what checks. `{folder}` is an empty folder of the command's own.
COMMANDS = (
    "runs list", "sql leaderboard", "exam sessions", "exam user add guest-{number} --role annotator", "organisations --register",
    "status", "models list", "review status", "bank versions", "hosts list",
    "init", "runs progress {run}", "runs budget {run}", "logs monthly-2026-11", "metrics", "doctor", "documents list", "review assign",
    "review agreement", "review remind", "review export {folder}/workbooks", "rules list", "rules check --out {folder}/editors",
    "bank stats", "bank diff 1 1", "dedupe run --no-server", "exam plan --month 2027-01", "exam audit", "exam verify",
    "exam database", "exam seal", "exam user list", "exam keys list", "approvals list", "calibrate draw {run} --raters guest-7,guest-8", "calibrate status",
    "drift draw {run}", "drift report", "errors draw {run}", "errors report", "league status",
    "export leaderboard {run} --output {folder}/board.json", "export citation {run}", "attach python", "import list",
    "ingest {paper} --no-server", "augment --no-server", "validate --table responses --no-server", "report --out {folder}/site --no-server",
    "publish {run} --no-server", "judge --no-server", "compact", "backup {folder}/backup", "unparsed export {folder}/unparsed.xlsx",
    "stability {run}", "sql 'select count(*) from responses'", "models batches",
)  # fmt: skip
# What no command may say, whatever else it finds to refuse.
FAULTS = (
    "Traceback", "cannot be relied on", "lacks what was acknowledged", "malformed", "was replaced", "is missing while",
    "database is locked", "is locked by another program", "disk I/O error", "Another process was first", "IOException", "FatalException", "InternalException",
)  # fmt: skip


@dataclass
class Company:
    """What the commands beside a long one came to.

    Attributes:
        counts: how many ended with each exit code.
        faults: a line for each that failed for the company it was in.
    """

    counts: Counter[int] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)


def start(home: Home, *arguments: str, log: Path, output: Path | None = None) -> subprocess.Popen[bytes]:
    """A `proctor` of its own, never warm: it is to have its own locks."""
    with log.open("ab") as errors, (output or log).open("ab") as printed:
        return subprocess.Popen(
            [str(BIN / "proctor"), *arguments],
            env=home.environment(),
            cwd=home.work,
            stdin=subprocess.DEVNULL,
            stdout=printed,
            stderr=errors,
            start_new_session=True,
        )


def keep_company(home: Home, commands: Sequence[str], folder: Path, paper: Path) -> Company:
    """Run commands one after the other.

    A command may refuse, but never because of what another one did to its stores.
    """
    found = Company()
    for number, command in enumerate(commands):
        own = folder / f"command-{number}"
        own.mkdir(parents=True)
        line = command.format(folder=own, run=RUN, number=number, paper=paper)
        arguments = ["sql", line[5:-1]] if line.startswith("sql '") else line.split()
        done = home.run(*arguments, exit_code=None, timeout=900)
        found.counts[done.returncode] += 1
        said = done.stdout + done.stderr
        # 3 is a gate that refuses; 1 and 2 are a command's own findings where nothing of the stores is said.
        words = [word for word in FAULTS if word in said]
        if words or done.returncode not in (0, 1, 2, 3):
            found.faults.append(f"{line}: exit {done.returncode}, {words}: {said[-400:]}")
    return found


@dataclass
class LockWatch:
    """Faults of the locks of one process, as long as it runs.

    Attributes:
        seen: how often it was seen with a store open and locked.
        faults: a store that it had open without a lock on it, or whose log was deleted under it, in three looks in a row.
    """

    seen: int = 0
    faults: set[str] = field(default_factory=set)


@contextmanager
def watching_locks(root: int, *homes: Path) -> Iterator[LockWatch]:
    """Look at a process and all below it while the block runs.

    A process that has a write-ahead log open holds a lock on its database.
    """
    watch, end = LockWatch(), threading.Event()

    def look() -> None:
        suspects: Counter[str] = Counter()
        while not end.wait(0.06):
            now = _find_faults(root, homes, watch)
            suspects = Counter({fault: suspects[fault] + 1 for fault in now})
            watch.faults |= {fault for fault, times in suspects.items() if times >= 3}

    thread = threading.Thread(target=look)
    thread.start()
    try:
        yield watch
    finally:
        end.set()
        thread.join()


def _find_faults(root: int, homes: Sequence[Path], watch: LockWatch) -> set[str]:
    faults: set[str] = set()
    opened: dict[int, set[str]] = {}
    for pid, parent in _list_processes(root):
        try:
            targets = {str(link.readlink()) for link in Path(f"/proc/{pid}/fd").iterdir()}
        except OSError:
            continue
        # Between fork and exec a child has the files of its parent, and never its locks.
        logs = {
            target
            for target in targets - opened.get(parent, set())
            if target.removesuffix(" (deleted)").endswith("-wal")
            and target.startswith(tuple(map(str, homes)))
        }
        opened[pid] = targets
        held = _list_locks(pid) if logs else set()
        for target in logs:
            store = Path(target.removesuffix("-wal"))
            if target.endswith(" (deleted)"):
                faults.add(f"{pid} writes to {target}")
            elif store.exists() and store.stat().st_ino in held:
                watch.seen += 1
            elif Path(f"/proc/{pid}").exists() and not _is_being_started(pid):
                faults.add(
                    f"{pid} ({_name_command(pid)}) has {target} open and holds no lock on its database"
                )
    return faults


def _name_command(pid: int) -> str:
    try:
        return " ".join(psutil.Process(pid).cmdline())[-120:]
    except psutil.Error:
        return "ended"


# What the kernel says of a process that was forked and runs no program of its own yet, and for how long at most that is a start.
_FORKED_WITHOUT_EXEC, _STARTING_S = 0x40, 5.0


def _is_being_started(pid: int) -> bool:
    """Whether a process stands between fork and exec; a busy machine may leave it there."""
    try:
        flags = int(Path(f"/proc/{pid}/stat").read_text("ascii").rpartition(") ")[2].split()[6])
        age_s = time.time() - psutil.Process(pid).create_time()
    except (OSError, psutil.Error):
        return True  # it has ended
    return bool(flags & _FORKED_WITHOUT_EXEC) and age_s < _STARTING_S


def _list_processes(root: int) -> list[tuple[int, int]]:
    """A process and all below it, each with its parent, parents first."""
    found = [(root, 0)]
    for pid, _ in found:
        try:
            found += [(child.pid, pid) for child in psutil.Process(pid).children()]
        except psutil.Error:
            continue
    return found


def _list_locks(pid: int) -> set[int]:
    """The files on which the process holds locks, by inode, as its descriptors tell them.

    /proc/locks is handed out in pieces of a page: while others lock and unlock, a lock that stands is missing between two.
    """
    found: set[int] = set()
    try:
        descriptors = list(Path(f"/proc/{pid}/fdinfo").iterdir())
    except OSError:
        return found  # it has ended
    for descriptor in descriptors:
        with suppress(OSError):  # closed since
            for line in descriptor.read_text("ascii").splitlines():
                fields = line.split()
                if fields[0] == "lock:" and fields[2] == "POSIX":
                    found.add(int(fields[6].rpartition(":")[2]))
    return found
