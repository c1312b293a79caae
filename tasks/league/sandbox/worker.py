"""The last step before a candidate's program.

The room is closed, limits are set, rights are given up, then the program runs. A process of its own with nothing but the
standard library: `python -I -S worker.py WANTED READY`, in the folder that holds `program.py` and `filter`.
"""

from __future__ import annotations

import ctypes
import json
import os
import resource
import signal
import sys

NOBODY = 65534
OVERTIME = 99
_MIB = 1024 * 1024
_READ_ONLY, _NO_SUID, _NO_DEVICES, _REMOUNT, _BIND, _RECURSIVE = 1, 2, 4, 32, 4096, 16384
# What a mount has and its copy must keep, as `statvfs` and as `mount` call it: no execution, no times of access.
_KEPT = ((8, 8), (1024, 1024), (2048, 2048), (4096, 1 << 21))
_DETACH = 2
_PR_SET_SECCOMP, _PR_CAPBSET_DROP, _PR_SET_NO_NEW_PRIVS = 22, 24, 38
_FILTER_MODE = 2
_CAPABILITIES_3 = 0x20080522
_LAST_CAPABILITY = 63

_LIBC = ctypes.CDLL(None, use_errno=True)


class Program(ctypes.Structure):
    """A filter as the kernel takes it: how many instructions, and where they are."""

    _fields_ = (("length", ctypes.c_ushort), ("instructions", ctypes.c_char_p))


def main() -> None:
    """Give up what the program must not have, and run it."""
    wanted, ready = json.loads(sys.argv[1]), int(sys.argv[2])
    with open("program.py", encoding="utf-8") as file:  # noqa: PTH123 - nothing more is imported than must be
        text = file.read()
    with open("filter", "rb") as file:  # noqa: PTH123
        instructions = file.read()
    if "reads" in wanted:
        make_room(wanted, text)
    for name, most in (
        (resource.RLIMIT_AS, wanted["memory_mb"] * _MIB),
        (resource.RLIMIT_FSIZE, wanted["file_mb"] * _MIB),
        (resource.RLIMIT_NOFILE, wanted["file_count"]),
        (resource.RLIMIT_CORE, 0),
    ):
        resource.setrlimit(name, (most, most))
    # The first process of a namespace ignores the signal unless it listens; the hard limit ends it all the same.
    signal.signal(signal.SIGXCPU, lambda *_: os._exit(OVERTIME))
    resource.setrlimit(resource.RLIMIT_CPU, (wanted["cpu_s"], wanted["cpu_s"] + 1))
    give_up_rights(is_root=wanted["is_root"])
    close_kernel(instructions)
    os.write(ready, b"1")
    os.close(ready)
    sys.argv = ["program.py"]
    code = compile(text, "program.py", "exec")
    exec(code, {"__name__": "__main__"})  # noqa: S102 - what this process is for


def make_room(wanted: dict[str, object], text: str) -> None:
    """A root of its own: what Python reads, read only, and one small folder for the program."""
    root = os.path.join(os.getcwd(), "room")  # noqa: PTH109, PTH118
    os.mkdir(root)  # noqa: PTH102
    _mount("none", root, "tmpfs", _NO_SUID | _NO_DEVICES, "size=1m,nr_inodes=2k,mode=755")
    for path in wanted["reads"]:  # type: ignore[attr-defined]
        place = root + path
        if os.path.isdir(path):  # noqa: PTH112
            os.makedirs(place, exist_ok=True)  # noqa: PTH103
        else:
            os.makedirs(os.path.dirname(place), exist_ok=True)  # noqa: PTH103, PTH120
            if not os.path.exists(place):  # noqa: PTH110
                os.close(os.open(place, os.O_CREAT | os.O_WRONLY))
        _mount(path, place, None, _BIND | _RECURSIVE)
    for path in wanted["masks"]:  # type: ignore[attr-defined]
        _mount("none", root + path, "tmpfs", _NO_SUID | _NO_DEVICES, "size=4k,nr_inodes=2")
    for place in list_mounts(root + "/"):
        kept = sum(flag for has, flag in _KEPT if os.statvfs(place).f_flag & has)
        _mount("none", place, None, _BIND | _REMOUNT | _READ_ONLY | _NO_SUID | _NO_DEVICES | kept)
    work = root + str(wanted["work"])
    os.mkdir(work)  # noqa: PTH102
    space = f"size={wanted['file_mb']}m,nr_inodes=1k,mode=1777"
    _mount("none", work, "tmpfs", _NO_SUID | _NO_DEVICES, space)
    with open(work + "/program.py", "w", encoding="utf-8") as file:  # noqa: PTH123
        file.write(text)
    os.chdir(root)
    _check(_LIBC.pivot_root(b".", b"."))
    _check(_LIBC.umount2(b".", _DETACH))
    os.chdir(str(wanted["work"]))
    _mount("none", "/", None, _BIND | _REMOUNT | _READ_ONLY | _NO_SUID | _NO_DEVICES)


def list_mounts(start: str) -> list[str]:
    """Where something is mounted below a folder."""
    with open("/proc/self/mountinfo", encoding="utf-8") as file:  # noqa: PTH123
        places = [line.split(" ")[4].encode().decode("unicode_escape") for line in file]
    return [place for place in dict.fromkeys(places) if place.startswith(start)]


def give_up_rights(*, is_root: bool) -> None:
    """Become `nobody`, or keep the user and lose every right that a namespace gave."""
    if is_root:
        os.setgroups([])
        os.setgid(NOBODY)
        os.setuid(NOBODY)
    else:
        for number in range(_LAST_CAPABILITY + 1):
            _LIBC.prctl(_PR_CAPBSET_DROP, number, 0, 0, 0)
        header = (ctypes.c_uint32 * 2)(_CAPABILITIES_3, 0)
        _check(_LIBC.capset(header, (ctypes.c_uint32 * 6)()))
    _check(_LIBC.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))


def close_kernel(instructions: bytes) -> None:
    """From here on only what the filter lists may be asked of the kernel."""
    program = Program(len(instructions) // 8, instructions)
    _check(_LIBC.prctl(_PR_SET_SECCOMP, _FILTER_MODE, ctypes.byref(program), 0, 0))


def _mount(source: str, target: str, kind: str | None, flags: int, data: str = "") -> None:
    words = [word.encode() if word else None for word in (source, target, kind, data)]
    _check(_LIBC.mount(*words[:3], ctypes.c_ulong(flags), words[3]), target)


def _check(result: int, place: str = "") -> None:
    if result:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), place)


if __name__ == "__main__":
    main()
