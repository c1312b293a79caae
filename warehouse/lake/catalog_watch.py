"""Whether the catalog lies where a lake was opened; keeps the mark of what was acknowledged."""

from __future__ import annotations

from schemas.errors import StoreError
from schemas.settings import Settings
from warehouse.lake.attach import ALIAS, catalog_path, is_postgres
from warehouse.lake.duck import duckdb
from warehouse.stores.files import WAY_BACK, identify_file, write_acknowledged_commit


class CatalogWatch:
    """A watch over a SQLite catalog: DuckDB would make one that is gone again, empty."""

    def __init__(self, settings: Settings, connection: duckdb.DuckDBPyConnection) -> None:
        catalog = settings.catalog_address
        self._path = None if is_postgres(catalog) else catalog_path(catalog)
        self._connection = connection
        self._seen = self._look()

    def check(self) -> None:
        """Raise StoreError unless the file is still the one that was opened."""
        if self._look() == self._seen:
            return
        what = "was replaced" if self._path is not None and self._path.exists() else "is missing"
        raise StoreError(
            f"The catalog {self._path} {what} while the lake was open; nothing was written to it. {WAY_BACK}"
        )

    def acknowledge(self) -> None:
        """Note the last snapshot as told: a catalog that knows only earlier ones has lost some."""
        if self._path is None:
            return
        # All rows are fetched: a result that is not read to its end keeps the catalog's file open, and its log in use.
        rows = self._connection.execute(f"FROM ducklake_last_committed_snapshot('{ALIAS}')").fetchall()
        if rows and rows[0][0] is not None:
            write_acknowledged_commit(self._path, int(rows[0][0]))

    def _look(self) -> tuple[int, int] | None:
        return None if self._path is None else identify_file(self._path)
