"""What the doctor looks at on this machine: programs, disks, the clock and files.

That is programs and their versions, disks, the clock, the files of the home, and who may use those files.
"""

from __future__ import annotations

import importlib.util
import os
import platform
import shutil
import tempfile
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path
from typing import TYPE_CHECKING, Final

from deployments.doctor.findings import Findings, NoteFinding, name_some
from schemas.errors import ProctorError
from schemas.settings import Settings
from warehouse.stores.files import has_room

if TYPE_CHECKING:
    from warehouse.ledger.engine.leases.clock import ClockReading
    from warehouse.ledger.engine.ledger import Ledger

SHOWN_PACKAGES: Final = ("prefect", "duckdb", "polars", "great-expectations", "openai")
LEAST_FREE_BYTES: Final = 1_000_000_000
# Clocks that differ by more would close sessions early or refuse tokens.
MOST_SKEW: Final = timedelta(seconds=60)
_MAKE_ROOM: Final = (
    "make room: move exports, old backups and whatever is not Proctor's to another disk, and never delete a -wal or a file of lake/; "
    "proctor compact then removes old snapshots, and needs some room itself"
)


def examine_versions(note: Findings) -> None:
    """Versions of Python and of packages, and whether they go together."""
    note("Python", platform.python_version(), True)
    for package in SHOWN_PACKAGES:
        note(f"package {package}", version(package), True)
    wrong = list_wrong_versions()
    note(
        "packages that Proctor needs",
        "; ".join(wrong) or "all of versions that go together",
        not wrong,
        "install again what constraints.txt names: deployments/server/install-packages PYTHON EXTRA..., or make setup",
    )


def list_wrong_versions() -> list[str]:
    """Packages that are missing, or of a version that Proctor does not work with.

    What extras need is left out.
    """
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


def examine_helpers(settings: Settings, waiting: Mapping[str, int], note: Findings) -> None:
    """Check the programs that some papers or scores need.

    A missing program is wrong where papers wait for it, or where a setting names it.

    Args:
        settings: of the home.
        waiting: status of papers → how many have it.
        note: takes the findings.
    """
    from tasks.ingest import find_libreoffice

    named = os.environ.get("PROCTOR_SOFFICE")
    _examine_helper(
        "LibreOffice (for .doc, .rtf, .wps)",
        find_libreoffice(),
        f"PROCTOR_SOFFICE names {named}, which is not there" if named else None,
        waiting.get("needs_libreoffice", 0),
        "install libreoffice-writer (or let PROCTOR_SOFFICE name soffice), then proctor ingest the papers again",
        note,
    )
    # As `tasks.ingest.readers.ocr.is_ocr_installed`, which costs a tenth of a CPU second to import.
    has_ocr = all(importlib.util.find_spec(name) is not None for name in ("rapidocr", "onnxruntime", "cv2"))
    _examine_helper(
        "OCR (for scanned papers)",
        f"rapidocr {version('rapidocr')}" if has_ocr else None,
        None,
        waiting.get("needs_ocr", 0),
        "pip install 'proctor[ocr]' (in a checkout: '.[ocr]'), then proctor ingest the papers again",
        note,
    )
    _examine_embeddings(settings, note)


def _examine_helper(
    what: str, found: str | None, fault: str | None, waiting: int, fix: str, note: Findings
) -> None:
    if found is not None:
        note(what, found, True)
    elif fault is not None or waiting:
        papers = f"papers that wait for it: {waiting}" if waiting else ""
        note(what, "; ".join(filter(None, (fault or "not installed", papers))), False, fix)
    else:
        note.remark(what, "not installed; no paper waits for it", fix)


def _examine_embeddings(settings: Settings, note: Findings) -> None:
    what = "embedding model (for similarity and Gscore)"
    model = settings.similarity_model
    if not Path(model).is_dir() and not _is_in_cache(model):
        # Half a CPU second of imports would only say the same.
        note.remark(
            what,
            f"{model} is not on this machine: similarity and Gscore stay null",
            "fetch it once into the Hugging Face cache, or let PROCTOR_SIMILARITY_MODEL name a folder that holds it",
        )
        return
    from tasks.gscore import EmbeddingModelError, find_embedding_model

    try:
        note(what, find_embedding_model(model), True)
    except EmbeddingModelError as error:
        note.remark(what, error, "fetch it again")


def _is_in_cache(model: str) -> bool:
    """Whether Hugging Face's cache has a folder of a model's name.

    Only Hugging Face's own library knows what is in that folder.
    """
    home = os.environ.get("HF_HOME") or Path(os.environ.get("XDG_CACHE_HOME", "~/.cache")) / "huggingface"
    cache = os.environ.get("HF_HUB_CACHE") or os.environ.get("HUGGINGFACE_HUB_CACHE") or Path(home) / "hub"
    return (Path(cache).expanduser() / f"models--{model.replace('/', '--')}").exists()


def list_full_disks(settings: Settings) -> list[str]:
    """Folders that Proctor writes to whose disk takes nothing more."""
    return [str(folder) for folder, _ in list_disks(settings) if not has_room(folder)]


def examine_disks(settings: Settings, note: Findings) -> None:
    """Room on every disk that Proctor writes to, each named once."""
    for folder, what in list_disks(settings):
        free = shutil.disk_usage(folder).free
        is_full = not has_room(folder)
        note(
            what,
            f"{'full' if is_full else f'{free / 1e9:.1f} GB'} at {folder}",
            not is_full and free > LEAST_FREE_BYTES,
            _MAKE_ROOM,
        )


