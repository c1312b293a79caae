"""Encryption at rest: encryption new-key|status|on|rotate|off."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from deployments.command_line import print_result
from deployments.commands.options import AsJson
from deployments.home import describe_encryption
from schemas.settings import load_settings
from tasks.running import Progress
from warehouse.encryption import add_key, decrypt_home, encrypt_home, renew_home, require_key_ring

encryption_app = typer.Typer(
    no_args_is_help=True, help="Encrypt originals and backups with keys that lie outside the home."
)


def add_commands(app: typer.Typer) -> None:
    """Register this module's commands."""
    app.add_typer(encryption_app, name="encryption")


@encryption_app.command("new-key")
def new_key(
    file: Annotated[Path, typer.Argument(help="The key file: made, or given one key more.")],
    as_json: AsJson = False,
) -> None:
    """Make a key and add it to a file outside the home; it encrypts from now on, and the former ones still decrypt.

    Keep a copy of the file where neither the home nor its backups lie: without it nobody can read them.

    Example: proctor encryption new-key /etc/proctor/keys.json
    """
    key = add_key(load_settings(), file)
    print_result(
        {"key_id": key.key_id, "file": str(file)},
        as_json=as_json,
        lines=[f"Key {key.key_id} is in {file}. Keep a copy of that file in another place than the backups."],
        then="PROCTOR_ENCRYPTION_KEY_FILE set to it, then proctor encryption on (or rotate)",
    )


@encryption_app.command()
def status(as_json: AsJson = False) -> None:
    """Say which keys are given, how many files each has encrypted, and what is plain. Keys are not shown.

    Example: proctor encryption status
    """
    found = describe_encryption(load_settings())
    lines = [f"Originals are {'encrypted' if found['is_on'] else 'not encrypted'}."]
    for key in found["keys"]:
        what = "encrypts" if key["encrypts"] else "decrypts only" if key["is_given"] else "is not given"
        made = f", made {key['made_at'][:10]}" if key["made_at"] else ""
        lines.append(f"Key {key['key_id']} {what}{made}: {key['file_count']} files.")
    for count, word in (
        (found["plain_count"], "plain"),
        (found["damaged_count"], "damaged"),
        (found["half_done_count"], "half done"),
    ):
        if count:
            lines.append(f"{count} files are {word}.")
    lake = "The lake's files are encrypted with keys of its catalog." if found["is_lake_encrypted"] else ""
    others = "Ledger, catalog and secrets" if lake else "Ledger, lake and secrets"
    lines += [*([lake] if lake else []), f"{others} are encrypted in backups, and else by the disk alone."]
    print_result(found, as_json=as_json, lines=lines)


@encryption_app.command()
def on(as_json: AsJson = False) -> None:
    """Encrypt originals and pictures of their pages from now on, and those that lie there. Continues after a kill.

    Example: proctor encryption on
    """
    settings = load_settings()
    ring = require_key_ring(settings, "Originals are to be encrypted")
    with Progress("encryption on: files") as progress:
        count = encrypt_home(settings, ring, progress.reach)
    print_result(
        {"key_id": ring.newest.key_id, "encrypted_count": count},
        as_json=as_json,
        lines=[f"{count} files were encrypted with key {ring.newest.key_id}; new ones will be."],
    )


@encryption_app.command()
def rotate(as_json: AsJson = False) -> None:
    """Encrypt with the newest key what has an older one. Continues after a kill.

    Backups stay as they are: keep the older keys in the file for as long as you keep backups that were made with them.

    Example: proctor encryption rotate
    """
    settings = load_settings()
    ring = require_key_ring(settings, "What is encrypted is to be given the newest key")
    with Progress("encryption rotate: files") as progress:
        count = renew_home(settings, ring, progress.reach)
    print_result(
        {"key_id": ring.newest.key_id, "renewed_count": count},
        as_json=as_json,
        lines=[f"{count} files had an older key and have {ring.newest.key_id} now."],
    )


@encryption_app.command()
def off(as_json: AsJson = False) -> None:
    """Keep originals plain from now on, and decrypt those that lie there. Continues after a kill.

    Example: proctor encryption off
    """
    settings = load_settings()
    ring = require_key_ring(settings, "What is encrypted is to be decrypted")
    with Progress("encryption off: files") as progress:
        count = decrypt_home(settings, ring, progress.reach)
    print_result(
        {"decrypted_count": count},
        as_json=as_json,
        lines=[f"{count} files were decrypted; new ones are plain."],
    )
