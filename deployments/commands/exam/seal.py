"""The public log: exam seal."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from deployments.command_line.printing import print_result
from deployments.commands.options import AsJson
from schemas.settings import Settings, load_settings
from tasks.exam.public.log import check_witness_file, read_witnesses, seal_public_log
from warehouse.ledger.engine.opening import open_ledger


def seal(
    witnesses: Annotated[
        list[str] | None,
        typer.Option(
            "--witness",
            help="Who keeps the head: a FILE elsewhere, or command:PROGRAM, which gets it on its standard input. May be "
            "repeated. Default: PROCTOR_WITNESSES.",
        ),
    ] = None,
    check: Annotated[
        Path | None,
        typer.Option("--check", help="Compare the heads that a witness kept with the log, and sign nothing."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Sign the head of the public log, write its files, and give the head to witnesses.

    Every witness is told, whichever fails; exit code 1 when one could not be. With --check, exit code 1 when a head that a witness
    holds is not one of the log: it was cut or rewritten.

    Example: proctor exam seal --witness /mnt/elsewhere/heads.jsonl
    """
    from tasks.editions import keep_grades

    settings = load_settings()
    if check is not None:
        _check(settings, check, as_json=as_json)
        return
    named = read_witnesses(settings.witnesses if witnesses is None else witnesses, settings)
    with open_ledger(settings.ledger_address) as ledger:
        sealed = seal_public_log(ledger, settings, named)
        grades = keep_grades(ledger, settings) if sealed.head is not None else {}
    head = sealed.head
    lines = (
        ["The public log has no entry yet: nothing was signed."]
        if head is None
        else [f"The public log is sealed at entry {head.number}, {head.hash[:16]}."]
    )
    lines += [
        f"{told.witness}: {told.outcome}{f', {told.reason}' if told.reason else ''}." for told in sealed.told
    ]
    if grades:
        last = list(grades)[-1]
        lines.append(f"Edition {last}: {grades[last].grade}, as far as this home knows who holds what.")
    result = {
        "grades": {edition: found.grade for edition, found in grades.items()},
        "head": None if head is None else head._asdict(),
        "witnesses": [asdict(told) for told in sealed.told],
    }
    print_result(result, as_json=as_json, lines=lines)
    if sealed.failures:
        raise typer.Exit(1)


def _check(settings: Settings, path: Path, *, as_json: bool) -> None:
    with open_ledger(settings.ledger_address) as ledger:
        count, findings = check_witness_file(ledger, path)
    lines = [f"{found.name}: {found.where}: {found.reason}." for found in findings] or [
        f"All {count} heads of {path} are heads of this log."
    ]
    result = {"heads": count, "findings": [found._asdict() for found in findings]}
    print_result(result, as_json=as_json, lines=lines)
    if findings:
        raise typer.Exit(1)
