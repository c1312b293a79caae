"""The model registry: one YAML file with every endpoint and model that Proctor may call.

It names the environment variables that hold API keys, or programs that give them; it holds no key.
"""

from __future__ import annotations

import json
import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from schemas.asked_secrets import ask_secret
from schemas.errors import ProctorError, RegistryError, suggest
from schemas.organisations import TEAM_NAMES, is_team_name
from tasks.models.providers import PROVIDERS
from tasks.models.registry.file import (
    BatchTerms,
    EntryPlace,
    Organisations,
    check_name,
    check_names,
    parse_batch_terms,
    parse_organisations,
    read_day,
    read_flag,
    read_number,
    read_section,
    read_text,
    read_yaml,
)

MODES = ("standard", "thinking", "search")
ROLES = ("candidate", "judge", "reference", "generator")
SITTING_ROLES = frozenset({"candidate", "reference"})

# The literal that stands for the simulated model server, whose address is known only when it runs.
SIMULATED_URL = "simulated"
# The literal in the place of an address for who sits with a client of its own: nothing of ours calls it.
OUTSIDE_URL = "outside"
DEFAULT_API = "openai"
# Our own kind of judge (tasks/judging/kinds).
DEFAULT_JUDGE_KIND = "stars"

PROVIDER_FIELDS = (
    "base_url",
    "api",
    "key_variable",
    "key_command",
    "requests_per_minute",
    "tokens_per_minute",
    "max_concurrency",
    "budget_usd",
    "replicas",
    "is_simulated",
)
MODEL_FIELDS = (
    "provider",
    "organisation",
    "team",
    "family",
    "release_date",
    "is_open",
    "mode",
    "base_model",
    "endpoint_model",
    "parameters",
    "input_price_usd",
    "cached_input_price_usd",
    "output_price_usd",
    "requests_per_minute",
    "tokens_per_minute",
    "max_concurrency",
    "reexamine_every",
    "offers_schema",
    "sees_pictures",
    "judge_kind",
    "batch",
    "roles",
)
SECTIONS = ("providers", "organisations", "models")
_LIMITS = ("requests_per_minute", "tokens_per_minute", "max_concurrency")


@dataclass(frozen=True)
class RegisteredModel:
    """One model as it is registered.

    Attributes:
        name: the name used everywhere in Proctor.
        organisation: who owns it, as the registry first writes the name; a question is put to an organisation once.
        family: its series, or null.
        release_date: the day it was released, or null.
        is_open: whether its weights are public.
        mode: `standard`, `thinking` or `search`.
        base_model: the registered model that a thinking or search variant is a variant of.
        endpoint_model: the name that is sent to the endpoint.
        base_url: address of the endpoint, up to and including `/v1`; `simulated` for the local model server.
        key_variable: environment variable with the API key; null where none is needed, or a program gives it.
        tokens_per_minute: limit on tokens sent and returned; null for none.
        provider_budget_usd: what all calls of its provider may cost together, whatever they are for; null for no limit.
        replica_urls: further addresses at which the same model answers.
        key_command: program that prints the API key, with its arguments; null where none is asked.
        team: whose it is within the house: its members see this model where they see no other; null for nobody's.
        parameters: sent with every request (`temperature`, `max_tokens`, `stream`, …).
        input_price_usd: price of a million input tokens; null when unknown.
        output_price_usd: price of a million output tokens; null when unknown.
        cached_input_price_usd: price of a million input tokens that the provider had in its cache; null for that of any other.
        requests_per_minute: limit on requests sent; null for none.
        max_concurrency: limit on requests in flight; null for the setting `call_concurrency`.
        is_simulated: whether it is a simulation; its runs never enter a leaderboard.
        provider: name of the endpoint, part of the key of every call.
        roles: what it may be used for: `candidate`, `judge`, `reference`, `generator`.
        has_own_limits: whether the limits are its own, not shared with the provider's other models.
        reexamine_every: months after which it is examined again; null for the settings' default.
        offers_schema: whether its endpoint holds replies to a JSON schema (`response_format`); judges are then asked so.
        sees_pictures: whether it is sent the pictures of a question; who is not gets what they show in words.
        batch: how it takes batches; null where it takes none.
        api: the words that its endpoint speaks: the name of one of `proctor.providers`.
        judge_kind: how it is asked for verdicts: the name of one of `proctor.judges`, looked for when it is to judge.
    """

    name: str
    organisation: str
    family: str | None
    release_date: date | None
    is_open: bool
    mode: str
    base_model: str | None
    endpoint_model: str
    base_url: str
    key_variable: str | None
    parameters: dict[str, Any]
    input_price_usd: float | None
    output_price_usd: float | None
    requests_per_minute: float | None
    max_concurrency: int | None
    is_simulated: bool
    provider: str
    roles: tuple[str, ...]
    has_own_limits: bool = False
    reexamine_every: int | None = None
    offers_schema: bool = False
    batch: BatchTerms | None = None
    api: str = DEFAULT_API
    judge_kind: str = DEFAULT_JUDGE_KIND
    sees_pictures: bool = False
    key_command: str | None = None
    team: str | None = None
    cached_input_price_usd: float | None = None
    tokens_per_minute: float | None = None
    provider_budget_usd: float | None = None
    replica_urls: tuple[str, ...] = ()

    @property
    def lane(self) -> str:
        """What has limits of its own: a provider, or a model of it."""
        return f"{self.provider}/{self.name}" if self.has_own_limits else self.provider

    @property
    def is_outside(self) -> bool:
        """Whether it has no address: it sits through the exam API with a client of its own."""
        return self.base_url == OUTSIDE_URL

    @property
    def sitting_role(self) -> str | None:
        """The role by which it sits the exam, and reads no question with its answer; null for none."""
        return min(SITTING_ROLES & {*self.roles}, default=None)

    @property
    def is_generator(self) -> bool:
        """Whether papers and questions may be sent to it: who sits the exam reads none of them."""
        return "generator" in self.roles and self.sitting_role is None

    @property
    def has_key(self) -> bool:
        """Whether its key is set, or it needs none; a program that gives it is not asked here."""
        if self.key_command is not None or self.key_variable is None:
            return True
        return bool(os.environ.get(self.key_variable, "").strip())


