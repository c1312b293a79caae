"""The time that deadlines are decided by.

It is the database's clock, as far as something besides it shows that it is right. The clock of an embedded ledger is this host's, of
one on a server the server's. Beside it stands what no wrong setting changes: the uptime of this host since a mark in the ledger, and
the last entries of the audit and the public log. A clock that is earlier than they allow, or far later than the uptime does, is
refused. What passed while the host was off, nothing shows but the clock: such a span is a doubt, and a deadline that has passed only
if the doubt is true time does not count as passed. A person can confirm the clock.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple, Protocol
from weakref import WeakKeyDictionary

from sqlalchemy import delete, func, select, update

from schemas.errors import ClockError
from schemas.ledger.engine import ClockMark
from warehouse.ledger.engine.inserting import insert_into
from warehouse.ledger.engine.logs import is_gathering
from warehouse.ledger.engine.logs.chain import Entry, add_entry
from warehouse.ledger.engine.logs.public_log import read_last_public_moment
from warehouse.ledger.engine.moments import write_moment
from warehouse.ledger.engine.rows import read_rows
from warehouse.ledger.engine.tables import access_log, clock_marks
from warehouse.stores.away import GRACE_S, was_away_lately

if TYPE_CHECKING:
    from sqlalchemy import Connection, Engine

    from warehouse.ledger.engine.ledger import Ledger

# Clocks that differ by so little agree.
TOLERANCE_S: Final = 120.0
# Doubts up to so much only delay what a deadline brings; a longer one stops it until a person has looked at the clock.
LONGEST_WAIT_S: Final = 86_400.0
# How long a look at the ledger is good for, and how often the mark is renewed.
_FRESH_S: Final = 60.0
_MARK_S: Final = 600.0
# Marks of hosts that were not started again for so long say nothing any more.
_KEPT_S: Final = 400 * 86_400.0
_MARKS: Final = clock_marks.c
CONFIRM: Final = "confirm_clock"
LEAP: Final = "clock_leap"


class Boot(NamedTuple):
    """The start of a host, and the seconds since, suspensions included."""

    boot_id: str
    uptime_s: float


@dataclass(frozen=True)
class Host:
    """What a host knows of the time; tests inject one.

    Attributes:
        read_wall: its clock, seconds since 1970.
        read_boot: its start and its uptime, which no setting of the clock changes; null where it tells neither.
        tick: seconds of a clock that is never set, suspensions included where the platform has such a one.
    """

    read_wall: Callable[[], float] = time.time
    read_boot: Callable[[], Boot | None] = lambda: read_boot()
    tick: Callable[[], float] = lambda: read_tick()


class Doubt(NamedTuple):
    """A span that nothing but the clock shows, and the clock when found (None: not over)."""

    seconds: float
    found_at: float | None


@dataclass(frozen=True, slots=True)
class Time:
    """The present moment, and how far it is in doubt.

    Attributes:
        now: the database's clock, Unix time.
        doubts: spans that nothing but it shows.
    """

    now: float
    doubts: tuple[Doubt, ...] = ()

    def find_least(self, since: str) -> float:
        """The earliest moment that it can be now, less doubts found after `since`."""
        return self.now - sum(
            doubt.seconds
            for doubt in self.doubts
            if doubt.found_at is None or write_moment(doubt.found_at) > since
        )

    def has_passed(self, moment: str, since: str) -> bool:
        """Whether a moment set at `since` has passed; ClockError where a doubt alone says so."""
        if moment > write_moment(self.now):
            return False
        least = self.find_least(since)
        doubt_s = self.now - least
        if moment <= write_moment(least):
            return True
        if doubt_s <= LONGEST_WAIT_S:
            return False
        raise ClockError(
            f"A deadline ({_show(datetime.fromisoformat(moment).timestamp())}) has passed by the clock, which says {_show(self.now)}; but of "
            f"the time since it was set {_span(doubt_s)} passed while this host was off or unwatched, and without them it is "
            f"{_show(least)}. Nothing was decided. {_CONFIRM_OR_SET}"
        )

    def settle(self, items: Iterable[tuple[str, Callable[[float], bool]]]) -> float:
        """The moment by which to decide which of several items are due.

        It is now, or as much earlier as one of the items is in doubt. Each item: since when it stands, and whether it is
        due at a moment. A doubt of a day at most is waited for, as by `has_passed`; raises ClockError where a longer one
        alone makes an item due.
        """
        settled = self.now
        for since, is_due in items:
            least = self.find_least(since)
            if least == self.now or not is_due(self.now) or is_due(least):
                continue
            if self.now - least > LONGEST_WAIT_S:
                raise ClockError(
                    f"What is due would be different by the clock, which says {_show(self.now)}, and without {_span(self.now - least)} "
                    f"that passed while this host was off or unwatched ({_show(least)}). Nothing was decided. {_CONFIRM_OR_SET}"
                )
            settled = min(settled, least)
        return settled


@dataclass(frozen=True)
class ClockReading:
    """What is known of the time at one moment; all moments are Unix time.

    Attributes:
        database: the database's clock; of an embedded ledger this host's.
        host: this host's clock.
        last: the last entry of the audit and the public log; null in a new ledger.
        expected: what a mark in the ledger and the uptime since make the time; null without a mark of this start of the host.
        problem: why nothing is decided by this clock, as a sentence that says what to do; null where it agrees.
    """

    database: float
    host: float
    last: float | None
    expected: float | None
    doubts: tuple[Doubt, ...]
    problem: str | None

    @property
    def ahead_of_last_s(self) -> float | None:
        """Seconds since the logs' last entry by the database's clock, negative if it is behind."""
        return None if self.last is None else self.database - self.last


class Clock(Protocol):
    """The time of a process that decides often: a call gives Unix time."""

    def __call__(self) -> float:
        """Seconds since 1970."""

    def look(self, connection: Connection) -> None:
        """Compare it with the ledger's, where the last look is some time ago; raises ClockError."""

    def has_passed(self, moment: str, since: str) -> bool:
        """See Time.has_passed."""


