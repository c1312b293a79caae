"""What is set, where it comes from, and how it is changed: `settings list|set`."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from deployments.command_line import group_with_default
from deployments.command_line.printing import print_note, print_records, print_result
from schemas.asked_secrets import COMMAND, AskedSecret, show_value
from schemas.errors import UsageError
from schemas.settings import PREFIX, TOML_NAME, Settings, find_toml, load_settings, read_setting
from warehouse.stores.whole_files import SHARED, changing, writing_whole

_COLUMNS: Final = ("setting", "value", "from", "meaning")

settings_app = typer.Typer(cls=group_with_default("list"))


@settings_app.command("list")
def list_settings(
    changed: Annotated[
        bool, typer.Option("--changed", help="Only settings that differ from their default.")
    ] = False,
) -> None:
    """List every setting: its value, where that is from, and what it means.

    Example: proctor settings list --changed
    """
    # Beside what is given `load_settings` has the home that it found.
    settings, given, path = load_settings(), Settings().model_fields_set, find_toml()
    rows = []
    for name, field in Settings.model_fields.items():
        source = "default"
        if name in given:
            source = f"{PREFIX}{name.upper()}" if f"{PREFIX}{name.upper()}" in os.environ else str(path)
        if changed and source == "default":
            continue
        rows.append(
            dict(
                zip(_COLUMNS, (name, _show(getattr(settings, name)), source, field.description), strict=True)
            )
        )
    print_records(_COLUMNS, rows)


@settings_app.command("set")
def set_setting(
    name: Annotated[str, typer.Argument(help="The setting, as `proctor settings` names it.")],
    value: Annotated[str, typer.Argument(help="Its value; several names with commas.")],
) -> None:
    """Write a setting into proctor.toml: the one that holds here, or a new one in this folder.

    It is checked first. Passwords and addresses with passwords are not written: they stay in the environment, or a program is named that
    prints them.

    Example: proctor settings set disciplines "History, Law, Medicine"

    Example: proctor settings set set_size 300

    Example: proctor settings set smtp_password "command:vault kv get -field=password secret/mail"
    """
    import tomlkit

    read = read_setting(name, value)
    if isinstance(read, AskedSecret) and read.program is None:
        raise UsageError(
            f"{name} may hold a password and is not written into a file: set {PREFIX}{name.upper()}, or give `{COMMAND}PROGRAM` for "
            "the program that prints it."
        )
    path = find_toml() or Path.cwd() / TOML_NAME
    with changing(path):
        document = tomlkit.parse(path.read_text(encoding="utf-8")) if path.is_file() else tomlkit.document()
        document[name] = _write(read)
        with writing_whole(path, SHARED) as draft:
            draft.write_text(tomlkit.dumps(document), encoding="utf-8")
    load_settings.cache_clear()
    if f"{PREFIX}{name.upper()}" in os.environ:
        print_note(f"{PREFIX}{name.upper()} is set in the environment, and counts before {path}.")
    print_result({"setting": name, "value": show_value(read), "file": str(path)})


def _show(value: Any) -> str:
    shown = show_value(value)
    return ", ".join(shown) if isinstance(shown, list) else "" if shown is None else str(shown)


def _write(value: Any) -> Any:
    """The value as TOML has it."""
    if isinstance(value, AskedSecret):
        return f"{COMMAND}{value.program}"
    if isinstance(value, tuple):
        return [str(one) for one in value]
    return value if isinstance(value, bool | int | float | dict) else str(value)
