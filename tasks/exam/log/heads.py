"""Heads of the audit log, signed and kept twice: in the ledger and in a file of the home.

The owner of the ledger need not hold that file. `secrets/log-heads.jsonl` has one signed head a line, as the ledger has
it. Copy it, line by line, to where nobody of this installation can change it: the log cannot be rewritten unseen beyond
the last line that is there.
"""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Iterator, Sequence
from concurrent.futures import Future
from pathlib import Path
from typing import Final

from schemas.errors import StoreError
from schemas.ledger.trust import LogKey, SignedHead
from schemas.settings import Settings
from tasks.exam.log.signing import LogSigner, describe_head, open_signer, stamp_key
from tasks.exam.protocol.tokens import KeySet, open_keys
from warehouse.ledger.engine.ledger import Connection, Ledger
from warehouse.ledger.engine.logs.chain import Entry, add_entry
from warehouse.ledger.engine.logs.digests import digest_text
from warehouse.ledger.engine.logs.public_log import KEY, add_public_entry, is_key_ended
from warehouse.ledger.engine.moments import now_text
from warehouse.ledger.trust import access
from warehouse.stores.shared_files import EXAM_KEYS, KEYS, SharedFile, read_shared_files

# Entries that say which keys sign tokens: as they were found first, and as they were changed since.
TOKEN_KEY_ACTIONS: Final = ("token_keys", "rotate_keys", "confirm_keys")
# The same of each other key; where hosts share them, one that is accepted for all is the one that counts.
HOME_KEY_ACTIONS: Final = ("home_key", "confirm_home_key", "accept_file")
LOG_KEY_ACTIONS: Final = ("log_key", "confirm_log_key", "rotate_log_key")
REPLACED: Final = "replaced"
# Keys of which the log has a fingerprint of the file; that of the token keys changes with each rotation.
HOME_KEYS: Final = tuple(name for name in KEYS if name != EXAM_KEYS)
_log = logging.getLogger("proctor.exam_api")


class HeadKeeper:
    """Signs heads for one process, with the key that counts at that moment."""

    def __init__(self, ledger: Ledger, settings: Settings) -> None:
        self._settings = settings
        self._stamp = stamp_key(settings)
        self._signer = open_signer(settings)
        self._ledger = ledger
        self._path = name_heads_file(settings)
        self._is_asked = False
        # The exam API keeps heads, too, and opens no key but its own. In the server form it has a home of its own: until that
        # has kept a head, its key takes nobody's place.
        is_new_door = not ledger.is_whole and not self._path.exists()
        _note_signer(ledger, settings, self._signer, joins=is_new_door)

    @property
    def signer(self) -> LogSigner:
        """The home's key as it is now; StoreError while another takes its place, or if unnamed."""
        stamp = stamp_key(self._settings)
        if stamp != self._stamp:
            signer = open_signer(self._settings)
            with self._ledger.read() as connection:
                known = {key.key_id for key in access.list_log_keys(connection)}
            if signer.key_id not in known:
                raise StoreError(
                    f"The log's key was exchanged for {signer.key_id}, which no log names. Put the former back, or start this server again: "
                    "it is then added, and the audit names it."
                )
            self._signer, self._stamp = signer, stamp
        return self._signer

    def keep_soon(self) -> None:
        """Sign the head after what is being committed now: one head for many who ask, and no wait."""
        if self._is_asked:
            return
        self._is_asked = True

        def operation(connection: Connection) -> bool:
            self._is_asked = False
            return _write_head(connection, self.signer, self._path)

        self._ledger.writer.submit(operation).add_done_callback(self._note_end)

    def _note_end(self, done: Future[bool]) -> None:
        # Where the ledger could not be written it has not begun: whoever asks next is heard all the same.
        self._is_asked = False
        if (error := done.exception()) is not None:
            reason = str(error) if isinstance(error, StoreError) else type(error).__name__
            _log.error("The head of the audit log is not signed: %s", reason)

    def keep(self) -> bool:
        """Sign the last entry of the log; false when only the entry of the last signing came after."""
        with self._ledger.write() as connection:
            return _write_head(connection, self.signer, self._path)


def keep_head(ledger: Ledger, settings: Settings) -> bool:
    """Sign the last entry of the log and keep it; false when there is none to sign."""
    keeper = HeadKeeper(ledger, settings)
    _note_home_keys(ledger, settings)
    return keeper.keep()


def _write_head(connection: Connection, signer: LogSigner, path: Path) -> bool:
    """What is signed is the last entry that is committed; the file has it before the ledger."""
    head = access.read_head(connection)
    last = access.read_last_signed(connection)
    # The entry that says that a head was signed needs no head of its own.
    if head.number == 0 or (last is not None and head.number <= last + 1):
        return False
    if is_key_ended(connection, signer.key_id):
        raise StoreError(
            f"Key {signer.key_id} signs no more: another took its place. Name that one (PROCTOR_LOG_SIGNER, PROCTOR_LOG_PUBLIC_KEY), or "
            "delete the former key's file, and start this server again."
        )
    signed_at = now_text()
    signature = signer.sign(describe_head(head.number, head.entry_hash, signer.key_id, signed_at))
    signed = SignedHead(
        number=head.number,
        entry_hash=head.entry_hash,
        key_id=signer.key_id,
        signed_at=signed_at,
        signature=signature,
    )
    if not access.write_signed_head(connection, signed):
        return False
    _append_heads(path, [signed])
    add_entry(connection, Entry("sign_head", target=str(head.number), digest=digest_text(signature)))
    return True


