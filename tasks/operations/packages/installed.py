"""What is installed: Proctor, what it needs, and what that needs, as packages declare it.

The packages as a software bill of materials, in the form of CycloneDX 1.6 (ECMA-424).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path
from typing import Any, Final, NamedTuple
from urllib.parse import quote
from uuid import uuid4

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from schemas.errors import StoreError

_OWN: Final = "proctor"
# Some packages have the whole text of their licence where others have its name.
_LONGEST_NAME: Final = 60


class Package(NamedTuple):
    """A package that is installed.

    Attributes:
        name: as the package index spells it in addresses: small letters, hyphens.
        version: with its local part (`2.13.0+cpu`) where it has one.
        licence: SPDX's expression where the package declares one, else its own words; empty where it says nothing.
        is_expression: whether the licence is such an expression.
        needs: names of the packages that it needs and that are installed.
        summary: what it says it is.
        homepage: its page; empty where it names none.
    """

    name: str
    version: str
    licence: str
    is_expression: bool
    needs: tuple[str, ...]
    summary: str
    homepage: str


def list_packages(root: str = _OWN) -> list[Package]:
    """What is installed of a package and all that it needs, itself first, then by name.

    Extras of the root count where what they need is installed. Raises StoreError where the root is not installed.
    """
    found = _find(root)
    if found is None:
        raise StoreError(
            f"{root} is not installed in this environment, only its files are here: `make setup` installs it."
        )
    extras = {canonicalize_name(one) for one in found.metadata.get_all("Provides-Extra") or ()}
    # A package may be met again with an extra more: what that needs is added.
    wanted: dict[str, set[str]] = {canonicalize_name(root): set(map(str, extras))}
    open_names, needs = [canonicalize_name(root)], dict[str, set[str]]()
    while open_names:
        name = open_names.pop()
        one = _find(name)
        assert one is not None
        needs[name] = set()
        for requirement in _list_needs(one, wanted[name]):
            needed = canonicalize_name(requirement.name)
            if _find(needed) is None:
                continue
            needs[name].add(needed)
            lacking = {canonicalize_name(extra) for extra in requirement.extras} - wanted.get(needed, set())
            if needed not in wanted or lacking:
                wanted.setdefault(needed, set()).update(lacking)
                open_names.append(needed)
    own = canonicalize_name(root)
    return [_describe(name, needs[name]) for name in sorted(needs, key=lambda name: (name != own, name))]


def _find(name: str) -> Distribution | None:
    try:
        return distribution(name)
    except PackageNotFoundError:
        return None


def _list_needs(one: Distribution, extras: set[str]) -> Iterator[Requirement]:
    for line in one.requires or ():
        requirement = Requirement(line)
        marker = requirement.marker
        if marker is None or any(marker.evaluate({"extra": extra}) for extra in ("", *sorted(extras))):
            yield requirement


def _describe(name: str, needs: set[str]) -> Package:
    one = distribution(name)
    metadata = one.metadata
    expression = _read_field(one, "License-Expression")
    classified = [
        line.rpartition(" :: ")[2]
        for line in metadata.get_all("Classifier") or ()
        if line.startswith("License :: ") and not line.endswith("OSI Approved")
    ]
    own_words = _read_field(one, "License").strip()
    if "\n" in own_words or len(own_words) > _LONGEST_NAME or own_words.upper() == "UNKNOWN":
        own_words = ""
    return Package(
        name,
        one.version,
        expression or "; ".join(classified) or own_words or _read_first_line(one),
        bool(expression),
        tuple(sorted(needs)),
        _read_field(one, "Summary"),
        _find_homepage(one),
    )


def _read_field(one: Distribution, name: str) -> str:
    return next(iter(one.metadata.get_all(name) or ()), "")


def _read_first_line(one: Distribution) -> str:
    """The first line of the licence's file, in most its name; empty where there is none."""
    names = sorted(
        str(path) for path in one.files or () if re.search(r"(?i)/(licen[cs]e|copying)", str(path))
    )
    for name in names:
        lines = Path(str(one.locate_file(name))).read_text("utf-8", errors="replace").split("\n")
        first = next((line.strip(" #*=-") for line in lines if line.strip(" #*=-")), "")
        if first and len(first) <= _LONGEST_NAME:
            return first
    return ""


def _find_homepage(one: Distribution) -> str:
    named = dict(line.split(", ", 1) for line in one.metadata.get_all("Project-URL") or () if ", " in line)
    by_label = {label.lower(): url for label, url in named.items()}
    return _read_field(one, "Home-page") or next(
        (
            by_label[label]
            for label in ("homepage", "source", "repository", "documentation")
            if label in by_label
        ),
        "",
    )


def describe_materials(packages: Sequence[Package]) -> dict[str, Any]:
    """The bill of the packages, the first of which is what the bill is of.

    It states what is installed: which file of a version that came from, constraints.txt fixes by its SHA-256.
    """
    own, *needed = packages
    refs = {one.name: _name_reference(one) for one in packages}
    return {
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": f"urn:uuid:{uuid4()}",
        "version": 1,
        "metadata": {
            "timestamp": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
            "component": _describe_component(own, "application"),
        },
        "components": [_describe_component(one, "library") for one in needed],
        "dependencies": [
            {"ref": refs[one.name], "dependsOn": [refs[name] for name in one.needs if name in refs]}
            for one in packages
        ],
    }


def _name_reference(one: Package) -> str:
    """The package's address in the form of a package URL (purl)."""
    return f"pkg:pypi/{quote(one.name)}@{quote(one.version, safe='')}"


def _describe_component(one: Package, kind: str) -> dict[str, Any]:
    described: dict[str, Any] = {
        "type": kind,
        "bom-ref": _name_reference(one),
        "name": one.name,
        "version": one.version,
        "purl": _name_reference(one),
    }
    if one.summary:
        described["description"] = one.summary
    if one.licence:
        named = {"expression": one.licence} if one.is_expression else {"license": {"name": one.licence}}
        described["licenses"] = [named]
    if one.homepage:
        described["externalReferences"] = [
            {"type": "website", "url": quote(one.homepage, safe=":/?#[]@!$&'()*+,;=%~")}
        ]
    return described