class _Limits(NamedTuple):
    """How fast, and how much at once."""

    requests_per_minute: float | None
    tokens_per_minute: float | None
    concurrency: int | None


@dataclass(frozen=True)
class Registry:
    """The models by name, in the order of the file, and the organisations that own them."""

    models: dict[str, RegisteredModel]
    path: Path = field(default_factory=lambda: Path("models.yaml"))
    organisations: Organisations = field(default_factory=Organisations)

    def get(self, name: str) -> RegisteredModel:
        """The model of that name; raises RegistryError naming those that exist."""
        try:
            return self.models[name]
        except KeyError:
            known = ", ".join(self.models)
            raise RegistryError(
                f"{self.path}: there is no model {name!r}; registered are {known}."
                + (suggest(name, self.models) or " Correct the name, or add the model to the registry.")
            ) from None

    def candidates(self) -> list[RegisteredModel]:
        """The models under evaluation."""
        return self._with_role("candidate")

    def callable_candidates(self) -> list[RegisteredModel]:
        """Those of them that have an address."""
        return [model for model in self.candidates() if not model.is_outside]

    def judges(self, names: Sequence[str] = ()) -> list[RegisteredModel]:
        """The judges, the primary first: those named, whatever their roles, else all with the role."""
        if names:
            return [self.get(name) for name in names]
        judges = self._with_role("judge")
        if not judges:
            raise RegistryError(f"{self.path}: no model has the role `judge`. Give it to at least one.")
        return judges

    def reference(self, name: str | None = None) -> RegisteredModel:
        """The reference candidate: the one named, else the only one with the role."""
        if name is not None:
            return self.sitter(name)
        return self._only("reference", "or set PROCTOR_REFERENCE_MODEL")

    def sitter(self, name: str) -> RegisteredModel:
        """The model of that name, which sits the exam.

        Raises RegistryError for one without a role by which it does: as a judge or generator it may have read questions with their answers.
        """
        model = self.get(name)
        if model.sitting_role is None:
            raise RegistryError(
                f"{self.path}: model {name!r} has the roles {', '.join(model.roles) or 'none'}, by which it may have read questions with "
                "their answers, and sits no exam. Name a model with the role `candidate`."
            )
        return model

    def generator(self, name: str) -> RegisteredModel:
        """The model of that name, which is sent papers, questions and answers.

        Raises RegistryError for one that has not the role, and for one that sits the exam.
        """
        model = self.get(name)
        if "generator" not in model.roles:
            raise RegistryError(
                f"{self.path}: model {name!r} has the roles {', '.join(model.roles) or 'none'}. "
                "A model that is sent papers or questions needs the role `generator`. Add the role, or name another model."
            )
        return self.outsider(name)

    def outsider(self, name: str) -> RegisteredModel:
        """The model of that name, which is shown answers: RegistryError for one that sits the exam."""
        model = self.get(name)
        if model.sitting_role is not None:
            raise RegistryError(
                f"{self.path}: model {name!r} is a {model.sitting_role}, and would read the questions and answers of the exam that it sits. Name a "
                "model that sits no exam."
            )
        return model

    def list_owned(self, teams: Collection[str]) -> frozenset[str]:
        """The models of these teams, whatever their roles."""
        return frozenset(model.name for model in self.models.values() if model.team in teams)

    def _with_role(self, role: str) -> list[RegisteredModel]:
        return [model for model in self.models.values() if role in model.roles]

    def _only(self, role: str, otherwise: str) -> RegisteredModel:
        models = self._with_role(role)
        if len(models) != 1:
            found = ", ".join(model.name for model in models) or "none"
            raise RegistryError(
                f"{self.path}: exactly one model must have the role `{role}`; found: {found}. "
                f"Give it to one, {otherwise}."
            )
        return models[0]