def list_disks(settings: Settings) -> list[tuple[Path, str]]:
    """A folder on every disk that Proctor writes to, each with what its free room is called."""
    from warehouse.stores.installation import catalog_file, ledger_file

    ledger, catalog = ledger_file(settings.ledger_address), catalog_file(settings.catalog_address)
    folders = [
        settings.home,
        *(file.path.parent for file in (ledger, catalog) if file is not None),
        *([] if "://" in settings.data_address else [Path(settings.data_address)]),
        settings.secrets_path,
        settings.archive_dir,
        settings.exam_pictures_dir,
        settings.public_dir,
    ]
    found: dict[int, tuple[Path, str]] = {}
    for folder in folders:
        if folder.exists():
            found.setdefault(folder.stat().st_dev, (folder, "free disk"))
    own = Path(tempfile.gettempdir())
    return [*found.values(), (own, "free disk for temporary files")]


def examine_home_folder(settings: Settings, note: NoteFinding) -> None:
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


def examine_modes(settings: Settings, note: NoteFinding) -> None:
    """Whether anything in the home may be read or changed by other users."""
    from deployments.home import list_lax_files

    lax = list_lax_files(settings.home)
    named = name_some([f"{path} ({path.lstat().st_mode & 0o777:o})" for path in lax])
    note(
        "files of the home",
        f"{len(lax)} are open to other users: {named}" if lax else "its owner's alone",
        not lax,
        f"chmod -R go= {settings.home}; replace the keys among them, others may have read them",
    )


def examine_clock(settings: Settings, ledger: Ledger, note: Findings) -> None:
    """Whether this host's clock can be relied on, and which spans nothing but it shows."""
    from warehouse.ledger.engine.leases.clock import LONGEST_WAIT_S, Time, measure_clock
    from warehouse.ledger.exam.deadlines import read_oldest_planning

    found = measure_clock(ledger)
    fault = _find_clock_fault(settings, found)
    if fault is not None:
        note(
            "clock",
            fault,
            False,
            "set the clock by a time service (chrony, systemd-timesyncd) on every host; until then let nobody sit: deadlines follow it",
        )
        return
    text = f"{datetime.now(UTC):%Y-%m-%d %H:%M:%S} UTC, not behind what was written"
    if not found.doubts:
        note("clock", text, True)
        return
    spans = [f"{doubt.seconds / 3_600:.1f} hours before {_show(doubt.found_at)}" for doubt in found.doubts]
    text = f"{text}; nothing but the clock shows that these passed: {name_some(spans)}"
    with ledger.read() as connection:
        planned_at = read_oldest_planning(connection)
    doubt_s = (
        0.0
        if planned_at is None
        else found.database - Time(found.database, found.doubts).find_least(planned_at)
    )
    if doubt_s > LONGEST_WAIT_S:
        fix = "where the clock is right, proctor clock --confirm; until then deadlines of open runs are not decided"
        note("clock", text, False, fix)
    else:
        note.remark("clock", text, "where the clock is right, proctor clock --confirm")


def _show(moment: float | None) -> str:
    return "now" if moment is None else f"{datetime.fromtimestamp(moment, UTC):%Y-%m-%d %H:%M} UTC"


def _find_clock_fault(settings: Settings, found: ClockReading) -> str | None:
    """Why the clock cannot be right; None where it can be.

    This is judged by the ledger (`measure_clock`) or by the files of the home.
    """
    if found.problem is not None:
        return found.problem
    later_s = -(found.ahead_of_last_s or 0.0)
    if later_s > MOST_SKEW.total_seconds():
        return (
            f"{later_s:.0f} s behind what was written last, in the ledger: a process wrote with another clock"
        )
    newest = max(_list_times(settings), default=None)
    behind_s = 0.0 if newest is None else newest[0] - found.host
    if newest is not None and behind_s > MOST_SKEW.total_seconds():
        return f"{behind_s:.0f} s behind the time of a file, {newest[1]}"
    return None


def _list_times(settings: Settings) -> Iterable[tuple[float, str]]:
    """When the files that every command writes to were written last."""
    from tasks.exam.log import name_heads_file
    from tasks.exam.public.log import name_log_file
    from warehouse.stores.installation import catalog_file, exam_file, ledger_file

    address = settings.ledger_address
    stores = (ledger_file(address), exam_file(address), catalog_file(settings.catalog_address))
    paths = [
        Path(f"{file.path}{end}") for file in stores if file is not None for end in ("", "-wal", "-mark")
    ]
    for path in (*paths, name_heads_file(settings), name_log_file(settings)):
        if path.exists():
            yield path.stat().st_mtime, str(path)


def examine_models(settings: Settings, note: NoteFinding) -> None:
    """Whether the registry can be read and its models called.

    This is checked as far as can be seen without a call.
    """
    from tasks.ingest import list_readers, read_assist_model
    from tasks.models.registry import read_registry

    reader = settings.choose_reader(None)
    try:
        registry = read_registry(settings.registry_path)
        # Those that settings name are models of it.
        for name in (*settings.judges, settings.reference_model):
            if name:
                registry.get(name)
        if reader and reader not in [model.name for model in list_readers(settings)]:
            read_assist_model(settings, reader)  # Its refusal says why.
    except ProctorError as error:
        note("models", error, False, f"correct {settings.registry_path}, or the setting that names a model")
        return
    models = registry.models.values()
    keyless = sorted({f"{model.key_variable} (for {model.name})" for model in models if not model.has_key})
    note(
        "models",
        f"variables that are not set here: {', '.join(keyless)}"
        if keyless
        else f"{len(models)} registered, every key that they need is set; proctor models check asks them",
        not keyless,
        "set them where flows run, and restart the worker",
    )
