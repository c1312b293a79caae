"""Whoever is named is told of a failed run: by a program and by a web hook, and one that fails keeps nobody else from it."""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from schemas.errors import FlowError, UsageError
from schemas.settings import load_settings
from tasks.notices.notices import Notice, read_recipients, send_notice
from tasks.notices.task import send_notices

NOTICE = Notice("monthly-2026-12", "Failed", "0b1c")


@pytest.fixture
def hook() -> Iterator[tuple[str, list[bytes]]]:
    """A web hook on this host: its address, and what it was told; `/no` refuses."""
    told: list[bytes] = []

    class Hook(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            told.append(self.rfile.read(int(self.headers["Content-Length"])))
            self.send_response(500 if self.path.startswith("/no") else 204)
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Hook)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}", told
    server.shutdown()
    server.server_close()


def test_a_program_and_a_web_hook_are_told_whoever_else_fails(
    hook: tuple[str, list[bytes]], tmp_path: Path
) -> None:
    url, told = hook
    kept = tmp_path / "kept.json"
    program = f"command:{sys.executable} -c \"import sys; open('{kept}', 'w').write(sys.stdin.read())\""
    recipients = read_recipients([f"{url}/no?token=QZXW", "command:/nowhere/program", program, f"{url}/yes"])
    failures = send_notice(NOTICE, recipients)
    assert [(name.split()[0], reason) for name, reason in failures.items()] == [
        ("127.0.0.1", "it answered 500"),
        ("program", "it cannot be started (No such file or directory)"),
    ]
    assert "QZXW" not in str(failures), "an address may be a secret"
    assert json.loads(kept.read_text()) == json.loads(told[1]) == {
        "text": "Proctor: monthly-2026-12 Failed. proctor logs monthly-2026-12 says more.",
        "run": "monthly-2026-12",
        "ending": "Failed",
        "flow_run_id": "0b1c",
    }  # fmt: skip


def test_a_notice_that_cannot_be_given_fails_and_is_not_told_of_itself(
    hook: tuple[str, list[bytes]], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    url, told = hook
    monkeypatch.setenv("PROCTOR_HOME", str(tmp_path))
    monkeypatch.setenv("PROCTOR_NOTIFY", json.dumps([f"{url}/no"]))
    load_settings.cache_clear()
    with pytest.raises(FlowError, match=r"1 of 1 could not be told of monthly-2026-12: 127\.0\.0\.1"):
        send_notices.fn("monthly-2026-12", "prefect.flow-run.Crashed", "prefect.flow-run.0b1c")
    assert json.loads(told[0])["ending"] == "Crashed"
    assert send_notices.fn("notify-monthly-2026-12", "prefect.flow-run.Failed", "x") == {"told": 0}
    assert len(told) == 1


@pytest.mark.parametrize(
    "text", ["http://example.org/hook", "command:", "ops@example.org", "file:/etc/passwd"]
)
def test_who_cannot_be_told_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="PROCTOR_NOTIFY"):
        read_recipients([text])
