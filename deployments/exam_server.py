"""The exam API as a process."""

from __future__ import annotations

from deployments.exam_api.app import create_app
from deployments.http_server import serve_app
from schemas.settings import Settings


def serve_exam(
    settings: Settings,
    host: str,
    port: int,
    *,
    certificate: str | None = None,
    key: str | None = None,
    proxy: str | None = None,
) -> None:
    """Serve until Ctrl-C or `kill -TERM`; raises UsageError when the address is taken."""
    serve_app(
        create_app(settings),
        "The exam API",
        host,
        port,
        notes=lambda address: [
            f"The exam API listens on {address} (its description: {address}/openapi.json)",
            f"Home: {settings.home.resolve()}",
            "A token for a candidate: proctor exam token USER --session SESSION",
            "Stop with Ctrl-C.",
        ],
        ended="The exam API has stopped; open sessions continue when it is started again.",
        certificate=certificate,
        key=key,
        proxy=proxy,
    )
