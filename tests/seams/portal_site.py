"""The site of a portal, which recognises people and sends them back with a code."""

from __future__ import annotations

import base64
import hashlib
import json
import secrets
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, parse_qsl, urlencode, urlsplit

SECRET = "PORTAL-SECRET"


@dataclass
class PortalSite:
    """A server that is told who sits before the browser.

    Attributes:
        url: where it listens.
        name: who signs in there next; empty for somebody who gives up.
        groups: their groups.
        status: what the token endpoint answers to what is right.
        codes: what each code was given for.
        redeemed: every code that was shown, right or wrong.
    """

    url: str = ""
    name: str = "cora"
    groups: tuple[str, ...] = ()
    status: int = 200
    codes: dict[str, dict[str, str]] = field(default_factory=dict)
    redeemed: list[str] = field(default_factory=list)

    def authorize(self, asked: dict[str, str]) -> str:
        """The address to which the browser is sent back."""
        if not self.name:
            return f"{asked['redirect_uri']}?{urlencode({'error': 'access_denied', 'state': asked['state']})}"
        code = f"CODE-{secrets.token_hex(8)}"
        self.codes[code] = asked | {"name": self.name, "groups": json.dumps(self.groups)}
        return f"{asked['redirect_uri']}?{urlencode({'code': code, 'state': asked['state']})}"

    def redeem(self, sent: dict[str, str]) -> tuple[int, dict[str, object]]:
        """Who a code stands for: once, for whoever has the secret and the verifier."""
        self.redeemed.append(sent["code"])
        given = self.codes.pop(sent["code"], None)
        digest = hashlib.sha256(sent["code_verifier"].encode()).digest()
        challenge = base64.urlsafe_b64encode(digest).decode().rstrip("=")
        if given is None or given["code_challenge"] != challenge or sent["client_secret"] != SECRET:
            return 400, {"error": "invalid_grant"}
        told = {"name": given["name"], "nonce": given["nonce"], "groups": json.loads(given["groups"])}
        return self.status, told


@contextmanager
def serve_portal() -> Iterator[PortalSite]:
    """A portal that listens on this machine."""
    site = PortalSite()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            parts = urlsplit(self.path)
            if parts.path == "/authorize":
                self.send_response(302)
                self.send_header("Location", site.authorize(dict(parse_qsl(parts.query))))
            else:
                self.send_response(302 if parts.path == "/leave" else 404)
                self.send_header("Location", parse_qs(parts.query).get("back", ["/"])[0])
            self.send_header("Content-Length", "0")
            self.end_headers()

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"])).decode()
            status, told = site.redeem(dict(parse_qsl(body, keep_blank_values=True)))
            content = json.dumps(told).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    site.url = f"http://127.0.0.1:{server.server_port}"
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield site
    finally:
        server.shutdown()
        server.server_close()
