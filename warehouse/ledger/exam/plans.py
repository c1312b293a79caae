"""Planning a run: what was allocated and met before; the sets, claims, sessions it adds."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from sqlalchemy import Connection, Row, Select, Text, cast, delete, func, literal, select, text

from schemas.ledger.exam import Run, Session
from warehouse.ledger.engine.inserting import insert_into, replace_rows
from warehouse.ledger.engine.logs.stages import close_units
from warehouse.ledger.engine.statements import iter_chunks
from warehouse.ledger.engine.tables import (
    allocations,
    erased_answers,
    exposures,
    run_plans,
    runs,
    sessions,
    set_claims,
    set_keys,
    set_numbers,
    sets,
)

# What the repetition that a fresh draw is is named by.
DRAW_PREFIX: Final = "draw-"
_EXPOSURE_COLUMNS: Final = ["organisation", "lineage_uuid", "set_id", "exposed_at"]


class SeasonSet(NamedTuple):
    """A set of a season."""

    set_number: int
    set_id: str
    set_group: int


def lock_season(connection: Connection, season: str) -> None:
    """Let one planner at a time number the sets of a season (SQLite holds everything already)."""
    if connection.dialect.name == "postgresql":
        key = int.from_bytes(hashlib.sha256(f"season {season}".encode()).digest()[:8], "big", signed=True)
        connection.execute(text("select pg_advisory_xact_lock(:key)"), {"key": key})


def read_season_sets(connection: Connection, season: str) -> list[SeasonSet]:
    """Every set of a season, in order of number."""
    rows = connection.execute(
        select(set_numbers.c.set_number, set_numbers.c.set_id, set_numbers.c.set_group)
        .where(set_numbers.c.season == season)
        .order_by(set_numbers.c.set_number)
    )
    return [SeasonSet(int(number), str(set_id), int(group)) for number, set_id, group in rows]


def read_claims(connection: Connection, *, prefix: str, is_prefixed: bool) -> list[Row[Any]]:
    """(organisation, set_id, claimed_at) of sets met by keys with `prefix`, or by others."""
    condition = set_claims.c.organisation.startswith(prefix, autoescape=True)
    query = select(set_claims.c.organisation, set_claims.c.set_id, set_claims.c.claimed_at)
    return list(connection.execute(query.where(condition if is_prefixed else ~condition)))


def iter_set_lineages(connection: Connection, set_ids: Iterable[str]) -> Iterator[tuple[str, Sequence[str]]]:
    """Each set with its lineages, one at a time, by the index without contents."""
    for set_id in set_ids:
        query = select(sets.c.lineage_uuid).where(sets.c.set_id == set_id)
        yield set_id, connection.execute(query).scalars().all()


def read_set_questions(connection: Connection, set_id: str, lineages: Iterable[str]) -> list[tuple[str, str]]:
    """(lineage_uuid, question_uuid) of these lineages in a set."""
    query = select(sets.c.lineage_uuid, sets.c.question_uuid).where(sets.c.set_id == set_id)
    return [
        (str(lineage), str(question))
        for names in iter_chunks(sorted(lineages))
        for lineage, question in connection.execute(query.where(sets.c.lineage_uuid.in_(names)))
    ]


def list_shown_pictures(connection: Connection) -> list[str]:
    """SHA-256 of the pictures that candidates are to see in sessions that are not closed."""
    held = select(sessions.c.set_id).join(runs, runs.c.run_id == sessions.c.run_id)
    held = held.where(runs.c.status == "open", sessions.c.status != "closed")
    pictured = cast(sets.c.content, Text).contains('"pictures"')
    contents = connection.execute(select(sets.c.content).where(sets.c.set_id.in_(held), pictured)).scalars()
    return sorted({str(one["sha256"]) for content in contents for one in content.get("pictures", ())})


def read_set_disciplines(connection: Connection, set_id: str) -> list[tuple[str, str]]:
    """(lineage_uuid, discipline) of every question of a set."""
    query = select(sets.c.lineage_uuid, sets.c.discipline).where(sets.c.set_id == set_id)
    return [(str(lineage), str(discipline)) for lineage, discipline in connection.execute(query)]


def read_first_bank(connection: Connection, *, is_simulated: bool) -> int | None:
    """The bank version of the first set drawn for runs of this kind; None before any."""
    query = select(func.min(set_numbers.c.bank_version))
    found = connection.execute(query.where(set_numbers.c.is_simulated.is_(is_simulated))).scalar()
    return None if found is None else int(found)


def read_set_groups(connection: Connection, *, prefix: str, is_prefixed: bool) -> list[Row[Any]]:
    """(organisation, set_group) of shared sets, as they were met, by keys with `prefix` or not."""
    condition = set_claims.c.organisation.startswith(prefix, autoescape=True)
    query = (
        select(set_claims.c.organisation, set_numbers.c.set_group)
        .join(set_numbers, set_numbers.c.set_id == set_claims.c.set_id)
        .where(set_claims.c.is_reference.is_(False), set_numbers.c.season.contains("/shared-"))
        .order_by(set_claims.c.claimed_at, set_numbers.c.set_number, set_claims.c.organisation)
    )
    return list(connection.execute(query.where(condition if is_prefixed else ~condition)))


def read_answered_sets(connection: Connection, *, is_simulated: bool) -> list[tuple[str, int]]:
    """Sets in closed sessions with answers, and by how many candidates; the last closed last."""
    query = (
        select(sessions.c.set_id, func.count(sessions.c.model.distinct()))
        .where(
            sessions.c.is_simulated.is_(is_simulated),
            sessions.c.is_reference.is_(False),
            sessions.c.status == "closed",
            sessions.c.answered_count > 0,
        )
        .group_by(sessions.c.set_id)
        .order_by(func.max(sessions.c.closed_at), sessions.c.set_id)
    )
    return [(str(set_id), int(count)) for set_id, count in connection.execute(query)]


def read_sittings(connection: Connection, models: Iterable[str]) -> list[Row[Any]]:
    """What these models sat, in planning's order, with whether its texts were erased."""
    is_erased = select(erased_answers.c.seq).where(erased_answers.c.session_id == sessions.c.session_id)
    query = (
        select(
            sessions.c.model,
            sessions.c.set_id,
            sessions.c.prompt_style,
            sessions.c.fingerprint,
            is_erased.exists().label("is_erased"),
            runs.c.planned_at,
        )
        .join(runs, runs.c.run_id == sessions.c.run_id)
        .order_by(runs.c.planned_at, runs.c.run_id)
    )
    return list(connection.execute(query.where(sessions.c.model.in_(sorted(set(models))))))


