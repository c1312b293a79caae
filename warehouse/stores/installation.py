"""The installation that a home, its ledger and its lake belong to: one id in all three.

It is given once, when a home is made or first used by a version that knows of it. From then on a ledger or lake without it
is missing or somebody else's, and is neither used nor replaced by an empty one.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from schemas.errors import StoreError
from schemas.settings import Settings
from warehouse.lake import ask_catalog
from warehouse.ledger.engine.sides import find_ledger_file, is_exam_file, name_exam_file
from warehouse.stores.files import WAY_BACK, StoreFile, find_store_fault
from warehouse.stores.secrets import create_secret_file

ID_FILE: Final = "installation-id"
# Among DuckLake's own entries of its catalog.
CATALOG_KEY: Final = "proctor_installation"

# Ledger address → the id that the commands of this process expect there.
_EXPECTED: dict[str, str] = {}


def id_path(settings: Settings) -> Path:
    """The file of a home that holds the id."""
    return settings.secrets_path / ID_FILE


def read_home_id(settings: Settings) -> str | None:
    """The installation that a home belongs to; None for a home that was given none yet.

    Raises StoreError.
    """
    return _read_id(id_path(settings))


def write_home_id(settings: Settings, installation_id: str) -> None:
    """Give a home its id; one that it has stays."""
    create_secret_file(id_path(settings), f"{installation_id}\n")


def make_id() -> str:
    """A new id."""
    return str(uuid.uuid4())


@contextmanager
def expecting(settings: Settings) -> Iterator[None]:
    """Within the block, the ledger of these settings is opened only if it is its home's own."""
    address, expected = settings.ledger_address, read_home_id(settings)
    before = _EXPECTED.get(address)
    if expected is not None:
        _EXPECTED[address] = expected
    try:
        yield
    finally:
        if before is None:
            _EXPECTED.pop(address, None)
        else:
            _EXPECTED[address] = before


def find_expected_id(address: str) -> str | None:
    """The installation that the ledger at an address must belong to.

    None where nothing is known of it.

    Of a file in a home the home itself says so, whatever process opens it.
    """
    if address in _EXPECTED:
        return _EXPECTED[address]
    file = ledger_file(address)
    return None if file is None else _read_id(file.path.parent / "secrets" / ID_FILE)


def ledger_file(address: str) -> StoreFile | None:
    """The file of an embedded ledger; null for one on a server, or in memory."""
    path = _find_file(address)
    return None if path is None else _count_in("ledger", path, "installation")


def exam_file(address: str) -> StoreFile | None:
    """The exam's file of an embedded ledger, by the ledger's address or its own.

    None for a ledger on a server, or in memory.
    """
    path = _find_file(address)
    if path is None:
        return None
    own = path if is_exam_file(path) else name_exam_file(path)
    return _count_in("exam's database", own, "exam_installation")


def _count_in(name: str, path: Path, table: str) -> StoreFile:
    return StoreFile(
        name,
        path,
        f"SELECT installation_id FROM {table}",
        f"SELECT commit_count FROM {table}",
        table,
    )


def _find_file(address: str) -> Path | None:
    path = find_ledger_file(address)
    return None if path is None or str(path) == ":memory:" else path


def catalog_file(address: str) -> StoreFile | None:
    """The file of an embedded catalog; null for one on a server."""
    kind, _, path = address.partition(":")
    if kind != "sqlite":
        return None
    return StoreFile(
        "catalog",
        Path(path),
        f"SELECT value FROM ducklake_metadata WHERE key = '{CATALOG_KEY}'",
        "SELECT max(snapshot_id) FROM ducklake_snapshot",
        ask=ask_catalog,
    )


def check_store_file(file: StoreFile | None, installation_id: str | None) -> None:
    """Raise StoreError for a file that cannot be used.

    Such a file is missing, damaged, of another installation, or older than what was acknowledged.
    """
    if file is not None and (fault := find_store_fault(file, installation_id)) is not None:
        raise StoreError(f"The {fault}. {fault.remedy}")


def check_held_id(store: str, held: str | None, expected: str | None) -> None:
    """Raise StoreError where a store on a server belongs to an unexpected installation.

    It must belong to the one that is expected.
    """
    if expected is None or held == expected:
        return
    whose = "no installation" if held is None else f"installation {held[:8]}"
    raise StoreError(
        f"The {store} is not the one of this home: it belongs to {whose}, the home to {expected[:8]}. {WAY_BACK} "
        f"If it was moved there on purpose, `proctor init --join` makes this home one with it."
    )


def _read_id(path: Path) -> str | None:
    try:
        text = path.read_text(encoding="ascii").strip()
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise StoreError(f"{path} cannot be read ({type(error).__name__}). {WAY_BACK}") from None
    try:
        return str(uuid.UUID(text))
    except ValueError:
        raise StoreError(f"{path} holds no id of an installation. {WAY_BACK}") from None
