"""The exam API as a process: the exam's side of the ledger alone, and no model's key."""

from __future__ import annotations

import getpass
import os
import stat
from collections.abc import Mapping
from pathlib import Path

from deployments.command_line.printing import print_note
from deployments.exam_api import LONGEST_WAIT_S, create_app
from deployments.flow_runs import read_key_variables, start_again
from deployments.home import check_token_keys
from deployments.http.listening import Listening
from deployments.http.server import check_free, serve_app
from schemas.settings import PREFIX, Settings
from warehouse.ledger.engine.opening import open_exam_database
from warehouse.ledger.engine.sides import find_exam_address, show_address

_NAME = "The exam API"
# Variables with such endings are taken for secrets, whoever they belong to.
_SECRET_ENDINGS = ("KEY", "KEY_ID", "TOKEN", "SECRET", "PASSWORD", "PASSWD", "CREDENTIALS")
# The ways to the other stores, passwords included.
_OWNERS_VARIABLES = frozenset(f"{PREFIX}{name}" for name in ("LEDGER_URL", "LAKE_CATALOG"))
_EXAM_VARIABLE = f"{PREFIX}EXAM_DATABASE_URL"


def serve_exam(settings: Settings, listening: Listening, *, has_docs: bool = False) -> None:
    """Serve until Ctrl-C or `kill -TERM`, with a page at `/docs` on request.

    Raises UsageError when the address is taken, or the keys of tokens are not the installation's, StoreError when the exam's database is not ready or shows more than the exam's.
    """
    check_free(_NAME, listening.host, listening.port)
    database = find_exam_address(settings)
    with open_exam_database(database, busy_s=LONGEST_WAIT_S) as ledger:
        check_token_keys(settings, ledger)
        for warning in find_warnings(settings):
            print_note(f"Warning: {warning}")
        serve_app(
            create_app(settings, ledger=ledger, has_docs=has_docs),
            _NAME,
            listening,
            notes=lambda address: [
                f"The exam API listens on {address} (its description: {address}/{'docs' if has_docs else 'openapi.json'})",
                f"Home: {settings.home.resolve()}",
                "A token for a candidate: proctor exam token USER --session SESSION",
                f"It runs as the user {getpass.getuser()!r} and has opened only {show_address(database)}",
                "Stop with Ctrl-C.",
            ],
            ended="The exam API has stopped; open sessions continue when it is started again.",
        )


def leave_secrets_behind(settings: Settings) -> None:
    """Start this process again without variables that hold others' secrets, if there are any."""
    start_again(describe_environment(settings, os.environ))


def describe_environment(settings: Settings, found: Mapping[str, str]) -> dict[str, str]:
    """The environment that the server is to run in.

    It is without keys of models, and without the ways to the other stores. Left out are the key variables of the registry,
    every variable whose name ends like that of a secret, and the addresses of ledger and lake; the exam's own database is
    named in their place.
    """
    named = _OWNERS_VARIABLES | read_key_variables(settings)
    dropped = {name for name in found if name in named or name.upper().endswith(_SECRET_ENDINGS)}
    # PostgreSQL's own password belongs to whomever the exam's address names; the other token guards this server's own numbers.
    dropped -= {"PGPASSWORD", f"{PREFIX}METRICS_TOKEN"}
    kept = {name: value for name, value in found.items() if name not in dropped}
    if f"{PREFIX}LEDGER_URL" in dropped:
        kept.setdefault(_EXAM_VARIABLE, find_exam_address(settings))
    return kept


def find_warnings(settings: Settings) -> list[str]:
    """What to close before candidates reach the server, which starts all the same."""
    warnings = []
    if os.geteuid() == 0:
        warnings.append("it runs as root; give it a user of its own.")
    catalog = settings.catalog_address.removeprefix("sqlite:")
    for path in (settings.home / "ledger.sqlite", Path(catalog), settings.secrets_path):
        if path.exists() and path.stat().st_mode & (stat.S_IRGRP | stat.S_IROTH):
            warnings.append(f"others on this machine can read {path}; `chmod go-rwx` it.")
    if settings.ledger_url is not None and settings.exam_database_url is not None:
        warnings.append(
            "proctor.toml names the ledger itself, which this process can read; set it elsewhere."
        )
    return warnings
