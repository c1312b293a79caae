"""The registry's organisations in the ledger; what a team owns, and the lake as it sees it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from schemas.errors import UsageError, suggest
from schemas.settings import Settings
from tasks.models.registry.models import Registry, read_registry
from warehouse.ledger.engine.ledger import Ledger
from warehouse.ledger.trust import organisations as ledger_organisations
from warehouse.ledger.trust.organisations import make_key

if TYPE_CHECKING:
    from warehouse.lake import Lake


def collect_owners(registry: Registry, *, is_simulated: bool) -> tuple[dict[str, str], dict[str, str]]:
    """The organisations with models of this kind, key → name; other names' key → key meant."""
    aliases: dict[str, str] = {}
    names: dict[str, str] = {}
    for model in registry.models.values():
        if model.is_simulated is not is_simulated:
            continue
        owner = registry.organisations.find(model.organisation) or model.organisation
        key = make_key(owner, is_simulated=is_simulated)
        names.setdefault(key, owner)
        for other in registry.organisations.names.get(owner, ()):
            alias = make_key(other, is_simulated=is_simulated)
            if alias != key:
                aliases[alias] = key
    return names, aliases


def register_owners(ledger: Ledger, registry: Registry) -> None:
    """Give every organisation of the registry, and each other name, its row in the ledger."""
    with ledger.write() as connection:
        for is_simulated in (False, True):
            names, aliases = collect_owners(registry, is_simulated=is_simulated)
            every = {**{alias: names[key] for alias, key in aliases.items()}, **names}
            ledger_organisations.register_organisations(connection, every, aliases)


def list_owners(ledger: Ledger, registry: Registry) -> list[dict[str, Any]]:
    """A record per organisation and kind: names, models, the ledger's name or None, its limit."""
    with ledger.read() as connection:
        known = {found.organisation: found for found in ledger_organisations.list_organisations(connection)}
    rows = []
    for is_simulated in (False, True):
        for key, name in collect_owners(registry, is_simulated=is_simulated)[0].items():
            found = known.get(key)
            meant = known.get(found.same_as) if found is not None and found.same_as else found
            rows.append(
                {
                    "organisation": name,
                    "other_names": ", ".join(registry.organisations.names.get(name, ())) or None,
                    "models": " ".join(
                        model.name
                        for model in registry.models.values()
                        if model.is_simulated is is_simulated and model.organisation == name
                    ),
                    "is_simulated": is_simulated,
                    "registered_as": None if meant is None else meant.name,
                    "question_limit": None if meant is None else meant.question_limit,
                }
            )
    return rows


def read_team_models(settings: Settings, team: str) -> frozenset[str]:
    """The models that a team owns now; UsageError for a team without any."""
    registry = read_registry(settings.registry_path)
    models = registry.list_owned([team])
    if not models:
        known = sorted({model.team for model in registry.models.values() if model.team is not None})
        named = f"The teams are {', '.join(known)}." if known else "Write `team: NAME` below a model first."
        raise UsageError(
            f"No model of {settings.registry_path} is of the team {team!r}.{suggest(team, known)} {named}"
        )
    return models


def open_team_lake(settings: Settings, team: str) -> Lake:
    """The lake for reading, with a team's models alone; UsageError for a team without any."""
    from warehouse.lake import open_narrow_lake

    return open_narrow_lake(settings, read_team_models(settings, team))
