"""Let closed runs leave the ledger for the lake: archive."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from deployments.command_line.printing import print_result
from schemas.counting import say_count
from schemas.settings import load_settings
from tasks.operations.archiving import archive_runs, plan_archive
from warehouse.lake import open_lake
from warehouse.ledger.engine.opening import open_ledger


def archive(
    run_id: Annotated[str, typer.Argument(metavar="[RUN]", help="A run; all that may go by default.")] = "",
    yes: Annotated[bool, typer.Option("--yes", help="Do it. Without this it is only shown.")] = False,
) -> None:
    """Move replies, answers and steps of closed runs from the ledger to the lake.

    Without --yes, it only shows what would go. Everybody reads them as before, and all that was published verifies; the ledger's files
    become smaller. A run may go once it is closed, landed, published, disclosed, and no longer open to objections. Run again after a
    kill: it continues. Exit code 3 where the named run must stay.

    Example: proctor archive --yes
    """
    settings = load_settings()
    with open_ledger(settings.ledger_address) as ledger, open_lake(settings, read_only=not yes) as lake:
        if yes:
            done = archive_runs(settings, ledger, lake, run_id)
            print_result(
                {"archived": [asdict(one) for one in done]},
                lines=[
                    f"Run {one.run_id} has left the ledger: {', '.join(f'{count} {name}' for name, count in sorted(one.rows.items()))}."
                    for one in done
                ]
                or ["No run has rows in the ledger that may go."],
            )
            return
        found = plan_archive(ledger, lake, settings, run_id)
    lines = [
        one.refusal
        or (
            f"Run {one.run_id} may go: {say_count(one.sessions, 'session')}."
            if one.sessions
            else f"Run {one.run_id} has left the ledger."
        )
        for one in found
    ]
    print_result(
        {"runs": [asdict(one) for one in found]},
        lines=[
            *(lines or ["No closed run has rows in the ledger."]),
            "Nothing was moved: give --yes to do it.",
        ],
    )
