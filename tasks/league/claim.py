"""What a league plays by: its claim, made once under its id and kept whole."""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from schemas import patterns as re
from schemas.errors import StoreError, UsageError, suggest
from schemas.organisations import name_families
from schemas.settings import Settings
from schemas.tables import get_table
from tasks.league.anonymity import LETTERS
from tasks.league.domain import Domain, list_topics, parse_domain
from tasks.league.originality import read_benchmark
from tasks.models.registry import RegisteredModel, Registry
from tasks.running.claiming import hold_work
from warehouse.lake import Batch, Lake
from warehouse.stores.secrets import read_home_key
from warehouse.stores.whole_files import hash_file

LEAST_CANDIDATES = 3
MOST_CANDIDATES = len(LETTERS)

_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,39}")


@dataclass(frozen=True)
class LeagueRules:
    """What is chosen when a league is claimed.

    Attributes:
        candidates: registered models, in the order of their seats.
        domains: name → content of the domain's file.
        language: of prompts, `zh` or `en`.
        season: whose topics are set; null for no topics.
        most_tries: calls for one reply that cannot be read, the first included.
        most_drafts: drafts of a question that is too near to others, the first included.
        most_overlap: share of 5-grams above which a question is too near.
        most_similarity: cosine above which it is.
        embedding: embedding model, a name or a folder; null to leave similarity out.
        benchmarks: path → SHA-256 of the files that questions are compared with.
        self_consistency: solutions of its own question that an asker is asked for; 0 for none.
        validator_count: people who are to judge each question; 0 for a league that is not published.
        runs_code: whether programs are run in the sandbox.
    """

    candidates: tuple[str, ...]
    domains: Mapping[str, Mapping[str, Any]]
    run_count: int = 5
    temperature: float = 1.0
    language: str = "en"
    season: str | None = None
    most_tries: int = 3
    most_drafts: int = 3
    most_overlap: float = 0.3
    most_similarity: float = 0.9
    embedding: str | None = None
    benchmarks: Mapping[str, str] = field(default_factory=dict)
    self_consistency: int = 0
    validator_count: int = 0
    runs_code: bool = False


@dataclass(frozen=True)
class ClaimedLeague:
    """A claimed league: its rules, its domains by name, and the key of its letters and orders."""

    league_id: str
    rules: LeagueRules
    domains: dict[str, Domain]
    is_simulated: bool
    key: bytes = field(repr=False)
    created_at: datetime

    @property
    def round_count(self) -> int:
        """Rounds of a run in each domain: each candidate asks once."""
        return len(self.rules.candidates)


def build_domains(rules: LeagueRules) -> dict[str, Domain]:
    """The domains of the rules by name; UsageError for one without prompts in the language."""
    domains = {name: parse_domain(content, f"domain {name}") for name, content in rules.domains.items()}
    for domain in domains.values():
        if rules.language not in domain.languages:
            raise UsageError(
                f"Domain {domain.name} has no prompts in {rules.language!r}, only in {', '.join(domain.languages)}. "
                "Choose one of these with --language, or add the prompts to its file."
            )
        if rules.season is not None:
            list_topics(domain, rules.season, rules.language)
    return domains


def check_rules(rules: LeagueRules, registry: Registry) -> list[RegisteredModel]:
    """The candidates that the rules name; UsageError for rules that cannot be played."""
    names = rules.candidates
    if len(set(names)) < len(names):
        raise UsageError("A candidate is named twice in --candidates. Name each once.")
    if not LEAST_CANDIDATES <= len(names) <= MOST_CANDIDATES:
        raise UsageError(
            f"A league has {LEAST_CANDIDATES} to {MOST_CANDIDATES} candidates, not {len(names)}. Name them with --candidates."
        )
    models = [registry.get(name) for name in names]
    if len({model.is_simulated for model in models}) > 1:
        raise UsageError(
            "Simulated candidates play with simulated ones alone. Leave out one kind of them in --candidates."
        )
    if not rules.domains:
        raise UsageError("A league needs at least one domain. Name it with --domain.")
    build_domains(rules)
    return models


def claim_league(
    lake: Lake, settings: Settings, registry: Registry, league_id: str, rules: LeagueRules
) -> ClaimedLeague:
    """Claim the id for these rules; UsageError where other rules have it."""
    if not _ID.fullmatch(league_id):
        raise UsageError(
            f"{league_id!r} is no id for a league: use up to 40 letters, digits, dots, hyphens and underscores."
        )
    models = check_rules(rules, registry)
    for name, digest in rules.benchmarks.items():
        if hash_benchmark(Path(name)) != digest:
            raise UsageError(f"{name} changed while the league was claimed. Run the command again.")
    with hold_work(settings, "league-claim", league_id, what=f"claiming the league {league_id}", wait_s=30):
        found = find_league(lake, settings, league_id)
        if found is not None:
            check_same(found, rules)
            return found
        key = _read_key(settings, league_id)
        claim = ClaimedLeague(
            league_id, rules, build_domains(rules), models[0].is_simulated, key, datetime.now(UTC)
        )
        lake.land_together(_describe_claim(claim, models))
        return claim


