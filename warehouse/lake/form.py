"""The form of a lake's rows: kept in the comment of `landings`.

It is checked before anything is read or written. What the contract adds (tables, columns, comments, views) comes from
`definitions` and needs no new form. A change that rows have to follow, such as a renamed column or other units, raises FORM;
what became of the rows of the form before is then written in `bring_up_to_date`, inside the one transaction that it makes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from schemas import patterns as re
from schemas.errors import StoreError
from warehouse.lake.attach import ALIAS, is_postgres, read_stored_comment

if TYPE_CHECKING:
    import duckdb

    from schemas.settings import Settings

FORM = 1
_FORM_IN_COMMENT = re.compile(r"\[lake form (\d+)\]")


def describe_form() -> str:
    """What the comment of `landings` says of the form."""
    return f"[lake form {FORM}]"


def check_form(settings: Settings, connection: duckdb.DuckDBPyConnection) -> None:
    """Pass if the attached lake has tables of this version's form, or none; StoreError else."""
    if is_postgres(settings.catalog_address):
        row = connection.execute(
            f"SELECT comment FROM duckdb_tables() WHERE database_name = '{ALIAS}' AND table_name = 'landings'"
        ).fetchone()
        if row is None:
            return
        comment = str(row[0])
    else:
        # A reader must not wait for DuckDB's list of all tables (50 ms) to learn what the catalog says.
        stored = read_stored_comment(settings, "landings", connection)
        if stored is None:
            return
        comment = stored
    found = _FORM_IN_COMMENT.search(comment)
    if found is not None and int(found[1]) == FORM:
        return
    was = f"its rows have form {found[1]}" if found else "its rows have no form that this version knows"
    raise StoreError(
        f"The lake was not written by this version of Proctor: {was}, and this version reads form {FORM}. It is of a newer "
        "version, or of one before the first release. Use that version, restore a backup, or begin in a new PROCTOR_HOME."
    )
