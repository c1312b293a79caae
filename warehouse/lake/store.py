"""The lake: land what a stage made, query what all stages made.

`Lake.land` is the only way in. It validates, quarantines what breaks a rule, and replaces the unit in one
transaction, so that work may run twice and counts once.
"""

from __future__ import annotations

import hashlib
import random
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, version
from threading import RLock
from typing import TYPE_CHECKING

import polars as pl

from schemas.errors import ContractError, StoreError, UsageError
from schemas.settings import Settings
from schemas.table import LANDING_UNIT, Table
from schemas.tables import get_table
from warehouse.lake.attach import (
    attach_lake,
    catalog_path,
    check_catalog_address,
    has_moved,
    is_initialised,
    is_postgres,
    quote_name,
    quote_text,
    remember_data_path,
)
from warehouse.lake.frames import conform_frame, hash_content, row_as_json

if TYPE_CHECKING:
    import duckdb

LOCK_TIMEOUT_S = 120.0
_OWN_TABLES = ("landings", "quarantine")
_CONFLICT_TRIES = 10


@dataclass(frozen=True)
class Batch:
    """Rows of one unit of a table: the frame has the table's own columns.

    `refused` holds rows of `quarantine` that the stage's own rules refused before the landing; they go with the unit.
    """

    table: str
    unit: str
    frame: pl.DataFrame
    refused: pl.DataFrame | None = None


@dataclass(frozen=True)
class Landing:
    """What a landing came to: rows landed, rows refused, and whether it was already there."""

    table: str
    unit: str
    row_count: int
    rejected_count: int
    is_unchanged: bool


@dataclass(frozen=True)
class _Checked:
    """A batch after validation, ready to be written."""

    batch: Batch
    content_hash: str
    accepted: pl.DataFrame
    quarantined: pl.DataFrame
    rejected_count: int


def open_lake(settings: Settings, read_only: bool = False, *, lock_timeout_s: float = LOCK_TIMEOUT_S) -> Lake:
    """Open the lake; for writing, create it or bring its tables and views up to date first.

    A writer waits up to `lock_timeout_s` for another one. Readers never wait, but for the first opening of a lake that an
    earlier version wrote. Raises StoreError when there is no lake
    to read, when it cannot be opened, or when another writer holds it too long.
    """
    check_catalog_address(settings.catalog_address)
    if read_only:
        return Lake(
            settings,
            _attach_for_reading(settings, lock_timeout_s),
            is_read_only=True,
            lock_timeout_s=lock_timeout_s,
        )
    with ExitStack() as stack:
        if not is_initialised(settings):
            stack.enter_context(hold_writer_lock(settings, lock_timeout_s))
        connection = attach_lake(settings, read_only=False)
    try:
        _bring_up_to_date(settings, connection, lock_timeout_s)
    except BaseException:
        connection.close()
        raise
    return Lake(settings, connection, is_read_only=False, lock_timeout_s=lock_timeout_s)