def read_candidate_months(connection: Connection) -> list[Row[Any]]:
    """(model, month, fingerprint) of runs that models sat as candidates, in planning's order.

    A fresh draw stands beside the month's examination and is none: repetitions named `draw-…` are left out.
    """
    query = (
        select(sessions.c.model, runs.c.month, func.min(sessions.c.fingerprint).label("fingerprint"))
        .join(runs, runs.c.run_id == sessions.c.run_id)
        .where(sessions.c.is_reference.is_(False), ~runs.c.repetition.startswith(DRAW_PREFIX))
        .group_by(sessions.c.model, runs.c.run_id, runs.c.month, runs.c.planned_at)
        .order_by(runs.c.planned_at, runs.c.run_id)
    )
    return list(connection.execute(query))


def read_references(connection: Connection, *, is_simulated: bool) -> list[Row[Any]]:
    """(reference_model, bridged_reference) of every run of this kind, in the order of planning."""
    query = (
        select(runs.c.reference_model, runs.c.bridged_reference)
        .where(runs.c.is_simulated.is_(is_simulated))
        .order_by(runs.c.planned_at, runs.c.run_id)
    )
    return list(connection.execute(query))


def read_allocated_counts(connection: Connection) -> list[Row[Any]]:
    """(organisation, user_id, allocated) over all sessions."""
    return list(
        connection.execute(
            select(
                sessions.c.organisation,
                sessions.c.user_id,
                func.sum(sessions.c.question_count).label("allocated"),
            ).group_by(sessions.c.organisation, sessions.c.user_id)
        )
    )


def claim_run(connection: Connection, run: Run) -> bool:
    """Take a run's identity for this transaction, waiting on a server; False if taken."""
    statement = insert_into(connection.dialect.name, runs).on_conflict_do_nothing().returning(runs.c.run_id)
    return connection.execute(statement, run.as_values()).first() is not None


def write_run_plan(connection: Connection, run_id: str, *, seed: str, plan: Mapping[str, Any]) -> None:
    """Keep the seed and plan of a claimed run, in the place of those that a killed planner left."""
    replace_rows(connection, run_plans, [{"run_id": run_id, "seed": seed, "plan": dict(plan)}])


def write_sets(
    connection: Connection,
    rows: Sequence[Mapping[str, Any]],
    items: Sequence[Mapping[str, Any]],
    draw_keys: Mapping[str, str],
) -> None:
    """Add the numbers of new sets, their contents, and by set the secret key of its draw."""
    if rows:
        replace_rows(
            connection,
            set_keys,
            [{"set_id": name, "draw_key": key} for name, key in sorted(draw_keys.items())],
        )
        connection.execute(set_numbers.insert(), [dict(row) for row in rows])
        connection.execute(sets.insert().inline(), [dict(item) for item in items])


