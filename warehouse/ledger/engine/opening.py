"""Open the ledger for its owner, or the exam's side alone, where it is the home's."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Final

from sqlalchemy import Engine, inspect
from sqlalchemy.exc import DBAPIError, OperationalError

from schemas.errors import StoreAway, StoreError
from warehouse.ledger.engine.commits import explain_refusal, is_away
from warehouse.ledger.engine.connections import create_ledger_engine
from warehouse.ledger.engine.copies.files import is_new
from warehouse.ledger.engine.exam_role import check_role
from warehouse.ledger.engine.ledger import Ledger
from warehouse.ledger.engine.migrate import (
    HEAD,
    is_form_known,
    read_ledger_version,
    refuse_form,
    upgrade_ledger,
)
from warehouse.ledger.engine.sides import OPEN_ANSWERS, find_ledger_file, name_exam_file, show_address
from warehouse.stores.away import LEDGER, quote_refusal, until_there
from warehouse.stores.installation import (
    check_held_id,
    check_store_file,
    exam_file,
    find_expected_id,
    ledger_file,
)

# A SQLSTATE of PostgreSQL (its appendix A), and what it means of who opens a ledger.
_INSUFFICIENT_PRIVILEGE: Final = "42501"
_NO_RIGHTS: Final = "its role in PostgreSQL lacks the rights; the ledger's tables are to be that role's own"


def open_ledger(url: str, *, busy_s: float | None = None) -> Ledger:
    """Open both sides of the ledger at `url`, for the ledger's owner.

    Its tables are created or upgraded. With `busy_s` a write that waits so long for another process's lock raises StoreError: for
    servers, whose callers can wait themselves. Without it commands wait for minutes. Raises StoreError when it cannot be reached
    for a long time, was written by a newer version, or is not the ledger of its home.
    """
    return until_there(partial(_open_ledger, url, busy_s), stores=(LEDGER,))


def _open_ledger(url: str, busy_s: float | None) -> Ledger:
    expected = find_expected_id(url)
    check_store_file(ledger_file(url), expected)
    check_store_file(exam_file(url), expected)
    engine = create_ledger_engine(url, busy_s=busy_s)
    with _telling_of(url, engine):
        if expected is not None and engine.dialect.name != "sqlite":
            _check_server(engine, expected, is_empty=read_ledger_version(engine) is None)
        upgrade_ledger(engine)
    file = find_ledger_file(url)
    if file is None:
        return Ledger(engine, busy_s=busy_s)
    engine.dispose()
    attached = create_ledger_engine(url, attached=name_exam_file(file), busy_s=busy_s)
    return Ledger(attached, has_exam_attached=True, busy_s=busy_s)


def open_exam_database(url: str, *, busy_s: float | None = None) -> Ledger:
    """Open the exam's side alone: its file, or a server by the role of the exam API.

    Creates and upgrades nothing. `busy_s` is that of `open_ledger`. Raises StoreError when it is not there,
    not at the form of the code, or shows more than the exam's side.
    """
    return until_there(partial(_open_exam_database, url, busy_s), stores=(LEDGER,))


def _open_exam_database(url: str, busy_s: float | None) -> Ledger:
    file, expected = find_ledger_file(url), find_expected_id(url)
    if expected is not None:
        check_store_file(exam_file(url), expected)
    if file is not None and not file.exists():
        raise StoreError(
            f"There is no exam database at {file}. Run `proctor exam database`: it makes it for a new home, and says what to do where "
            "the ledger is there alone."
        )
    engine = create_ledger_engine(url, busy_s=busy_s)
    with _telling_of(url, engine):
        if engine.dialect.name == "postgresql":
            check_role(engine)
            engine.update_execution_options(**{OPEN_ANSWERS: True})
        found = read_ledger_version(engine)
        if found is not None and not is_new(found) and not is_form_known(found):
            raise refuse_form(found)
        if found != HEAD:
            raise StoreError(
                f"The exam database is at form {found or 'none'}, and this Proctor needs {HEAD}. Run `proctor exam database`, which "
                "brings it there; nothing is lost."
            )
    return Ledger(engine, busy_s=busy_s, is_whole=False)


@contextmanager
def _telling_of(url: str, engine: Engine) -> Iterator[None]:
    """Errors of opening as sentences; the engine is disposed of."""
    shown = show_address(url)
    try:
        yield
    except StoreError:
        engine.dispose()
        raise
    except (DBAPIError, sqlite3.Error) as error:
        engine.dispose()
        said = getattr(error, "orig", error)
        name = type(said).__name__
        lacks_rights = getattr(said, "sqlstate", None) == _INSUFFICIENT_PRIVILEGE
        if cause := _NO_RIGHTS if lacks_rights else explain_refusal(error):
            text = f"The ledger at {shown} cannot be opened: {cause}. Mend that, then run again."
        elif isinstance(error, OperationalError | sqlite3.OperationalError):
            text = (
                f"The ledger at {shown} cannot be opened ({quote_refusal(said)}). Check PROCTOR_LEDGER_URL, or that the folder of PROCTOR_HOME "
                "can be written."
            )
        else:
            text = (
                f"The ledger at {shown} is not readable as a ledger ({name}). Restore it from a backup, or point PROCTOR_LEDGER_URL "
                "elsewhere."
            )
        raise (StoreAway(LEDGER, text) if is_away(error) else StoreError(text)) from None


def _check_server(engine: Engine, expected: str, *, is_empty: bool) -> None:
    """Raise StoreError for a server's ledger that is empty or another owner's; older forms pass."""
    held = None
    if not is_empty and inspect(engine).has_table("installation"):
        with engine.connect() as connection:
            held = connection.exec_driver_sql("SELECT installation_id FROM installation").scalar()
            connection.rollback()
    check_held_id("ledger on its server", None if held is None else str(held), expected)
