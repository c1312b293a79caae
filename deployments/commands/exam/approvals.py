"""Two pairs of eyes: approvals list|show|approve|refuse."""

from __future__ import annotations

from typing import Annotated

import typer

from deployments.auth import check_password
from deployments.command_line.printing import ask, print_records, print_result
from schemas.errors import ExamError, UsageError
from schemas.ledger.trust import Approval
from schemas.settings import load_settings
from tasks.exam.log import note_keys
from tasks.exam.log.signing import open_signer
from tasks.exam.public.log import keep_public_log
from tasks.running import approvals as deciding
from tasks.running.approvals import name_state
from warehouse.ledger.engine.opening import open_ledger
from warehouse.ledger.trust import approvals, users
from warehouse.ledger.trust.approvals import list_approvals, read_approval

approvals_app = typer.Typer(no_args_is_help=True)
Number = Annotated[int, typer.Argument(help="Number of the request.", metavar="REQUEST")]
User = Annotated[
    str,
    typer.Option("--as", help="Your user, an examiner or admin; its password is asked for on the terminal."),
]


@approvals_app.command("list")
def list_all(
    every: Annotated[bool, typer.Option("--all", help="Decided and expired ones, too.")] = False,
) -> None:
    """List the requests that wait for a second person, and approvals that were not used yet.

    Example: proctor approvals list
    """
    with open_ledger(load_settings().ledger_address) as ledger, ledger.read() as connection:
        found = list_approvals(connection)
    rows = [_describe(one) for one in found if every or name_state(one) in ("asked", "approved")]
    names = [
        "approval_id",
        "what",
        "target",
        "state",
        "asked_by",
        "stood_by",
        "asked_at",
        "expires_at",
        "decided_by",
    ]
    print_records(names, [{name: row[name] for name in names} for row in rows])


@approvals_app.command()
def show(request: Number) -> None:
    """Show what exactly is asked, by whom, and how it stands.

    Example: proctor approvals show 3
    """
    with open_ledger(load_settings().ledger_address) as ledger, ledger.read() as connection:
        found = read_approval(connection, request)
    if found is None:
        raise UsageError(f"There is no request {request}. `proctor approvals list --all` lists them.")
    print_result(_describe(found))


@approvals_app.command()
def approve(request: Number, user_id: User) -> None:
    """Agree to exactly what is asked, as a person other than the one who asked.

    Then the one who asked does so again, and it is done.

    Look at it first (`proctor approvals show`). Where a command or a schedule asked, nobody is known to have: the first who
    approves answers for the request, and a second person approves it.

    Example: proctor approvals approve 3 --as otto
    """
    _decide(request, user_id, is_approved=True)


@approvals_app.command()
def refuse(request: Number, user_id: User) -> None:
    """Refuse what is asked, or take back an approval that was not used.

    Example: proctor approvals refuse 3 --as otto
    """
    _decide(request, user_id, is_approved=False)


def _decide(request: int, user_id: str, *, is_approved: bool) -> None:
    settings = load_settings()
    password = ask(f"Password of {user_id}", hide_input=True)
    action = approvals.APPROVE if is_approved else approvals.REFUSE
    with open_ledger(settings.ledger_address) as ledger:
        with ledger.read() as connection:
            stored = users.read_password_hash(connection, user_id)
            known = None if users.read_user(connection, user_id) is None else user_id
        is_right = check_password(stored, password)
        note_keys(ledger, settings, open_signer(settings))
        try:
            if not is_right:
                known = None
                raise ExamError(401, "password_wrong", "The user or the password is wrong.")
            with ledger.write() as connection:
                # The password that was shown must be the user's still.
                if users.read_password_hash(connection, user_id, is_held=True) != stored:
                    raise ExamError(401, "password_wrong", "The user or the password is wrong.")
                if is_approved:
                    decided = deciding.approve(connection, request, user_id, settings.approval_days)
                else:
                    decided = deciding.refuse(connection, request, user_id)
        except ExamError as error:
            with ledger.write() as connection:
                deciding.note_refused(connection, action, known, request, error)
            raise
        keep_public_log(ledger, settings)
    line = f"Request {request} ({decided.what} {decided.target}) is {decided.state}."
    if decided.state == "asked":
        line = f"{user_id} answers for request {request} now. {deciding.describe_wait(decided)}"
    elif decided.state == "approved":
        line += f" It is done by asking for the same again, once, until {decided.expires_at[:16]} UTC."
    print_result(_describe(decided), lines=[line])


def _describe(approval: Approval) -> dict[str, object]:
    return approval.as_values() | {"state": name_state(approval)}
