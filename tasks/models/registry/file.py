"""The registry's file: strict YAML, each field of which is read with an error at its place.

It has models, their batch endpoints (calls that may wait, at a lower price), and the organisations that own them, with
the other names under which an owner may be written. Without that section the owners that models name are the
organisations, however each is written.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Any

import yaml

from schemas.errors import RegistryError, suggest
from schemas.organisations import normalise_organisation

BATCH_FIELDS = ("window", "price_share", "most_requests", "most_mb", "least_requests")
DEFAULT_WINDOW = "24h"
DEFAULT_PRICE_SHARE = 0.5
# Providers take more (OpenAI: 50,000 requests, 200 MB); what is lost with one batch is to stay small.
DEFAULT_MOST_REQUESTS = 10_000
DEFAULT_MOST_MB = 50.0
DEFAULT_LEAST_REQUESTS = 10
# A ledger on PostgreSQL keeps 120 characters of a name, and writes `candidate:` or `sim:` before some.
LONGEST_NAME = 100


@dataclass(frozen=True)
class EntryPlace:
    """Where in the file an error lies."""

    path: Path
    kind: str
    name: str

    def error(self, field_name: str, found: str, advice: str) -> RegistryError:
        """The error of one field: what was found there, and what to do."""
        where = f", field `{field_name}`" if field_name else ""
        return RegistryError(f"{self.path}, {self.kind} {self.name!r}{where}: {found}. {advice}.")


def check_name(place: EntryPlace, field_name: str, name: str) -> None:
    """Pass for a name that every store takes; raises RegistryError."""
    if len(name) > LONGEST_NAME or any(unicodedata.category(letter) in ("Cc", "Cs") for letter in name):
        raise place.error(
            field_name,
            f"a name of {len(name)} characters, or with control characters",
            f"Shorten it to {LONGEST_NAME}, and leave those out",
        )


@dataclass(frozen=True)
class Organisations:
    """The organisations of a registry.

    Attributes:
        names: name of each organisation → its other names.
        is_closed: whether the registry has the section, so that a name which is not in it is refused.
        meant: normal form of every name → the name of the organisation.
    """

    names: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    is_closed: bool = False
    meant: Mapping[str, str] = field(default_factory=dict)

    def find(self, name: str) -> str | None:
        """The organisation of that name, however it is written; null where it is not registered."""
        return self.meant.get(normalise_organisation(name))


@dataclass(frozen=True)
class BatchTerms:
    """How a model takes batches.

    Attributes:
        window: the time within which the provider answers, as its API words it (`completion_window`).
        price_share: share of the prices of a single call that a call in a batch costs.
        most_requests: the most requests of one batch.
        most_mb: the most megabytes of one batch's file.
        least_requests: fewer requests than so many are not worth the wait, and are sent singly.
    """

    window: str = DEFAULT_WINDOW
    price_share: float = DEFAULT_PRICE_SHARE
    most_requests: int = DEFAULT_MOST_REQUESTS
    most_mb: float = DEFAULT_MOST_MB
    least_requests: int = DEFAULT_LEAST_REQUESTS


def read_yaml(path: Path) -> dict[str, Any]:
    """The whole file; raises RegistryError where it is no strict YAML of sections."""
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise RegistryError(
            f"There is no model registry at {path}. Write one (docs/models.md shows how), or set PROCTOR_REGISTRY."
        ) from None
    except (OSError, UnicodeDecodeError) as error:
        raise RegistryError(
            f"{path} cannot be read as a model registry ({type(error).__name__}). It must be UTF-8 YAML."
        ) from None
    try:
        content = yaml.load(text, Loader=_StrictLoader)  # noqa: S506 - a SafeLoader
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        line = f", line {mark.line + 1}" if mark else ""
        raise RegistryError(f"{path}{line}: {error.problem or 'not YAML'}. Correct the file.") from None
    except (yaml.YAMLError, RecursionError):
        raise RegistryError(f"{path} is not YAML. Correct the file.") from None
    if not isinstance(content, dict):
        raise RegistryError(
            f"{path}: expected the sections `providers` and `models`. docs/models.md shows them."
        )
    return content


class _StrictLoader(yaml.SafeLoader):
    """YAML that refuses a key written twice: the second would silently replace the first."""


def _construct_mapping(loader: _StrictLoader, node: yaml.MappingNode) -> dict[Any, Any]:
    seen: set[Any] = set()
    for key_node, _ in node.value:
        key = loader.construct_object(key_node, deep=True)
        if key in seen:
            raise yaml.MarkedYAMLError(problem=f"{key!r} is given twice", problem_mark=key_node.start_mark)
        seen.add(key)
    return loader.construct_mapping(node, deep=True)


_StrictLoader.add_constructor(yaml.resolver.BaseResolver.DEFAULT_MAPPING_TAG, _construct_mapping)


def read_section(path: Path, content: Mapping[str, Any], name: str) -> dict[str, dict[str, Any]]:
    """A section as entries by name; raises RegistryError where it is missing or misshapen."""
    section = content.get(name)
    if not isinstance(section, dict) or not section:
        raise RegistryError(f"{path}: section `{name}` is missing or empty. docs/models.md shows an example.")
    for key, entry in section.items():
        if not isinstance(key, str) or not isinstance(entry, dict):
            raise RegistryError(
                f"{path}, {name}, entry {key!r}: expected a name (in quotes if it is a number) with fields below it."
            )
    return section


def check_names(place: EntryPlace, entry: Mapping[str, Any], known: Sequence[str]) -> None:
    """Pass when every field of the entry is known."""
    for name in entry:
        if name not in known:
            near = suggest(str(name), known)
            raise place.error(str(name), "unknown field", f"{near} The fields are {', '.join(known)}".strip())


def read_text(
    place: EntryPlace, entry: Mapping[str, Any], name: str, *, required: bool = False
) -> str | None:
    """A field of text; null when it is left out."""
    value = entry.get(name)
    if value is None and not required:
        return None
    if not isinstance(value, str) or not value.strip():
        is_empty = value is None or isinstance(value, str)
        found = "missing" if is_empty else f"{type(value).__name__} where text is expected"
        raise place.error(name, found, "Write text (in quotes if it looks like a number or a date)")
    return value


def read_number(
    place: EntryPlace, entry: Mapping[str, Any], name: str, *, least: float = 0.0
) -> float | None:
    """A field with a number of at least `least`; null when it is left out."""
    value = entry.get(name)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not least <= value < float("inf"):
        raise place.error(name, f"{value!r} is not a number of at least {least:g}", "Correct it")
    return float(value)


def read_flag(place: EntryPlace, entry: Mapping[str, Any], name: str, *, default: bool) -> bool:
    """A field that is true or false."""
    value = entry.get(name, default)
    if not isinstance(value, bool):
        raise place.error(name, f"{value!r} is neither true nor false", "Write true or false")
    return value


def read_day(place: EntryPlace, entry: Mapping[str, Any], name: str) -> date | None:
    """A field with a date; null when it is left out."""
    value = entry.get(name)
    if value is None:
        return None
    if isinstance(value, str):
        try:
            return date.fromisoformat(value)
        except ValueError:
            pass
    if type(value) is date:
        return value
    raise place.error(name, f"{value!r} is not a date", "Write it as YYYY-MM-DD")


def parse_organisations(path: Path, content: Mapping[str, Any], owners: Mapping[str, str]) -> Organisations:
    """Read the section; `owners` are the models with the organisation that each names.

    Raises RegistryError naming place and field: for a name that two organisations claim, and for an owner that is not
    registered, with the nearest name.
    """
    if "organisations" not in content:
        return _collect_owners(path, owners)
    section = content["organisations"]
    if not isinstance(section, dict) or not section:
        raise RegistryError(
            f"{path}: section `organisations` is empty. List the organisations by name, or leave the section out."
        )
    names: dict[str, tuple[str, ...]] = {}
    meant: dict[str, str] = {}
    for name, entry in section.items():
        place = EntryPlace(path, "organisation", str(name))
        if not isinstance(name, str) or not isinstance(entry, dict | None):
            raise place.error(
                "", "expected a name with fields below it, or nothing", "Put the name in quotes"
            )
        names[name] = _read_aliases(place, entry or {})
        for written in (name, *names[name]):
            check_name(place, "aliases", written)
            form = normalise_organisation(written)
            if not form:
                raise place.error("aliases", f"{written!r} holds no letter and no digit", "Correct it")
            if meant.setdefault(form, name) != name:
                raise place.error(
                    "aliases", f"{written!r} is a name of {meant[form]!r}, too", "Give each name to one"
                )
    for model, owner in owners.items():
        if normalise_organisation(owner) not in meant:
            near = suggest(owner, [*names, *(one for other in names.values() for one in other)])
            raise EntryPlace(path, "model", model).error(
                "organisation",
                f"{owner!r} is not among the organisations ({', '.join(names)})",
                f"{near} Correct the name, or add it to the section `organisations`".strip(),
            )
    return Organisations(names, True, meant)


def _read_aliases(place: EntryPlace, entry: Mapping[str, Any]) -> tuple[str, ...]:
    check_names(place, entry, ("aliases",))
    value = entry.get("aliases", [])
    if not isinstance(value, list) or not all(isinstance(name, str) for name in value):
        raise place.error("aliases", "expected a list of names", 'Write them as ["Name", "Other name"]')
    return tuple(value)


def _collect_owners(path: Path, owners: Mapping[str, str]) -> Organisations:
    meant: dict[str, str] = {}
    for model, owner in owners.items():
        check_name(EntryPlace(path, "model", model), "organisation", owner)
        form = normalise_organisation(owner)
        if not form:
            raise EntryPlace(path, "model", model).error(
                "organisation", f"{owner!r} holds no letter and no digit", "Give the owner's name"
            )
        meant.setdefault(form, owner)
    return Organisations(dict.fromkeys(meant.values(), ()), False, meant)


def parse_batch_terms(place: EntryPlace, entry: Mapping[str, Any]) -> BatchTerms | None:
    """The field `batch` of a model; None for one that takes no batches."""
    value = entry.get("batch")
    if value is None:
        return None
    if not isinstance(value, dict):
        raise place.error("batch", "expected fields", "Write `batch: {}` for the usual terms")
    check_names(place, value, BATCH_FIELDS)
    share = read_number(place, value, "price_share")
    if share is not None and share > 1:
        raise place.error("batch.price_share", f"{share:g} is above 1", "Write 0.5 for half the price")
    return BatchTerms(
        window=read_text(place, value, "window") or DEFAULT_WINDOW,
        price_share=DEFAULT_PRICE_SHARE if share is None else share,
        most_requests=_whole(place, value, "most_requests", DEFAULT_MOST_REQUESTS),
        most_mb=read_number(place, value, "most_mb", least=0.001) or DEFAULT_MOST_MB,
        least_requests=_whole(place, value, "least_requests", DEFAULT_LEAST_REQUESTS),
    )


def _whole(place: EntryPlace, value: Mapping[str, Any], name: str, default: int) -> int:
    number = read_number(place, value, name, least=1)
    if number is None:
        return default
    if number != int(number):
        raise place.error(f"batch.{name}", f"{number!r} is not a whole number", "Correct it")
    return int(number)
