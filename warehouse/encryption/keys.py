"""The keys that encrypt what is at rest: they come from outside the home, several at once, the newest encrypts.

A key file is JSON: `{"form": 1, "keys": [{"key_id", "made_at", "secret"}, …]}`, the newest last, each secret 32 bytes in base64. A
key service prints the same.
"""

from __future__ import annotations

import base64
import binascii
import fcntl
import hashlib
import json
import os
import secrets
import shlex
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import Final

from schemas.errors import StoreError, UsageError
from schemas.settings import Settings
from warehouse.stores.secrets import check_owner_only, create_secret_file, replace_secret_file

FORM: Final = 1
KEY_BYTES: Final = 32
_COMMAND_SECONDS: Final = 30
_WAY_OUT: Final = "If others may have read it, make a new key with `proctor encryption new-key` and run `proctor encryption rotate`."


@dataclass(frozen=True, slots=True)
class EncryptionKey:
    """One key (AES-256).

    Attributes:
        key_id: the first 16 digits of a SHA-256 over the key: it names the key and shows one that was mistyped.
        made_at: when it was made, in UTC.
        secret: 32 bytes.
    """

    key_id: str
    made_at: datetime
    secret: bytes = field(repr=False)


@dataclass(frozen=True, slots=True)
class KeyRing:
    """The keys that are given to this process.

    Attributes:
        keys: at least one, the newest last.
        source: where they come from, as it may be shown.
    """

    keys: tuple[EncryptionKey, ...]
    source: str

    @property
    def newest(self) -> EncryptionKey:
        """The key that encrypts."""
        return self.keys[-1]

    def get(self, key_id: str, what: str) -> EncryptionKey:
        """The key of that name, to read `what`; raises StoreError where it is not among those given."""
        for key in self.keys:
            if key.key_id == key_id:
                return key
        held = ", ".join(key.key_id for key in self.keys)
        raise StoreError(
            f"{what} was encrypted with key {key_id}, which is not given: {self.source} has {held}. Give the keys that have it "
            "in PROCTOR_ENCRYPTION_KEY_FILE."
        )


def read_key_ring(settings: Settings) -> KeyRing | None:
    """The keys that settings name; null where none are set.

    Raises UsageError for settings that contradict each other or a file inside the home, StoreError for a file that is missing,
    malformed or open to others, and for a command that fails.
    """
    path, command = settings.encryption_key_file, settings.encryption_key_command
    if path is not None and command is not None:
        raise UsageError(
            "PROCTOR_ENCRYPTION_KEY_FILE and PROCTOR_ENCRYPTION_KEY_COMMAND are both set. Set one of them."
        )
    if path is not None:
        check_outside(settings, path)
        return _read_key_file(path.expanduser())
    return None if command is None else _ask_for_keys(command)


def require_key_ring(settings: Settings, why: str) -> KeyRing:
    """The keys that settings name; raises StoreError, which begins with `why`, where none are set."""
    ring = read_key_ring(settings)
    if ring is None:
        raise StoreError(
            f"{why}, and no key is given. Set PROCTOR_ENCRYPTION_KEY_FILE, or PROCTOR_ENCRYPTION_KEY_COMMAND."
        )
    return ring


def check_outside(settings: Settings, path: Path) -> None:
    """Pass for a key file outside the home and what belongs to it; raises UsageError.

    A key beside what it encrypts is copied, backed up and stolen with it.
    """
    place = path.expanduser().resolve()
    folders = [settings.home, settings.archive_dir, settings.secrets_path]
    if "://" not in settings.data_address:
        folders.append(Path(settings.data_address))
    for folder in folders:
        if place.is_relative_to(folder.resolve()):
            raise UsageError(
                f"The key file {place} lies inside {folder.resolve()}, beside what it is to protect. Move it out of there, "
                "best to another disk, and set PROCTOR_ENCRYPTION_KEY_FILE to its place."
            )


