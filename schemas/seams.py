"""The seams by which others extend Proctor.

They are entry points of a group, found by name and loaded when they are asked for.

Our own kinds stand here by name and in pyproject.toml as entry points of the same group. The metadata of all installed
packages, which takes tens of milliseconds to read, is looked at only for a name that is not ours, and for a list.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Final, Generic, TypeVar, cast

from schemas import patterns as re
from schemas.errors import UsageError, suggest

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint, EntryPoints

T = TypeVar("T")

OURS: Final = "proctor"
_OUR_FOLDER: Final = re.compile(rf"{OURS}(?:-\d|\.)")


@dataclass(frozen=True)
class SeamEntry:
    """What a package brings to a seam.

    Attributes:
        name: the name by which it is asked for.
        value: where it lies, as `module:object`.
        package: the distribution that brings it, with its version; `proctor` for our own.
    """

    name: str
    value: str
    package: str


class Seam(Generic[T]):
    """One group of entry points.

    Args:
        group: the group's name, such as `proctor.readers`.
        word: what one of them is called in a sentence.
        own: our own ones, name → `module:object`.
        needs: attributes that every one of them has.
    """

    def __init__(self, group: str, word: str, own: Mapping[str, str], *, needs: Sequence[str] = ()) -> None:
        self.group = group
        self.own = dict(own)
        self._word = word
        self._needs = tuple(needs)
        self._loaded: dict[str, T] = {}
        self._others: dict[str, list[EntryPoint]] | None = None

    def has(self, name: str) -> bool:
        """Whether there is one of that name; nothing is loaded."""
        return name in self.own or name in self._read_others()

    def find(self, name: str) -> T:
        """The one of that name; UsageError where there is none, several, or it does not load."""
        if name not in self._loaded:
            self._loaded[name] = self._load(self.find_entry(name))
        return self._loaded[name]

    def find_entry(self, name: str) -> SeamEntry:
        """Where the one of that name lies, and in which package; UsageError for none or several."""
        if name in self.own:
            return SeamEntry(name, self.own[name], OURS)
        found = self._read_others().get(name, [])
        if not found:
            known = ", ".join(sorted({*self.own, *self._read_others()})) or "none"
            raise UsageError(
                f"There is no {self._word} {name!r}.{suggest(name, {*self.own, *self._read_others()})} There are {known}. Correct the name, or install the package that brings it."
            )
        if len(found) > 1:
            packages = " and ".join(sorted(_name_package(point) for point in found))
            raise UsageError(
                f"Several packages bring a {self._word} {name!r}: {packages}. Uninstall all but one."
            )
        return SeamEntry(name, found[0].value, _name_package(found[0]))

    def list_entries(self) -> list[SeamEntry]:
        """All of them, ours first; UsageError for a package's under a name that is taken."""
        for name in sorted(set(self.own) & set(self._read_others())):
            packages = " and ".join(sorted(_name_package(point) for point in self._read_others()[name]))
            raise UsageError(
                f"{packages} brings a {self._word} {name!r}, which is a name of Proctor's own: ours is used. Uninstall the package, "
                "or ask its author for another name."
            )
        return [self.find_entry(name) for name in (*self.own, *sorted(self._read_others()))]

    def load_all(self) -> Iterator[tuple[SeamEntry, T]]:
        """All of them with where each comes from; UsageError as of `find` and `list_entries`."""
        for entry in self.list_entries():
            yield entry, self.find(entry.name)

    def _read_others(self) -> dict[str, list[EntryPoint]]:
        if self._others is None:
            others: dict[str, list[EntryPoint]] = {}
            for point in _read_entries(self.group) if _may_declare_any() else ():
                if point.dist is None or point.dist.name != OURS:
                    others.setdefault(point.name, []).append(point)
            self._others = others
        return self._others

    def _load(self, entry: SeamEntry) -> T:
        module, _, path = entry.value.partition(":")
        try:
            found: object = import_module(module.strip())
            for part in path.split("[")[0].strip().split(".") if path else ():
                found = getattr(found, part)
        except Exception as error:
            raise UsageError(
                f"The {self._word} {entry.name!r} of {entry.package} ({entry.value}) cannot be loaded: "
                f"{type(error).__name__}: {error}. Mend the package, or uninstall it."
            ) from error
        if lacking := [name for name in self._needs if not hasattr(found, name)]:
            raise UsageError(
                f"The {self._word} {entry.name!r} of {entry.package} ({entry.value}) is none: it has no {', '.join(lacking)}. "
                "docs/extending.md shows what one has."
            )
        if isinstance(found, type) and "__call__" not in self._needs:
            raise UsageError(
                f"The {self._word} {entry.name!r} of {entry.package} ({entry.value}) is a class, and an object of it is wanted. "
                "Mend the package, or uninstall it."
            )
        return cast(T, found)


def _read_entries(group: str) -> EntryPoints:
    from importlib.metadata import entry_points

    return entry_points(group=group)


def _may_declare_any() -> bool:
    """Whether another package may declare a group of ours: hardly any does, and all are slow."""
    for place in sys.path:
        try:
            names = [entry.name for entry in os.scandir(place or os.curdir)]
        except NotADirectoryError:
            return True  # An archive, which only importlib can look into
        except OSError:
            continue
        for name in names:
            if name.endswith((".dist-info", ".egg-info")) and not _OUR_FOLDER.match(name):
                with contextlib.suppress(OSError):
                    if f"[{OURS}.".encode() in Path(place, name, "entry_points.txt").read_bytes():
                        return True
    return False


def _name_package(point: EntryPoint) -> str:
    return "an unnamed package" if point.dist is None else f"{point.dist.name} {point.dist.version}"
