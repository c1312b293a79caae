"""The registry as it is read: models, organisations."""

from __future__ import annotations

from typing import Annotated

import typer

from deployments.commands.options import AsJson

_MODEL_COLUMNS = (
    "model",
    "organisation",
    "family",
    "released",
    "roles",
    "mode",
    "reexamine_every",
    "input_price_usd",
    "output_price_usd",
    "key_variable",
    "has_key",
    "is_simulated",
)


def add_commands(app: typer.Typer) -> None:
    """Register this module's commands."""
    app.command()(models)
    app.command()(organisations)


def models(as_json: AsJson = False) -> None:
    """List the registry: candidates, judges, prices, and whether each key variable is set (never the key).

    Example: proctor models
    """
    import os

    from deployments.output import print_note, print_records
    from schemas.settings import load_settings
    from tasks.models.registry import read_registry

    registry = read_registry(load_settings().registry_path)
    rows = [
        {
            "model": model.name,
            "organisation": model.organisation,
            "family": model.family,
            "released": None if model.release_date is None else model.release_date.isoformat(),
            "roles": " ".join(model.roles),
            "mode": model.mode,
            "reexamine_every": model.reexamine_every,
            "input_price_usd": model.input_price_usd,
            "output_price_usd": model.output_price_usd,
            "key_variable": model.key_variable,
            "has_key": model.key_variable is None or bool(os.environ.get(model.key_variable)),
            "is_simulated": model.is_simulated,
        }
        for model in registry.models.values()
    ]
    print_records(_MODEL_COLUMNS, rows, as_json=as_json)
    if not as_json:
        print_note(f"Registry: {registry.path}. Next: proctor exam plan")


def organisations(
    register: Annotated[
        bool, typer.Option("--register", help="Register those of the model registry that are not yet.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """List the organisations that own models: other names, their models, and the name that is registered.

    An organisation is recognised however its name is written. Planning a run registers those of the model registry; do it
    here to add users of an organisation before its first run.

    Example: proctor organisations --register
    """
    from deployments.output import print_note, print_records
    from schemas.settings import load_settings
    from tasks.models.owners import list_owners, register_owners
    from tasks.models.registry import read_registry
    from warehouse.ledger.engine import open_ledger

    settings = load_settings()
    registry = read_registry(settings.registry_path)
    with open_ledger(settings.ledger_address) as ledger:
        if register:
            register_owners(ledger, registry)
        rows = list_owners(ledger, registry)
    columns = ("organisation", "other_names", "models", "is_simulated", "registered_as", "question_limit")
    print_records(columns, rows, as_json=as_json)
    if not as_json:
        print_note(f"Registry: {registry.path}. Next: proctor exam plan")
