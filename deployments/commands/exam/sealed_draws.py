"""Sealed draws with a public value that is named beforehand: `exam commit|share|draw|seal`."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from deployments.command_line.printing import print_result
from deployments.commands.exam.run_options import RunOptions
from schemas.counting import say_count
from schemas.settings import Settings, load_settings
from tasks.exam.public.log import check_witness_file, read_witnesses, seal_public_log
from warehouse.lake import open_lake
from warehouse.ledger.engine.opening import open_ledger


def commit(
    beacon: Annotated[
        str,
        typer.Option(
            "--beacon",
            help="The public value that is still to come: `drand` (a round in ten minutes), `drand quicknet round N`, or where another "
            "will stand, which is typed later.",
        ),
    ],
    wished: RunOptions,
    again: Annotated[str, typer.Option("--again", help="Why a run is committed to again; published.")] = "",
) -> None:
    """Commit to a run in the public log before the number behind its draw is known.

    The draw will follow from that number.

    Nothing can be sat yet. Candidates may add shares (`exam share`); `exam draw` draws it, once, when the value is known.

    Example: proctor exam commit --month 2026-12 --beacon drand
    """
    from tasks.exam.public.draws import commit_run, describe_due

    settings = load_settings()
    with open_ledger(settings.ledger_address) as ledger, open_lake(settings, read_only=True) as lake:
        found = commit_run(ledger, lake, settings, wished.read(), source=beacon, again=again or None)
    if found is None:
        print_result({}, lines=["Nobody is due this month; name candidates."])
        return
    plan, due = found.plan, describe_due(found.beacon)
    when = (
        f", which is given out at {due}"
        if due
        else ", which is typed: nobody can check it but by looking it up"
    )
    lines = [
        f"Run {plan.run_id} is committed to: entry {found.entry} of the public log. Its {len(plan.sessions)} sessions can be sat "
        f"once it is drawn with the value of {found.beacon['source']!r}{when}."
    ]
    lines += [
        f"{told.witness}: {told.outcome}{f', {told.reason}' if told.reason else ''}." for told in found.told
    ]
    print_result(
        {
            "run_id": plan.run_id,
            "entry": found.entry,
            "session_count": len(plan.sessions),
            "beacon": found.beacon,
            "witnesses": [asdict(told) for told in found.told],
        },
        lines=lines,
        then=f"proctor exam draw {plan.run_id}{'' if due else ' --beacon-value TEXT'}",
    )


def share(
    run_id: Annotated[str, typer.Argument(help="The run, committed to and not drawn.")],
    candidate: Annotated[str, typer.Argument(help="The candidate that gives it.")],
    value: Annotated[str, typer.Argument(help="Its share: 64 hexadecimal digits.")],
) -> None:
    """Add a candidate's share to the seed of a run that is committed to.

    It stands in the public log and is never changed.

    Example: proctor exam share 2026-12 my-model 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
    """
    from tasks.exam.public.draws import add_share

    settings = load_settings()
    with open_ledger(settings.ledger_address) as ledger:
        number = add_share(ledger, settings, run_id, candidate, value)
    print_result(
        {"run_id": run_id, "entry": number},
        lines=[f"The share of {candidate} is entry {number} of the public log."],
    )


def draw(
    run_id: Annotated[str, typer.Argument(help="The run, committed to and not drawn.")],
    beacon_value: Annotated[
        str | None,
        typer.Option(
            "--beacon-value",
            help="The value that was named when the run was committed to: of drand the round's JSON or signature. Default: ask drand.",
        ),
    ] = None,
) -> None:
    """Draw a run that is committed to, once, with the value of its beacon.

    Its sessions can be sat from then on. A value of drand is checked by its signature; any other is called typed.

    Refused, with exit code 3, where the bank, who has met what, or the plan is no longer what was committed to.

    Example: proctor exam draw 2026-12
    """
    from tasks.exam.public.draws import draw_run

    settings = load_settings()
    with open_ledger(settings.ledger_address) as ledger, open_lake(settings, read_only=True) as lake:
        plan = draw_run(ledger, lake, settings, run_id, beacon_value)
    print_result(
        {"run_id": run_id, "session_count": len(plan.sessions), "beacon_value": beacon_value},
        lines=[f"Run {run_id} is drawn: {say_count(len(plan.sessions), 'session')} can be sat."],
        then=f"proctor evaluate --run {run_id}",
    )


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
) -> None:
    """Sign the head of the public log, write its files, and give the head to witnesses.

    Every witness is told, whichever fails; exit code 1 when one could not be. With --check, exit code 1 when a head that a witness
    holds is not one of the log: it was cut or rewritten.

    Example: proctor exam seal --witness /mnt/elsewhere/heads.jsonl
    """
    from tasks.editions import keep_grades

    settings = load_settings()
    if check is not None:
        _check(settings, check)
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
    print_result(result, lines=lines)
    if sealed.failures:
        raise typer.Exit(1)


def _check(settings: Settings, path: Path) -> None:
    with open_ledger(settings.ledger_address) as ledger:
        count, findings = check_witness_file(ledger, path)
    lines = [f"{found.name}: {found.where}: {found.reason}." for found in findings] or [
        f"Every head of {path} is one of this log: {count}."
    ]
    result = {"heads": count, "findings": [found._asdict() for found in findings]}
    print_result(result, lines=lines)
    if findings:
        raise typer.Exit(1)
