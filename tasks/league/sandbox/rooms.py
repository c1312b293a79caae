"""Rooms without a way out: by bubblewrap, or by the kernel's namespaces directly."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

from schemas.errors import ProctorError

WORK: Final = "/work"
_MIB: Final = 1024 * 1024
_LAYOUT: Final = """
import json, sys, sysconfig
names = ("LIBDIR", "INSTSONAME", "MULTIARCH")
print(json.dumps([sysconfig.get_path("stdlib"), *(sysconfig.get_config_var(name) or "" for name in names)]))
"""
# What a program tries that was let in, told what it may read: network, a process, another program, a file elsewhere.
TRIAL: Final = """
import os, socket
def refuses(act, *arguments):
    try:
        act(*arguments)
    except OSError:
        return True
    return False
assert refuses(socket.socket), "network"
assert refuses(os.fork), "process"
assert refuses(os.execv, "/usr/bin/true", ["true"]), "program"
assert refuses(open, "/written", "w"), "root"
given = set(input().split("|"))
for folder, folders, files in os.walk("/"):
    folders[:] = [name for name in folders if os.path.join(folder, name) not in given]
    assert not {os.path.join(folder, name) for name in files} - given, "files"
open("written", "w").close()
print("held")
"""


@dataclass(frozen=True)
class Interpreter:
    """A Python and what it needs of the machine's files.

    Attributes:
        reads: files and folders that it must be able to read: its own and the machine's shared libraries.
        masks: folders among them that are shown empty: what is installed beside it.
    """

    path: str
    reads: tuple[str, ...]
    masks: tuple[str, ...]


# The command that runs the worker in a new room: for an interpreter, a folder with the program, and its limits.
Room = Callable[[Interpreter, Path, Mapping[str, Any]], Sequence[str]]


@lru_cache(maxsize=4)
def find_interpreter(executable: str = sys.executable) -> Interpreter:
    """A Python's own files, less those of its virtual environment; ProctorError if it fails."""
    path = os.path.realpath(executable)
    try:
        said = subprocess.run(
            [path, "-I", "-S", "-c", _LAYOUT], capture_output=True, text=True, check=True, timeout=60
        )
    except (OSError, subprocess.SubprocessError) as error:
        raise ProctorError(
            f"{path} does not run ({type(error).__name__}). Name a Python that does."
        ) from None
    library, folder, shared, processor = json.loads(said.stdout)
    system = [f"/{place}/{processor}" for place in ("lib", "usr/lib")] if processor else ["/lib", "/usr/lib"]
    wanted = [path, library, f"{folder}/{shared}", "/lib64", "/usr/lib64", *system, "/etc/ld.so.cache"]
    masked = [f"{library}/{name}" for name in ("site-packages", "dist-packages")]
    found = [one for one in dict.fromkeys(wanted) if Path(one).exists()]
    return Interpreter(
        path,
        # What lies in another of them comes with it.
        tuple(one for one in found if not any(str(way) in found for way in Path(one).parents)),
        tuple(one for one in masked if Path(one).is_dir()),
    )


def use_bubblewrap(interpreter: Interpreter, folder: Path, limits: Mapping[str, Any]) -> list[str]:
    """A room by bubblewrap: as root for `nobody`, else for the same user in a namespace."""
    is_root = os.geteuid() == 0
    if is_root:
        # No namespace of users: in one, limits of the machine's root would hold for nobody.
        space = ["--unshare-net", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--cap-drop", "ALL"]
        space += ["--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID"]
    else:
        space = ["--unshare-all", "--cap-drop", "ALL"]
    # Folders on the way are otherwise as closed as those outside, and `nobody` is to pass.
    ways = dict.fromkeys(
        str(way) for path in interpreter.reads for way in reversed(Path(path).parents) if way.name
    )
    files = [word for way in ways for word in ("--perms", "0755", "--dir", way)]
    files += [word for path in interpreter.reads for word in ("--ro-bind", path, path)]
    files += [word for path in interpreter.masks for word in ("--tmpfs", path, "--remount-ro", path)]
    # Before the program's own files, or they would be hidden.
    files += ["--perms", "1777", "--size", str(limits["file_mb"] * _MIB), "--tmpfs", WORK]
    for name in ("program.py", "worker.py", "filter"):
        files += ["--ro-bind", str(folder / name), f"{WORK}/{name}"]
    return [
        "bwrap", "--die-with-parent", "--new-session", "--clearenv", *space, *files, "--remount-ro", "/", "--chdir", WORK,
        interpreter.path, "-I", "-S", "-B", f"{WORK}/worker.py", json.dumps({**limits, "is_root": is_root}),
    ]  # fmt: skip


def use_namespaces(interpreter: Interpreter, folder: Path, limits: Mapping[str, Any]) -> list[str]:
    """A room that the worker makes for itself, in namespaces of its own."""
    is_root = os.geteuid() == 0
    wanted = {
        **limits,
        "is_root": is_root,
        "work": WORK,
        "reads": interpreter.reads,
        "masks": interpreter.masks,
    }
    return [
        "unshare", "--mount", "--net", "--pid", "--ipc", "--uts", "--fork", "--kill-child", "--propagation", "private",
        *(() if is_root else ("--user", "--map-root-user")),
        interpreter.path, "-I", "-S", "-B", str(folder / "worker.py"), json.dumps(wanted),
    ]  # fmt: skip


# In the order in which they are tried.
ROOMS: Final[tuple[Room, ...]] = tuple(
    room
    for program, room in (("bwrap", use_bubblewrap), ("unshare", use_namespaces))
    if shutil.which(program)
)
