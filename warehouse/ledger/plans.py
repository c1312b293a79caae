"""Planning a run: what was allocated and met before, and the sets, claims and sessions that a plan adds."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from sqlalchemy import Connection, Row, delete, func, literal, select, text

from warehouse.ledger.tables import allocations, exposures, runs, sessions, set_claims, set_numbers, sets


class SeasonSet(NamedTuple):
    """A set of the season, as it is known before a run is planned."""

    set_number: int
    set_id: str
    lineages: frozenset[str]


def lock_season(connection: Connection, season: str) -> None:
    """Let one planner at a time number the sets of a season (SQLite holds everything already)."""
    if connection.dialect.name == "postgresql":
        key = int.from_bytes(hashlib.sha256(f"season {season}".encode()).digest()[:8], "big", signed=True)
        connection.execute(text("select pg_advisory_xact_lock(:key)"), {"key": key})


def read_season_sets(connection: Connection, season: str) -> list[SeasonSet]:
    """Every set of a season, in order of number."""
    lineages: dict[tuple[int, str], set[str]] = {}
    rows = connection.execute(
        select(set_numbers.c.set_number, set_numbers.c.set_id, sets.c.lineage_uuid)
        .join(sets, sets.c.set_id == set_numbers.c.set_id)
        .where(set_numbers.c.season == season)
    )
    for number, set_id, lineage in rows:
        lineages.setdefault((number, set_id), set()).add(lineage)
    return [
        SeasonSet(number, set_id, frozenset(found)) for (number, set_id), found in sorted(lineages.items())
    ]


def read_exposures(
    connection: Connection, organisation_names: Iterable[str], since: str
) -> dict[str, set[str]]:
    """The lineages that each organisation has met at or after `since`."""
    found: dict[str, set[str]] = {name: set() for name in organisation_names}
    rows = connection.execute(
        select(exposures.c.organisation, exposures.c.lineage_uuid).where(
            exposures.c.organisation.in_(sorted(found)), exposures.c.exposed_at >= since
        )
    )
    for organisation, lineage in rows:
        found[organisation].add(lineage)
    return found


def read_met_lineages(connection: Connection, *, prefix: str, is_prefixed: bool) -> set[str]:
    """The lineages that anybody has met: among organisations whose key begins with `prefix`, or among the others."""
    condition = exposures.c.organisation.startswith(prefix, autoescape=True)
    query = select(exposures.c.lineage_uuid).where(condition if is_prefixed else ~condition).distinct()
    return set(connection.execute(query).scalars())


def read_sittings(connection: Connection, models: Iterable[str]) -> list[Row[Any]]:
    """(model, set_id, prompt_style, is_reference, run_id) of every session of these models."""
    names = sorted(set(models))
    query = select(
        sessions.c.model,
        sessions.c.set_id,
        sessions.c.prompt_style,
        sessions.c.is_reference,
        sessions.c.run_id,
    )
    return list(connection.execute(query.where(sessions.c.model.in_(names))))


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


def write_run(connection: Connection, row: Mapping[str, Any]) -> None:
    """Add a run."""
    connection.execute(runs.insert(), dict(row))


def write_sets(
    connection: Connection, rows: Sequence[Mapping[str, Any]], items: Sequence[Mapping[str, Any]]
) -> None:
    """Add the numbers of new sets, and what is in them."""
    if rows:
        connection.execute(set_numbers.insert(), [dict(row) for row in rows])
        connection.execute(sets.insert().inline(), [dict(item) for item in items])


def write_claim(
    connection: Connection,
    *,
    organisation: str,
    set_id: str,
    model: str,
    repeat: int,
    run_id: str,
    at: str,
    rested_before: str,
) -> None:
    """Claim a set for an organisation and expose its lineages to it, once.

    A lineage met before `rested_before` may return; one met since violates the primary key (ConflictError).
    """
    lineages = select(sets.c.lineage_uuid).where(sets.c.set_id == set_id)
    connection.execute(
        delete(exposures).where(
            exposures.c.organisation == organisation,
            exposures.c.exposed_at < rested_before,
            exposures.c.lineage_uuid.in_(lineages),
        )
    )
    connection.execute(
        exposures.insert().from_select(
            ["organisation", "lineage_uuid", "set_id", "exposed_at"],
            select(literal(organisation), sets.c.lineage_uuid, literal(set_id), literal(at)).where(
                sets.c.set_id == set_id
            ),
        )
    )
    connection.execute(
        delete(set_claims).where(
            set_claims.c.organisation == organisation,
            set_claims.c.set_id == set_id,
            set_claims.c.claimed_at < rested_before,
        )
    )
    connection.execute(
        set_claims.insert().values(
            organisation=organisation, set_id=set_id, model=model, repeat=repeat, run_id=run_id, claimed_at=at
        )
    )


def write_sessions(
    connection: Connection, rows: Sequence[Mapping[str, Any]], orders: Iterable[Sequence[Mapping[str, Any]]]
) -> None:
    """Add sessions, and the secret order of each."""
    if rows:
        connection.execute(sessions.insert(), [dict(row) for row in rows])
    for order in orders:
        connection.execute(allocations.insert().inline(), [dict(item) for item in order])