class Lake:
    """One process's door to the lake; may be shared by threads. Close it, or use it as a context manager."""

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

    def __enter__(self) -> Lake:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connection."""
        self.connection.close()

    def query(self, sql: str, params: Mapping[str, object] | None = None) -> pl.DataFrame:
        """The rows of one statement, with `$name` parameters and unqualified table names.

        Raises UsageError for SQL that does not parse or names what is not there.
        """
        import duckdb

        with self._lock:
            try:
                return _fetch(self.connection, sql, params or {})
            except duckdb.CatalogException as error:
                raise UsageError(_explain_analysis(sql) or str(translate_error(error))) from None
            except duckdb.Error as error:
                raise translate_error(error) from None

    def units(self, table: str) -> set[str]:
        """The units of a table that were landed, those without rows included."""
        get_table(table)
        return set(
            self.query("SELECT unit FROM landings WHERE table_name = $table", {"table": table})["unit"]
        )

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
        """Land several units in one transaction: all are there afterwards, or none. Answers in the given order."""
        if self.is_read_only:
            raise StoreError(
                "The lake was opened for reading only. Open it with read_only=False to land rows."
            )
        _check_batches(batches)
        landed = self._read_landings({batch.table for batch in batches})
        answers: dict[tuple[str, str], Landing] = {}
        changed: list[tuple[Batch, str]] = []
        for batch in batches:
            table = get_table(batch.table)
            conformed = Batch(batch.table, batch.unit, conform_frame(table, batch.frame), batch.refused)
            content_hash = hash_content(table, conformed.frame, ignore)
            if batch.refused is not None and not batch.refused.is_empty():
                content_hash = _hash_with_refused(content_hash, batch.refused)
            before = landed.get((batch.table, batch.unit))
            if before is not None and before[0] == content_hash:
                answers[batch.table, batch.unit] = Landing(
                    batch.table, batch.unit, before[1], before[2], True
                )
            else:
                changed.append((conformed, content_hash))
        if changed:
            checked = _check_rules(changed, stage)
            self._write(checked, flow_run_id)
            for one in checked:
                answers[one.batch.table, one.batch.unit] = Landing(
                    one.batch.table, one.batch.unit, one.accepted.height, one.rejected_count, False
                )
        return [answers[batch.table, batch.unit] for batch in batches]

    def run_named(self, name: str, params: Mapping[str, object] | None = None) -> pl.DataFrame:
        """The rows of a mart, an analysis or a check under `warehouse/sql`."""
        from warehouse.lake.queries import bind_parameters, find_query

        query = find_query(name)
        return self.query(query.body, bind_parameters(query, params or {}))

    def read(self, name: str, params: Mapping[str, object] | None = None) -> pl.DataFrame:
        """The rows of a query under `warehouse/sql/reads`: what a stage reads, named for its rows."""
        from warehouse.lake.queries import bind_parameters, find_read

        query = find_read(name)
        return self.query(query.body, bind_parameters(query, params or {}))

    @contextmanager
    def exclusive(self) -> Iterator[duckdb.DuckDBPyConnection]:
        """The connection, with this process's threads and (embedded) all other writers kept out."""
        if self.is_read_only:
            raise StoreError(
                "The lake was opened for reading only. Open it with read_only=False to change it."
            )
        with self._lock, hold_writer_lock(self.settings, self.lock_timeout_s):
            yield self.connection

    @contextmanager
    def transaction(self) -> Iterator[duckdb.DuckDBPyConnection]:
        """One write transaction under the writer lock; undone when the block raises."""
        with self.exclusive() as connection:
            connection.execute("BEGIN")
            try:
                yield connection
                connection.execute("COMMIT")
            except BaseException:
                _roll_back(connection)
                raise

    @contextmanager
    def read_transaction(self) -> Iterator[None]:
        """Every query of the block sees the lake as of the first one, and nothing can be written."""
        with self._lock:
            self.connection.execute("BEGIN TRANSACTION READ ONLY")
            try:
                yield
            finally:
                _roll_back(self.connection)

    def _read_landings(self, tables: set[str]) -> dict[tuple[str, str], tuple[str, int, int]]:
        rows = self.query(
            "SELECT table_name, unit, content_hash, row_count, rejected_count FROM landings "
            "WHERE list_contains($tables, table_name)",
            {"tables": sorted(tables)},
        ).rows()
        return {(row[0], row[1]): (row[2], row[3], row[4]) for row in rows}

    def _write(self, checked: Sequence[_Checked], flow_run_id: str | None) -> None:
        import duckdb

        for attempt in range(1, _CONFLICT_TRIES + 1):
            try:
                with self.transaction() as connection:
                    _replace_units(connection, checked, flow_run_id)
                return
            except duckdb.Error as error:
                # Without a lock (PostgreSQL) two writers may touch the same file of a table; one of them goes again.
                is_conflict = (
                    isinstance(error, duckdb.TransactionException) or "conflict" in str(error).lower()
                )
                if (
                    not (is_conflict and is_postgres(self.settings.catalog_address))
                    or attempt == _CONFLICT_TRIES
                ):
                    units = ", ".join(sorted({one.batch.table for one in checked}))
                    raise StoreError(
                        f"Landing in {units} failed ({type(error).__name__}, try {attempt}); nothing of it was "
                        "written. Check free disk space and that the catalog answers, then run again."
                    ) from None
                time.sleep(random.uniform(0, 0.05 * 2**attempt))


