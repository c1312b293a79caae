"""Every bad end of a run that the ledger knows reaches every recipient once.

A recipient that cannot be reached is told later.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from contextlib import suppress
from typing import Final

from schemas.errors import ProctorError
from schemas.ledger.engine import RunNotice
from schemas.settings import is_home, load_settings
from tasks.running import programs
from tasks.running.notices.notices import Notice, Recipient, read_recipients, send_notice
from warehouse.ledger.engine.ledger import Ledger
from warehouse.ledger.engine.opening import open_ledger
from warehouse.ledger.engine.runs.notices import note_told, take_notices

# Who set out to tell, and was killed meanwhile, is believed to be at it for so long for each recipient.
_LEASE_S: Final = 2 * programs.TIME_LIMIT_S
# Seconds after which whoever could not be reached is told again; the last one again and again.
_AGAIN_S: Final = (10.0, 30.0, 60.0, 300.0, 1800.0)

log = logging.getLogger("proctor.notices")


def deliver() -> None:
    """Tell what is due, as far as it can be told from here; nothing where there is no home."""
    with suppress(ProctorError):
        settings = load_settings()
        if is_home(settings.home):
            with open_ledger(settings.ledger_address) as ledger:
                deliver_notices(ledger)


def deliver_notices(ledger: Ledger) -> int:
    """Send every recipient that the settings name the notices that are due.

    Returns the number of ends that all recipients have been told of.

    Raises UsageError where the settings name nobody rightly.
    """
    recipients = read_recipients(load_settings().notify)
    done = 0
    while (notice := _take_one(ledger, recipients)) is not None:
        left = [one for one in recipients if one.name not in notice.told]
        failures = send_notice(Notice(notice.name, notice.ending, notice.flow_run_id), left)
        told = [*notice.told, *(one.name for one in left if one.name not in failures)]
        again_in_s = _AGAIN_S[min(notice.tries, len(_AGAIN_S) - 1)] if failures else None
        with ledger.write() as connection:
            note_told(connection, notice.flow_run_id, told, again_in_s=again_in_s)
        for name, reason in failures.items():
            log.warning("%s could not be told of %s: %s", name, notice.name, reason)
        if recipients and not failures:
            log.info("%s %s: %d told", notice.name, notice.ending, len(told))
        done += not failures
    return done


def _take_one(ledger: Ledger, recipients: Sequence[Recipient]) -> RunNotice | None:
    """The first notice that is due.

    Each notice has a lease of its own, however long it takes to send the notices before it.
    """
    with ledger.write() as connection:
        taken = take_notices(connection, lease_s=_LEASE_S * max(1, len(recipients)), most=1)
    return taken[0] if taken else None
