"""The lake: land what a stage made, query what all stages made.

`Lake.land` is the only way in. It validates, quarantines what breaks a rule, and replaces the unit in one
transaction, so that work may run twice and counts once.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from threading import RLock
from typing import Any, NamedTuple, TypeVar

import polars as pl

from schemas.errors import ContractError, StoreAway, StoreError
from schemas.settings import Settings
from schemas.tables import get_table
from warehouse.lake.attach import (
    attach_lake,
    check_catalog_address,
    check_exists,
    is_initialised,
    is_postgres,
    is_remote,
)
from warehouse.lake.catalog_watch import CatalogWatch
from warehouse.lake.connecting import remove_spill_folders
from warehouse.lake.duck import duckdb
from warehouse.lake.faults import CONFLICT_TRIES, find_absence, find_refusal, is_conflict
from warehouse.lake.fetching import fetch_few
from warehouse.lake.files import NewFiles
from warehouse.lake.landing import (
    OWN_TABLES,
    Batch,
    CheckedBatch,
    HashedBatch,
    Landing,
    check_batches,
    check_rules,
    hash_batches,
    name_landing,
    replace_units,
    stage_rows,
)
from warehouse.lake.locks import LOCK_TIMEOUT_S, hold_units, hold_writer_lock
from warehouse.lake.provenance import read_flow_run_id
from warehouse.lake.reading import find_query
from warehouse.lake.reading.months import find_values
from warehouse.lake.reading.queries import bind_parameters, explain_error, find_read
from warehouse.lake.sealing import LandingLog
from warehouse.lake.sharing import connect_shared, is_shared
from warehouse.lake.statements import begin_reading, check_snapshot, execute_statement, quote_list, roll_back
from warehouse.lake.upgrade import attach_for_reading, bring_up_to_date
from warehouse.stores.away import CATALOG, OBJECTS, until_there
from warehouse.stores.blocks import block

__all__ = ["Batch", "Lake", "Landing", "open_lake"]


T = TypeVar("T")


class _Landed(NamedTuple):
    """What the lake has of a unit."""

    content_hash: str
    row_count: int
    rejected_count: int


def open_lake(settings: Settings, read_only: bool = False, *, lock_timeout_s: float = LOCK_TIMEOUT_S) -> Lake:
    """Open the lake; for writing, create it or bring its tables and views up to date first.

    A writer waits up to `lock_timeout_s` for another one; readers never wait. Raises StoreError when there is no lake to read,
    when it cannot be opened or has another form, or when another writer holds it too long.
    """
    return until_there(
        lambda: _open_lake(settings, read_only, lock_timeout_s),
        stores=(CATALOG,),
        wait_s=settings.store_wait_s,
    )


def _open_lake(settings: Settings, read_only: bool, lock_timeout_s: float) -> Lake:
    check_catalog_address(settings.catalog_address)
    if read_only:
        check_exists(settings.catalog_address)
    if is_shared():
        connection = connect_shared(settings, lambda: _attach_for_writing(settings, lock_timeout_s))
    elif read_only:
        connection = attach_for_reading(settings)
    else:
        connection = _attach_for_writing(settings, lock_timeout_s)
    return Lake(settings, connection, is_read_only=read_only, lock_timeout_s=lock_timeout_s)


def _attach_for_writing(settings: Settings, lock_timeout_s: float) -> duckdb.DuckDBPyConnection:
    with ExitStack() as stack:
        if not is_initialised(settings):
            stack.enter_context(hold_writer_lock(settings, lock_timeout_s))
        connection = attach_lake(settings, read_only=False)
    remove_spill_folders(settings.home)
    if not is_remote(settings.data_address):
        # Rows go in through files that are read once; a process that lands for hours would keep them all in memory.
        connection.execute("SET enable_external_file_cache = false")
    try:
        bring_up_to_date(settings, connection, lock_timeout_s)
    except BaseException:
        connection.close()
        raise
    return connection


class Lake:
    """One process's door to the lake, for threads and as a context manager."""

    def __init__(
        self,
        settings: Settings,
        connection: duckdb.DuckDBPyConnection,
        *,
        is_read_only: bool,
        lock_timeout_s: float,
    ) -> None:
        self.settings = settings
        self.connection = connection
        self.is_read_only = is_read_only
        self.lock_timeout_s = lock_timeout_s
        self._lock = RLock()
        self._catalog = CatalogWatch(settings, connection)
        self._log = LandingLog(settings)
        # Transactions under way: a statement of one that broke off cannot be done again alone.
        self._depth = 0

    def __enter__(self) -> Lake:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connection."""
        self._log.close()
        self.connection.close()

    def query(self, sql: str, params: Mapping[str, object] | None = None) -> pl.DataFrame:
        """The rows of one statement with `$name` parameters; UsageError for wrong SQL."""
        began = time.process_time()
        few = self._execute(sql, params, lambda result: fetch_few(result, time.process_time() - began))
        return self._execute(sql, params, lambda result: result.pl()) if few is None else few

    def stream(self, sql: str, params: Mapping[str, object], take: Callable[[pl.DataFrame], None]) -> None:
        """Give `take` the rows of one statement in parts; StoreError, and no retry, if away."""
        import pyarrow as pa

        def iter_batches(result: duckdb.DuckDBPyConnection) -> Iterator[pa.RecordBatch]:
            try:
                yield from result.to_arrow_reader(50_000)
            except duckdb.Error as error:
                raise _explain_once(error, sql) from None
            except (OSError, pa.ArrowException) as error:
                # What DuckDB meets after the first rows Arrow says, as an error of its own.
                raise _explain_once(duckdb.Error(str(error)), sql) from None

        def give(result: duckdb.DuckDBPyConnection) -> None:
            for batch in iter_batches(result):
                take(pl.DataFrame(pl.from_arrow(batch)))

        self._execute(sql, params, give)

    def read_rows(self, name: str, params: Mapping[str, object] | None = None) -> list[tuple[object, ...]]:
        """The rows of a query under `warehouse/sql/reads` as plain values, without PyArrow's 40 MB."""
        query = find_read(name)
        return self._fetch(query.body, bind_parameters(query, params or {}))

    def feed(self, name: str, take: Callable[[list[tuple[Any, ...]]], None], *, at_once: int = 500) -> int:
        """Give `take` rows of a query of `warehouse/sql/reads`, `at_once` each, none kept; count."""
        query = find_read(name)

        def give(result: duckdb.DuckDBPyConnection) -> int:
            count = 0
            rows = result.fetchmany(at_once)
            while rows:
                count += len(rows)
                take(rows)
                try:
                    rows = result.fetchmany(at_once)
                except duckdb.Error as error:
                    raise _explain_once(error, query.body) from None
            return count

        return self._execute(query.body, bind_parameters(query, {}), give)

    def _fetch(self, sql: str, params: Mapping[str, object] | None = None) -> list[tuple[object, ...]]:
        rows: list[tuple[object, ...]] = self._execute(sql, params, lambda result: result.fetchall())
        return rows

    def _execute(
        self, sql: str, params: Mapping[str, object] | None, fetch: Callable[[duckdb.DuckDBPyConnection], T]
    ) -> T:
        def attempt() -> T:
            try:
                return execute_statement(self.connection, sql, params or {}, fetch)
            except duckdb.Error as error:
                self._catalog.check()
                raise explain_error(error, sql) from None

        with self._lock:
            return attempt() if self._depth else self._wait(attempt, CATALOG)

    def _wait(self, attempt: Callable[[], T], *stores: str) -> T:
        """What `attempt` returns; stores that are away are waited for, `stores` it surely talks to."""
        return until_there(attempt, stores=stores, wait_s=self.settings.store_wait_s)

    def units(self, table: str) -> set[str]:
        """The units of a table that were landed, those without rows included."""
        get_table(table)
        return set(
            self.query("SELECT unit FROM landings WHERE table_name = $table", {"table": table})["unit"]
        )

    def landed(self, table: str, units: Iterable[str]) -> set[str]:
        """Which of these units of a table were landed; reads no others, however long the history is."""
        get_table(table)
        wanted = {name_landing(table, unit): unit for unit in units}
        return {wanted[name] for name in self._read_landings(wanted)}

    def land(
        self,
        table: str,
        unit: str,
        frame: pl.DataFrame,
        *,
        stage: str | None = None,
        flow_run_id: str | None = None,
        ignore: Sequence[str] = (),
    ) -> Landing:
        """Replace the unit's rows by those of `frame`; the same content again changes nothing.

        `stage` is named in the quarantine (default: the table's own), `ignore` names columns that do not make content
        different. Raises ContractError for wrong columns or types, StoreError when the lake cannot be written.
        """
        return self.land_together(
            [Batch(table, unit, frame)], stage=stage, flow_run_id=flow_run_id, ignore=ignore
        )[0]

    def land_together(
        self,
        batches: Sequence[Batch],
        *,
        stage: str | None = None,
        flow_run_id: str | None = None,
        ignore: Sequence[str] = (),
    ) -> list[Landing]:
        """Land several units in one transaction, all or none; results in the given order."""
        if self.is_read_only:
            raise StoreError(
                "The lake was opened for reading only. Open it with read_only=False to land rows."
            )
        check_batches(batches)
        landed = self._read_landings(batch.landing_unit for batch in batches)
        hashed = hash_batches(batches, ignore)
        changed = _list_changed(hashed, landed)
        answers = {
            name: Landing(batch.table, batch.unit, there.row_count, there.rejected_count, is_unchanged=True)
            for batch in batches
            if (there := landed.get(name := batch.landing_unit)) is not None
        }
        if changed:
            checked = check_rules(changed, stage)
            _refuse_holes(checked)
            landing_run = flow_run_id or read_flow_run_id()
            self._wait(lambda: self._write(checked, landing_run), CATALOG, OBJECTS)
            answers |= {one.batch.landing_unit: one.landing for one in checked}
        return [answers[batch.landing_unit] for batch in batches]

    def run_named(self, name: str, params: Mapping[str, object] | None = None) -> pl.DataFrame:
        """The rows of a mart, analysis or check, frozen ones for closed months (`months.py`)."""
        query = find_query(name)
        values = bind_parameters(query, params or {})
        if not query.found:
            return self.query(query.body, values)
        with self.read_transaction():
            return self.query(query.lake_body, {**values, **find_values(self._fetch, query.found)})

    def read(self, name: str, params: Mapping[str, object] | None = None) -> pl.DataFrame:
        """The rows of a query under `warehouse/sql/reads`: what a stage reads, named for its rows."""
        query = find_read(name)
        return self.query(query.body, bind_parameters(query, params or {}))

    @block
    def one_thread(self) -> Generator[None]:
        """Queries of the block run on one thread: each unpacks row groups of its own, 100 MB."""
        with self._lock:
            found = self.connection.execute("SELECT current_setting('threads')").fetchone()
            try:
                self.connection.execute("SET threads = 1")
                yield
            finally:
                self.connection.execute(f"SET threads = {found[0] if found else 1}")

    @block
    def exclusive(self) -> Generator[duckdb.DuckDBPyConnection]:
        """The connection, with this process's threads and (embedded) all other writers kept out."""
        if self.is_read_only:
            raise StoreError(
                "The lake was opened for reading only. Open it with read_only=False to change it."
            )
        with self._lock, hold_writer_lock(self.settings, self.lock_timeout_s):
            self._catalog.check()
            yield self.connection

    @block
    def transaction(self, tables: Iterable[str] | None = None) -> Generator[duckdb.DuckDBPyConnection]:
        """One write transaction under the writer lock; undone when the block raises.

        The files that it adds are on the disk before the catalog names them. `tables`: those that are written to, where that
        is known; the folders of all are looked at otherwise. Raises StoreAway where catalog or object store went away; of a
        COMMIT that nobody answered it is not known whether it was kept.
        """
        with self.exclusive() as connection:
            files = NewFiles(self.settings, tables)
            if self._depth:
                # DuckDB refuses one within another, which stays as it is.
                connection.execute("BEGIN")
            try:
                self._begin(lambda: connection.execute("BEGIN"))
                self._depth = 1
                yield connection
                files.flush()
                connection.execute("COMMIT")
            except duckdb.Error as error:
                roll_back(connection)
                if (away := find_absence(error)) is not None:
                    raise away from None
                raise
            except BaseException:
                roll_back(connection)
                raise
            finally:
                self._depth = 0
            self._catalog.acknowledge()

    @block
    def read_transaction(self) -> Generator[None]:
        """Queries of the block see one state and write nothing; StoreError if an erasure broke it."""

        def attempt() -> int:
            try:
                return self._begin(lambda: begin_reading(self.connection))
            except duckdb.Error as error:
                raise (find_absence(error) or error) from None

        with self._lock:
            if self._depth:
                yield
                return
            try:
                snapshot = self._wait(attempt, CATALOG)
                self._depth = 1
                yield
                check_snapshot(self.connection, snapshot)
            finally:
                self._depth = 0
                roll_back(self.connection)

    def _begin(self, begin: Callable[[], T]) -> T:
        """What `begin` returns, after a transaction that a Ctrl-C broke off before its end, too."""
        try:
            return begin()
        except duckdb.TransactionException:
            roll_back(self.connection)
            return begin()

    def _read_landings(self, names: Iterable[str]) -> dict[str, _Landed]:
        """Landing (`table/unit`) → what the lake has of it, for those given that are there."""
        wanted = list(names)
        if not wanted:
            return {}
        rows = self._fetch(
            "SELECT landing_unit, content_hash, row_count, rejected_count FROM landings "
            f"WHERE landing_unit IN {quote_list(wanted)}"
        )
        return {
            str(name): _Landed(str(content_hash), int(str(count)), int(str(rejected)))
            for name, content_hash, count, rejected in rows
        }

    def _write(self, checked: Sequence[CheckedBatch], flow_run_id: str | None) -> None:
        """Land what is not there yet: after an absence it may be, whoever was told what."""
        with hold_units(self.settings, [one.batch.landing_unit for one in checked], self.lock_timeout_s):
            if is_postgres(self.settings.catalog_address):
                # Another process may have landed the same meanwhile.
                landed = self._read_landings(one.batch.landing_unit for one in checked)
                checked = _list_changed(checked, landed)
            if checked:
                self._log.close_units(
                    {one.batch.landing_unit: one.rows_hash for one in checked}, self._list_row_hashes
                )
                self._write_alone(checked, flow_run_id)

    def _list_row_hashes(self) -> list[tuple[str, str]]:
        """Landing (`table/unit`) → the hash of its rows, where one was kept."""
        rows = self._fetch("SELECT landing_unit, rows_hash FROM landings WHERE rows_hash IS NOT NULL")
        return [(str(name), str(digest)) for name, digest in rows]

    def _write_alone(self, checked: Sequence[CheckedBatch], flow_run_id: str | None) -> None:
        tables = {one.batch.table for one in checked} | set(OWN_TABLES)
        for attempt in range(1, CONFLICT_TRIES + 1):
            try:
                with (
                    self.transaction(tables) as connection,
                    stage_rows(self.settings, checked, flow_run_id) as paths,
                ):
                    replace_units(connection, checked, paths)
                return
            except duckdb.Error as error:
                if (refusal := find_refusal(error)) is not None:
                    raise refusal from None
                # Without a lock (PostgreSQL) two writers may touch the same file of a table; one of them tries again.
                may_retry = is_conflict(error) and is_postgres(self.settings.catalog_address)
                if not may_retry or attempt == CONFLICT_TRIES:
                    units = ", ".join(sorted({one.batch.table for one in checked}))
                    raise StoreError(
                        f"Landing in {units} failed ({type(error).__name__}, try {attempt}); nothing of it was "
                        f"written. {self._name_remedy()}, then run again."
                    ) from None
                time.sleep(random.uniform(0, 0.05 * 2**attempt))

    def _name_remedy(self) -> str:
        """What is looked at first when files or catalog cannot be written; names no credential."""
        data = self.settings.data_address
        if is_remote(data):
            return (
                f"Check that the object store answers, that {data} (PROCTOR_LAKE_DATA) is in a bucket it has, the AWS_* variables, "
                "and that the catalog answers"
            )
        return "Check free disk space and that the catalog answers"


