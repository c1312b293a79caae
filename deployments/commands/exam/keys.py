"""The keys that sign tokens and logs: `exam keys …`; `exam database` for the exam API."""

from __future__ import annotations

import time
from typing import Annotated

import typer

from deployments.command_line.printing import print_note, print_records, print_result
from deployments.home import check_host, note_new_token_keys
from schemas.errors import UsageError
from schemas.settings import load_settings
from tasks.exam.log import confirm_keys, describe_token_keys, note_keys, rotate_log_key
from tasks.exam.log.signing import open_signer
from tasks.exam.protocol.tokens import open_keys, rotate_keys
from tasks.exam.public.log import keep_public_head
from warehouse.ledger.engine.exam_role import grant_role
from warehouse.ledger.engine.logs.chain import add_entry
from warehouse.ledger.engine.moments import write_moment
from warehouse.ledger.engine.opening import open_ledger
from warehouse.ledger.engine.sides import find_exam_address, find_ledger_file, show_address

keys_app = typer.Typer(no_args_is_help=True, help="The keys that sign the exam's tokens.")


@keys_app.command("list")
def list_keys() -> None:
    """List the keys by name: the one that signs, and former ones with their end.

    Secrets are not shown.

    Example: proctor exam keys list
    """
    rows = [
        {
            "key_id": key.key_id,
            "is_signing": key.ends_at is None,
            "made_at": write_moment(key.made_at),
            "ends_at": None if key.ends_at is None else write_moment(key.ends_at),
        }
        for key in open_keys(load_settings()).read().keys
    ]
    print_records(["key_id", "is_signing", "made_at", "ends_at"], rows)


@keys_app.command()
def rotate(
    now: Annotated[
        bool, typer.Option("--now", help="End the former keys, and with them every token, at once.")
    ] = False,
) -> None:
    """Sign with a new key.

    What the former key signed is believed until the last of its tokens has expired.

    Servers that run notice it within a second. With `--now`, for a key that others may have seen, everybody asks for a new token.

    Example: proctor exam keys rotate
    """
    settings = load_settings()
    check_host(settings)
    keys = rotate_keys(settings, ends_former=now, now=time.time())
    with open_ledger(settings.ledger_address) as ledger:
        note_new_token_keys(settings, ledger)
        note_keys(ledger, settings, open_signer(settings))
        with ledger.write() as connection:
            add_entry(connection, describe_token_keys("rotate_keys", keys))
    former = [
        {"key_id": key.key_id, "ends_at": None if key.ends_at is None else write_moment(key.ends_at)}
        for key in keys.keys[1:]
    ]
    lines = [
        f"Key {keys.present.key_id} signs from now on.",
        *(f"Key {key['key_id']} is believed until {key['ends_at']}." for key in former),
        *(["Every earlier token has ended."] if now else []),
    ]
    print_result({"key_id": keys.present.key_id, "former": former}, lines=lines)


@keys_app.command("rotate-log")
def rotate_log(
    signer: Annotated[
        str, typer.Option("--signer", help="Who holds the new key: agent, agent:SOCKET, command:PROGRAM.")
    ] = "",
    public_key: Annotated[
        str, typer.Option("--public-key", help="The new key, where somebody holds it.")
    ] = "",
) -> None:
    """Let a new key sign heads and receipts: one in this home, or one that somebody holds.

    The public log announces it, signed by both keys; what the former signs after that counts for nothing. Servers that run take a
    key in this home by themselves; for one that somebody holds start them again. Delete the former key wherever it lies.

    Example: proctor exam keys rotate-log

    Example: proctor exam keys rotate-log --signer agent --public-key "$(cat log-key.pub)"
    """
    settings = load_settings()
    check_host(settings)
    with open_ledger(settings.ledger_address) as ledger:
        former, new = rotate_log_key(ledger, settings, signer or None, public_key or None)
        # With the new key, whatever the settings of this process say.
        kept = settings.model_copy(
            update={"log_signer": signer or None, "log_public_key": public_key or None}
        )
        keep_public_head(ledger, kept)
    lines = [
        f"Key {new.key_id} signs from now on; what key {former.key_id} signs after this counts for nothing.",
        *(
            [
                "Now, before any other command: proctor settings set log_signer, and log_public_key, with what was given here."
            ]
            if signer
            else ["Unset log_signer and log_public_key before any other command."]
            if settings.log_signer is not None
            else []
        ),
    ]
    print_result({"key_id": new.key_id, "former": former.key_id}, lines=lines)


@keys_app.command()
def confirm() -> None:
    """Confirm that the key files of this home are as they should be.

    This is needed after somebody replaced or deleted one by hand.

    Until then `proctor exam audit` names the change. The audit log says who confirmed it.

    Example: proctor exam keys confirm
    """
    settings = load_settings()
    with open_ledger(settings.ledger_address) as ledger:
        confirm_keys(ledger, settings)
        note_new_token_keys(settings, ledger)
    print_result({"is_confirmed": True}, lines=["The audit log names the keys of this home."])


def database(
    role: Annotated[
        str, typer.Option("--role", help="On PostgreSQL: the role of the exam API, made or granted again.")
    ] = "",
) -> None:
    """Make the exam's database ready for `exam serve`.

    It is what `exam serve` opens, without answers, reviews, judgements, seeds and keys.

    On SQLite it is a file beside the ledger, which any command makes. On PostgreSQL it is a role that may use the exam's tables
    only: run this as the ledger's owner, again after an upgrade. The URL to serve with is printed once, when the role is made.

    Example: proctor exam database --role proctor_exam
    """
    settings = load_settings()
    if (find_ledger_file(settings.ledger_address) is None) is not bool(role):
        raise UsageError(
            "--role is for a ledger on PostgreSQL; this one is a file, and the exam's database is a file beside it."
            if role
            else "The ledger is on a server: name the role that `exam serve` is to use with --role."
        )
    with open_ledger(settings.ledger_address) as ledger:
        if not role:
            address = find_exam_address(settings)
            print_result(
                {"database": show_address(address)},
                lines=[
                    f"The exam's database is {show_address(address)}; `proctor exam serve` opens it alone."
                ],
                then="proctor exam serve",
            )
            return
        granted = grant_role(ledger, role)
    lines = [f"The role {granted.name} may use the exam's tables, and nothing else of the ledger."]
    if granted.is_new:
        lines.append(f"PROCTOR_EXAM_DATABASE_URL={granted.address}")
    print_result(
        {"role": granted.name, "is_new": granted.is_new, "url": granted.address if granted.is_new else None},
        lines=lines,
    )
    if granted.is_new:
        print_note(
            "The URL holds the role's password and is not shown again: set it where `proctor exam serve` runs."
        )
