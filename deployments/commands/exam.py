"""The exam: evaluate, monthly, models, and `exam plan|sit|sessions|token|audit|serve|user`."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from deployments.commands.options import AnyRun, AsJson, Month, NoServer, Run, read_month

exam_app = typer.Typer(no_args_is_help=True, help="Plan and serve the exam; users, tokens and sessions.")
user_app = typer.Typer(no_args_is_help=True, help="Users of the exam and of the review.")

_MODEL_COLUMNS = (
    "model",
    "organisation",
    "family",
    "released",
    "roles",
    "mode",
    "input_price_usd",
    "output_price_usd",
    "key_variable",
    "has_key",
    "is_simulated",
)

Candidates = Annotated[
    str,
    typer.Option(
        "--candidates", help="Names from the registry, comma separated. Default: those that are due."
    ),
]

Outside = Annotated[
    str,
    typer.Option(
        "--outside", help="Candidates that sit through the exam API with their own client, comma separated."
    ),
]


def add_commands(app: typer.Typer) -> None:
    """Register this module's commands."""
    app.command()(evaluate)
    app.command()(monthly)
    app.command()(models)
    exam_app.add_typer(user_app, name="user")
    app.add_typer(exam_app, name="exam")


def evaluate(
    month: Month = "",
    candidates: Candidates = "",
    outside: Outside = "",
    run_id: Run = "",
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask before calls are paid for.")] = False,
    no_server: NoServer = False,
    as_json: AsJson = False,
) -> None:
    """Let the due candidates sit the month's exam: the plan is shown first, then it runs; it resumes where it stopped.

    Exit code 1 when a session stayed open (an endpoint that failed); run it again and it continues.

    Example: proctor evaluate --month 2026-11 --yes
    """
    _run_exam(
        "evaluate",
        month,
        candidates,
        run_id,
        outside=outside,
        yes=yes,
        no_server=no_server,
        as_json=as_json,
    )


def monthly(
    month: Month = "",
    candidates: Candidates = "",
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask before calls are paid for.")] = False,
    no_server: NoServer = False,
    as_json: AsJson = False,
) -> None:
    """The whole exam of a month: evaluate, judge, report.

    Example: proctor monthly --month 2026-11 --yes
    """
    _run_exam("monthly", month, candidates, "", yes=yes, no_server=no_server, as_json=as_json)


def models(as_json: AsJson = False) -> None:
    """List the registry: candidates, judges, prices, and whether each key variable is set (never the key).

    Example: proctor models
    """
    import os

    from deployments.output import print_note, print_records
    from schemas.settings import load_settings
    from tasks.models.registry import read_registry

    registry = read_registry(load_settings().registry_path)
    rows = [
        {
            "model": model.name,
            "organisation": model.organisation,
            "family": model.family,
            "released": None if model.release_date is None else model.release_date.isoformat(),
            "roles": " ".join(model.roles),
            "mode": model.mode,
            "input_price_usd": model.input_price_usd,
            "output_price_usd": model.output_price_usd,
            "key_variable": model.key_variable,
            "has_key": model.key_variable is None or bool(os.environ.get(model.key_variable)),
            "is_simulated": model.is_simulated,
        }
        for model in registry.models.values()
    ]
    print_records(_MODEL_COLUMNS, rows, as_json=as_json)
    if not as_json:
        print_note(f"Registry: {registry.path}. Next: proctor exam plan")


@exam_app.command()
def plan(
    month: Month = "", candidates: Candidates = "", outside: Outside = "", as_json: AsJson = False
) -> None:
    """Show what a run would be: sets, sessions, calls, cost, sets left per organisation. Changes nothing.

    Exit code 3 when the bank cannot satisfy it.

    Example: proctor exam plan --month 2026-12
    """
    from deployments.output import print_result

    summary = _preview(read_month(month), candidates, None, outside)
    print_result(summary or {}, as_json=as_json, lines=_render_plan(summary), then="proctor evaluate")


@exam_app.command()
def sit(
    run_id: Annotated[str, typer.Argument(help="The run.")],
    no_server: NoServer = False,
    as_json: AsJson = False,
) -> None:
    """Continue a planned run: every in-house session that is not closed.

    Example: proctor exam sit 2026-11
    """
    from deployments.flow_runner import run_flow
    from deployments.output import print_result

    check_registry()
    check_run(run_id)
    result = run_flow("evaluate", without_server=no_server, run_id=run_id)
    print_result(result, as_json=as_json, lines=_render_exam(result), then=f"proctor judge --run {run_id}")
    if result["open_sessions"]:
        raise typer.Exit(1)


