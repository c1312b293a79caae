"""Notices to named recipients that a run has ended badly.

A recipient is a program on this host, or a web hook. A notice has names and ids, and no content. Every bad end that the ledger knows
reaches every recipient once; one that cannot be reached is told later.
"""

from __future__ import annotations

import http.client
import json
import logging
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.parse import SplitResult, urlsplit, urlunsplit

from schemas.errors import ProctorError, UsageError
from schemas.ledger.engine import RunNotice
from schemas.settings import is_home, load_settings
from tasks.running import programs
from warehouse.ledger.engine.ledger import Ledger
from warehouse.ledger.engine.opening import open_ledger
from warehouse.ledger.engine.runs.notices import note_told, take_notices


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


# Who set out to tell, and was killed meanwhile, is believed to be at it for so long for each recipient.
_LEASE_S: Final = 2 * programs.TIME_LIMIT_S
# Seconds after which whoever could not be reached is told again; the last one again and again.
_AGAIN_S: Final = (10.0, 30.0, 60.0, 300.0, 1800.0)
log = logging.getLogger("proctor.notices")


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


def deliver() -> None:
    """Tell what is due, as far as it can be told from here; nothing where there is no home."""
    with suppress(ProctorError):
        settings = load_settings()
        if is_home(settings.home):
            with open_ledger(settings.ledger_address) as ledger:
                deliver_notices(ledger)


def deliver_notices(ledger: Ledger) -> int:
    """Send every recipient that the settings name the notices that are due.

    Returns the number of ends that all recipients have been told of.

    Raises UsageError where the settings name nobody rightly.
    """
    recipients = read_recipients(load_settings().notify)
    done = 0
    while (notice := _take_one(ledger, recipients)) is not None:
        left = [one for one in recipients if one.name not in notice.told]
        failures = send_notice(Notice(notice.name, notice.ending, notice.flow_run_id), left)
        told = [*notice.told, *(one.name for one in left if one.name not in failures)]
        again_in_s = _AGAIN_S[min(notice.tries, len(_AGAIN_S) - 1)] if failures else None
        with ledger.write() as connection:
            note_told(connection, notice.flow_run_id, told, again_in_s=again_in_s)
        for name, reason in failures.items():
            log.warning("%s could not be told of %s: %s", name, notice.name, reason)
        if recipients and not failures:
            log.info("%s %s: %d told", notice.name, notice.ending, len(told))
        done += not failures
    return done


def _take_one(ledger: Ledger, recipients: Sequence[Recipient]) -> RunNotice | None:
    """The first notice that is due.

    Each notice has a lease of its own, however long it takes to send the notices before it.
    """
    with ledger.write() as connection:
        taken = take_notices(connection, lease_s=_LEASE_S * max(1, len(recipients)), most=1)
    return taken[0] if taken else None
