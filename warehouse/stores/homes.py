"""The stores of a home as a whole, and the id that they share.

Here it is found out whether ledger, catalog and data files are there and belong to the home.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Final

from schemas.errors import StoreError
from schemas.settings import HOME_MARK, Settings, is_home
from warehouse.stores.files import StoreFault, StoreFile, find_store_fault, read_installation_id
from warehouse.stores.installation import (
    CATALOG_KEY,
    catalog_file,
    check_held_id,
    exam_file,
    id_path,
    ledger_file,
    make_id,
    read_home_id,
    write_home_id,
)

_MOST_NAMED = 3
_RESTORE_AGAIN: Final = "If no `proctor restore` runs any more, it was ended before it was done: run it again, and it begins anew."
# Lies in a home while a backup is put there, and after a kill: what is in it is then a part of a backup.
RESTORING: Final = "restoring.lock"


def mark_home(settings: Settings) -> None:
    """Let a home of which everything lies elsewhere be known as one."""
    if not is_home(settings.home):
        (settings.home / HOME_MARK).write_text(
            "A home of Proctor whose ledger, lake, keys and registry lie elsewhere, as PROCTOR_* variables or proctor.toml say.\n",
            encoding="utf-8",
        )


def check_stores(settings: Settings) -> None:
    """Raise StoreError unless the stores of a home are there, whole and its own.

    The error names what is wrong.

    A home that was given no id yet gets one. Stores on a server are looked at when they are opened.
    """
    faults = list_store_faults(settings)
    if faults:
        raise StoreError(f"{_describe(faults)} {faults[0].remedy} `proctor doctor` lists all that is wrong.")
    if read_home_id(settings) is None and _has_both(settings):
        adopt_stores(settings)


def list_store_faults(settings: Settings, *, is_thorough: bool = False) -> list[StoreFault]:
    """What is wrong with the files of the stores, as far as they are files here.

    With `is_thorough`, every page of them is read.
    """
    from warehouse.lake.files import find_file_faults, has_data_files

    if (mark := settings.home / RESTORING).exists():
        return [StoreFault("home", str(mark.parent), "holds a part of a backup", _RESTORE_AGAIN)]
    home_id = read_home_id(settings)
    files = _list_files(settings)
    held = [found for file in files if (found := read_installation_id(file)) is not None]
    known = home_id or (held[0] if held else None)
    faults: list[StoreFault] = []
    for file in files:
        # Before all have the id, one that lacks it may be about to be given it; one that is missing was there.
        expected = (
            known if home_id is not None or not file.path.exists() or file.path.stat().st_size == 0 else None
        )
        if (fault := find_store_fault(file, expected, is_thorough=is_thorough)) is not None:
            faults.append(fault)
    if not faults and len(set(held)) > 1:
        faults.append(
            StoreFault("ledger", str(files[0].path), "and the catalog belong to different installations")
        )
    catalog = catalog_file(settings.catalog_address)
    if catalog is not None and str(catalog.path) not in {fault.path for fault in faults}:
        if not catalog.path.exists() and has_data_files(settings):
            faults.append(
                StoreFault(catalog.name, str(catalog.path), "is missing, although there are data files")
            )
        faults += find_file_faults(settings)
    return faults


def adopt_stores(settings: Settings, *, may_join: bool = False) -> str:
    """Give ledger, lake and home one id, and return it.

    What has an id keeps it, where both stores have the same one.

    Two that do so at once come to the same id: the ledger's. A kill in between is made good by the next call.
    `may_join` takes over a ledger that belongs to another home already, on a server or put in place on purpose, and gives
    this home and its lake that ledger's id. Raises StoreError otherwise.
    """
    from warehouse.ledger.engine.installation import give_installation_id, read_ledger_id
    from warehouse.ledger.engine.opening import open_ledger

    embedded = catalog_file(settings.catalog_address)
    catalog_id = None if embedded is None else read_installation_id(embedded)
    with open_ledger(settings.ledger_address) as ledger, ledger.write() as connection:
        held = read_ledger_id(connection)
        is_strange = held is not None and held != read_home_id(settings) and not ledger.is_sqlite
        if held is not None and is_strange and not may_join:
            raise StoreError(
                f"The ledger on its server belongs to installation {held[:8]} already, and this home to none. "
                "`proctor init --join` makes it one more home of that installation; otherwise point PROCTOR_LEDGER_URL "
                "elsewhere."
            )
        installation_id = held or catalog_id or make_id()
        # Both sides, since a kill may have come between the two.
        give_installation_id(connection, installation_id)
    if embedded is None:
        _give_server_id(settings, installation_id, may_join=may_join)
    elif catalog_id != installation_id:
        from warehouse.lake import give_catalog_id

        give_catalog_id(settings, installation_id)
    write_home_id(settings, installation_id)
    return installation_id


@contextmanager
def joining_stores(settings: Settings) -> Iterator[None]:
    """Within the block, a home belongs to no installation, so that it may join another.

    On failure it keeps what it had.
    """
    before = read_home_id(settings)
    id_path(settings).unlink(missing_ok=True)
    try:
        yield
    except BaseException:
        if before is not None:
            write_home_id(settings, before)
        raise


def _list_files(settings: Settings) -> Sequence[StoreFile]:
    """The stores that are SQLite files."""
    address = settings.ledger_address
    found = [
        file for file in (ledger_file(address), catalog_file(settings.catalog_address)) if file is not None
    ]
    exam = exam_file(address)
    # A ledger of before has no second file yet; one that knows its installation has.
    if exam is not None and (exam.path.exists() or read_home_id(settings) is not None):
        found.insert(1, exam)
    return found


def _has_both(settings: Settings) -> bool:
    """Whether ledger and lake were made, so that they can be given an id."""
    if not all(file.path.exists() and file.path.stat().st_size for file in _list_files(settings)):
        return False
    # A kill while the lake was made leaves a catalog without a table: the next who writes goes on from there.
    catalog = catalog_file(settings.catalog_address)
    return catalog is None or catalog.ask(catalog.path, [catalog.count_query])[0] is not None


def _give_server_id(settings: Settings, installation_id: str, *, may_join: bool) -> None:
    """Write the id into a catalog in PostgreSQL, or check the one that is there."""
    from warehouse.lake import ALIAS, open_lake, read_server_id

    with open_lake(settings) as lake:
        held = read_server_id(lake.connection)
        if held is not None and not may_join:
            check_held_id("catalog in PostgreSQL", held, installation_id)
        if held != installation_id:
            entries = f"__ducklake_metadata_{ALIAS}.ducklake_metadata"
            lake.connection.execute(f"DELETE FROM {entries} WHERE key = ?", [CATALOG_KEY])
            lake.connection.execute(
                f"INSERT INTO {entries} (key, value) VALUES (?, ?)", [CATALOG_KEY, installation_id]
            )


def _describe(faults: Sequence[StoreFault]) -> str:
    named = "; ".join(f"the {fault}" for fault in faults[:_MOST_NAMED])
    more = f"; and {len(faults) - _MOST_NAMED} more" if len(faults) > _MOST_NAMED else ""
    return f"{named[0].upper()}{named[1:]}{more}."
