"""How the guide talks: it asks, prints the command that does it, and runs that.

What somebody answers before the guide asks.
"""

from __future__ import annotations

import io
import json
import os
import shlex
import subprocess
import sys
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout, suppress
from dataclasses import dataclass
from typing import Annotated, Any, Final

import typer

from deployments.command_line.printing import ask, ask_whether, fold_line, paint, print_error
from schemas.errors import INTERRUPTED, UsageError
from schemas.settings import GUIDED_VARIABLE, load_settings

# Ctrl-C reaches the command, too, which then ends by itself; one that was not reached is told to.
_ENDS_BY_ITSELF_S: Final = 5.0
_PROGRAM: tuple[str, ...] = (sys.executable, "-m", "deployments.cli")


class StepError(Exception):
    """A command of the guide ended with another exit code than 0; it has said why itself."""

    def __init__(self, code: int) -> None:
        super().__init__(f"exit code {code}")
        self.code = code


@dataclass(frozen=True)
class GivenAnswers:
    """What is answered beforehand; the rest is asked for."""

    papers: Annotated[str, typer.Argument(help="Folder or file of exam papers.")] = ""
    annotators: Annotated[str, typer.Option("--annotators", help="Who reviews, with commas.")] = ""
    url: Annotated[str, typer.Option("--url", help="Address of the candidates' API.")] = ""
    key_variable: Annotated[
        str, typer.Option("--key-variable", help="Environment variable with its key; `none` for none.")
    ] = ""
    organisation: Annotated[str, typer.Option("--organisation", help="Who owns the candidates.")] = ""
    candidates: Annotated[
        str, typer.Option("--candidates", help="Their names there, with commas; the first is the reference.")
    ] = ""
    prices: Annotated[
        str, typer.Option("--prices", help="Dollars per million tokens they read and write, as `2, 8`.")
    ] = ""
    judge: Annotated[str, typer.Option("--judge", help="Name of the judge.")] = ""
    judge_url: Annotated[str, typer.Option("--judge-url", help="Address of its API.")] = ""
    judge_key_variable: Annotated[
        str, typer.Option("--judge-key-variable", help="Environment variable with its key; `none` for none.")
    ] = ""
    judge_organisation: Annotated[str, typer.Option("--judge-organisation", help="Who owns it.")] = ""
    judge_prices: Annotated[str, typer.Option("--judge-prices", help="Its prices, as `2, 8`.")] = ""
    are_simulated: Annotated[
        bool, typer.Option("--simulated", help="These are no models; what they answer is marked everywhere.")
    ] = False
    styles: Annotated[str, typer.Option("--styles", help="Prompt styles, with commas.")] = ""


@dataclass(frozen=True)
class Talk:
    """A conversation on the terminal.

    Attributes:
        is_silent: every question is answered by its default; one without a default ends the guide.
    """

    is_silent: bool = False

    def ask(
        self,
        question: str,
        default: str = "",
        *,
        given: str = "",
        option: str = "",
        check: Callable[[str], object] | None = None,
    ) -> str:
        """The answer to a question that `check` accepts; UsageError if it cannot be had."""
        while True:
            is_typed = not given and not self.is_silent
            answer = given or default
            if is_typed:
                answer = ask(question, default=default or None).strip()
            elif not answer:
                raise UsageError(f"{question}: with --yes nobody is asked; give {option}.")
            try:
                if check is not None:
                    check(answer)
                return answer
            except UsageError as error:
                if not is_typed:
                    raise
                # It is asked for again at once: nothing is to be run again.
                self.tell(str(error).removesuffix(" Correct it and run again."))

    def confirm(self, question: str, *, default: bool) -> bool:
        """Yes or no; the default where nobody is asked."""
        return default if self.is_silent else ask_whether(question, default=default)

    def tell(self, text: str = "") -> None:
        """A line of the guide's own."""
        print(fold_line(text), flush=True)

    def head(self, number: int, title: str) -> None:
        """The title of a step."""
        self.tell()
        self.tell(paint(f"{number}. {title}", "bold"))

    def run(self, *arguments: str, may_refuse: bool = False) -> int:
        """Print a command of ours as it would be typed, and run it.

        Raises StepError where it fails. With `may_refuse` the exit codes 1 and 3 (incomplete, a gate refused) are returned.
        """
        self.tell(paint(f"$ proctor {shlex.join(arguments)}", "bold"))
        with subprocess.Popen([*_PROGRAM, *arguments], env=os.environ | {GUIDED_VARIABLE: "1"}) as child:
            try:
                code = child.wait()
            except KeyboardInterrupt:
                _await_end(child)
                code = INTERRUPTED
        if code and not (may_refuse and code in (1, 3)):
            raise StepError(code)
        return code

    def insist(self, *arguments: str) -> None:
        """Run a command that asks; again where it fails and somebody wants to, else StepError."""
        while True:
            try:
                self.run(*arguments)
                return
            except StepError as error:
                if (
                    self.is_silent
                    or error.code == INTERRUPTED
                    or not self.confirm("Try it again?", default=True)
                ):
                    raise

    def set(self, name: str, value: str) -> None:
        """Write a setting, which holds from now on."""
        self.run("settings", "set", name, value)
        load_settings.cache_clear()

    def read(self, *arguments: str, may_refuse: bool = False) -> Any:
        """What a command of ours answers as JSON, in this process; StepError as for `run`."""
        said, complained = io.StringIO(), io.StringIO()
        with redirect_stdout(said), redirect_stderr(complained):
            code = _run_here([*arguments, "--json"])
        if code and not (may_refuse and code in (1, 3)):
            sys.stderr.write(complained.getvalue())
            # What went wrong is a document, too, and it is for a person now.
            with suppress(ValueError, TypeError, KeyError):
                print_error(json.loads(said.getvalue())["error"], code, as_json=False)
            raise StepError(code)
        return json.loads(said.getvalue())


def _run_here(arguments: list[str]) -> int:
    """The exit code of a command that is run without a process of its own."""
    from deployments.cli import app

    try:
        app(arguments)
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    return 0


def _await_end(child: subprocess.Popen[bytes]) -> None:
    """Wait until an interrupted command has put away what it holds."""
    try:
        child.wait(_ENDS_BY_ITSELF_S)
    except subprocess.TimeoutExpired:
        child.terminate()
        child.wait()


def split_names(text: str) -> list[str]:
    """Names with commas between them, each once."""
    return list(dict.fromkeys(name.strip() for name in text.split(",") if name.strip()))
