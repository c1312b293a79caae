"""The form of an encrypted file, held to a reader written from its description alone, and every way to break one."""

from __future__ import annotations

import hashlib
import hmac
import io
import os
from datetime import UTC, datetime

import pytest
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from schemas.errors import StoreError
from warehouse.encryption.keys import EncryptionKey, KeyRing
from warehouse.encryption.stream import CHUNK, HEADER_BYTES, decrypt_chunks, encrypt_chunks

TAG = 16


def make_ring(*secrets: bytes) -> KeyRing:
    made = datetime(2026, 11, 1, tzinfo=UTC)
    names = [hashlib.sha256(b"proctor encryption key\0" + secret).hexdigest()[:16] for secret in secrets]
    return KeyRing(
        tuple(EncryptionKey(name, made, secret) for name, secret in zip(names, secrets, strict=True)),
        "a test",
    )


RING = make_ring(bytes(range(32)))


def encrypt(data: bytes, name: str = "a.pdf", ring: KeyRing = RING) -> bytes:
    return b"".join(encrypt_chunks([data], ring.newest, name))


def decrypt(data: bytes, name: str = "a.pdf", ring: KeyRing = RING) -> bytes:
    return b"".join(decrypt_chunks(io.BytesIO(data), ring, name, "the file"))


def read_by_the_book(data: bytes, secret: bytes, name: str) -> bytes:
    """docs/encryption.md in a few lines, HKDF by RFC 5869's own formulas."""
    header, body = data[:60], data[60:]
    assert header[:20] == b"PROCTOR-ENCRYPTED-1\n"
    assert header[20:28].hex() == hashlib.sha256(b"proctor encryption key\0" + secret).hexdigest()[:16]
    extracted = hmac.digest(header[28:60], secret, "sha256")
    key = hmac.digest(extracted, b"proctor encrypted file 1\0" + name.encode() + b"\1", "sha256")
    pieces = [body[at : at + 262_144 + 16] for at in range(0, len(body), 262_144 + 16)]
    return b"".join(
        AESGCM(key).decrypt(
            number.to_bytes(11, "big") + (b"\1" if number == len(pieces) - 1 else b"\0"), piece, header
        )
        for number, piece in enumerate(pieces)
    )


@pytest.mark.parametrize("size", [0, 1, CHUNK - 1, CHUNK, CHUNK + 1, 3 * CHUNK, 3 * CHUNK + 17])
def test_a_file_is_read_back_here_and_by_its_description(size: int) -> None:
    data = os.urandom(size)
    encrypted = encrypt(data)
    assert len(encrypted) == HEADER_BYTES + size + TAG * max(1, -(-size // CHUNK))
    assert decrypt(encrypted) == data
    assert read_by_the_book(encrypted, bytes(range(32)), "a.pdf") == data


def test_the_same_content_is_never_encrypted_alike_and_blocks_may_have_any_length() -> None:
    data = os.urandom(CHUNK + 100)
    assert encrypt(data)[HEADER_BYTES:] != encrypt(data)[HEADER_BYTES:]
    small = b"".join(
        encrypt_chunks((data[at : at + 999] for at in range(0, len(data), 999)), RING.newest, "a.pdf")
    )
    assert decrypt(small) == data


WHOLE = encrypt(bytes(3 * CHUNK + 5))
PIECE = CHUNK + TAG
HEAD, BODY = WHOLE[:HEADER_BYTES], WHOLE[HEADER_BYTES:]


@pytest.mark.parametrize(
    "broken",
    [
        WHOLE[:-1],
        HEAD + BODY[:PIECE],
        HEAD + BODY[: 3 * PIECE],
        HEAD,
        WHOLE + b"\0",
        WHOLE + BODY[-(5 + TAG) :],
        HEAD + BODY[PIECE : 2 * PIECE] + BODY[:PIECE] + BODY[2 * PIECE :],
        HEAD + BODY[PIECE:],
        WHOLE[:30] + bytes([WHOLE[30] ^ 1]) + WHOLE[31:],
        WHOLE[: HEADER_BYTES + 9] + bytes([WHOLE[HEADER_BYTES + 9] ^ 1]) + WHOLE[HEADER_BYTES + 10 :],
        encrypt(bytes(3 * CHUNK + 5), "b.pdf"),
        HEAD + encrypt(bytes(3 * CHUNK + 5))[HEADER_BYTES:],
    ],
    ids=[
        "a byte short", "one chunk of four", "cut between chunks", "no chunk", "a byte longer", "the end twice",
        "chunks exchanged", "the first chunk missing", "another salt", "a bit of a chunk", "under another name",
        "another file's chunks",
    ],
)  # fmt: skip
def test_a_file_that_was_changed_is_found(broken: bytes) -> None:
    with pytest.raises(StoreError, match="the file is damaged, cut off, or not the file of its name"):
        decrypt(broken)


@pytest.mark.parametrize(
    "broken",
    [b"", WHOLE[:40], b"%PDF-1.7 " + bytes(100), b"p" + WHOLE[1:]],
    ids=["nothing", "a head alone", "a PDF", "another first letter"],
)
def test_what_is_no_encrypted_file_is_said_so(broken: bytes) -> None:
    with pytest.raises(StoreError, match="the file is no encrypted file"):
        decrypt(broken)


def test_a_key_that_is_not_given_is_named_and_an_older_one_still_reads() -> None:
    old, new = bytes(32), bytes(range(1, 33))
    encrypted = encrypt(b"text", ring=make_ring(old))
    assert decrypt(encrypted, ring=make_ring(old, new)) == b"text"
    with pytest.raises(
        StoreError, match=rf"encrypted with key {make_ring(old).newest.key_id}, which is not given"
    ):
        decrypt(encrypted, ring=make_ring(new))
