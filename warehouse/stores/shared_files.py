"""What the hosts of an installation must have alike, and whether this host has the same.

These are its keys, the registry, and the archive.

The ledger keeps a fingerprint of each. Of a key it is a digest keyed with the key itself, 256 random bits, from which
the key cannot be computed. Only a ledger on a server has several hosts; with an embedded one nothing is noted or compared.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import platform
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from schemas.errors import UsageError
from schemas.settings import Settings
from warehouse.ledger.engine.sides import find_ledger_file

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from schemas.ledger.engine import NotedFile
    from warehouse.ledger.engine.ledger import Ledger

EXAM_KEYS: Final = "exam-keys.json"
REGISTRY: Final = "models.yaml"
ARCHIVE: Final = "archive"
# In the archive's folder: the random mark by which one folder is known from another.
ARCHIVE_MARK: Final = ".archive-id"
# Files of the folder of keys, with what hosts that differ in one would do.
KEYS: Final[Mapping[str, str]] = MappingProxyType(
    {
        EXAM_KEYS: "one host would not believe the tokens of the other",
        "blinding-key": "what one host seals could not be proved by the other",
        "league": "each host would draw a league in another way",
        "review_gold": "each host would draw known questions in another way",
        "web-cookie.key": "a person signed in at one host would be signed out at the other",
    }
)
_HARM: Final[Mapping[str, str]] = MappingProxyType(
    {
        **KEYS,
        REGISTRY: "calls are known by provider and parameters, so each host would pay for its own",
        ARCHIVE: "originals that one host keeps would be missing at the other",
    }
)
_MOST_BYTES: Final = 16 * 1024 * 1024


@dataclass(frozen=True)
class SharedFile:
    """A file that every host has alike.

    Attributes:
        name: its name in the ledger and in commands.
        path: where this host has it; of the archive its mark.
        setting: the variable that says where.
        fingerprint: 64 hexadecimal digits; null where it is missing.
    """

    name: str
    path: Path
    setting: str
    fingerprint: str | None


@dataclass(frozen=True)
class Difference:
    """A shared file that this host has otherwise than the installation, or not at all."""

    file: SharedFile
    noted: NotedFile

    def __str__(self) -> str:
        found = "is missing here" if self.file.fingerprint is None else "is not the installation's"
        return (
            f"{self.file.name} ({self.file.path}) {found}, as {self.noted.host} noted it on {self.noted.noted_at[:16]}Z: "
            f"{_HARM[self.file.name]}"
        )


def has_hosts(settings: Settings) -> bool:
    """Whether the ledger can have several hosts: whether it is on a server."""
    return find_ledger_file(settings.ledger_address) is None


def read_shared_files(settings: Settings, names: Collection[str] = tuple(_HARM)) -> list[SharedFile]:
    """The files of these names as this host has them.

    Raises UsageError for one that cannot be read.
    """
    return list(_iter_files(settings, names))


def check_shared_files(settings: Settings, ledger: Ledger, names: Collection[str] = tuple(_HARM)) -> None:
    """Pass when this host has the files of these names as the installation has them.

    Raises UsageError, naming each file that differs.

    What was never noted is passed over.
    """
    with ledger.read() as connection:
        differences = find_differences(settings, connection, names)
    if not differences:
        return
    first = differences[0]
    hosts = sorted({difference.noted.host for difference in differences})
    raise UsageError(
        f"This host is not like the others of its installation. {'; '.join(map(str, differences))}. Copy it from "
        f"{' or '.join(hosts)}, or let {' and '.join(sorted({one.file.setting for one in differences}))} name the shared one; if "
        f"this one is meant, `proctor hosts accept {first.file.name}` on this host lets it hold for all."
    )


def find_differences(
    settings: Settings, connection: Connection, names: Collection[str] = tuple(_HARM)
) -> list[Difference]:
    """The noted files of that name that this host has otherwise, or not."""
    from warehouse.ledger.engine.shared_files import read_noted_files

    noted = read_noted_files(connection)
    return [
        Difference(file, noted[file.name])
        for file in _iter_files(settings, names)
        if file.name in noted and file.fingerprint != noted[file.name].fingerprint
    ]


def note_shared_files(settings: Settings, connection: Connection, *, without: Collection[str] = ()) -> None:
    """Note what this host has and nobody has noted yet, those named in `without` left out."""
    from warehouse.ledger.engine.shared_files import note_file, read_noted_files

    noted = read_noted_files(connection)
    for file in _iter_files(settings):
        if file.fingerprint is not None and file.name not in noted and file.name not in without:
            note_file(connection, file.name, file.fingerprint, platform.node())


def accept_shared_file(settings: Settings, connection: Connection, name: str) -> SharedFile:
    """Accept a file as this host has it, for all hosts.

    Raises UsageError for another name, or where the file is missing.
    """
    from warehouse.ledger.engine.shared_files import replace_noted_file

    if name not in _HARM:
        raise UsageError(f"{name!r} is not among what hosts share: {', '.join(_HARM)}.")
    (file,) = _iter_files(settings, (name,))
    if file.fingerprint is None:
        raise UsageError(
            f"There is no {file.path} to accept. Put it there, or let {file.setting} name where it lies."
        )
    replace_noted_file(connection, name, file.fingerprint, platform.node())
    return file


def _iter_files(settings: Settings, names: Collection[str] = tuple(_HARM)) -> Iterator[SharedFile]:
    for name in KEYS:
        if name in names:
            path = settings.secrets_path / name
            yield SharedFile(name, path, "PROCTOR_SECRETS", _digest(name, _read(path)))
    if REGISTRY in names:
        path = settings.registry_path
        yield SharedFile(REGISTRY, path, "PROCTOR_REGISTRY", _digest(REGISTRY, _read_registry(path)))
    if ARCHIVE in names:
        path = settings.archive_dir / ARCHIVE_MARK
        yield SharedFile(ARCHIVE, path, "PROCTOR_ARCHIVE", _digest(ARCHIVE, _read(path)))


def _digest(name: str, content: bytes | None) -> str | None:
    """The fingerprint: an HMAC whose key is the content.

    It therefore reveals nothing of the content to those who do not have it.
    """
    return (
        None
        if content is None
        else hmac.digest(content, f"proctor shared file|{name}".encode(), "sha256").hex()
    )


def _read(path: Path) -> bytes | None:
    try:
        with path.open("rb") as file:
            return file.read(_MOST_BYTES).strip()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise UsageError(
            f"{path} cannot be read ({error.strerror}). Hosts share it: give this account the right to, and run again."
        ) from None


def _read_registry(path: Path) -> bytes | None:
    """What a registry says, whatever its comments, spaces and order.

    A registry that is not YAML is taken as it stands.
    """
    import yaml

    content = _read(path)
    if content is None:
        return None
    try:
        said = yaml.load(content, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))  # noqa: S506 - both are safe
        return json.dumps(said, sort_keys=True, default=str).encode()
    except (yaml.YAMLError, ValueError, TypeError):
        return hashlib.sha256(content).digest()