def copy_heads(ledger: Ledger, settings: Settings) -> int:
    """Write what the file of heads lacks of this home's own, after a restore; returns how many."""
    signer = open_signer(settings)
    known = {head.number for head in iter_kept_heads(settings) if head is not None}
    with ledger.read() as connection:
        missing = [
            head
            for head in access.iter_signed_heads(connection)
            if head.key_id == signer.key_id and head.number not in known
        ]
    _append_heads(name_heads_file(settings), missing)
    return len(missing)


def _append_heads(path: Path, heads: Sequence[SignedHead]) -> None:
    text = "".join(json.dumps(head.as_values(), separators=(",", ":")) + "\n" for head in heads)
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    # One call: of two processes that append at once, each writes whole lines.
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    try:
        os.write(descriptor, text.encode())
    finally:
        os.close(descriptor)


def name_heads_file(settings: Settings) -> Path:
    """Where this home keeps the heads that it signed."""
    return settings.home / "secrets" / "log-heads.jsonl"


def iter_kept_heads(settings: Settings) -> Iterator[SignedHead | None]:
    """The heads in the file (none without it), in its order; None for a line that is no head."""
    path = name_heads_file(settings)
    if not path.exists():
        return
    with path.open("rb") as file:
        for line in file:
            try:
                yield SignedHead(**json.loads(line))
            except (ValueError, TypeError):
                yield None


def note_keys(ledger: Ledger, settings: Settings, signer: LogSigner, *, joins: bool = False) -> None:
    """Name the keys of this home in the audit log and the public log before they are used.

    Each key is named once. A key that signs heads and comes after another took its place, unless it is that of a host that `joins`: neither
    host nor path says whose it is, since both may change.
    """
    _note_home_keys(ledger, settings)
    _note_signer(ledger, settings, signer, joins=joins)


def _note_home_keys(ledger: Ledger, settings: Settings) -> None:
    present = [file for file in read_shared_files(settings, HOME_KEYS) if file.fingerprint is not None]
    with ledger.read() as connection:
        named = {row.target for row in access.iter_targets(connection, HOME_KEY_ACTIONS)}
    new = [file for file in present if file.name not in named]
    if new:
        with ledger.write() as connection:
            for file in new:
                add_entry(connection, _describe_home_key("home_key", file))


def _note_signer(ledger: Ledger, settings: Settings, signer: LogSigner, *, joins: bool = False) -> None:
    with ledger.read() as connection:
        known = {key.key_id for key in access.list_log_keys(connection)}
    if signer.key_id in known:
        return
    keys = open_keys(settings).read()
    with ledger.write() as connection:
        is_first = not access.list_log_keys(connection)
        key = LogKey(
            key_id=signer.key_id, public_key=signer.public_key, place=signer.place, added_at=now_text()
        )
        if not access.write_log_key(connection, key):
            return
        add_public_entry(connection, KEY, {"key": signer.key_id, "public_key": signer.public_key})
        add_entry(connection, describe_log_key("log_key", signer, None if is_first or joins else REPLACED))
        if is_first:
            add_entry(connection, describe_token_keys("token_keys", keys))


def confirm_keys(ledger: Ledger, settings: Settings) -> None:
    """Note that the keys of this home are as they should be, although no command changed them."""
    signer = open_signer(settings)
    note_keys(ledger, settings, signer)
    with ledger.write() as connection:
        add_entry(connection, describe_log_key("confirm_log_key", signer))
        keys = open_keys(settings).refresh()
        add_entry(connection, describe_token_keys("confirm_keys", keys))
        for file in read_shared_files(settings, HOME_KEYS):
            if file.fingerprint is not None:
                add_entry(connection, _describe_home_key("confirm_home_key", file))


def describe_log_key(action: str, signer: LogSigner, code: str | None = None) -> Entry:
    """The entry that names the key of a home."""
    digest = digest_text(signer.public_key)
    return Entry(action, target=signer.key_id, code=code, digest=digest, is_by_caller=True)


def _describe_home_key(action: str, file: SharedFile) -> Entry:
    """The entry that names another key; of the secret it has a fingerprint alone."""
    return Entry(action, target=file.name, digest=file.fingerprint, is_by_caller=True)


def describe_token_keys(action: str, keys: KeySet) -> Entry:
    """The entry that names the key that signs tokens; of the secret it has the hash alone."""
    key = keys.present
    digest = digest_text(f"{keys.issuer} {key.key_id} {key.secret.decode()}")
    return Entry(action, target=key.key_id, digest=digest, is_by_caller=True)
