"""The Prefect server that PREFECT_API_URL names, which is not this home's own."""

from __future__ import annotations

import base64
import json
import os
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urlsplit

_PATIENCE_S: Final = 5.0


@dataclass(frozen=True)
class PrefectServer:
    """A server's address, and the header that opens it (empty: none)."""

    url: str
    authorization: str = ""

    @property
    def shown(self) -> str:
        """The address as it may be shown: one may hold a password."""
        parts = urlsplit(self.url)
        return f"{parts.scheme}://{parts.hostname}{f':{parts.port}' if parts.port else ''}{parts.path}"

    def ask(self, path: str, body: object = None) -> Any:
        """What Prefect's API answers; raises OSError, or ValueError for what is no answer of it."""
        # Here, for every command looks whether a server is named, and hardly one asks it.
        import urllib.request

        parts = urlsplit(self.url)
        if parts.scheme not in ("http", "https"):
            raise ValueError("no address of a server")
        request = urllib.request.Request(  # noqa: S310 - the scheme was looked at
            f"{self.url.rstrip('/')}/{path}",
            data=None if body is None else json.dumps(body).encode(),
            headers={"Content-Type": "application/json"}
            | ({"Authorization": self.authorization} if self.authorization else {}),
        )
        # A proxy of the environment is for addresses outside, and a server of this machine is not.
        is_near = parts.hostname in ("127.0.0.1", "localhost", "::1")
        opener = urllib.request.build_opener(*([urllib.request.ProxyHandler({})] if is_near else []))
        with opener.open(request, timeout=_PATIENCE_S) as answer:
            return json.loads(answer.read())

    def answers(self) -> bool:
        """Whether it answers a call that shows our key or password."""
        try:
            self.ask("admin/version")
        except (OSError, ValueError):
            return False
        return True


def read_named_server() -> PrefectServer | None:
    """The server of PREFECT_API_URL, with the key or password beside it; None for none."""
    url = os.environ.get("PREFECT_API_URL")
    key, auth = os.environ.get("PREFECT_API_KEY"), os.environ.get("PREFECT_API_AUTH_STRING")
    return PrefectServer(url, f"Bearer {key}" if key else encode_password(auth)) if url else None


def encode_password(auth: str | None) -> str:
    """The header of a `name:password`; empty for none."""
    return f"Basic {base64.b64encode(auth.encode()).decode()}" if auth else ""
