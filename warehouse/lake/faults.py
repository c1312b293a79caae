"""DuckDB's errors as ours: what they say of a statement is kept, what of a row is not."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from typing import TypeVar

from schemas import patterns as re
from schemas.errors import StoreAway, StoreError, UsageError
from warehouse.lake.duck import duckdb
from warehouse.stores.away import CATALOG, OBJECTS, is_postgresql_away
from warehouse.stores.files import WAY_BACK

T = TypeVar("T")

# A file of the lake's own, as DuckDB quotes it; its folders hold months and names of tables, never a row's text.
_DATA_FILE = re.compile(r"""["']([^"']*/ducklake-[0-9a-f-]+(?:-delete)?\.parquet)["']""")
# What DuckDB says of a file that is shorter than its catalog knows, or that is no Parquet any more, without naming it.
_DATA_GARBLED = re.compile(
    r"TProtocolException|Content-Length from server mismatches|HTTP (?:code )?416|Range Not Satisfiable", re.I
)
# What it says, naming none either, of a file that was written again: its catalog knows how long the end of each is.
_DATA_REWRITTEN = re.compile(r"^Invalid Input Error: Parquet footer length stored in file is not equal")
# What SQLite and the system say of a disk that is full or broken.
_DISK = re.compile(r"disk is full|disk I/O error|No space left|File too large", re.I)
# What they, and PostgreSQL, say of a place that is closed to the user who asks, or may only be read.
_CLOSED = re.compile(r"readonly database|Read-only file system|read-only transaction|permission denied", re.I)
# A file that an error names; one that names none is of the catalog.
_NAMED_FILE = re.compile(r"""["'](/[^"']+)["']""")
# What httpfs says when the object store does not answer, and when it refuses who asks; a file that it does not have is a 404.
_STORE_AWAY = re.compile(
    r"could not (?:connect to|resolve) (?:server|host)|(?:connection|timeout|read|write|ssl connection) (?:error|was reached)"
    r"|server returned nothing|failed sending data|failure when receiving data|transferred a partial file"
    r"|HTTP (?:code )?(?:429|5\d\d)",
    re.I,
)
# httpfs names the request; a local file has none.
_STORE_ASKED = re.compile(r"\bHTTP\b|https?://|s3://", re.I)
_STORE_REFUSES = re.compile(r"HTTP (?:code )?40[0137]", re.I)
# How DuckDB says that a query to the catalog's server broke off; its cause may be missing.
_CATALOG_BROKE = re.compile(r"failed to execute query|failed to (?:prepare|read|copy|fetch).*postgres", re.I)
# How long a reader tries to open a catalog that writers are closing.
OPENING_S = 30.0
# How often a writer that met another one tries.
CONFLICT_TRIES = 10


def translate_error(error: duckdb.Error) -> UsageError | StoreError:
    """A DuckDB error as ours; only messages about the statement, which quote no row, are kept."""
    about_statement = (duckdb.ParserException, duckdb.BinderException, duckdb.CatalogException)
    if isinstance(error, about_statement):
        lines = [line for line in str(error).splitlines() if not line.startswith("\t")]
        return UsageError("The statement cannot be run: " + "\n".join(lines).strip())
    if (away := find_absence(error)) is not None:
        return away
    if _STORE_REFUSES.search(str(error)):
        return StoreError(
            "The object store of the lake's files (PROCTOR_LAKE_DATA) refuses the credentials of the AWS_* variables, or the "
            "request. Check them, and that they may list the bucket: without that a file that is gone is refused, too. Then run "
            "again."
        )
    # A file that could not be written is none that is damaged.
    if (refusal := find_refusal(error)) is not None:
        return refusal
    if (file := _DATA_FILE.search(str(error))) is not None:
        return StoreError(f"The data file {file[1]} of the lake is missing or damaged. {WAY_BACK}")
    if _is_of_store(error) and _DATA_GARBLED.search(str(error)):
        return StoreError(f"A data file of the lake is damaged. {WAY_BACK}")
    if _DATA_REWRITTEN.search(str(error)):
        return StoreError(
            f"A data file of the lake was written again by something else than Proctor. {WAY_BACK}"
        )
    name = re.sub(r"(?<!^)(?=[A-Z])", " ", type(error).__name__).lower()
    return StoreError(f"The query failed in DuckDB ({name}). Check its types and parameters, then run again.")


def find_absence(error: duckdb.Error) -> StoreAway | None:
    """What to raise where the object store or the catalog's server does not answer, or None."""
    if not _is_of_store(error):
        return None
    text = str(error)
    if ("postgres" in text.lower() and is_postgresql_away(error)) or _broke_off(text):
        return StoreAway(
            CATALOG,
            "The lake's catalog in PostgreSQL (PROCTOR_LAKE_CATALOG) does not answer; nothing of this was written. Try again later.",
        )
    if _STORE_AWAY.search(text) and _STORE_ASKED.search(text):
        return StoreAway(
            OBJECTS,
            "The object store of the lake's files (PROCTOR_LAKE_DATA) does not answer; nothing is lost. Check that it runs and the "
            "AWS_* variables, then run again.",
        )
    return None


