"""From the options of a command to the rules of a league."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Annotated, Any

import typer

from deployments.commands.options import split_names
from schemas.errors import UsageError
from schemas.vocabulary import LANGUAGES
from tasks.league import LeagueRules, hash_benchmark, read_domain

Candidates = Annotated[
    str,
    typer.Option(
        "--candidates", help="Models of the registry, comma separated, in the order of their turns."
    ),
]
Domains = Annotated[
    str,
    typer.Option(
        "--domain",
        help="Domains, comma separated: mathematics, programming, law, or the path of a .yaml file.",
    ),
]
Runs = Annotated[int | None, typer.Option("--runs", min=1, help="Independent runs. Default: 5.")]
Temperature = Annotated[
    float | None, typer.Option("--temperature", min=0, help="Temperature of all calls. Default: 1.")
]
Language = Annotated[str, typer.Option("--language", help="Language of the prompts, en or zh. Default: en.")]
Season = Annotated[
    str,
    typer.Option("--season", help="Season whose topics are set, for example 2026-Q4. Default: no topics."),
]
Benchmarks = Annotated[
    list[Path] | None,
    typer.Option(
        "--benchmark", help="File of known questions that new ones must not be near; may be repeated."
    ),
]
Embedding = Annotated[
    str, typer.Option("--embedding", help="Embedding model (name or folder) for similarity. Default: none.")
]
Consistency = Annotated[
    int | None,
    typer.Option(
        "--self-consistency", min=0, help="Times an asker solves its own question again. Default: 0."
    ),
]
Published = Annotated[
    bool | None,
    typer.Option(
        "--published", help="Three people are to judge each question before the league is published."
    ),
]
RunsCode = Annotated[
    bool | None,
    typer.Option("--run-code", help="Run programs in the sandbox (docs/league.md says its limits)."),
]


@dataclass(frozen=True)
class RuleOptions:
    """The rules of a league as they are typed; what is not given is empty or null."""

    runs: Runs = None
    temperature: Temperature = None
    language: Language = ""
    season: Season = ""
    benchmarks: Benchmarks = None
    embedding: Embedding = ""
    self_consistency: Consistency = None
    published: Published = None
    run_code: RunsCode = None

    @property
    def is_given(self) -> bool:
        """Whether any of them was typed."""
        return any(getattr(self, field.name) not in (None, "") for field in fields(self))


def build_rules(
    candidates: str, domains: str, options: RuleOptions, defaults: LeagueRules | None = None
) -> LeagueRules:
    """The rules as they were given; what was not is as claimed before, else the usual."""
    check_language(options.language)
    rules = defaults or LeagueRules((), {})
    given: dict[str, Any] = {
        "candidates": tuple(split_names(candidates) or ()),
        "run_count": options.runs,
        "temperature": options.temperature,
        "language": options.language,
        "season": options.season,
        "embedding": options.embedding,
        "self_consistency": options.self_consistency,
        "runs_code": options.run_code,
        "validator_count": None if options.published is None else 3 * options.published,
        "benchmarks": {str(path.resolve()): hash_benchmark(path) for path in options.benchmarks or ()}
        or None,
    }
    found = [read_domain(name) for name in split_names(domains) or ([] if defaults else ["mathematics"])]
    if len({domain.name for domain in found}) < len(found):
        raise UsageError("Two of the domains have one name. Name each once, or give your own another name.")
    given["domains"] = {domain.name: domain.content for domain in found}
    return replace(rules, **{name: value for name, value in given.items() if value not in (None, "", (), {})})


def check_language(language: str) -> None:
    """Raise UsageError for a language that no prompt is written in; an empty one is none."""
    if language and language not in LANGUAGES:
        raise UsageError(f"--language {language!r} is unknown. Use one of {', '.join(LANGUAGES)}.")
