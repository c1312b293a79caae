"""Numbers of runs for Prometheus, as the ledger has them: printed, written or served.

They hold no name of a person, no address and no content. They are served on a port of their own, never on that of the exam API or the web
desk: a proxy before these cannot let a stranger read them.
"""

from __future__ import annotations

import hmac
import threading
import time
from collections.abc import Iterator
from datetime import datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from prometheus_client import (
    CONTENT_TYPE_LATEST,
    CollectorRegistry,
    generate_latest,
)
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from deployments.http.listening import is_loopback
from deployments.http.store_metrics import StoreMetrics
from schemas.errors import UsageError
from schemas.settings import Settings
from warehouse.stores.whole_files import SHARED, writing_whole

if TYPE_CHECKING:
    from warehouse.ledger.engine.ledger import Ledger


PATH: Final = "/metrics"
METRICS_HOST: Final = "127.0.0.1"


class RunMetrics(Collector):
    """Numbers of flow runs, open runs of the exam and missed runs, read when asked for."""

    def __init__(self, ledger: Ledger) -> None:
        from deployments.flow_runs import read_deployments

        self._ledger = ledger
        self._flows = sorted({deployment.flow for deployment in read_deployments()})

    def collect(self) -> Iterator[Metric]:
        """Every family with what the ledger says now."""
        from tasks.running.flow_runs.record import find_missed_runs, is_lost, select_unmade
        from warehouse.ledger.engine.runs.flow_runs import (
            BAD_ENDS,
            count_flow_runs,
            list_last_ends,
            list_unended_runs,
        )
        from warehouse.ledger.money.paces import read_pauses

        began = time.perf_counter()
        with self._ledger.read() as connection:
            counts = count_flow_runs(connection)
            ends = list_last_ends(connection)
            lost = [run.flow for run in list_unended_runs(connection) if is_lost(connection, run)]
            pauses = read_pauses(connection).read()
        yield GaugeMetricFamily(
            "proctor_ledger_read_seconds",
            "How long the ledger took to say all of this.",
            value=time.perf_counter() - began,
        )
        runs = CounterMetricFamily("proctor_flow_runs", "Runs of flows.", labels=("flow", "state"))
        # From 0 on: of a count that begins with 1 Prometheus hears of no increase, and no alert of a flow's first failure.
        begun = dict.fromkeys(product(self._flows, BAD_ENDS), 0)
        for (flow, state), count in (begun | {(flow, state): count for flow, state, count in counts}).items():
            runs.add_metric((flow, state), count)
        yield runs
        gone = GaugeMetricFamily(
            "proctor_flow_runs_lost", "Runs whose process is gone; none where all live.", labels=("flow",)
        )
        for flow in sorted(set(lost)):
            gone.add_metric((flow,), lost.count(flow))
        yield gone
        paused = GaugeMetricFamily(
            "proctor_provider_pause_seconds",
            "How long nobody sends to a provider that has said 429; none where all may.",
            labels=("provider",),
        )
        for provider, seconds in sorted(pauses.items()):
            paused.add_metric((provider,), seconds)
        yield paused
        last = GaugeMetricFamily(
            "proctor_flow_last_completed_timestamp_seconds",
            "When a run of the flow completed last.",
            labels=("flow",),
        )
        for flow, ended in ends:
            last.add_metric((flow,), datetime.fromisoformat(ended).timestamp())
        yield last
        missed = GaugeMetricFamily(
            "proctor_missed_run_due_timestamp_seconds",
            "When a scheduled run was due that did not happen; none where all did.",
            labels=("deployment",),
        )
        counts_missed = GaugeMetricFamily(
            "proctor_missed_runs",
            "Times within a week (months: two years) at which a deployment was due and did not run, made up for or not.",
            labels=("deployment",),
        )
        # Each month that passed without its run is one of its own.
        found = find_missed_runs(self._ledger)
        for name in dict.fromkeys(one.deployment for one in found):
            own = [one for one in found if one.deployment == name]
            counts_missed.add_metric((name,), sum(one.count for one in own))
            if unmade := select_unmade(own):
                missed.add_metric((name,), unmade[-1].due_at.timestamp())
        yield missed
        yield counts_missed
        yield from self._collect_open_runs()

    def _collect_open_runs(self) -> Iterator[Metric]:
        from tasks.exam import list_runs_under_way, read_run_progress
        from warehouse.ledger.money.budgets import read_limit

        label = ("run", "candidate")
        total = GaugeMetricFamily("proctor_run_questions", "Questions of an open run.", labels=label)
        done = GaugeMetricFamily("proctor_run_questions_done", "Of these, done.", labels=label)
        pace = GaugeMetricFamily("proctor_run_answers_per_minute", "Answers a minute of late.", labels=label)
        cost = GaugeMetricFamily("proctor_run_cost_usd", "What its answers have cost.", labels=label)
        failed = GaugeMetricFamily("proctor_run_failed_calls", "Calls that failed for good.", labels=label)
        left = GaugeMetricFamily(
            "proctor_run_budget_left_usd",
            "What an open run may still spend; none without a limit.",
            labels=("run",),
        )
        for run_id in list_runs_under_way(self._ledger):
            progress = read_run_progress(self._ledger, run_id)
            with self._ledger.read() as connection:
                limit_usd = read_limit(connection, run_id)
            if limit_usd is not None:
                left.add_metric((run_id,), limit_usd - (progress.cost_usd or 0.0))
            for one in progress.candidates:
                names = (run_id, one.model)
                total.add_metric(names, one.total)
                done.add_metric(names, one.done)
                pace.add_metric(names, one.per_minute)
                failed.add_metric(names, sum(one.failed_calls.values()))
                if one.cost_usd is not None:
                    cost.add_metric(names, one.cost_usd)
        yield from (total, done, pace, cost, failed, left)


