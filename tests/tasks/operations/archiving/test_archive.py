"""A closed run leaves the ledger, and nobody who asks for it notices."""

from __future__ import annotations

from schemas.settings import Settings
from tasks.exam.log import check_log
from tasks.operations.archiving import archive_runs, plan_archive
from tests.tasks.operations.erasure.conftest import LATER, judged_home, read_faults, settings
from warehouse.lake import open_lake
from warehouse.ledger.engine.copies.backups import count_rows
from warehouse.ledger.engine.opening import open_ledger

__all__ = ["judged_home", "settings"]


def test_smoke(settings: Settings) -> None:
    with open_ledger(settings.ledger_address) as ledger, open_lake(settings) as lake:
        report = check_log(ledger, settings)
        assert report.findings == ()
        with ledger.read() as c:
            print(count_rows(c))
        print(plan_archive(ledger, lake, settings, now=LATER))
        print(archive_runs(settings, ledger, lake, now=LATER, step=print))
        with ledger.read() as c:
            print(count_rows(c))
    print(read_faults(settings))
