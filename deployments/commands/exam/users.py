"""Users of the exam and of the review: exam user add|password|role|deactivate|list."""

from __future__ import annotations

import sys
from dataclasses import asdict, fields
from typing import Annotated, Any

import typer

from deployments.auth import find_weakness, hash_password
from deployments.command_line.printing import ask, is_json, print_note, print_records, print_result
from schemas.errors import UsageError
from schemas.settings import load_settings
from schemas.vocabulary import check_discipline
from tasks.models.registry import read_registry, register_owners
from warehouse.ledger.engine.ledger import Ledger
from warehouse.ledger.engine.moments import now_text
from warehouse.ledger.engine.opening import open_ledger
from warehouse.ledger.trust.users import (
    User,
    add_user,
    list_users,
    read_user,
    write_activity,
    write_password_hash,
    write_role,
)

user_app = typer.Typer(no_args_is_help=True, help="Users of the exam and of the review.")


@user_app.command("add")
def add(
    user_id: Annotated[str, typer.Argument(help="Name of the user.")],
    role: Annotated[str, typer.Option("--role", help="admin, examiner, candidate, annotator or analyst.")],
    organisation: Annotated[str, typer.Option("--organisation", help="Owner, for candidates.")] = "",
    model: Annotated[str, typer.Option("--model", help="Registry name, for candidates.")] = "",
    discipline: Annotated[
        list[str] | None,
        typer.Option(
            "--discipline", help="Discipline an annotator reviews; repeat for several. Default: all."
        ),
    ] = None,
    with_password: Annotated[
        bool, typer.Option("--password", help="Ask for a password on the terminal.")
    ] = False,
) -> None:
    """Add a user; an annotator is given the disputes that nobody else could settle.

    Example: proctor exam user add zhang --role annotator --discipline History --discipline Law
    """
    _check_disciplines(discipline)
    password_hash = _ask_password(user_id) if with_password else None
    settings = load_settings()
    with open_ledger(settings.ledger_address) as ledger:
        if organisation and settings.registry_path.exists():
            register_owners(ledger, read_registry(settings.registry_path))
        with ledger.write() as connection:
            user = add_user(
                connection,
                user_id=user_id,
                role=role,
                organisation=organisation or None,
                model=model or None,
                disciplines=discipline,
                password_hash=password_hash,
            )
        count = _give_disputes(ledger) if role == "annotator" else 0
    if count and not is_json():
        print_note(f"Given to them or others: {count} questions on which the annotators differ.")
    then = {"annotator": "proctor review assign", "candidate": f"proctor exam token {user_id}"}.get(role, "")
    print_result(asdict(user), then=then)


@user_app.command()
def password(user_id: Annotated[str, typer.Argument(help="The user.")]) -> None:
    """Set a user's password; the user's tokens end.

    The password is asked for on the terminal and stored as a hash.

    Example: proctor exam user password zhang
    """
    with open_ledger(load_settings().ledger_address) as ledger:
        with ledger.read() as connection:
            if read_user(connection, user_id) is None:
                raise UsageError(
                    f"There is no user {user_id!r}. `proctor exam user list` shows those that exist."
                )
        hashed = _ask_password(user_id)
        with ledger.write() as connection:
            write_password_hash(connection, user_id, hashed)
    print_result({"user_id": user_id, "has_password": True})


@user_app.command()
def role(
    user_id: Annotated[str, typer.Argument(help="The user.")],
    new_role: Annotated[str, typer.Argument(help="admin, examiner, annotator or analyst.")],
    discipline: Annotated[
        list[str] | None,
        typer.Option(
            "--discipline",
            help="Discipline an annotator reviews; repeat for several. Default: as before, and all for who reviewed none.",
        ),
    ] = None,
) -> None:
    """Give a person another role. Their tokens end, and they sign in again.

    Example: proctor exam user role zhang annotator --discipline Law
    """
    _check_disciplines(discipline)
    with open_ledger(load_settings().ledger_address) as ledger, ledger.write() as connection:
        write_role(connection, user_id, new_role, disciplines=discipline)
    print_result({"user_id": user_id, "role": new_role})


@user_app.command()
def deactivate(
    user_id: Annotated[str, typer.Argument(help="The user.")],
    undo: Annotated[bool, typer.Option("--undo", help="Admit the user again.")] = False,
) -> None:
    """Shut a user out, from the next call on; nothing of theirs is deleted.

    Their tokens end for good.

    Example: proctor exam user deactivate zhang
    """
    with open_ledger(load_settings().ledger_address) as ledger, ledger.write() as connection:
        write_activity(connection, user_id, is_active=undo)
    print_result({"user_id": user_id, "is_active": undo})


@user_app.command("list")
def list_all() -> None:
    """List users with role, organisation and disciplines.

    Example: proctor exam user list
    """
    with open_ledger(load_settings().ledger_address) as ledger, ledger.read() as connection:
        rows = [asdict(user) for user in list_users(connection)]
    rows = [row | {"disciplines": _name_disciplines(row)} for row in rows]
    print_records([field.name for field in fields(User)], rows)


def _give_disputes(ledger: Ledger) -> int:
    """How many disputes of open batches found somebody to settle them."""
    from tasks.review import list_open_batches
    from tasks.review.recording import assign_adjudicators

    batches = [one.batch_id for one in list_open_batches(ledger)]
    return sum(assign_adjudicators(ledger, one, now_text()).assigned_count for one in batches)


def _ask_password(user_id: str) -> str:
    """The hash of a password asked for until strong and typed twice; UsageError for nobody."""
    while True:
        chosen = ask("Password", hide_input=True)
        weakness = find_weakness(chosen, user_id)
        if weakness is None and ask("Repeat it", hide_input=True) == chosen:
            return hash_password(chosen)
        fault = "The two differ. Type the same one twice." if weakness is None else weakness.sentence
        if not sys.stdin.isatty():
            raise UsageError(fault)
        print_note(fault)


def _check_disciplines(names: list[str] | None) -> None:
    for name in names or []:
        check_discipline(name)


def _name_disciplines(row: dict[str, Any]) -> str | None:
    """An annotator without a list reviews every discipline; others review none."""
    if row["disciplines"]:
        return ", ".join(row["disciplines"])
    if row["role"] != "annotator":
        return None
    return "all" if row["disciplines"] is None else "none"