def register_run_metrics(settings: Settings, ledger: Ledger) -> CollectorRegistry:
    """A registry with the numbers of runs, and of what they stand on."""
    registry = CollectorRegistry(auto_describe=False)
    registry.register(RunMetrics(ledger))
    registry.register(StoreMetrics(settings, ledger))
    return registry


def render_run_metrics(settings: Settings, ledger: Ledger) -> str:
    """The numbers of runs as Prometheus reads them."""
    return generate_latest(register_run_metrics(settings, ledger)).decode()


def list_run_metrics(settings: Settings, ledger: Ledger) -> list[dict[str, Any]]:
    """The same as records: name, labels, value."""
    return [
        {"name": sample.name, "labels": sample.labels, "value": sample.value}
        for family in register_run_metrics(settings, ledger).collect()
        for sample in family.samples
    ]


def serve_run_metrics(settings: Settings, ledger: Ledger, host: str, port: int) -> None:
    """Serve the numbers of runs until interrupted; raises UsageError as `open_metrics_server`."""
    server = open_metrics_server(settings, register_run_metrics(settings, ledger), host, port)
    try:
        while True:
            time.sleep(3600)
    finally:
        server.shutdown()
        server.server_close()


def write_run_metrics(settings: Settings, ledger: Ledger, path: Path) -> None:
    """Write the numbers of runs, whole or not at all, for node exporter's textfile collector."""
    with writing_whole(path, SHARED) as draft:
        draft.write_text(render_run_metrics(settings, ledger), encoding="utf-8")


def open_metrics_server(
    settings: Settings, registry: CollectorRegistry, host: str, port: int
) -> ThreadingHTTPServer:
    """A server of `/metrics` that answers from a thread of its own until it is shut down.

    Without a token (PROCTOR_METRICS_TOKEN) it listens on this host alone. Raises UsageError for another address without one, and for one
    that is taken.
    """
    token = None if settings.metrics_token is None else settings.metrics_token.get_secret_value()
    if token is None and not is_loopback(host):
        raise UsageError(
            f"Metrics on {host} would be open to everybody. Set PROCTOR_METRICS_TOKEN, or leave them on 127.0.0.1."
        )
    try:
        server = ThreadingHTTPServer((host, port), _make_handler(registry, token))
    except OSError as error:
        raise UsageError(
            f"Metrics cannot be served on {host}, port {port} ({error.strerror}). Name another port."
        ) from None
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, name="metrics", daemon=True).start()
    return server


def _make_handler(registry: CollectorRegistry, token: str | None) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        server_version, sys_version = "proctor", ""
        timeout = 10

        def do_GET(self) -> None:
            shown = self.headers.get("Authorization", "")
            if token is not None and not hmac.compare_digest(shown.encode(), f"Bearer {token}".encode()):
                self._answer(401, b"", "text/plain")
            elif self.path != PATH:
                self._answer(404, b"", "text/plain")
            else:
                self._answer(200, generate_latest(registry), CONTENT_TYPE_LATEST)

        def _answer(self, status: int, body: bytes, kind: str) -> None:
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.send_header("Cache-Control", "no-store")
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: Any) -> None:
            """Nothing: what is asked every few seconds fills no log."""

    return Handler