@contextmanager
def hold_writer_lock(settings: Settings, timeout_s: float = LOCK_TIMEOUT_S) -> Iterator[None]:
    """Hold the right to write to a lake with a SQLite catalog; with PostgreSQL there is nothing to hold.

    The operating system gives it back when its holder dies. Raises StoreError after `timeout_s`.
    """
    catalog = settings.catalog_address
    if is_postgres(catalog):
        yield
        return
    from filelock import FileLock, Timeout

    path = catalog_path(catalog).with_suffix(".lock")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        lock = FileLock(path)
        lock.acquire(timeout=timeout_s, poll_interval=0.005)
    except Timeout:
        raise StoreError(
            f"Another process has been writing to the lake for {timeout_s:g} s (lock {path}). Wait for it, or end it; "
            "then run again."
        ) from None
    except OSError as error:
        raise StoreError(
            f"The lake's folder {path.parent} cannot be written ({type(error).__name__}). Check PROCTOR_HOME and its "
            "permissions."
        ) from None
    try:
        yield
    finally:
        lock.release()


def translate_error(error: duckdb.Error) -> UsageError | StoreError:
    """A DuckDB error as ours. Only messages about the statement are repeated: others may quote a row's values."""
    import duckdb

    about_statement = (duckdb.ParserException, duckdb.BinderException, duckdb.CatalogException)
    if isinstance(error, about_statement):
        lines = [line for line in str(error).splitlines() if not line.startswith("\t")]
        return UsageError("The statement cannot be run: " + "\n".join(lines).strip())
    name = re.sub(r"(?<!^)(?=[A-Z])", " ", type(error).__name__).lower()
    return StoreError(f"The query failed in DuckDB ({name}). Check its types and parameters, then run again.")


def _explain_analysis(sql: str) -> str | None:
    """What to write instead, where a statement selects from a named analysis as if it were a view."""
    import duckdb

    from warehouse.lake.queries import find_names_read, parse_query, read_queries

    try:
        named = find_names_read({"statement": parse_query("statement", "reads", sql)})["statement"]
    except duckdb.Error:
        return None
    for name in sorted(named & set(read_queries("analyses"))):
        reads = find_names_read({name: read_queries("analyses")[name]})[name]
        views = ", ".join(sorted(reads & set(read_queries("marts"))))
        return f"{name} is an analysis, not a view: run it by its name (`proctor sql {name}`)" + (
            f", or select from what it reads: {views}." if views else "."
        )
    return None


@lru_cache(maxsize=1)
def read_code_version() -> str:
    """Version of Proctor as installed; `unknown` when it runs from files that were never installed."""
    try:
        return version("proctor")
    except PackageNotFoundError:
        return "unknown"


def _check_batches(batches: Sequence[Batch]) -> None:
    seen: set[tuple[str, str]] = set()
    for batch in batches:
        get_table(batch.table)
        if batch.table in _OWN_TABLES:
            raise ContractError(
                f"Table {batch.table} is written by every landing itself; land another table."
            )
        if not batch.unit:
            raise ContractError(
                f"A landing in {batch.table} names no unit. Name the unit of work it belongs to."
            )
        if (batch.table, batch.unit) in seen:
            raise ContractError(
                f"Unit {batch.unit!r} of {batch.table} is landed twice at once. Join its frames."
            )
        seen.add((batch.table, batch.unit))


def _check_rules(changed: Sequence[tuple[Batch, str]], stage: str | None) -> list[_Checked]:
    """Validate all batches of a table in one run of its suite."""
    checked: dict[tuple[str, str], _Checked] = {}
    for name in dict.fromkeys(batch.table for batch, _ in changed):
        table = get_table(name)
        batches = [(batch, content_hash) for batch, content_hash in changed if batch.table == name]
        whole = pl.concat([_with_unit(batch) for batch, _ in batches])
        rules = _find_rules_broken(table, whole)
        start = 0
        for batch, content_hash in batches:
            broken = {p - start: rules[p] for p in range(start, start + batch.frame.height) if p in rules}
            start += batch.frame.height
            is_accepted = pl.Series([p not in broken for p in range(batch.frame.height)], dtype=pl.Boolean)
            checked[batch.table, batch.unit] = _Checked(
                batch,
                content_hash,
                _with_unit(batch).filter(is_accepted),
                pl.concat(
                    [_quarantine_frame(table, batch, broken, stage or table.stage), _refused_frame(batch)]
                ),
                len(broken) + _count_refused(batch),
            )
    return [checked[batch.table, batch.unit] for batch, _ in changed]


def _find_rules_broken(table: Table, frame: pl.DataFrame) -> dict[int, list[str]]:
    """Position → names of the rules that the row breaks."""
    if frame.is_empty():
        return {}
    from schemas.expectations import find_refusals

    broken: dict[int, list[str]] = {}
    for refusal in find_refusals(table, frame):
        broken.setdefault(refusal.position, []).append(refusal.rule)
    return broken


