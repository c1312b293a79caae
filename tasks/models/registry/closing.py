"""The registry as a unit of a stage: closed as it is whenever models are called from it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final

import yaml

from schemas.settings import Settings
from warehouse.ledger.engine.logs.stages import StageRow, close_rows

if TYPE_CHECKING:
    from warehouse.ledger.engine.ledger import Ledger

# The unit's name, whatever the file is called.
REGISTRY_UNIT: Final = "models.yaml"


def close_registry(ledger: Ledger, settings: Settings) -> None:
    """Close the registry as it is; nothing where there is none, or it is closed so already."""
    if settings.registry_path.exists():
        rows = list(read_registry_rows(settings.registry_path))
        with ledger.write() as connection:
            close_rows(connection, "registry", REGISTRY_UNIT, rows)


def read_registry_rows(path: Path) -> Iterator[StageRow]:
    """Each model and provider of the file, with all that stands there.

    A file that is no YAML is one text.
    """
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
