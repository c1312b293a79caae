"""The exam step by step: `exam plan|sessions|close|token|serve`, its users and keys."""

from __future__ import annotations

import json
import shlex
from dataclasses import asdict
from typing import Annotated, Any

import typer

from deployments.command_line.printing import print_note, print_records, print_result
from deployments.commands.checks import check_run
from deployments.commands.exam.keys import database, keys_app
from deployments.commands.exam.log import audit, enrol, explain, receipt, verify
from deployments.commands.exam.plans import (
    render_controls,
    render_grade,
    render_judging,
    render_plan,
    render_watch,
)
from deployments.commands.exam.run_options import RunOptions
from deployments.commands.exam.sealed_draws import commit, draw, seal, share
from deployments.commands.exam.sit import sit
from deployments.commands.exam.trace import trace
from deployments.commands.exam.users import user_app
from deployments.commands.options import AnyRun, ServingOptions, read_month
from schemas.counting import say_count
from schemas.errors import UsageError
from schemas.settings import Settings, load_settings
from tasks.exam.closed import force_close
from tasks.exam.log import keep_head, note_keys
from tasks.exam.log.signing import open_signer
from tasks.exam.protocol.tokens import PERMISSIONS, issue_token, open_keys, read_token_id
from tasks.exam.public.log import keep_public_log
from tasks.models.registry import read_registry
from warehouse.lake import open_lake
from warehouse.ledger.engine.leases.clock import read_lease_time, read_time
from warehouse.ledger.engine.logs.chain import Entry, add_entry, name_account
from warehouse.ledger.engine.moments import write_moment
from warehouse.ledger.engine.opening import open_ledger
from warehouse.ledger.exam import sittings as ledger_exam
from warehouse.ledger.exam.tokens import end_token, end_user_tokens
from warehouse.ledger.trust.users import read_user

# Imported within a function: what brings Polars, NumPy, asyncio or FastAPI. Not every command here needs it.

exam_app = typer.Typer(no_args_is_help=True)
exam_app.add_typer(user_app, name="user")
exam_app.add_typer(keys_app, name="keys")


@exam_app.command()
def plan(
    wished: RunOptions,
    target_se: Annotated[
        float | None,
        typer.Option(
            "--target-se",
            min=0.01,
            help="Plan sets that give S a standard error of so many points, and show what other sizes would come to.",
        ),
    ] = None,
) -> None:
    """Show what a run would be.

    It shows who is due and why, sets, sessions, calls, cost, and how long the bank lasts.

    Changes nothing. A candidate that the bank cannot serve is refused alone, with the numbers by discipline; exit code 3 when
    nobody can be served.

    With --target-se the sets have as many questions of each discipline as that error of S takes (Neyman's shares, by how far the
    last edition's answers lie apart). The settings stay: the last line says how to let the plan run as it is.

    Example: proctor exam plan --month 2026-12

    Example: proctor exam plan --target-se 1.0
    """
    # Other commands of this group do without what a plan is made with.
    from deployments.commands.exam.evaluate import preview

    summary = preview(wished.read(), target_se=target_se)
    grade = [] if summary is None else [_foresee_grade(summary["run_id"])]
    watch = _estimate_watch(read_month(wished.month))
    judging, controls = ([], []) if summary is None else _estimate_judging(summary)
    print_result(
        {}
        if summary is None
        else {**summary, "judging": judging, "anchors": watch, "controls": controls, "grade": grade[0]},
        lines=[
            *render_plan(summary),
            *render_judging(judging),
            *render_watch(watch),
            *render_controls(controls),
            *render_grade(grade),
        ],
        then=_name_next(summary, wished),
    )
    if summary is not None and not summary["candidates"]:
        raise typer.Exit(3)


