"""Notices to named recipients that a run has ended badly.

A recipient is a program on this host, or a web hook. A notice has names and ids, and no content.
"""

from __future__ import annotations

import http.client
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import SplitResult, urlsplit, urlunsplit

from schemas.errors import UsageError
from tasks.running import programs


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


def send_notice(notice: Notice, recipients: Sequence[Recipient]) -> dict[str, str]:
    """Tell everybody, whoever of them fails; returns why somebody could not be told, by name."""
    failures = {}
    for recipient in recipients:
        if recipient.command:
            reason = programs.tell_program(recipient.command, notice.render() + b"\n")
        else:
            reason = _post(recipient.url, notice)
        if reason is not None:
            failures[recipient.name] = reason
    return failures


def _read_recipient(text: str) -> Recipient:
    if text.startswith(programs.COMMAND):
        command = programs.read_command(text)
        if not command:
            raise UsageError(
                "PROCTOR_NOTIFY: `command:` needs a program, its arguments quoted as in a shell."
            )
        return Recipient(programs.name_told(Path(command[0]).name, text), command=command)
    parts = _split_address(text)
    is_here = parts.scheme == "http" and parts.hostname in ("127.0.0.1", "::1", "localhost")
    if not parts.hostname or not (parts.scheme == "https" or is_here):
        raise UsageError(
            "PROCTOR_NOTIFY names neither `command:PROGRAM` nor the https address of a web hook. Correct it, then run again."
        )
    return Recipient(programs.name_told(parts.hostname, text), url=text)


def _split_address(text: str) -> SplitResult:
    """The parts of an address; none where it has no host that could be asked for, or no port."""
    try:
        parts = urlsplit(text)
        return parts if parts.port != 0 and (parts.hostname or "").encode("idna") else urlsplit("")
    except ValueError:
        return urlsplit("")


def _post(url: str, notice: Notice) -> str | None:
    parts = urlsplit(url)
    kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
    connection = kind(str(parts.hostname), parts.port, timeout=programs.TIME_LIMIT_S)
    path = urlunsplit(("", "", parts.path or "/", parts.query, ""))
    try:
        connection.request("POST", path, notice.render(), {"Content-Type": "application/json"})
        status = connection.getresponse().status
    except (OSError, ValueError, http.client.HTTPException) as error:
        # ValueError: a path that no request can have.
        return f"it could not be reached ({type(error).__name__})"
    finally:
        connection.close()
    return None if 200 <= status < 300 else f"it answered {status}"
