"""DuckDB in memory with its extensions from their wheels, attached to nothing yet."""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
from contextlib import suppress
from functools import cache
from importlib import import_module
from pathlib import Path

from schemas.errors import StoreError
from warehouse.lake.duck import duckdb
from warehouse.lake.quoting import quote_text
from warehouse.stores.hosts import is_dead, name_host

_QUIET_S = 3600.0


def connect_duckdb(home: Path | None = None, *, trusted: bool = False) -> duckdb.DuckDBPyConnection:
    """DuckDB in memory, in UTC.

    It downloads nothing unasked and keeps its own files under `home`. `trusted`: extensions are loaded without a check of
    their signature, a tenth of a CPU second for each. Only for files from installed wheels, which are as much ours to trust
    as the DuckDB beside them; never for what is downloaded.
    """
    config: dict[str, str | bool | int | float | list[str]] = {
        "autoinstall_known_extensions": False,
        "autoload_known_extensions": False,
        "allow_unsigned_extensions": trusted,
        # A variable of ours is never a table of a query; and DuckDB, which would look for one, forgets a Ctrl-C that comes meanwhile.
        "python_enable_replacements": False,
    }
    if home is not None:
        state = home.resolve() / "duckdb"
        config["extension_directory"] = str(state / "extensions")
        config["secret_directory"] = str(state / "secrets")
        # DuckDB names its spill files alike in every process: each gets a folder of its own.
        config["temp_directory"] = str(spill_path(home))
    connection = duckdb.connect(":memory:", config=config)
    connection.execute("SET TimeZone = 'UTC'")
    # DuckDB would draw its own on a terminal, over ours.
    connection.execute("SET enable_progress_bar = false")
    return connection


def spill_path(home: Path) -> Path:
    """Where this process spills, and no other, in another container either.

    Such a folder of a dead process may be removed (`remove_spill_folders`).
    """
    return home.resolve() / "duckdb" / f"spill-{os.getpid()}-{_name_place()}"


def remove_spill_folders(home: Path) -> None:
    """Remove what killed processes left: their spill files, and rows they were about to land.

    Whether a process of another host or container lives cannot be told from here: its folder goes when nobody has written into it for
    an hour.
    """
    for folder in (home / "duckdb").glob("spill-*"):
        number, _, place = folder.name.removeprefix("spill-").partition("-")
        is_ours = place.partition("-")[0] == _name_place() and number.isdecimal()
        if is_dead(name_host(), int(number)) if is_ours else _is_quiet(folder):
            shutil.rmtree(folder, ignore_errors=True)


@cache
def _name_place() -> str:
    return hashlib.sha256(name_host().encode()).hexdigest()[:8]


def _is_quiet(folder: Path) -> bool:
    # What is gone meanwhile is nobody's to remove. The disk's own clock says how old it is: one ahead of it would sweep what is in use.
    with suppress(OSError), tempfile.TemporaryFile(dir=folder.parent) as mark:
        now = os.fstat(mark.fileno()).st_mtime
        return max(one.stat().st_mtime for one in (folder, *folder.iterdir())) < now - _QUIET_S
    return False


def load_extensions(connection: duckdb.DuckDBPyConnection, names: list[str]) -> None:
    """Load extensions from their wheels by path; only one without a wheel is downloaded."""
    for name in names:
        path = find_extension(name)
        if path is not None:
            connection.execute(f"LOAD {quote_text(str(path))}")
            continue
        try:
            connection.execute(f"INSTALL {name}")
            connection.execute(f"LOAD {name}")
        except duckdb.Error:
            raise StoreError(
                f"DuckDB's extension {name!r} is neither installed as a wheel nor downloadable. "
                f"Install duckdb-extension-{name.replace('_', '-')}=={duckdb.__version__}."
            ) from None


def find_extension(name: str) -> Path | None:
    """The extension's file inside its wheel, for the running DuckDB, or None."""
    try:
        package = import_module(f"duckdb_extension_{name}")
    except ImportError:
        return None
    if package.__file__ is None:
        return None
    path = (
        Path(package.__file__).parent / "extensions" / f"v{duckdb.__version__}" / f"{name}.duckdb_extension"
    )
    return path if path.exists() else None
