"""Pages and commands agree: every command is on a page, and what a page shows works."""

from __future__ import annotations

import ast
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


def find_message_lines(path: Path) -> list[str]:
    """What the messages of a file give to be typed, in backticks; what is filled in is X."""
    text = path.read_text(encoding="utf-8")
    texts = [re.sub(r"\{\{.*?\}\}", "X", text)]
    if "`proctor" in text and path.suffix == ".py":
        nodes = list(ast.walk(ast.parse(text)))
        pieces = [node.values for node in nodes if isinstance(node, ast.JoinedStr)]
        pieces += [[node] for node in nodes if isinstance(node, ast.Constant)]
        texts = [
            "".join(str(getattr(one, "value", "X")) if isinstance(one, ast.Constant) else "X" for one in each)
            for each in pieces
        ]
    return [" ".join(found.split()) for text in texts for found in re.findall(r"`proctor ([^`]+)`", text)]


def find_fault(line: str) -> str | None:
    """Why a line cannot be typed: no such command or option, or more arguments than it takes."""
    command = _read_commands()
    words = re.sub(r"\"[^\"]*\"|'[^']*'", "X", re.split(r" (?:&&|[|>])", line)[0]).split()
    while words and hasattr(command, "commands") and not words[0].startswith("-"):
        word = words.pop(0)
        if words and f"{word} {words[0]}" in command.commands:
            word = f"{word} {words.pop(0)}"
        if word in ("…", "COMMAND", "X"):
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
    if unknown:
        return f"proctor {line}: there is no option {', '.join(unknown)}"
    most = _count_arguments(command)
    given = _list_arguments(command, words)
    return f"proctor {line}: takes {most} arguments" if most is not None and len(given) > most else None


def _count_arguments(command: Any) -> int | None:
    """How many arguments a command takes; null for any number."""
    taken = [option.nargs for option in command.params if option.param_type_name == "argument"]
    return None if hasattr(command, "commands") or -1 in taken else sum(taken)


def _list_arguments(command: Any, words: list[str]) -> list[str]:
    """The words that are neither options nor their values."""
    with_value = {
        name for option in command.params if not getattr(option, "is_flag", True) for name in option.opts
    }
    pairs = zip(["", *words], words, strict=False)
    return [
        word
        for before, word in pairs
        if word != "…" and not word.startswith("--") and before not in with_value
    ]


@cache
def _read_commands() -> Any:
    """Every command with its options: 200 of them take a tenth of a second."""
    return load_commands()


def test_every_command_that_a_page_shows_exists_with_its_options() -> None:
    lines = [
        (page.name, line) for page in PAGES for line in find_command_lines(page.read_text(encoding="utf-8"))
    ]
    assert [(name, fault) for name, line in lines if (fault := find_fault(line))] == []


def test_every_command_that_a_message_names_exists_with_its_options() -> None:
    paths = [
        path
        for folder in ("deployments", "flows", "tasks", "schemas", "warehouse")
        for kind in ("py", "yaml", "sql", "j2", "html")
        for path in sorted((ROOT / folder).rglob(f"*.{kind}"))
    ]
    lines = [(path.name, line) for path in paths for line in find_message_lines(path)]
    assert len(lines) > 500
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
    ) == ["init", "sql leaderboard --wide"]
    assert find_fault("sql leaderboard --wide") is None
    assert (
        find_fault("sql leaderboard --width") == "proctor sql leaderboard --width: there is no option --width"
    )
    assert find_fault("exam tokens") == "proctor exam tokens: there is no command tokens"
    assert find_fault("judge --run 2026-11 --batch") is None
    assert find_fault("judge 2026-11") == "proctor judge 2026-11: takes 0 arguments"
