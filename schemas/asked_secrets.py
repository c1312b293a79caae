"""Secrets that a program gives, as the client of a vault, and what is shown of settings.

Wherever a secret is set, `command:PROGRAM ARGUMENT …` in its place names a program that prints it. The program is started without a
shell, in the environment of whoever asks, and what it prints is never shown: in an error stands its name and how it ended.
"""

from __future__ import annotations

import os
import selectors
import shlex
import signal
import subprocess
import time
from functools import lru_cache
from pathlib import Path
from typing import IO, Any, Final
from urllib.parse import urlsplit

from pydantic import SecretStr

from schemas.errors import StoreError, UsageError

COMMAND: Final = "command:"
# A vault that is asked over a network answers in a second; somebody who is to touch a key needs longer.
LIMIT_S: Final = 30.0
MOST_BYTES: Final = 65_536
# What fits into a pipe that nobody reads yet.
_MOST_GIVEN: Final = 4_096


class AskedSecret(SecretStr):
    """A secret, or the program that is asked for it, once in a process, when it is first needed."""

    @property
    def program(self) -> str | None:
        """The program with its arguments; null for a secret that stands here itself."""
        named = self._secret_value
        return named.removeprefix(COMMAND) if named.startswith(COMMAND) else None

    def get_secret_value(self) -> str:
        """The secret; raises as `ask_secret` does."""
        return self._secret_value if self.program is None else ask_secret(self.program)

    # Two settings are compared, and counted among others, without asking anybody.
    def __eq__(self, other: object) -> bool:
        return isinstance(other, AskedSecret) and self._secret_value == other._secret_value

    def __hash__(self) -> int:
        return hash(self._secret_value)

    def __len__(self) -> int:
        return len(self._secret_value)


def show_value(value: Any) -> Any:
    """A setting as it may be shown: of a program its name, of a web address its host.

    A program may be given a PIN among its arguments, and the path of a web hook is its password.
    """
    match value:
        case AskedSecret():
            return "set (not shown)" if value.program is None else "asked of a program (not shown)"
        case dict():
            return {name: show_value(one) for name, one in value.items()}
        case tuple():
            return [show_value(one) for one in value]
        case str() if value.startswith(COMMAND):
            name, *arguments = value.split(maxsplit=1)
            return f"{name} …" if arguments else name
        case str() if value.startswith(("https://", "http://")):
            shown = urlsplit(show_web_address(value))
            whole = f"{shown.scheme}://{shown.netloc}"
            return whole if value.rstrip("/") == whole else f"{whole}/…"
        case None | bool() | int() | float():
            return value
    return str(value)


def show_web_address(url: str) -> str:
    """An address without name, password and query, which may be secrets."""
    parts = urlsplit(url)
    return parts._replace(netloc=parts.netloc.rpartition("@")[2], query="", fragment="").geturl()


@lru_cache
def ask_secret(command: str) -> str:
    """The one line that a program prints, once in a process; UsageError, StoreError for others."""
    found = ask_program(command, LIMIT_S)
    try:
        lines = found.decode().strip().splitlines()
    except UnicodeDecodeError:
        lines = []
    if len(lines) != 1 or not lines[0].isprintable():
        said = "nothing" if not found.strip() else "something else"
        raise StoreError(f"{name_program(command)} is to print a secret, on one line, and printed {said}.")
    return lines[0].strip()


def ask_program(command: str, limit_s: float, given: bytes = b"") -> bytes:
    """What a program prints that is given these bytes; UsageError, StoreError where it fails."""
    if len(given) > _MOST_GIVEN:
        raise ValueError(f"{len(given)} bytes are more than a program is given")
    words = _split(command)
    try:
        # A session of its own, so that whatever it started ends with it.
        process = subprocess.Popen(
            words,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
    except OSError as error:
        raise UsageError(
            f"{name_program(command)} cannot be started ({error.strerror}). Install it, or correct where it is named."
        ) from None
    assert process.stdin is not None and process.stdout is not None
    try:
        try:
            process.stdin.write(given)
            process.stdin.close()
        except BrokenPipeError:
            # It reads nothing; how it ends says whether that was right.
            pass
        found = _read(process.stdout, time.monotonic() + limit_s)
        code = None if found is None or len(found) > MOST_BYTES else process.wait(limit_s)
    except subprocess.TimeoutExpired:
        code, found = None, None
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        process.stdout.close()
    if found is None:
        raise StoreError(
            f"{name_program(command)} did not end within {limit_s:.0f} s and was stopped. Look whether it waits for somebody, or for a "
            "server that does not answer."
        )
    if len(found) > MOST_BYTES:
        raise StoreError(f"{name_program(command)} printed more than {MOST_BYTES} bytes and was stopped.")
    if code != 0:
        raise StoreError(
            f"{name_program(command)} ended with {code}. Run it by hand, as the user that Proctor runs as, to see why."
        )
    return found


def name_program(command: str) -> str:
    """The program in a sentence: without its arguments, among which a secret may stand."""
    return f"The program {Path(_split(command)[0]).name!r}, which is asked for a secret or a signature,"


def _split(command: str) -> list[str]:
    try:
        words = shlex.split(command)
    except ValueError:
        words = []
    if not words:
        raise UsageError(f"`{COMMAND}` names no program: write PROGRAM ARGUMENT …, quoted as in a shell.")
    return words


def _read(pipe: IO[bytes], ends_at: float) -> bytes | None:
    """What comes until the pipe ends or is too much; null where the time ended first."""
    found = bytearray()
    with selectors.DefaultSelector() as selector:
        selector.register(pipe, selectors.EVENT_READ)
        while len(found) <= MOST_BYTES:
            if not selector.select(max(ends_at - time.monotonic(), 0)):
                return None
            chunk = os.read(pipe.fileno(), MOST_BYTES)
            if not chunk:
                break
            found += chunk
    return bytes(found)