def write_claim(
    connection: Connection, *, organisation: str, set_id: str, run_id: str, at: str, rested_before: str
) -> None:
    """Claim a set and expose its lineages; ConflictError for one met since `rested_before`."""
    touched = _list_touched(connection, organisation, set_id)
    for table, key, met_at, found in (
        (exposures, exposures.c.lineage_uuid, exposures.c.exposed_at, _lineages_of(set_id)),
        (set_claims, set_claims.c.set_id, set_claims.c.claimed_at, [set_id]),
    ):
        connection.execute(
            delete(table).where(table.c.organisation == organisation, met_at < rested_before, key.in_(found))
        )
    connection.execute(exposures.insert().from_select(_EXPOSURE_COLUMNS, _expose(organisation, set_id, at)))
    connection.execute(
        set_claims.insert().values(
            organisation=organisation, set_id=set_id, run_id=run_id, is_reference=False, claimed_at=at
        )
    )
    _close_claims(connection, organisation, set_id, touched)


def write_reference_claim(
    connection: Connection, *, organisation: str, set_id: str, run_id: str, at: str
) -> None:
    """Note that an organisation meets a set, or meets it again, in the reference's sittings."""
    touched = _list_touched(connection, organisation, set_id)
    dialect = connection.dialect.name
    met = insert_into(dialect, exposures).from_select(_EXPOSURE_COLUMNS, _expose(organisation, set_id, at))
    keys = [exposures.c.organisation, exposures.c.lineage_uuid]
    connection.execute(met.on_conflict_do_update(index_elements=keys, set_={"exposed_at": at}))
    claim = insert_into(dialect, set_claims).values(
        organisation=organisation, set_id=set_id, run_id=run_id, is_reference=True, claimed_at=at
    )
    keys = [set_claims.c.organisation, set_claims.c.set_id]
    connection.execute(claim.on_conflict_do_update(index_elements=keys, set_={"claimed_at": at}))
    _close_claims(connection, organisation, set_id, touched)


def _list_touched(connection: Connection, organisation: str, set_id: str) -> set[str]:
    """The sets in which the organisation first met lineages of this one."""
    query = select(exposures.c.set_id).where(
        exposures.c.organisation == organisation, exposures.c.lineage_uuid.in_(_lineages_of(set_id))
    )
    return {str(found) for found in connection.execute(query.distinct()).scalars()}


def _close_claims(connection: Connection, organisation: str, set_id: str, touched: set[str]) -> None:
    close_units(connection, "set_claims", [(organisation, set_id)])
    close_units(connection, "exposures", [(organisation, name) for name in sorted({*touched, set_id})])


def _lineages_of(set_id: str) -> Select[Any]:
    return select(sets.c.lineage_uuid).where(sets.c.set_id == set_id)


def _expose(organisation: str, set_id: str, at: str) -> Select[Any]:
    return select(literal(organisation), sets.c.lineage_uuid, literal(set_id), literal(at)).where(
        sets.c.set_id == set_id
    )


def write_sessions(
    connection: Connection, rows: Sequence[Session], orders: Iterable[tuple[str, Sequence[str]]], at: str
) -> None:
    """Add sessions, and each one's secret order: its lineages, the first to be put first."""
    if rows:
        connection.execute(sessions.insert(), [row.as_values() for row in rows])
    # A run has half a million of these: the driver's own statement takes a third of the time.
    names = ["session_id", "seq", "lineage_uuid", "allocated_at"]
    compiled = allocations.insert().compile(dialect=connection.dialect, column_keys=names)
    for session_id, order in orders:
        values = [(session_id, seq, lineage, at) for seq, lineage in enumerate(order, start=1)]
        if compiled.positional:
            connection.exec_driver_sql(str(compiled), values)
        else:
            connection.exec_driver_sql(
                str(compiled), [dict(zip(names, value, strict=True)) for value in values]
            )


def find_open_session(connection: Connection, lineage_uuid: str) -> str | None:
    """A session that has a question of the lineage and is not closed; null where there is none."""
    query = (
        select(sessions.c.session_id)
        .join(sets, sets.c.set_id == sessions.c.set_id)
        .where(sessions.c.status != "closed", sets.c.lineage_uuid == lineage_uuid)
    )
    found = connection.execute(query.limit(1)).scalar()
    return None if found is None else str(found)


def list_open_lineages(connection: Connection) -> set[str]:
    """The lineages of which a session that is not closed has a question."""
    query = (
        select(sets.c.lineage_uuid)
        .join(sessions, sets.c.set_id == sessions.c.set_id)
        .where(sessions.c.status != "closed")
        .distinct()
    )
    return {str(lineage) for lineage in connection.execute(query).scalars()}
