"""Erase texts of answers for good, and keep what proves them: erase."""

from __future__ import annotations

import socket
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from deployments.command_line.printing import is_json, print_note, print_result
from deployments.commands.options import read_month
from schemas.counting import say_count
from schemas.errors import UsageError
from schemas.settings import load_settings
from tasks.operations.erasure import (
    RunErasure,
    Scope,
    check_may_erase,
    erase_texts,
    find_due_runs,
    finish_erasures,
    plan_erasure,
    read_policy_time,
)
from warehouse.lake import open_lake
from warehouse.ledger.engine.copies.backups import list_backups
from warehouse.ledger.engine.ledger import Ledger
from warehouse.ledger.engine.opening import open_ledger

_MOST_BACKUPS = 20
STAYS = (
    "What stays: stars, statuses, times, tokens, costs, receipts, the hash of every answer, all editions; `proctor exam verify` and "
    "`proctor exam audit` hold as before."
)
LOST = (
    "What is lost: these answers can not be read, judged, rated or labelled again, nor compared with other texts; exports of their "
    "editions are without them."
)
BACKUPS = (
    "Backups, exports and witnesses' copies made before still hold the texts: delete them, and make a new backup. So do answers that "
    "a candidate gave in a league, to CG-Eval or in a replay: those are not erased by this."
)


@dataclass(frozen=True)
class ErasureOptions:
    """Which texts are erased."""

    month: Annotated[str, typer.Option("--month", help="Texts of this month, YYYY-MM.")] = ""
    model: Annotated[str, typer.Option("--model", help="Texts of this candidate, which takes them back.")] = (
        ""
    )
    policy: Annotated[
        bool, typer.Option("--policy", help="Texts that PROCTOR_KEEP_RAW_MONTHS no longer keeps.")
    ] = False
    again: Annotated[
        bool,
        typer.Option(
            "--again",
            help="Finish what was begun, and erase again what a restored lake has brought back; nothing new.",
        ),
    ] = False


def erase(
    wanted: ErasureOptions,
    yes: Annotated[bool, typer.Option("--yes", help="Do it. Without this it is only shown.")] = False,
    reason: Annotated[str, typer.Option("--reason", help="Why; it is kept for ever.")] = "",
    user_id: Annotated[str, typer.Option("--as", help="Who erases: an admin.")] = "",
) -> None:
    """Erase the raw texts of answers, reasoning, and what judges wrote of them.

    Without --yes, it only shows what would be erased.

    Hashes, stars, times, tokens and costs stay, so that scores are the same and everything published verifies. The audit log and the
    public log say that it was done, never what. Nobody can take it back. Run again after a kill: it continues. Exit code 3 where a
    run is under way, not disclosed, or open to objections.

    Example: proctor erase --model my-model --reason "the owner asked for it" --as cora --yes
    """
    settings = load_settings()
    named = bool(wanted.month or wanted.model)
    if wanted.policy + wanted.again + named != 1:
        raise UsageError("Name what is to be erased: --month, --model or both, or --policy, or --again.")
    if wanted.again:
        _finish(user_id, yes=yes)
        return
    if wanted.policy:
        if settings.keep_raw_months is None:
            raise UsageError(
                "There is no policy: PROCTOR_KEEP_RAW_MONTHS is not set, and texts are kept for ever."
            )
        with open_ledger(settings.ledger_address) as ledger, open_lake(settings, read_only=True) as lake:
            scope = Scope(run_ids=find_due_runs(lake, settings, read_policy_time(ledger, lake, settings)))
    else:
        scope = Scope(month=read_month(wanted.month) if wanted.month else None, model=wanted.model or None)
    if yes:
        _erase(scope, reason, user_id)
    else:
        _show(scope)


def _show(scope: Any) -> None:
    settings = load_settings()
    with open_ledger(settings.ledger_address) as ledger, open_lake(settings, read_only=True) as lake:
        plans = plan_erasure(ledger, lake, settings, scope)
        backups = _list_backups(ledger)
    result = {
        "would_erase": [asdict(plan) for plan in plans],
        "stays": STAYS,
        "lost": LOST,
        "beyond": BACKUPS,
        "backups": backups,
    }
    lines = [*_describe(plans), STAYS, LOST, BACKUPS, *_name_backups(backups)]
    print_result(
        result, lines=[*lines, "Nothing was erased: give --yes, --reason and --as with an admin to do it."]
    )


def _describe(plans: Sequence[RunErasure]) -> list[str]:
    lines = []
    for plan in plans:
        lines.append(
            f"Run {plan.run_id} ({', '.join(plan.editions)}): {say_count(plan.answer_count, 'answer')} in {say_count(len(plan.sessions), 'session')} of "
            f"{', '.join(plan.models)}."
        )
        lines += [
            f"  {name}: {say_count(count, 'row')}, {size / 1e6:.1f} MB of text"
            for name, (count, size) in plan.tables.items()
        ]
    return lines


def _list_backups(ledger: Ledger) -> list[dict[str, str]]:
    """The backups that were made, newest first; last those that are seen not to be there."""
    with ledger.read() as connection:
        made = list_backups(connection)
    made.sort(key=lambda one: one.host == socket.gethostname() and not Path(one.folder).exists())
    return [{"folder": one.folder, "host": one.host, "begun_at": one.begun_at} for one in made]


def _name_backups(backups: Sequence[dict[str, str]]) -> list[str]:
    if not backups:
        return ["No backup was made by `proctor backup` of this installation."]
    shown = [
        f"  {one['folder']} on {one['host']}, begun {one['begun_at'][:16]}" for one in backups[:_MOST_BACKUPS]
    ]
    more = len(backups) - len(shown)
    return ["Backups that were made of this installation:", *shown, *([f"  and {more} more"] if more else [])]


def _erase(scope: Any, reason: str, user_id: str) -> None:
    settings = load_settings()
    with open_ledger(settings.ledger_address) as ledger:
        check_may_erase(ledger, user_id)
        backups = _list_backups(ledger)
    done = erase_texts(settings, scope, reason=reason, erased_by=user_id)
    _print(done)
    if not is_json():
        for line in (BACKUPS, *_name_backups(backups)):
            print_note(line)


def _finish(user_id: str, *, yes: bool) -> None:
    settings = load_settings()
    if not yes:
        raise UsageError("--again erases at once what was erased before: give --yes too.")
    with open_ledger(settings.ledger_address) as ledger:
        check_may_erase(ledger, user_id)
    _print(finish_erasures(settings, every=True))


def _print(done: Any) -> None:
    lines = [
        f"Erased of run {one.run_id}: {say_count(one.answer_count, 'answer')} in {say_count(one.session_count, 'session')} ({one.erasure_id})."
        for one in done.erasures
    ] or ["Nothing had been begun, and nothing was erased before."]
    lines.append(
        f"{sum(done.rewritten.values())} units were landed again without texts, and {done.deleted_files} files of the lake deleted."
    )
    result = {
        "erasures": [one.as_values() for one in done.erasures],
        "rewritten": done.rewritten,
        "deleted_files": done.deleted_files,
    }
    print_result(result, lines=lines)
