"""The last step before a candidate's program.

Limits are set, rights are given up, then the program runs.

Runs in a process of its own, with nothing but the standard library: `python -I -S worker.py LIMITS`, in the folder that
holds `program.py`.
"""

from __future__ import annotations

import json
import os
import resource
import signal
import sys

# Loaded while everything can still be read: as `nobody` the folder of the standard library may be closed.
KEPT = [
    "array",
    "bisect",
    "cmath",
    "collections",
    "collections.abc",
    "copy",
    "dataclasses",
    "datetime",
    "decimal",
    "enum",
    "fractions",
    "functools",
    "heapq",
    "io",
    "itertools",
    "math",
    "operator",
    "queue",
    "random",
    "re",
    "statistics",
    "string",
    "sys",
    "threading",
    "time",
    "typing",
]
NOBODY = 65534
OVERTIME = 99
_MIB = 1024 * 1024


def main() -> None:
    """Give up what the program must not have, and run it."""
    limits = json.loads(sys.argv[1])
    for module in KEPT:
        __import__(module)
    for name, most in (
        (resource.RLIMIT_AS, limits["memory_mb"] * _MIB),
        (resource.RLIMIT_FSIZE, limits["file_mb"] * _MIB),
        (resource.RLIMIT_NOFILE, limits["file_count"]),
        (resource.RLIMIT_CORE, 0),
    ):
        resource.setrlimit(name, (most, most))
    # The first process of a namespace ignores the signal unless it listens; the hard limit ends it all the same.
    signal.signal(signal.SIGXCPU, lambda *_: os._exit(OVERTIME))
    resource.setrlimit(resource.RLIMIT_CPU, (limits["cpu_s"], limits["cpu_s"] + 1))
    # As root of the machine a limit on processes counts for nothing; `nobody` has little else to read or to end.
    if os.geteuid() == 0 and _is_real_root():
        os.setgroups([])
        os.setgid(NOBODY)
        os.setuid(NOBODY)
    resource.setrlimit(resource.RLIMIT_NPROC, (limits["process_count"], limits["process_count"]))
    sys.argv = ["program.py"]
    with open("program.py", encoding="utf-8") as file:  # noqa: PTH123 - nothing more is imported than must be
        code = compile(file.read(), "program.py", "exec")
    exec(code, {"__name__": "__main__"})  # noqa: S102 - what this process is for


def _is_real_root() -> bool:
    """Whether user 0 here is more than the one user that a namespace maps."""
    with open("/proc/self/uid_map", encoding="ascii") as file:  # noqa: PTH123
        return int(file.read().split()[2]) > 1


if __name__ == "__main__":
    main()