def add_key(settings: Settings, path: Path) -> EncryptionKey:
    """Make a key and add it to the key file, which is made when there is none; from then on the new key encrypts.

    Raises as `read_key_ring` does; an existing file is replaced whole or not at all.
    """
    check_outside(settings, path)
    path = path.expanduser()
    secret = secrets.token_bytes(KEY_BYTES)
    made = EncryptionKey(_name_key(secret), datetime.now(UTC).replace(microsecond=0), secret)
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with _hold_folder(path.parent):
            if path.exists():
                keys = (*_read_key_file(path).keys, made)
                replace_secret_file(path, _render_keys(keys))
            else:
                create_secret_file(path, _render_keys((made,)))
    except OSError as error:
        raise UsageError(
            f"The key file {path} cannot be written ({error.strerror}); choose another place."
        ) from None
    return made


def _render_keys(keys: tuple[EncryptionKey, ...]) -> str:
    return json.dumps(
        {
            "form": FORM,
            "keys": [
                {
                    "key_id": key.key_id,
                    "made_at": key.made_at.strftime("%Y-%m-%dT%H:%M:%SZ"),
                    "secret": base64.b64encode(key.secret).decode(),
                }
                for key in keys
            ],
        },
        indent=1,
    )


def _read_key_file(path: Path) -> KeyRing:
    try:
        status = path.stat()
        check_owner_only(path, _WAY_OUT)
        if os.name == "posix" and status.st_uid not in (os.geteuid(), 0):
            raise StoreError(
                f"The key file {path} belongs to another user, who can replace it. Make it your own."
            )
        text = path.read_bytes()
    except OSError as error:
        raise StoreError(
            f"The key file {path} cannot be read ({error.strerror}). Check PROCTOR_ENCRYPTION_KEY_FILE; "
            "`proctor encryption new-key FILE` makes one."
        ) from None
    return _parse_keys(text, f"the key file {path}")


@lru_cache(maxsize=4)
def _ask_for_keys(command: str) -> KeyRing:
    """What a key service prints, asked once in a process. Neither what it prints nor the command is ever shown."""
    what = "the command of PROCTOR_ENCRYPTION_KEY_COMMAND"
    try:
        words = shlex.split(command)
        done = subprocess.run(
            words, capture_output=True, timeout=_COMMAND_SECONDS, stdin=subprocess.DEVNULL, check=False
        )
    except (OSError, ValueError, IndexError) as error:
        raise StoreError(f"{_begin(what)} cannot be run ({type(error).__name__}). Correct it.") from None
    except subprocess.TimeoutExpired:
        raise StoreError(f"{_begin(what)} gave no keys within {_COMMAND_SECONDS} seconds.") from None
    if done.returncode:
        raise StoreError(
            f"{_begin(what)} failed with exit code {done.returncode}. Run it by hand to see why."
        )
    return _parse_keys(done.stdout, what)


def _parse_keys(text: bytes, source: str) -> KeyRing:
    """The keys of a key file. What is wrong is described without a character of it."""
    fault = StoreError(
        f"{_begin(source)} does not give keys as `proctor encryption new-key` writes them. Restore it from your copy: "
        "without its keys what they encrypted cannot be read by anybody."
    )
    try:
        content = json.loads(text)
        if content["form"] != FORM or not content["keys"]:
            raise fault
        keys = tuple(
            EncryptionKey(
                str(one["key_id"]),
                datetime.fromisoformat(one["made_at"]).astimezone(UTC),
                base64.b64decode(one["secret"], validate=True),
            )
            for one in content["keys"]
        )
    except (ValueError, KeyError, TypeError, AttributeError, binascii.Error):
        raise fault from None
    if any(len(key.secret) != KEY_BYTES or key.key_id != _name_key(key.secret) for key in keys):
        raise fault
    return KeyRing(keys, source)


def _name_key(secret: bytes) -> str:
    return hashlib.sha256(b"proctor encryption key\0" + secret).hexdigest()[:16]


@contextmanager
def _hold_folder(folder: Path) -> Iterator[None]:
    """One process at a time adds a key, without a file of its own for it."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _begin(text: str) -> str:
    return text[0].upper() + text[1:]