class LedgerClock:
    """The ledger's time in a process: read once, and continued by a clock that is never set."""

    def __init__(self, host: Host | None = None) -> None:
        self.host = host or Host()
        # The time at the last look, and the tick then: one value, since several threads ask.
        self._found: tuple[Time, float] | None = None
        # When the database's server was started, Unix time; 0 where there is none.
        self._server_began = 0.0
        # What a reader has found is noted by whoever writes next.
        self._is_noted = True

    def __call__(self) -> float:
        """Seconds since 1970, as of the last look at the ledger and the time since."""
        if self._found is None:
            return self.host.read_wall()
        found, looked_at = self._found
        return found.now + self.host.tick() - looked_at

    def has_passed(self, moment: str, since: str) -> bool:
        """See Time.has_passed."""
        if self._found is None or not self._found[0].doubts:
            return moment <= write_moment(self())
        return replace(self._found[0], now=self()).has_passed(moment, since)

    def look(self, connection: Connection) -> None:
        """See Clock.look."""
        self.read(connection)

    def read(self, connection: Connection, *, is_believed: bool = False) -> Time:
        """The time, noted when writing; ClockError if refused and not `is_believed`."""
        is_writing = is_gathering(connection)
        is_fresh = self._found is not None and 0 <= self.host.tick() - self._found[1] < _FRESH_S
        if self._found is not None and is_fresh and (self._is_noted or not is_writing):
            return replace(self._found[0], now=self())
        boot, marks = self.host.read_boot(), _read_marks(connection)
        self._server_began = _read_server_start(connection)
        found = judge_clock(
            database=read_database_clock(connection, self.host),
            host=self.host.read_wall(),
            boot=boot,
            marks=marks,
            last=_read_last(connection),
        )
        if found.problem is not None:
            if not is_believed:
                raise ClockError(found.problem)
            return Time(found.database if found.expected is None else found.expected, found.doubts)
        if is_writing:
            _note(connection, found, boot, marks)
        now = Time(found.database, found.doubts)
        self._is_noted = is_writing
        self._found = (now, self.host.tick())
        return now

    def may_be_renewed(self, expires_at: str, now: float) -> bool:
        """Whether a lease ran out before a start of the server too recent for it to be renewed."""
        return now - self._server_began < GRACE_S and expires_at < write_moment(self._server_began)

    def forget(self) -> None:
        """Let the next question look at the ledger."""
        self._found = None


