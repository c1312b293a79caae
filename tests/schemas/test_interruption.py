"""A signal is told from a fault, however deep a library has wrapped it."""

from __future__ import annotations

import pytest
from sqlalchemy import create_engine
from sqlalchemy.exc import PendingRollbackError

from schemas.errors import is_interruption


class Ended(BaseException):
    """A signal as Prefect raises it within a flow.

    It is neither a KeyboardInterrupt nor an Exception.
    """


@pytest.mark.parametrize("signal", [KeyboardInterrupt(), Ended()])
def test_a_signal_is_found_below_what_broke_by_it(signal: BaseException) -> None:
    def break_off() -> None:
        try:
            raise signal
        finally:
            raise PendingRollbackError("what the signal broke off cannot be rolled back")

    with pytest.raises(PendingRollbackError) as found:
        break_off()
    assert is_interruption(found.value)
    assert is_interruption(KeyboardInterrupt())
    assert is_interruption(RuntimeError("Query interrupted"))


def test_a_fault_is_no_signal() -> None:
    engine = create_engine("sqlite://")
    with pytest.raises(Exception, match="no such table") as found, engine.connect() as connection:
        connection.exec_driver_sql("SELECT * FROM absent_table")
    assert not is_interruption(found.value)
    one, other = ValueError("one"), ValueError("other")
    closed = ValueError("while a generator was closed")
    closed.__context__ = GeneratorExit()
    assert not is_interruption(closed)
    one.__context__, other.__context__ = other, one
    assert not is_interruption(one)
