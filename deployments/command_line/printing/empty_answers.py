"""Why a question to the lake has no answer.

It finds which of the tables that the question reads are empty, and which command fills them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Final

from schemas.league_statistics import STATISTICS
from schemas.tables import TABLES

if TYPE_CHECKING:
    from warehouse.lake.reading import LakeReader

# The stage that lands a table, as a command.
_OF_STAGE: Final[Mapping[str, str]] = {
    "ingest": "proctor ingest",
    "review": "proctor review",
    "augment": "proctor augment",
    "dedupe": "proctor dedupe",
    "bank": "proctor bank retire",
    "evaluate": "proctor evaluate",
    "judge": "proctor judge",
    "calibrate": "proctor calibrate report",
    "errors": "proctor errors draw",
    "drift": "proctor drift run",
    "erase": "proctor erase",
    "publish": "proctor publish",
    "gscore": "proctor cgeval score",
    "import": "proctor import",
    "contamination": "proctor contamination run",
    "stability": "proctor stability",
    "league": "proctor league run",
}
# Tables that another command of the stage fills.
_OF_TABLE: Final[Mapping[str, str]] = {
    "restore_checks": "proctor restore",
    "archived_rows": "proctor archive",
    "human_ratings": "proctor calibrate import",
    "calibration_samples": "proctor calibrate draw",
    "error_labels": "proctor errors import",
    "anchor_responses": "proctor drift draw",
    "external_scores": "proctor import external",
    "improvements": "proctor improvement",
    "imported_league_scores": "proctor import league",
    "imported_league_overlaps": "proctor import league",
    "league_flag_decisions": "proctor league validate",
    "league_validations": "proctor league validate",
    "league_matches": "proctor league enter",
    **dict.fromkeys((table.name for table in STATISTICS), "proctor league report"),
}


@dataclass(frozen=True)
class EmptyAnswer:
    """Why a statement has no rows.

    Attributes:
        because: what must happen first, as the analysis states it; empty for a statement, or where it states nothing.
        empty_tables: tables that it reads and that have no row.
        filled_by: the commands that fill them.
        parameters: names of the query's parameters, by which other rows may be asked for.
    """

    because: str
    empty_tables: tuple[str, ...]
    filled_by: tuple[str, ...]
    parameters: tuple[str, ...]

    def render(self) -> str:
        """One or two sentences for people."""
        parts = [f"No rows: {self.because}"] if self.because else []
        if self.filled_by:
            tables, verb = ", ".join(self.empty_tables), "has" if len(self.empty_tables) == 1 else "have"
            start = "" if parts else "No rows: "
            parts.append(f"{start}{tables} {verb} none yet. Filled by: {', '.join(self.filled_by)}.")
        if self.parameters:
            takes = ", ".join(f"--param {name}=…" for name in self.parameters)
            if not parts:
                parts.append("No rows: every table that it reads has rows, but none that is asked for.")
            parts.append(f"To ask for others: {takes}.")
        if not parts:
            parts.append("No rows: every table that it reads has rows, but none of them is such a one.")
        return " ".join(parts)

    def as_dict(self) -> dict[str, object]:
        """Plain values for machines."""
        return {"no_rows": asdict(self)}


def explain_empty(
    reader: LakeReader, sql: str, parameters: Sequence[str] = (), because: str = ""
) -> EmptyAnswer:
    """Why a statement has no rows.

    The cause is what an analysis states (`because`), empty tables, named with the commands that fill them, or the choice of rows.

    `parameters` are the names of those that the query takes, whose values stand in `sql`.
    """
    found = reader.find_empty_tables(sql)
    if because:
        # An edition without a row of it is attested by its operator alone: no analysis lacks rows for that.
        found = found - {"edition_grades"}
    empty = tuple(name for name in TABLES if name in found)
    commands = tuple(dict.fromkeys(name_command(name) for name in empty))
    return EmptyAnswer(because, empty, commands, tuple(parameters))


def name_command(table: str) -> str:
    """The command that fills a table; every command that lands anything for those that all fill."""
    return _OF_TABLE.get(table) or _OF_STAGE.get(TABLES[table].stage, "every command that lands rows")
