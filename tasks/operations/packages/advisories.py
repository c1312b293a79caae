"""Known advisories about packages, from files in OSV's form: nothing is asked of anybody.

The form and the rule of which versions are affected: https://ossf.github.io/osv-schema/ (1.7, "Evaluation"). What OSV, GitHub and PyPI's
advisory database give to download has it.
"""

from __future__ import annotations

import json
import zipfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

from schemas.errors import UsageError
from tasks.operations.packages.installed import Package

_ECOSYSTEM: Final = "PyPI"


class KnownFault(NamedTuple):
    """A package about which there is an advisory.

    Attributes:
        version: what is installed.
        advisory: the advisory's own name.
        aliases: what others call it.
        fixed: versions that mend it, the lowest first; empty where none is named.
        summary: what it says, in a line.
    """

    package: str
    version: str
    advisory: str
    aliases: tuple[str, ...]
    fixed: tuple[str, ...]
    summary: str


def read_advisories(path: Path) -> list[dict[str, Any]]:
    """The advisories about Python packages: of a JSON file, a zip of them, or a folder.

    Raises UsageError for what cannot be read, and where there is none: nothing found in nothing would be a false comfort.
    """
    read = [record for name, text in _iter_texts(path) for record in _parse(name, text)]
    kept = [record for record in read if any(_iter_affected(record))]
    if not kept:
        raise UsageError(
            f"{path} holds no advisory about a package of {_ECOSYSTEM} (of {len(read)} records). Give OSV's dump of {_ECOSYSTEM}: its "
            "`all.zip`, the folder of its JSON files, or one of them."
        )
    return kept


def find_advisories(packages: Sequence[Package], records: Iterable[Mapping[str, Any]]) -> list[KnownFault]:
    """Which of the packages the advisories are about, in order of the package.

    What several databases have is one fault. Withdrawn ones count for nothing. One whose versions cannot be read counts: somebody is to look.
    """
    by_name = {one.name: one for one in packages}
    found: list[KnownFault] = []
    for record in records:
        if record.get("withdrawn"):
            continue
        for affected in _iter_affected(record):
            one = by_name.get(canonicalize_name(str(affected["package"]["name"])))
            if one is not None and _is_affected(one.version, affected):
                found.append(_describe(one, record, affected))
    return _merge(found)


def _iter_texts(path: Path) -> Iterator[tuple[str, bytes]]:
    try:
        if path.is_dir():
            for inside in sorted(path.rglob("*")):
                if inside.suffix in (".json", ".zip") and inside.is_file():
                    yield from _iter_texts(inside)
        elif path.suffix == ".zip":
            with zipfile.ZipFile(path) as archive:
                for name in sorted(archive.namelist()):
                    if name.endswith(".json"):
                        yield f"{path}:{name}", archive.read(name)
        else:
            yield str(path), path.read_bytes()
    except (OSError, zipfile.BadZipFile) as error:
        raise UsageError(
            f"{path} cannot be read ({type(error).__name__}). Give a file or folder that can."
        ) from None


def _parse(name: str, text: bytes) -> list[dict[str, Any]]:
    """The records of a file: one, a list, or the `vulns` of OSV's own answers."""
    try:
        whole = json.loads(text)
    except (ValueError, RecursionError):
        raise UsageError(f"{name} is no JSON: load the advisories again.") from None
    if isinstance(whole, dict) and isinstance(whole.get("vulns"), list):
        whole = whole["vulns"]
    records = whole if isinstance(whole, list) else [whole]
    if not all(isinstance(record, dict) and isinstance(record.get("id"), str) for record in records):
        raise UsageError(f"{name} is no advisory in OSV's form: each has an `id`.")
    return records


def _iter_affected(record: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """The parts of a record that are about a Python package."""
    for affected in record.get("affected") or ():
        package = affected.get("package") or {}
        # `PyPI`, or `PyPI:ADDRESS` for another index.
        if str(package.get("ecosystem", "")).partition(":")[0] == _ECOSYSTEM and package.get("name"):
            yield affected


def _is_affected(text: str, affected: Mapping[str, Any]) -> bool:
    # A build of our own (`2.13.0+cpu`) has the faults of the version that it is a build of.
    version = Version(Version(text).public)
    try:
        if any(Version(str(one)) == version for one in affected.get("versions") or ()):
            return True
        return any(_is_in_range(version, events) for events in _list_ranges(affected))
    except InvalidVersion:
        return True


def _list_ranges(affected: Mapping[str, Any]) -> list[list[Mapping[str, Any]]]:
    """The events of each range of versions; ranges of commits say nothing of what is here."""
    return [
        one.get("events") or []
        for one in affected.get("ranges") or ()
        if one.get("type") in ("ECOSYSTEM", "SEMVER")
    ]


def _is_in_range(version: Version, events: Sequence[Mapping[str, Any]]) -> bool:
    limits = [str(event["limit"]) for event in events if "limit" in event]
    if limits and not any(limit == "*" or version < Version(limit) for limit in limits):
        return False
    steps = [
        (Version(str(value)), kind)
        for event in events
        for kind, value in event.items()
        if kind in ("introduced", "fixed", "last_affected")
    ]
    is_affected = False
    for step, kind in sorted(steps, key=lambda pair: pair[0]):
        if kind == "introduced" and (version >= step or step == Version("0")):
            is_affected = True
        elif (kind == "fixed" and version >= step) or (kind == "last_affected" and version > step):
            is_affected = False
    return is_affected


def _describe(one: Package, record: Mapping[str, Any], affected: Mapping[str, Any]) -> KnownFault:
    fixed = {str(event["fixed"]) for events in _list_ranges(affected) for event in events if "fixed" in event}
    said = str(record.get("summary") or record.get("details") or "").strip().split("\n")[0]
    return KnownFault(
        one.name,
        one.version,
        str(record["id"]),
        tuple(sorted(map(str, record.get("aliases") or ()))),
        tuple(sorted(fixed, key=_order)),
        said[:200],
    )


def _order(version: str) -> tuple[Version, str]:
    try:
        return Version(version), version
    except InvalidVersion:
        return Version("0"), version


def _merge(found: Sequence[KnownFault]) -> list[KnownFault]:
    """One finding for each fault of a package, whatever databases call it."""
    kept: list[KnownFault] = []
    for one in sorted(found, key=lambda one: (one.package, one.advisory)):
        names = {one.advisory, *one.aliases}
        same = next(
            (k for k in kept if k.package == one.package and names & {k.advisory, *k.aliases}),
            None,
        )
        if same is None:
            kept.append(one)
            continue
        kept[kept.index(same)] = same._replace(
            aliases=tuple(sorted((names | set(same.aliases)) - {same.advisory})),
            fixed=tuple(sorted({*same.fixed, *one.fixed}, key=_order)),
            summary=same.summary or one.summary,
        )
    return kept
