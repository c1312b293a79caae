"""A model comes into the registry's file or out of it; what people wrote there stays.

The registry as a unit of a stage: closed as it is whenever models are called from it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import yaml

from schemas.errors import RegistryError
from schemas.settings import Settings
from tasks.models.registry.models import RegisteredModel, Registry, read_registry
from warehouse.ledger.engine.logs.stages import StageRow, close_rows
from warehouse.stores.whole_files import SHARED, changing, writing_whole

if TYPE_CHECKING:
    from warehouse.ledger.engine.ledger import Ledger

# What is written of a provider here; whatever else stands there is somebody's.
_WRITTEN: Final = ("base_url", "key_variable", "key_command", "api", "is_simulated")
# Section and name of an entry → its fields; null for one that goes.
_Changes = dict[tuple[str, str], Mapping[str, Any] | None]
# The unit's name, whatever the file is called.
REGISTRY_UNIT: Final = "models.yaml"


def add_model(
    path: Path,
    name: str,
    entry: Mapping[str, Any],
    provider: Mapping[str, Any],
    *,
    is_replaced: bool = False,
) -> RegisteredModel:
    """Add a model; its provider is the one with the same address and key, or a new one.

    Where an entry is replaced, its former provider goes if no other model uses it. One that is there as given is left as it is: a kill
    may have come after it was written. `entry` has the fields of a model without `provider`, `provider` those of a provider
    (docs/models.md).

    Raises RegistryError for a name that is registered otherwise, and for an entry that the registry would refuse; the file is then as it was.
    """
    with changing(path):
        known = read_registry(path)
        text = path.read_text(encoding="utf-8")
        content = yaml.safe_load(text)
        providers, models = content["providers"], content["models"]
        provider_name = _find_provider(providers, provider)
        if name in models and not is_replaced:
            if models[name] == {"provider": provider_name, **entry}:
                return known.get(name)
            raise RegistryError(
                f"{path}: {name} is registered otherwise. Give the new model another name; --again replaces the entry."
            )
        provider_name = provider_name or _name_provider(providers, str(entry["organisation"]))
        changes: _Changes = {("models", name): {"provider": provider_name, **entry}}
        if provider_name not in providers:
            changes["providers", provider_name] = providers[provider_name] = dict(provider)
        former = models.get(name, {})
        models[name] = changes["models", name]
        return _replace(path, _change(text, changes | _drop_unused(content, former))).get(name)


def remove_model(path: Path, name: str) -> None:
    """Take a model out of the registry, and its provider where no other uses it.

    What it answered stays in the ledger and the lake. Raises RegistryError for a name that is not registered, and where
    another entry needs it; the file is then as it was.
    """
    with changing(path):
        known = read_registry(path)
        known.get(name)
        if len(known.models) == 1:
            raise RegistryError(
                f"{path}: {name} is the only model, and a registry has one at least. Add another first "
                "(`proctor models add`), or correct this one (`--again`)."
            )
        text = path.read_text(encoding="utf-8")
        content = yaml.safe_load(text)
        changes: _Changes = {("models", name): None}
        former = content["models"].pop(name)
        _replace(path, _change(text, changes | _drop_unused(content, former)))


def _drop_unused(content: Mapping[str, Any], former: Mapping[str, Any]) -> _Changes:
    """That a former entry's provider goes, where no model uses it and nobody gave it limits."""
    name, providers = former.get("provider"), content["providers"]
    is_used = any(model.get("provider") == name for model in content["models"].values())
    # The registry wants one, so that the last stays.
    is_ours = len(providers) > 1 and set(providers.get(name, ("",))) <= set(_WRITTEN)
    return {("providers", str(name)): None} if is_ours and not is_used else {}


def _change(text: str, changes: _Changes) -> str:
    """The text with these entries in the places of those of their names, or after the last.

    Without those that are null; all else as it is.
    """
    text = _unfold(text if text.endswith("\n") else f"{text}\n", {section for section, _ in changes})
    found = _find_entries(text)
    edits = []
    for (section, name), entry in changes.items():
        *_, (_, last, column) = found[section].values()
        start, end, _ = found[section].get(name, (last, last, column))
        lines = [] if entry is None else _write({name: dict(entry)}).splitlines(keepends=True)
        edits.append((start, end, "".join(" " * column + line for line in lines)))
    for start, end, written in sorted(edits, reverse=True):
        text = text[:start] + written + text[end:]
    return text


