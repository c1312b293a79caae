"""The packages as a software bill of materials, in the form of CycloneDX 1.6 (ECMA-424)."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote
from uuid import uuid4

from tasks.operations.packages.installed import Package


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
            "component": _describe(own, "application"),
        },
        "components": [_describe(one, "library") for one in needed],
        "dependencies": [
            {"ref": refs[one.name], "dependsOn": [refs[name] for name in one.needs if name in refs]}
            for one in packages
        ],
    }


def _name_reference(one: Package) -> str:
    """The package's address in the form of a package URL (purl)."""
    return f"pkg:pypi/{quote(one.name)}@{quote(one.version, safe='')}"


def _describe(one: Package, kind: str) -> dict[str, Any]:
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
