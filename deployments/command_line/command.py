"""What every command of `proctor` shares.

It has a home to work in, one sentence for a mistake, and an end by signal without a trace.

Options that travel together, declared once as a dataclass.

The command gets them as one value.
"""

from __future__ import annotations

import inspect
import os
import signal
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import MISSING, fields, is_dataclass
from functools import wraps
from pathlib import Path
from typing import Annotated, Any, NoReturn, get_type_hints

import typer
from typer.core import TyperCommand, TyperGroup

from deployments.command_line.printing import count_documents, print_error, print_note, printing_json
from deployments.home import close_home, keep_to_owner
from schemas.errors import INTERRUPTED, ProctorError, UsageError, is_interruption
from schemas.settings import HOME_NAME, Settings, is_home, load_settings
from warehouse.stores.whole_files import name_place


def _has_exam_role() -> bool:
    """Whether the exam's database and the keys are named.

    If so, the exam API has a host, or container, without a home.
    """
    settings = load_settings()
    return settings.exam_database_url is not None and settings.secrets_path.is_dir()


# Commands that do without a home: they make one, or need none with these options.
_WITHOUT_HOME: dict[str, Callable[[Mapping[str, Any]], bool]] = {
    "init": lambda _: True,
    "demo": lambda _: True,
    "start": lambda _: True,
    "packages list": lambda _: True,
    "packages sbom": lambda _: True,
    "packages check": lambda _: True,
    "settings list": lambda _: True,
    "settings set": lambda _: True,
    "backup": lambda options: bool(options["verify"]),
    "restore": lambda _: True,
    "doctor": lambda _: True,
    "dedupe check": lambda _: True,
    "exam serve": lambda _: _has_exam_role(),
    "exam sit": lambda options: bool(options["url"]),
    "gscore": lambda _: True,
    "exam receipt": lambda options: bool(options["public_key"]),
    "exam verify": lambda options: options["folder"] is not None,
    "agreement": lambda _: True,
    "sql": lambda options: not options["query"],
    "ingest": lambda options: bool(options["check"] and options["out"] and not options["assist"]),
}
_JSON = inspect.Parameter(
    "as_json",
    inspect.Parameter.KEYWORD_ONLY,
    default=False,
    annotation=Annotated[bool, typer.Option("--json", help="Print one JSON document instead of text.")],
)
# Commands that talk, or run until they are interrupted.
_WITHOUT_JSON = ("installation.worker", "query.shell", "sessions.serve", "start.start")
# What the Click within Typer raises for options and arguments; Typer shows only what is below it.
_Misuse: Any = typer.BadParameter.__base__
# Commands that use a home and none of its stores: what runs can be stopped whatever is missing.
_WITHOUT_STORES = ("down",)


