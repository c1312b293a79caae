"""DuckDB's errors as ours: what they say about a statement is kept, what they may quote of a row is not."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from schemas.errors import StoreError, UsageError

if TYPE_CHECKING:
    import duckdb

# How often a writer that met another one tries.
CONFLICT_TRIES = 10


def translate_error(error: duckdb.Error) -> UsageError | StoreError:
    """A DuckDB error as ours. Only messages about the statement are repeated: others may quote a row's values."""
    import duckdb

    about_statement = (duckdb.ParserException, duckdb.BinderException, duckdb.CatalogException)
    if isinstance(error, about_statement):
        lines = [line for line in str(error).splitlines() if not line.startswith("\t")]
        return UsageError("The statement cannot be run: " + "\n".join(lines).strip())
    name = re.sub(r"(?<!^)(?=[A-Z])", " ", type(error).__name__).lower()
    return StoreError(f"The query failed in DuckDB ({name}). Check its types and parameters, then run again.")


def is_conflict(error: duckdb.Error) -> bool:
    """Whether two writers met, so that one of them may try again."""
    import duckdb

    return isinstance(error, duckdb.TransactionException) or "conflict" in str(error).lower()