def read_registry(path: Path) -> Registry:
    """Read and check the registry; RegistryError names file, model, field and what to do."""
    content = read_yaml(path)
    if unknown := [str(name) for name in content if name not in SECTIONS]:
        raise RegistryError(
            f"{path}: unknown section {unknown[0]!r}.{suggest(unknown[0], SECTIONS)} The sections are {', '.join(f'`{name}`' for name in SECTIONS)}."
        )
    providers = read_section(path, content, "providers")
    entries = read_section(path, content, "models")
    for name, provider in providers.items():
        check_name(place := EntryPlace(path, "provider", name), "", name)
        _check_provider(place, provider)
    models: dict[str, RegisteredModel] = {}
    for name, entry in entries.items():
        check_name(place := EntryPlace(path, "model", name), "", name)
        models[name] = _parse_model(place, entry, providers)
    for model in models.values():
        if model.base_model is not None and model.base_model not in models:
            raise EntryPlace(path, "model", model.name).error(
                "base_model", f"{model.base_model!r} is not registered", "Register it, or leave the field out"
            )
    owners = {model.name: model.organisation for model in models.values()}
    organisations = parse_organisations(path, content, owners)
    owned = {
        name: replace(model, organisation=organisations.find(model.organisation) or model.organisation)
        for name, model in models.items()
    }
    return Registry(owned, path, organisations)


def check_callable(models: Iterable[RegisteredModel]) -> None:
    """Pass when every model has its key and its address; RegistryError for the first without."""
    for model in models:
        read_api_key(model)
        read_address(model)


def read_address(model: RegisteredModel, simulated_url: str | None = None) -> str:
    """Where the model is reached; a simulated one at `simulated_url` or PROCTOR_SIMULATED_URL."""
    if model.is_outside:
        raise RegistryError(
            f"Model {model.name!r} has a client of its own, and no address at which it could be asked: it sits with `--outside` alone. Leave it "
            "out here, or register its address."
        )
    if model.base_url != SIMULATED_URL:
        return model.base_url
    url = simulated_url or os.environ.get("PROCTOR_SIMULATED_URL")
    if url is None:
        raise RegistryError(
            f"Model {model.name!r} is simulated, but no simulated model server is known. Start one with "
            "`python -m deployments.model_server` and set PROCTOR_SIMULATED_URL to its address."
        )
    return url


def read_api_key(model: RegisteredModel) -> str:
    """The API key, from the environment or a program; `none` where none is needed.

    Raises RegistryError where there is none, or one that no request can carry: it would fail as a reply does that is paid for.
    """
    if model.key_command is None and model.key_variable is None:
        return "none"
    needs = f"Model {model.name!r} needs the API key of {model.provider!r}"
    if model.key_command is not None:
        place = "what its `key_command` prints"
        try:
            key = ask_secret(model.key_command)
        except ProctorError as error:
            raise RegistryError(f"{needs}. {error}") from None
    else:
        # What is no such name by its look may be the key itself.
        shown = model.key_variable if str(model.key_variable).isupper() else "of its `key_variable`"
        place = f"the environment variable {shown}"
        key = os.environ.get(str(model.key_variable), "").strip()
        if not key:
            raise RegistryError(f"{needs}, but {place} is not set. Set it and run again.")
    if not (key.isascii() and key.isprintable()):
        raise RegistryError(
            f"{needs}, but {place} has a character that no key has, perhaps an invisible one. Copy the key again."
        )
    return key


def describe_model(model: RegisteredModel) -> dict[str, Any]:
    """A registered model as JSON values, without address and key variable: kept with the run."""
    return {
        "name": model.name,
        "organisation": model.organisation,
        "family": model.family,
        "release_date": None if model.release_date is None else model.release_date.isoformat(),
        "is_open": model.is_open,
        "mode": model.mode,
        "base_model": model.base_model,
        "endpoint_model": model.endpoint_model,
        "parameters": dict(model.parameters),
        "input_price_usd": model.input_price_usd,
        "output_price_usd": model.output_price_usd,
        "is_simulated": model.is_simulated,
        "provider": model.provider,
    } | ({"sees_pictures": True} if model.sees_pictures else {})


