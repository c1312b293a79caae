"""What would be erased, of a month, a candidate or by policy; what forbids it; what stays."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from schemas.errors import GateError, UsageError
from tasks.models import CALL
from tasks.running import log
from tasks.running.archives import read_whole
from warehouse.ledger.engine.leases.clock import Time, check_clock, read_time
from warehouse.ledger.engine.leases.jobs import is_held, list_jobs
from warehouse.ledger.engine.logs import public_log
from warehouse.ledger.engine.moments import write_moment
from warehouse.ledger.engine.tables import access_log, responses
from warehouse.ledger.money.batches import list_call_batches
from warehouse.ledger.trust import erasures
from warehouse.ledger.trust.erasures import ErasableSession

if TYPE_CHECKING:
    from schemas.settings import Settings
    from warehouse.lake import Lake
    from warehouse.ledger.engine.ledger import Connection, Ledger

# Work that reads texts, by the kind of its jobs.
_READERS: Final = ("judge", "errors", "drift", CALL)
_COMMIT: Final = "commit"
_DISCLOSE: Final = "disclose"
_EDITION: Final = "edition"


@dataclass(frozen=True)
class Scope:
    """What is asked to be erased; at least one is given.

    Attributes:
        month: all candidates of a month, or the named one's sessions of it.
        model: one candidate, in all months or in the named one.
        run_ids: runs that the policy names; null where a person asks.
    """

    month: str | None = None
    model: str | None = None
    run_ids: tuple[str, ...] | None = None

    @property
    def cause(self) -> str:
        """Why, in the contract's word: a candidate's own withdrawal, or the time texts are kept."""
        return "policy" if self.model is None else "withdrawal"


@dataclass(frozen=True)
class RunErasure:
    """What would be erased of a run.

    Attributes:
        editions: what was published of it.
        sessions: the sessions whose texts would go.
        answer_count: answers in them.
        models: whose they are.
        tables: rows with texts and their bytes, by table (`ledger` and those of the lake).
    """

    run_id: str
    month: str
    editions: tuple[str, ...]
    sessions: tuple[str, ...]
    answer_count: int
    models: tuple[str, ...]
    tables: Mapping[str, tuple[int, int]] = field(default_factory=dict)


def find_due_runs(lake: Lake, settings: Settings, now: datetime | None = None) -> tuple[str, ...]:
    """Runs, erased ones too, with a last edition older than the policy keeps; none without one."""
    if settings.keep_raw_months is None:
        return ()
    moment = (now or datetime.now(UTC)).timestamp()
    return tuple(
        run_id
        for run_id, rows in sorted(read_last_editions(lake).items())
        if _is_kept_no_longer(_find_last(rows), settings.keep_raw_months, moment)
    )


def read_policy_time(ledger: Ledger, lake: Lake, settings: Settings) -> datetime:
    """The moment by which the policy no longer keeps runs; ClockError for a leap alone."""
    check_clock(ledger)
    with ledger.read() as connection:
        time = read_time(connection)

    if settings.keep_raw_months is None:
        return datetime.fromtimestamp(time.now, UTC)
    published = [_find_last(rows) for rows in read_last_editions(lake).values()]
    settled = time.settle(
        (write_moment(at.timestamp()), partial(_is_kept_no_longer, at, settings.keep_raw_months))
        for at in published
    )
    return datetime.fromtimestamp(settled, UTC)


def list_due(ledger: Ledger, lake: Lake, settings: Settings, now: datetime | None = None) -> tuple[str, ...]:
    """Of the runs that the policy no longer keeps those that still hold texts."""
    with ledger.read() as connection:
        return tuple(
            run_id
            for run_id in find_due_runs(lake, settings, now)
            if erasures.list_sessions_with_texts(connection, run_id=run_id)
        )


def plan_erasure(
    ledger: Ledger, lake: Lake, settings: Settings, scope: Scope, *, now: datetime | None = None
) -> list[RunErasure]:
    """What would be erased of each run, in the order of months; nothing is changed.

    Raises UsageError where nothing is there to erase, ClockError where a leap of the clock alone would allow it, GateError that names every run which forbids it and why. Of the runs that the
    policy names, those that forbid it now are left, with a warning, unless they are all.
    """
    with ledger.read() as connection:
        names = [session.session_id for session in list_scope(connection, scope)]
    with read_whole(ledger, lake, session_ids=names, tables=(access_log, responses)) as connection:
        clock = read_time(connection) if now is None else Time(now.timestamp())
        found = list_scope(connection, scope)
        if not found:
            raise UsageError(_describe_nothing(connection, scope))
        by_run: dict[str, list[ErasableSession]] = defaultdict(list)
        for session in found:
            by_run[session.run_id].append(session)
        editions = read_last_editions(lake)
        refusals = {
            run_id: refusal
            for run_id, own in by_run.items()
            if (refusal := find_erasure_refusal(connection, settings, run_id, own, editions, clock))
        }
        if refusals and (scope.run_ids is None or len(refusals) == len(by_run)):
            raise GateError(f"Nothing was erased. {' '.join(refusals.values())}")
        for run_id, refusal in refusals.items():
            log.warning("%s It is erased when that is over.", refusal)
            del by_run[run_id]
        plans = []
        for run_id, own in sorted(by_run.items(), key=lambda item: (item[1][0].month, item[0])):
            names = [session.session_id for session in own]
            held = erasures.count_texts(connection, names)
            tables = {"ledger": (held.answers, held.characters)}
            rows = lake.read("texts_of_sessions", {"session_ids": names, "months": [own[0].month]})
            tables |= {str(name): (int(count), int(size)) for name, count, size in rows.iter_rows()}
            plans.append(
                RunErasure(
                    run_id,
                    own[0].month,
                    tuple(str(row["edition_id"]) for row in editions.get(run_id, ())),
                    tuple(names),
                    held.answers,
                    tuple(sorted({session.model for session in own})),
                    tables,
                )
            )
    return plans


def list_scope(connection: Connection, scope: Scope) -> list[ErasableSession]:
    """The sessions that are asked for and hold texts."""
    if scope.run_ids is None:
        return erasures.list_sessions_with_texts(connection, month=scope.month, model=scope.model)
    return [
        session
        for run_id in scope.run_ids
        for session in erasures.list_sessions_with_texts(connection, run_id=run_id)
    ]


def find_refusal(
    connection: Connection,
    settings: Settings,
    run_id: str,
    own: Sequence[ErasableSession],
    editions: Sequence[Mapping[str, Any]],
    clock: Time,
) -> str | None:
    """Why texts of a run must not be erased now; None where nothing forbids it.

    The reason is a sentence that says when they can be erased. Raises ClockError where a leap of the clock
    alone would allow it.
    """
    if own[0].run_status != "closed" or any(session.status != "closed" for session in own):
        return f"Run {run_id} is not closed: what is under way is not erased; close it first (`proctor exam close`)."
    if not editions:
        return f"Run {run_id} has no edition: its scores rest on texts that nobody has judged or published yet (`proctor publish`)."
    kinds = (_COMMIT, _DISCLOSE, _EDITION)
    entries = public_log.read_public_entries(connection, run_id, kinds)
    named = {entry.kind for entry in entries}
    if _COMMIT in named and not {_DISCLOSE, _EDITION} <= named:
        return f"Run {run_id} is sealed and not disclosed yet: others could not check it any more (`proctor exam seal`, `proctor publish`)."
    if objection := _find_objection(settings, editions, clock):
        return objection
    if work := _find_readers(connection, run_id, {session.session_id for session in own}):
        return f"Run {run_id} is being read ({work}): wait until it is done."
    erased = erasures.map_erased_sessions(connection, run_id)
    for session in own:
        if session.session_id in erased:
            continue
        if changed := erasures.find_changed_answers(connection, session.session_id):
            return (
                f"Session {session.session_id} of run {run_id} is not as the audit log has it (question {changed[0]}): erasing it would "
                "erase the evidence. See `proctor exam audit`."
            )
    return None


def find_erasure_refusal(
    connection: Connection,
    settings: Settings,
    run_id: str,
    own: Sequence[ErasableSession],
    editions: Mapping[str, Sequence[Mapping[str, Any]]],
    clock: Time,
) -> str | None:
    """The same, also where another run rests on what the reference answered in these."""
    if refusal := find_refusal(connection, settings, run_id, own, editions.get(run_id, ()), clock):
        return refusal
    borrowers = erasures.list_borrowers(connection, [session.session_id for session in own])
    for name, reference in borrowers.items():
        published = editions.get(name, ())
        why = (
            _find_objection(settings, published, clock)
            if published
            else "It has no edition yet (`proctor publish`)."
        )
        if why:
            return f"Run {name} rests on what {reference} answered in run {run_id}. {why}"
    return None


def _find_objection(settings: Settings, editions: Sequence[Mapping[str, Any]], clock: Time) -> str | None:
    published_at = _find_last(editions)
    bound = published_at + timedelta(days=settings.objection_days)
    if clock.has_passed(write_moment(bound.timestamp()), since=write_moment(published_at.timestamp())):
        return None
    return (
        f"Edition {editions[-1]['edition_id']} can be objected to until {bound:%Y-%m-%d} (PROCTOR_OBJECTION_DAYS): until then what it "
        "rests on is kept."
    )


def _find_readers(connection: Connection, run_id: str, names: set[str]) -> str | None:
    """Work under way that needs the texts; null for none."""
    for kind in _READERS:
        for job in list_jobs(connection, kind):
            # Samples and anchor sets do not say whose answers they hold: any of them may be in use.
            is_own = kind != "judge" or job.name == run_id or erasures.is_unit_of(job.name, names)
            # A worker's call may show an answer where judges are watched, and nowhere else.
            is_own &= kind != CALL or (job.run_id or "").startswith("drift/")
            if is_own and is_held(connection, job):
                return f"{kind} {job.name}"
    if any(batch.run_id == run_id for batch in list_call_batches(connection, only_open=True)):
        return "a batch of calls at a provider"
    return None


def read_last_editions(lake: Lake) -> dict[str, list[dict[str, Any]]]:
    """Run → its editions, the last one last."""
    found: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in lake.read("run_revisions").iter_rows(named=True):
        found[str(row["run_id"])].append(row)
    return found


def _find_last(rows: Sequence[Mapping[str, Any]]) -> datetime:
    """When the last of the editions was published."""
    last: datetime = max(row["published_at"] for row in rows)
    return last


def _describe_nothing(connection: Connection, scope: Scope) -> str:
    what = " of ".join(
        part
        for part in (
            scope.model and f"candidate {scope.model}",
            scope.month and f"month {scope.month}",
        )
        if part
    )
    if scope.run_ids is None and not erasures.has_sat(connection, month=scope.month, model=scope.model):
        return f"There is no session of {what}, and never was one: nothing is erased. `proctor exam sessions` has the right names."
    done = erasures.list_erasures(connection)
    last = f" The last erasure was {done[-1].erasure_id}, on {done[-1].erased_at[:10]}." if done else ""
    if any(one.finished_at is None for one in done):
        last += " It was ended before it was done, and files may still hold the texts: proctor erase --again --yes --as ADMIN."
    return f"There is no text left to erase{f' of {what}' if what else ''}.{last}"


def _is_kept_no_longer(published_at: datetime, months: int, moment: float) -> bool:
    return published_at < _subtract_months(datetime.fromtimestamp(moment, UTC), months)


def _subtract_months(moment: datetime, months: int) -> datetime:
    """The same time so many calendar months before, on the 28th at most."""
    place = moment.year * 12 + moment.month - 1 - months
    return moment.replace(year=place // 12, month=place % 12 + 1, day=min(moment.day, 28))