def _explain_once(error: duckdb.Error, sql: str) -> Exception:
    """The failure of a result taken in part, which is not begun again: it would count twice."""
    failure = explain_error(error, sql)
    return StoreError(str(failure)) if isinstance(failure, StoreAway) else failure


_One = TypeVar("_One", HashedBatch, CheckedBatch)


def _list_changed(batches: Sequence[_One], landed: Mapping[str, _Landed]) -> list[_One]:
    """The batches that the lake lacks as they are; StoreError for other content of frozen ones."""
    changed = [
        one
        for one in batches
        if (there := landed.get(one.batch.landing_unit)) is None or there.content_hash != one.content_hash
    ]
    if frozen := [
        one.batch.landing_unit
        for one in changed
        if get_table(one.batch.table).is_frozen and one.batch.landing_unit in landed
    ]:
        raise StoreError(
            f"{', '.join(sorted(frozen)[:3])} was published and is frozen. Publish a new revision instead."
        )
    return changed


def _refuse_holes(checked: Sequence[CheckedBatch]) -> None:
    """What is frozen is whole: a row put aside could never be added to it."""
    for one in checked:
        if get_table(one.batch.table).is_frozen and (count := one.landing.rejected_count):
            rules = sorted(one.quarantined["rule"].unique().to_list())
            raise ContractError(
                f"{count} rows of {one.batch.landing_unit} break a rule of their table ({', '.join(rules[:3])}), and what is "
                "published is whole or not at all: nothing of it was written. This is a fault of Proctor's: please report it."
            )
