"""Who signs with a key that this home does not hold: an SSH agent, or a program.

An agent (ssh-agent, gpg-agent, the agent of a hardware key) is asked by its own protocol (draft-ietf-sshm-ssh-agent, sections 3.5 and
3.6); what it returns for an Ed25519 key is a plain signature by RFC 8032. A program is given the bytes on its standard input and prints the
signature: 64 bytes, or these in base64. So PKCS#11 is reached (pkcs11-tool), and the signing service of a vault.
"""

from __future__ import annotations

import base64
import binascii
import os
import socket
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Final

from schemas.asked_secrets import COMMAND, ask_program, name_program
from schemas.errors import StoreError, UsageError

AGENT: Final = "agent"
# Somebody may have to touch a key.
LIMIT_S: Final = 30.0
_SIGN_REQUEST, _SIGN_RESPONSE = 13, 14
_KEY_TYPE: Final = b"ssh-ed25519"
_SIGNATURE_BYTES: Final = 64
_MOST_BYTES: Final = 16_384


def open_holder(named: str, public_key: bytes) -> Callable[[bytes], bytes]:
    """What signs with the key: `agent`, `agent:SOCKET` or `command:PROGRAM ARGUMENT …`.

    Nobody is asked yet. What it returns raises StoreError where the holder does not answer, or not with a signature; raises UsageError for other words.
    """
    kind, _, rest = named.partition(":")
    if kind == AGENT:
        place = rest or os.environ.get("SSH_AUTH_SOCK", "")
        if not place:
            raise UsageError(
                "PROCTOR_LOG_SIGNER names an SSH agent, and SSH_AUTH_SOCK is not set. Start one, or name its socket: agent:/run/…"
            )
        return lambda message: _ask_agent(Path(place), public_key, message)
    if named.startswith(COMMAND):
        return lambda message: _ask_command(rest, message)
    raise UsageError(
        f"PROCTOR_LOG_SIGNER is {kind!r}: write agent, agent:SOCKET, or command:PROGRAM ARGUMENT …."
    )


def _ask_agent(place: Path, public_key: bytes, message: bytes) -> bytes:
    blob = _pack(_KEY_TYPE) + _pack(public_key)
    request = bytes([_SIGN_REQUEST]) + _pack(blob) + _pack(message) + struct.pack(">I", 0)
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as channel:
            channel.settimeout(LIMIT_S)
            channel.connect(str(place))
            channel.sendall(_pack(request))
            (length,) = struct.unpack(">I", _receive(channel, 4))
            if not 1 <= length <= _MOST_BYTES:
                raise StoreError(f"What listens at {place} is no SSH agent: it answered with {length} bytes.")
            reply = _receive(channel, length)
    except OSError as error:
        raise StoreError(
            f"The SSH agent at {place} does not sign ({error.strerror or type(error).__name__}). Start it, and add the key (ssh-add)."
        ) from None
    if reply[0] != _SIGN_RESPONSE:
        raise StoreError(
            f"The SSH agent at {place} refuses to sign: it has not the key of PROCTOR_LOG_PUBLIC_KEY (ssh-add -L lists those that it "
            "has), is locked, or somebody declined."
        )
    try:
        signed, _ = _unpack(reply[1:])
        kind, rest = _unpack(signed)
        signature, _ = _unpack(rest)
    except ValueError:
        kind, signature = b"", b""
    if kind != _KEY_TYPE or len(signature) != _SIGNATURE_BYTES:
        raise StoreError(f"The SSH agent at {place} answered with something that is no Ed25519 signature.")
    return signature


def _ask_command(command: str, message: bytes) -> bytes:
    found = ask_program(command, LIMIT_S, message)
    if len(found) == _SIGNATURE_BYTES:
        return found
    try:
        signature = base64.b64decode(found.strip(), validate=True)
    except (ValueError, binascii.Error):
        signature = b""
    if len(signature) != _SIGNATURE_BYTES:
        raise StoreError(
            f"{name_program(command)} printed no Ed25519 signature: it is to print the 64 bytes, or them in base64."
        )
    return signature


def _pack(value: bytes) -> bytes:
    return struct.pack(">I", len(value)) + value


def _unpack(value: bytes) -> tuple[bytes, bytes]:
    """The string at the beginning, and what follows; raises ValueError where it is cut."""
    length = int.from_bytes(value[:4], "big")
    if len(value) < 4 + length:
        raise ValueError("cut")
    return value[4 : 4 + length], value[4 + length :]


def _receive(channel: socket.socket, count: int) -> bytes:
    found = bytearray()
    while len(found) < count:
        chunk = channel.recv(count - len(found))
        if not chunk:
            raise ConnectionResetError(0, "it closed the connection")
        found += chunk
    return bytes(found)
