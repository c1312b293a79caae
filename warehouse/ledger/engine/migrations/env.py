"""Alembic's entry point: one transaction under a lock, as two processes may start."""

from __future__ import annotations

from alembic import context

from warehouse.ledger.engine.migrate import LOCK_FORM
from warehouse.ledger.engine.tables import read_metadata

engine = context.config.attributes["engine"]
is_sqlite = engine.dialect.name == "sqlite"

with engine.connect() as connection:
    connection.exec_driver_sql("BEGIN IMMEDIATE" if is_sqlite else "BEGIN")
    if not is_sqlite:
        connection.exec_driver_sql(LOCK_FORM)
    context.configure(
        connection=connection,
        target_metadata=read_metadata(engine.dialect.name),
        render_as_batch=is_sqlite,
        transactional_ddl=False,
        side=context.config.attributes["side"],
    )
    try:
        context.run_migrations()
    except BaseException:
        connection.exec_driver_sql("ROLLBACK")
        raise
    connection.exec_driver_sql("COMMIT")
