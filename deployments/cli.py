"""`proctor`: the command line.

Commands live in deployments/commands, one module per kind of work, and are listed in deployments/command_line/listed_commands.toml. Exit
codes: 0 done, 1 failed or incomplete, 2 usage, 3 a quality gate refused, 130 interrupted (Ctrl-C or `kill -TERM`).
"""

from __future__ import annotations

import atexit
import gc
import locale
import os
import sys
from io import TextIOWrapper
from pathlib import Path
from typing import Annotated, Any, NoReturn

_FIRST_LOOK, _LATER_LOOKS = 500_000, 50_000


def _collect_late() -> None:
    """Have the first look for garbage after so many objects as few commands make.

    What is made until then are modules, which stay: to look among them for what is gone is a twentieth of what a short command costs.
    """
    if _settle not in gc.callbacks:
        gc.callbacks.append(_settle)
        gc.set_threshold(_FIRST_LOOK, 20, 50)


def _settle(phase: str, _: object) -> None:
    if phase == "stop":
        gc.callbacks.remove(_settle)
        gc.set_threshold(_LATER_LOOKS, 20, 50)


def _speak_utf8() -> None:
    """Go on in Python's UTF-8 mode whatever the locale, as Python itself does where that is C.

    Files of ours are UTF-8, also those that a library reads as the locale has it. A terminal is written to in its own encoding.
    """
    if _IS_OWN and not sys.flags.utf8_mode and sys.getfilesystemencoding() != "utf-8":
        again = [sys.executable, "-X", "utf8", *sys.orig_argv[1:]]
        os.execve(sys.executable, again, {**os.environ, "PYTHONUTF8": "1"})  # noqa: S606 (itself again)
    if _IS_OWN and sys.flags.utf8_mode and locale.getencoding().lower() not in ("utf-8", "ansi_x3.4-1968"):
        for stream in (sys.stdin, sys.stdout, sys.stderr):
            if isinstance(stream, TextIOWrapper) and stream.isatty():
                stream.reconfigure(encoding=locale.getencoding(), errors="replace")


# Whether this process was started as the command line, and not by who imports it.
_IS_OWN = any(Path(part).name == "proctor" or part == "deployments.cli" for part in sys.orig_argv)
_speak_utf8()
if _IS_OWN:
    _collect_late()
# Pydantic would look through every installed distribution for plugins, in each command.
os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")

import typer  # noqa: E402 - after the process is what it is to be

from deployments.command_line import ListedGroup, load_command  # noqa: E402 - libraries read stubs of ours at once
from schemas.errors import INTERRUPTED  # noqa: E402

app = typer.Typer(
    name="proctor",
    cls=ListedGroup,
    help="A private, dynamic exam for LLMs as a data pipeline.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=True,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _print_version(is_asked: bool) -> None:
    if is_asked:
        from deployments.command_line import render_version

        print(render_version())
        raise typer.Exit


@app.callback()
def root(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_print_version, is_eager=True, help="Print version and commit."),
    ] = False,
) -> None:
    """A private, dynamic exam for LLMs as a data pipeline."""


def load_commands() -> Any:
    """The root group with every command of every module.

    It is for callers that read them all; it imports them all.
    """
    group: Any = typer.main.get_command(app)
    group.commands = {name: load_command(command.listed) for name, command in group.commands.items()}
    return group


def main() -> None:
    """Run a command.

    A mistake of the user's is one sentence on standard error, never a stack trace.
    """
    _collect_late()
    try:
        app()
    except SystemExit as end:
        if end.code == INTERRUPTED:
            _leave_at_once(INTERRUPTED)
        raise
    finally:
        # As it ends, the interpreter looks through everything that was imported several times: a quarter of what `status` costs.
        gc.freeze()


def _leave_at_once(code: int) -> NoReturn:
    """End without taking the interpreter apart.

    Threads stopped in the middle of native work crash it now and then (-11).
    """
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


if __name__ == "__main__":
    main()
