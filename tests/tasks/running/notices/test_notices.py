"""Everybody who is named is told of a failed run, by a program and by a web hook.

One that fails keeps nobody else from being told.
"""

from __future__ import annotations

import json
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from schemas.errors import UsageError
from schemas.settings import load_settings
from tasks.running.notices import delivery
from tasks.running.notices.delivery import deliver_notices
from tasks.running.notices.notices import Notice, read_recipients, send_notice
from warehouse.ledger.engine.leases.clock import Host, clock_of
from warehouse.ledger.engine.ledger import Ledger
from warehouse.ledger.engine.moments import write_moment
from warehouse.ledger.engine.opening import open_ledger
from warehouse.ledger.engine.runs.flow_runs import StartedRun, begin_flow_run, end_flow_run
from warehouse.ledger.engine.runs.notices import note_told, take_notices

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
    wrong = (f"{url}/no?token=QZXW", f"{url}/hök", "command:/nowhere/program")
    failures = send_notice(NOTICE, read_recipients([*wrong, program, f"{url}/yes"]))
    assert [(name.split()[0], reason) for name, reason in failures.items()] == [
        ("127.0.0.1", "it answered 500"),
        ("127.0.0.1", "it could not be reached (UnicodeEncodeError)"),
        ("program", "it cannot be started (No such file or directory)"),
    ]
    assert "QZXW" not in str(failures), "an address may be a secret"
    assert json.loads(kept.read_text()) == json.loads(told[1]) == {
        "text": "Proctor: monthly-2026-12 Failed. proctor logs monthly-2026-12 says more.",
        "run": "monthly-2026-12",
        "ending": "Failed",
        "flow_run_id": "0b1c",
    }  # fmt: skip


@pytest.fixture
def ledger(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Ledger]:
    monkeypatch.setenv("PROCTOR_HOME", str(tmp_path))
    load_settings.cache_clear()
    with open_ledger(load_settings().ledger_address) as opened:
        yield opened


def name_recipients(monkeypatch: pytest.MonkeyPatch, *recipients: str) -> None:
    monkeypatch.setenv("PROCTOR_NOTIFY", json.dumps(recipients))
    load_settings.cache_clear()


def end_badly(ledger: Ledger, run_id: str) -> None:
    with ledger.write() as connection:
        begin_flow_run(connection, StartedRun(run_id, "seal", "seal-x"), host="here", process_id=1)
        end_flow_run(connection, run_id, "failed")


def test_a_bad_end_is_told_once_whoever_looks_and_however_often(
    hook: tuple[str, list[bytes]], ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    url, told = hook
    name_recipients(monkeypatch, f"{url}/yes")
    end_badly(ledger, "a")
    with ThreadPoolExecutor(4) as pool:
        counts = list(pool.map(lambda _: deliver_notices(ledger), range(8)))
    assert sum(counts) == 1
    assert [json.loads(one)["flow_run_id"] for one in told] == ["a"]
    # It begins again, and ends badly again: that is another failure.
    end_badly(ledger, "a")
    deliver_notices(ledger)
    assert len(told) == 2


def test_who_could_not_be_told_is_told_later_and_nobody_else_twice(
    hook: tuple[str, list[bytes]], ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    url, told = hook
    name_recipients(monkeypatch, f"{url}/no", f"{url}/yes")
    end_badly(ledger, "a")
    assert deliver_notices(ledger) == 0
    assert (len(told), deliver_notices(ledger)) == (2, 0)
    with ledger.write() as connection:
        connection.exec_driver_sql("UPDATE run_notices SET next_at = found_at")
    assert deliver_notices(ledger) == 0
    assert len(told) == 3, "the one that answered is not told again"


def test_each_notice_is_taken_when_it_is_told(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    name_recipients(monkeypatch, "https://example.org/hook")
    for run_id in "abc":
        end_badly(ledger, run_id)
    told = []

    def send(notice: Notice, _recipients: object) -> dict[str, str]:
        told.append(notice.flow_run_id)
        if len(told) == 1:
            # It hangs; another process goes on with the next.
            with ledger.write() as connection:
                assert [one.flow_run_id for one in take_notices(connection, lease_s=60, most=1)] == ["b"]
        return {}

    monkeypatch.setattr(delivery, "send_notice", send)
    assert deliver_notices(ledger) == 2
    assert told == ["a", "c"]


def test_the_ledgers_clock_says_when_somebody_is_told_again(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = time.time() - 7_200.0
    clock_of(ledger.engine).host = Host(lambda: now, tick=lambda: 0.0)
    clock_of(ledger.engine).forget()
    end_badly(ledger, "a")
    with ledger.write() as connection:
        (taken,) = take_notices(connection, lease_s=60)
        assert taken.next_at == write_moment(now)
        note_told(connection, "a", [], again_in_s=10.0)
        assert connection.exec_driver_sql("SELECT next_at FROM run_notices").scalar() == write_moment(
            now + 10
        )


@pytest.mark.parametrize(
    "text",
    [
        "http://example.org/hook", "command:", "ops@example.org", "file:/etc/passwd", "https://chat.example:hook/3f9c",
        "https://chat.example:84443/3f9c", "https://chat..example/3f9c", "https://[::1/3f9c",
    ],
)  # fmt: skip
def test_who_cannot_be_told_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="PROCTOR_NOTIFY"):
        read_recipients([text])
