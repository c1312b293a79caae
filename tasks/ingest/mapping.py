"""The two small YAML files for `proctor ingest`: what columns mean, what folders mean."""

from __future__ import annotations

from collections.abc import Mapping
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import yaml

from schemas.errors import UsageError
from schemas.vocabulary import DISCIPLINES
from tasks.ingest.words.disciplines import name_discipline

ROLES = (
    "number",
    "type",
    "stem",
    "material",
    "options",
    "answer",
    "explanation",
    "marks",
    "chapter",
    "discipline",
    "sub_discipline",
    "difficulty",
    "note",
)
OPTION_LABELS = tuple("ABCDEFGHIJ")


def read_mapping(path: Path | str | None) -> dict[str, dict[str, Any]]:
    """Read a mapping file: what its columns and its path parts mean.

    `columns` maps a role or option label to header names, `disciplines` a path part to a discipline. Returns both
    parts, empty where the file has none; header names always as lists.

    Raises:
        UsageError: when the file is absent, is no YAML mapping, or names a role or discipline that does not exist.
    """
    if not path:
        return {"columns": {}, "disciplines": {}}
    value = _read_yaml(Path(path), "mapping file")
    parts = {name: value.get(name) or {} for name in ("columns", "disciplines")}
    if set(value) - set(parts) or not all(isinstance(part, dict) for part in parts.values()):
        raise UsageError(
            f"The mapping file {path} must hold `columns` (role: [header, …]) and `disciplines` (path part: discipline), "
            "nothing else. Correct it."
        )
    columns: dict[str, list[str]] = {}
    for role, names in parts["columns"].items():
        if role not in ROLES and role not in OPTION_LABELS:
            raise UsageError(
                f"The mapping file {path} names the role {str(role)!r}, which does not exist. Roles are "
                f"{', '.join(ROLES)}, and A to J for a column that holds one option."
            )
        listed = names if isinstance(names, list) else [names]
        if not all(isinstance(name, str | int | float) and str(name).strip() for name in listed):
            raise UsageError(
                f"The mapping file {path}: {role!r} must list header names, as in `{role}: [Frage]`."
            )
        columns[str(role)] = [str(name) for name in listed]
    return {"columns": columns, "disciplines": _check_disciplines(parts["disciplines"], path)}


def read_discipline_map(path: Path | str) -> dict[str, str]:
    """Read a discipline map: part of a path, or a pattern with `*` → discipline.

    A value is a discipline, `Discipline/Sub-discipline`, the name of a course, or a mapping with `discipline` and
    `sub_discipline`. Returned values are `Discipline` or `Discipline/Sub-discipline`.

    Raises:
        UsageError: when the file is absent, is no YAML mapping, or names no known discipline.
    """
    value = _read_yaml(Path(path), "discipline map")
    if not value:
        raise UsageError(f"The discipline map {path} is empty. Write lines such as `macro-*: Economics`.")
    return _check_disciplines(value, path)


def find_mapped(source_path: str, mapping: Mapping[str, str] | None) -> str | None:
    """Return the value of the longest key that fits this path.

    A key with `*`, `?` or `[` is a pattern for the whole path or for the file's name; any other is a part of the
    path. Case plays no part.
    """
    folded = source_path.casefold()
    name = folded.rsplit("/", 1)[-1]
    for key in sorted(mapping or {}, key=len, reverse=True):
        wanted = key.casefold()
        if not wanted:
            continue
        is_pattern = any(sign in wanted for sign in "*?[")
        if (fnmatch(folded, wanted) or fnmatch(name, wanted)) if is_pattern else wanted in folded:
            return (mapping or {})[key]
    return None


def _read_yaml(path: Path, what: str) -> dict[str, Any]:
    try:
        value = yaml.safe_load(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise UsageError(f"The {what} {path} cannot be opened ({error.strerror}). Check the path.") from None
    except UnicodeDecodeError:
        raise UsageError(f"The {what} {path} is not UTF-8. Save it as UTF-8.") from None
    except (yaml.YAMLError, RecursionError) as error:
        mark = getattr(error, "problem_mark", None)
        line = f", line {mark.line + 1}" if mark is not None else ""
        raise UsageError(f"The {what} {path}{line} is no valid YAML. Correct it, or leave it out.") from None
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise UsageError(f"The {what} {path} must hold `name: value` lines. Correct it, or leave it out.")
    return value


def _check_disciplines(raw: Mapping[Any, Any], path: Path | str) -> dict[str, str]:
    checked: dict[str, str] = {}
    for key, entry in raw.items():
        text = entry
        if isinstance(entry, dict) and set(entry) <= {"discipline", "sub_discipline"}:
            text = "/".join(str(entry[name]) for name in ("discipline", "sub_discipline") if entry.get(name))
        named = name_discipline(text) if isinstance(text, str) and text.strip() else None
        if named is None:
            raise UsageError(
                f"{path}: {str(key)!r} names no discipline. Write one of {', '.join(DISCIPLINES)}, "
                "or Discipline/Sub-discipline."
            )
        checked[str(key)] = "/".join(part for part in named if part)
    return checked
