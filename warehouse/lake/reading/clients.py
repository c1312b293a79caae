"""The lines with which Python, Polars, pandas, DuckDB's prompt, R and Jupyter read the lake."""

from __future__ import annotations

from typing import Final

from schemas.settings import Settings
from warehouse.lake.attach import list_attach_statements
from warehouse.lake.duck import duckdb

CLIENTS: Final = ("python", "polars", "pandas", "jupyter", "cli", "r")
_QUESTION: Final = "SELECT month, model, score FROM leaderboards ORDER BY month, rank"
# What comes after the lines of Python; each has its first line in common with them.
_IN_PYTHON: Final = {
    "python": f"print(exam.sql({_QUESTION!r}))",
    "polars": f"frame = exam.sql({_QUESTION!r}).pl()",
    "pandas": f"frame = exam.sql({_QUESTION!r}).df()",
    "jupyter": f"exam.sql({_QUESTION!r}).df()",
}


def render_lines(settings: Settings) -> dict[str, str]:
    """Client → its lines, which hold no password; StoreError without a lake."""
    statements = list_attach_statements(settings)
    opening = "\n".join(
        [
            "import duckdb",
            'exam = duckdb.connect(config={"autoinstall_known_extensions": False})',
            *(f"exam.execute({statement!r})" for statement in statements),
        ]
    )
    return {
        "duckdb": duckdb.__version__,
        **{name: f"{opening}\n{question}" for name, question in _IN_PYTHON.items()},
        "cli": "\n".join([*(f"{statement};" for statement in statements), f"{_QUESTION};"]),
        "r": "\n".join(
            [
                "library(duckdb)",
                "exam <- dbConnect(duckdb())",
                *(f"invisible(dbExecute(exam, {_quote_r(statement)}))" for statement in statements),
                f"frame <- dbGetQuery(exam, {_quote_r(_QUESTION)})",
            ]
        ),
    }


def shorten(name: str, lines: str) -> str:
    """The lines of a client beside those of Python: what they have in common is said once."""
    if name not in _IN_PYTHON or name == "python":
        return lines
    return f"# the lines of python, and in place of the last one:\n{_IN_PYTHON[name]}"


def _quote_r(text: str) -> str:
    """A text as R reads it."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
