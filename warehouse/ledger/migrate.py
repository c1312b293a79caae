"""Bring the ledger's tables to the version of the code."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from sqlalchemy import Engine, inspect

from schemas.errors import StoreError

if TYPE_CHECKING:
    from alembic.config import Config

MIGRATIONS = Path(__file__).parent / "migrations"
HEAD = "0014"


def upgrade_ledger(engine: Engine) -> None:
    """Create or upgrade the tables; does nothing when they are current. Safe from several processes at once."""
    if read_ledger_version(engine) == HEAD:
        return
    from alembic import command
    from alembic.util.exc import CommandError

    try:
        command.upgrade(make_config(engine), "head")
    except CommandError:
        raise StoreError(
            f"The ledger was written by another version of Proctor (it is at {read_ledger_version(engine)!r}, "
            f"this one knows up to {HEAD!r}). Use the newer Proctor, or restore a backup."
        ) from None


def make_config(engine: Engine) -> Config:
    """What Alembic needs to know: where the migrations lie, and on which engine they run."""
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    config.attributes["engine"] = engine
    return config


def read_ledger_version(engine: Engine) -> str | None:
    """The migration that the tables are at; null for an empty ledger."""
    with engine.connect() as connection:
        if not inspect(connection).has_table("alembic_version"):
            return None
        row = connection.exec_driver_sql("select version_num from alembic_version").first()
        connection.rollback()
    return None if row is None else str(row[0])
