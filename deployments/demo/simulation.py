"""Run the simulated models beside the demo, over real HTTP, with a key from the bank."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from deployments import model_server
from deployments.model_server import build_answer_key
from schemas.errors import ProctorError
from schemas.lazy import pl
from schemas.settings import Settings

START_TIMEOUT_S = 60.0
PROFILE: Final = Path(model_server.__file__).parent / "profiles" / "demo.yaml"


@contextmanager
def serving_models(settings: Settings, profile: Path = PROFILE) -> Iterator[None]:
    """Simulated models that know the present bank, where the registry looks for them."""
    from tasks.exam.month import read_current_bank
    from warehouse.lake import open_lake

    with open_lake(settings, read_only=True) as lake:
        bank = read_current_bank(lake)
    with running_models(settings, bank, profile) as url:
        before = os.environ.get("PROCTOR_SIMULATED_URL")
        os.environ["PROCTOR_SIMULATED_URL"] = url
        try:
            yield
        finally:
            if before is None:
                del os.environ["PROCTOR_SIMULATED_URL"]
            else:
                os.environ["PROCTOR_SIMULATED_URL"] = before


@contextmanager
def running_models(settings: Settings, bank: pl.DataFrame, profile: Path = PROFILE) -> Iterator[str]:
    """The base URL of a model server that knows `bank`; it is stopped at the end."""
    folder = settings.home / "demo"
    folder.mkdir(parents=True, exist_ok=True)
    key, ready = folder / "answer-key.jsonl", folder / "model-server.url"
    ready.unlink(missing_ok=True)
    descriptor = os.open(key, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(build_answer_key(bank))
    command = [
        sys.executable,
        "-m",
        "deployments.model_server",
        "--profile",
        str(profile),
        "--key",
        str(key),
        "--ready-file",
        str(ready),
    ]
    with (folder / "model-server.log").open("ab") as log:
        server = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
    try:
        deadline = time.monotonic() + START_TIMEOUT_S
        while not ready.exists():
            if server.poll() is not None or time.monotonic() > deadline:
                raise ProctorError(
                    f"The simulated model server did not start; see {folder / 'model-server.log'}, then run the demo again."
                )
            time.sleep(0.05)
        yield ready.read_text().strip()
    finally:
        server.terminate()
        server.wait(timeout=30)
        key.unlink(missing_ok=True)
