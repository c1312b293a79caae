"""The page of all commands, as Markdown, from what `proctor --help` says of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

from deployments.cli import load_commands
from deployments.command_line.listed_commands import SECTIONS

EXAMPLE = "Example: "
MANIFEST = Path(__file__).resolve().parents[1] / "prefect.yaml"


class DescribedCommand(NamedTuple):
    """A command as the page shows it; `path` is what is typed after `proctor`."""

    path: tuple[str, ...]
    summary: str
    examples: tuple[str, ...]


def render_command_list() -> str:
    """The page of all commands.

    It has one table per group with what a command does and how it is typed.
    """
    root = load_commands()
    parts = [
        "# Commands\n\n"
        "Generated from `proctor --help` by `make docs`; do not edit.\n\n"
        "`proctor COMMAND --help` lists a command's options. Nearly every command has `--json`: one JSON document on "
        "standard output. Exit codes: 0 done, 1 failed or incomplete, 2 usage, 3 a quality gate refused, 130 "
        "interrupted.\n"
    ]
    for path, group in _walk_groups(root, ()):
        commands = [_read_command((*path, name), below) for name, below in _list_leaves(group)]
        if not path:
            parts += _render_sections(commands)
            continue
        parts.append(f"\n## `proctor {' '.join(path)}`\n\n{group.help}\n\n{_HEAD}")
        parts += [_render_row(command) for command in commands]
    return "".join([*parts, *_render_deployments()])


def _render_deployments() -> list[str]:
    """What runs by a schedule or an event, as the manifest says."""
    import yaml

    manifest = yaml.safe_load(MANIFEST.read_text(encoding="utf-8"))
    rows = [
        f"| `{one['name']}` | {', '.join(f'`{when}`' for when in _list_times(one))} | {one['description']} |\n"
        for one in manifest["deployments"]
        if _list_times(one)
    ]
    head = "\n## What runs by itself\n\n`proctor deploy` registers it: minute, hour, day, month and weekday in UTC, or an event.\n\n"
    return [head, "| deployment | when | what it does |\n|---|---|---|\n", *rows]


def _list_times(deployment: dict[str, Any]) -> list[str]:
    times = [str(one["cron"]) for one in deployment.get("schedules", ())]
    return times + [name for trigger in deployment.get("triggers", ()) for name in trigger["expect"]]


_HEAD = "| command | what it does | example |\n|---|---|---|\n"


def _render_sections(commands: list[DescribedCommand]) -> list[str]:
    """The first level, in the sections of `proctor --help`; a group has a row there, too."""
    rows = {command.path[0]: _render_row(command) for command in commands}
    parts = []
    for title, section in SECTIONS.items():
        parts.append(f"\n## {title}\n\n{_HEAD}")
        parts += [
            rows.get(listed.name)
            or f"| `proctor {listed.name} …` | {listed.summary} | its own table below |\n"
            for listed in section
        ]
    return parts


def _walk_groups(group: Any, path: tuple[str, ...]) -> list[tuple[tuple[str, ...], Any]]:
    """A group and those below it, each with its path."""
    below = [(name, command) for name, command in group.commands.items() if hasattr(command, "commands")]
    return [(path, group), *(one for name, command in below for one in _walk_groups(command, (*path, name)))]


def _list_leaves(group: Any) -> list[tuple[str, Any]]:
    return [(name, command) for name, command in group.commands.items() if not hasattr(command, "commands")]


def _read_command(path: tuple[str, ...], command: Any) -> DescribedCommand:
    """The first paragraph of a command's help, and its examples."""
    paragraphs = [" ".join(paragraph.split()) for paragraph in (command.help or "").split("\n\n")]
    examples = tuple(one.removeprefix(EXAMPLE) for one in paragraphs if one.startswith(EXAMPLE))
    return DescribedCommand(path, paragraphs[0], examples)


def _render_row(command: DescribedCommand) -> str:
    examples = "<br>".join(f"`{example}`" for example in command.examples)
    cells = (f"`proctor {' '.join(command.path)}`", command.summary, examples)
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |\n"
