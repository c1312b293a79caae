"""Encrypted files as streams: AES-256-GCM in chunks, with an authenticated order, end and name.

A file is a header (form, key id, salt) and chunks. Its own key is derived from the key that is named, the salt and the name under
which the file is kept (HKDF, RFC 5869), so that a file that lies under another name is not read. The nonce of a chunk is its
number and whether it is the last one (STREAM: Hoang, Reyhanitabar, Rogaway, Vizár, CRYPTO 2015), so that chunks that are missing,
added or exchanged are found. The header is authenticated with every chunk.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator
from typing import BinaryIO, Final

from schemas.errors import StoreError
from warehouse.encryption.keys import EncryptionKey, KeyRing

MAGIC: Final = b"PROCTOR-ENCRYPTED-1\n"
CHUNK: Final = 256 * 1024
_KEY_ID_BYTES: Final = 8
_SALT_BYTES: Final = 32
_TAG_BYTES: Final = 16
HEADER_BYTES: Final = len(MAGIC) + _KEY_ID_BYTES + _SALT_BYTES


def encrypt_chunks(blocks: Iterable[bytes], key: EncryptionKey, name: str) -> Iterator[bytes]:
    """The encrypted form of the bytes in `blocks`, whatever their lengths, to be kept under `name`."""
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    salt = os.urandom(_SALT_BYTES)
    header = MAGIC + bytes.fromhex(key.key_id) + salt
    cipher = AESGCM(_derive(key, salt, name))
    yield header
    for number, (chunk, is_last) in enumerate(_mark_last(_cut(blocks, CHUNK))):
        yield cipher.encrypt(_number(number, is_last), chunk, header)


def decrypt_chunks(source: BinaryIO, ring: KeyRing, name: str, what: str) -> Iterator[bytes]:
    """The content of an encrypted file, a chunk at a time; `what` names it in errors.

    A chunk that is given out is what was encrypted, but only at the end is it known that none is missing: take back what was made
    of them when StoreError is raised, for a file that is damaged, cut off, not the one of its name, or of a key that is not given.
    """
    from cryptography.exceptions import InvalidTag
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    header = source.read(HEADER_BYTES)
    key_id = parse_key_id(header)
    if key_id is None:
        raise StoreError(
            f"{what} is no encrypted file, or its beginning is damaged. Take another copy of it."
        )
    key = ring.get(key_id, what)
    cipher = AESGCM(_derive(key, header[-_SALT_BYTES:], name))
    for number, (chunk, is_last) in enumerate(_mark_last(_cut(_read(source), CHUNK + _TAG_BYTES))):
        try:
            yield cipher.decrypt(_number(number, is_last), chunk, header)
        except InvalidTag:
            raise StoreError(
                f"{what} is damaged, cut off, or not the file of its name (chunk {number + 1}). Take another copy of it."
            ) from None


def parse_key_id(header: bytes) -> str | None:
    """The key that a file which begins with `header` was encrypted with; null for what is no encrypted file."""
    if len(header) < HEADER_BYTES or not header.startswith(MAGIC):
        return None
    return header[len(MAGIC) : len(MAGIC) + _KEY_ID_BYTES].hex()


class Measure:
    """Counts and hashes bytes that pass."""

    def __init__(self) -> None:
        self.size = 0
        self._digest = hashlib.sha256()

    def pass_on(self, blocks: Iterable[bytes]) -> Iterator[bytes]:
        """The same blocks."""
        for block in blocks:
            self.size += len(block)
            self._digest.update(block)
            yield block

    @property
    def sha256(self) -> str:
        """SHA-256 of what has passed, in hex."""
        return self._digest.hexdigest()


def read_blocks(source: BinaryIO) -> Iterator[bytes]:
    """What is left of a file, in blocks."""
    return _read(source)


def _derive(key: EncryptionKey, salt: bytes, name: str) -> bytes:
    from cryptography.hazmat.primitives.hashes import SHA256
    from cryptography.hazmat.primitives.kdf.hkdf import HKDF

    info = b"proctor encrypted file 1\0" + name.encode()
    return HKDF(algorithm=SHA256(), length=32, salt=salt, info=info).derive(key.secret)


def _number(number: int, is_last: bool) -> bytes:
    return number.to_bytes(11, "big") + bytes([is_last])


def _read(source: BinaryIO) -> Iterator[bytes]:
    while block := source.read(CHUNK):
        yield block


def _cut(blocks: Iterable[bytes], size: int) -> Iterator[bytes]:
    """The same bytes in pieces of `size`, the last one shorter; one empty piece where there are none."""
    waiting = bytearray()
    is_empty = True
    for block in blocks:
        waiting += block
        while len(waiting) >= size:
            yield bytes(waiting[:size])
            del waiting[:size]
            is_empty = False
    if waiting or is_empty:
        yield bytes(waiting)


def _mark_last(pieces: Iterable[bytes]) -> Iterator[tuple[bytes, bool]]:
    iterator = iter(pieces)
    held = next(iterator)
    for piece in iterator:
        yield held, False
        held = piece
    yield held, True
