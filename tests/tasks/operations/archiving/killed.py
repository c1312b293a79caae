"""A process that archives a home and dies at the step that is named.

python -m tests.tasks.operations.archiving.killed HOME STEP
"""

from __future__ import annotations

import os
import signal
import sys

from tasks.operations.archiving import archive_runs
from tests.tasks.operations.erasure.conftest import LATER, settings_of
from warehouse.lake import open_lake
from warehouse.ledger.engine.opening import open_ledger


def main(home: str, last: str) -> None:
    """Archive until that step is done."""

    def step(name: str) -> None:
        if name.startswith(last):
            os.kill(os.getpid(), signal.SIGKILL)

    settings = settings_of(home)
    with open_ledger(settings.ledger_address) as ledger, open_lake(settings) as lake:
        archive_runs(settings, ledger, lake, now=LATER, step=step)


if __name__ == "__main__":
    main(*sys.argv[1:])
