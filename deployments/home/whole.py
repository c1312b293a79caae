"""PROCTOR_HOME as a whole: make it, describe it."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from importlib.metadata import version
from pathlib import Path
from typing import Any

from schemas.errors import UsageError
from schemas.settings import Settings, is_home
from schemas.tables import TABLES

TEMPLATES = Path(__file__).parent / "templates"


def create_home(
    settings: Settings, *, joins: bool = False, tell: Callable[[str], object] = lambda _: None
) -> dict[str, Any]:
    """Create the ledger, the lake with every table, and a registry to fill in.

    What exists is left alone. A store that is missing from a home that had one is not made again: StoreError says what is
    missing. `joins` makes this home one of the installation that the ledger belongs to. `tell` hears what is being made,
    which takes seconds.
    """
    from deployments.home.hosts import prepare_host
    from warehouse.stores.homes import check_stores, joining_stores, mark_home
    from warehouse.stores.shared_files import has_hosts

    home, is_there = settings.home, is_home(settings.home)
    if not joins:
        check_stores(settings)
    try:
        home.mkdir(parents=True, exist_ok=True)
        home.chmod(0o700)
        settings.secrets_path.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(
            f"PROCTOR_HOME {home} cannot be created ({error.strerror}); choose another folder."
        ) from None
    with joining_stores(settings) if joins else nullcontext():
        _create_stores(settings, joins=joins, tell=(lambda _: None) if is_there else tell)
    mark_home(settings)
    prepare_host(settings)
    registry = settings.registry_path
    is_new = not registry.exists()
    if is_new and joins and has_hosts(settings):
        raise UsageError(
            f"There is no registry {registry}, which the hosts of an installation share. Let PROCTOR_SHARED or PROCTOR_REGISTRY name "
            "the folder or file that the other hosts use, then join again."
        )
    if is_new:
        registry.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(TEMPLATES / "models.yaml", registry)
    return {
        "home": str(home),
        "registry": str(registry),
        "registry_is_new": is_new,
        "lake": settings.data_address,
    }


def drop_examples(settings: Settings, roles: Sequence[str]) -> list[str]:
    """Take `proctor init`'s unchanged, unnamed examples of these roles out; their names."""
    from tasks.models.registry import read_registry, remove_model

    examples = read_registry(TEMPLATES / "models.yaml").models
    there = read_registry(settings.registry_path).models
    named = {settings.reference_model, *settings.judges}
    found = [
        name
        for name, example in examples.items()
        if there.get(name) == example
        and name not in named
        and {*roles} & {*example.roles} & {"candidate", "judge"}
    ]
    for name in found:
        remove_model(settings.registry_path, name)
    return found


def _create_stores(settings: Settings, *, joins: bool, tell: Callable[[str], object]) -> None:
    from warehouse.lake import open_lake
    from warehouse.ledger.engine.leases.clock import check_clock
    from warehouse.ledger.engine.opening import open_ledger
    from warehouse.stores.homes import adopt_stores

    tell(f"Making the ledger in {settings.home} …")
    with open_ledger(settings.ledger_address) as ledger:
        check_clock(ledger)  # the first mark, which later clocks are compared with
    tell(f"Making the {len(TABLES)} tables of the lake and the views over them …")
    open_lake(settings).close()
    adopt_stores(settings, may_join=joins)
    # Now that it is known whose they are, files elsewhere are marked, or refused as another lake's.
    open_lake(settings).close()


def describe_home(settings: Settings) -> dict[str, Any]:
    """Server, stores and open work; reads only."""
    from deployments.flow_runs.server import is_healthy, read_named_server, read_state
    from tasks.running.flow_runs.record import find_missed_runs, select_unmade
    from warehouse.lake.reading import LakeReader
    from warehouse.ledger.engine.opening import open_ledger
    from warehouse.ledger.exam import sittings
    from warehouse.ledger.review import assigning

    named, state = read_named_server(), read_state(settings)
    is_there = named.answers() if named else state is not None and is_healthy(state)
    description: dict[str, Any] = {
        "home": str(settings.home.resolve()),
        "version": version("proctor"),
        "server": "healthy" if is_there else "not answering" if named or state else "none",
        "api_url": named.shown if named else state.api_url if state else None,
    }
    with open_ledger(settings.ledger_address) as ledger:
        with ledger.read() as connection:
            description["open_review_batches"] = assigning.count_open_batches(connection)
            description["open_runs"] = sittings.list_open_runs(connection)
        description["missed_runs"] = [
            f"{one.describe()} ({one.remedy})" for one in select_unmade(find_missed_runs(ledger))
        ]
    with LakeReader(settings) as lake:
        landed = lake.read("landed_row_counts")
        quarantined = lake.read("quarantined_count")
        papers = {str(state): count for state, count in lake.read("papers_by_status").rows}
    description["rows"] = {str(name): count for name, count in landed.rows}
    description["quarantined_rows"] = quarantined.scalar()
    description["held_papers"] = papers.get("held", 0)
    return description
