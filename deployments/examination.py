"""What `proctor doctor` looks at besides the stores' contents: programs, clock, Prefect, models, schedules. Each finding with its remedy."""

from __future__ import annotations

import os
import platform
import shutil
import tempfile
from datetime import UTC, datetime, timedelta
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path
from typing import TYPE_CHECKING, Final, Protocol

from schemas.errors import ProctorError
from schemas.settings import Settings

if TYPE_CHECKING:
    from warehouse.lake.store import Lake
    from warehouse.ledger.engine import Ledger

SHOWN_PACKAGES: Final = ("prefect", "duckdb", "polars", "great-expectations", "openai")
LEAST_FREE_BYTES: Final = 1_000_000_000
# Clocks that differ by more would close sessions early or refuse tokens.
MOST_SKEW: Final = timedelta(seconds=60)


class Note(Protocol):
    """Takes a finding: what was looked at, what was found, whether it is fine, and what mends it otherwise."""

    def __call__(self, what: str, found: object, is_fine: bool, fix: str = "") -> None:
        """Take one finding."""


def examine_programs(settings: Settings, note: Note) -> None:
    """Versions, helpers that papers or scores need, room on the disks. A helper that is missing is said, and is no fault."""
    from tasks.gscore.metrics.similarity import EmbeddingModelError, find_embedding_model
    from tasks.ingest.readers.ocr import is_ocr_installed
    from tasks.ingest.readers.office import find_libreoffice

    note("Python", platform.python_version(), True)
    for package in SHOWN_PACKAGES:
        note(f"package {package}", version(package), True)
    wrong = list_wrong_versions()
    note(
        "packages that Proctor needs",
        "; ".join(wrong) or "all of versions that go together",
        not wrong,
        "install again with the pins: uv pip install -c constraints.txt -e .",
    )
    note(
        "LibreOffice (for .doc, .rtf, .wps)",
        find_libreoffice()
        or "not installed: such papers wait as needs_libreoffice (install libreoffice-writer)",
        True,
    )
    note(
        "OCR (for scanned papers)",
        f"rapidocr {version('rapidocr')}"
        if is_ocr_installed()
        else "not installed: scanned pages wait as needs_ocr (uv pip install -e '.[ocr]')",
        True,
    )
    try:
        embeddings = find_embedding_model(settings.similarity_model)
    except EmbeddingModelError as error:
        embeddings = str(error)
    note("embedding model (for similarity and Gscore)", embeddings, True)
    for what, folder in (
        ("free disk", settings.home),
        ("free disk for temporary files", Path(tempfile.gettempdir())),
    ):
        free = shutil.disk_usage(folder if folder.exists() else Path()).free
        note(
            what,
            f"{free / 1e9:.1f} GB at {folder}",
            free > LEAST_FREE_BYTES,
            "make room; proctor compact removes old snapshots",
        )


def list_wrong_versions() -> list[str]:
    """Packages that are missing, or of a version that Proctor does not go with; what extras need is left out."""
    from packaging.requirements import Requirement

    wrong = []
    for text in requires("proctor") or ():
        needed = Requirement(text)
        if needed.marker is not None and not needed.marker.evaluate({"extra": ""}):
            continue
        try:
            found = version(needed.name)
        except PackageNotFoundError:
            wrong.append(f"{needed.name} is missing")
            continue
        if not needed.specifier.contains(found, prereleases=True):
            wrong.append(f"{needed.name} {found} instead of {needed.specifier}")
    return wrong


def examine_home_folder(settings: Settings, note: Note) -> None:
    """Whether this account can write where it must."""
    folders = [settings.home, settings.secrets_path, settings.archive_dir]
    if not settings.data_address.startswith("s3://"):
        folders.append(Path(settings.data_address))
    closed = [str(one) for one in folders if one.exists() and not os.access(one, os.R_OK | os.W_OK | os.X_OK)]
    note(
        "folders of the home",
        f"not to be written by this account: {', '.join(closed)}"
        if closed
        else "to be written by this account",
        not closed,
        "run Proctor as their owner, or chown them",
    )


def examine_clock(ledger: Ledger, note: Note) -> None:
    """Whether this host's clock agrees with the database server's, and was not put back."""
    from warehouse.ledger.clock import read_last_moment, read_server_moment

    now = datetime.now(UTC)
    server, last = read_server_moment(ledger), read_last_moment(ledger)
    fix = "set the clock by a time service (chrony, systemd-timesyncd) on every host"
    if server is not None and abs(server - now) > MOST_SKEW:
        note("clock", f"{abs(server - now).total_seconds():.0f} s from the database server's", False, fix)
    elif last is not None and last - now > MOST_SKEW:
        note("clock", f"{(last - now).total_seconds():.0f} s behind what was written last", False, fix)
    else:
        note("clock", f"{now:%Y-%m-%d %H:%M:%S} UTC, not behind what was written", True)


