"""What a program may ask of the kernel: what a computation needs, and nothing else."""

from __future__ import annotations

import contextlib
import errno
import tempfile
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

from schemas.errors import ProctorError

# Enough for the standard library to compute, to use files in one folder, and threads. Everything else is refused: sockets, other
# programs and processes, mounts, namespaces, keys, tracing, io_uring, and whatever a later kernel brings.
_ALLOWED: Final = Path(__file__).with_suffix(".txt").read_text("utf-8").split()
# Of `ioctl`: is it a terminal, close it on exec, how much is there. Of `prctl`: a thread's name.
_IOCTLS = (0x5401, 0x5450, 0x5451, 0x541B)
_PRCTL_SET_NAME = 15
_CLONE_THREAD = 0x00010000


@lru_cache(maxsize=1)
def build_filter() -> bytes:
    """The kernel's filter for this machine's processor; ProctorError without libseccomp."""
    try:
        import pyseccomp as seccomp
    except (ImportError, RuntimeError, OSError):
        raise ProctorError(
            "Programs are run with libseccomp alone. Install it (on Debian: libseccomp2)."
        ) from None
    found = seccomp.SyscallFilter(defaction=seccomp.ERRNO(errno.EPERM))
    for name in _ALLOWED:
        _allow(found, name)
    # Threads, but no process: the limit of memory is the limit of the whole program.
    _allow(found, "clone", seccomp.Arg(0, seccomp.MASKED_EQ, _CLONE_THREAD, _CLONE_THREAD))
    # Its arguments lie in memory, where no filter can read them; without it `clone` is used.
    found.add_rule(seccomp.ERRNO(errno.ENOSYS), "clone3")
    for command in _IOCTLS:
        _allow(found, "ioctl", seccomp.Arg(1, seccomp.EQ, command))
    _allow(found, "prctl", seccomp.Arg(0, seccomp.EQ, _PRCTL_SET_NAME))
    with tempfile.TemporaryFile() as file:
        found.export_bpf(file)
        file.seek(0)
        return file.read()


def _allow(found: Any, name: str, *conditions: Any) -> None:
    import pyseccomp as seccomp

    # A name of another processor.
    with contextlib.suppress(ValueError):
        found.add_rule(seccomp.ALLOW, name, *conditions)