_CLOCKS: WeakKeyDictionary[Engine, LedgerClock] = WeakKeyDictionary()
_CONFIRM_OR_SET: Final = (
    "Set the clock where it is wrong (by a time service); where it is right, confirm it with `proctor clock --confirm`, which the "
    "audit log records."
)


def clock_of(engine: Engine) -> LedgerClock:
    """The clock of a ledger in this process."""
    return _CLOCKS.setdefault(engine, LedgerClock())


def read_time(connection: Connection) -> Time:
    """The trusted time: what everything that decides on a deadline asks. Raises ClockError."""
    return clock_of(connection.engine).read(connection)


def read_lease_time(connection: Connection) -> float:
    """The Unix time for leases: by the uptime where the clock is refused, as leases come back."""
    return clock_of(connection.engine).read(connection, is_believed=True).now


def is_lapsed(connection: Connection, expires_at: str, *, lease_s: float = TOLERANCE_S) -> bool:
    """Whether a lease is over for certain.

    Neither spans in doubt nor a recent absence of the ledger end a lease. A doubt that was found before the lease was to end does
    not touch it, whose length is within TOLERANCE_S: of that span no more than the lease's own length lies after it was set.
    `lease_s`: how long the lease may be otherwise. A process that did not see the absence knows of it by the server's start; one
    of the network alone it does not know of.
    """
    clock = clock_of(connection.engine)
    time = clock.read(connection, is_believed=True)
    if was_away_lately() or clock.may_be_renewed(expires_at, time.now):
        return False
    begun = datetime.fromisoformat(expires_at).timestamp() - max(0.0, lease_s - TOLERANCE_S)
    return expires_at < write_moment(time.find_least(write_moment(begun)))


def check_clock(ledger: Ledger) -> None:
    """Pass where the clock agrees with the ledger, and note its mark; raises ClockError."""
    clock_of(ledger.engine).forget()
    with ledger.write() as connection:
        read_time(connection)


def measure_clock(ledger: Ledger) -> ClockReading:
    """What is known of the time now; raises nothing and writes nothing."""
    host = clock_of(ledger.engine).host
    with ledger.read() as connection:
        return judge_clock(
            database=read_database_clock(connection, host),
            host=host.read_wall(),
            boot=host.read_boot(),
            marks=_read_marks(connection),
            last=_read_last(connection),
        )


def confirm_clock(ledger: Ledger) -> ClockReading:
    """Accept the clock as right, on a person's word and in the log; ClockError for hosts apart."""
    clock, found = clock_of(ledger.engine), measure_clock(ledger)
    if problem := _find_skew(found.database, found.host):
        raise ClockError(problem)
    boot = clock.host.read_boot()
    with ledger.write() as connection:
        now = found.database
        boot_id, uptime_s = boot or Boot("", 0.0)
        own = ClockMark(boot_id=boot_id, moment=now, uptime_s=uptime_s, leap_s=0.0, found_at=now)
        connection.execute(delete(clock_marks).where(_MARKS.boot_id == own.boot_id))
        connection.execute(update(clock_marks).values(leap_s=0.0))
        connection.execute(update(clock_marks).where(_MARKS.moment > now).values(moment=now))
        connection.execute(clock_marks.insert(), own.as_values())
        before = found.expected if found.expected is not None else found.last
        entry = Entry(
            CONFIRM, target=_name_leap(before, now), accessed_at=write_moment(now), is_by_caller=True
        )
        add_entry(connection, entry)
    clock.forget()
    return measure_clock(ledger)


