"""A ledger brought back to an earlier form, as a version of then would have left it."""

from __future__ import annotations

from alembic import command
from sqlalchemy import make_url

from warehouse.ledger.connections import create_ledger_engine
from warehouse.ledger.migrate import make_config
from warehouse.ledger.sides import find_ledger_file, name_exam_file

# The step that divides an embedded ledger: the exam's file has no earlier form.
DIVIDED = "0013"


def make_older(url: str, form: str) -> None:
    """Take the tables back to `form`; embedded, the exam's side first, for dividing is undone with its tables as they were then."""
    file = find_ledger_file(url)
    sides = [] if file is None else [(f"sqlite:///{name_exam_file(file)}", "exam", DIVIDED)]
    for address, side, target in (*sides, (str(url), None, form)):
        engine = create_ledger_engine(make_url(address).render_as_string(hide_password=False))
        command.downgrade(make_config(engine, side), target)  # type: ignore[arg-type]
        engine.dispose()
