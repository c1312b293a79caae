"""The host that this process is on, and the processes there."""

from __future__ import annotations

import os
import platform
from contextlib import suppress
from functools import cache
from pathlib import Path

# Inode of the name space of processes that every Linux begins with (PROC_PID_INIT_INO).
_FIRST_SPACE = 0xEFFFFFFC


@cache
def name_host() -> str:
    """The name of this host; in a container, with the number of its processes' own name space.

    A process can be looked for only where its number means the same: two containers may have one name.
    """
    with suppress(OSError):
        space = Path("/proc/self/ns/pid").stat().st_ino
        if space != _FIRST_SPACE:
            return f"{platform.node()}/{space}"
    return platform.node()


def is_dead(host: str, process_id: int) -> bool:
    """Whether a process was on this host and is there no more."""
    if host != name_host():
        return False
    try:
        os.kill(process_id, 0)
    except ProcessLookupError:
        return True
    except PermissionError:
        return False
    return False
