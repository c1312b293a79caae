"""What a server begins in a process of its own, and what is known of it afterwards."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from deployments.flow_runs import READING, begin_continuation
from schemas.settings import Settings


def test_why_a_process_that_a_server_began_failed_stands_in_the_log(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = Settings(home=tmp_path)
    monkeypatch.setenv("PROCTOR_HOME", str(tmp_path))
    monkeypatch.setenv("PROCTOR_NO_SERVER", "1")
    (tmp_path / "proctor.toml").touch()
    (tmp_path / "ledger.sqlite").write_bytes(b"no database, and nobody's answer" * 40)
    begin_continuation(settings, "paper", READING)
    text, deadline = "", time.monotonic() + 60
    while "ended with code" not in text and time.monotonic() < deadline:
        time.sleep(0.1)
        text = "".join(path.read_text() for path in (tmp_path / "logs").glob("*.jsonl"))
    assert "The process for second_reading of paper ended with code 1" in text
    assert "follow ended with" in text
    assert "nobody's answer" not in text
