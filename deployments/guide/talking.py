"""How the guide talks: it asks, prints the command that does it, and runs that."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from dataclasses import dataclass
from typing import Any

import typer

from deployments.command_line.printing import paint
from schemas.errors import UsageError

_PROGRAM = (sys.executable, "-m", "deployments.cli")


class StepError(Exception):
    """A command of the guide ended with another exit code than 0; it has said why itself."""

    def __init__(self, code: int) -> None:
        super().__init__(f"exit code {code}")
        self.code = code


@dataclass(frozen=True)
class Talk:
    """A conversation on the terminal.

    Attributes:
        is_silent: every question is answered by its default; one without a default ends the guide.
    """

    is_silent: bool = False

    def ask(self, question: str, default: str = "", *, option: str = "") -> str:
        """The answer to a question.

        Raises UsageError where nobody can be asked and there is no default.
        """
        if self.is_silent:
            if not default:
                raise UsageError(f"{question}: with --yes nobody is asked; give {option}.")
            return default
        return str(typer.prompt(question, default=default or None)).strip()

    def confirm(self, question: str, *, default: bool) -> bool:
        """Yes or no; the default where nobody is asked."""
        return default if self.is_silent else typer.confirm(question, default=default)

    def tell(self, text: str = "") -> None:
        """A line of the guide's own."""
        print(text, flush=True)

    def head(self, number: int, title: str) -> None:
        """The title of a step."""
        self.tell()
        self.tell(paint(f"{number}. {title}", "bold"))

    def run(self, *arguments: str, may_refuse: bool = False) -> int:
        """Print a command of ours as it would be typed, and run it.

        Raises StepError where it fails. With `may_refuse` the exit codes 1 and 3 (incomplete, a gate refused) are returned.
        """
        self.tell(paint(f"$ proctor {shlex.join(arguments)}", "bold"))
        code = subprocess.run([*_PROGRAM, *arguments], check=False).returncode
        if code and not (may_refuse and code in (1, 3)):
            raise StepError(code)
        return code

    def read(self, *arguments: str) -> Any:
        """What a command of ours answers as JSON; raises StepError where it fails."""
        done = subprocess.run([*_PROGRAM, *arguments, "--json"], check=False, capture_output=True, text=True)
        if done.returncode:
            sys.stderr.write(done.stderr)
            raise StepError(done.returncode)
        return json.loads(done.stdout)
