"""Whether the public log is what was written: lines in the ledger, files, heads kept."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from schemas.errors import UsageError
from schemas.ledger.engine import PublicLine
from schemas.settings import Settings
from tasks.exam.log import LogFinding
from tasks.exam.log.signing import has_signer, open_signer
from tasks.exam.public.log.folder import name_public_folder
from tasks.exam.public.log.heads import SIGN
from tasks.exam.public.log.log_file import name_log_file
from tasks.exam.public.log.signed_heads import PublicSignedHead, iter_heads, name_public_heads_file
from tasks.exam.public.sessions import CLOSE, OPEN, compute_answers_root
from tasks.running.archives import read_whole
from warehouse.ledger.engine.ledger import Connection, Ledger
from warehouse.ledger.engine.logs import public_log
from warehouse.ledger.engine.logs.digests import digest_text
from warehouse.ledger.engine.logs.public_log import BEGIN, FIRST_HASH, KEY
from warehouse.ledger.engine.tables import access_log
from warehouse.ledger.trust import access, answer_hashes
from warehouse.stores.whole_files import hash_file


@dataclass(frozen=True)
class PublicLogReport:
    """What the check of the public log found.

    Attributes:
        entry_count: entries that the ledger has.
        file_count: those of them that the file has.
    """

    entry_count: int
    file_count: int
    signed_count: int
    findings: tuple[LogFinding, ...]


def check_public_log(
    ledger: Ledger, settings: Settings, passed: AbstractSet[str] = frozenset()
) -> PublicLogReport:
    """Check the public log.

    What is checked: the lines of the ledger, the file against them byte by byte, the heads, the files that entries name, and
    what the log records of sessions. Where some are `passed`, neither their answers nor the bytes of the files, unless
    anything is found. The file may lack the last lines: the next command adds them.
    """
    if passed:
        with ledger.read() as connection:
            names = [one.session_id for one in answer_hashes.iter_session_ends(connection)]
        report = _check(ledger, settings, passed, [name for name in names if name not in passed])
        if not report.findings:
            return report
    return _check(ledger, settings, frozenset(), None)


def _check(
    ledger: Ledger, settings: Settings, passed: AbstractSet[str], names: list[str] | None
) -> PublicLogReport:
    # The heads before the ledger: what is signed now is in what is read then.
    heads = list(_read_heads(name_public_heads_file(settings)))
    with read_whole(ledger, settings, session_ids=names, tables=(access_log,)) as connection:
        lines = _Lines(name_log_file(settings))
        for line in public_log.iter_public_lines(connection):
            lines.add(line)
        findings = lines.finish(public_log.read_public_head(connection))
        findings += _check_heads(connection, heads, name_public_heads_file(settings).name)
        findings += _check_signings(connection, settings, heads)
        last_signed = max((head.number for head in heads if head is not None), default=0)
        if lines.file_count < last_signed <= lines.count and not lines.is_different:
            findings.append(
                LogFinding("public_file_cut", "log.jsonl", f"a head was signed at entry {last_signed}")
            )
        findings += _check_sessions(connection, passed)
        findings += _check_stages(connection)
        # A folder without a log is not here, or is put back first.
        if name_log_file(settings).exists():
            findings += _check_published(connection, name_public_folder(settings), is_whole=not passed)
    return PublicLogReport(lines.count, lines.file_count, len(heads), tuple(findings))


def check_witness_file(ledger: Ledger, path: Path) -> tuple[int, tuple[LogFinding, ...]]:
    """Compare a witness's heads with the log: how many, what differs; UsageError for no file."""
    if not path.is_file():
        raise UsageError(f"There is no file {path}. Name the copy of the heads that a witness keeps.")
    heads = list(_read_heads(path))
    if not heads:
        raise UsageError(f"{path} has no head: each line of it should be one.")
    with ledger.read() as connection:
        return len(heads), tuple(_check_heads(connection, heads, path.name))


