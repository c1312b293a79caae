"""The environment of what is started.

Keys of models go to the processes that call models, and to no other.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from schemas import patterns as re
from schemas.errors import RegistryError
from schemas.settings import FREE_SUFFIX, PREFIX, Settings

# What any program needs to run here: where programs, libraries, certificates and temporary files lie, and in which language.
_PLAIN: Final = re.compile(
    r"PATH|HOME|USER|LOGNAME|SHELL|LANG|LANGUAGE|LC_\w+|TZ|TERM|TMPDIR|TMP|TEMP|VIRTUAL_ENV|PYTHON\w*|LD_LIBRARY_PATH"
    r"|SSL_CERT_\w+|REQUESTS_CA_BUNDLE|XDG_\w+|SYSTEMROOT|PREFECT_\w+"
)
_KEY_ENDINGS: Final = ("_API_KEY", "_API_TOKEN", "_API_SECRET")


def list_plain_variables(found: Mapping[str, str]) -> dict[str, str]:
    """Of the variables found, those that a program of others needs to run.

    They include no key, and no address or setting of ours.
    """
    return {name: value for name, value in found.items() if _PLAIN.fullmatch(name)}


def list_keyless_variables(settings: Settings, found: Mapping[str, str]) -> dict[str, str]:
    """Of the variables found, all but those that hold keys of models.

    These are recognised by the registry, and by their names.
    """
    keys = read_key_variables(settings)
    return {name: value for name, value in found.items() if name not in keys and not _is_key(name)}


def leave_keys_behind(settings: Settings) -> None:
    """Start this process again without the keys of models, where it was given any.

    A variable that is only deleted stays readable in the system's account of the process (`/proc/PID/environ`); one that was
    never given is not. A command that is called within another program (a test) leaves that program as it is.
    """
    start_again(list_keyless_variables(settings, os.environ))


def start_again(wanted: dict[str, str]) -> None:
    """Start this process again with these variables alone.

    Nothing happens if it has no others, or runs within another program.
    """
    if wanted != dict(os.environ) and _is_own_process():
        sys.stdout.flush()
        sys.stderr.flush()
        os.execve(sys.executable, [sys.executable, *sys.orig_argv[1:]], wanted)  # noqa: S606 (itself again)


def _is_own_process() -> bool:
    """Whether this process was started as the command line.

    If so, starting it again starts the command again.
    """
    return any(Path(part).name == "proctor" or part == "deployments.cli" for part in sys.orig_argv)


def _is_key(name: str) -> bool:
    return name.upper().endswith(_KEY_ENDINGS) or (name.startswith(PREFIX) and name.endswith(FREE_SUFFIX))


def read_key_variables(settings: Settings) -> frozenset[str]:
    """The variables that the registry takes keys from; none where it cannot be read."""
    from tasks.models.registry import read_registry

    try:
        registry = read_registry(settings.registry_path)
    except RegistryError:
        return frozenset()
    return frozenset(model.key_variable for model in registry.models.values() if model.key_variable)
