"""A prompt on the lake: statements end with `;`, tables need no prefix, nothing can be written."""

from __future__ import annotations

import sys

from deployments.output import print_frame, print_note
from schemas.errors import ProctorError
from schemas.settings import Settings


def run_shell(settings: Settings) -> None:
    """Read statements until end of input or `.quit`; a wrong statement is explained and the prompt stays."""
    from warehouse.lake.reading import run_statement
    from warehouse.lake.store import open_lake

    try:
        import readline  # noqa: F401 - gives input() a history
    except ImportError:
        print_note("No line editing on this system.")
    with open_lake(settings, read_only=True) as lake:
        print_note(
            "Read-only. End a statement with ;  Tables: .tables  Leave: .quit\n"
            f"In plain DuckDB: ATTACH 'ducklake:{settings.catalog_address}' AS exam (READ_ONLY); USE exam;"
        )
        pending = ""
        while True:
            line = _read_line("proctor> " if not pending else "      -> ")
            if line is None or line.strip() in (".quit", ".exit"):
                return
            if line.strip() == ".tables":
                line = "select table_name, comment from duckdb_tables() order by all;"
            pending = f"{pending}\n{line}" if pending else line
            if not pending.rstrip().endswith(";"):
                continue
            statement, pending = pending.strip().rstrip(";"), ""
            if not statement.strip():
                continue
            try:
                print_frame(run_statement(lake, statement))
            except ProctorError as error:
                print_note(str(error))


def _read_line(prompt: str) -> str | None:
    try:
        return input(prompt if sys.stdin.isatty() else "")
    except EOFError:
        return None
