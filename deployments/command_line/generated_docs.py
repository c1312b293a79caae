"""Write the generated pages of docs/ (`make docs`); a test fails when one is stale.

They are the list of commands, the papers' tables with how far the printed numbers are from ours, the list of rooms, and
what a team's members see.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple

import yaml

from deployments.auth import read_decisions, read_team_routes
from deployments.cli import load_commands
from deployments.command_line.listed_commands import SECTIONS
from deployments.demo import read_row_counts
from schemas.dictionary import render_dictionary
from schemas.tables import TABLES
from tasks.ingest import render_problem_codes
from warehouse.lake import read_sight
from warehouse.lake.reading import queries, render_query_list

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


LIST: Final = Path(__file__).with_suffix("").parent / "papers_tables.yaml"
_MODULE: Final = "python -m tests.benchmarks.papers_tables"


def read_papers_tables() -> dict[str, Any]:
    """The papers with their tables, and the differences as they were measured."""
    return dict(yaml.safe_load(LIST.read_text("utf-8")))


def render_papers_tables() -> str:
    """The page."""
    content = read_papers_tables()
    parts = [
        "# The papers' tables\n\n"
        "Generated from `deployments/command_line/papers_tables.yaml` by `make docs`; do not edit.\n\n"
        "What makes each table and figure of the three papers here, on the data of this home; `proctor demo --everything` fills all of "
        "them with simulated data. *Difference to print*: the largest difference of what our code makes of the papers' own numbers, "
        f"or of what their authors released, from what they print, on the printed scale. `{_MODULE}` computes them again (the released "
        "files are looked for in `../shared/data`); tests put further printed numbers through our code.\n"
    ]
    for paper in content["papers"]:
        parts.append(f"\n## {paper['paper']}\n\n{paper['about']}\n\n")
        parts.append("| table or figure | shows | made by | difference to print |\n|---|---|---|---|\n")
        parts += [_render_item(item, content["differences"]) for item in paper["items"]]
    return "".join(parts) + _render_rows()


def _render_rows() -> str:
    """A line for each analysis: its rows, or why it has none."""
    rows = read_row_counts()
    lines = [
        "\n## Rows of every analysis\n\n"
        "Of one demo, with the parameters as they are by default (`python -m tests.benchmarks.demo_rows`; two demos differ by a few rows "
        "where answers are drawn). Where there is none, `proctor sql NAME` says why, as here.\n\n"
        "| analysis | `proctor demo` | `proctor demo --everything` | no rows |\n|---|---|---|---|\n"
    ]
    for query in queries.list_queries(("analyses",)):
        first, last = rows[query.name]
        lines.append(f"| `{query.name}` | {first:,} | {last:,} | {'' if last else query.no_rows} |\n")
    return "".join(lines)


def _render_item(item: dict[str, Any], differences: list[dict[str, Any]]) -> str:
    made = "<br>".join(f"`{command}`" for command in item["make"])
    if "page" in item:
        made += f"<br>[{item['page']}]({item['page']})"
    told = [
        f"{one['what']}: {one['count']} values, {_render_difference(one)}"
        for one in differences
        if one["key"] in item.get("compare", ())
    ]
    if "held_by" in item:
        told.append(f"held by `{item['held_by']}`")
    return f"| {item['item']} | {item['shows']} | {made} | {'<br>'.join(told) or 'nothing is printed in numbers, or no data are at hand'} |\n"


def _render_difference(one: dict[str, Any]) -> str:
    remark = f" ({one['remark']})" if one.get("remark") else ""
    return f"at most {abs(one['largest']):.4f}{remark}"


ROOT = Path(__file__).resolve().parents[2]
_LAYERS = ("tasks", "warehouse", "deployments")
_ROOMS_HEAD = """# Rooms

