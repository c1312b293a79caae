"""Witnesses of the public log.

A witness keeps its signed heads where nobody of this installation can change them. A witness is a file elsewhere (another
machine's disk, a share that can only be added to), which gets each head as a line, or a command, which gets it on its standard
input and says with exit code 0 that it was kept. What was given to whom is a line of `PROCTOR_HOME/public/witnesses.jsonl`, in
which a witness appears by a short name: a path or a command may say too much.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Final, Literal

from schemas.errors import StoreError, UsageError
from schemas.settings import Settings
from tasks.exam.public.log.folder import WITNESSES, name_public_folder, open_locked, write_durably
from tasks.exam.public.log.heads import sign_public_head
from tasks.exam.public.log.signed_heads import TAIL_BYTES, PublicSignedHead, iter_heads
from tasks.running import log, programs
from warehouse.ledger.engine.ledger import Ledger
from warehouse.ledger.engine.moments import now_text

FILE: Final = "file:"
# Every witness has a line within the last of these, however many there are.
_KNOWN_BYTES: Final = 1 << 16


@dataclass(frozen=True)
class Witness:
    """Who keeps heads.

    Attributes:
        name: what it is called in what is published.
        path: the file; null for a command.
        command: the program and its arguments; empty for a file.
    """

    name: str
    path: Path | None = None
    command: tuple[str, ...] = ()


@dataclass(frozen=True)
class WitnessedHead:
    """What became of a head with a witness: given, known already, or failed, with the reason."""

    witness: str
    outcome: Literal["given", "known", "failed"]
    reason: str | None = None


@dataclass(frozen=True)
class Seal:
    """The head of the public log and who has it; null where the log has no entry."""

    head: PublicSignedHead | None
    told: tuple[WitnessedHead, ...] = ()

    @property
    def failures(self) -> tuple[WitnessedHead, ...]:
        """The witnesses that could not be told."""
        return tuple(told for told in self.told if told.outcome == "failed")


def read_witnesses(texts: Sequence[str], settings: Settings) -> tuple[Witness, ...]:
    """Witnesses as they are named: `PATH`, `file:PATH` or `command:PROGRAM ARGUMENT …`.

    Raises UsageError for one that names nothing, and for a file within the home: who can change the log could change that too.
    """
    return tuple(_read_witness(text.strip(), settings) for text in texts)


def seal_public_log(ledger: Ledger, settings: Settings, witnesses: Iterable[Witness]) -> Seal:
    """Bring the files up to the ledger, sign the head, and give it to every witness.

    A witness that fails does not keep the head from any other. Raises StoreError for a log that is not what the ledger has: no head
    of it is signed.
    """
    head = sign_public_head(ledger, settings)
    if head is None:
        return Seal(None)
    return Seal(head, tuple(_tell(witness, head, settings) for witness in witnesses))


def tell_witnesses(ledger: Ledger, settings: Settings) -> tuple[WitnessedHead, ...]:
    """Give the log's head to the settings' witnesses; failures wait for the hourly `seal`."""
    if not settings.witnesses:
        return ()
    try:
        return seal_public_log(ledger, settings, read_witnesses(settings.witnesses, settings)).told
    except (StoreError, UsageError) as error:
        log.warning("The witnesses were not told: %s", error)
        return ()


def read_told(settings: Settings) -> list[dict[str, Any]]:
    """What was given to whom, in the order of the file; a line that is none is passed over."""
    path = name_witnesses_file(settings)
    if not path.exists():
        return []
    found = []
    for line in path.read_bytes().splitlines():
        try:
            row = json.loads(line)
        except ValueError:
            continue
        if isinstance(row, dict) and _is_told(row):
            found.append(row)
    return found


def _is_told(row: dict[str, Any]) -> bool:
    """Whether a line says what was given to whom, and when by a clock of a zone."""
    try:
        moment = datetime.fromisoformat(row["given_at"])
    except (KeyError, TypeError, ValueError):
        return False
    return (
        moment.tzinfo is not None and type(row.get("number")) is int and isinstance(row.get("witness"), str)
    )


def name_witnesses_file(settings: Settings) -> Path:
    """Where it is written down what was given to whom."""
    return name_public_folder(settings) / WITNESSES


def _read_witness(text: str, settings: Settings) -> Witness:
    if text.startswith(programs.COMMAND):
        command = programs.read_command(text)
        if not command:
            raise UsageError(
                f"A witness {programs.COMMAND!r} needs a program: command:PROGRAM ARGUMENT …, quoted as in a shell."
            )
        return Witness(programs.name_told(Path(command[0]).name, text), command=command)
    named = text.removeprefix(FILE)
    path = Path(named).expanduser()
    if not named or path.is_dir():
        raise UsageError(f"The witness {text!r} is no file: name one, or command:PROGRAM for a program.")
    if path.resolve().is_relative_to(settings.home.resolve()):
        raise UsageError(
            f"The witness {path} lies in PROCTOR_HOME: whoever can change the log could change it too. Name a file elsewhere."
        )
    return Witness(programs.name_told(path.name, text), path=path)


def _tell(witness: Witness, head: PublicSignedHead, settings: Settings) -> WitnessedHead:
    if witness.path is None:
        if _is_known(witness, head, settings):
            return WitnessedHead(witness.name, "known")
        reason = programs.tell_program(witness.command, f"{head.write_line()}\n".encode())
    else:
        is_new, reason = _add_line(witness.path, head)
        # A kill may have come between the witness and the note of it.
        if not is_new and reason is None and _is_known(witness, head, settings):
            return WitnessedHead(witness.name, "known")
    if reason is not None:
        return WitnessedHead(witness.name, "failed", reason)
    _note(witness, head, settings)
    return WitnessedHead(witness.name, "given")


def _add_line(path: Path, head: PublicSignedHead) -> tuple[bool, str | None]:
    """Add a head to a witness's file; whether it was added, and why it could not be."""
    try:
        with path.open("ab+") as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(size - TAIL_BYTES, 0))
            tail = file.read()
            last = next(iter_heads(tail.split(b"\n")[-2:-1]), None)
            if last == head:
                return False, None
            # Half a line of a writer that was killed is ended, and stays for whoever looks.
            lead = b"" if not tail or tail.endswith(b"\n") else b"\n"
            file.write(lead + head.write_line().encode() + b"\n")
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        return False, f"it cannot be written ({error.strerror})"
    return True, None


