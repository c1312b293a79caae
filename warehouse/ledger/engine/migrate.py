"""Bring the ledger's tables to the version of the code.

A new ledger gets the tables of the code and is marked with their form; the steps bring a ledger of an earlier form there. Embedded, the ledger and its exam's file each have a form of their own. Every step of `migrations/versions` runs on both and does
on each what concerns its tables (`sides.on_side`): a file is brought to its form in one transaction,
so that a kill leaves each whole, at one form or the next.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal

from sqlalchemy import Engine, inspect, text

from schemas.errors import StoreError
from warehouse.ledger.engine.connections import create_ledger_engine
from warehouse.ledger.engine.copies import files
from warehouse.ledger.engine.sides import find_ledger_file, name_exam_file

if TYPE_CHECKING:
    from alembic.config import Config

MIGRATIONS = Path(__file__).parent / "migrations"
HEAD = "1002"
# On a server: held by whoever makes or changes tables, until its transaction ends.
LOCK_FORM = "SELECT pg_advisory_xact_lock(720173)"


def upgrade_ledger(engine: Engine) -> None:
    """Create or upgrade the tables, from any process; StoreError for a form not known."""
    ledger = find_ledger_file(engine.url)
    if ledger is None:
        if (read_ledger_version(engine) or _create_on_server(engine)) != HEAD:
            _upgrade(engine, "both")
        return
    exam = name_exam_file(ledger)
    state = files.read_state(ledger)
    if state.form is None:
        files.create_files(ledger, HEAD)
        state = files.read_state(ledger)
    if state.form is None:
        raise StoreError(
            f"{ledger} holds other tables than a ledger's; nothing was written into it. Point PROCTOR_LEDGER_URL elsewhere."
        )
    if state.form != HEAD:
        _upgrade(engine, "ledger")
        state = files.read_state(ledger)
    exam_state = files.check_pair(ledger, state.pair)
    if files.is_new(exam_state.form):
        files.promote(exam)
        exam_state = files.read_state(exam)
    if exam_state.form != HEAD:
        exam_engine = create_ledger_engine(f"sqlite:///{exam}")
        try:
            _upgrade(exam_engine, "exam")
        finally:
            exam_engine.dispose()


def make_config(engine: Engine, side: Literal["ledger", "exam", "both"] | None = None) -> Config:
    """What Alembic needs: where the migrations lie, the engine, and the side it brings up."""
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    config.attributes["engine"] = engine
    config.attributes["side"] = side or ("ledger" if engine.dialect.name == "sqlite" else "both")
    return config


def read_ledger_version(engine: Engine) -> str | None:
    """The migration that the tables are at; null for an empty ledger."""
    with engine.connect() as connection:
        if not inspect(connection).has_table("alembic_version"):
            return None
        row = connection.exec_driver_sql("select version_num from alembic_version").first()
        connection.rollback()
    return None if row is None else str(row[0])


def is_form_known(form: str) -> bool:
    """Whether the steps lead from that form to the code's."""
    return any((MIGRATIONS / "versions").glob(f"{form}_*.py"))


def refuse_form(form: str | None) -> StoreError:
    """The error for a ledger of a form that no step leads from."""
    return StoreError(
        f"The ledger was written by another version of Proctor (its form is {form!r}, this one has {HEAD!r}): a newer one, or one "
        "from before the first release. Use that version, restore a backup, or begin in a new PROCTOR_HOME."
    )


def _create_on_server(engine: Engine) -> str:
    """Make all tables in one transaction; returns the form, which another process may have made."""
    from warehouse.ledger.engine.tables import read_metadata

    metadata = read_metadata(engine.dialect.name)
    with engine.connect() as connection:
        connection.exec_driver_sql("BEGIN")
        try:
            connection.exec_driver_sql(LOCK_FORM)
            if not inspect(connection).has_table("alembic_version"):
                metadata.create_all(connection, checkfirst=False)
                for table in metadata.sorted_tables:
                    for row in table.info.get("first_rows", ()):
                        connection.execute(table.insert().values(row))
                connection.exec_driver_sql(files.FORM_TABLE)
                connection.execute(text("INSERT INTO alembic_version VALUES (:form)"), {"form": HEAD})
            connection.exec_driver_sql("COMMIT")
        except BaseException:
            connection.exec_driver_sql("ROLLBACK")
            raise
    return read_ledger_version(engine) or HEAD


def _upgrade(engine: Engine, side: Literal["ledger", "exam", "both"]) -> None:
    from alembic import command
    from alembic.util.exc import CommandError

    try:
        command.upgrade(make_config(engine, side), "head")
    except CommandError:
        raise refuse_form(read_ledger_version(engine)) from None
