"""Numbers of what an installation stands on: stores, disks, workers, waiting work, backups.

Each is a bounded look: the runs that are open or not published yet, the processes whose lease lasts, the list of the lake's files. The
lake is looked at no more often than a twentieth of one core allows.
"""

from __future__ import annotations

import shutil
import threading
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Final

from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from schemas.errors import ProctorError
from schemas.settings import Settings

if TYPE_CHECKING:
    from warehouse.ledger.engine.ledger import Ledger

# Seconds for which a look at the lake serves at least, and how many times longer than it took.
_LEAST_S: Final = 60.0
_REST_FACTOR: Final = 20.0
# Runs that were planned before are published, or given up.
_LOOKED_BACK: Final = timedelta(days=62)


class StoreMetrics(Collector):
    """Numbers of stores, disks and workers, read when somebody asks for them.

    Args:
        settings: of the home.
        ledger: its ledger.
    """

    def __init__(self, settings: Settings, ledger: Ledger) -> None:
        self._settings = settings.model_copy(update={"store_wait_s": 0.0})
        self._ledger = ledger
        self._lock = threading.Lock()
        self._lake_metrics: list[Metric] = []
        self._serves_until = 0.0
        self._lake_s: float | None = None

    def collect(self) -> Iterator[Metric]:
        """Every family with what is found now."""
        with self._lock:
            if time.monotonic() >= self._serves_until:
                began = time.monotonic()
                self._lake_metrics = list(self._look_at_lake())
                ended = time.monotonic()
                self._serves_until = ended + max(_LEAST_S, _REST_FACTOR * (ended - began))
            yield from self._lake_metrics
            yield self._measure_latency()
        yield from self._collect_waiting()
        yield from _collect_disks(self._settings)
        yield from _collect_backups(self._settings)

    def _look_at_lake(self) -> Iterator[Metric]:
        from warehouse.lake.reading import LakeReader
        from warehouse.ledger.engine.integrity import measure_size

        unjudged = GaugeMetricFamily(
            "proctor_unjudged_answers",
            "Answers that landed, of a run that is not published, and that nobody has judged.",
            labels=("run",),
        )
        size = GaugeMetricFamily(
            "proctor_store_bytes", "Bytes of a store: the ledger, the files of the lake.", labels=("store",)
        )
        since = (datetime.now(UTC) - _LOOKED_BACK).isoformat()
        self._lake_s = None
        try:
            with LakeReader(self._settings) as lake:
                self._lake_s = lake.time_answer()
                for run_id, count in lake.read("unjudged_counts", {"planned_since": since}).rows:
                    unjudged.add_metric((str(run_id),), float(str(count)))
                size.add_metric(("lake",), lake.measure_files())
        except ProctorError:
            # A lake that is away or was never made: its numbers are not there, and an alert hears that.
            pass
        with self._ledger.read() as connection:
            size.add_metric(("ledger",), measure_size(connection))
        yield unjudged
        yield size

    def _measure_latency(self) -> Metric:
        from warehouse.ledger.engine.leases.processes import count_live_processes

        latency = GaugeMetricFamily(
            "proctor_store_seconds", "How long a store takes to answer the least question.", labels=("store",)
        )
        began = time.perf_counter()
        with self._ledger.read() as connection:
            count_live_processes(connection)
        latency.add_metric(("ledger",), time.perf_counter() - began)
        if self._lake_s is not None:
            latency.add_metric(("lake",), self._lake_s)
        return latency

    def _collect_waiting(self) -> Iterator[Metric]:
        from warehouse.ledger.engine.leases.processes import count_live_processes
        from warehouse.ledger.exam.progress import read_waiting_sessions

        with self._ledger.read() as connection:
            waiting = read_waiting_sessions(connection)
            alive = count_live_processes(connection)
        depth = GaugeMetricFamily(
            "proctor_sessions_waiting",
            "Sessions of open runs that nobody has opened yet; those of outside candidates are left out.",
            labels=("run",),
        )
        oldest = GaugeMetricFamily(
            "proctor_sessions_waiting_since_timestamp_seconds",
            "When the run was planned whose sessions wait.",
            labels=("run",),
        )
        for run_id, count, planned_at in waiting:
            depth.add_metric((run_id,), count)
            oldest.add_metric((run_id,), datetime.fromisoformat(planned_at).timestamp())
        yield depth
        yield oldest
        workers = GaugeMetricFamily(
            "proctor_processes_alive",
            "Processes at work, by their leases; workers that wait are none.",
            labels=("host",),
        )
        for host, count in sorted(alive.items()):
            workers.add_metric((host,), count)
        yield workers


def _collect_disks(settings: Settings) -> Iterator[Metric]:
    free = GaugeMetricFamily(
        "proctor_disk_free_bytes", "Free bytes of the disk of a place.", labels=("place",)
    )
    whole = GaugeMetricFamily("proctor_disk_bytes", "All bytes of that disk.", labels=("place",))
    places = {"home": settings.home, "archive": settings.archive_dir}
    if "://" not in settings.data_address:
        places["lake"] = Path(settings.data_address)
    if settings.backups is not None:
        places["backups"] = settings.backups
    for name, place in sorted(places.items()):
        try:
            usage = shutil.disk_usage(place)
        except OSError:
            continue
        free.add_metric((name,), usage.free)
        whole.add_metric((name,), usage.total)
    yield free
    yield whole


def _collect_backups(settings: Settings) -> Iterator[Metric]:
    from tasks.operations.backups import read_kept

    is_set = GaugeMetricFamily(
        "proctor_backups_scheduled",
        "1 where a folder of backups is set.",
        value=float(settings.backups is not None),
    )
    count = GaugeMetricFamily("proctor_backups_kept", "Whole backups in that folder.")
    newest = GaugeMetricFamily(
        "proctor_backup_newest_timestamp_seconds", "When the newest whole backup was begun; none without one."
    )
    tried = GaugeMetricFamily(
        "proctor_restore_check_good_timestamp_seconds",
        "When a try of a restore last found a backup good; none before.",
    )
    if settings.backups is not None:
        kept = read_kept(settings)
        count.add_metric((), len(kept.backups))
        if kept.backups:
            newest.add_metric((), kept.backups[0].begun_at.timestamp())
        if kept.tried is not None:
            tried.add_metric((), datetime.fromisoformat(kept.tried.checked_at).timestamp())
    yield from (is_set, count, newest, tried)
