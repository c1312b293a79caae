"""Pages and commands agree: every command is on a page, and what a page shows works."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any

from deployments.cli import load_commands
from tests.deployments.test_cli import list_commands

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
GENERATED = "commands.md"


def find_command_lines(page: str) -> list[str]:
    """What a page shows to be typed: code and lines of blocks that begin with `proctor`."""
    blocks = "\n".join(re.findall(r"^```(?:sh|console)\n(.*?)^```", page, re.DOTALL | re.MULTILINE))
    prose = re.sub(r"^```.*?^```", "", page, flags=re.DOTALL | re.MULTILINE)
    lines = [
        *re.findall(r"`([^`]+)`", prose),
        *blocks.splitlines(),
        *re.findall(r"^    (proctor .*)", prose, re.M),
    ]
    # Variables may be set before it, and a comment may follow.
    found = [
        re.search(r"^(?:\$ )?(?:[A-Z_]+=\S+ )*proctor ([^#]*)", " ".join(line.split())) for line in lines
    ]
    return [one.group(1).strip() for one in found if one is not None]


def find_fault(line: str) -> str | None:
    """Why a line cannot be typed: no such command, or no such option of it."""
    command = _read_commands()
    words = line.split()
    while words and hasattr(command, "commands") and not words[0].startswith("-"):
        word = words.pop(0)
        if words and f"{word} {words[0]}" in command.commands:
            word = f"{word} {words.pop(0)}"
        if word == "…" or word == "COMMAND":
            return None
        if word not in command.commands:
            return f"proctor {line}: there is no command {word}"
        command = command.commands[word]
    known = {
        "--help",
        "-h",
        *(one for option in command.params for one in (*option.opts, *option.secondary_opts)),
    }
    unknown = [word for word in words if re.fullmatch(r"--[a-z-]+", word) and word not in known]
    return f"proctor {line}: there is no option {', '.join(unknown)}" if unknown else None


@cache
def _read_commands() -> Any:
    """Every command with its options: 200 of them take a tenth of a second."""
    return load_commands()


def test_every_command_that_a_page_shows_exists_with_its_options() -> None:
    lines = [
        (page.name, line) for page in PAGES for line in find_command_lines(page.read_text(encoding="utf-8"))
    ]
    assert [(name, fault) for name, line in lines if (fault := find_fault(line))] == []


def test_every_command_stands_in_the_list_of_commands() -> None:
    page = (ROOT / "docs" / GENERATED).read_text(encoding="utf-8")
    assert [path for path in list_commands() if f"| `proctor {' '.join(path)}` |" not in page] == []


def test_every_command_is_explained_on_a_page_of_its_readers() -> None:
    text = "\n".join(page.read_text(encoding="utf-8") for page in PAGES if page.name != GENERATED)
    missing = [path for path in list_commands() if not re.search(rf"proctor {' '.join(path)}(?![\w-])", text)]
    assert missing == []


def test_a_line_that_cannot_be_typed_is_found() -> None:
    assert find_command_lines(
        "`PROCTOR_HOME=x proctor init`, then\n```sh\nproctor sql leaderboard --wide # all\n```\n"
    ) == [
        "init",
        "sql leaderboard --wide",
    ]
    assert find_fault("sql leaderboard --wide") is None
    assert (
        find_fault("sql leaderboard --width") == "proctor sql leaderboard --width: there is no option --width"
    )
    assert find_fault("exam tokens") == "proctor exam tokens: there is no command tokens"
