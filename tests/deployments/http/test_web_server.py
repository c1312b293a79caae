"""`proctor web` tells where it listens, writes lines without content, ends quietly."""

from __future__ import annotations

import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest
from typer.testing import CliRunner

from deployments.cli import app
from schemas.settings import Settings
from warehouse.ledger.engine.opening import open_ledger

PROCTOR = str(Path(sys.executable).with_name("proctor"))


@pytest.mark.slow
def test_the_web_server_tells_where_it_listens_never_a_cookie_and_has_no_key_of_a_model(
    tmp_path: Path,
) -> None:
    home = tmp_path / "home"
    open_ledger(Settings(home=home).ledger_address).close()
    (home / "models.yaml").write_text(
        "providers: {lab: {base_url: 'http://127.0.0.1:9/v1', key_variable: NAMED_IN_REGISTRY}}\n"
        "models: {lab-2: {provider: lab, organisation: Lab, is_open: false, roles: [candidate, reference]}}\n"
    )
    keys = {"NAMED_IN_REGISTRY": "QZXWKEY", "OPENAI_API_KEY": "QZXWKEY", "PROCTOR_OWN_KEY": "QZXWKEY"}
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    process = subprocess.Popen(
        [PROCTOR, "web", "--port", str(port), "--json"],
        env=os.environ | {"PROCTOR_HOME": str(home)} | keys,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        assert process.stdout is not None
        announced = json.loads(process.stdout.readline())
        environment = Path(f"/proc/{process.pid}/environ").read_bytes()
        assert f"PROCTOR_HOME={home}".encode() in environment
        assert b"QZXW" not in environment
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
        connection.request("GET", "/sign-in?then=QZXWQUERY", headers={"Cookie": "proctor_session=QZXWCOOKIE"})
        assert connection.getresponse().status == 200
        connection.close()
        time.sleep(0.2)
        process.send_signal(signal.SIGTERM)
        output, errors = process.communicate(timeout=60)
    finally:
        process.kill()
    assert announced == {"address": f"http://127.0.0.1:{port}", "home": str(home)}
    assert f"http://127.0.0.1:{port}" in errors
    assert "proctor exam user password" in errors
    assert [line.split()[1:4] for line in output.splitlines()] == [["GET", "/sign-in", "200"]]
    assert "QZXW" not in output + errors
    assert process.returncode == 0
    assert "nothing that was decided is lost" in errors
    assert "Traceback" not in errors
    assert (home / "secrets" / "web-cookie.key").stat().st_mode & 0o077 == 0


def test_a_taken_port_and_a_missing_certificate_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    open_ledger(Settings(home=tmp_path).ledger_address).close()
    monkeypatch.setenv("PROCTOR_HOME", str(tmp_path))
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        refused = CliRunner().invoke(app, ["web", "--port", port])
    assert refused.exit_code == 2
    assert f"The web desk cannot listen on 127.0.0.1, port {port}" in refused.output
    missing = CliRunner().invoke(app, ["web", "--certificate", "none.pem"])
    assert (missing.exit_code, "none.pem" in missing.output) == (2, True)
    (tmp_path / "text.pem").write_text("no certificate")
    wrong = CliRunner().invoke(app, ["web", "--certificate", str(tmp_path / "text.pem")])
    assert (wrong.exit_code, "text.pem and no further file are no certificate" in wrong.output) == (2, True)
