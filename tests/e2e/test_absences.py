"""Stores, Prefect's server and a worker are taken away in a month's run, each for a while.

The run ends by itself as if nothing had happened.

The same installation as in test_whole_system.py; `Gate` keeps work left for when the store is away and for when it is back.
"""

from __future__ import annotations

import json
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx
import pytest

from deployments.flow_runs import run_flow
from tasks.running.flow_runs.record import list_run_states
from tests.e2e.exam_form import MONTH, Exam, Gate, as_process_of, plan, review
from tests.e2e.final_tables import find_differences
from tests.e2e.test_whole_system import (
    Embedded,
    check_calls,
    let_both_work,
    read_tables_without_losses,
    run_embedded,
)
from tests.e2e.whole_system import Process, WholeSystem, wait_until
from tests.warehouse.ledger.postgresql import PostgresqlServer, start_postgresql
from tests.warehouse.object_store import start_object_store
from warehouse.ledger.engine.opening import open_ledger

pytestmark = [
    pytest.mark.prefect, pytest.mark.service, pytest.mark.long, pytest.mark.xdist_group("own-server"),
]  # fmt: skip

ABSENT_S = 60.0


class Hook:
    """A web hook on this host, and when it was told what."""

    def __init__(self) -> None:
        self.told: list[tuple[float, dict[str, Any]]] = []
        told = self.told

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                told.append((time.time(), json.loads(self.rfile.read(int(self.headers["Content-Length"])))))
                self.send_response(204)
                self.end_headers()

            def log_message(self, format: str, *args: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}/hook"

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


@contextmanager
def away(what: str, stop: Callable[[], None], start: Callable[[], None]) -> Iterator[None]:
    """The block runs while something is away; it is back after `ABSENT_S`."""
    stop()
    began = time.monotonic()
    try:
        yield
        time.sleep(max(0.0, began + ABSENT_S - time.monotonic()))
    finally:
        start()
    print(f"{what} was away for {time.monotonic() - began:.0f} s")


def read_log(system: WholeSystem) -> list[dict[str, Any]]:
    """The lines of all hosts' own logs, by time."""
    lines = [
        json.loads(line)
        for path in system.folder.glob("host-*/logs/*.jsonl")
        for line in path.read_text("utf-8").splitlines()
    ]
    return sorted(lines, key=lambda line: str(line["at"]))


def list_said(system: WholeSystem, store: str) -> list[str]:
    """What the logs say of an absence."""
    return [line["event"] for line in read_log(system) if line["event"].startswith(f"The {store} ")]


def check_said(system: WholeSystem, store: str) -> None:
    """Begin, each minute and end of an absence stand in the log."""
    wait_until(
        f"the end of the absence is said ({store})",
        lambda: any("answers again after" in one for one in list_said(system, store)),
    )
    said = list_said(system, store)
    print("\n".join(said))
    assert any("does not answer; it is waited for, up to 10 minutes" in one for one in said), said


def start_again(system: WholeSystem, process: Process) -> None:
    process.start()
    if process is system.prefect:
        wait_until("the Prefect server answers again", lambda: system.answers(f"{system.api.base_url}ready"))


def test_a_month_outlives_each_store_the_server_and_a_worker(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    exam = Exam(papers=2, questions=8, candidates=2, set_size=16, repeats=2)
    gate, hook = Gate(), Hook()
    gate.install(monkeypatch)
    embedded = run_embedded(exam, tmp_path, gate)
    before = Counter(embedded.models.state.repeats)
    with (
        start_postgresql() as postgresql,
        start_object_store() as store,
        embedded.models,
    ):
        variables = {"PROCTOR_NOTIFY": json.dumps([hook.url])}
        system = WholeSystem(tmp_path / "whole", exam, postgresql, store, embedded.models, variables)
        try:
            system.start()
            run_with_absences(system, embedded, postgresql, store, hook)
            tables = read_tables_without_losses(system, embedded)
            differences = find_differences(embedded.tables, tables)
            assert not differences, "\n".join(differences)
            check_calls(embedded, system.settings, before)
        except BaseException:
            print(system.read_logs())
            raise
        finally:
            system.stop()
            hook.close()


def run_with_absences(
    system: WholeSystem, embedded: Embedded, postgresql: PostgresqlServer, store: Any, hook: Hook
) -> None:
    settings, gate, folder = system.settings, embedded.gate, system.folder
    mapped = str(folder.parent / "map.yaml")
    system.await_runs(
        system.run_deployment("ingest", host="host-2", paths=embedded.papers, discipline_map=mapped)
    )
    (batch_id,) = review(settings, folder / "workbooks")
    with as_process_of(system.homes["host-1"] | {"PROCTOR_NO_SERVER": "true"}):
        run_flow("review_gate", batch_id=batch_id)
    assert plan(settings, embedded.exam, embedded.models.url) == embedded.run_id

    gate.left = {"exam": 0, "judge": 0}
    main = system.run_deployment("monthly", host="host-1", month=MONTH)
    wait_until("both workers sit", lambda: all(system.list_holders("sit").values()))
    let_both_work(system, embedded, "exam", 1)
    session = f"http://127.0.0.1:{system.ports['exam']}/sessions/none"
    with away("PostgreSQL", postgresql.stop, postgresql.start):
        gate.left["exam"] = 4
        asked = time.monotonic()
        answer = httpx.get(session, headers={"Authorization": "Bearer x"}, timeout=30)
        print(f"the exam API answered {answer.status_code} after {time.monotonic() - asked:.1f} s")
        assert (answer.status_code, answer.headers.get("retry-after")) == (503, "2")
    check_said(system, "ledger")
    let_both_work(system, embedded, "exam", 4)

    with away("Prefect's server", system.prefect.kill, lambda: start_again(system, system.prefect)):
        gate.left["exam"] = 4
    let_both_work(system, embedded, "exam", 6)
    with away("the object store", store.stop, store.start):
        # The sessions end, and what they came to is landed.
        gate.left["exam"] = None
        wait_until("a landing waits", lambda: list_said(system, "object store"))
        time.sleep(ABSENT_S)
    check_said(system, "object store")

    wait_until("both workers judge", lambda: all(system.list_holders("judge").values()))
    let_both_work(system, embedded, "judge", 2)
    assert hook.told == []

    def find_helps(state: str) -> list[str]:
        with open_ledger(settings.ledger_address) as ledger:
            found = list_run_states(ledger, most=50)
        return [one.flow_run_id for one in found if (one.flow, one.state) == ("help", state)]

    (helping,) = find_helps("running")
    killed_at = time.time()
    with away(
        "a worker", system.workers["host-2"].kill, lambda: start_again(system, system.workers["host-2"])
    ):
        wait_until("the killed help is ended", lambda: helping in find_helps("crashed"))
        print(f"the help was ended {time.time() - killed_at:.0f} s after its kill")
        wait_until("the web hook is told", lambda: hook.told)
        print(f"the web hook was told {hook.told[0][0] - killed_at:.0f} s after the kill")
        gate.left["judge"] = 8
    gate.left["judge"] = None
    system.await_runs(main)
    check_said(system, "Prefect server")
    assert [(one["flow_run_id"], one["ending"]) for _, one in hook.told] == [(helping, "Crashed")]
    states = [one["state_type"] for one in system._post("/flow_runs/filter", {})]
    assert not set(states) & {"RUNNING", "PENDING"}, states