def _name_next(summary: dict[str, Any] | None, wished: RunOptions) -> str:
    """What follows a plan: letting it run or, where nobody is due, naming a candidate."""
    if summary is None:
        return "proctor models shows who is registered"
    if not summary["candidates"]:
        return ""
    given = {
        "--month": wished.month,
        "--candidates": wished.candidates,
        "--outside": wished.outside,
        "--run": wished.run_id,
        "--repetition": wished.repetition,
        "--draw": str(wished.draw or ""),
    }
    options = [part for name, value in given.items() if value for part in (name, value)]
    flags = (["--renew-reference"] if wished.renew_reference else []) + (
        [] if wished.bridge else ["--no-bridge"]
    )
    target = summary.get("target")
    # The shares that were proposed hold for this run alone, unless proctor.toml takes them.
    shares = [] if target is None else [f"PROCTOR_SET_SHARES={json.dumps(summary['shares'])}"]
    return shlex.join([*shares, "proctor", "evaluate", *options, *flags])


def _estimate_watch(month: str) -> list[dict[str, Any]]:
    """What judging anchor responses again costs this month; nothing without lake or set."""
    from tasks.judging.calibration import estimate_watch

    settings = load_settings()
    with open_lake(settings, read_only=True) as lake:
        return estimate_watch(lake, settings, read_registry(settings.registry_path), month)


def _foresee_grade(run_id: str) -> dict[str, str]:
    """How the edition of a run will be attested, and what the next grade takes."""
    from tasks.editions import foresee_grade

    settings = load_settings()
    with open_ledger(settings.ledger_address) as ledger:
        grade, missing = foresee_grade(ledger, settings, run_id)
    return {"grade": grade, "next_takes": missing}


def _estimate_judging(summary: dict[str, Any]) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """What answers and control answers cost at each judge; nothing once there is an edition."""
    from tasks.judging import estimate_answers
    from tasks.judging.controls import estimate_controls

    settings = load_settings()
    with open_lake(settings, read_only=True) as lake:
        if summary["run_id"] in set(
            lake.run_named("editions_published", {"simulated": summary["is_simulated"]})["run_id"]
        ):
            return [], []
        registry = read_registry(settings.registry_path)
        is_simulated = summary["is_simulated"]
        counts, month = summary["calls_by_model"], summary["month"]
        return (
            estimate_answers(lake, settings, registry, counts, month, is_simulated=is_simulated),
            estimate_controls(lake, settings, registry, month, is_simulated=is_simulated),
        )


exam_app.command()(sit)


@exam_app.command()
def sessions(run_id: AnyRun = "") -> None:
    """List sessions with their state: allocated, pending, answered.

    Example: proctor exam sessions --run 2026-11
    """
    check_run(run_id)
    columns = (
        "session_id",
        "run_id",
        "model",
        "prompt_style",
        "repeat",
        "status",
        "answered_count",
        "question_count",
        "deadline_at",
        "close_reason",
    )
    with open_ledger(load_settings().ledger_address) as ledger, ledger.read() as connection:
        rows = [
            {name: getattr(row, name) for name in columns}
            for row in ledger_exam.list_sessions(connection, run_id=run_id or None)
        ]
    print_records(columns, rows)


@exam_app.command()
def close(
    target: Annotated[str, typer.Argument(help="A run, or one session.")],
    reason: Annotated[
        str, typer.Option("--reason", help="Why; kept with the sessions. Up to 200 characters.")
    ],
) -> None:
    """Close what is unfinished as it stands.

    Answers stay, and every question without one counts 0 stars.

    A closed session never opens again. Sessions past their deadline are closed by the next evaluate, judge or monthly.

    Example: proctor exam close 2026-11 --reason "the endpoint was shut down"
    """
    from tasks.exam.public.draws import disclose_closed_runs

    settings = load_settings()
    with open_ledger(settings.ledger_address) as ledger:
        note_keys(ledger, settings, open_signer(settings))
        report = force_close(ledger, target, reason)
        keep_head(ledger, settings)
        disclose_closed_runs(ledger, settings)
        refusal = keep_public_log(ledger, settings)
    if refusal is not None:
        print_note(f"Warning: {refusal}")
    lines = [
        f"Closed {say_count(len(report.session_ids), 'session')}; unanswered, with 0 points: {say_count(report.unanswered_count, 'question')} "
        f"({report.error_count} of them because their call had failed).",
        *(f"Run {run_id} is closed." for run_id in report.run_ids),
    ]
    print_result(asdict(report), lines=lines, then="proctor judge")


