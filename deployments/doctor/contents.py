"""What the doctor looks at in ledger and lake.

It looks at rows as they were landed, logs as they were written, and editions as published.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from deployments.doctor.findings import Findings, NoteFinding, name_some
from deployments.doctor.looks import LedgerLook
from schemas.errors import ProctorError
from schemas.settings import Settings

if TYPE_CHECKING:
    from warehouse.lake import Lake
    from warehouse.lake.upkeep import Looked
    from warehouse.ledger.engine.ledger import Ledger

_SHOWN_MONTHS: Final = 5
_FROM_ONE: Final = (
    "proctor exam audit names the entries; compare with the newest backup (PROCTOR_HOME=NEW proctor restore BACKUP) before anything "
    "is changed, and restore ledger and lake from one backup if it is the one that is right"
)
_AGAIN: Final = f"where the work that was to land them was killed, run the same command again, then proctor doctor; otherwise {_FROM_ONE}"


def examine_checks(lake: Lake, looked: Looked, note: NoteFinding) -> None:
    """Every check of warehouse/sql/checks, each for itself."""
    from warehouse.lake.reading import list_checks
    from warehouse.lake.upkeep import count_offending

    for name in list_checks():
        try:
            count = count_offending(lake, name, looked)
        except ProctorError as error:
            note(f"check {name}", f"could not be run: {error}", False, "mend the data files first")
            continue
        note(
            f"check {name}",
            "passes" if count == 0 else f"{count} offending rows",
            count == 0,
            f"warehouse/sql/checks/{name}.sql selects the rows",
        )


def examine_rows(
    settings: Settings, lake: Lake, looked: Looked, frozen: dict[str, str], note: NoteFinding
) -> None:
    """Whether every file can be read, and rows are as they were landed.

    `frozen` takes the hashes of what was published.
    """
    from tasks.running import Progress
    from warehouse.lake.files import find_garbled_files
    from warehouse.lake.upkeep import check_landings
    from warehouse.stores.files import DATA_FILE_REMEDY

    with Progress("doctor: rows") as progress:
        integrity = check_landings(lake, progress.advance, looked)
    frozen |= integrity.frozen
    garbled = find_garbled_files(settings, looked.parts, integrity.unreadable)
    for fault in garbled:
        note(fault.store, f"{fault.path} {fault.finding}", False, fault.remedy)
    for path in looked.list_changed():
        if not any(fault.path.endswith(path) for fault in garbled):
            note(
                "data file",
                f"{path} has other bytes than when it was first looked at",
                False,
                DATA_FILE_REMEDY,
            )
    for table, refusal in integrity.unreadable.items():
        if not any(f"rows of {table} are" in fault.finding for fault in garbled):
            note(f"rows of {table}", refusal, False, "mend the data files first")
    unread = f"; not compared: {name_some(sorted(integrity.unreadable))}" if integrity.unreadable else ""
    note(
        "contents of landings",
        (
            f"{len(integrity.changed)} of {integrity.checked} are not as they were landed: {name_some(integrity.changed)}"
            if integrity.changed
            else f"{integrity.checked} as they were landed"
            + (f"; {integrity.unhashed} of an earlier version keep no hash" if integrity.unhashed else "")
        )
        + unread,
        not integrity.changed and not integrity.unreadable,
        "somebody changed files of the lake past Proctor: copy those that hold these units from a backup (their names never change), "
        "or land the units again; else restore the newest backup that passes",
    )


def examine_backups(ledger: Ledger, note: NoteFinding) -> None:
    """When the newest backup was begun."""
    from warehouse.ledger.engine.copies.backups import list_backups

    with ledger.read() as connection:
        backups = list_backups(connection)
    note(
        "backups",
        f"newest begun {backups[0].begun_at[:16]} UTC: {backups[0].host}:{backups[0].folder}; {len(backups)} in all"
        if backups
        else "none was begun (proctor backup)",
        True,
    )


def examine_sides(ledger: Ledger, note: NoteFinding) -> None:
    """Whether the ledger and the exam's database are of one moment."""
    from warehouse.ledger.engine.integrity import find_strays

    with ledger.read() as connection:
        strays = find_strays(connection)
    note(
        "ledger against the exam's database",
        f"not of one moment: {name_some(strays)}" if strays else "of one moment",
        not strays,
        "one of the two files was put back without the other: put back the other one too, with its -wal; else restore both "
        "from one backup",
    )


def examine_months(ledger: Ledger, lake: Lake, note: NoteFinding) -> None:
    """Whether the lake has the rows of each month that the ledger has closed."""
    from tasks.operations.validation import find_month_differences

    months = find_month_differences(ledger, lake, may_wait=True)
    note(
        "rows by month",
        "; ".join(one.describe() for one in months[:_SHOWN_MONTHS])
        or "none in the lake that the ledger has not closed",
        not months,
        "an older ledger was put in place, or the lake belongs to another one: put back the newer ledger with its -wal; else restore ledger and "
        "lake from one backup",
    )


