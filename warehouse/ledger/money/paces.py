"""How fast a provider is asked, over all processes and hosts, by the ledger's clock."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final, NamedTuple

from sqlalchemy import ColumnElement, Connection, Float, bindparam, func, literal_column, select, update

from warehouse.ledger.engine.inserting import insert_into
from warehouse.ledger.engine.leases.clock import read_database_clock
from warehouse.ledger.engine.statements import HotStatement, Later
from warehouse.ledger.engine.tables import provider_paces

# No provider is believed that asks for a longer pause; one that ends later was noted by a clock that was set back.
LONGEST_PAUSE_S: Final = 660.0
_PACES = provider_paces.c
_LONG_AGO = 0.0
_LEFT = _PACES.paused_until - bindparam("now", type_=Float)
_LEFT_ON_SERVER = _PACES.paused_until - func.extract("epoch", func.clock_timestamp())
_LONGEST: Final[ColumnElement[float]] = literal_column(str(LONGEST_PAUSE_S))
_PAUSES = HotStatement(select(_PACES.name, _LEFT).where(literal_column("0") < _LEFT, _LEFT <= _LONGEST))
_PAUSES_ON_SERVER = HotStatement(
    select(_PACES.name, _LEFT_ON_SERVER).where(
        literal_column("0") < _LEFT_ON_SERVER, _LEFT_ON_SERVER <= _LONGEST
    )
)
# Moments further ahead than so many intervals, and this span, are those of a clock that was set back.
_MOST_AHEAD = 1_000
_MOST_AHEAD_S = 60.0


class _Pace(NamedTuple):
    now: float
    next_at: float
    paused_until: float


def take_moment(
    connection: Connection, name: str, *, interval_s: float, slack_s: float, most_ahead_s: float | None = None
) -> float:
    """Seconds until the caller may send.

    The moment is taken at once, so that no other process takes it too. Moments are `interval_s` apart; after a pause, those of the last
    `slack_s` may be taken together. `most_ahead_s` is how far ahead callers may have taken moments at most, where their intervals differ.
    """
    pace = _lock(connection, name)
    if most_ahead_s is None:
        most_ahead_s = _MOST_AHEAD * interval_s + _MOST_AHEAD_S
    is_believed = pace.next_at <= pace.now + most_ahead_s
    moment = max(pace.now - slack_s, pace.next_at if is_believed else pace.now)
    connection.execute(update(provider_paces).where(_PACES.name == name).values(next_at=moment + interval_s))
    return max(moment, pace.paused_until) - pace.now


def shift_moments(connection: Connection, name: str, seconds: float) -> None:
    """Let the next one wait so much longer (or less): a call took other time than set aside."""
    connection.execute(
        update(provider_paces).where(_PACES.name == name).values(next_at=_PACES.next_at + seconds)
    )


def pause_provider(connection: Connection, name: str, seconds: float) -> None:
    """Let nobody send for so long; a longer pause that runs already stays."""
    pace = _lock(connection, name)
    connection.execute(
        update(provider_paces)
        .where(_PACES.name == name)
        .values(paused_until=max(pace.paused_until, pace.now + seconds))
    )


def read_pauses(connection: Connection) -> Later[dict[str, float]]:
    """Seconds that pauses still last, by provider; one statement that nobody waits for alone."""
    found: Iterable[tuple[Any, ...]]
    if connection.dialect.name == "sqlite":
        found = list(_PAUSES.run(connection, {"now": read_database_clock(connection)}))
    else:
        found = _PAUSES_ON_SERVER.run(connection, {})
    return Later(lambda: {str(name): float(left) for name, left in found})


def _lock(connection: Connection, name: str) -> _Pace:
    query = select(_PACES.next_at, _PACES.paused_until).where(_PACES.name == name).with_for_update()
    row = connection.execute(query).first()
    if row is None:
        first = insert_into(connection.dialect.name, provider_paces).values(
            name=name, next_at=_LONG_AGO, paused_until=_LONG_AGO
        )
        connection.execute(first.on_conflict_do_nothing())
        row = connection.execute(query).one()
    now, next_at, paused_until = read_database_clock(connection), float(row[0]), float(row[1])
    return _Pace(now, next_at, paused_until if paused_until <= now + LONGEST_PAUSE_S else _LONG_AGO)
