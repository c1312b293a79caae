"""All checks of a home, in the order of the report.

A check that fails is a finding, and never keeps the others from being made.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack
from typing import TYPE_CHECKING, Final, TypeVar

from deployments.doctor import contents, disk_encryption, keys, machine, services
from deployments.doctor.findings import Finding, Findings, NoteFinding
from deployments.doctor.looks import LedgerLook
from schemas.errors import ProctorError
from schemas.settings import Settings, is_home

if TYPE_CHECKING:
    from warehouse.lake import Lake
    from warehouse.ledger.engine.ledger import Ledger

T = TypeVar("T")

_CHECK_SETTINGS: Final = "check the settings that name it, and that its server answers"


def examine_home(settings: Settings, *, is_all_read: bool = False) -> list[Finding]:
    """Every finding.

    Of files of the lake whose bytes are those that were read before rows are not read again, nor most of what the ledger has closed and
    was found as it was closed, unless `is_all_read`.

    Rows are looked at where their own store can be relied on, whatever is wrong with the others.
    """
    from deployments.home import examine_hosts

    found = Findings(machine.list_full_disks(settings))
    found.look("packages", machine.examine_versions)
    found.look("free disk", machine.examine_disks, settings)
    if not is_home(settings.home):
        found.look("programs", machine.examine_helpers, settings, {})
        found("PROCTOR_HOME", f"{settings.home} is no home yet", False, "proctor init")
        return found.found
    found.look("folders of the home", machine.examine_home_folder, settings)
    found.look("files of the home", machine.examine_modes, settings)
    found.look("encryption of disks", disk_encryption.examine_disk_encryption, settings)
    found.look("models", machine.examine_models, settings)
    found.look("keys", keys.examine_keys, settings)
    broken = _examine_stores(settings, found)
    with ExitStack() as stack:
        ledger = _open(found, stack, "ledger", broken, _make_ledger(settings))
        lake = _open(found, stack, "lake", broken, _make_lake(settings))
        frozen: dict[str, str] = {}
        look = LedgerLook()
        if lake is not None:
            found.look("earlier looks", look.begin, ledger, lake, is_all_read)
        found.look("programs", machine.examine_helpers, settings, contents.count_waiting(lake, found))
        if ledger is not None:
            found.look("clock", machine.examine_clock, settings, ledger)
            found.look("keys in use", keys.examine_lost_keys, settings, ledger)
            found.look("shared by hosts", examine_hosts, settings, ledger)
            found.look("Prefect server", services.examine_prefect, settings, ledger)
            found.look("schedules", services.examine_schedules, ledger)
            found.look("backups", contents.examine_backups, ledger)
            found.look("ledger against the exam's database", contents.examine_sides, ledger)
            found.look("audit log", contents.examine_audit_log, settings, ledger, look)
            found.look("stages", contents.examine_stages, settings, ledger, lake, look)
            found.look("public log", contents.examine_public_log, settings, ledger, look)
            found.look("disclosure of closed runs", contents.examine_disclosure, settings, ledger, look)
        if lake is not None:
            found.look("object store", contents.name_object_store, settings)
            found.look("rows of the lake", _examine_rows, settings, lake, frozen, look)
            found.look("quarantine", contents.examine_quarantine, lake)
            found.look("held papers", contents.examine_held_papers, lake)
        if ledger is not None and lake is not None:
            found.look("rows by month", contents.examine_months, ledger, lake)
            found.look("rows that left the ledger", contents.examine_archives, ledger, lake)
            found.look("ledger against lake", contents.examine_sessions, ledger, lake, look)
            found.look("editions", contents.examine_editions, ledger, lake, frozen)
            found.look("texts of answers", contents.examine_retention, settings, ledger, lake)
        found.look("earlier looks", look.save)
    return found.found


def _examine_rows(
    settings: Settings, lake: Lake, frozen: dict[str, str], look: LedgerLook, found: Findings
) -> None:
    from warehouse.lake.upkeep import Looked

    looked = look.looked or Looked(lake, is_trusted=False)
    found.look("contents of landings", contents.examine_rows, settings, lake, looked, frozen)
    found.look("checks", contents.examine_checks, lake, looked)


def _examine_stores(settings: Settings, found: Findings) -> set[str]:
    broken: set[str] = set()

    def look(note: NoteFinding) -> None:
        broken.update(contents.examine_stores(settings, note))

    if not found.look("installation", look):
        broken = {"ledger", "lake"}
    return broken


def _make_ledger(settings: Settings) -> Callable[[], Ledger]:
    def make() -> Ledger:
        from warehouse.ledger.engine.opening import open_ledger

        return open_ledger(settings.ledger_address)

    return make


def _make_lake(settings: Settings) -> Callable[[], Lake]:
    def make() -> Lake:
        from warehouse.lake import open_lake

        return open_lake(settings, read_only=True)

    return make


def _open(
    found: Findings,
    stack: ExitStack,
    what: str,
    broken: set[str],
    make: Callable[[], AbstractContextManager[T]],
) -> T | None:
    """The store, closed with the stack.

    Returns None, with a finding, where the store cannot be relied on or opened.
    """
    if what in broken:
        found(
            f"rows of the {what}", "not looked at while it cannot be relied on", False, "mend the store first"
        )
        return None
    try:
        return stack.enter_context(make())
    except ProctorError as error:
        found(what, error, False, _CHECK_SETTINGS)
    except Exception as error:
        # Of what drivers raise only the kind is shown: its words may name an address with its password.
        found(what, f"could not be opened: {type(error).__name__}", False, _CHECK_SETTINGS)
    return None
