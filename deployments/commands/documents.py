"""Documents that were ingested: documents list, show, remove."""

from __future__ import annotations

import typer

documents_app = typer.Typer(no_args_is_help=True, help="List, look at and remove ingested documents.")


def add_commands(app: typer.Typer) -> None:
    """Register this module's commands."""
    app.add_typer(documents_app, name="documents")
