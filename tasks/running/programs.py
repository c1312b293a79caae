"""Programs that are told something on their standard input, and names for who is told."""

from __future__ import annotations

import hashlib
import os
import shlex
import subprocess
from collections.abc import Sequence
from typing import Final

COMMAND: Final = "command:"
TIME_LIMIT_S: Final = 30.0
# What a program may need of the environment; no key of a model, and no address of ours.
_VARIABLES: Final = ("PATH", "HOME", "USER", "LANG", "LC_ALL", "TMPDIR", "SSL_CERT_FILE", "SSL_CERT_DIR")


def read_command(text: str) -> tuple[str, ...]:
    """The program and its arguments of `command:PROGRAM ARGUMENT …`; empty where it names none."""
    try:
        return tuple(shlex.split(text.removeprefix(COMMAND)))
    except ValueError:
        return ()


def name_told(shown: str | None, text: str) -> str:
    """A short name for what is written of it: the whole may say too much, or be a secret."""
    return f"{shown} {hashlib.sha256(text.encode('utf-8', 'surrogateescape')).hexdigest()[:8]}"


def tell_program(command: Sequence[str], told: bytes) -> str | None:
    """Give bytes to a program, whose output nobody is shown; returns why it failed, or None."""
    try:
        done = subprocess.run(
            list(command),
            input=told,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=TIME_LIMIT_S,
            check=False,
            env={name: os.environ[name] for name in _VARIABLES if name in os.environ},
        )
    except subprocess.TimeoutExpired:
        return f"it took longer than {TIME_LIMIT_S:g} s"
    except OSError as error:
        return f"it cannot be started ({error.strerror})"
    return f"it ended with {done.returncode}" if done.returncode else None