@exam_app.command()
def token(
    user_id: Annotated[str, typer.Argument(help="The user.")] = "",
    session_id: Annotated[str, typer.Option("--session", help="Session the token is for.")] = "",
    hours: Annotated[float, typer.Option("--hours", min=0, max=1_000_000, help="Life of the token.")] = 12.0,
    revoke: Annotated[str, typer.Option("--revoke", help="End a token: itself, or its id.")] = "",
    revoke_user: Annotated[
        str, typer.Option("--revoke-user", help="End every token that this user has.")
    ] = "",
) -> None:
    """Issue a token for a user, for example for an outside candidate's session, or end tokens.

    A token is printed once; keep it secret. It lives no longer than `PROCTOR_TOKEN_LONGEST_S`. What is ended is refused by
    servers that run within a second.

    Example: proctor exam token candidate:my-model --session SESSION --hours 48
    """
    if sum(map(bool, (user_id, revoke, revoke_user))) != 1:
        raise UsageError(
            "Name a user to issue a token to, or give one of --revoke TOKEN, --revoke-user USER."
        )
    settings = load_settings()
    if revoke or revoke_user:
        ended = _end_tokens(settings, revoke, revoke_user)
        print_result(ended, lines=["It has ended; servers that run know within a second."])
        return
    # Nobody gets a token that the audit log does not name.
    with open_ledger(settings.ledger_address) as ledger, ledger.write() as connection:
        user = read_user(connection, user_id)
        if user is None:
            raise UsageError(f"There is no user {user_id!r}; `proctor exam user list` names them.")
        if session_id and not ledger_exam.list_sessions(connection, session_id=session_id, user_id=user_id):
            raise UsageError(
                f"{user_id} has no session {session_id!r}; `proctor exam sessions` lists all. Practice takes a token without --session."
            )
        issued = issue_token(
            open_keys(settings),
            user_id,
            session_id or None,
            PERMISSIONS[user.role],
            int(hours * 3600),
            now=read_time(connection).now,
            issued_by=name_account(),
        )
        target = f"{user_id} {issued.token_id}"
        add_entry(
            connection, Entry("issue_token", session_id=session_id or None, target=target, is_by_caller=True)
        )
    print_result(
        {"token": issued.text, "token_id": issued.token_id, "expires_at": issued.expires_at},
        lines=[issued.text],
    )
    print_note(
        f"It ends {write_moment(issued.expires_at)}; before: proctor exam token --revoke {issued.token_id}"
    )


def _end_tokens(settings: Settings, token: str, user_id: str) -> dict[str, Any]:
    """End a token (itself or its id), or all tokens of a user; the audit log names it."""
    token_id = read_token_id(token) if token else None
    with open_ledger(settings.ledger_address) as ledger, ledger.write() as connection:
        if token_id is not None:
            end_token(connection, token_id, read_lease_time(connection))
        elif read_user(connection, user_id) is None:
            raise UsageError(f"There is no user {user_id!r}; `proctor exam user list` names them.")
        else:
            end_user_tokens(connection, user_id, read_lease_time(connection))
    return {"token_id": token_id, "user_id": user_id or None}


@exam_app.command()
def serve(
    port: Annotated[int, typer.Option("--port", help="Port on this machine.")] = 8700,
    docs: Annotated[bool, typer.Option("--docs", help="Show the API's description at /docs.")] = False,
    *,
    serving: ServingOptions,
) -> None:
    """Serve the exam API until interrupted.

    It opens the exam's side of the ledger only, and drops keys from its environment.

    Example: proctor exam serve --port 8700
    """
    from deployments.http import check_free, leave_secrets_behind, serve_exam

    listening = serving.listen(port)
    settings = load_settings()
    check_free("The exam API", serving.host, port)
    leave_secrets_behind(settings)
    serve_exam(settings, listening, has_docs=docs)


for _command in (audit, explain, enrol, receipt, verify, commit, share, draw, database, seal, trace):
    exam_app.command()(_command)