Every package, and the names on its face (`__init__.pyi`) by the file that defines them. Nobody outside a room imports anything else of it
(`tests/test_walls.py`). `schemas/` has no face: all of it is the contract. Why: [decision 0010](decisions/0010-rooms-have-faces.md).
"""


def render_room_list() -> str:
    """The page, in Markdown: a section for each package, a line for each name on its face."""
    packages = [
        path
        for layer in _LAYERS
        for path in sorted((ROOT / layer).rglob("__init__.py"))
        if path.stat().st_size
    ]
    return "\n".join([_ROOMS_HEAD, *(line for path in packages for line in _render_room(path))])


def _render_room(path: Path) -> Iterator[str]:
    room = path.parent.relative_to(ROOT).as_posix()
    yield f"## `{room}/`\n"
    yield f"{ast.get_docstring(ast.parse(path.read_text(encoding='utf-8')))}\n"
    face = path.with_suffix(".pyi")
    lines = face.read_text(encoding="utf-8").splitlines() if face.exists() else []
    shown: dict[str, list[str]] = {}
    for node in ast.parse("\n".join(lines)).body:
        if isinstance(node, ast.ImportFrom):
            name = node.names[0].name
            file = f"{(node.module or name).replace('.', '/')}.py"
            shown.setdefault(file, []).append(f"- `{name}`: {lines[node.lineno - 2].removeprefix('# ')}")
    for file, names in shown.items():
        yield f"`{file}`\n"
        yield from (*names, "")


_TEAM_HEAD = """# What a team sees

Every address of every application, and what somebody gets there who has a team and neither admin, examiner nor analyst as a role. How
people get a team: [teams](server.md#teams).

- Admins, examiners and analysts see every model, as ever. Anybody else with a team gets the live view, results, costs, answers and the report of
  its models, without reference answers and without the reasons of judges. The judge that gave stars is named. Each look is in the audit log.
- Another team's model is answered as one that nobody has heard of. A model is its team's as the registry says now, with all that it ever
  answered; for the costs a run keeps the team of its planning. A judge's call counts for the candidate whose answers it judged.
- Teams by claims are those of the last sign-in, and last as long as its session; those of `proctor.toml` hold once `proctor web` is started again.
- Whoever reviews questions may be of a team: give them none that their model may sit. Whoever may run commands on a host has its files and sees all.
- A site that `proctor report --team` made is shown on their report page. Ranks, means and "others" that an analysis counts itself are among their
  models; published numbers stand. Nothing is told of the bank.

The tables are made from what `tests/deployments/web/test_teams.py` and `tests/warehouse/lake/test_narrowed.py` walk: an address without a decision
fails them, and a table without one has no row.
"""


def render_team_routes() -> str:
    """The page as Markdown."""
    decisions = read_decisions()
    lines = [
        _TEAM_HEAD,
        "| | |",
        "|---|---|",
        *(f"| `{name}` | {about} |" for name, about in decisions.items()),
        "",
    ]
    for application, routes in read_team_routes().items():
        lines += [
            f"## {application[0].upper()}{application[1:]}",
            "",
            "| address | what a team sees |",
            "|---|---|",
        ]
        lines += [f"| `{route}` | {decision} |" for route, decision in routes.items()]
        lines.append("")
    return "\n".join([*lines, *_render_tables()])


def _render_tables() -> list[str]:
    """The tables of the lake of which a team has rows."""
    sight = read_sight()
    hidden = len(TABLES) - len(sight)
    lines = [
        "## Tables of the lake",
        "",
        f"Pages, reports and analyses for a team read the lake through views that hold these rows alone. Of the other {hidden} tables "
        "they have none.",
        "",
        "| table | columns that are empty for a team |",
        "|---|---|",
    ]
    for name, one in sorted(sight.items()):
        others = [f"`{column}` where it is another's" for column in one.named]
        lines.append(
            f"| `{name}` | {', '.join([*(f'`{column}`' for column in one.hidden), *others]) or '–'} |"
        )
    return [*lines, ""]


DOCS = Path(__file__).resolve().parents[2] / "docs"

PAGES: dict[str, Callable[[], str]] = {
    "commands.md": render_command_list,
    "data-dictionary.md": render_dictionary,
    "papers-tables.md": render_papers_tables,
    "queries.md": render_query_list,
    "rooms.md": render_room_list,
    "problem-codes.md": render_problem_codes,
    "team-sight.md": render_team_routes,
}


def write_pages(folder: Path = DOCS) -> list[Path]:
    """Write every generated page; returns those that changed."""
    changed = []
    for name, render in PAGES.items():
        path, text = folder / name, render()
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
            changed.append(path)
    return changed


if __name__ == "__main__":
    for page in write_pages():
        print(f"wrote {page.name}")
