"""What a command asks somebody at the terminal; Ctrl-C ends a question at once."""

from __future__ import annotations

import signal
from typing import Any

import typer


def ask(question: str, **options: Any) -> str:
    """The answer that is typed; options are those of `typer.prompt`."""
    _hear_interrupts()
    return str(typer.prompt(question, **options))


def ask_whether(question: str, **options: Any) -> bool:
    """Yes or no; options are those of `typer.confirm`."""
    _hear_interrupts()
    return bool(typer.confirm(question, **options))


def _hear_interrupts() -> None:
    # Polars has the system restart whatever a signal breaks off: a question would hear Ctrl-C at the next Enter only.
    signal.siginterrupt(signal.SIGINT, True)
