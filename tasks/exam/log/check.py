"""Whether the audit log is what was written, and what it fixes is unchanged."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from schemas.ledger.trust import Erasure, SignedHead
from schemas.settings import Settings
from tasks.exam.log.heads import (
    HOME_KEY_ACTIONS,
    HOME_KEYS,
    LOG_KEY_ACTIONS,
    REPLACED,
    TOKEN_KEY_ACTIONS,
    describe_token_keys,
    iter_kept_heads,
    name_heads_file,
)
from tasks.exam.log.signing import describe_head, has_signer, is_signed, name_key_file, open_signer
from tasks.exam.log.state import find_state_faults
from tasks.exam.log.words import LogFinding, Seen
from tasks.exam.protocol.tokens import open_keys
from tasks.running.archives import read_whole
from warehouse.ledger.engine.ledger import Connection, Ledger
from warehouse.ledger.engine.logs.chain import BEGIN, FIRST_HASH
from warehouse.ledger.engine.logs.digests import digest_text
from warehouse.ledger.engine.tables import access_log, allocations, responses
from warehouse.ledger.trust import access
from warehouse.ledger.trust.erasures import list_erasures
from warehouse.ledger.trust.sealed_state import list_sessions
from warehouse.stores.shared_files import has_hosts, read_shared_files

_NOTHING: Final = Seen()


@dataclass(frozen=True)
class LogReport:
    """What the check of the log found.

    Attributes:
        head: hash of the last one; empty where there is none.
        unsigned_count: entries since the last signed head.
        findings: what is not as it was written.
        erasures: what was erased of answers, in order, as the ledger keeps it; it is as it was written where there is no finding.
        stays: number and hash of the last entry that never leaves the ledger.
    """

    entry_count: int
    head: str
    signed_count: int
    unsigned_count: int
    findings: tuple[LogFinding, ...]
    erasures: tuple[Erasure, ...] = ()
    read_count: int = 0
    stays: tuple[int, str] = (0, FIRST_HASH)


def check_log(ledger: Ledger, settings: Settings, seen: Seen | None = None) -> LogReport:
    """Check everything that the audit log fixes, and the log itself, less what was `seen`."""
    tables = (access_log, allocations, responses)
    if seen is not None:
        with ledger.read() as connection:
            names = [row.session_id for row in list_sessions(connection)]
        new = [name for name in names if name not in seen.session_ids]
        with read_whole(ledger, settings, session_ids=new, tables=tables) as connection:
            report = check_home(connection, settings, seen)
        if not report.findings:
            return report
    with read_whole(ledger, settings, tables=tables) as connection:
        return check_home(connection, settings)


def check_home(connection: Connection, settings: Settings, seen: Seen = _NOTHING) -> LogReport:
    """The same on a connection."""
    kept = list(iter_kept_heads(settings))
    report = check_ledger(connection, {head.number: head for head in kept if head is not None}, seen)
    heads = {head.number: head for head in access.iter_signed_heads(connection)}
    findings = [*_check_kept(settings, heads, kept), *_check_keys(connection, settings)]
    return replace(report, findings=(*report.findings, *findings))


def check_ledger(
    connection: Connection, kept: Mapping[int, SignedHead] | None = None, seen: Seen = _NOTHING
) -> LogReport:
    """The same without a home: what the ledger alone shows, with the heads `kept` elsewhere."""
    findings = [
        LogFinding("entry_unchained", f"row {number}", "it has no place in the chain")
        for number in access.list_unchained(connection)
    ]
    heads = {head.number: head for head in access.iter_signed_heads(connection)}
    findings += _check_signatures(connection, heads)
    findings += _check_signings(connection, heads)
    chain = _ChainCheck(heads, kept or {}, seen.number, seen.entry_hash)
    for page in access.iter_chain_pages(connection, seen.number):
        chain.add(page)
    findings += chain.finish(access.read_head(connection))
    again = _ChainCheck(heads, kept or {}, is_part=True)
    if seen.again_until:
        for page in access.iter_chain_pages(connection, seen.again_after, seen.again_until):
            again.add(page)
        findings += again.findings
    findings += find_state_faults(connection, seen)
    return LogReport(
        chain.last_number,
        chain.last_hash if chain.last_number else "",
        len(heads),
        chain.last_number - max(heads, default=0),
        tuple(findings),
        tuple(list_erasures(connection)),
        chain.read_count + again.read_count,
        chain.stays,
    )


class _ChainCheck:
    """Checks the entries of the chain as they come.

    Args:
        heads: signed heads of the ledger, by number.
        kept: those of the file of the home.
        number: the entry that the first one follows.
        entry_hash: its hash.
        is_part: whether what comes is a part, of which others may be in the lake.
    """

    def __init__(
        self,
        heads: Mapping[int, SignedHead],
        kept: Mapping[int, SignedHead],
        number: int = 0,
        entry_hash: str = FIRST_HASH,
        *,
        is_part: bool = False,
    ) -> None:
        self._heads = heads
        self._kept = kept
        self._is_part = is_part
        self.findings: list[LogFinding] = []
        self.last_number = number
        self.last_hash = entry_hash
        self.read_count = 0
        # The last one that never leaves the ledger.
        self.stays = (number, entry_hash)

    def add(self, page: Sequence[access.ChainedEntry]) -> None:
        for number, previous, entry_hash, action, seq, own_hash in page:
            if number != self.last_number + 1:
                if not self._is_part:
                    self._note(
                        "entry_missing",
                        f"{number - self.last_number - 1} entries before it are not there",
                        number,
                    )
            elif previous != self.last_hash:
                self._note("entry_out_of_order", "it does not follow the entry before it", number)
            if own_hash != entry_hash:
                self._note("entry_changed", "it was changed after it was written", number)
            if number == 1 and action != BEGIN:
                self._note("entry_changed", "the log does not begin with it", number)
            if number in self._heads or number in self._kept:
                self._check_heads(number, entry_hash)
            if seq is None:
                self.stays = (number, entry_hash)
            self.last_number, self.last_hash = number, entry_hash
        self.read_count += len(page)

    def _check_heads(self, number: int, entry_hash: str) -> None:
        for name, known in (("signed_head_differs", self._heads), ("kept_head_differs", self._kept)):
            if (head := known.get(number)) is not None and head.entry_hash != entry_hash:
                self._note(name, f"the head signed {head.signed_at} says something else", number)

    def finish(self, head: access.Head) -> list[LogFinding]:
        """What is found at the end."""
        if (head.number, head.entry_hash) != (self.last_number, self.last_hash if head.number else ""):
            is_empty = head.number == 0 and self.last_number == 0
            if not is_empty:
                self._note(
                    "log_cut",
                    f"the last entry is {self.last_number}, and {head.number} were written",
                    self.last_number,
                )
        beyond = [number for number in {*self._heads, *self._kept} if number > self.last_number]
        if beyond:
            self._note("log_cut_before_head", f"a head was signed at entry {max(beyond)}", self.last_number)
        return self.findings

    def _note(self, name: str, reason: str, number: int) -> None:
        self.findings.append(LogFinding(name, f"entry {number}", reason, number))


def _check_signings(connection: Connection, heads: Mapping[int, SignedHead]) -> Iterator[LogFinding]:
    """Whether every head that an entry says was signed is there, with the signature of then."""
    for row in access.iter_targets(connection, ("sign_head",)):
        signed = heads.get(int(row.target))
        if signed is None:
            reason = f"the head signed at entry {row.target} is gone"
            yield LogFinding("signed_head_missing", f"entry {row.number}", reason, row.number)
        elif digest_text(signed.signature) != row.digest:
            reason = f"the head at entry {row.target} was signed again"
            yield LogFinding("signed_head_replaced", f"entry {row.number}", reason, row.number)


def _check_signatures(connection: Connection, heads: Mapping[int, SignedHead]) -> Iterator[LogFinding]:
    keys = {key.key_id: key.public_key for key in access.list_log_keys(connection)}
    for head in heads.values():
        signed = describe_head(head.number, head.entry_hash, head.key_id, head.signed_at)
        if not is_signed(keys.get(head.key_id, ""), head.signature, signed):
            yield LogFinding(
                "signature_wrong", f"entry {head.number}", f"the signature of key {head.key_id} is not good"
            )


def _check_kept(
    settings: Settings, heads: Mapping[int, SignedHead], kept: list[SignedHead | None]
) -> Iterator[LogFinding]:
    """The file of heads has every head that this home signed: it gets each one first."""
    file = name_heads_file(settings).name
    if None in kept:
        yield LogFinding("kept_heads_damaged", file, f"{kept.count(None)} lines are no signed heads")
    known = {head.number: head for head in kept if head is not None}
    if not has_signer(settings):
        return
    own = open_signer(settings)
    missing = [
        head.number for head in heads.values() if head.key_id == own.key_id and head.number not in known
    ]
    if missing:
        yield LogFinding(
            "kept_heads_missing",
            file,
            f"{len(missing)} heads are not in it, the first of entry {min(missing)}",
        )
    for number, head in known.items():
        found = heads.get(number)
        if found is not None and found != head:
            yield LogFinding("kept_head_differs", f"entry {number}", "the ledger has another signed head")


def _check_keys(connection: Connection, settings: Settings) -> Iterator[LogFinding]:
    """Whether the keys of this home, wherever it lies, are those that the log names."""
    known = access.list_log_keys(connection)
    for key in access.list_log_keys(connection):
        entries = [
            row for row in access.iter_targets(connection, LOG_KEY_ACTIONS) if row.target == key.key_id
        ]
        if not any(row.digest == digest_text(key.public_key) for row in entries):
            yield LogFinding("log_key_unknown", f"key {key.key_id}", "no entry says that it was added")
        elif entries[-1].code == REPLACED:
            yield LogFinding(
                "log_key_replaced",
                f"key {key.key_id}",
                "it took the place of another without a command (`proctor exam keys confirm` if that was you)",
            )
    if known and has_signer(settings):
        own = open_signer(settings).key_id
        if own not in {key.key_id for key in known}:
            yield LogFinding("log_key_unknown", f"key {own}", "no entry names the key of this home")
    elif is_log_key_lost(connection, settings):
        yield LogFinding("log_key_missing", name_key_file(settings).name, "heads were signed with it")
    yield from _check_token_keys(connection, settings)
    last: dict[str, Any] = {}
    for row in access.iter_targets(connection, HOME_KEY_ACTIONS):
        if row.target not in last or row.number > last[row.target].number:
            last[row.target] = row
    for file in read_shared_files(settings, HOME_KEYS):
        if file.name not in last or last[file.name].digest == file.fingerprint:
            continue
        if file.fingerprint is None:
            # A host of several needs not have all of them: what its flows need is looked at when they start.
            if not has_hosts(settings):
                yield LogFinding("home_key_missing", file.name, "the file that the log names is gone")
        else:
            yield LogFinding(
                "home_key_replaced",
                file.name,
                "it is not the one that the log names (`proctor exam keys confirm` if that was you)",
            )


def is_log_key_lost(connection: Connection, settings: Settings) -> bool:
    """Whether this home has signed heads and no key any more; other hosts have their own."""
    if has_signer(settings) or not access.list_log_keys(connection):
        return False
    return not has_hosts(settings) or name_heads_file(settings).exists()


def _check_token_keys(connection: Connection, settings: Settings) -> Iterator[LogFinding]:
    entries = list(access.iter_targets(connection, TOKEN_KEY_ACTIONS))
    if not entries:
        return
    last = max(entries, key=lambda row: row.number)
    if not open_keys(settings).path.exists():
        yield LogFinding("token_keys_missing", "exam-keys.json", "the file that the log names is gone")
        return
    present = describe_token_keys("", open_keys(settings).refresh())
    if (last.target, last.digest) != (present.target, present.digest):
        yield LogFinding(
            "token_keys_replaced",
            "exam-keys.json",
            "its key is not the one that the log names (`proctor exam keys confirm` if that was you)",
        )
