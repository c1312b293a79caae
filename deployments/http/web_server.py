"""The web desk as a process."""

from __future__ import annotations

import json

from deployments.home import check_host
from deployments.http.listening import Listening
from deployments.http.server import serve_app
from deployments.web import create_app
from schemas.settings import Settings
from warehouse.ledger.engine.opening import open_ledger


def serve_web(settings: Settings, listening: Listening, *, as_json: bool = False) -> None:
    """Serve until Ctrl-C or `kill -TERM`.

    Raises UsageError when the address is taken, or when this host is not like the others, StoreError for a ledger that cannot be used. With `as_json` the
    first line on standard output is one JSON document with the address, once it listens.
    """
    check_host(settings)
    # A ledger that is not there, damaged or of a newer version is a sentence here, and a trace once the server has begun.
    open_ledger(settings.ledger_address).close()
    home = str(settings.home.resolve())

    def tell(address: str) -> list[str]:
        return [
            f"The web desk listens on {address}",
            f"Home: {home}",
            "A password for somebody: proctor exam user password NAME",
            "Stop with Ctrl-C.",
        ]

    serve_app(
        # Before a proxy that speaks TLS the browser does, too.
        create_app(settings, is_https=listening.certificate is not None or listening.proxy is not None),
        "The web desk",
        listening,
        notes=tell,
        announcement=(lambda address: json.dumps({"address": address, "home": home})) if as_json else None,
        ended="The web desk has stopped; nothing that was decided is lost.",
    )
