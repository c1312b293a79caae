"""`proctor`: the command line.

Commands live in deployments/commands, one module per kind of work; each imports what it needs when it is called, so
that `proctor --help` is quick. Exit codes: 0 done, 1 failed or incomplete, 2 usage, 3 a quality gate refused.
"""

from __future__ import annotations

import sys

import typer

from deployments.commands import (
    bank,
    demo,
    exam,
    gscore,
    ingest,
    operations,
    query,
    review,
    scoring,
    validate,
)
from schemas.errors import ProctorError

app = typer.Typer(
    name="proctor",
    help="A private, dynamic exam for LLMs as a data pipeline.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)

for module in (operations, demo, ingest, review, bank, exam, scoring, gscore, query, validate):
    module.add_commands(app)


def main() -> None:
    """Run a command; a mistake of the user's is one sentence on standard error, never a stack trace."""
    try:
        app()
    except ProctorError as error:
        _fail(str(error), error.exit_code)
    except KeyboardInterrupt:
        _fail("Interrupted. What was acknowledged is kept; run the same command again to go on.", 1)


def _fail(message: str, exit_code: int) -> None:
    if "--json" in sys.argv:
        import json

        print(json.dumps({"error": message, "exit_code": exit_code}, ensure_ascii=False))
    else:
        print(f"Error: {message}", file=sys.stderr)
    sys.exit(exit_code)


if __name__ == "__main__":
    main()
