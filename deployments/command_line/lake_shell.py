"""DuckDB's own shell on the lake: read-only, tables need no prefix."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from deployments.command_line.printing import print_note
from schemas.errors import StoreError
from schemas.settings import Settings


def run_shell(settings: Settings) -> int:
    """Run the shell until the person leaves it; returns its exit code.

    How the lake is attached may hold a password: it stands in a file that its owner alone can read and that is gone
    afterwards, never among the arguments that every user of the machine can list.
    """
    from warehouse.lake import render_attach_script

    program = _find_program()
    with _written(settings.home / "duckdb", render_attach_script(settings)) as script:
        if sys.stdin.isatty():
            print_note("Read-only. End a statement with ;  Tables: .tables  Help: .help  Leave: .quit")
        with _leaving_interrupts_to_the_shell():
            return subprocess.run([str(program), "-init", str(script)], check=False).returncode


def _find_program() -> Path:
    try:
        import duckdb_cli
    except ImportError:
        found = None
    else:
        found = Path(str(duckdb_cli.__file__)).parent / "duckdb"
    if found is None or not found.exists():
        raise StoreError(
            "DuckDB's shell is not installed. Run `pip install duckdb-cli==1.5.5`, or ask with `proctor sql`."
        )
    return found


@contextmanager
def _written(folder: Path, text: str) -> Iterator[Path]:
    folder.mkdir(parents=True, exist_ok=True)
    descriptor, name = tempfile.mkstemp(prefix="shell-", suffix=".sql", dir=folder)  # mode 0600
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
        yield Path(name)
    finally:
        Path(name).unlink(missing_ok=True)


@contextmanager
def _leaving_interrupts_to_the_shell() -> Iterator[None]:
    """Ctrl-C stops a statement in the shell, not the shell."""
    before = signal.signal(signal.SIGINT, lambda *_: None)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
