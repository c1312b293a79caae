from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from deployments.model_server import RunningServer, start_model_server
from schemas.settings import Settings
from tests.tasks.league.world import ABILITIES, build_profile, make_profile, simulated_address, write_registry
from warehouse.lake import Lake, open_lake
from warehouse.ledger.engine.ledger import Ledger
from warehouse.ledger.engine.opening import open_ledger


@dataclass
class World:
    """A home with simulated candidates that answer."""

    settings: Settings
    ledger: Ledger
    lake: Lake
    server: RunningServer


MakeWorld = Callable[..., World]


@pytest.fixture
def make_world(tmp_path: Path) -> Iterator[MakeWorld]:
    """Make a world from the traits of its candidates; `profile` changes the profile by hand."""
    with ExitStack() as stack:

        def make(profile: Callable[[dict[str, Any]], None] | None = None, **traits: Any) -> World:
            content = build_profile(**traits)
            if profile is not None:
                profile(content)
            settings = Settings(home=tmp_path)
            write_registry(settings.registry_path, tuple(ABILITIES))
            # Letters, orders and matches are drawn from this: the same draws in every run of the tests.
            key = settings.home / "secrets" / "league"
            key.parent.mkdir(exist_ok=True)
            key.write_text("5" * 64, encoding="ascii")
            key.chmod(0o600)
            server = stack.enter_context(start_model_server(make_profile(content)))
            stack.enter_context(simulated_address(server.url))
            ledger = stack.enter_context(open_ledger(settings.ledger_address))
            return World(settings, ledger, stack.enter_context(open_lake(settings)), server)

        yield make
