"""The page of what a team's members see, from the decisions that the test of all routes holds to."""

from __future__ import annotations

from deployments.auth import read_decisions, read_team_routes
from schemas.tables import TABLES
from warehouse.lake import read_sight

_HEAD = """# What a team sees

Every address of every application, and what somebody gets there who has a team and neither admin, examiner nor analyst as a role. How
people get a team: [single sign-on](server.md#teams). The table is made from the one that
`tests/deployments/web/test_teams.py` walks: a new address without a decision fails it.
"""


def render_team_routes() -> str:
    """The page as Markdown."""
    decisions = read_decisions()
    lines = [
        _HEAD,
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
