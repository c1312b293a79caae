"""Which Proctor this is: `proctor --version`."""

from __future__ import annotations

import os
import subprocess
from importlib.metadata import version
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def render_version(root: Path = ROOT) -> str:
    """Name and version, and in a checkout the commit.

    The commit is marked with `+` where tracked files differ from it.

    Args:
        root: the folder that the packages lie in.
    """
    commit = _read_commit(root)
    return f"proctor {version('proctor')}" + (f" ({commit})" if commit else "")


def _read_commit(root: Path) -> str | None:
    """The commit of the checkout, short.

    None where the code is no checkout, or git is missing or refuses to answer.
    """
    if not (root / ".git").exists():
        return None
    # A hook of git's names the repository that it runs in, which may be another one.
    own = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    # To look is not to write: without it git may renew the index.
    own["GIT_OPTIONAL_LOCKS"] = "0"
    try:
        done = subprocess.run(
            ["git", "-C", str(root), "describe", "--always", "--dirty=+", "--exclude=*"],
            env=own,
            capture_output=True,
            text=True,
            timeout=5,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip() or None if done.returncode == 0 else None
