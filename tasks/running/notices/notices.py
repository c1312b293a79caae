"""Notices to named recipients that a run has ended badly.

A recipient is a program on this host, or a web hook. A notice has names and ids, and no content.
"""

from __future__ import annotations

import hashlib
import http.client
import json
import os
import shlex
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit, urlunsplit

from schemas.errors import UsageError

COMMAND: Final = "command:"
TIME_LIMIT_S: Final = 30.0
# What a command may need of the environment; no key of a model, and no address of ours.
_VARIABLES: Final = ("PATH", "HOME", "USER", "LANG", "LC_ALL", "TMPDIR", "SSL_CERT_FILE", "SSL_CERT_DIR")


@dataclass(frozen=True)
class Notice:
    """What somebody is told.

    Attributes:
        run: name of the flow run.
        ending: in one word: Failed, Crashed, TimedOut.
        flow_run_id: its id; empty where nobody said it.
    """

    run: str
    ending: str
    flow_run_id: str = ""

    def render(self) -> bytes:
        """As JSON; `text` is what chat programs show of a web hook."""
        return json.dumps(
            {
                "text": f"Proctor: {self.run} {self.ending}. proctor logs {self.run} says more.",
                "run": self.run,
                "ending": self.ending,
                "flow_run_id": self.flow_run_id,
            }
        ).encode()


@dataclass(frozen=True)
class Recipient:
    """Who is told.

    Attributes:
        name: what it is called in logs: a web hook's address may be a secret.
        command: the program and its arguments; empty for a web hook.
        url: the web hook; empty for a program.
    """

    name: str
    command: tuple[str, ...] = ()
    url: str = ""


def read_recipients(texts: Sequence[str]) -> tuple[Recipient, ...]:
    """Recipients as they are named.

    Each is `command:PROGRAM ARGUMENT …`, or the https address of a web hook.

    Plain http is taken for this host only. Raises UsageError for anything else.
    """
    return tuple(_read_recipient(text.strip()) for text in texts)


def send_notice(
    notice: Notice, recipients: Sequence[Recipient], *, time_limit_s: float = TIME_LIMIT_S
) -> dict[str, str]:
    """Tell everybody, whoever of them fails; returns why somebody could not be told, by name."""
    failures = {}
    for recipient in recipients:
        tell = _run if recipient.command else _post
        if (reason := tell(recipient, notice, time_limit_s)) is not None:
            failures[recipient.name] = reason
    return failures


def _read_recipient(text: str) -> Recipient:
    short = hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()[:8]
    if text.startswith(COMMAND):
        try:
            command = shlex.split(text.removeprefix(COMMAND))
        except ValueError:
            command = []
        if not command:
            raise UsageError(
                "PROCTOR_NOTIFY: `command:` needs a program, its arguments quoted as in a shell."
            )
        return Recipient(f"{Path(command[0]).name} {short}", command=tuple(command))
    parts = urlsplit(text)
    is_here = parts.scheme == "http" and parts.hostname in ("127.0.0.1", "::1", "localhost")
    if not parts.hostname or not (parts.scheme == "https" or is_here):
        raise UsageError(
            "PROCTOR_NOTIFY names neither `command:PROGRAM` nor the https address of a web hook. Correct it, then run again."
        )
    return Recipient(f"{parts.hostname} {short}", url=text)


def _run(recipient: Recipient, notice: Notice, time_limit_s: float) -> str | None:
    try:
        done = subprocess.run(
            list(recipient.command),
            input=notice.render() + b"\n",
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=time_limit_s,
            check=False,
            env={name: os.environ[name] for name in _VARIABLES if name in os.environ},
        )
    except subprocess.TimeoutExpired:
        return f"it took longer than {time_limit_s:g} s"
    except OSError as error:
        return f"it cannot be started ({error.strerror})"
    return f"it ended with {done.returncode}" if done.returncode else None


def _post(recipient: Recipient, notice: Notice, time_limit_s: float) -> str | None:
    parts = urlsplit(recipient.url)
    kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
    connection = kind(str(parts.hostname), parts.port, timeout=time_limit_s)
    path = urlunsplit(("", "", parts.path or "/", parts.query, ""))
    try:
        connection.request("POST", path, notice.render(), {"Content-Type": "application/json"})
        status = connection.getresponse().status
    except (OSError, http.client.HTTPException) as error:
        return f"it could not be reached ({type(error).__name__})"
    finally:
        connection.close()
    return None if 200 <= status < 300 else f"it answered {status}"
