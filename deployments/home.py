"""PROCTOR_HOME as a whole: make it, describe it, examine it."""

from __future__ import annotations

import shutil
from contextlib import nullcontext
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from deployments.examination import (
    Note,
    examine_clock,
    examine_cluster,
    examine_home_folder,
    examine_models,
    examine_prefect,
    examine_programs,
    examine_retention,
    examine_schedules,
)
from schemas.errors import StoreError, UsageError
from schemas.settings import HOME_MARK, Settings, is_home

if TYPE_CHECKING:
    from warehouse.lake.store import Lake


MOST_NAMED = 5
TEMPLATES = Path(__file__).parent / "templates"


def create_home(settings: Settings, *, joins: bool = False) -> dict[str, Any]:
    """Create the ledger, the lake with every table, and a registry to fill in; what exists is left alone.

    A store that is missing from a home that had one is not made again: StoreError says what is missing. `joins` makes this
    home one of the installation that the ledger belongs to.
    """
    from deployments.encryption import encrypt_from_the_start
    from deployments.hosts import prepare_host
    from warehouse.stores import check_stores, joining_stores

    home = settings.home
    if not joins:
        check_stores(settings)
    try:
        home.mkdir(parents=True, exist_ok=True)
        home.chmod(0o700)
        settings.secrets_path.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(
            f"PROCTOR_HOME {home} cannot be created ({error.strerror}); choose another folder."
        ) from None
    with joining_stores(settings) if joins else nullcontext():
        _create_stores(settings, joins=joins)
    encrypt_from_the_start(settings)
    if not is_home(home):
        (home / HOME_MARK).write_text(
            "A home of Proctor whose ledger, lake, keys and registry lie elsewhere, as PROCTOR_* variables or proctor.toml say.\n",
            encoding="utf-8",
        )
    prepare_host(settings)
    registry = settings.registry_path
    is_new = not registry.exists()
    if is_new:
        registry.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(TEMPLATES / "models.yaml", registry)
    return {
        "home": str(home),
        "registry": str(registry),
        "registry_is_new": is_new,
        "lake": settings.data_address,
    }


def _create_stores(settings: Settings, *, joins: bool) -> None:
    from warehouse.lake.store import open_lake
    from warehouse.ledger.engine import open_ledger
    from warehouse.stores import adopt_stores

    open_ledger(settings.ledger_address).close()
    open_lake(settings).close()
    adopt_stores(settings, may_join=joins)
    # Now that it is known whose they are, files elsewhere are marked, or refused as another lake's.
    open_lake(settings).close()


def describe_home(settings: Settings) -> dict[str, Any]:
    """Server, stores and open work; reads only."""
    from deployments.local_server import is_healthy, read_state
    from warehouse.lake.reading import LakeReader
    from warehouse.ledger import exam, review
    from warehouse.ledger.engine import open_ledger

    state = read_state(settings)
    description: dict[str, Any] = {
        "home": str(settings.home.resolve()),
        "version": version("proctor"),
        "server": "none" if state is None else ("healthy" if is_healthy(state) else "not answering"),
        "api_url": None if state is None else state.api_url,
    }
    with open_ledger(settings.ledger_address) as ledger, ledger.read() as connection:
        description["open_review_batches"] = review.count_open_batches(connection)
        description["open_runs"] = exam.list_open_runs(connection)
    with LakeReader(settings) as lake:
        landed = lake.read("landed_row_counts")
        quarantined = lake.read("quarantined_count")
    description["rows"] = {str(name): count for name, count in landed.rows}
    description["quarantined_rows"] = quarantined.scalar()
    return description


def _name_some(units: list[str]) -> str:
    return ", ".join(units[:MOST_NAMED]) + (" …" if len(units) > MOST_NAMED else "")


def _examine_contents(settings: Settings, lake: Lake, note: Note) -> None:
    """Whether rows are as they were landed, and editions as they were published."""
    from tasks.editions.verify import find_changed_editions
    from tasks.exam.log.check import check_log
    from tasks.exam.public.check import check_public_log
    from tasks.exam.public.disclosing import find_refused_runs
    from tasks.exam.verify import find_changed_sessions
    from tasks.progress import Progress
    from tasks.validation.stores import find_month_differences
    from warehouse.lake.integrity import check_landings
    from warehouse.ledger.backups import list_backups
    from warehouse.ledger.editions import read_roots
    from warehouse.ledger.engine import open_ledger
    from warehouse.ledger.integrity import find_strays

    with Progress("doctor: rows") as progress:
        integrity = check_landings(lake, progress.advance)
    note(
        "contents of landings",
        f"{len(integrity.changed)} of {integrity.checked} are not as they were landed: {_name_some(integrity.changed)}"
        if integrity.changed
        else f"{integrity.checked} as they were landed"
        + (f"; {integrity.unhashed} of an earlier version keep no hash" if integrity.unhashed else ""),
        not integrity.changed,
        "restore the newest backup that passes, or land these units again",
    )
    with open_ledger(settings.ledger_address) as ledger:
        months = find_month_differences(ledger, lake, may_wait=True)
        with Progress("doctor: rows of the ledger") as progress:
            differing = find_changed_sessions(ledger, lake, progress.advance)
        with Progress("doctor: audit log and public log"):
            log = check_log(ledger, settings)
            public = check_public_log(ledger, settings)
            refused = find_refused_runs(ledger, settings)
        with ledger.read() as connection:
            roots = read_roots(connection)
            strays = find_strays(connection)
            backups = list_backups(connection)
    note(
        "backups",
        f"newest begun {backups[0].begun_at[:16]} UTC: {backups[0].host}:{backups[0].folder}; {len(backups)} in all"
        if backups
        else "none was begun (proctor backup)",
        True,
    )
    note(
        "ledger against the exam's database",
        f"not of one moment: {_name_some(strays)}" if strays else "of one moment",
        not strays,
    )
    note(
        "rows by month",
        "; ".join(one.describe() for one in months[:MOST_NAMED])
        or "none in the lake that the ledger has not closed",
        not months,
        "restore ledger and lake from one backup",
    )
    note(
        "ledger against lake",
        f"{len(differing)} sessions or sets are not what was landed: {_name_some(differing)}"
        if differing
        else "says what was landed",
        not differing,
        "restore ledger and lake from one backup",
    )
    note(
        "audit log",
        f"{len(log.findings)} findings: {_name_some(sorted({found.name for found in log.findings}))} (proctor exam audit)"
        if log.findings
        else f"{log.entry_count} entries as they were written",
        not log.findings,
    )
    note(
        "public log",
        f"{len(public.findings)} findings: {_name_some(sorted({found.name for found in public.findings}))} (proctor exam audit)"
        if public.findings
        else f"{public.entry_count} entries as they were written, {public.signed_count} signed heads",
        not public.findings,
    )
    note(
        "disclosure of closed runs",
        " ".join(refused) or "nothing stands in its way",
        not refused,
        "restore ledger and secrets from one backup, and the next proctor evaluate discloses it; until then everybody sees that it is not",
    )
    faults = find_changed_editions(lake, roots)
    note(
        "editions",
        "; ".join(f"{fault.edition_id}: {fault.finding}" for fault in faults)
        or f"{len(roots)} as they were published",
        not faults,
        "restore the newest backup that passes",
    )


