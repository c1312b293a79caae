"""The named queries under `warehouse/sql`: list them, run them, run a statement of one's own, run the checks.

Everything here only reads.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from functools import lru_cache
from graphlib import CycleError, TopologicalSorter
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING

from schemas.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping

    import polars as pl

    from warehouse.lake.store import Lake

SQL_DIR = Path(__file__).parent.parent / "sql"
KINDS = ("analyses", "marts", "checks", "staging", "reads")
_PARAMETER = re.compile(r"\$([a-z_][a-z0-9_]*)(?:\s*\(default\s+([^)]*)\))?")
_PARAMETER_LINE = re.compile(
    rf"(?:Parameters:)?\s*{_PARAMETER.pattern}(?:\s*,\s*{_PARAMETER.pattern})*\s*[,.]?"
)
_MAINTENANCE = re.compile(
    r"ducklake_(?!current_snapshot|last_committed|list_files|snapshots|table_|options|settings)", re.I
)


@dataclass(frozen=True)
class Parameter:
    """A `$name` of a query; `default` is text as in the header, None where a value must be given."""

    name: str
    default: str | None


@dataclass(frozen=True)
class Query:
    """One file of `warehouse/sql`.

    Attributes:
        name: the file's stem, named for the rows it returns.
        kind: its folder: marts, analyses, checks, staging or reads (what the stages read).
        question: the first line of the header, the question it answers.
        about: the rest of the header: grain and what is left out; without the line of parameters.
        parameters: declared in the header as `-- Parameters: $name (default value)`.
        body: the one SELECT, without the header and without a semicolon.
    """

    name: str
    kind: str
    question: str
    about: str
    parameters: tuple[Parameter, ...]
    body: str

    @property
    def digest(self) -> str:
        """Twelve hex digits over header and body: another text, another digest."""
        return hashlib.sha256(f"{self.question}\n{self.about}\n{self.body}".encode()).hexdigest()[:12]


@dataclass(frozen=True)
class CheckResult:
    """A check and the rows that offend against it; it passes when there are none."""

    name: str
    question: str
    offending: pl.DataFrame

    @property
    def is_passed(self) -> bool:
        """Whether no row offends."""
        return self.offending.is_empty()


def list_queries(kinds: tuple[str, ...] = ("analyses", "marts")) -> list[Query]:
    """The queries that can be run by name; no name is of two kinds."""
    found = {name: query for kind in kinds for name, query in read_queries(kind).items()}
    return [found[name] for name in sorted(found)]


def run_statement(lake: Lake, sql: str, params: Mapping[str, object] | None = None) -> pl.DataFrame:
    """The rows of one statement that only reads; raises UsageError for anything else."""
    import duckdb

    from warehouse.lake.store import translate_error

    try:
        statements = duckdb.extract_statements(sql)
    except duckdb.Error as error:
        raise translate_error(error) from None
    if len(statements) != 1:
        raise UsageError(f"One statement is run at a time; this text holds {len(statements)}.")
    is_reading = statements[0].type in (duckdb.StatementType.SELECT, duckdb.StatementType.EXPLAIN)
    if not is_reading or _MAINTENANCE.search(sql):
        raise UsageError(
            f"The statement is refused: only SELECT, FROM, DESCRIBE, SHOW, SUMMARIZE and EXPLAIN are run "
            f"(found {statements[0].type.name}). Rows enter the lake through Proctor's stages alone."
        )
    # A lake that is open for writing is held to reading for this statement.
    with lake.read_transaction():
        return lake.query(sql, params)


def run_checks(lake: Lake) -> list[CheckResult]:
    """Every check of `warehouse/sql/checks`; parameters that are settings (`$rest_months`) take the setting's value."""
    results = []
    for query in read_queries("checks").values():
        settings = {
            p.name: getattr(lake.settings, p.name) for p in query.parameters if hasattr(lake.settings, p.name)
        }
        rows = lake.query(query.body, bind_parameters(query, settings))
        results.append(CheckResult(query.name, query.question, rows))
    return results


def render_query_list() -> str:
    """The page of all analyses, views and checks with question, grain and parameters, as Markdown."""
    parts = [
        "# Named queries\n\n"
        "Generated from the headers of `warehouse/sql` by `make docs`; do not edit.\n\n"
        '`proctor sql NAME --param name=value` runs one; `proctor sql "SELECT * FROM NAME"` reads a view. '
        "`proctor doctor` runs the checks.\n\n"
    ]
    parts += [f"- [{query.name}](#{query.name}): {query.question}\n" for query in list_queries(("analyses",))]
    for kind, title, remark in (
        ("analyses", "Analyses", ""),
        ("marts", "Views", "\nViews take no parameters and promise no order.\n"),
        ("checks", "Checks", "\nA check passes when it returns no row.\n"),
    ):
        parts.append(f"\n## {title}\n{remark}")
        parts += [_render_query(query) for query in read_queries(kind).values()]
    return "".join(parts)


def _render_query(query: Query) -> str:
    given = [
        f"`${p.name}`" + (f" (default `{p.default}`)" if p.default is not None else " (required)")
        for p in query.parameters
    ]
    parts = [f"### `{query.name}`", query.question, _lay_out_about(query)]
    if given:
        parts.append(f"Parameters: {', '.join(given)}.")
    return "".join(f"\n{part}\n" for part in parts if part)


