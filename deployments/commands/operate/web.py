"""The web desk: `proctor web`."""

from __future__ import annotations

from typing import Annotated

import typer

from deployments.command_line.printing import is_json
from deployments.commands.options import ServingOptions
from deployments.flow_runs import leave_keys_behind
from schemas.settings import load_settings

# Imported within the function: what brings FastAPI. Neither the help nor a wrong option waits for it.


def web(
    port: Annotated[int, typer.Option("--port", help="Port on this machine.")] = 8710,
    *,
    serving: ServingOptions,
) -> None:
    """Serve the web pages until interrupted.

    On these pages annotators review, and examiners and analysts look at runs.

    Everybody signs in with their own name; `proctor exam user password NAME` sets a password. Annotators see their own queue; admins
    and examiners coordinate. Admins, examiners and analysts see runs under way and the answers behind every result; reference answers
    are shown to admins and examiners only (docs/live.md).

    Example: proctor web --port 8710
    """
    from deployments.http import serve_web

    listening = serving.listen(port)
    settings = load_settings()
    # Whoever breaks into the pages finds no key of a model.
    leave_keys_behind(settings)
    serve_web(settings, listening, as_json=is_json())