def examine_models(settings: Settings, note: Note) -> None:
    """Whether the registry can be read and its models called, as far as can be seen without a call."""
    from tasks.models.registry import read_registry

    try:
        registry = read_registry(settings.registry_path)
    except ProctorError as error:
        note("models", error, False, f"correct {settings.registry_path}")
        return
    models = registry.models.values()
    keyless = sorted(
        {
            f"{model.key_variable} (for {model.name})"
            for model in models
            if model.key_variable is not None and not os.environ.get(model.key_variable)
        }
    )
    note(
        "models",
        f"variables that are not set here: {', '.join(keyless)}"
        if keyless
        else f"{len(models)} registered, every key that they need is set; proctor models check asks them",
        not keyless,
        "set them where flows run, and restart the worker",
    )


def examine_prefect(settings: Settings, ledger: Ledger, note: Note) -> None:
    """Whether server and worker are well, and what is scheduled can run within a budget."""
    from deployments.local_server import has_worker, is_healthy, read_state
    from warehouse.ledger.flow_runs import list_flow_schedules

    with ledger.read() as connection:
        schedules = list_flow_schedules(connection)
    named = os.environ.get("PREFECT_API_URL")
    state = read_state(settings)
    if state is not None:
        is_well = is_healthy(state)
        note(
            "Prefect server",
            f"answers at {state.api_url}" if is_well else f"does not answer at {state.api_url}",
            is_well,
            "proctor down, then proctor up",
        )
    elif named:
        note("Prefect server", f"{named}, as PREFECT_API_URL says", True)
    else:
        note(
            "Prefect server",
            f"none runs: {len(schedules)} scheduled deployments wait"
            if schedules
            else "none runs; commands start one",
            not schedules,
            "proctor up",
        )
    if state is not None and schedules:
        works = has_worker(state)
        note(
            "worker",
            "runs" if works else f"none runs: {len(schedules)} deployments wait",
            works,
            "proctor up",
        )
    if schedules:
        note(
            "budget of scheduled runs",
            "none is set: they are refused"
            if settings.budget_usd is None
            else f"${settings.budget_usd:.2f} a run",
            settings.budget_usd is not None,
            "set PROCTOR_BUDGET_USD for the worker",
        )
        told = len(settings.notify)
        note("told of failed runs", f"{told} (PROCTOR_NOTIFY)" if told else "nobody (PROCTOR_NOTIFY)", True)


def examine_cluster(settings: Settings, note: Note) -> None:
    """Whether the Dask cluster that the settings name has workers, and whether they run this code; nothing where they name none."""
    from tasks.spreading import connect, describe_code

    if not settings.dask:
        return
    fix = f"dask scheduler, and on each host dask worker {settings.dask}; or leave PROCTOR_DASK empty"
    try:
        client = connect(settings.dask, patience_s=5)
    except ProctorError as error:
        note("Dask", error, False, fix)
        return
    try:
        threads = client.nthreads()
        asked = [client.submit(describe_code, workers=[worker], pure=False) for worker in threads]
        others = 0
        for answer in asked:
            try:
                others += answer.result(timeout=10) != describe_code()
            except Exception:
                # One that hangs or cannot even read the question is no worker for this code.
                others += 1
    finally:
        client.close()
    found = f"{len(threads)} workers with {sum(threads.values())} threads at {settings.dask}"
    if others:
        found += f"; {others} of them run other code than this, or do not answer"
        fix = "start them again from this version of Proctor"
    note("Dask", found, bool(threads) and not others, fix)


def examine_schedules(ledger: Ledger, note: Note) -> None:
    """Scheduled runs that did not happen, one finding each."""
    from tasks.flow_runs.missed import find_missed_runs

    missed = find_missed_runs(ledger)
    for one in missed:
        note(f"schedule of {one.deployment}", one.describe(), False, one.remedy)
    if not missed:
        note("schedules", "every run that was due happened", True)


def examine_retention(settings: Settings, ledger: Ledger, lake: Lake, note: Note) -> None:
    """How long texts of answers are kept, what is due, and whether an erasure was interrupted."""
    from tasks.erasure.scope import list_due
    from warehouse.ledger.erasures import list_erasures

    with ledger.read() as connection:
        unfinished = list_erasures(connection, is_unfinished=True)
    if unfinished:
        note(
            "texts of answers",
            f"{len(unfinished)} erasures are not finished: files may still hold what was erased",
            False,
            "proctor erase --again --yes --as ADMIN",
        )
        return
    if settings.keep_raw_months is None:
        note("texts of answers", "kept for ever (PROCTOR_KEEP_RAW_MONTHS)", True)
        return
    due = len(list_due(ledger, lake, settings))
    note(
        "texts of answers",
        f"kept for {settings.keep_raw_months} months; "
        + (f"{due} runs are due (proctor erase --policy)" if due else "none is due"),
        True,
    )