@exam_app.command()
def sessions(run_id: AnyRun = "", as_json: AsJson = False) -> None:
    """List sessions with their state: allocated, pending, answered.

    Example: proctor exam sessions --run 2026-11
    """
    from deployments.output import print_records
    from schemas.settings import load_settings
    from warehouse.ledger import exam as ledger_exam
    from warehouse.ledger.engine import open_ledger

    columns = (
        "session_id",
        "run_id",
        "model",
        "prompt_style",
        "repeat",
        "status",
        "answered_count",
        "question_count",
    )
    with open_ledger(load_settings().ledger_address) as ledger, ledger.read() as connection:
        rows = [
            {name: row[name] for name in columns}
            for row in ledger_exam.list_sessions(connection, run_id=run_id or None)
        ]
    print_records(columns, rows, as_json=as_json)


@exam_app.command()
def token(
    user_id: Annotated[str, typer.Argument(help="The user.")],
    session_id: Annotated[str, typer.Option("--session", help="Session the token is for.")] = "",
    hours: Annotated[float, typer.Option("--hours", help="Life of the token.")] = 12.0,
    as_json: AsJson = False,
) -> None:
    """Issue a token for a user, for example for an outside candidate's session. It is printed once; keep it secret.

    Example: proctor exam token candidate:my-model --session SESSION --hours 48
    """
    from deployments.output import print_result
    from schemas.errors import UsageError
    from schemas.settings import load_settings
    from tasks.exam.protocol.tokens import PERMISSIONS, issue_token, read_secret
    from warehouse.ledger.engine import open_ledger
    from warehouse.ledger.users import read_user

    settings = load_settings()
    with open_ledger(settings.ledger_address) as ledger, ledger.read() as connection:
        user = read_user(connection, user_id)
    if user is None:
        raise UsageError(f"There is no user {user_id!r}; `proctor exam user list` names them.")
    value = issue_token(
        read_secret(settings), user_id, session_id or None, PERMISSIONS[user.role], int(hours * 3600)
    )
    print_result({"token": value}, as_json=as_json, lines=[value])


@exam_app.command()
def audit(as_json: AsJson = False) -> None:
    """Check the access log: every session's hash chain, its head and its daily anchors. Exit code 1 when one is broken.

    Example: proctor exam audit
    """
    from dataclasses import asdict

    from deployments.output import print_result, render_value
    from schemas.settings import load_settings
    from warehouse.ledger.access import verify_access_log
    from warehouse.ledger.engine import open_ledger

    with open_ledger(load_settings().ledger_address) as ledger, ledger.read() as connection:
        faults = [asdict(fault) for fault in verify_access_log(connection)]
    lines = [render_value(fault) for fault in faults] or ["The access log is whole."]
    print_result({"faults": faults}, as_json=as_json, lines=lines)
    if faults:
        raise typer.Exit(1)


@exam_app.command()
def serve(
    port: Annotated[int, typer.Option("--port", help="Port on this machine.")] = 8700,
    host: Annotated[
        str, typer.Option("--host", help="Address to listen on; put TLS in front of anything else.")
    ] = "127.0.0.1",
    certificate: Annotated[str, typer.Option("--certificate", help="TLS certificate (PEM).")] = "",
    certificate_key: Annotated[str, typer.Option("--certificate-key", help="Its key (PEM).")] = "",
) -> None:
    """Serve the exam API until interrupted. It opens the ledger only, never the lake.

    Example: proctor exam serve --port 8700
    """
    from pathlib import Path

    from deployments.exam_server import serve_exam
    from schemas.errors import UsageError
    from schemas.settings import load_settings

    for option, file in (("--certificate", certificate), ("--certificate-key", certificate_key)):
        if file and not Path(file).is_file():
            raise UsageError(f"The file {file} of {option} does not exist.")
    serve_exam(load_settings(), host, port, certificate=certificate or None, key=certificate_key or None)


