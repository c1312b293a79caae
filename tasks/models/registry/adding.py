"""A model comes into the registry's file or out of it; what people wrote there stays.

The registry as a unit of a stage: closed as it is whenever models are called from it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import yaml

from schemas.errors import RegistryError
from schemas.settings import Settings
from tasks.models.registry.models import RegisteredModel, Registry, read_registry
from warehouse.ledger.engine.logs.stages import StageRow, close_rows
from warehouse.stores.whole_files import SHARED, changing, writing_whole

if TYPE_CHECKING:
    from ruamel.yaml import YAML

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
        known, content = read_registry(path), _load(path)
        providers = content["providers"]
        provider_name = _find_provider(providers, provider)
        if name in known.models and not is_replaced:
            if content["models"][name] == {"provider": provider_name, **entry}:
                return known.get(name)
            raise RegistryError(
                f"{path}: {name} is registered otherwise. Give the new model another name; --again replaces the entry."
            )
        provider_name = provider_name or _name_provider(providers, str(entry["organisation"]))
        if provider_name not in providers:
            providers[provider_name] = dict(provider)
        former = content["models"].get(name)
        content["models"][name] = {"provider": provider_name, **entry}
        if former is not None:
            _drop_unused(content, former)
        return _replace(path, content).get(name)


def remove_model(path: Path, name: str) -> None:
    """Take a model out of the registry, and its provider where no other uses it.

    What it answered stays in the ledger and the lake. Raises RegistryError for a name that is not registered, and where
    another entry needs it; the file is then as it was.
    """
    with changing(path):
        read_registry(path).get(name)
        content = _load(path)
        former = content["models"].pop(name)
        _drop_unused(content, former)
        _replace(path, content)


def _drop_unused(content: Any, former: Mapping[str, Any]) -> None:
    """Take out a former entry's provider where no model uses it and nobody gave it limits."""
    name, providers = former.get("provider"), content["providers"]
    is_used = any(model.get("provider") == name for model in content["models"].values())
    # The registry wants one, so that the last stays.
    if not is_used and len(providers) > 1 and set(providers.get(name, ("",))) <= set(_WRITTEN):
        del providers[name]


def _load(path: Path) -> Any:
    return _open_yaml().load(path.read_text(encoding="utf-8"))


def _open_yaml() -> YAML:
    from ruamel.yaml import YAML

    yaml = YAML()
    yaml.preserve_quotes = True
    yaml.width = 4096
    return yaml


def _replace(path: Path, content: Any) -> Registry:
    """Put the content in the place of the file if the registry takes it."""
    text = StringIO()
    _open_yaml().dump(content, text)
    with writing_whole(path, SHARED) as draft:
        draft.write_text(text.getvalue(), encoding="utf-8")
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