def _lay_out_about(query: Query) -> str:
    """The header below the question in its own lines; an indented line (`name  what it is`) is an entry of a list."""
    text = (SQL_DIR / query.kind / f"{query.name}.sql").read_text("utf-8")
    lines: list[str] = []
    was_entry = False
    for line in takewhile(lambda line: line.startswith("--"), text.strip().splitlines()[1:]):
        content = line.removeprefix("--")
        if not content.strip() or _PARAMETER_LINE.fullmatch(content.strip()):
            continue
        name, gap, about = content.strip().partition("  ")
        is_entry = content.startswith("   ") and bool(gap)
        if is_entry != was_entry and lines:
            lines.append("")
        lines.append(f"- `{name}`: {about.strip()}" if is_entry else content.strip())
        was_entry = is_entry
    return "\n".join(lines)


@lru_cache(maxsize=8)
def read_queries(kind: str) -> dict[str, Query]:
    """Every query of a folder by name, in order of name."""
    return {
        path.stem: parse_query(path.stem, kind, path.read_text("utf-8"))
        for path in sorted((SQL_DIR / kind).glob("*.sql"))
    }


def parse_query(name: str, kind: str, text: str) -> Query:
    """Split a file into its header (the leading `--` lines) and its statement."""
    lines = text.strip().splitlines()
    header_end = next((i for i, line in enumerate(lines) if not line.startswith("--")), len(lines))
    header = [line.removeprefix("--").strip() for line in lines[:header_end]]
    parameters: list[Parameter] = []
    about: list[str] = []
    for line in header:
        if line.startswith("Parameters:") or (parameters and _PARAMETER_LINE.fullmatch(line)):
            parameters += [
                Parameter(found[1], _clean_default(found[2])) for found in _PARAMETER.finditer(line)
            ]
        elif line:
            about.append(line)
    body = "\n".join(lines[header_end:]).strip().rstrip(";").strip()
    if not body:
        raise UsageError(
            f"warehouse/sql/{kind}/{name}.sql holds no statement. Write its SELECT below the header."
        )
    return Query(name, kind, about[0] if about else "", " ".join(about[1:]), tuple(parameters), body)


def find_query(name: str) -> Query:
    """The mart, analysis or check of that name; raises UsageError that lists what there is."""
    for kind in ("analyses", "marts", "checks"):
        if name in read_queries(kind):
            return read_queries(kind)[name]
    known = sorted([*read_queries("analyses"), *read_queries("marts")])
    raise UsageError(f"There is no query {name!r}; the queries are {', '.join(known) or 'not installed'}.")


def find_read(name: str) -> Query:
    """The query of that name under `reads`; raises UsageError where there is none."""
    try:
        return read_queries("reads")[name]
    except KeyError:
        raise UsageError(
            f"There is no warehouse/sql/reads/{name}.sql. Write it, or name one of those that are there."
        ) from None


def bind_parameters(query: Query, given: Mapping[str, object]) -> dict[str, object]:
    """The value of every declared parameter; raises UsageError for one that is unknown or missing."""
    declared = {parameter.name: parameter.default for parameter in query.parameters}
    if unknown := sorted(set(given) - set(declared)):
        raise UsageError(
            f"Query {query.name!r} has no parameter {', '.join(unknown)}; it takes {', '.join(declared) or 'none'}."
        )
    if missing := sorted(name for name, default in declared.items() if default is None and name not in given):
        raise UsageError(
            f"Query {query.name!r} needs a value for {', '.join(missing)}: give --param {missing[0]}=…."
        )
    return {
        name: _parse_given(query, name, default, given[name]) if name in given else _parse_default(default)
        for name, default in declared.items()
    }


def order_by_dependency(queries: Mapping[str, Query]) -> list[Query]:
    """The queries so that each comes after those it reads; raises UsageError for a circle."""
    reads = {name: sorted(names & set(queries) - {name}) for name, names in find_names_read(queries).items()}
    try:
        return [queries[name] for name in TopologicalSorter(reads).static_order()]
    except CycleError as error:
        raise UsageError(f"The marts {', '.join(error.args[1])} read each other in a circle.") from None


def find_names_read(queries: Mapping[str, Query]) -> dict[str, set[str]]:
    """The tables and views that each query names, by the query's name."""
    from warehouse.lake.attach import connect_duckdb

    # Without any table: where a view is there, DuckDB names what it reads in its place.
    with connect_duckdb() as connection:
        return {
            name: connection.get_table_names(_PARAMETER.sub("NULL", query.body))
            for name, query in queries.items()
        }


def _clean_default(text: str | None) -> str | None:
    return None if text is None else text.strip().strip("`'\"")


def _parse_given(query: Query, name: str, default: str | None, value: object) -> object:
    """Text from a command line becomes what the default is: a number where that is a number."""
    if not isinstance(value, str):
        return value
    if value.lower() == "null":
        return None
    model = _parse_default(default)
    parsed = _parse_default(value)
    if isinstance(model, bool | int | float):
        if not isinstance(parsed, bool | int | float):
            raise UsageError(
                f"Query {query.name!r}: {name} must be like its default {default}, not {value!r}."
            )
        return parsed
    return value


def _parse_default(text: str | None) -> object:
    """A default as a value: null, true and false, numbers; anything else is text."""
    if text is None or text.lower() in ("null", "none"):
        return None
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text