class _Lines:
    """Checks the lines of the ledger as they come, and the file beside them."""

    def __init__(self, path: Path) -> None:
        self._file = path.open("rb") if path.exists() else None
        self._findings: list[LogFinding] = []
        self._hash = FIRST_HASH
        self._end = 0
        self.count = self.file_count = 0
        self.is_different = False

    def add(self, line: PublicLine) -> None:
        where = f"entry {line.number}"
        if line.number != self.count + 1:
            self._note("public_entry_missing", where, "the one before it is not there", line.number)
        if hashlib.sha256(line.line.encode()).hexdigest() != line.line_hash:
            self._note("public_entry_changed", where, "it was changed after it was written", line.number)
        try:
            values: dict[str, Any] = json.loads(line.line)
            said = (values["number"], values["previous"], values["kind"], values["body"].get("run"))
        except (ValueError, KeyError, TypeError, AttributeError):
            said = None
        if said != (line.number, self._hash, line.kind, line.run_id):
            self._note(
                "public_entry_out_of_order", where, "it does not follow the one before it", line.number
            )
        data = line.line.encode() + b"\n"
        if line.ends_at != self._end + len(data):
            self._note("public_entry_changed", where, "it does not end where it did", line.number)
        self._compare(data, line.number)
        self.count, self._hash, self._end = line.number, line.line_hash, line.ends_at

    def finish(self, head: public_log.PublicHead) -> list[LogFinding]:
        """What is found at the end."""
        if head != (self.count, self._hash, self._end):
            self._note(
                "public_log_cut",
                f"entry {self.count}",
                f"the last entry is {self.count}, and {head.number} were written",
                self.count,
            )
        if self._file is not None:
            if not self.is_different and self._file.read(1):
                self._note("public_file_ahead", "log.jsonl", "it goes beyond the ledger", self.count)
            self._file.close()
        return self._findings

    def _compare(self, data: bytes, number: int) -> None:
        if self._file is None or self.is_different:
            return
        found = self._file.read(len(data))
        if found == data:
            self.file_count = number
        elif not data.startswith(found):
            self.is_different = True
            self._note(
                "public_file_changed", "log.jsonl", f"line {number} is not what the ledger has", number
            )

    def _note(self, name: str, where: str, reason: str, number: int) -> None:
        self._findings.append(LogFinding(name, where, reason, number))


def _read_heads(path: Path) -> Iterator[PublicSignedHead | None]:
    if path.exists():
        with path.open("rb") as file:
            yield from iter_heads(file)


def _check_heads(
    connection: Connection, heads: list[PublicSignedHead | None], file: str
) -> Iterator[LogFinding]:
    steps = public_log.list_public_entries(connection, [BEGIN, KEY])
    keys = {step.body["key"]: step.body["public_key"] for step in steps}
    ended = {step.body["ends"]: step.number for step in steps if "ends" in step.body}
    last = public_log.read_public_head(connection).number
    before = 0
    for place, head in enumerate(heads, start=1):
        if head is None:
            yield LogFinding("public_head_wrong", f"{file}, line {place}", "it is no signed head")
            continue
        where = f"{file}, head of entry {head.number}"
        if head.number < before:
            yield LogFinding("public_head_wrong", where, "it does not follow the one before it", head.number)
        before = head.number
        if head.number > last:
            yield LogFinding("public_log_cut", where, f"the last entry is {last}", head.number)
            continue
        line = public_log.read_public_line(connection, head.number)
        if line is None or line.line_hash != head.hash:
            yield LogFinding(
                "public_log_rewritten", where, "the entry that was signed was another", head.number
            )
        if not head.is_good(keys.get(head.key) or ""):
            yield LogFinding(
                "public_head_wrong", where, f"the signature of key {head.key} is not good", head.number
            )
        elif head.number >= ended.get(head.key, head.number + 1):
            yield LogFinding("public_head_wrong", where, f"key {head.key} signed after its end", head.number)


