"""The league: `league report`."""

from __future__ import annotations

import typer

from deployments.commands import league_report

league_app = typer.Typer(no_args_is_help=True, help="The league: models examine each other.")


def add_commands(app: typer.Typer) -> None:
    """Register this module's commands."""
    league_app.command()(league_report.report)
    app.add_typer(league_app, name="league")
