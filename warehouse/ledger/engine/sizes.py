"""How large a ledger is, as its engine says without reading a row."""

from __future__ import annotations

from sqlalchemy import Connection


def measure_size(connection: Connection) -> int:
    """Bytes of the ledger and of the exam's side of it; on a server those of the whole database."""
    if connection.dialect.name != "sqlite":
        return int(connection.exec_driver_sql("SELECT pg_database_size(current_database())").scalar_one())
    names = [str(row[1]) for row in connection.exec_driver_sql("PRAGMA database_list").all()]
    total = 0
    for name in names:
        pages = connection.exec_driver_sql(f'PRAGMA "{name}".page_count').scalar_one()
        total += int(pages) * int(connection.exec_driver_sql(f'PRAGMA "{name}".page_size').scalar_one())
    return total
