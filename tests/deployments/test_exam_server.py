"""`proctor exam serve`: it tells where it listens, writes a line per call without secrets, and ends quietly."""

from __future__ import annotations

import http.client
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from schemas.settings import Settings
from warehouse.ledger.engine import open_ledger

PROCTOR = str(Path(sys.executable).with_name("proctor"))


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_exam_server_tells_where_it_listens_and_never_a_token(tmp_path: Path, number: int) -> None:
    home = tmp_path / "home"
    open_ledger(Settings(home=home).ledger_address).close()
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    process = subprocess.Popen(
        [PROCTOR, "exam", "serve", "--port", str(port)],
        env=os.environ | {"PROCTOR_HOME": str(home)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        assert process.stderr is not None
        banner = [process.stderr.readline() for _ in range(4)]
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
    assert [line.split()[1:4] for line in output.splitlines()] == [["GET", "/openapi.json", "200"]]
    assert "QZXWTOKEN" not in output + errors
    assert process.returncode == 0
    assert "stopped" in errors
    assert "Traceback" not in errors