def _with_unit(batch: Batch) -> pl.DataFrame:
    return batch.frame.with_columns(pl.lit(batch.unit, pl.String).alias(LANDING_UNIT.name))


def _quarantine_frame(table: Table, batch: Batch, broken: dict[int, list[str]], stage: str) -> pl.DataFrame:
    now = datetime.now(UTC)
    rows: list[dict[str, object]] = []
    for position, rules in broken.items():
        row = batch.frame.row(position, named=True)
        for rule in rules:
            rows.append(
                {
                    "table_name": table.name,
                    "unit": batch.unit,
                    "stage": stage,
                    "row_key": row_as_json({name: row[name] for name in table.key}),
                    "rule": rule,
                    "row_json": row_as_json(row),
                    "quarantined_at": now,
                }
            )
    return _own_frame("quarantine", rows)


def _refused_frame(batch: Batch) -> pl.DataFrame:
    """Rows that the stage refused itself, as quarantine of this landing."""
    if batch.refused is None:
        return _own_frame("quarantine", [])
    rows = batch.refused.select([column.name for column in get_table("quarantine").own_columns])
    return rows.with_columns(
        pl.lit(batch.table).alias("table_name"),
        pl.lit(batch.unit).alias("unit"),
        pl.lit(f"{batch.table}/{batch.unit}").alias(LANDING_UNIT.name),
    )


def _count_refused(batch: Batch) -> int:
    """Refused rows: one that breaks two rules is one row."""
    return 0 if batch.refused is None else batch.refused["row_json"].n_unique()


def _hash_with_refused(content_hash: str, refused: pl.DataFrame) -> str:
    lines = sorted(f"{row[0]} {row[1]}" for row in refused.select("rule", "row_json").iter_rows())
    return hashlib.sha256("\n".join([content_hash, *lines]).encode()).hexdigest()


def _own_frame(name: str, rows: list[dict[str, object]]) -> pl.DataFrame:
    """Rows of `landings` or `quarantine`, which belong to the landing of a table's unit."""
    frame = get_table(name).frame(rows)
    return frame.with_columns(pl.concat_str("table_name", "unit", separator="/").alias(LANDING_UNIT.name))


def _replace_units(
    connection: duckdb.DuckDBPyConnection, checked: Sequence[_Checked], flow_run_id: str | None
) -> None:
    """Delete what the units held, insert what they hold now, and say so in `landings`."""
    _delete_units(connection, checked)
    for name in dict.fromkeys(one.batch.table for one in checked):
        _insert(connection, name, pl.concat([one.accepted for one in checked if one.batch.table == name]))
    _insert(connection, "quarantine", pl.concat([one.quarantined for one in checked]))
    now = datetime.now(UTC)
    landings: list[dict[str, object]] = [
        {
            "table_name": one.batch.table,
            "unit": one.batch.unit,
            "row_count": one.accepted.height,
            "rejected_count": one.rejected_count,
            "content_hash": one.content_hash,
            "flow_run_id": flow_run_id,
            "code_version": read_code_version(),
            "landed_at": now,
        }
        for one in checked
    ]
    _insert(connection, "landings", _own_frame("landings", landings))


def _delete_units(connection: duckdb.DuckDBPyConnection, checked: Sequence[_Checked]) -> None:
    """Only what `landings` says is there: a first landing has nothing to delete, and looks for nothing."""
    names = sorted({one.batch.table for one in checked})
    units = sorted({one.batch.unit for one in checked})
    before = connection.execute(
        "SELECT table_name, unit, row_count, rejected_count FROM landings "
        "WHERE list_contains($names, table_name) AND list_contains($units, unit)",
        {"names": names, "units": units},
    ).fetchall()
    wanted = {(one.batch.table, one.batch.unit) for one in checked}
    held = [row for row in before if (row[0], row[1]) in wanted]
    for name in names:
        if gone := [unit for table, unit, row_count, _ in held if table == name and row_count]:
            _delete(connection, name, LANDING_UNIT.name, gone)
    if gone := [f"{table}/{unit}" for table, unit, _, rejected_count in held if rejected_count]:
        _delete(connection, "quarantine", LANDING_UNIT.name, gone)
    if held:
        _delete(connection, "landings", LANDING_UNIT.name, [f"{table}/{unit}" for table, unit, _, _ in held])


