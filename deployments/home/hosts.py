"""The hosts of an installation and what they share.

What they share is noted by the first host, and a host that has it otherwise is refused. Asked before a flow, a worker, the exam
API or the web desk starts. With an embedded ledger there is one host, and nothing to ask.
"""

from __future__ import annotations

import secrets
from pathlib import Path
from typing import TYPE_CHECKING, Any

from schemas.settings import Settings
from warehouse.stores.shared_files import (
    ARCHIVE,
    ARCHIVE_MARK,
    EXAM_KEYS,
    KEYS,
    REGISTRY,
    accept_shared_file,
    check_shared_files,
    find_differences,
    has_hosts,
    note_shared_files,
    read_shared_files,
)

if TYPE_CHECKING:
    from deployments.doctor import NoteFinding
    from warehouse.ledger.engine.ledger import Ledger
    from warehouse.stores.shared_files import SharedFile

TEMPLATE = Path(__file__).parent / "templates" / "models.yaml"


def check_host(settings: Settings) -> None:
    """Pass when this host has what is shared, noting what none has; raises UsageError."""
    if not has_hosts(settings):
        return
    from warehouse.ledger.engine.opening import open_ledger

    with open_ledger(settings.ledger_address) as ledger:
        check_shared_files(settings, ledger)
        _note(settings, ledger)


def prepare_host(settings: Settings) -> None:
    """The same as `check_host`, for a home that is being made.

    What is shared and does not exist anywhere yet is made here, for all. Keys that each host made when it
    first needed them would differ.
    """
    if not has_hosts(settings):
        return
    from tasks.exam.log import name_heads_file, note_keys
    from tasks.exam.log.signing import open_signer
    from tasks.exam.protocol.tokens import open_keys
    from warehouse.ledger.engine.opening import open_ledger
    from warehouse.ledger.engine.shared_files import read_noted_files
    from warehouse.stores.secrets import create_secret_file, read_home_key

    with open_ledger(settings.ledger_address) as ledger:
        check_shared_files(settings, ledger)
        with ledger.read() as connection:
            noted = read_noted_files(connection)
        for name in KEYS:
            if name in noted:
                continue
            if name == EXAM_KEYS:
                open_keys(settings).read()
            else:
                read_home_key(settings, name, "Restore it from a backup.")
        if ARCHIVE not in noted:
            create_secret_file(settings.archive_dir / ARCHIVE_MARK, f"{secrets.token_hex(32)}\n")
        _note(settings, ledger)
        # Of two homes that are made at once, one has noted its own.
        check_shared_files(settings, ledger)
        # A home that has signed heads is no new host.
        note_keys(ledger, settings, open_signer(settings), joins=not name_heads_file(settings).exists())


def list_shared(settings: Settings) -> list[dict[str, Any]]:
    """What hosts share, as this one has it and as it was noted."""
    from warehouse.ledger.engine.opening import open_ledger
    from warehouse.ledger.engine.shared_files import read_noted_files

    with open_ledger(settings.ledger_address) as ledger, ledger.read() as connection:
        noted = read_noted_files(connection)
    return [_describe(file, noted.get(file.name)) for file in read_shared_files(settings)]


def accept_files(settings: Settings, names: list[str]) -> list[SharedFile]:
    """Let these files hold for all hosts as this one has them; the audit log says who did so."""
    from warehouse.ledger.engine.logs.chain import Entry, add_entry
    from warehouse.ledger.engine.opening import open_ledger

    with open_ledger(settings.ledger_address) as ledger, ledger.write() as connection:
        accepted = [accept_shared_file(settings, connection, name) for name in names]
        for file in accepted:
            add_entry(
                connection, Entry("accept_file", target=file.name, digest=file.fingerprint, is_by_caller=True)
            )
    return accepted


def check_token_keys(settings: Settings, ledger: Ledger) -> None:
    """Pass when the token keys, all that the exam API shares, are the installation's."""
    if not ledger.is_sqlite:
        check_shared_files(settings, ledger, (EXAM_KEYS,))


def note_new_token_keys(settings: Settings, ledger: Ledger) -> None:
    """Let the keys that sign tokens hold for all hosts, after a command changed them here."""
    if not ledger.is_sqlite:
        with ledger.write() as connection:
            accept_shared_file(settings, connection, EXAM_KEYS)


def examine_hosts(settings: Settings, ledger: Ledger, note: NoteFinding) -> None:
    """Whether this host has what its installation shares."""
    if ledger.is_sqlite:
        return
    with ledger.read() as connection:
        differences = find_differences(settings, connection)
    note(
        "shared by hosts",
        "; ".join(map(str, differences)) or "keys, registry and archive are the installation's",
        not differences,
        "copy what differs from the other host, or `proctor hosts accept NAME` if this one is meant",
    )


def _note(settings: Settings, ledger: Ledger) -> None:
    # Nobody means the registry that `proctor init` puts there to be filled in.
    with ledger.write() as connection:
        note_shared_files(settings, connection, without=(REGISTRY,) if _is_template(settings) else ())


def _is_template(settings: Settings) -> bool:
    path = settings.registry_path
    return path.exists() and path.read_bytes() == TEMPLATE.read_bytes()


def _describe(file: SharedFile, noted: Any) -> dict[str, Any]:
    if noted is None:
        state = "not noted" if file.fingerprint else "not there yet"
    elif file.fingerprint is None:
        state = "missing here"
    else:
        state = "same" if file.fingerprint == noted.fingerprint else "differs"
    return {
        "name": file.name,
        "state": state,
        "path": str(file.path),
        "noted_by": None if noted is None else noted.host,
        "noted_at": None if noted is None else noted.noted_at,
    }