def examine_archives(ledger: Ledger, lake: Lake, note: NoteFinding) -> None:
    """Whether the lake has what has left the ledger, as it left it."""
    from tasks.running.archives import find_lost_archives

    lost = find_lost_archives(ledger, lake)
    note(
        "rows that left the ledger",
        f"the lake does not have as they left: {name_some(lost)}" if lost else "the lake has them",
        not lost,
        "nobody else has them: restore the lake from the newest backup that has them, and audit (proctor exam audit)",
    )


def examine_sessions(ledger: Ledger, lake: Lake, look: LedgerLook, note: NoteFinding) -> None:
    """Whether the ledger says of closed sessions what was landed."""
    from tasks.exam.closed import find_changed_sessions
    from tasks.running import Progress

    with Progress("doctor: rows of the ledger") as progress:
        differing = find_changed_sessions(ledger, lake, progress.advance, look.passed | look.passed_sets)
    if not differing:
        look.note_fine("ledger against lake")
    note(
        "ledger against lake",
        f"{len(differing)} sessions or sets are not what was landed: {name_some(differing)}"
        if differing
        else f"says what was landed{look.describe(len(look.known))}",
        not differing,
        _FROM_ONE,
    )


def examine_audit_log(settings: Settings, ledger: Ledger, look: LedgerLook, note: Findings) -> None:
    """Whether the audit log is as it was written, and has the entry with which it ended before."""
    from tasks.exam.log import check_log
    from tasks.running import Progress

    with Progress("doctor: audit log"):
        log = check_log(ledger, settings, look.seen)
    if look.lost_end is not None:
        lost = f"entry {look.lost_end}, with which it ended at the last look, is not there or is another"
        way = (
            "an older ledger was put in place, or the log was written anew: compare with the newest backup and with heads that witnesses "
            "keep"
        )
        if look.is_all_read:
            note.remark("end of the audit log", f"{lost}; the log is taken as it is", way)
        else:
            mine = "if you restored it yourself, proctor doctor --all takes it as it is"
            note("end of the audit log", lost, False, f"{way}; {mine}")
    if not log.findings:
        look.note_fine("audit log", log.stays)
    note(
        "audit log",
        f"{len(log.findings)} findings: {name_some(sorted({found.name for found in log.findings}))} (proctor exam audit)"
        if log.findings
        else f"{log.entry_count} entries as they were written{look.describe(log.entry_count - log.read_count)}",
        not log.findings,
        _FROM_ONE,
    )


def examine_stages(
    settings: Settings, ledger: Ledger, lake: Lake | None, look: LedgerLook, note: NoteFinding
) -> None:
    """Whether every stage is as it was closed; rows of the lake are looked at elsewhere."""
    from tasks.proof import UNLANDED, check_stages
    from tasks.running import Progress

    with Progress("doctor: stages") as progress:
        proof = check_stages(
            ledger,
            lake,
            settings,
            progress.advance,
            with_rows=False,
            passed=look.known,
            is_file_known=look.is_file_known,
        )
    # People edit the registry; the next run closes it as it then is. Why there is no lake to look at another line says.
    findings = [found for found in proof.findings if found.name not in ("registry_changed", "lake_missing")]
    if not findings and lake is not None:
        look.note_fine("stages")
    names = {found.name for found in proof.findings}
    unseen = ", but for the lake, which was not looked at" if "lake_missing" in names else ""
    edited = ", but for the registry, which was edited since a model was called"
    note(
        "stages",
        f"{len(findings)} findings: {name_some(sorted({found.name for found in findings}))} (proctor exam audit)"
        if findings
        else f"{proof.unit_count} units, {proof.original_count} originals and {proof.picture_count} pictures as they were closed"
        f"{edited if 'registry_changed' in names else ''}{unseen}{look.describe(len(look.known), 'the calls of {} sessions')}"
        f"{look.describe(look.passed_file_count, '{} files of the archive')}",
        not findings,
        _AGAIN if {found.name for found in findings} <= UNLANDED else _FROM_ONE,
    )


