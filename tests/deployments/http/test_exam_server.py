"""`proctor exam serve` tells where it listens, writes lines without secrets, ends quietly."""

from __future__ import annotations

import http.client
import itertools
import json
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest
from pydantic import SecretStr

from deployments.http.exam_server import describe_environment, find_warnings
from schemas.errors import UsageError
from schemas.settings import Settings
from tests.deployments.test_cli import invoke
from warehouse.ledger.engine.opening import open_exam_database, open_ledger
from warehouse.ledger.engine.sides import find_exam_address

PROCTOR = str(Path(sys.executable).with_name("proctor"))
REGISTRY = """
providers:
  house: {base_url: "https://house.example/v1", key_variable: HOUSE_LETTERS}
models:
  alpha: {provider: house, organisation: House, family: Alpha, roles: [candidate], release_date: 2026-01-01}
"""
SECRETS = dict.fromkeys(("OPENAI_API_KEY", "SIM_KEY", "AWS_SECRET_ACCESS_KEY", "HF_TOKEN"), "QZXWKEY")


@pytest.mark.slow
@pytest.mark.parametrize("number", [pytest.param(signal.SIGINT, marks=pytest.mark.long), signal.SIGTERM])
def test_the_exam_server_tells_where_it_listens_and_never_a_token(tmp_path: Path, number: int) -> None:
    home = tmp_path / "home"
    open_ledger(Settings(home=home).ledger_address).close()
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    process = subprocess.Popen(
        [PROCTOR, "exam", "serve", "--port", str(port)],
        env=os.environ | {"PROCTOR_HOME": str(home)} | SECRETS,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        assert process.stderr is not None
        banner = list(itertools.takewhile(lambda line: not line.startswith("Stop"), process.stderr))
        # Whoever runs these tests may be root, and the folder of a test is no home of its own.
        banner = [line for line in banner if not line.startswith("Warning: ")]
        environment = Path(f"/proc/{process.pid}/environ").read_bytes()
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
        connection.request(
            "GET", "/openapi.json?token=QZXWTOKEN", headers={"Authorization": "Bearer QZXWTOKEN"}
        )
        assert connection.getresponse().status == 200
        connection.close()
        time.sleep(0.2)
        process.send_signal(number)
        output, errors = process.communicate(timeout=60)
    finally:
        process.kill()
    assert f"http://127.0.0.1:{port}" in banner[0]
    assert str(home) in banner[1]
    assert "proctor exam token" in banner[2]
    assert banner[3].endswith(f"has opened only {home / 'ledger.exam.sqlite'}\n")
    assert [line.split()[1:4] for line in output.splitlines()] == [["GET", "/openapi.json", "200"]]
    assert "QZXWTOKEN" not in output + errors
    assert b"QZXWKEY" not in environment
    assert f"PROCTOR_HOME={home}".encode() in environment
    assert process.returncode == 0
    assert "stopped" in errors
    assert "Traceback" not in errors


def test_the_server_keeps_no_key_and_no_way_to_the_other_stores(tmp_path: Path) -> None:
    registry = tmp_path / "models.yaml"
    registry.write_text(REGISTRY)
    settings = Settings(home=tmp_path, ledger_url=SecretStr(f"sqlite:///{tmp_path / 'own.sqlite'}"))
    kept = {"PATH": "/bin", "PROCTOR_HOME": str(tmp_path), "PGPASSWORD": "x", "LANG": "C"}
    given = {
        **kept,
        **SECRETS,
        "HOUSE_LETTERS": "x",
        "PROCTOR_LEDGER_URL": "x",
        "PROCTOR_LAKE_CATALOG": "x",
        "PROCTOR_SMTP_PASSWORD": "x",
    }
    wanted = {**kept, "PROCTOR_EXAM_DATABASE_URL": f"sqlite:///{tmp_path / 'own.exam.sqlite'}"}
    assert describe_environment(settings, given) == wanted
    # Started again with that, there is nothing left to drop: the process is not started for ever.
    assert describe_environment(settings, wanted) == wanted


def test_a_ledger_on_a_server_needs_the_role_before_it_is_served() -> None:
    settings = Settings(ledger_url=SecretStr("postgresql://owner@host/ledger"))
    with pytest.raises(UsageError, match="proctor exam database --role"):
        find_exam_address(settings)


def test_what_others_could_read_is_said_and_stops_nothing(tmp_path: Path) -> None:
    settings = Settings(home=tmp_path)
    open_ledger(settings.ledger_address).close()
    (tmp_path / "ledger.sqlite").chmod(0o644)
    assert any("others on this machine can read" in warning for warning in find_warnings(settings))
    (tmp_path / "ledger.sqlite").chmod(0o600)
    assert not any("others on this machine" in warning for warning in find_warnings(settings))


def test_the_command_that_makes_the_exams_database_ready_names_it(tmp_path: Path) -> None:
    (tmp_path / "secrets").mkdir()
    done = invoke(tmp_path, "exam", "database", "--json")
    assert json.loads(done.stdout) == {"database": str(tmp_path / "ledger.exam.sqlite")}
    open_exam_database(find_exam_address(Settings(home=tmp_path))).close()
    refused = invoke(tmp_path, "exam", "database", "--role", "someone")
    assert refused.exit_code == 2
    assert "PostgreSQL" in refused.stderr


def test_a_host_that_has_the_exams_role_and_the_keys_needs_no_home(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As in the server form: an empty folder for a home, and the keys elsewhere."""
    served: list[Settings] = []
    # Where the command takes them from: the face keeps what another test had from it.
    monkeypatch.setattr("deployments.http.leave_secrets_behind", lambda _: None)
    monkeypatch.setattr("deployments.http.serve_exam", lambda settings, *_, **__: served.append(settings))
    home, keys = tmp_path / "empty", {"PROCTOR_SECRETS": str(tmp_path / "secrets")}
    refused = invoke(home, "exam", "serve", **keys)
    assert (refused.exit_code, "holds no home" in refused.stderr, served) == (2, True, [])
    (tmp_path / "secrets").mkdir()
    address = "postgresql://proctor_exam:QZXW@postgres/proctor"
    done = invoke(home, "exam", "serve", PROCTOR_EXAM_DATABASE_URL=address, **keys)
    assert (done.exit_code, len(served)) == (0, 1), done.stderr
    assert not home.exists()