def find_league(lake: Lake, settings: Settings, league_id: str) -> ClaimedLeague | None:
    """The claim of an id, or None when it is free; StoreError when its key is another."""
    rows = lake.read("leagues_named", {"league_id": league_id}).to_dicts()
    if not rows:
        return None
    row = rows[0]
    if row["origin"] != "played":
        raise UsageError(
            f"The scores of league {league_id} were imported: it cannot be played. Choose another id."
        )
    key = _read_key(settings, league_id)
    if hashlib.sha256(key).hexdigest() != row["seed_hash"]:
        raise StoreError(
            f"The key in {settings.secrets_path / 'league'} is not the one that league {league_id} was claimed with. "
            "Restore the folder `secrets` of the home that claimed it."
        )
    rules = _parse_rules(row["settings"])
    return ClaimedLeague(
        league_id, rules, build_domains(rules), bool(row["is_simulated"]), key, row["created_at"]
    )


def read_league(lake: Lake, settings: Settings, league_id: str) -> ClaimedLeague:
    """The claim of a league; raises UsageError when there is none."""
    found = find_league(lake, settings, league_id)
    if found is None:
        known = lake.read("leagues_named")["league_id"].to_list()
        raise UsageError(
            f"There is no league {league_id!r}.{suggest(league_id, known)} "
            + (f"There are {', '.join(known)}." if known else "Start one with `proctor league run`.")
        )
    return found


def check_same(claim: ClaimedLeague, rules: LeagueRules) -> None:
    """Raise UsageError naming the first rule that differs from the claimed ones."""
    claimed, given = _plain_rules(claim.rules), _plain_rules(rules)
    for name, value in given.items():
        if claimed[name] == value:
            continue
        shown = "" if name in ("domains", "benchmarks") else f": {claimed[name]} there, {value} here"
        raise UsageError(
            f"League {claim.league_id} was claimed with other {name.replace('_', ' ')}{shown}. Name the league alone to "
            "continue it, or choose another id."
        )


def hash_benchmark(path: Path) -> str:
    """SHA-256 of a file that questions are compared with; UsageError if it holds none."""
    read_benchmark(path)
    return hash_file(path)


def name_unit(league_id: str, run_type: str, league_round: int) -> str:
    """The unit of all rounds of one number, of all domains and runs: they land together."""
    return f"{name_run(league_id)}/{run_type}/round-{league_round:02d}"


def name_run(league_id: str) -> str:
    """What the calls of a league are paid for; no run of the exam is named so."""
    return f"league/{league_id}"


def describe_candidates(
    league_id: str, models: Iterable[RegisteredModel], joined: str, known: Iterable[RegisteredModel] = ()
) -> list[dict[str, object]]:
    """Rows of `league_candidates`; `known` are candidates that the league has already."""
    models = list(models)
    families = {one.name: (one.organisation, one.family or one.organisation) for one in (*models, *known)}
    called = name_families(families.values())
    return [
        {
            "league_id": league_id,
            "model": model.name,
            "organisation": model.organisation,
            "family": called[families[model.name]],
            "joined": joined,
            "is_simulated": model.is_simulated,
        }
        for model in models
    ]


def _describe_claim(claim: ClaimedLeague, models: list[RegisteredModel]) -> list[Batch]:
    league = {
        "league_id": claim.league_id,
        "origin": "played",
        "domains": list(claim.domains),
        "domain_hashes": [domain.hash for domain in claim.domains.values()],
        "run_count": claim.rules.run_count,
        "round_count": claim.round_count,
        "temperature": claim.rules.temperature,
        "season": claim.rules.season,
        "validator_count": claim.rules.validator_count,
        "seed_hash": hashlib.sha256(claim.key).hexdigest(),
        "settings": json.dumps(_plain_rules(claim.rules), ensure_ascii=False),
        "is_simulated": claim.is_simulated,
        "created_at": claim.created_at,
    }
    members = describe_candidates(claim.league_id, models, "member")
    return [
        Batch("leagues", claim.league_id, get_table("leagues").frame([league])),
        Batch("league_candidates", claim.league_id, get_table("league_candidates").frame(members)),
    ]


def _plain_rules(rules: LeagueRules) -> dict[str, Any]:
    """The rules as JSON gives them back."""
    plain: dict[str, Any] = json.loads(json.dumps(asdict(rules), ensure_ascii=False))
    return plain


def _parse_rules(text: str) -> LeagueRules:
    values = json.loads(text)
    # A rule of earlier leagues that is kept by none: no program is run in a weaker room.
    values.pop("has_open_network", None)
    return LeagueRules(**{**values, "candidates": tuple(values["candidates"])})


def _read_key(settings: Settings, league_id: str) -> bytes:
    """The league's key: it follows from a secret of this home, made on first use (mode 0600)."""
    secret = read_home_key(
        settings, "league", "Restore it from a backup otherwise: the leagues of this home were drawn with it."
    )
    return hmac.new(secret, league_id.encode(), hashlib.sha256).digest()