def _delete(connection: duckdb.DuckDBPyConnection, table: str, column: str, values: list[str]) -> None:
    marks = ", ".join(f"${index}" for index in range(1, len(values) + 1))
    connection.execute(f"DELETE FROM {quote_name(table)} WHERE {quote_name(column)} IN ({marks})", values)


def _insert(connection: duckdb.DuckDBPyConnection, table: str, frame: pl.DataFrame) -> None:
    if frame.is_empty():
        return
    connection.register("landing_frame", frame.to_arrow())
    try:
        connection.execute(f"INSERT INTO {quote_name(table)} BY NAME SELECT * FROM landing_frame")
    finally:
        connection.unregister("landing_frame")


def _fetch(connection: duckdb.DuckDBPyConnection, sql: str, params: Mapping[str, object]) -> pl.DataFrame:
    """Run a statement. Plain values are bound in SQL: binding Python objects makes DuckDB import pandas (seconds)."""
    if not params:
        return connection.execute(sql).pl()
    literals = {name: _literal(value) for name, value in params.items()}
    if any(literal is None for literal in literals.values()):
        return connection.execute(sql, dict(params)).pl()
    connection.execute(f"PREPARE proctor_query AS {sql}")
    try:
        values = ", ".join(f"{quote_name(name)} := {literal}" for name, literal in literals.items())
        return connection.execute(f"EXECUTE proctor_query({values})").pl()
    finally:
        connection.execute("DEALLOCATE proctor_query")


def _literal(value: object) -> str | None:
    """A plain value as SQL; None for what has no literal here."""
    if value is None:
        return "NULL"
    if isinstance(value, bool):
        return str(value).upper()
    if isinstance(value, int):
        return str(value)
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        return f"[{', '.join(quote_text(item) for item in value)}]::VARCHAR[]"
    return quote_text(value) if isinstance(value, str) else None


def _roll_back(connection: duckdb.DuckDBPyConnection) -> None:
    import duckdb

    try:
        connection.execute("ROLLBACK")
    except duckdb.Error:
        return  # DuckDB has already undone a transaction that failed in COMMIT


def _attach_for_reading(settings: Settings, lock_timeout_s: float) -> duckdb.DuckDBPyConnection:
    """A read-only connection; a lake that an earlier version wrote is brought up to date before."""
    from warehouse.lake.migrations import has_older_form

    connection = attach_lake(settings, read_only=True)
    try:
        if not has_older_form(settings, connection):
            return connection
    except BaseException:
        connection.close()
        raise
    connection.close()
    try:
        open_lake(settings, lock_timeout_s=lock_timeout_s).close()
    except StoreError as error:
        raise StoreError(
            f"The lake was written by an earlier version of Proctor and must be brought up to date before it is read: {error}"
        ) from None
    return attach_lake(settings, read_only=True)


def _bring_up_to_date(
    settings: Settings, connection: duckdb.DuckDBPyConnection, lock_timeout_s: float
) -> None:
    """Create what this version's contract has and the lake lacks, and bring its rows to this version's form.

    All in one transaction; takes the writer lock only if there is something to do.
    """
    import duckdb

    from warehouse.lake.definitions import list_missing_definitions
    from warehouse.lake.migrations import FORM, list_renames, list_updates, read_form

    if not (list_missing_definitions(connection) or has_moved(settings)):
        return
    for attempt in range(1, _CONFLICT_TRIES + 1):
        with hold_writer_lock(settings, lock_timeout_s):
            remember_data_path(settings)
            connection.execute("BEGIN")
            try:
                # Read again: another process may have done it while this one waited.
                form = read_form(connection) or FORM
                for statement in list_renames(form):
                    connection.execute(statement)
                for statement in list_missing_definitions(connection):
                    connection.execute(statement)
                for statement in list_updates(form):
                    connection.execute(statement)
                connection.execute("COMMIT")
                return
            except duckdb.Error as error:
                _roll_back(connection)
                if not _is_conflict(error) or attempt == _CONFLICT_TRIES:
                    raise translate_error(error) from None
        time.sleep(random.uniform(0, 0.05 * 2**attempt))


def _is_conflict(error: duckdb.Error) -> bool:
    import duckdb

    return isinstance(error, duckdb.TransactionException) or "conflict" in str(error).lower()