def find_refusal(error: duckdb.Error) -> StoreError | None:
    """What to raise where disk, file or catalog takes nothing however often tried, or None."""
    text = str(error)
    # Of a connection that is refused `quote_refusal` says why.
    if not _is_of_store(error) or "Unable to connect to Postgres" in text:
        return None
    cause = _find_cause(text)
    place = "its catalog, in PROCTOR_HOME or where PROCTOR_LAKE_CATALOG says"
    # SQLite breaks a query off, too; what begins so is PostgreSQL's, and has no query in its first line.
    if cause is not None and cause.startswith("ERROR:"):
        place = f"its catalog in PostgreSQL: {cause.removeprefix('ERROR:').strip().partition(chr(10))[0]}"
    elif cause is None and (named := _NAMED_FILE.search(text)):
        place = named[1]
    text = text if cause is None else cause
    if _CLOSED.search(text):
        return StoreError(
            f"The lake is closed to the user that runs this, or may only be read ({place}); nothing was written. Give that user the "
            "rights, or let the disk or the server be written again, then run again."
        )
    if _DISK.search(text):
        return StoreError(
            f"The lake's disk takes or gives nothing more ({place}); nothing was written. Check free space, then run again."
        )
    return None


def _is_of_store(error: duckdb.Error) -> bool:
    """Whether it is of what keeps the rows; what extensions throw may have no class.

    What is wrong with a statement or with a value may quote both, and so say anything.
    """
    return isinstance(error, duckdb.OperationalError) or type(error) is duckdb.Error


def _find_cause(text: str) -> str | None:
    """What the catalog's server said of a query that failed, without the query and its values."""
    broken = _CATALOG_BROKE.search(text)
    return None if broken is None else text[broken.end() :].rpartition('":')[2].strip()


def _broke_off(text: str) -> bool:
    """Whether a query to the catalog broke off: its cause says so, or, with no connection, none."""
    cause = _find_cause(text)
    return cause is not None and (not cause or is_postgresql_away(RuntimeError(cause)))


def is_conflict(error: duckdb.Error) -> bool:
    """Whether two writers met, so that one of them may try again."""
    is_met = isinstance(error, duckdb.TransactionException) or "conflict" in str(error).lower()
    return is_met and find_refusal(error) is None and find_absence(error) is None


def retry_opening(run: Callable[[], T]) -> T:
    """What `run` returns.

    It is run again while the catalog is being closed by a writer, for up to `OPENING_S` seconds.
    """
    deadline = time.monotonic() + OPENING_S
    while True:
        try:
            return run()
        except duckdb.Error as error:
            # SQLite removes the catalog's log when its last writer closes it: a moment later it opens again.
            if "unable to open database file" not in str(error) or time.monotonic() > deadline:
                raise
        time.sleep(random.uniform(0.001, 0.01))