class Command(TyperCommand):
    """A command whose errors are one sentence and an exit code.

    This holds in a process of its own and in a test alike.
    """

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read what was typed; with --json a mistake in it is a JSON document, too."""
        is_json = "--json" in args
        try:
            if not ctx.resilient_parsing:
                # Parsing takes words away from what it is given.
                _check_given_once(ctx, self.make_parser(ctx).parse_args(args=list(args))[2])
            return super().parse_args(ctx, args)
        except _Misuse as error:
            if not is_json:
                raise
            print_error(error.format_message(), UsageError.exit_code, as_json=True)
            raise typer.Exit(UsageError.exit_code) from None

    def invoke(self, ctx: Any) -> Any:
        """Run the command; what it raises on purpose is printed, never traced."""
        is_asked = bool(ctx.params.get("as_json"))
        as_json = is_asked or ctx.params.get("format") == "json"
        printed = count_documents()

        def end(said: str, code: int) -> NoReturn:
            # Standard output has one document: after a result the sentence goes to standard error.
            print_error(said, code, as_json=as_json and count_documents() == printed)
            raise typer.Exit(code) from None

        try:
            _check_texts(ctx.params)
            with printing_json(is_asked), _ended_by_sigterm(), keep_to_owner(), _checked_home(ctx):
                return super().invoke(ctx)
        except ProctorError as error:
            end(str(error), error.exit_code)
        except (KeyboardInterrupt, Exception) as error:
            if not is_interruption(error):
                if not isinstance(error, OSError) or (place := name_place(error)) is None:
                    raise
                code = _choose_code(place, ctx.params)
                end(f"{place} cannot be used: {error.strerror}. Name another place, or mend this one.", code)
            end(
                "Interrupted. What was acknowledged is kept; run the same command again and it continues.",
                INTERRUPTED,
            )


def _check_given_once(ctx: Any, given: list[Any]) -> None:
    """Raise a usage error for an option of one value that was given several.

    All but the last would be lost without a word.
    """
    for option in given:
        takes_one = option.param_type_name == "option" and not (
            option.multiple or option.count or option.is_flag
        )
        if takes_one and given.count(option) > 1:
            raise typer.BadParameter("it is given more than once and takes one value.", ctx=ctx, param=option)


def _choose_code(place: str, params: Mapping[str, Any]) -> int:
    """The exit code where the system refused a place: whether somebody typed it."""
    typed = [str(value) for value in params.values() if isinstance(value, Path)]
    # What is written first lies beside what was named.
    is_typed = any(place in one or one in place or Path(place).parent == Path(one).parent for one in typed)
    return UsageError.exit_code if is_typed else ProctorError.exit_code


def group_with_default(default: str) -> type[TyperGroup]:
    """A group of commands of which one is meant where none is named.

    For example, `proctor bank` is `proctor bank stats`.
    """

    class GroupWithDefault(TyperGroup):
        def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
            if not args or (args[0].startswith("-") and args[0] not in ctx.help_option_names):
                args = [default, *args]
            return super().parse_args(ctx, args)

    return GroupWithDefault


def check_home(settings: Settings) -> None:
    """Raise UsageError unless PROCTOR_HOME is a home."""
    if is_home(settings.home):
        return
    if "PROCTOR_HOME" in os.environ or settings.home != Path(HOME_NAME):
        looked_for = f"{settings.home} holds no home of Proctor"
    else:
        looked_for = (
            f"There is no folder {HOME_NAME} in {Path.cwd()} or above it, and PROCTOR_HOME is not set"
        )
    below = next((path for path in sorted(Path.cwd().glob(f"*/{HOME_NAME}")) if is_home(path)), None)
    there = (
        f"go to the one in {below.parent.name}: cd {below.parent.name}"
        if below
        else "set PROCTOR_HOME to the one that is there"
    )
    raise UsageError(f"{looked_for}. Run `proctor init` to make one, or {there}.")


@contextmanager
def _checked_home(ctx: Any) -> Iterator[None]:
    """Make sure that within the block there is a home whose stores are its own.

    The home belongs to its owner alone. Raises ProctorError otherwise.
    """
    name = _name_command(ctx)
    needs_none = _WITHOUT_HOME.get(name)
    if needs_none is not None and needs_none(ctx.params):
        yield
        return
    from tasks.running import say_line
    from warehouse.stores.away import add_listener

    add_listener(say_line)
    settings = load_settings()
    check_home(settings)
    if "PROCTOR_HOME" not in os.environ and settings.home.is_absolute():
        print_note(f"Using the home {settings.home}.")
    if (closed := close_home(settings.home)) is not None:
        print_note(closed)
    from warehouse.stores.homes import RESTORING, check_stores

    # What a killed restore has left is put in place by a restore again.
    if name in _WITHOUT_STORES or (name == "restore" and (settings.home / RESTORING).exists()):
        yield
        return
    from warehouse.stores.installation import expecting

    check_stores(settings)
    with expecting(settings):
        yield


def _check_texts(params: Mapping[str, Any]) -> None:
    """Raise UsageError for what no store takes: the character zero, and a text that is no UTF-8.

    A file may be called by any bytes, so that these are let pass in a path.
    """
    for name, value in params.items():
        shown = name.replace("_", "-")
        for part in value if isinstance(value, list | tuple) else [value]:
            if "\0" in str(part):
                raise UsageError(f"{shown} holds the character zero. Take it out.")
            if isinstance(part, str) and any("\ud800" <= letter <= "\udfff" for letter in part):
                raise UsageError(
                    f"{shown} is no text in UTF-8. Write it in a terminal whose encoding that is."
                )


def _name_command(ctx: Any) -> str:
    """The command as it is typed after `proctor`, however the program was started."""
    names: list[str] = []
    while ctx.parent is not None:
        names.insert(0, str(ctx.info_name))
        ctx = ctx.parent
    return " ".join(names)


@contextmanager
def _ended_by_sigterm() -> Iterator[None]:
    """Treat `kill -TERM` like Ctrl-C.

    A flow reports its end to Prefect, and what is open is closed.
    """

    def interrupt(_number: int, _frame: object) -> None:
        raise KeyboardInterrupt

    try:
        before = signal.signal(signal.SIGTERM, interrupt)
    except ValueError:  # Only the main thread of a process may ask for signals
        yield
        return
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def with_option_groups(command: Callable[..., None]) -> Callable[..., None]:
    """The command as Typer reads it.

    Where a parameter's type is a dataclass, its fields are options in that place; `--json` is an option of nearly every command.

    A field is declared like a parameter, `month: Annotated[str, typer.Option("--month", help="…")] = ""`.
    """
    hints = get_type_hints(command, include_extras=True)
    groups: dict[str, Any] = {name: hint for name, hint in hints.items() if is_dataclass(hint)}
    options: list[inspect.Parameter] = []
    for parameter in inspect.signature(command).parameters.values():
        if parameter.name in groups:
            options += _list_options(groups[parameter.name])
        else:
            options.append(
                parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY, annotation=hints[parameter.name])
            )
    name = f"{command.__module__.rpartition('.')[2]}.{command.__name__}"
    is_json_added = name not in _WITHOUT_JSON and all(option.name != _JSON.name for option in options)
    if is_json_added:
        options.append(_JSON)

    @wraps(command)
    def called(**given: Any) -> None:
        if is_json_added:
            # `Command.invoke` has read it.
            del given[_JSON.name]
        gathered = {
            name: group(**{field.name: given.pop(field.name) for field in fields(group)})
            for name, group in groups.items()
        }
        command(**given, **gathered)

    del called.__wrapped__  # Typer would read the command's own parameters
    called.__signature__ = inspect.Signature(options)  # type: ignore[attr-defined]
    called.__annotations__ = {option.name: option.annotation for option in options}
    return called


def _list_options(group: Any) -> list[inspect.Parameter]:
    hints = get_type_hints(group, include_extras=True)
    return [
        inspect.Parameter(
            field.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=inspect.Parameter.empty if field.default is MISSING else field.default,
            annotation=hints[field.name],
        )
        for field in fields(group)
    ]
