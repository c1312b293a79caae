"""The first level of `proctor`: every command by name and summary.

The module of a command is imported when the command is called or explained.

A command's module may therefore import at its top what its commands use. To list them, for `proctor --help` and at the shell's
completion, imports none of them: Typer and this table are all that the command line costs before a command is known.
"""

from __future__ import annotations

import tomllib
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, Final, NamedTuple

import typer
from typer.core import TyperCommand, TyperGroup


class Listed(NamedTuple):
    """A command or a group of commands, before its module is imported.

    Attributes:
        name: what is typed after `proctor`.
        module: in deployments/commands, the module with the function of its (last) word, or the group `<name>_app`.
        summary: the first paragraph of its help.
    """

    name: str
    module: str
    summary: str


# What `proctor --help` shows, in its order.
SECTIONS: Final = {
    title: [Listed(name, module, summary) for name, (module, summary) in section.items()]
    for title, section in tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8")).items()
}
COMMANDS: Final = tuple(listed for section in SECTIONS.values() for listed in section)

# Commands of the group `exam` that need no other module of it, which would be a quarter of what they cost.
_ALONE: Final = dict.fromkeys(("audit", "explain", "enrol", "receipt", "verify"), "exam.log")


class ListedCommand(TyperCommand):
    """A command's place in the list.

    Whatever is done with it is done with the command of its module.
    """

    def __init__(self, listed: Listed) -> None:
        super().__init__(name=listed.name, help=listed.summary, callback=None)
        self.listed = listed

    def make_context(self, *arguments: Any, **options: Any) -> Any:
        """The context of the module's own command.

        That command is thereby what runs, explains and completes itself.
        """
        return load_command(self.listed).make_context(*arguments, **options)


class ListedGroup(TyperGroup):
    """The commands of the table."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        for listed in COMMANDS:
            self.add_command(ListedCommand(listed))

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """The commands in their sections, no summary cut."""
        for title, section in SECTIONS.items():
            with formatter.section(title):
                formatter.write_dl([(listed.name, listed.summary) for listed in section])

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The command of the first word, or of two that are listed or stand alone."""
        if args[:1] == ["exam"] and (module := _ALONE.get("".join(args[1:2]))):
            alone = ListedCommand(Listed(f"exam {args[1]}", module, ""))
            return alone.name, alone, args[2:]
        if " ".join(args[:2]) in self.commands and len(args) > 1:
            args = [" ".join(args[:2]), *args[2:]]
        return super().resolve_command(ctx, args)


@cache
def load_command(listed: Listed) -> Any:
    """The command (or group, with all that is below it) as its module has it.

    The module is imported.
    """
    module = import_module(f"deployments.commands.{listed.module}")
    word = listed.name.split()[-1]
    holder = typer.Typer(add_completion=False, rich_markup_mode=None)
    if (group := getattr(module, f"{word}_app", None)) is not None:
        holder.add_typer(group, name=listed.name, help=listed.summary)
    else:
        holder.command(listed.name)(getattr(module, word))
    _make_shared(holder)
    built = typer.main.get_command(holder)
    return built.commands[listed.name] if isinstance(built, TyperGroup) else built


def _make_shared(group: typer.Typer) -> None:
    """Let every command below the group have what all commands have."""
    from deployments.command_line.command import Command, with_option_groups

    for command in group.registered_commands:
        command.cls = Command
        if command.callback is not None:
            command.callback = with_option_groups(command.callback)
    for below in group.registered_groups:
        if below.typer_instance is not None:
            _make_shared(below.typer_instance)