def _check_signings(
    connection: Connection, settings: Settings, heads: list[PublicSignedHead | None]
) -> Iterator[LogFinding]:
    """Every head that the audit log says was signed here is in the file."""
    kept = {digest_text(head.signature) for head in heads if head is not None}
    if not has_signer(settings):
        return
    own = open_signer(settings).key_id
    for entry in access.iter_targets(connection, (SIGN,)):
        number, _, by = entry.target.partition(" ")
        if by == own and entry.digest not in kept:
            yield LogFinding(
                "public_head_missing",
                f"head of entry {number}",
                "it was signed and is not there",
                int(number),
            )


def _check_sessions(connection: Connection, passed: AbstractSet[str]) -> Iterator[LogFinding]:
    """The log has the sessions opened or closed since it began, with the answers that they have."""
    first = public_log.read_public_line(connection, 1)
    if first is None:
        return
    began_at = json.loads(first.line)["at"]
    opened = {step.body["session"] for step in public_log.list_public_entries(connection, [OPEN])}
    closed = {step.body["session"]: step for step in public_log.list_public_entries(connection, [CLOSE])}
    for session in answer_hashes.iter_session_ends(connection):
        where = f"session {session.session_id}"
        if (
            session.opened_at is not None
            and session.opened_at >= began_at
            and session.session_id not in opened
        ):
            yield LogFinding("opening_not_public", where, "it was opened, and the public log does not say so")
        step = closed.get(session.session_id)
        if step is None:
            if session.closed_at is not None and session.closed_at >= began_at:
                yield LogFinding(
                    "closing_not_public", where, "it was closed, and the public log does not say so"
                )
            continue
        if session.session_id in passed:
            continue
        hashes = answer_hashes.read_answer_hashes(connection, session.session_id)
        if compute_answers_root(session.session_id, hashes) != step.body["answers_root"]:
            yield LogFinding(
                "published_answers_changed", where, "its answers are not those of its closing", step.number
            )


def _check_stages(connection: Connection) -> Iterator[LogFinding]:
    """Whether the audit log still has the entry up to which an edition rests on closed stages."""
    for entry in public_log.list_public_entries(connection, ("edition",)):
        told = entry.body.get("stages")
        if told is None:
            continue
        found = access.read_entry(connection, int(told["entry"]))
        if found is None or found.entry_hash != told["hash"]:
            yield LogFinding(
                "edition_stages_differ",
                f"edition {entry.body['edition']}",
                f"the stages that it rests on were closed up to entry {told['entry']}, and the audit log has another there",
                int(told["entry"]),
            )


def _check_published(connection: Connection, folder: Path, *, is_whole: bool) -> Iterator[LogFinding]:
    """The files that entries name are there; where `is_whole`, as they were published."""
    named: dict[str, tuple[int, str | None]] = {}
    for entry in public_log.list_public_entries(connection, ("commit", "disclose", "edition", "question")):
        body = entry.body
        if entry.kind == "commit":
            # Its name is the root of what it holds; that a verifier computes.
            inside, files = "banks", {f"{body['bank']['root']}.jsonl": None}
        elif entry.kind == "question":
            inside, files = "questions", {body["file"]: body["sha256"]}
        else:
            is_run = entry.kind == "disclose"
            inside = f"runs/{body['run']}" if is_run else f"editions/{body['run']}-{body['revision']}"
            files = body["files"]
        named |= {f"{inside}/{name}": (entry.number, expected) for name, expected in files.items()}
    for name, (number, expected) in named.items():
        if not (folder / name).is_file():
            yield LogFinding("public_file_changed", name, f"entry {number} names it, and it is gone", number)
        elif is_whole and expected is not None and hash_file(folder / name) != expected:
            yield LogFinding("public_file_changed", name, f"it is not what entry {number} names", number)
