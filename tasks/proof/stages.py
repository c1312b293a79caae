"""Whether each stage's rows, landings and files are as closed, the same in both stores."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from schemas import patterns as re
from schemas.settings import Settings
from tasks.exam.closed import find_changed_sessions
from tasks.exam.log import LogFinding
from tasks.ingest.originals import find_archived
from tasks.models.registry import REGISTRY_UNIT, read_registry_rows
from tasks.questions.pictures import name_picture
from tasks.running.archives import read_whole
from warehouse.lake import Lake
from warehouse.lake.upkeep import check_landings
from warehouse.ledger.engine.ledger import Connection, Ledger
from warehouse.ledger.engine.logs import stages
from warehouse.ledger.engine.logs.stages import ChangedUnit, StageRow, close_rows
from warehouse.ledger.engine.tables import llm_calls
from warehouse.ledger.exam.archives import find_session
from warehouse.ledger.trust.sealed_state import list_sessions
from warehouse.stores.whole_files import DRAFT, hash_file

_SHOWN: Final = 3
# What a landing is called that was closed and did not come: a kill between the two is the likely cause.
UNLANDED: Final = frozenset({"landing_missing", "landing_outdated"})
# What a person who did it is told; nobody else could know.
_EDITED: Final = {
    "registry": "it was edited by hand since a model was called; the next run closes it as it is",
    "report": "its files were edited since they were written; `proctor report` writes them again",
}


@dataclass(frozen=True)
class StageReport:
    """What the check of the stages found.

    Attributes:
        unit_count: units that an entry of the log closes.
        original_count: originals that the archive must have.
        picture_count: pictures of questions that it must have.
        findings: what is not as it was closed.
    """

    unit_count: int
    original_count: int
    picture_count: int
    findings: tuple[LogFinding, ...]


REPORT: Final = "reports"
_MOMENT: Final = re.compile(rb": [0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2} UTC</p>")


def check_stages(
    ledger: Ledger,
    lake: Lake | None,
    settings: Settings,
    step: Callable[[int], None] = lambda _: None,
    *,
    with_rows: bool = True,
    passed: AbstractSet[str] = frozenset(),
    is_file_known: Callable[[Path, str], bool] = lambda _path, _digest: False,
) -> StageReport:
    """Compare every unit of every stage with what closed it.

    Ledger and lake are compared where both hold a thing. `step` is told the rows looked at. Without `with_rows` rows of the lake
    are not hashed, and sessions not compared: whoever asks so does both elsewhere. Calls about sessions `passed` are not read, nor files of the
    archive that `is_file_known` to have the digest that they must have. A home whose stages were never closed, made by an earlier
    version, has no unit yet.
    """
    findings: list[LogFinding] = []

    def is_intact(path: Path, digest: str) -> bool:
        return is_file_known(path, digest) or hash_file(path) == digest

    def is_passed(unit: str) -> bool:
        return find_session(unit, passed) is not None

    with _read_calls(ledger, lake, passed) as connection:
        if not stages.has_begun(connection):
            return StageReport(0, 0, 0, ())
        findings += [_tell(unit) for unit in stages.find_changed_units(connection, is_passed)]
        findings += _check_files(connection, settings)
        closed = len(stages.read_entries(connection, stages.CLOSE))
        landed = stages.read_entries(connection, stages.LAND)
    originals = pictures = 0
    if lake is None and landed:
        findings.append(
            LogFinding(
                "lake_missing",
                "the lake",
                f"{len(landed)} landings are closed in the log, and there is no catalog",
            )
        )
    if lake is not None:
        if with_rows:
            findings += _check_rows(lake, step)
        findings += _check_landings(lake, landed)
        originals, damaged = _check_originals(lake, settings, is_intact)
        findings += damaged
        pictures, damaged = _check_pictures(lake, settings, is_intact)
        findings += damaged
        if with_rows:
            findings += [
                LogFinding("stores_differ", name, "the ledger says something else than when it was landed")
                for name in find_changed_sessions(ledger, lake, step)
            ]
        findings += _compare_stores(ledger, lake, passed)
    return StageReport(closed + len(landed), originals, pictures, tuple(findings))


def _tell(unit: ChangedUnit) -> LogFinding:
    where = f"{unit.stage} {unit.unit}"
    if not unit.is_closed:
        return LogFinding(
            "stage_added",
            where,
            f"no entry closes it, and it has {unit.added} rows, the first {unit.first_key}",
        )
    parts = [
        f"{count} {word}"
        for count, word in ((unit.changed, "are others"), (unit.missing, "are gone"), (unit.added, "are new"))
        if count
    ]
    first = f", the first {unit.first_key}" if unit.first_key else ""
    return LogFinding(
        "stage_changed", where, f"of its rows {' and '.join(parts) or 'some are others'}{first}"
    )


def _check_files(connection: Connection, settings: Settings) -> Iterator[LogFinding]:
    entries = stages.read_entries(connection, stages.CLOSE)
    folder = settings.home / REPORT
    kept: tuple[tuple[str, str, Path, Callable[[Path], Iterable[StageRow]]], ...] = (
        ("registry", REGISTRY_UNIT, settings.registry_path, read_registry_rows),
        ("report", REPORT, folder, read_report_rows),
    )
    for stage, unit, path, read in kept:
        entry = entries.get(f"{stage}/{unit}")
        if entry is None:
            continue
        if not path.exists():
            # A report can be written again at any time, and a copy of a home has none.
            if stage == "registry":
                yield LogFinding(
                    "registry_missing",
                    path.name,
                    "the file that models were called from is gone",
                )
            continue
        found = stages.compare_unit(connection, stages.STAGES[stage], unit, list(read(path)), entry)
        if found is not None:
            told = _tell(found)
            yield told._replace(name=f"{stage}_changed", reason=f"{told.reason}: {_EDITED[stage]}")


def _check_rows(lake: Lake, step: Callable[[int], None]) -> Iterator[LogFinding]:
    integrity = check_landings(lake, step)
    for name in integrity.changed:
        yield LogFinding("landing_changed", name, "its rows are not those that `landings` says were landed")
    for table, refusal in integrity.unreadable.items():
        yield LogFinding("landing_unreadable", table, refusal)


def _check_landings(lake: Lake, closed: dict[str, stages.UnitEntry]) -> Iterator[LogFinding]:
    """What `landings` says, by the log."""
    waiting = dict(closed)
    for name, row_count, rows_hash in lake.read("landings_to_prove").iter_rows():
        entry = waiting.pop(stages.name_landed(name), None)
        if entry is None:
            yield LogFinding("landing_added", name, f"no entry closes it, and it has {row_count} rows")
        elif rows_hash == entry.digest:
            continue
        elif rows_hash in entry.earlier:
            yield LogFinding(
                "landing_outdated",
                name,
                f"it is as it was before entry {entry.number}: an older lake was put in place, or its work was killed; do that again",
                entry.number,
            )
        else:
            yield LogFinding(
                "landing_replaced",
                name,
                f"its {row_count} rows are not those of entry {entry.number}",
                entry.number,
            )
    for name, entry in waiting.items():
        yield LogFinding(
            "landing_missing",
            name,
            "it is not in the lake: it was deleted, or its work was killed before it landed; do that again",
            entry.number,
        )


def _check_originals(
    lake: Lake, settings: Settings, is_intact: Callable[[Path, str], bool]
) -> tuple[int, list[LogFinding]]:
    """Whether every original is what its name says, and its text what was read of it."""
    findings: list[LogFinding] = []
    count = 0
    for sha256, document_name, text_sha256 in lake.read("originals_to_prove").iter_rows():
        count += 1
        path = find_archived(settings.archive_dir, sha256)
        if path is None:
            findings.append(
                LogFinding("original_missing", document_name, f"the archive has no file {sha256[:12]}…")
            )
            continue
        if not is_intact(path, sha256):
            findings.append(
                LogFinding(
                    "original_changed", document_name, f"{path.name} has other bytes than its name says"
                )
            )
        text = path.parent / f"{sha256}.txt"
        if text_sha256 is not None and not (text.exists() and is_intact(text, text_sha256)):
            findings.append(
                LogFinding("text_changed", document_name, f"{text.name} is not the text that was read of it")
            )
    return count, findings


def _check_pictures(
    lake: Lake, settings: Settings, is_intact: Callable[[Path, str], bool]
) -> tuple[int, list[LogFinding]]:
    """Whether every picture of a question is what its name says."""
    findings: list[LogFinding] = []
    count = 0
    for sha256, document_name in lake.read("pictures_to_prove").iter_rows():
        count += 1
        path = name_picture(settings.archive_dir, sha256)
        if not path.exists():
            findings.append(
                LogFinding("picture_missing", document_name, f"the archive has no picture {sha256[:12]}…")
            )
        elif not is_intact(path, sha256):
            findings.append(
                LogFinding(
                    "picture_changed", document_name, f"{path.name} has other bytes than its name says"
                )
            )
    return count, findings


def _read_calls(
    ledger: Ledger, lake: Lake | None, passed: AbstractSet[str]
) -> AbstractContextManager[Connection]:
    """A connection that sees all calls; of sessions `passed` only those still in the ledger."""
    wanted = None
    if passed:
        with ledger.read() as connection:
            wanted = [row.session_id for row in list_sessions(connection) if row.session_id not in passed]
    return read_whole(ledger, lake, session_ids=wanted, tables=(llm_calls,))


def _compare_stores(ledger: Ledger, lake: Lake, passed: AbstractSet[str]) -> Iterator[LogFinding]:
    """What ledger and lake both hold: decisions, and what calls cost."""
    with _read_calls(ledger, lake, passed) as connection:
        decided, paid = stages.read_decisions(connection), stages.read_call_sums(connection)
    landed = {tuple(row[:3]): row[3] for row in lake.read("decisions_to_prove").iter_rows()}
    others = [" ".join(key) for key, decision in landed.items() if decided.get(key) != decision]
    if others:
        yield LogFinding(
            "stores_differ",
            "reviews",
            f"{len(others)} of the lake's decisions are others in the ledger: {_name_some(others)}",
        )
    # A unit of which the ledger has more is landed again by the next flow.
    others = [
        unit
        for unit, count, cost in lake.read("calls_to_prove").iter_rows()
        if find_session(unit, passed) is None
        and (
            (held := paid.get(unit, (0, 0.0)))[0] < count
            or (held[0] == count and not math.isclose(held[1], cost, rel_tol=1e-9, abs_tol=1e-12))
        )
    ]
    if others:
        yield LogFinding(
            "stores_differ",
            "llm_calls",
            f"calls of {len(others)} units are fewer in the ledger, or cost something else: {_name_some(others)}",
        )


def _name_some(names: Sequence[str]) -> str:
    return "; ".join(names[:_SHOWN]) + (" …" if len(names) > _SHOWN else "")


def close_report(ledger: Ledger, settings: Settings, folder: Path) -> None:
    """Close the report as written; one in another folder is nobody's but its reader's."""
    if folder.resolve() == (settings.home / REPORT).resolve():
        rows = list(read_report_rows(folder))
        with ledger.write() as connection:
            close_rows(connection, "report", REPORT, rows)


def read_report_rows(folder: Path) -> Iterator[StageRow]:
    """Each file below a folder with its hash, moments in footers left out: again, the same."""
    for path in sorted(folder.rglob("*")):
        if path.is_file() and not path.name.endswith(DRAFT):
            yield (path.relative_to(folder).as_posix(),), (hash_report_file(path),)


def hash_report_file(path: Path) -> str:
    """SHA-256 of a file of the report, without the moment in the footer of a page."""
    if path.suffix == ".html":
        return hashlib.sha256(_MOMENT.sub(b"</p>", path.read_bytes())).hexdigest()
    return hash_file(path)
