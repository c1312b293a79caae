"""What the hosts of an installation share: fingerprints of files, never their content."""

from __future__ import annotations

from sqlalchemy import Connection, delete, insert, select

from schemas.ledger.engine import NotedFile
from warehouse.ledger.engine.inserting import insert_into
from warehouse.ledger.engine.moments import now_text
from warehouse.ledger.engine.rows import iter_rows
from warehouse.ledger.engine.tables import shared_files


def read_noted_files(connection: Connection) -> dict[str, NotedFile]:
    """The noted files by name."""
    return {file.name: file for file in iter_rows(connection, NotedFile, select(shared_files))}


def note_file(connection: Connection, name: str, fingerprint: str, host: str) -> None:
    """Note a file that was not noted yet; of two hosts that do so at once, the first counts."""
    values = {"name": name, "fingerprint": fingerprint, "host": host, "noted_at": now_text()}
    connection.execute(insert_into(connection.dialect.name, shared_files).on_conflict_do_nothing(), values)


def replace_noted_file(connection: Connection, name: str, fingerprint: str, host: str) -> None:
    """Note a file as it is on this host from now on, whatever was noted of it."""
    values = {"name": name, "fingerprint": fingerprint, "host": host, "noted_at": now_text()}
    connection.execute(delete(shared_files).where(shared_files.c.name == name))
    connection.execute(insert(shared_files).values(**values))
