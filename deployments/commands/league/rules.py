"""From the options of a command to the rules of a league."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from deployments.commands.options import split_names
from schemas.errors import UsageError
from schemas.vocabulary import LANGUAGES
from tasks.league import LeagueRules, hash_benchmark, read_domain


def build_rules(
    candidates: str,
    domains: str,
    runs: int | None,
    temperature: float | None,
    language: str,
    season: str,
    benchmarks: list[Path] | None,
    embedding: str,
    self_consistency: int | None,
    published: bool | None,
    run_code: bool | None,
    open_network: bool | None,
    defaults: LeagueRules | None = None,
) -> LeagueRules:
    """The rules as they were given; what was not is as claimed before, else the usual."""
    if language and language not in LANGUAGES:
        raise UsageError(f"--language {language!r} is unknown. Use one of {', '.join(LANGUAGES)}.")
    rules = defaults or LeagueRules((), {})
    given: dict[str, Any] = {
        "candidates": tuple(split_names(candidates) or ()),
        "run_count": runs,
        "temperature": temperature,
        "language": language,
        "season": season,
        "embedding": embedding,
        "self_consistency": self_consistency,
        "runs_code": run_code,
        "has_open_network": open_network,
        "validator_count": None if published is None else 3 * published,
        "benchmarks": {str(path.resolve()): hash_benchmark(path) for path in benchmarks or ()} or None,
    }
    found = [read_domain(name) for name in split_names(domains) or ([] if defaults else ["mathematics"])]
    if len({domain.name for domain in found}) < len(found):
        raise UsageError("Two of the domains have one name. Name each once, or give your own another name.")
    given["domains"] = {domain.name: domain.content for domain in found}
    return replace(rules, **{name: value for name, value in given.items() if value not in (None, "", (), {})})
