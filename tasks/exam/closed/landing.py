"""Carry what the ledger has closed into the lake.

What is carried: sessions, allocations, responses, sets, runs, models, calls and accesses. A session lands once, when it
is closed, together with everything that belongs to it; many sessions share a transaction, so that files do not stay
small.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import TYPE_CHECKING, Any, Final

import polars as pl

from schemas.tables import get_table
from schemas.vocabulary import GIVEN_STATUSES, UNANSWERED
from tasks.exam.answers import extract_answer
from tasks.exam.closed.lake_rows import (
    describe_access,
    describe_call,
    describe_models,
    describe_run,
    describe_session,
    describe_set_question,
    fit_frame,
    frame_asked_rows,
    frame_sat_rows,
    frame_sessions,
)
from tasks.exam.closed.sources import note_sources, read_sound_sources
from tasks.exam.log import keep_head
from tasks.exam.public.log import keep_public_head
from tasks.questions import BareQuestion
from tasks.running.archives import read_whole
from warehouse.ledger.engine.ledger import Ledger
from warehouse.ledger.exam import archives, closed, sittings
from warehouse.ledger.money import calls
from warehouse.ledger.trust import access

if TYPE_CHECKING:
    from warehouse.lake import Batch, Lake
    from warehouse.ledger.engine.ledger import Connection
    from warehouse.ledger.exam.closed import ClosedSession
    from warehouse.ledger.exam.sittings import PlannedRun

FindLanded = Callable[[str, Sequence[str]], AbstractSet[str]]

# Rows of a transaction, counted in the larger of its tables: fewer give small files, many more give nothing.
ROWS_PER_CHUNK: Final = 20_000
# Fixed, for a page is known by its number: another size needs another form of the lake (warehouse/lake/form.py).
ENTRIES_PER_PAGE: Final = 10_000
PAGES_PER_CHUNK: Final = ROWS_PER_CHUNK // ENTRIES_PER_PAGE
_PAGE_PREFIX: Final = "page-"


def iter_landings(
    ledger: Ledger,
    run_id: str,
    find_landed: FindLanded,
    *,
    rows_per_chunk: int = ROWS_PER_CHUNK,
    lake: Lake | None = None,
    sources: dict[str, str] | None = None,
) -> Iterator[list[Batch]]:
    """What is to be landed of a run, as lists of batches, in this order.

    The batches of one list belong in one transaction. `find_landed` says which of the units asked for a table (`sessions`,
    `sets`) the lake has; these are landed once, the run and its models whenever asked (the same content changes nothing). A
    run lands as closed only after its last session: what the lake knows as closed is there as a whole. `sources` takes the hash of
    what each session lands from, where it is as the logs have it. Raises UsageError for an unknown run.
    """
    with ledger.read() as connection:
        run = sittings.require_run(connection, run_id)
        sessions = closed.list_closed_sessions(connection, run_id)
        set_ids = closed.list_run_sets(connection, run_id)
    landed_sessions = find_landed("sessions", [row.session_id for row in sessions])
    waiting = [row for row in sessions if row.session_id not in landed_sessions]
    landed_sets = find_landed("sets", set_ids)
    yield [
        _batch("runs", run_id, [describe_run(run, is_whole=not waiting)]),
        _batch("models", run_id, describe_models(run)),
    ]
    missing_sets = [set_id for set_id in set_ids if set_id not in landed_sets]
    yield from _iter_sets(ledger, run.set_size, missing_sets, rows_per_chunk)
    for chunk in _chunk(waiting, _count_questions, rows_per_chunk):
        names = [row.session_id for row in chunk]
        with read_whole(ledger, lake, session_ids=names) as connection:
            batches = _read_sessions(connection, chunk)
            if sources is not None:
                # Of the same moment as the rows.
                sources |= read_sound_sources(connection, run_id, names)
        # Not within: who breaks off on a full disk would leave the reading to an ending that finds no ledger.
        yield batches
    if waiting and run.status != "open":
        yield [_batch("runs", run_id, [describe_run(run, is_whole=True)])]


def iter_settled(
    ledger: Ledger, lake: Lake, run: PlannedRun, passed: AbstractSet[str] = frozenset()
) -> Iterator[list[Batch]]:
    """What is landed of a run and never changes, landed or not, as lists of batches.

    That is its sets and its closed sessions, but for those `passed`, with their questions and answers: the run and its models follow
    the run's state, and calls may be billed later. What was extracted of an answer is as the lake has it.
    """
    with ledger.read() as connection:
        sessions = closed.list_closed_sessions(connection, run.run_id)
        set_ids = closed.list_run_sets(connection, run.run_id)
    yield from _iter_sets(
        ledger, run.set_size, [name for name in set_ids if name not in passed], ROWS_PER_CHUNK
    )
    wanted = [row for row in sessions if row.session_id not in passed]
    with ledger.read() as connection:
        asked = closed.read_asked_rows(connection, sorted({row.set_id for row in wanted}))
    for chunk in _chunk(wanted, _count_questions, ROWS_PER_CHUNK):
        names = [row.session_id for row in chunk]
        extracted = lake.read("landed_answers", {"month": run.month, "session_ids": names})
        with read_whole(ledger, lake, session_ids=names) as connection:
            batches = _read_sittings(connection, chunk, asked, extracted)
        yield batches


def iter_access_landings(
    ledger: Ledger,
    landed_pages: Mapping[str, int],
    read_landed: Callable[[str], Iterable[Mapping[str, Any]]] = lambda _: (),
) -> Iterator[list[Batch]]:
    """The audit log in pages of 10,000 entries by number.

    Pages start from the first one of `landed_pages` (unit → entries landed). An entry never changes, so a page with as many entries
    here as there needs no reading: in a long history only the last page is read, and it is replaced until it is full. Of entries
    that have left the ledger the page keeps what `read_landed` gives.
    """
    end = access.read_last_id(ledger)
    first = min((int(unit.removeprefix(_PAGE_PREFIX)) for unit in landed_pages), default=0)
    for start in range(first, end // ENTRIES_PER_PAGE + 1, PAGES_PER_CHUNK):
        batches = []
        with ledger.read() as connection:
            # Of the same moment as the entries: a run may be leaving meanwhile.
            gone = archives.count_archived_pages(connection)
            for page in range(start, start + PAGES_PER_CHUNK):
                unit = f"{_PAGE_PREFIX}{page:08d}"
                span = (page * ENTRIES_PER_PAGE, min((page + 1) * ENTRIES_PER_PAGE - 1, end))
                if access.count_entries(connection, *span) + gone.get(page, 0) != landed_pages.get(unit, 0):
                    rows = {row["access_id"]: dict(row) for row in read_landed(unit)} if page in gone else {}
                    rows |= {
                        row["access_id"]: describe_access(row)
                        for row in access.read_entries(connection, *span)
                    }
                    batches.append(_batch("access_log", unit, [rows[number] for number in sorted(rows)]))
        if batches:
            yield batches


def land_run(ledger: Ledger, lake: Lake, run_id: str, *, flow_run_id: str | None = None) -> dict[str, int]:
    """Land what the ledger has of a run and the lake lacks; returns rows newly landed by table."""
    sources: dict[str, str] = {}
    counts = _land(lake, iter_landings(ledger, run_id, lake.landed, lake=lake, sources=sources), flow_run_id)
    note_sources(ledger, lake, sources)
    return counts


def land_closed_sessions(ledger: Ledger, lake: Lake, *, flow_run_id: str | None = None) -> dict[str, int]:
    """Land what the ledger has closed and the lake lacks; returns rows newly landed by table."""
    with ledger.read() as connection:
        closed_counts = closed.count_closed_sessions(connection)
    settled = dict(lake.read("settled_runs").rows())
    run_ids = [name for name, count in closed_counts.items() if settled.get(name, -1) < count]
    counts: Counter[str] = Counter()
    for run_id in run_ids:
        counts.update(land_run(ledger, lake, run_id, flow_run_id=flow_run_id))
    return dict(counts)


def land_access_log(ledger: Ledger, lake: Lake, *, flow_run_id: str | None = None) -> dict[str, int]:
    """Land the entries of the audit log that the lake lacks; returns the number of new rows."""
    # First the public one: the audit log has an entry of it, which the other then covers.
    keep_public_head(ledger, lake.settings)
    keep_head(ledger, lake.settings)
    pages = dict(lake.read("access_log_pages").rows())

    def read_landed(unit: str) -> Iterable[Mapping[str, Any]]:
        return lake.read("access_log_of_page", {"unit": unit}).iter_rows(named=True)

    return _land(lake, iter_access_landings(ledger, pages, read_landed), flow_run_id)


def _land(lake: Lake, chunks: Iterator[list[Batch]], flow_run_id: str | None) -> dict[str, int]:
    counts: dict[str, int] = {}
    for batches in chunks:
        for landing in lake.land_together(batches, stage="evaluate", flow_run_id=flow_run_id):
            if not landing.is_unchanged:
                counts[landing.table] = counts.get(landing.table, 0) + landing.row_count
    return counts


def _iter_sets(
    ledger: Ledger, set_size: int, set_ids: Sequence[str], rows_per_chunk: int
) -> Iterator[list[Batch]]:
    for names in _chunk(set_ids, lambda _: set_size, rows_per_chunk):
        with ledger.read() as connection:
            rows = closed.read_set_rows(connection, names)
        yield _group("sets", "set_id", [describe_set_question(row) for row in rows], names)


def _count_questions(session: ClosedSession) -> int:
    return session.question_count


def _read_sessions(connection: Connection, sessions: Sequence[ClosedSession]) -> list[Batch]:
    """Everything of these sessions, one batch per session and table."""
    by_id = {session.session_id: session for session in sessions}
    rows = calls.read_call_rows(connection, list(by_id))
    paid = [describe_call(row, by_id[row["unit"]]) for row in rows]
    units = [str(row["unit"]) for row in rows]
    set_ids = sorted({session.set_id for session in sessions})
    asked = closed.read_asked_rows(connection, set_ids, with_contents=True)
    return [
        *_read_sittings(connection, sessions, asked),
        *_group_by("llm_calls", paid, units, [name for name in by_id if name in set(units)]),
    ]


def _read_sittings(
    connection: Connection,
    sessions: Sequence[ClosedSession],
    asked: Sequence[tuple[Any, ...]],
    extracted: pl.DataFrame | None = None,
) -> list[Batch]:
    """These sessions with their questions and answers, one batch per session and table."""
    names = [session.session_id for session in sessions]
    columns, rows = closed.read_sat_rows(connection, names)
    sat = frame_sat_rows(columns, rows)
    sat = sat.join(frame_asked_rows(asked), on=("set_id", "lineage_uuid"), maintain_order="left")
    sat = sat.join(frame_sessions(sessions), on="session_id", maintain_order="left")
    # An answer that is not there is an allocation without a response, whether its time was over or the session was closed.
    given = sat.filter(pl.col("answered_at").is_not_null() & (pl.col("answer_status") != UNANSWERED))
    given = given.with_columns(response=pl.when(pl.col("erasure_id").is_null()).then("response"))
    if extracted is None:
        given = given.with_columns(answer=_extract_answers(given, asked))
    else:
        given = given.join(extracted, on=("session_id", "seq"), how="left", maintain_order="left")
    counts = given.filter(pl.col("answer_status").is_in(GIVEN_STATUSES))["session_id"].value_counts()
    answered = dict(counts.rows())
    described = [describe_session(session, answered.get(session.session_id, 0)) for session in sessions]
    return [
        *_group("sessions", "session_id", described, names),
        *_cut("allocations", fit_frame("allocations", sat), sat["session_id"], names),
        *_cut("responses", fit_frame("responses", given), given["session_id"], names),
    ]


def _extract_answers(given: pl.DataFrame, asked: Sequence[tuple[Any, ...]]) -> pl.Series:
    """What each response answers. Sessions of one set ask the same."""
    contents = {(set_id, lineage): content for set_id, lineage, _, _, content in asked}
    questions: dict[tuple[str, str], BareQuestion] = {}
    answers: list[str | None] = []
    for set_id, lineage, response in given.select("set_id", "lineage_uuid", "response").iter_rows():
        place = (set_id, lineage)
        if place not in questions:
            questions[place] = BareQuestion.from_row(contents[place])
        answers.append(None if response is None else extract_answer(questions[place], response))
    return pl.Series(answers, dtype=pl.String)


def _batch(table: str, unit: str, rows: Sequence[dict[str, object]]) -> Batch:
    from warehouse.lake import Batch

    return Batch(table, unit, get_table(table).frame(rows))


def _group(table: str, key: str, rows: list[dict[str, object]], units: Sequence[str]) -> list[Batch]:
    return _group_by(table, rows, [str(row[key]) for row in rows], units)


def _group_by(
    table: str, rows: list[dict[str, object]], keys: Sequence[str], units: Sequence[str]
) -> list[Batch]:
    """One frame for all, then a slice per unit: building a frame costs more than cutting one."""
    return _cut(table, get_table(table).frame(rows), pl.Series(keys, dtype=pl.String), units)


def _cut(table: str, frame: pl.DataFrame, keys: pl.Series, units: Sequence[str]) -> list[Batch]:
    """A batch per unit, of the rows that have it as their key."""
    from warehouse.lake import Batch

    frame = frame.with_columns(landing_key=keys)
    slices = {str(name[0]): part for name, part in frame.partition_by("landing_key", as_dict=True).items()}
    empty = frame.clear()
    return [Batch(table, unit, slices.get(unit, empty).drop("landing_key")) for unit in units]


def _chunk(items: Sequence[Any], count_rows: Callable[[Any], int], most_rows: int) -> Iterator[list[Any]]:
    """Lists of items whose rows together reach `most_rows`; the last may stay below."""
    chunk: list[Any] = []
    row_count = 0
    for item in items:
        chunk.append(item)
        row_count += count_rows(item)
        if row_count >= most_rows:
            yield chunk
            chunk, row_count = [], 0
    if chunk:
        yield chunk