def judge_clock(
    *, database: float, host: float, boot: Boot | None, marks: Sequence[ClockMark], last: float | None
) -> ClockReading:
    """What the clocks, the uptime, the marks and the logs say together. Pure."""
    own = next((mark for mark in marks if boot is not None and mark.boot_id == boot.boot_id), None)
    doubts = tuple(
        Doubt(mark.leap_s, mark.found_at)
        for mark in marks
        if mark.leap_s > 0 and not any(_is_covered(mark, other) for other in marks)
    )
    problem = _find_skew(database, host)
    if own is None or boot is None or boot.uptime_s < own.uptime_s:
        # The logs alone prove no leap where there are marks: a process with a wrong clock may have written to them.
        known = max((mark.moment for mark in marks), default=last)
        floor = max((one for one in (known, last) if one is not None), default=None)
        ahead_s = 0.0 if known is None else database - known
        if floor is not None and database < floor - TOLERANCE_S:
            problem = problem or _describe_behind(database, floor, "what was written last is of")
        if ahead_s > TOLERANCE_S:
            doubts = (*doubts, Doubt(ahead_s, database))
        return ClockReading(database, host, last, None, doubts, problem)
    expected = own.moment + boot.uptime_s - own.uptime_s
    ahead_s = database - expected
    if ahead_s < -TOLERANCE_S - own.leap_s:
        problem = problem or _describe_behind(database, expected, "by the uptime of this host it is")
    elif ahead_s < -TOLERANCE_S:
        # The clock has come back to what it was before a leap: that much of the leap was none.
        left = Doubt(own.leap_s + ahead_s, own.found_at)
        doubts = tuple(left if doubt == Doubt(own.leap_s, own.found_at) else doubt for doubt in doubts)
        doubts = tuple(doubt for doubt in doubts if doubt.seconds > TOLERANCE_S)
    elif ahead_s > LONGEST_WAIT_S:
        problem = problem or (
            f"The clock says {_show(database)}, but by the uptime of this host it is {_show(expected)}: it has leapt {_span(ahead_s)} "
            f"ahead. Nothing was decided. {_CONFIRM_OR_SET}"
        )
    elif ahead_s > TOLERANCE_S:
        doubts = (*doubts, Doubt(ahead_s, None))
    return ClockReading(database, host, last, expected, doubts, problem)


def _is_covered(leap: ClockMark, other: ClockMark) -> bool:
    """Whether another host, on and seen since, confirms the span of a leap by its uptime."""
    return (
        "" not in (leap.boot_id, other.boot_id)
        and other.boot_id != leap.boot_id
        and other.found_at <= leap.found_at - leap.leap_s + TOLERANCE_S
        and leap.found_at <= other.moment
    )


def read_boot() -> Boot | None:
    """The start of this host and its uptime by the kernel, None for a container's or none."""
    try:
        if Path("/proc/uptime").stat().st_dev != Path("/proc").stat().st_dev:
            return None
        # Namespaces of time count from moments of their own.
        own = Path("/proc/self/ns/time")
        namespace = own.readlink().name if own.is_symlink() else ""
        boot_id = Path("/proc/sys/kernel/random/boot_id").read_text("ascii").strip()
        uptime_s = float(Path("/proc/uptime").read_text("ascii").split()[0])
    except (OSError, ValueError, IndexError):
        return None
    return Boot(f"{boot_id} {namespace}".strip()[:80], uptime_s)


def read_tick() -> float:
    """Seconds of a clock that is never set, and on Linux runs while the host is suspended."""
    boot_time = getattr(time, "CLOCK_BOOTTIME", None)
    return time.monotonic() if boot_time is None else time.clock_gettime(boot_time)


def read_database_clock(connection: Connection, host: Host | None = None) -> float:
    """The database server's clock, or that of SQLite's one host: Unix time, unchecked."""
    if connection.dialect.name == "sqlite":
        return (host or clock_of(connection.engine).host).read_wall()
    return float(connection.execute(select(func.extract("epoch", func.clock_timestamp()))).scalar_one())


def _read_server_start(connection: Connection) -> float:
    if connection.dialect.name == "sqlite":
        return 0.0
    return float(
        connection.execute(select(func.extract("epoch", func.pg_postmaster_start_time()))).scalar_one()
    )


def _read_marks(connection: Connection) -> list[ClockMark]:
    return read_rows(connection, ClockMark, select(clock_marks).order_by(_MARKS.moment))


