"""A model comes into the registry's file or out of it; what people wrote there stays.

The registry as a unit of a stage: closed as it is whenever models are called from it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
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
        if provider_name not in providers:
            text = _put_entry(text, "providers", provider_name, provider)
        text = _put_entry(text, "models", name, {"provider": provider_name, **entry})
        if name in models and (unused := _find_unused(text, models[name])):
            text = _cut_entry(text, "providers", unused)
        return _replace(path, text).get(name)


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
        former = yaml.safe_load(text)["models"][name]
        text = _cut_entry(text, "models", name)
        if unused := _find_unused(text, former):
            text = _cut_entry(text, "providers", unused)
        _replace(path, text)


def _find_unused(text: str, former: Mapping[str, Any]) -> str | None:
    """A former entry's provider where no model uses it and nobody gave it limits."""
    content = yaml.safe_load(text)
    name, providers = former.get("provider"), content["providers"]
    is_used = any(model.get("provider") == name for model in content["models"].values())
    # The registry wants one, so that the last stays.
    is_ours = len(providers) > 1 and set(providers.get(name, ("",))) <= set(_WRITTEN)
    return name if is_ours and not is_used else None


def _put_entry(text: str, section: str, name: str, entry: Mapping[str, Any]) -> str:
    """The text with this entry, in the place of the one of that name or after the last."""
    text = _unfold(text)
    places = _find_entries(text, section)
    *_, (_, last, column) = places.values()
    start, end, _ = places.get(name, (last, last, column))
    lines = _write({name: dict(entry)}).splitlines(keepends=True)
    before = text[:start] if not start or text[:start].endswith("\n") else f"{text[:start]}\n"
    return before + "".join(" " * column + line for line in lines) + text[end:]


def _cut_entry(text: str, section: str, name: str) -> str:
    """The text without this entry; all else as it is."""
    text = _unfold(text)
    start, end, _ = _find_entries(text, section)[name]
    return text[:start] + text[end:]


def _find_entries(text: str, section: str) -> dict[str, tuple[int, int, int]]:
    """Name of each entry → where its lines begin and end, and its column.

    Comments after an entry are not its own.
    """
    places = {}
    for key, value in _read_sections(text)[section].value:
        end = text.find("\n", len(text[: _find_end(key, value)].rstrip()))
        mark = key.start_mark
        places[key.value] = (mark.index - mark.column, end + 1 or len(text), mark.column)
    return places


def _find_end(key: yaml.Node, value: yaml.Node) -> int:
    """Where the last text of an entry ends.

    The mark of a block would lie after the comments that follow it.
    """
    if isinstance(value, yaml.CollectionNode) and not value.flow_style and value.value:
        last = value.value[-1]
        return _find_end(*last) if isinstance(value, yaml.MappingNode) else _find_end(key, last)
    # An alias has the place of what it means.
    return int(max(key.end_mark.index, value.end_mark.index))


def _unfold(text: str) -> str:
    """The text with a line for each entry, where it was written in braces."""
    root: Any = yaml.compose(text)
    folded = root.flow_style or any(value.flow_style for value in _read_sections(text).values())
    return _write(yaml.safe_load(text)) if folded else text


def _read_sections(text: str) -> dict[str, Any]:
    root: Any = yaml.compose(text)
    return {key.value: value for key, value in root.value}


def _write(content: Mapping[str, Any]) -> str:
    return yaml.safe_dump(content, sort_keys=False, allow_unicode=True, width=4096, default_flow_style=False)


def _replace(path: Path, text: str) -> Registry:
    """Put the text in the place of the file if the registry takes it."""
    with writing_whole(path, SHARED) as draft:
        draft.write_text(text, encoding="utf-8")
        try:
            return read_registry(draft)
        except RegistryError as error:
            raise RegistryError(str(error).replace(str(draft), str(path))) from None


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
    except yaml.YAMLError:
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