def _is_known(witness: Witness, head: PublicSignedHead, settings: Settings) -> bool:
    path = name_witnesses_file(settings)
    if not path.exists():
        return False
    with path.open("rb") as file:
        file.seek(max(path.stat().st_size - _KNOWN_BYTES, 0))
        for line in file.read().split(b"\n"):
            try:
                values = json.loads(line)
            except ValueError:
                continue
            if (values.get("witness"), values.get("number"), values.get("hash")) == (
                witness.name,
                head.number,
                head.hash,
            ):
                return True
    return False


def _note(witness: Witness, head: PublicSignedHead, settings: Settings) -> None:
    path = name_witnesses_file(settings)
    # A program has a clock of its own; in a file stands what we write.
    row = {
        "witness": witness.name,
        "by": "file" if witness.path is not None else "command",
        "number": head.number,
        "hash": head.hash,
        "given_at": now_text(),
    }
    line = json.dumps(row, separators=(",", ":")).encode() + b"\n"
    try:
        with open_locked(path) as descriptor:
            size = os.fstat(descriptor).st_size
            if size and os.pread(descriptor, 1, size - 1) != b"\n":
                line = b"\n" + line
            write_durably(descriptor, line, path.parent)
    except OSError as error:
        raise StoreError(f"{path} cannot be written ({error.strerror}).") from None
