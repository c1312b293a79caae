"""`proctor`: the command line.

Commands live in deployments/commands, one module per kind of work; each imports what it needs when it is called, so
that `proctor --help` is quick. Exit codes: 0 done, 1 failed or incomplete, 2 usage, 3 a quality gate refused, 130
interrupted (Ctrl-C or `kill -TERM`).
"""

from __future__ import annotations

import atexit
import os
import sys
from typing import Annotated, NoReturn

import typer
from typer.main import get_command_name

from deployments.command import INTERRUPTED, Command
from deployments.commands import (
    agreement,
    approvals,
    augment,
    bank,
    calibrate,
    cgeval,
    clock,
    contamination,
    demo,
    documents,
    drift,
    edition_exports,
    encryption,
    erase,
    evaluate,
    exam,
    failures,
    gscore,
    hosts,
    imports,
    ingest,
    league,
    metrics,
    models,
    operations,
    query,
    review,
    rules,
    runs,
    scoring,
    stability,
    unparsed,
    validate,
    web,
)

app = typer.Typer(
    name="proctor",
    help="A private, dynamic exam for LLMs as a data pipeline.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=True,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _print_version(is_asked: bool) -> None:
    if is_asked:
        from importlib.metadata import version

        print(f"proctor {version('proctor')}")
        raise typer.Exit


@app.callback()
def root(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version."),
    ] = False,
) -> None:
    """A private, dynamic exam for LLMs as a data pipeline."""


def _give_shared_ways(group: typer.Typer) -> None:
    """Every command below the group gets what all commands share."""
    for command in group.registered_commands:
        command.cls = Command
    for below in group.registered_groups:
        if below.typer_instance is not None:
            _give_shared_ways(below.typer_instance)


for module in (
    operations,
    encryption,
    erase,
    demo,
    ingest,
    league,
    documents,
    review,
    augment,
    rules,
    runs,
    hosts,
    metrics,
    bank,
    evaluate,
    models,
    exam,
    approvals,
    scoring,
    stability,
    unparsed,
    agreement,
    calibrate,
    drift,
    edition_exports,
    failures,
    contamination,
    gscore,
    cgeval,
    clock,
    imports,
    query,
    validate,
    web,
):
    module.add_commands(app)
_give_shared_ways(app)


def main() -> None:
    """Run a command; a mistake of the user's is one sentence on standard error, never a stack trace."""
    if len(sys.argv) > 1 and "_PROCTOR_COMPLETE" not in os.environ:
        _keep_only(sys.argv[1])
    try:
        app()
    except SystemExit as end:
        if end.code == INTERRUPTED:
            _leave_at_once(INTERRUPTED)
        raise


def _keep_only(name: str) -> None:
    """Leave the command or group of that name, where there is one: to build all of them takes longer than many of them run."""
    commands = [
        command
        for command in app.registered_commands
        if command.callback and name == (command.name or get_command_name(command.callback.__name__))
    ]
    groups = [group for group in app.registered_groups if name == group.name]
    if commands or groups:
        app.registered_commands, app.registered_groups = commands, groups


def _leave_at_once(code: int) -> NoReturn:
    """End without taking the interpreter apart: threads stopped in the middle of native work crash it now and then (-11)."""
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


if __name__ == "__main__":
    main()
