"""A page in a real browser, offline.

It shows what the page asks the network for, what its console says, and what a script finds in it.
"""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from urllib.parse import urlparse

import pytest
from lxml import html

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")

needs_browser = [
    pytest.mark.service,
    pytest.mark.skipif(
        CHROMIUM is None, reason="Chromium is not installed; the page's behaviour is not checked."
    ),
]


def run_browser(page: Path, profile: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    assert CHROMIUM is not None
    return subprocess.run(
        [
            CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking",
            "--disable-component-update", "--disable-sync", "--host-resolver-rules=MAP * ~NOTFOUND", "--no-first-run", "--enable-logging=stderr",
            f"--user-data-dir={profile}", "--window-size=1400,2400", *arguments, page.as_uri(),
        ],
        capture_output=True, text=True, timeout=120, check=True,
    )  # fmt: skip


def read_requests(net_log: Path) -> list[str]:
    """What pages asked the network for; the browser's own calls home are not theirs."""
    text = net_log.read_text("utf-8", errors="replace").rstrip().rstrip(",")
    try:
        events = json.loads(text)["events"]
    except json.JSONDecodeError:  # the browser ended before it closed the file
        events = json.loads(text + "]}")["events"]
    asked = [event["params"] for event in events if "url" in event.get("params", {})]
    return [
        request["url"]
        for request in asked
        if request.get("network_isolation_key", "").startswith("file:")
        and urlparse(request["url"]).scheme in ("http", "https", "ws", "wss")
    ]


def act_on(page: Path, folder: Path, script: str) -> Path:
    """Return a copy of the page that runs `script` and shows its value as JSON.

    `script` is a function body that returns a value.

    What lies beside the page is copied with it; the rule against scripts inside the page does not hold for the copy.
    """
    copied = folder / "probe"
    shutil.copytree(page.parent, copied)
    act = f"<script>(function(){{var pre=document.createElement('pre');pre.id='found';pre.textContent=JSON.stringify((function(){{{script}}})());document.body.appendChild(pre)}})()</script>"
    text = page.read_text("utf-8").replace("script-src ", "script-src 'unsafe-inline' ", 1)
    probe = copied / "probe.html"
    probe.write_text(text.replace("</body>", f"{act}</body>"), "utf-8")
    return probe


def read_found(dom: str) -> object:
    return json.loads(str(html.document_fromstring(dom).xpath("string(//pre[@id='found'])")))