@user_app.command("add")
def add(
    user_id: Annotated[str, typer.Argument(help="Name of the user.")],
    role: Annotated[str, typer.Option("--role", help="admin, examiner, candidate, annotator or analyst.")],
    organisation: Annotated[str, typer.Option("--organisation", help="Owner, for candidates.")] = "",
    model: Annotated[str, typer.Option("--model", help="Registry name, for candidates.")] = "",
    discipline: Annotated[
        list[str] | None,
        typer.Option("--discipline", help="Discipline an annotator reviews; repeat for several."),
    ] = None,
    with_password: Annotated[
        bool, typer.Option("--password", help="Ask for a password on the terminal.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Add a user.

    Example: proctor exam user add zhang --role annotator --discipline History --discipline Law
    """
    from dataclasses import asdict

    from deployments.output import print_result
    from schemas.errors import UsageError
    from schemas.settings import load_settings
    from schemas.vocabulary import DISCIPLINES
    from warehouse.ledger.engine import open_ledger
    from warehouse.ledger.users import add_user

    for name in discipline or []:
        if name not in DISCIPLINES:
            raise UsageError(f"Discipline {name!r} is unknown; use one of {', '.join(DISCIPLINES)}.")
    password_hash = None
    if with_password:
        from argon2 import PasswordHasher

        password_hash = PasswordHasher().hash(
            typer.prompt("Password", hide_input=True, confirmation_prompt=True)
        )
    with open_ledger(load_settings().ledger_address) as ledger, ledger.write() as connection:
        user = add_user(
            connection,
            user_id=user_id,
            role=role,
            organisation=organisation or None,
            model=model or None,
            disciplines=discipline,
            password_hash=password_hash,
        )
    then = {"annotator": "proctor review assign", "candidate": f"proctor exam token {user_id}"}.get(role, "")
    print_result(asdict(user), as_json=as_json, then=then)


@user_app.command()
def password(user_id: Annotated[str, typer.Argument(help="The user.")], as_json: AsJson = False) -> None:
    """Set a user's password; it is asked for on the terminal and stored as a hash.

    Example: proctor exam user password zhang
    """
    from deployments.exam_api.passwords import hash_password
    from deployments.output import print_result
    from schemas.settings import load_settings
    from warehouse.ledger.engine import open_ledger
    from warehouse.ledger.users import write_password_hash

    hashed = hash_password(typer.prompt("Password", hide_input=True, confirmation_prompt=True))
    with open_ledger(load_settings().ledger_address) as ledger, ledger.write() as connection:
        write_password_hash(connection, user_id, hashed)
    print_result({"user_id": user_id, "has_password": True}, as_json=as_json)


@user_app.command()
def deactivate(
    user_id: Annotated[str, typer.Argument(help="The user.")],
    undo: Annotated[bool, typer.Option("--undo", help="Admit the user again.")] = False,
    as_json: AsJson = False,
) -> None:
    """Shut a user out, from the next call on; nothing of theirs is deleted.

    Example: proctor exam user deactivate zhang
    """
    from deployments.output import print_result
    from schemas.settings import load_settings
    from warehouse.ledger.engine import open_ledger
    from warehouse.ledger.users import write_activity

    with open_ledger(load_settings().ledger_address) as ledger, ledger.write() as connection:
        write_activity(connection, user_id, is_active=undo)
    print_result({"user_id": user_id, "is_active": undo}, as_json=as_json)


@user_app.command("list")
def list_all(as_json: AsJson = False) -> None:
    """List users with role, organisation and disciplines.

    Example: proctor exam user list
    """
    from dataclasses import asdict, fields

    from deployments.output import print_records
    from schemas.settings import load_settings
    from warehouse.ledger.engine import open_ledger
    from warehouse.ledger.users import User, list_users

    with open_ledger(load_settings().ledger_address) as ledger, ledger.read() as connection:
        rows = [asdict(user) for user in list_users(connection)]
    rows = [row | {"disciplines": ", ".join(row["disciplines"] or [])} for row in rows]
    print_records([field.name for field in fields(User)], rows, as_json=as_json)


def check_registry(names: list[str] | None = None) -> None:
    """Read the registry, and look the models up in it, before anything is started."""
    from schemas.settings import load_settings
    from tasks.models.registry import read_registry

    registry = read_registry(load_settings().registry_path)
    for name in names or []:
        registry.get(name)


def check_run(run_id: str) -> None:
    """Refuse a run that does not exist before anything is started; an empty id means every run."""
    from schemas.settings import load_settings
    from tasks.exam import month
    from warehouse.lake.store import open_lake
    from warehouse.ledger.engine import open_ledger

    if not run_id:
        return
    settings = load_settings()
    with open_ledger(settings.ledger_address) as ledger, open_lake(settings, read_only=True) as lake:
        month.check_run(ledger, lake, run_id)


def _run_exam(
    flow: str,
    month: str,
    candidates: str,
    run_id: str,
    *,
    yes: bool,
    no_server: bool,
    as_json: bool,
    outside: str = "",
) -> None:
    import sys

    from deployments.flow_runner import run_flow
    from deployments.output import print_note, print_result

    month = read_month(month)
    summary = _preview(month, candidates, run_id or None, outside)
    for line in _render_plan(summary):
        print_note(line)
    if summary is not None and not yes and not summary["is_published"] and sys.stdin.isatty() and not as_json:
        typer.confirm("Run it?", abort=True)
    parameters: dict[str, Any] = {"month": month, "candidates": _split(candidates)}
    if flow == "evaluate":
        parameters |= {"run_id": run_id, "outside": _split(outside)}
    result = run_flow(flow, without_server=no_server, **parameters)
    if not result["run_id"]:
        then = "proctor models shows who is registered"
    else:
        then = f"proctor judge --run {result['run_id']}" if flow == "evaluate" else "proctor sql leaderboard"
    print_result(result, as_json=as_json, lines=_render_exam(result), then=then)
    if result["open_sessions"] or result.get("failed_judgements"):
        raise typer.Exit(1)


def _preview(month: str, candidates: str, run_id: str | None, outside: str) -> dict[str, Any] | None:
    from schemas.settings import load_settings
    from tasks.exam.month import preview_month
    from warehouse.lake.store import open_lake
    from warehouse.ledger.engine import open_ledger

    settings = load_settings()
    with open_ledger(settings.ledger_address) as ledger, open_lake(settings, read_only=True) as lake:
        found = preview_month(
            ledger,
            lake,
            settings,
            month=month,
            candidates=_split(candidates),
            outside=_split(outside) or (),
            run_id=run_id,
        )
        return None if found is None else found.summary()


def _render_plan(summary: dict[str, Any] | None) -> list[str]:
    from deployments.output import render_value

    if summary is None:
        return ["Nobody is due this month; name candidates with --candidates to examine them again."]
    lines = [
        f"Run {summary['run_id']} ({'published' if summary['is_published'] else 'planned'}"
        f"{', simulated' if summary['is_simulated'] else ''}): bank version {summary['bank_version']}, "
        f"policy {summary['policy']}, reference {summary['reference_model']}",
        f"  {len(summary['sets'])} sets of {sum(summary['shares'].values())} questions, "
        f"{summary['session_count']} sessions ({summary['reference_session_count']} of the reference), "
        f"{summary['call_count']} calls, about ${summary['cost_usd']:.2f}"
        + ("" if summary["budget_usd"] is None else f" of a budget of ${summary['budget_usd']:.2f}"),
        f"  candidates: {', '.join(summary['candidates'])}",
    ]
    if summary["unpriced"]:
        lines.append(f"  without a price, counted as 0: {', '.join(summary['unpriced'])}")
    for organisation, left in summary["sets_left"].items():
        fewest = min(left.values(), default=0)
        lines.append(f"  sets left for {organisation}: {fewest} ({render_value(left)})")
    return lines


def _render_exam(result: dict[str, Any]) -> list[str]:
    """What was sat, judged and landed; sessions that stayed open are counted by their cause, not listed one by one."""
    from collections import Counter

    from deployments.output import render_entries

    left_open = result["open_sessions"]
    lines = render_entries({name: value for name, value in result.items() if name != "open_sessions"})
    if not left_open:
        return lines
    lines.append(f"Sessions that stayed open: {len(left_open)}")
    for reason, count in Counter(str(session["reason"]) for session in left_open).most_common():
        models = sorted({str(session["model"]) for session in left_open if session["reason"] == reason})
        lines.append(f"  {count} of {', '.join(models)}: {reason}")
    return lines


def _split(candidates: str) -> list[str] | None:
    names = [name.strip() for name in candidates.split(",") if name.strip()]
    return names or None
