"""Closed runs leave the ledger: what may go, why the rest may not yet, and the going."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from schemas.errors import GateError
from tasks.exam.closed import land_access_log, land_closed_sessions
from tasks.models import land_paid_calls
from tasks.operations.erasure import find_refusal, read_last_editions
from tasks.running.archives import archive_run, hold_archives, list_waiting, read_whole
from warehouse.ledger.engine.copies.purging import return_space
from warehouse.ledger.engine.leases.clock import Time, read_time
from warehouse.ledger.engine.leases.processes import read_lease
from warehouse.ledger.exam import archives, closed, sittings
from warehouse.ledger.trust import erasures

if TYPE_CHECKING:
    from datetime import datetime

    from schemas.settings import Settings
    from warehouse.lake import Lake
    from warehouse.ledger.engine.ledger import Connection, Ledger

Step = Callable[[str], None]


@dataclass(frozen=True)
class ArchivableRun:
    """A run of which the ledger still has rows.

    Attributes:
        sessions: sessions whose rows are there.
        refusal: why they must stay for now, in a sentence; null where they may go.
    """

    run_id: str
    month: str
    sessions: int
    refusal: str | None


@dataclass(frozen=True)
class Archived:
    """What left the ledger.

    Attributes:
        rows: how many rows, by table of the ledger.
    """

    run_id: str
    rows: dict[str, int]


def plan_archive(
    ledger: Ledger, lake: Lake, settings: Settings, run_id: str = "", *, now: datetime | None = None
) -> list[ArchivableRun]:
    """The closed runs, or the named one, that have rows in the ledger.

    Nothing is changed. Raises UsageError for an unknown run, and ClockError where a leap of the clock alone
    would let one go.
    """
    with ledger.read() as connection:
        if run_id:
            sittings.require_run(connection, run_id)
        closed_counts = closed.count_closed_sessions(connection)
    settled = dict(lake.read("settled_runs").rows())
    editions = read_last_editions(lake)
    found = []
    for name in [run_id] if run_id else list(closed_counts):
        with ledger.read() as connection:
            run = sittings.read_run(connection, name)
            own = erasures.list_run_sessions(connection, name)
            waiting = list_waiting(connection, name)
        # An open run is none to speak of, unless it was asked for.
        if run is None or not own or not (waiting or run_id) or (run.status == "open" and not run_id):
            continue
        refusal = None
        if waiting or run.status == "open":
            with read_whole(ledger, lake, run_id=name) as connection:
                clock = read_time(connection) if now is None else Time(now.timestamp())
                refusal = find_refusal(connection, settings, name, own, editions.get(name, ()), clock)
                refusal = refusal or _find_unfinished(connection, name)
            if refusal is None and settled.get(name, -1) < len(own):
                refusal = (
                    f"Run {name} has sessions that are not in the lake yet (`proctor evaluate --run {name}`)."
                )
        found.append(ArchivableRun(name, run.month, sum(len(part.session_ids) for part in waiting), refusal))
    return found


def archive_runs(
    settings: Settings,
    ledger: Ledger,
    lake: Lake,
    run_id: str = "",
    *,
    now: datetime | None = None,
    wait_s: float = 0.0,
    step: Step = lambda _: None,
) -> list[Archived]:
    """Move the rows of every run that may go, or of the named one.

    The ledger's files give back what they held. `step` is told what has been done. It waits up to `wait_s` for a backup, or for
    who changes an archived run. Run again after a kill: it continues. Raises StoreError where that one takes longer, GateError
    where the named run may not go, and what `archive_run` raises.
    """
    done = []
    with hold_archives(settings, wait_s=wait_s):
        # What the lake lacks of the log's pages and of calls lands first: afterwards the ledger cannot give it any more.
        for land in (land_closed_sessions, land_access_log, land_paid_calls):
            land(ledger, lake)
        for run in plan_archive(ledger, lake, settings, run_id, now=now):
            if run.refusal is not None:
                if run_id:
                    raise GateError(run.refusal)
                continue
            if run.sessions:
                done.append(Archived(run.run_id, archive_run(ledger, lake, run.run_id, step=step)))
    # On SQLite also what an earlier one, killed or kept out of a file, had left to give back.
    if done or ledger.is_sqlite:
        return_space(ledger)
        step("space")
    return done


def _find_unfinished(connection: Connection, run_id: str) -> str | None:
    """Calls under way, or an erasure that was begun; null for none."""
    for holder in archives.list_unfinished_holders(connection, run_id):
        lease = read_lease(connection, holder)
        if lease is not None:
            return f"Run {run_id} has calls under way (process {lease.process_id} on {lease.host}): wait until they are done."
    if any(one.finished_at is None for one in erasures.list_erasures(connection, run_id=run_id)):
        return f"An erasure of run {run_id} is not finished: `proctor erase --again --yes` finishes it."
    return None
