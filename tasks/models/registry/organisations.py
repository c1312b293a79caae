"""The registry's section `organisations`.

It says who owns the models, and under which other names the owners may be written.

The section may be left out: then the owners that the models name are the organisations, however each is written.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from schemas.errors import RegistryError
from schemas.organisations import normalise_organisation
from tasks.models.registry.file import EntryPlace, check_names


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
            form = normalise_organisation(written)
            if not form:
                raise place.error("aliases", f"{written!r} holds no letter and no digit", "Correct it")
            if meant.setdefault(form, name) != name:
                raise place.error(
                    "aliases", f"{written!r} is a name of {meant[form]!r}, too", "Give each name to one"
                )
    for model, owner in owners.items():
        if normalise_organisation(owner) not in meant:
            near = get_close_matches(
                owner, [*names, *(one for other in names.values() for one in other)], n=1
            )
            hint = f"The nearest is {near[0]!r}; correct the name" if near else "Correct the name"
            raise EntryPlace(path, "model", model).error(
                "organisation",
                f"{owner!r} is not among the organisations ({', '.join(names)})",
                f"{hint}, or add it to the section `organisations`",
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
        form = normalise_organisation(owner)
        if not form:
            raise EntryPlace(path, "model", model).error(
                "organisation", f"{owner!r} holds no letter and no digit", "Give the owner's name"
            )
        meant.setdefault(form, owner)
    return Organisations(dict.fromkeys(meant.values(), ()), False, meant)