def examine_public_log(settings: Settings, ledger: Ledger, look: LedgerLook, note: NoteFinding) -> None:
    """Whether the public folder is there, and the public log as it was written."""
    from tasks.exam.public.log import SIGN, check_public_log, name_log_file
    from tasks.running import Progress
    from warehouse.ledger.engine.logs.public_log import read_public_head
    from warehouse.ledger.trust.access import iter_targets

    with ledger.read() as connection:
        written = read_public_head(connection).number
        # Until then the next command makes the folder: the exam API names its keys in the ledger, and may not write here.
        was_signed = any(True for _ in iter_targets(connection, (SIGN,)))
    path = name_log_file(settings)
    if was_signed and not path.exists():
        note(
            "public folder",
            f"{path if path.parent.exists() else path.parent} is gone, and {written} entries are public",
            False,
            "mount or put back the folder (PROCTOR_PUBLIC), or copy public/ out of the newest backup, or from whoever mirrors it. "
            "proctor exam seal then adds the lines that its log lacks; the log itself it writes again from the ledger even without a "
            "copy, but signed heads and files of editions and runs are nowhere else",
        )
    with Progress("doctor: public log"):
        public = check_public_log(ledger, settings, look.passed)
    if not public.findings:
        look.note_fine("public log")
    note(
        "public log",
        f"{len(public.findings)} findings: {name_some(sorted({found.name for found in public.findings}))} (proctor exam audit)"
        if public.findings
        else f"{public.entry_count} entries as they were written, {public.signed_count} signed heads",
        not public.findings,
        "docs/data-engineer.md, Witnesses, says what each means; keep the files as they are under another name",
    )


def examine_disclosure(settings: Settings, ledger: Ledger, look: LedgerLook, note: NoteFinding) -> None:
    """Whether closed runs can be disclosed; of their answers the look at the audit log knows."""
    from tasks.exam.public.draws import find_refused_runs

    refused = find_refused_runs(ledger, settings, are_answers_logged=look.is_fine("audit log"))
    note(
        "disclosure of closed runs",
        " ".join(refused)
        or f"nothing stands in its way{look.describe(len(look.passed), 'the answers of {} sessions')}",
        not refused,
        "put back what the line above names, else restore ledger and secrets from one backup, and the next proctor evaluate discloses "
        "it; until then everybody sees that it is not",
    )


def examine_editions(ledger: Ledger, lake: Lake, frozen: dict[str, str], note: NoteFinding) -> None:
    """Whether editions are as they were published."""
    from tasks.editions import find_changed_editions
    from warehouse.ledger.trust.editions import read_roots

    with ledger.read() as connection:
        roots = read_roots(connection)
    faults = find_changed_editions(lake, roots, frozen)
    note(
        "editions",
        "; ".join(f"{fault.edition_id}: {fault.finding}" for fault in faults)
        or f"{len(roots)} as they were published",
        not faults,
        "the public folder has every edition's files: proctor exam verify compares; mend the data files that other lines name, else "
        "restore the newest backup that passes",
    )


def examine_retention(settings: Settings, ledger: Ledger, lake: Lake, note: NoteFinding) -> None:
    """How long texts of answers are kept, what is due, and whether an erasure was interrupted."""
    from tasks.operations.erasure import list_due
    from warehouse.ledger.trust.erasures import list_erasures

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


def examine_quarantine(lake: Lake, note: NoteFinding) -> None:
    """How many rows were put aside."""
    count = int(lake.read("quarantined_count").item())
    note("quarantine", f"{count} rows (proctor sql quarantine_by_rule)", True)


def examine_held_papers(lake: Lake, note: NoteFinding) -> None:
    """How many papers are held whole and wait for somebody to look at them."""
    held = sum(int(count) for status, count in lake.read("papers_by_status").rows() if status == "held")
    said = f"{held} wait for somebody to look at them (proctor documents list --status held)"
    note("held papers", said if held else "none", True)


def count_waiting(lake: Lake | None, findings: Findings) -> dict[str, int]:
    """Status → how many papers have it; nothing where that cannot be read."""
    counts: dict[str, int] = {}

    def read(store: Lake, _note: NoteFinding) -> None:
        counts.update((str(status), int(count)) for status, count in store.read("papers_by_status").rows())

    if lake is not None:
        findings.look("papers", read, lake)
    return counts


def examine_stores(settings: Settings, note: NoteFinding) -> set[str]:
    """Which of `ledger` and `lake` cannot be relied on; every file of them is looked at."""
    from warehouse.stores.homes import list_store_faults
    from warehouse.stores.installation import read_home_id

    home_id = read_home_id(settings)
    faults = list_store_faults(settings, is_thorough=True)
    for fault in faults:
        note(fault.store, f"{fault.path} {fault.finding}", False, fault.remedy)
    if not faults:
        whose = f"of installation {home_id[:8]}" if home_id else "of a home without an id yet"
        note("stores", f"ledger, catalog and data files are there, whole, and {whose}", True)
    sides = {"catalog": "lake", "data file": "", "archive": ""}
    return {side for fault in faults if (side := sides.get(fault.store, "ledger"))}


def name_object_store(settings: Settings, note: NoteFinding) -> None:
    """An object store that was opened answers."""
    if settings.data_address.startswith("s3://"):
        note("object store", f"{settings.data_address} answers", True)
