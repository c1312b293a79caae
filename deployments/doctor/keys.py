"""What the doctor looks at among the secrets. It makes no secrets itself.

Keys must have the right shape, and none may be lost that something rests on.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from deployments.doctor.findings import NoteFinding
from schemas.settings import Settings

if TYPE_CHECKING:
    from warehouse.ledger.engine.ledger import Ledger


def examine_keys(settings: Settings, note: NoteFinding) -> None:
    """Whether every key that is there is one, and its owner's alone."""
    from deployments.auth import read_cookie_key
    from schemas.errors import StoreError
    from tasks.exam.log.signing import name_key_file, open_signer
    from tasks.exam.protocol.tokens import open_keys
    from tasks.exam.public.bank import FILE, read_blinding_secret
    from warehouse.stores.secrets import read_home_key
    from warehouse.stores.shared_files import KEYS

    def read_plain(name: str) -> Callable[[], object]:
        return lambda: read_home_key(settings, name, "Restore it from a backup.")

    readers: dict[str, Callable[[], object]] = {
        name: read_plain(name) for name in KEYS if (settings.secrets_path / name).exists()
    }
    special: dict[str, Callable[[], object]] = {
        "exam-keys.json": lambda: open_keys(settings).read(),
        "web-cookie.key": lambda: read_cookie_key(settings),
        FILE: lambda: read_blinding_secret(settings),
    }
    readers |= {name: special[name] for name in readers if name in special}
    if settings.log_signer is not None:
        _examine_holder(settings, note)
    elif name_key_file(settings).exists():
        readers[name_key_file(settings).name] = lambda: open_signer(settings)
    is_fine = True
    for name, read in readers.items():
        try:
            read()
        except StoreError as error:
            is_fine = False
            note(
                f"key {name}",
                error,
                False,
                "copy the file of that name out of the newest backup (secrets/ there), and chmod 600 it; delete it only where the "
                "line above says so",
            )
    if is_fine:
        note("keys", f"{', '.join(sorted(readers)) or 'none was made yet'}: as they should be", True)


def _examine_holder(settings: Settings, note: NoteFinding) -> None:
    """Whether who holds the log's key signs with it; what is signed is of no use to anybody."""
    from time import perf_counter

    from schemas.errors import ProctorError
    from tasks.exam.log.signing import open_signer

    began = perf_counter()
    try:
        open_signer(settings).sign({"doctor": "asks whether this key signs"})
    except ProctorError as error:
        note(
            "log key", error, False, "sign in to it, or correct PROCTOR_LOG_SIGNER and PROCTOR_LOG_PUBLIC_KEY"
        )
    else:
        took = f"{(perf_counter() - began) * 1000:.0f} ms"
        note("log key", f"whoever holds it signs, in {took}: each receipt of an answer waits as long", True)


def examine_lost_keys(settings: Settings, ledger: Ledger, note: NoteFinding) -> None:
    """Whether the keys are there, and are those, with which something was sealed or signed."""
    from tasks.exam.log import is_log_key_lost
    from tasks.exam.log.signing import name_key_file
    from tasks.exam.public.bank import find_blinding_fault

    with ledger.read() as connection:
        blinding = find_blinding_fault(connection, settings)
        is_lost = is_log_key_lost(connection, settings)
    note(
        "blinding key",
        blinding or "the one that sets were sealed with, or nothing was sealed yet",
        blinding is None,
        "copy secrets/blinding-key out of any backup made since the first run was planned (it never changes), chmod 600; plan and "
        "publish nothing before. There is no other way to it",
    )
    path = name_key_file(settings)
    note(
        "log key",
        f"{path} is gone, and heads of the audit log were signed with it"
        if is_lost
        else "as the audit log names it, or not made yet",
        not is_lost,
        "copy secrets/log-key.json out of a backup, chmod 600; without one a new key is made by the next command, and the audit names "
        "the change (proctor exam keys confirm)",
    )
