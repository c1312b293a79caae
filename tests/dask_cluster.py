"""A Dask cluster of the test's own on 127.0.0.1.

It has a scheduler and workers, each a process started as the docs start them.
"""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import psutil

ROOT = Path(__file__).parents[1]
_START_S = 60


@dataclass
class DaskCluster:
    """A running cluster.

    Attributes:
        address: of the scheduler, as PROCTOR_DASK names it.
        logs: what scheduler and workers printed, a file each.
        workers: their processes.
    """

    address: str
    logs: Path
    workers: list[subprocess.Popen[bytes]] = field(default_factory=list)

    def add_worker(self, root: Path = ROOT) -> subprocess.Popen[bytes]:
        """Start a worker with one thread that computes with the code in `root`."""
        number = len(self.workers)
        worker = _start(
            [
                "worker",
                self.address,
                *("--nthreads", "1", "--no-dashboard", "--name", f"worker-{number}"),
                *("--local-directory", str(self.logs / f"spill-{number}")),
            ],
            self.logs / f"worker-{number}.log",
            root,
        )
        self.workers.append(worker)
        return worker

    def await_workers(self, count: int) -> None:
        """Return when so many workers have reported to the scheduler."""
        from distributed import Client

        with Client(self.address, set_as_default=False) as client:
            client.wait_for_workers(count, timeout=_START_S)

    def read_logs(self) -> str:
        """Everything that scheduler and workers have printed."""
        return "\n".join(path.read_text("utf-8", "replace") for path in sorted(self.logs.glob("*.log")))


@contextlib.contextmanager
def start_dask_cluster(folder: Path, workers: int = 2) -> Iterator[DaskCluster]:
    """A scheduler and so many workers; ended with the block."""
    folder.mkdir(parents=True, exist_ok=True)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    scheduler = _start(
        ["scheduler", "--host", "127.0.0.1", "--port", str(port), "--no-dashboard"],
        folder / "scheduler.log",
        ROOT,
    )
    cluster = DaskCluster(f"tcp://127.0.0.1:{port}", folder)
    try:
        for _ in range(workers):
            cluster.add_worker()
        cluster.await_workers(workers)
        yield cluster
    finally:
        for process in (*cluster.workers, scheduler):
            end(process)


def end(process: subprocess.Popen[bytes], *, at_once: bool = False) -> None:
    """End a process with its children (a worker has a nanny); `at_once` as `kill -9` does."""
    with contextlib.suppress(psutil.NoSuchProcess):
        parent = psutil.Process(process.pid)
        family = [*parent.children(recursive=True), parent]
        for member in family if at_once else [parent]:
            with contextlib.suppress(psutil.NoSuchProcess):
                member.kill() if at_once else member.terminate()
        _, alive = psutil.wait_procs(family, timeout=10)
        for member in alive:
            with contextlib.suppress(psutil.NoSuchProcess):
                member.kill()
    process.wait()


def _start(arguments: Sequence[str], log: Path, root: Path) -> subprocess.Popen[bytes]:
    # As on another host: nothing of the installation is in its environment.
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PROCTOR_")}
    deadline = time.monotonic() + _START_S
    with log.open("wb") as stream:
        process = subprocess.Popen(
            [sys.executable, "-m", "dask", *arguments],
            cwd=root,
            env=environment | {"PYTHONPATH": str(root)},
            stdout=stream,
            stderr=subprocess.STDOUT,
        )
    while b"Scheduler at:" not in log.read_bytes() and arguments[0] == "scheduler":
        if process.poll() is not None or time.monotonic() > deadline:
            raise RuntimeError(log.read_text("utf-8", "replace"))
        time.sleep(0.05)
    return process
