"""The page of the papers' tables.

It says what makes each here, how far the printed numbers are from ours, and what every analysis shows of simulated data.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import yaml

from deployments.demo import read_row_counts
from warehouse.lake.reading import queries

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