def _check_provider(place: EntryPlace, entry: Mapping[str, Any]) -> None:
    check_names(place, entry, PROVIDER_FIELDS)
    url = read_text(place, entry, "base_url", required=True)
    if "@" in str(url).rpartition("://")[2].partition("/")[0]:
        # No call would leave: the client sends a key, and takes no second proof beside it.
        raise place.error(
            "base_url",
            "a name or a password stands before the host",
            "Leave it out; name the variable of a key in `key_variable`",
        )
    if url not in (SIMULATED_URL, OUTSIDE_URL) and not _is_web_address(url):
        raise place.error(
            "base_url",
            # What stands behind may be a key.
            f"{str(url).partition('?')[0]!r} is not an address",
            "Give one that starts with https:// (or http://), or the word `simulated`, or `outside` for who sits with a client of its own",
        )
    api = read_text(place, entry, "api")
    if api is not None and not PROVIDERS.has(api):
        raise place.error(
            "api",
            f"{api!r} is unknown",
            f"{suggest(api, PROVIDERS.own)} Use one of {', '.join(PROVIDERS.own)}, or install the package that brings it (docs/extending.md)".strip(),
        )
    variable = read_text(place, entry, "key_variable")
    if variable is not None and not variable.replace("_", "a").isalnum():
        raise place.error(
            "key_variable",
            "this is not the name of an environment variable",
            "Give the variable's name; never put the key itself in the registry",
        )
    if variable is not None and read_text(place, entry, "key_command") is not None:
        raise place.error(
            "key_command",
            "the provider has a key_variable, too",
            "Name one of them: the variable that holds the key, or the program that prints it",
        )
    _limits(place, entry)
    read_number(place, entry, "budget_usd")
    _check_replicas(place, entry)
    read_flag(place, entry, "is_simulated", default=False)


def _check_replicas(place: EntryPlace, entry: Mapping[str, Any]) -> None:
    """Pass when `replicas` are further addresses of what `base_url` is one of."""
    replicas = entry.get("replicas") or []
    url = entry.get("base_url")
    if not isinstance(replicas, list) or not all(map(_is_web_address, replicas)):
        raise place.error(
            "replicas", "expected a list of addresses", "Write each as https://… on a line of its own"
        )
    if len({url, *replicas}) != len(replicas) + 1:
        raise place.error(
            "replicas", "an address stands there twice", "Name each server once, beside base_url"
        )
    if replicas and not _is_web_address(url):
        raise place.error("replicas", f"base_url is the word `{url}`", "Leave the field out")


def _is_web_address(value: object) -> bool:
    """Whether it can be asked: with a host, a port that there is, and nothing invisible."""
    if not isinstance(value, str) or not value.isprintable() or " " in value:
        return False
    try:
        parts = urlsplit(value)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False


def _parse_model(
    place: EntryPlace, entry: Mapping[str, Any], providers: Mapping[str, Mapping[str, Any]]
) -> RegisteredModel:
    check_names(place, entry, MODEL_FIELDS)
    provider_name = read_text(place, entry, "provider", required=True) or ""
    if provider_name not in providers:
        raise place.error(
            "provider",
            f"{provider_name!r} is not among the providers ({', '.join(providers)})",
            "Correct the name, or add the provider",
        )
    provider = providers[provider_name]
    mode = read_text(place, entry, "mode") or "standard"
    if mode not in MODES:
        raise place.error("mode", f"{mode!r} is unknown", f"Use one of {', '.join(MODES)}")
    roles = _roles(place, entry)
    if provider["base_url"] == OUTSIDE_URL and roles != ("candidate",):
        raise place.error(
            "roles", "its provider has no address to ask", "Leave it `candidate` alone, or give base_url"
        )
    has_own_limits = any(name in entry for name in _LIMITS)
    limits = _limits(place, entry if has_own_limits else provider)
    url = str(provider["base_url"])
    return RegisteredModel(
        name=place.name,
        organisation=read_text(place, entry, "organisation", required=True) or "",
        family=read_text(place, entry, "family"),
        release_date=read_day(place, entry, "release_date"),
        is_open=read_flag(place, entry, "is_open", default=False),
        mode=mode,
        base_model=read_text(place, entry, "base_model"),
        endpoint_model=read_text(place, entry, "endpoint_model") or place.name,
        base_url=url,
        key_variable=read_text(place, provider, "key_variable"),
        key_command=read_text(place, provider, "key_command"),
        parameters=_parameters(place, entry),
        input_price_usd=read_number(place, entry, "input_price_usd"),
        cached_input_price_usd=_read_cached_price(place, entry),
        output_price_usd=read_number(place, entry, "output_price_usd"),
        requests_per_minute=limits.requests_per_minute,
        tokens_per_minute=limits.tokens_per_minute,
        max_concurrency=limits.concurrency,
        provider_budget_usd=read_number(place, provider, "budget_usd"),
        replica_urls=tuple(provider.get("replicas") or ()),
        is_simulated=url == SIMULATED_URL or bool(provider.get("is_simulated", False)),
        provider=provider_name,
        roles=roles,
        has_own_limits=has_own_limits,
        reexamine_every=_months(place, entry),
        offers_schema=read_flag(place, entry, "offers_schema", default=False),
        batch=parse_batch_terms(place, entry),
        api=_read_api(provider, url),
        judge_kind=read_text(place, entry, "judge_kind") or DEFAULT_JUDGE_KIND,
        sees_pictures=read_flag(place, entry, "sees_pictures", default=False),
        team=_read_team(place, entry),
    )


