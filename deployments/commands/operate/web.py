"""The web desk: `proctor web`."""

from __future__ import annotations

from typing import Annotated

import typer

from deployments.commands.options import AsJson
from deployments.flow_runs import leave_keys_behind
from schemas.settings import load_settings

# Imported within the function: what brings FastAPI. Neither the help nor a wrong option waits for it.


def web(
    port: Annotated[int, typer.Option("--port", help="Port on this machine.")] = 8710,
    host: Annotated[
        str, typer.Option("--host", help="Address to listen on; put TLS in front of anything else.")
    ] = "127.0.0.1",
    certificate: Annotated[str, typer.Option("--certificate", help="TLS certificate (PEM).")] = "",
    certificate_key: Annotated[str, typer.Option("--certificate-key", help="Its key (PEM).")] = "",
    proxy: Annotated[
        str, typer.Option("--proxy", help="Address of the TLS proxy before it, which names the callers.")
    ] = "",
    metrics: Annotated[
        int | None,
        typer.Option(
            "--metrics", min=1, max=65535, help="Port of 127.0.0.1 on which Prometheus reads how calls went."
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Serve the web pages until interrupted.

    On these pages annotators review, and examiners and analysts look at runs.

    Everybody signs in with their own name; `proctor exam user password NAME` sets a password. Annotators see their own queue; admins
    and examiners coordinate. Admins, examiners and analysts see runs under way and the answers behind every result; reference answers
    are shown to admins and examiners only (docs/live.md).

    Example: proctor web --port 8710
    """
    from deployments.http import Listening, serve_web

    listening = Listening(host, port, certificate or None, certificate_key or None, proxy or None, metrics)
    listening.check_files()
    settings = load_settings()
    # Whoever breaks into the pages finds no key of a model.
    leave_keys_behind(settings)
    serve_web(settings, listening, as_json=as_json)
