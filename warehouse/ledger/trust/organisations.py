"""Organisations as the ledger counts them: a row a normal form, to which names point."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from sqlalchemy import Connection, select, update

from schemas.errors import UsageError, suggest
from schemas.ledger.trust import Organisation
from schemas.organisations import normalise_organisation
from warehouse.ledger.engine.inserting import insert_into
from warehouse.ledger.engine.logs.stages import close_units
from warehouse.ledger.engine.moments import now_text
from warehouse.ledger.engine.rows import read_rows
from warehouse.ledger.engine.tables import organisations
from warehouse.ledger.trust.seals import seal_organisation

# Simulated organisations have keys of their own: simulated runs take nothing from real ones.
SIMULATED_PREFIX: Final = "sim:"


def make_key(name: str, *, is_simulated: bool) -> str:
    """The organisation as the ledger counts it."""
    return f"{SIMULATED_PREFIX if is_simulated else ''}{normalise_organisation(name)}"


def list_organisations(connection: Connection) -> list[Organisation]:
    """Every registered organisation and every other name of one, by key."""
    return read_rows(connection, Organisation, select(organisations).order_by(organisations.c.organisation))


def read_aliases(connection: Connection) -> dict[str, str]:
    """Key of another name → key of the organisation that is meant."""
    rows = connection.execute(
        select(organisations.c.organisation, organisations.c.same_as).where(
            organisations.c.same_as.is_not(None)
        )
    )
    return {str(key): str(meant) for key, meant in rows}


def read_names(connection: Connection, keys: Iterable[str]) -> dict[str, str]:
    """Key → the name that people read."""
    rows = connection.execute(
        select(organisations.c.organisation, organisations.c.name).where(
            organisations.c.organisation.in_(sorted(set(keys)))
        )
    )
    return {str(key): str(name) for key, name in rows}


def list_names(connection: Connection, name: str, *, is_simulated: bool) -> list[str]:
    """Every name under which an organisation's answers may have landed; `name` is one of them."""
    key, known = make_key(name, is_simulated=is_simulated), list_organisations(connection)
    key = next((one.same_as for one in known if one.organisation == key and one.same_as), key)
    return sorted({name, *(one.name for one in known if key in (one.organisation, one.same_as))})


def register_organisations(
    connection: Connection, names: Mapping[str, str], aliases: Mapping[str, str] | None = None
) -> None:
    """Give every organisation its row, in order of key.

    The order keeps two planners from ever waiting for each other crosswise. `names` are the names by key; `aliases` lead
    from a key to the one that is meant, and stay for good: a name once known for another organisation's is never again an
    organisation of its own.
    """
    meant = dict(aliases or {})
    rows = [
        {
            "organisation": key,
            "name": name,
            "same_as": meant.get(key),
            "question_limit": None,
            "created_at": now_text(),
        }
        for key, name in sorted(names.items())
    ]
    if not rows:
        return
    connection.execute(insert_into(connection.dialect.name, organisations).on_conflict_do_nothing(), rows)
    for key, target in sorted(meant.items()):
        # Whoever pointed to the old name points to the organisation itself.
        connection.execute(
            update(organisations)
            .where((organisations.c.organisation == key) | (organisations.c.same_as == key))
            .values(same_as=target)
        )
    touched = {*names, *meant, *meant.values()}
    pointing = select(organisations.c.organisation).where(organisations.c.same_as.in_(touched))
    touched.update(str(key) for key in connection.execute(pointing).scalars())
    close_units(connection, "organisations", [(key,) for key in sorted(touched)])


def lock_organisations(connection: Connection, keys: Iterable[str]) -> None:
    """Hold the organisations' rows, in order of key, until the transaction ends."""
    if connection.dialect.name == "postgresql":
        connection.execute(
            select(organisations.c.organisation)
            .where(organisations.c.organisation.in_(sorted(set(keys))))
            .order_by(organisations.c.organisation)
            .with_for_update()
        ).all()


def find_organisation(connection: Connection, name: str) -> str:
    """The key of an organisation by any name, real ones first; UsageError with the nearest."""
    known = {found.organisation: found for found in list_organisations(connection)}
    for is_simulated in (False, True):
        found = known.get(make_key(name, is_simulated=is_simulated))
        if found is not None:
            return found.same_as or found.organisation
    near = suggest(name, sorted({entry.name for entry in known.values()}))
    raise UsageError(
        f"Organisation {name!r} is not registered.{near} A new one is named in the model registry, and registered with "
        "`proctor organisations --register`."
    )


def write_organisation_limit(connection: Connection, name: str, question_limit: int | None) -> None:
    """Limit the questions handed to all candidates of a registered organisation together."""
    organisation = find_organisation(connection, name)
    connection.execute(
        update(organisations)
        .where(organisations.c.organisation == organisation)
        .values(question_limit=question_limit)
    )
    seal_organisation(connection, organisation)


def read_organisation_limits(connection: Connection, keys: Iterable[str]) -> dict[str, int]:
    """The limits of those organisations that have one."""
    rows = connection.execute(
        select(organisations.c.organisation, organisations.c.question_limit).where(
            organisations.c.organisation.in_(sorted(set(keys))), organisations.c.question_limit.is_not(None)
        )
    )
    return {str(key): int(limit) for key, limit in rows}