def _read_team(place: EntryPlace, entry: Mapping[str, Any]) -> str | None:
    team = read_text(place, entry, "team")
    if team is not None and not is_team_name(team):
        raise place.error("team", f"{team!r} is no name of a team", TEAM_NAMES)
    return team


def _read_api(provider: Mapping[str, Any], url: str) -> str:
    return str(provider.get("api") or (SIMULATED_URL if url == SIMULATED_URL else DEFAULT_API))


def _months(place: EntryPlace, entry: Mapping[str, Any]) -> int | None:
    months = read_number(place, entry, "reexamine_every", least=1)
    if months is not None and months != int(months):
        raise place.error("reexamine_every", f"{months!r} is not a whole number of months", "Correct it")
    return None if months is None else int(months)


def _read_cached_price(place: EntryPlace, entry: Mapping[str, Any]) -> float | None:
    cached = read_number(place, entry, "cached_input_price_usd")
    whole = read_number(place, entry, "input_price_usd")
    if cached is not None and (whole is None or cached > whole):
        raise place.error(
            "cached_input_price_usd",
            "it is more than the price of other input"
            if whole is not None
            else "the price of other input is missing",
            "Give input_price_usd, of which this is the lower price for what the provider has in its cache",
        )
    return cached


def _limits(place: EntryPlace, entry: Mapping[str, Any]) -> _Limits:
    rate, tokens = (read_number(place, entry, name) for name in ("requests_per_minute", "tokens_per_minute"))
    for name, found in (("requests_per_minute", rate), ("tokens_per_minute", tokens)):
        if found == 0:
            raise place.error(name, "0 would send nothing", "Leave it out for no limit")
    concurrency = read_number(place, entry, "max_concurrency", least=1)
    if concurrency is not None and concurrency != int(concurrency):
        raise place.error("max_concurrency", f"{concurrency!r} is not a whole number", "Correct it")
    return _Limits(rate, tokens, None if concurrency is None else int(concurrency))


def _parameters(place: EntryPlace, entry: Mapping[str, Any]) -> dict[str, Any]:
    value = entry.get("parameters") or {}
    if not isinstance(value, dict) or not all(isinstance(key, str) for key in value):
        raise place.error("parameters", "expected names with values", "Write them below it, one per line")
    try:
        json.dumps(value, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise place.error(
            "parameters", str(error), "Write what a request can carry, a date in quotes"
        ) from None
    for name in ("model", "messages", "n"):
        if name in value:
            raise place.error(f"parameters.{name}", "Proctor sets this itself", "Leave it out")
    for name in ("max_tokens", "max_completion_tokens"):
        limit = value.get(name)
        if limit is not None and (isinstance(limit, bool) or not isinstance(limit, int) or limit < 1):
            raise place.error(f"parameters.{name}", f"{limit!r} is not a positive whole number", "Correct it")
    return dict(value)


def _roles(place: EntryPlace, entry: Mapping[str, Any]) -> tuple[str, ...]:
    value = entry.get("roles", ["candidate"])
    if not isinstance(value, list) or not value:
        raise place.error("roles", "expected a list", f"Use some of {', '.join(ROLES)}")
    for role in value:
        if role not in ROLES:
            raise place.error("roles", f"{role!r} is unknown", f"Use some of {', '.join(ROLES)}")
    return tuple(value)
