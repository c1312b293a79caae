"""docs/extending.md runs as it stands, and names what there is."""

from __future__ import annotations

import json
import re
import threading
import tomllib
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from deployments.auth.kinds.conformance import check_redirect
from tasks.models.providers.conformance import check_provider
from tests.schemas.test_seams import list_seams
from tests.seams.portal_site import SECRET, serve_portal
from tests.seams.test_kits import follow

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "extending.md").read_text("utf-8")
EXAMPLES = re.findall(r"\n## ([^\n]+)\n(?:(?!\n## ).)*?```python\n(.*?)```", PAGE, re.DOTALL)


def test_each_seam_has_a_section_with_an_example() -> None:
    titles = ["A reader", "A provider", "A metric", "A judge", "A kind of sign-in", "Analyses"]
    assert [title for title, _ in EXAMPLES] == titles
    assert set(re.findall(r"\| `(proctor\.\w+)` \|", PAGE)) == {seam.group for seam in list_seams()}
    shown = tomllib.loads(PAGE.split("```toml\n")[1].split("```")[0])["project"]["entry-points"]
    assert set(shown) == {seam.group for seam in list_seams()}


@pytest.mark.parametrize(("title", "code"), EXAMPLES)
def test_the_example_runs(title: str, code: str) -> None:
    names: dict[str, Any] = {}
    exec(compile(code, title, "exec"), names)
    if title == "A provider":
        with_server(lambda url: check_provider(names["open_endpoint"], url))
    if title == "A kind of sign-in":
        with serve_portal() as site:
            kind = names["open_kind"]({"url": site.url, "secret": SECRET})
            assert check_redirect(kind, follow, "https://desk.example/back").user_id == site.name


def with_server(check: Any) -> None:
    """A server of the kind that the page's provider speaks to."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            content = json.dumps(
                {"completion": body["prompt"], "read": 3, "written": 3, "why": "end"}
            ).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        check(f"http://127.0.0.1:{server.server_port}")
    finally:
        server.shutdown()
        server.server_close()
