"""A domain of the league is data.

It is one YAML file with its fields, prompts, topics and way of scoring.

A user's own file is read in the same way as the shipped ones. What a league plays by is the content at the time when it
was claimed, never the file as it is later.

Topics of a season.

Each quarter takes the next few of a domain's list, so that every topic has its turn.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any, Literal, cast

from schemas import patterns as re
from schemas.errors import UsageError, suggest
from schemas.vocabulary import LANGUAGES

Aggregation = Literal["borda", "score_100"]

DOMAINS = Path(__file__).parent / "domains"
ROLES = ("ask", "answer", "judge")
AGGREGATIONS = ("borda", "score_100")
QUESTION_COLUMNS = ("stem", "reference_answer", "final_answer", "principle", "scoring_standard")
ANSWER_COLUMNS = ("response", "final_answer")
TOKEN_KINDS = ("question", "answer", "judgement")

_FIELDS = (
    "name",
    "title",
    "aggregation",
    "runs_code",
    "question",
    "answer",
    "prompts",
    "examples",
    "originality",
    "topics",
    "topics_per_season",
    "typical_tokens",
)
_OPTIONAL = ("title", "runs_code", "examples", "originality", "topics", "topics_per_season", "typical_tokens")
_USUAL_TOKENS = {"question": 1500, "answer": 1200, "judgement": 700}
_SEASON = re.compile(r"(\d{4})-Q([1-4])")


@dataclass(frozen=True)
class Field:
    """One field of the JSON object that a role returns.

    Attributes:
        key: its name in the object.
        about: what it is to hold, by language.
        column: the column it lands in; null for those that are kept together in `details`.
        is_optional: whether a reply without it can be read all the same.
    """

    key: str
    about: Mapping[str, str]
    column: str | None = None
    is_optional: bool = False


@dataclass(frozen=True)
class Domain:
    """The rules of one domain.

    Attributes:
        name: as it is named on the command line and in the tables.
        aggregation: `borda` (judges rank) or `score_100` (judges give 0 to 100).
        prompts: language → role → wording, without sections and form of output, which are the same everywhere.
        examples: language → texts that an asker is shown.
        originality: files that questions are compared with, absolute paths.
        topics: language → topics, of which each season takes the next few.
        topics_per_season: how many; 0 for no topics.
        typical_tokens: tokens that a question, an answer and a judgement usually have, for the preview of cost.
        runs_code: whether reference solutions and answers are programs that may be run.
        content: the file's content, from which the same domain is made again.
    """

    name: str
    aggregation: Aggregation
    question: tuple[Field, ...]
    answer: tuple[Field, ...]
    prompts: Mapping[str, Mapping[str, str]]
    examples: Mapping[str, tuple[str, ...]]
    originality: tuple[str, ...]
    topics: Mapping[str, tuple[str, ...]]
    topics_per_season: int
    typical_tokens: Mapping[str, int]
    runs_code: bool
    content: Mapping[str, Any]

    @property
    def hash(self) -> str:
        """SHA-256 of the content."""
        text = json.dumps(self.content, ensure_ascii=False, sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()

    @property
    def languages(self) -> tuple[str, ...]:
        """The languages that it has prompts in."""
        return tuple(self.prompts)


def list_domains() -> list[str]:
    """The names of the shipped domains."""
    return sorted(path.stem for path in DOMAINS.glob("*.yaml"))


def read_domain(name: str) -> Domain:
    """The shipped domain of that name, or the one in a YAML file; raises UsageError."""
    import yaml

    path = Path(name) if name.endswith((".yaml", ".yml")) else DOMAINS / f"{name}.yaml"
    if not path.is_file():
        known = ", ".join(list_domains())
        raise UsageError(
            f"There is no domain {name!r}.{suggest(name, list_domains())} Shipped are {known}; give the path of a .yaml file for one of your own."
        )
    try:
        content = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (yaml.YAMLError, UnicodeDecodeError, RecursionError):
        raise UsageError(f"{path} is not UTF-8 YAML. Correct it, or start from a shipped domain.") from None
    if isinstance(content, dict) and isinstance(content.get("originality"), list):
        content["originality"] = [str((path.parent / str(file)).resolve()) for file in content["originality"]]
    return parse_domain(content, str(path))


def parse_domain(content: object, origin: str) -> Domain:
    """A domain from plain data; raises UsageError naming `origin` and the field that is wrong."""
    if not isinstance(content, Mapping):
        raise UsageError(
            f"{origin} holds no fields. A domain needs {', '.join(_FIELDS[:1] + _FIELDS[2:3])} and more."
        )
    if unknown := sorted(str(name) for name in content if name not in _FIELDS):
        raise UsageError(
            f"{origin}: unknown field {unknown[0]!r}.{suggest(unknown[0], _FIELDS)} The fields are {', '.join(_FIELDS)}."
        )
    for name in _FIELDS:
        if name not in _OPTIONAL and not content.get(name):
            raise UsageError(f"{origin}: the field `{name}` is missing. Add it; docs/league.md describes it.")
    name = str(content["name"])
    if not name.replace("_", "a").replace("-", "a").isalnum() or len(name) > 40:
        raise UsageError(f"{origin}: {name!r} is no name for a domain. Use letters, digits, - and _.")
    if content["aggregation"] not in AGGREGATIONS:
        raise UsageError(
            f"{origin}: aggregation {content['aggregation']!r} is unknown.{suggest(str(content['aggregation']), AGGREGATIONS)} Use one of {', '.join(AGGREGATIONS)}."
        )
    prompts = _read_prompts(content["prompts"], origin)
    question = _read_fields(content["question"], "question", QUESTION_COLUMNS, tuple(prompts), origin)
    answer = _read_fields(content["answer"], "answer", ANSWER_COLUMNS, tuple(prompts), origin)
    _check_columns(question, ("stem", "reference_answer"), "question", origin)
    _check_columns(answer, ("response",), "answer", origin)
    topics = _read_texts(content.get("topics"), "topics", origin)
    tokens = {**_USUAL_TOKENS, **(content.get("typical_tokens") or {})}
    if set(tokens) != set(TOKEN_KINDS) or not all(
        isinstance(count, int) and count > 0 for count in tokens.values()
    ):
        raise UsageError(
            f"{origin}: typical_tokens holds positive counts of {', '.join(TOKEN_KINDS)} alone. Correct it."
        )
    per_season = content.get("topics_per_season", 0)
    if not isinstance(per_season, int) or not 0 <= per_season <= min(
        (len(t) for t in topics.values()), default=0
    ):
        raise UsageError(
            f"{origin}: topics_per_season must be a count from 0 to the number of topics. Correct it."
        )
    return Domain(
        name=name,
        aggregation=cast(Aggregation, content["aggregation"]),
        question=question,
        answer=answer,
        prompts=prompts,
        examples=_read_texts(content.get("examples"), "examples", origin),
        originality=tuple(str(file) for file in content.get("originality") or ()),
        topics=topics,
        topics_per_season=per_season,
        typical_tokens=tokens,
        runs_code=bool(content.get("runs_code", False)),
        content=content,
    )


def _read_prompts(value: object, origin: str) -> dict[str, dict[str, str]]:
    if not isinstance(value, Mapping) or not set(value) <= set(LANGUAGES):
        raise UsageError(f"{origin}: prompts are given by language ({', '.join(LANGUAGES)}). Correct them.")
    prompts: dict[str, dict[str, str]] = {}
    for language, roles in value.items():
        missing = [
            role for role in ROLES if not isinstance(roles, Mapping) or not str(roles.get(role) or "").strip()
        ]
        if missing:
            raise UsageError(f"{origin}: prompts.{language} has no wording for {missing[0]!r}. Add it.")
        prompts[str(language)] = {role: str(roles[role]).strip() for role in ROLES}
    return prompts


def _read_fields(
    value: object, name: str, columns: Sequence[str], languages: Sequence[str], origin: str
) -> tuple[Field, ...]:
    fields: list[Field] = []
    for entry in value if isinstance(value, list) else []:
        about = entry.get("about") if isinstance(entry, Mapping) else None
        if not isinstance(about, Mapping) or not entry.get("key") or not set(languages) <= set(about):
            raise UsageError(
                f"{origin}: each field of `{name}` needs a key, and `about` in each language of the prompts. Correct it."
            )
        column = entry.get("column")
        if column is not None and column not in columns:
            raise UsageError(
                f"{origin}: {name}.{entry['key']}: there is no column {column!r}; use {', '.join(columns)}."
            )
        fields.append(
            Field(
                str(entry["key"]),
                {str(language): str(text) for language, text in about.items()},
                column,
                bool(entry.get("is_optional", False)),
            )
        )
    return tuple(fields)


def _check_columns(fields: Sequence[Field], needed: Sequence[str], name: str, origin: str) -> None:
    given = [field.column for field in fields if field.column]
    for column in needed:
        if column not in given:
            raise UsageError(f"{origin}: no field of `{name}` has the column {column!r}. Give it to one.")
    if len(set(given)) < len(given):
        raise UsageError(f"{origin}: two fields of `{name}` have one column. Give each its own.")


def _read_texts(value: object, name: str, origin: str) -> dict[str, tuple[str, ...]]:
    if value is None:
        return {}
    if not isinstance(value, Mapping) or not all(isinstance(texts, list) for texts in value.values()):
        raise UsageError(f"{origin}: `{name}` holds a list for each language. Correct it.")
    return {str(language): tuple(str(text) for text in texts) for language, texts in value.items()}


def name_season(day: date) -> str:
    """The season of a day, `YYYY-Qn`."""
    return f"{day.year}-Q{(day.month + 2) // 3}"


def list_topics(domain: Domain, season: str, language: str) -> list[str]:
    """The season's topics in a language; none where the domain has none. Raises UsageError."""
    match = _SEASON.fullmatch(season)
    if match is None:
        raise UsageError(f"{season!r} is no season: write the year and the quarter, for example 2026-Q4.")
    topics = domain.topics.get(language, ())
    if not topics or not domain.topics_per_season:
        return []
    start = (int(match[1]) * 4 + int(match[2]) - 1) * domain.topics_per_season
    return [topics[(start + place) % len(topics)] for place in range(domain.topics_per_season)]


def pick_topic(topics: list[str], league_run: int, league_round: int) -> str | None:
    """The topic of a round: each run begins with another one; null without topics."""
    return topics[(league_run + league_round - 2) % len(topics)] if topics else None