def _find_entries(text: str) -> dict[str, dict[str, tuple[int, int, int]]]:
    """Name of each entry by section → where its lines begin and end, and its column.

    Comments after an entry are not its own.
    """
    root: Any = yaml.compose(text)
    # As it is written: a node has an alias in the place of what it means, and a block ends after the comments that follow it.
    events: list[Any] = [
        event for event in yaml.parse(text) if isinstance(event, yaml.NodeEvent | yaml.CollectionEndEvent)
    ]
    pieces = [(event.start_mark.index, event.end_mark.index) for event in events]
    keys = [(section.value, key) for section, value in root.value for key, _ in value.value]
    next_ones = sorted(key.start_mark.index for key in (*dict(root.value), *(key for _, key in keys)))
    places: dict[str, dict[str, tuple[int, int, int]]] = {}
    for section, key in keys:
        mark = key.start_mark
        until = min((one for one in next_ones if one > mark.index), default=len(text))
        last = max(end for start, end in pieces if mark.index <= start < until and start < end)
        end = text.find("\n", len(text[:last].rstrip())) + 1
        places.setdefault(section, {})[key.value] = mark.index - mark.column, end, mark.column
    return places


def _unfold(text: str, sections: Collection[str]) -> str:
    """The text with a line for each entry of these sections, where they were written in braces."""
    root: Any = yaml.compose(text)
    content = yaml.safe_load(text)
    if root.flow_style:
        return _write(content)
    for key, value in reversed(root.value):
        if key.value in sections and value.flow_style:
            end = text.find("\n", value.end_mark.index) + 1
            text = text[: key.start_mark.index] + _write({key.value: content[key.value]}) + text[end:]
    return text


def _write(content: Mapping[str, Any]) -> str:
    return yaml.safe_dump(content, sort_keys=False, allow_unicode=True, width=4096, default_flow_style=False)


def _replace(path: Path, text: str) -> Registry:
    """Put the text in the place of the file if the registry takes it."""
    with writing_whole(path, SHARED) as draft:
        draft.write_text(text, encoding="utf-8")
        try:
            return read_registry(draft)
        except RegistryError as error:
            raise RegistryError(f"{str(error).replace(str(draft), str(path))} Nothing was changed.") from None


def _find_provider(providers: Mapping[str, Any], wanted: Mapping[str, Any]) -> str | None:
    """The provider at the same address with the same key."""
    for name, provider in providers.items():
        if all(provider.get(field) == wanted.get(field) for field in _WRITTEN):
            return str(name)
    return None


def _name_provider(providers: Mapping[str, Any], organisation: str) -> str:
    """A name that no provider has, after the organisation."""
    plain = "".join(one if one.isalnum() else "-" for one in organisation.lower()).strip("-") or "provider"
    names = [plain, *(f"{plain}-{number}" for number in range(2, len(providers) + 3))]
    return next(name for name in names if name not in providers)


def close_registry(ledger: Ledger, settings: Settings) -> None:
    """Close the registry as it is; nothing where there is none, or it is closed so already."""
    if settings.registry_path.exists():
        rows = list(read_registry_rows(settings.registry_path))
        with ledger.write() as connection:
            close_rows(connection, "registry", REGISTRY_UNIT, rows)


def read_registry_rows(path: Path) -> Iterator[StageRow]:
    """Each model and provider of the file as it stands there; a file that is no YAML: one text."""
    text = path.read_text(encoding="utf-8", errors="replace")
    try:
        content = yaml.safe_load(text)
    except (yaml.YAMLError, RecursionError):
        content = None
    if not isinstance(content, dict):
        yield ("file",), (text,)
        return
    for section, models in content.items():
        if isinstance(models, dict):
            for name, model in models.items():
                yield (str(section), str(name)), (model,)
        else:
            yield (str(section),), (models,)
