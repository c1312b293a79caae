"""A league of simulated candidates: their registry, their profile, and a home to play in."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from deployments.model_server import parse_profile
from deployments.model_server.profile import ServerProfile
from schemas.settings import Settings
from tasks.league.claim import LeagueRules, claim_league
from tasks.league.domain import read_domain
from tasks.league.play import LeagueSummary, Playing, play_league
from tasks.models.registry import read_registry
from warehouse.lake import Lake
from warehouse.ledger.engine.ledger import Ledger

if TYPE_CHECKING:
    from collections.abc import Iterator

# Eight candidates of four families, two each; solving and setting are not in the same order.
ABILITIES = {
    "sim-a1": ("alder", 1.6, -0.3),
    "sim-a2": ("alder", -0.4, 0.5),
    "sim-b1": ("birch", 1.2, 0.2),
    "sim-b2": ("birch", -0.9, 0.0),
    "sim-c1": ("cedar", 0.8, -0.6),
    "sim-c2": ("cedar", -1.3, 0.3),
    "sim-d1": ("dogwood", 0.4, 0.6),
    "sim-d2": ("dogwood", 0.0, -0.1),
}
ENTRANT = "sim-e1"


def build_profile(
    names: Sequence[str] = tuple(ABILITIES), *, entrant: float = 0.6, **traits: Any
) -> dict[str, Any]:
    """A profile as plain data.

    `traits` are those of all candidates in a league, and override their abilities.
    """
    models = {
        name: {
            "owned_by": family,
            "league": {"solving": solving, "setting": setting, "family": family, **traits},
        }
        for name, (family, solving, setting) in ABILITIES.items()
        if name in names
    }
    models[ENTRANT] = {"owned_by": "elm", "league": {"solving": entrant, "family": "elm", **traits}}
    return {"seed": "league-1", "models": models}


def make_profile(content: Mapping[str, Any]) -> ServerProfile:
    return parse_profile(content)


def write_registry(path: Path, names: Sequence[str] = tuple(ABILITIES), **fields: Any) -> None:
    """A registry of simulated candidates with prices."""
    models = {
        name: {
            "provider": "simulated",
            "organisation": ABILITIES[name][0].title() if name in ABILITIES else "Elm",
            "family": ABILITIES[name][0] if name in ABILITIES else "elm",
            "parameters": {"max_tokens": 2048},
            "input_price_usd": 1.0,
            "output_price_usd": 2.0,
            **fields,
        }
        for name in (*names, ENTRANT)
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"providers": {"simulated": {"base_url": "simulated"}}, "models": models}))


def make_rules(
    names: Sequence[str] = tuple(ABILITIES), domains: Sequence[str] = ("mathematics",), **values: Any
) -> LeagueRules:
    return LeagueRules(
        tuple(names),
        {domain: read_domain(domain).content for domain in domains},
        **{"run_count": 1, **values},
    )


def play(
    ledger: Ledger,
    lake: Lake,
    settings: Settings,
    league_id: str,
    rules: LeagueRules | None = None,
    run_type: str = "full",
    **options: Any,
) -> LeagueSummary:
    """Claim a league where rules are given, and play it."""
    if rules is not None:
        claim_league(lake, settings, read_registry(settings.registry_path), league_id, rules)
    progress = options.pop("progress", None)
    playing = Playing(run_type, **options)
    return asyncio.run(play_league(ledger, lake, settings, league_id, playing, progress=progress))


@contextmanager
def simulated_address(url: str) -> Iterator[None]:
    import os

    before = os.environ.get("PROCTOR_SIMULATED_URL")
    os.environ["PROCTOR_SIMULATED_URL"] = url
    try:
        yield
    finally:
        if before is None:
            del os.environ["PROCTOR_SIMULATED_URL"]
        else:
            os.environ["PROCTOR_SIMULATED_URL"] = before