def _read_last(connection: Connection) -> float | None:
    texts = (_read_last_entry(connection), read_last_public_moment(connection))
    return max((datetime.fromisoformat(text).timestamp() for text in texts if text), default=None)


def _read_last_entry(connection: Connection) -> str | None:
    last_id = select(func.max(access_log.c.access_id)).scalar_subquery()
    query = select(access_log.c.accessed_at).where(access_log.c.access_id == last_id)
    found: str | None = connection.execute(query).scalar()
    return found


def _note(connection: Connection, found: ClockReading, boot: Boot | None, marks: Sequence[ClockMark]) -> None:
    """Renew this host's mark where it is old, and write down a leap that was found."""
    now, (boot_id, uptime_s) = found.database, boot or Boot("", 0.0)
    own = next((mark for mark in marks if mark.boot_id == boot_id), None)
    if own is None or found.expected is None:
        leap = next((doubt for doubt in found.doubts if doubt.found_at == now), None)
        leap_s = (0.0 if own is None else own.leap_s) + (0.0 if leap is None else leap.seconds)
        if own is not None and leap is None and now - own.moment < _MARK_S:
            return
        values = ClockMark(
            boot_id=boot_id,
            moment=now,
            uptime_s=uptime_s,
            leap_s=leap_s,
            found_at=now if leap is not None or own is None else own.found_at,
        )
        if own is None:
            first = insert_into(connection.dialect.name, clock_marks).on_conflict_do_nothing()
            is_ours = connection.execute(first, values.as_values()).rowcount == 1
            connection.execute(delete(clock_marks).where(_MARKS.moment < now - _KEPT_S, _MARKS.leap_s == 0))
        else:
            is_ours = _replace(connection, own, values)
        if leap is not None and is_ours:
            target = _name_leap(now - leap.seconds, now)
            add_entry(
                connection, Entry(LEAP, target=target, accessed_at=write_moment(now), is_by_caller=True)
            )
        return
    ahead_s = now - found.expected
    if ahead_s > TOLERANCE_S or (abs(ahead_s) <= TOLERANCE_S and uptime_s - own.uptime_s < _MARK_S):
        return
    leap_s = own.leap_s + ahead_s if ahead_s < -TOLERANCE_S else own.leap_s
    leap_s = leap_s if leap_s > TOLERANCE_S else 0.0
    _replace(connection, own, own.replace(moment=now, uptime_s=uptime_s, leap_s=leap_s))


def _replace(connection: Connection, own: ClockMark, values: ClockMark) -> bool:
    """Replace a mark that is still as it was read; False where another process was first."""
    same = (_MARKS.boot_id == own.boot_id, _MARKS.moment == own.moment)
    # Nobody waits for a mark while holding what others wait for.
    free = select(_MARKS.boot_id).where(*same).with_for_update(skip_locked=True)
    if connection.execute(free).first() is None:
        return False
    changed = connection.execute(update(clock_marks).where(*same).values(**values.as_values()))
    return changed.rowcount == 1


def _find_skew(database: float, host: float) -> str | None:
    if abs(host - database) <= TOLERANCE_S:
        return None
    return (
        f"This host's clock says {_show(host)}, and the database server's {_show(database)}: {_span(abs(host - database))} apart. Nothing "
        "was decided. Set the one that is wrong (by a time service), then run this again."
    )


def _describe_behind(database: float, floor: float, source: str) -> str:
    return (
        f"The clock says {_show(database)}, but {source} {_show(floor)}: it is {_span(floor - database)} behind. Nothing was decided. "
        f"{_CONFIRM_OR_SET}"
    )


def _name_leap(before: float | None, after: float) -> str:
    """The two moments, as an entry of the audit log names them."""
    return f"{'-' if before is None else _show(before)} > {_show(after)}"


def _show(moment: float) -> str:
    return f"{datetime.fromtimestamp(moment, UTC):%Y-%m-%d %H:%M:%S} UTC"


def _span(seconds: float) -> str:
    for unit, length in (("days", 86_400), ("hours", 3_600), ("minutes", 60)):
        if seconds >= 2 * length:
            return f"{seconds / length:.1f} {unit}"
    return f"{seconds:.0f} seconds"
