"""The keys that sign tokens, in a file of its own.

It has the present key, and former ones that are still believed. A running server looks at the file once a second. A new key
signs from then on; what a former key signed is believed until its end. Who deletes the file ends every token at once: a new
file, with another issuer and another key, takes its place.
"""

from __future__ import annotations

import json
import secrets
import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from schemas.errors import StoreError
from schemas.settings import Settings
from tasks.running.claiming import hold_work
from warehouse.stores.secrets import LENGTH, check_owner_only, create_secret_file, replace_secret_file

# How old what a process knows of keys and of ended tokens may be.
FRESH_S: Final = 1.0
_WAY_OUT: Final = "Delete it otherwise; all tokens must then be issued again."
_Stamp = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class SigningKey:
    """A key: its name in a token's header, and how long what it signed is believed.

    Attributes:
        key_id: name of the key; no secret.
        secret: 64 hexadecimal digits.
        ends_at: Unix time of its end; null for the key that signs.
    """

    key_id: str
    secret: bytes = field(repr=False)
    made_at: float
    ends_at: float | None


@dataclass(frozen=True, slots=True)
class KeySet:
    """The keys of an installation, the present one first.

    Attributes:
        issuer: the installation's name in its tokens.
        lease_secret: what the lease secrets of in-house sittings are derived from; the same whatever key signs.
    """

    issuer: str
    lease_secret: bytes = field(repr=False)
    keys: tuple[SigningKey, ...]

    @property
    def present(self) -> SigningKey:
        """The key that signs."""
        return self.keys[0]

    def find(self, key_id: str) -> SigningKey | None:
        """The key of that name; null when there is none."""
        return next((key for key in self.keys if key.key_id == key_id), None)


class KeyFile:
    """The key set of a home, read again when its file changes; made when there is none.

    Args:
        path: where it lies.
        longest_s: most seconds that a token lives, whatever was asked.
        tick: seconds of a clock that never goes back.
    """

    def __init__(self, path: Path, longest_s: int, tick: Callable[[], float] = time.monotonic) -> None:
        self.path = path
        self.longest_s = longest_s
        self._tick = tick
        self._known: tuple[float, _Stamp, KeySet] | None = None

    def read(self) -> KeySet:
        """The keys as they were at most a second ago.

        It is the same object as long as they have not changed. Raises StoreError when others may read the
        file, or when it is damaged.
        """
        known = self._known
        if known is not None and 0 <= self._tick() - known[0] < FRESH_S:
            return known[2]
        return self.refresh()

    def refresh(self) -> KeySet:
        """The keys as they are now."""
        looked_at = self._tick()
        try:
            stamp = self._look()
        except FileNotFoundError:
            issuer, cursor = f"proctor-{uuid.uuid4()}", secrets.token_hex(LENGTH // 2).encode()
            create_secret_file(self.path, _write_keys(KeySet(issuer, cursor, (_make_key(time.time()),))))
            stamp = self._look()
        known = self._known
        found = known[2] if known is not None and known[1] == stamp else _read_keys(self.path)
        self._known = (looked_at, stamp, found)
        return found

    def _look(self) -> _Stamp:
        """What differs when the file was replaced or changed."""
        status = self.path.stat()
        return status.st_ino, status.st_mtime_ns, status.st_size


def open_keys(settings: Settings) -> KeyFile:
    """The signing keys of the installation, `exam-keys.json` among its secrets."""
    return KeyFile(settings.secrets_path / "exam-keys.json", settings.token_longest_s)


def rotate_keys(settings: Settings, *, ends_former: bool, now: float) -> KeySet:
    """Put a new key in the place of the present one; former ones end now, or with their tokens."""
    with hold_work(settings, "keys", "exam", what="changing the keys of the exam", wait_s=30):
        file = open_keys(settings)
        before = file.refresh()
        former: tuple[SigningKey, ...] = ()
        if not ends_former:
            ended = replace(before.present, ends_at=now + settings.token_longest_s)
            former = (ended, *(key for key in before.keys[1:] if (key.ends_at or 0.0) > now))
        after = replace(before, keys=(_make_key(now), *former))
        replace_secret_file(file.path, _write_keys(after))
        return file.refresh()


def _make_key(now: float) -> SigningKey:
    return SigningKey(secrets.token_hex(8), secrets.token_hex(LENGTH // 2).encode(), now, None)


def _write_keys(keys: KeySet) -> str:
    rows = [
        {"key_id": key.key_id, "secret": key.secret.decode(), "made_at": key.made_at, "ends_at": key.ends_at}
        for key in keys.keys
    ]
    whole = {"issuer": keys.issuer, "lease_secret": keys.lease_secret.decode(), "keys": rows}
    return json.dumps(whole, indent=2)


def _read_keys(path: Path) -> KeySet:
    check_owner_only(path, _WAY_OUT)
    try:
        whole: dict[str, Any] = json.loads(path.read_bytes())
        keys = tuple(
            SigningKey(str(row["key_id"]), _read_secret(row["secret"]), float(row["made_at"]), row["ends_at"])
            for row in whole["keys"]
        )
        found = KeySet(str(whole["issuer"]), _read_secret(whole["lease_secret"]), keys)
    except (ValueError, KeyError, TypeError, AttributeError):
        raise _damaged(path) from None
    # Exactly the first one signs: a file put together by hand must not bring a former key back.
    if not keys or keys[0].ends_at is not None or any(key.ends_at is None for key in keys[1:]):
        raise _damaged(path)
    return found


def _read_secret(text: str) -> bytes:
    if len(text) < LENGTH:
        raise ValueError(text)
    return text.encode()


def _damaged(path: Path) -> StoreError:
    return StoreError(f"{path} is not a file of keys. Restore it from a backup. {_WAY_OUT}")
