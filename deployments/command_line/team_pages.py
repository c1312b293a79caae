"""The page of what a team's members see, made from what a test of all routes holds to."""

from __future__ import annotations

from deployments.auth import read_decisions, read_team_routes
from schemas.tables import TABLES
from warehouse.lake import read_sight

_HEAD = """# What a team sees

Every address of every application, and what somebody gets there who has a team and neither admin, examiner nor analyst as a role. How
people get a team: [teams](server.md#teams).

- Admins, examiners and analysts see every model, as ever. Anybody else with a team gets the live view, results, costs, answers and the report of
  its models, without reference answers and without the reasons of judges. The judge that gave stars is named. Each look is in the audit log.
- Another team's model is answered as one that nobody has heard of. A model is its team's as the registry says now, with all that it ever
  answered; for the costs a run keeps the team of its planning. A judge's call counts for the candidate whose answers it judged.
- Teams by claims are those of the last sign-in, and last as long as its session; those of `proctor.toml` hold once `proctor web` is started again.
- Whoever reviews questions may be of a team: give them none that their model may sit. Whoever may run commands on a host has its files and sees all.
- A site that `proctor report --team` made is shown on their report page.

The tables are made from what `tests/deployments/web/test_teams.py` and `tests/warehouse/lake/test_narrowed.py` walk: an address without a decision
fails them, and a table without one has no row.
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