def examine_home(settings: Settings) -> list[dict[str, Any]]:
    """What an administrator would check by hand: programs, versions, permissions, stores, the lake's checks.

    A finding that is not fine names the way to mend it. Rows are looked at only where their stores can be relied on.
    """
    from deployments.encryption import examine_encryption
    from deployments.hosts import examine_hosts
    from tasks.exam.protocol.keys import open_keys
    from warehouse.lake.checks import run_checks
    from warehouse.lake.store import open_lake
    from warehouse.ledger.engine import open_ledger

    findings: list[dict[str, Any]] = []

    def note(what: str, found: object, is_fine: bool, fix: str = "") -> None:
        findings.append(
            {"what": what, "found": str(found), "is_fine": is_fine, "fix": None if is_fine else fix or None}
        )

    examine_programs(settings, note)
    if not is_home(settings.home):
        note("PROCTOR_HOME", f"{settings.home} is no home yet", False, "proctor init")
        return findings
    examine_home_folder(settings, note)
    _examine_modes(settings, note)
    examine_encryption(settings, note)
    examine_models(settings, note)
    examine_cluster(settings, note)
    keys = open_keys(settings).path
    if keys.exists():
        mode = keys.stat().st_mode & 0o777
        note("signing keys", f"mode {mode:o}", mode == 0o600, f"proctor exam keys rotate; chmod 600 {keys}")
    if not _examine_stores(settings, note):
        note(
            "rows and editions",
            "not looked at while a store cannot be relied on",
            False,
            "mend the stores first",
        )
        return findings
    with open_ledger(settings.ledger_address) as ledger:
        examine_clock(ledger, note)
        examine_hosts(settings, ledger, note)
        examine_prefect(settings, ledger, note)
        examine_schedules(ledger, note)
    with open_lake(settings, read_only=True) as lake:
        if settings.data_address.startswith("s3://"):
            note("object store", f"{settings.data_address} answers", True)
        for result in run_checks(lake):
            count = len(result.offending)
            note(
                f"check {result.name}",
                "passes" if count == 0 else f"{count} offending rows",
                count == 0,
                f"warehouse/sql/checks/{result.name}.sql selects the rows",
            )
        _examine_contents(settings, lake, note)
        with open_ledger(settings.ledger_address) as ledger:
            examine_retention(settings, ledger, lake, note)
        quarantined = int(lake.read("quarantined_count").item())
        note("quarantine", f"{quarantined} rows (proctor sql quarantine_by_rule)", True)
    return findings


def _examine_modes(settings: Settings, note: Note) -> None:
    """Whether anything in the home may be read or changed by other users."""
    from deployments.owner_only import list_lax_files

    lax = list_lax_files(settings.home)
    named = _name_some([f"{path} ({path.lstat().st_mode & 0o777:o})" for path in lax])
    note(
        "files of the home",
        f"{len(lax)} are open to other users: {named}" if lax else "its owner's alone",
        not lax,
        f"chmod -R go= {settings.home}; replace the keys among them, others may have read them",
    )


def _examine_stores(settings: Settings, note: Note) -> bool:
    """Whether ledger, catalog and data files are there, whole and this home's; False where one is not."""
    from warehouse.installation import read_home_id
    from warehouse.lake.store import open_lake
    from warehouse.store_files import WAY_BACK
    from warehouse.stores import list_store_faults

    try:
        home_id = read_home_id(settings)
        faults = list_store_faults(settings, is_thorough=True)
    except StoreError as error:
        note("installation", error, False, WAY_BACK)
        return False
    for fault in faults:
        note(fault.store, f"{fault.path} {fault.finding}", False, WAY_BACK)
    if not faults and (settings.lake_data is not None or settings.lake_catalog is not None):
        try:
            open_lake(settings, read_only=True).close()
        except StoreError as error:
            note("lake", error, False, "let PROCTOR_LAKE_CATALOG and PROCTOR_LAKE_DATA name this lake's")
            return False
    if not faults:
        whose = f"of installation {home_id[:8]}" if home_id else "of a home without an id yet"
        note("stores", f"ledger, catalog and data files are there, whole, and {whose}", True)
    return not faults
