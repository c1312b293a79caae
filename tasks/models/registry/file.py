"""The registry's file: strict YAML.

Each kind of field is read with an error that names its place.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

import yaml

from schemas.errors import RegistryError


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
    except yaml.YAMLError:
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
            raise place.error(str(name), "unknown field", f"The fields are {', '.join(known)}")


def read_text(
    place: EntryPlace, entry: Mapping[str, Any], name: str, *, required: bool = False
) -> str | None:
    """A field of text; null when it is left out."""
    value = entry.get(name)
    if value is None and not required:
        return None
    if not isinstance(value, str) or not value.strip():
        found = "missing" if value is None else f"{type(value).__name__} where text is expected"
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
