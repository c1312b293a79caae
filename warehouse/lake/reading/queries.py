"""The named queries under `warehouse/sql`: found, read, and their parameters bound."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import lru_cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import TYPE_CHECKING

from schemas import patterns as re
from schemas.errors import StoreError, UsageError
from schemas.table import MONTH_PATTERN
from schemas.tables import TABLES
from warehouse.lake.connecting import connect_duckdb
from warehouse.lake.duck import duckdb
from warehouse.lake.faults import translate_error
from warehouse.lake.quoting import quote_text

if TYPE_CHECKING:
    from collections.abc import Mapping
    from collections.abc import Set as AbstractSet

SQL_DIR = Path(__file__).parents[2] / "sql"
ANALYSES_DIR = SQL_DIR / "analyses"
KINDS = ("analyses", "marts", "checks", "staging", "reads")
_PARAMETER = re.compile(r"\$([a-z_][a-z0-9_]*)(?:\s*\(default\s+([^)]*)\))?")
_WORD = re.compile(r"\b[a-z_]+\b")
# What a parameter without a number for its default is taken for.
_CAST = re.compile(r"\$([a-z_]+)::(BOOLEAN|BIGINT|INTEGER)\b")
_PARAMETER_USED = re.compile(r"\$([a-z_][a-z0-9_]*)")
# What a query takes for the month that was judged last, or has a jury (also of real candidates), and what a lake finds of it
# (`months.py`): a month that is named reaches the scan, one that is looked up in the same statement does not.
_LATEST = {
    "(SELECT max(month) FROM judgements)": "$judged_month",
    "(SELECT max(month) FROM judgements WHERE NOT is_simulated)": "$real_month",
    "(SELECT max(month) FROM jury_scores)": "$jury_month",
    "(SELECT max(month) FROM jury_scores WHERE NOT is_simulated)": "$real_jury_month",
}
FOUND = ("judged_month", "real_month", "jury_month", "real_jury_month", "open_from", "open_to")
_PARAMETER_LINE = re.compile(
    rf"(?:Parameters:)?\s*{_PARAMETER.pattern}(?:\s*,\s*{_PARAMETER.pattern})*\s*[,.]?"
)


@dataclass(frozen=True)
class Parameter:
    """A `$name` of a query; `default` as in the header, None where a value must be given."""

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
        shown: columns that a narrow terminal shows first, in the header as `-- Shown: name, name`.
        no_rows: what must happen before it has a row, in the header as `-- No rows: sentence`; empty where the tables tell it.
        body: the one SELECT, without the header and without a semicolon. With `-- Marks of: NAME` in the header it has a last column
            `marks` of the edition that each row names by its `edition_id`, `run_id` or `month`, of all `draws` of its month, or of `every month`.
        header: the lines of the header below the question, as they are indented, without their `--`.
        frozen_order: columns by which the rows are ordered, of an analysis whose rows of closed months are frozen in `closed_NAME`; in
            the header as `-- Frozen in order of: name, name`. Every row rests on the rows of its own `month`.
        package: the package that brings it; empty for one of ours.
    """

    name: str
    kind: str
    question: str
    about: str
    parameters: tuple[Parameter, ...]
    body: str
    shown: tuple[str, ...] = ()
    no_rows: str = ""
    header: tuple[str, ...] = ()
    package: str = ""
    frozen_order: str = ""

    @property
    def frozen_table(self) -> str:
        """The table of its rows of closed months; empty where none are frozen."""
        return f"closed_{self.name}" if self.frozen_order else ""

    @property
    def lake_body(self) -> str:
        """The same statement as a lake runs it: closed months as frozen, others by `body`."""
        body = self.body
        for looked_up, found in _LATEST.items():
            body = body.replace(looked_up, found)
        if not self.frozen_order:
            return body
        asked = "" if "$month" not in body else " AND ($month::VARCHAR IS NULL OR month = $month)"
        return (
            f"SELECT * FROM (\n{body}\n) WHERE month BETWEEN $open_from AND $open_to\n"
            f"UNION ALL BY NAME\n"
            f"SELECT * EXCLUDE (landing_unit) FROM {self.frozen_table}\n"
            f"WHERE month NOT BETWEEN $open_from AND $open_to{asked}\n"
            f"ORDER BY {self.frozen_order}"
        )

    @property
    def found(self) -> tuple[str, ...]:
        """The parameters of `lake_body` that the lake finds."""
        return tuple(name for name in FOUND if f"${name}" in self.lake_body)

    @property
    def digest(self) -> str:
        """Twelve hex digits over header and body: another text, another digest."""
        return hashlib.sha256(f"{self.question}\n{self.about}\n{self.body}".encode()).hexdigest()[:12]


def list_queries(kinds: tuple[str, ...] = ("analyses", "marts")) -> list[Query]:
    """The queries that can be run by name; no name is of two kinds."""
    found = {name: query for kind in kinds for name, query in read_queries(kind).items()}
    return [found[name] for name in sorted(found)]


@lru_cache(maxsize=8)
def read_queries(kind: str) -> dict[str, Query]:
    """Every query of a folder by name, in order of name."""
    return {
        path.stem: parse_query(path.stem, kind, path.read_text("utf-8"))
        for path in sorted((SQL_DIR / kind).glob("*.sql"))
    }


def parse_query(name: str, kind: str, text: str, *, place: str = "") -> Query:
    """Split a file (`place` in errors) into its header, the `--` lines, and its statement."""
    lines = text.strip().splitlines()
    header_end = next((i for i, line in enumerate(lines) if not line.startswith("--")), len(lines))
    raw = [line.removeprefix("--") for line in lines[:header_end]]
    header = [line.strip() for line in raw]
    parameters: list[Parameter] = []
    about: list[str] = []
    shown: tuple[str, ...] = ()
    no_rows = marks_of = frozen_order = ""
    for line in header:
        if line.startswith("Shown:"):
            shown = tuple(name.strip() for name in line.removeprefix("Shown:").split(","))
        elif line.startswith("No rows:"):
            no_rows = line.removeprefix("No rows:").strip()
        elif line.startswith("Marks of:"):
            marks_of = line.removeprefix("Marks of:").strip()
        elif line.startswith("Frozen in order of:"):
            frozen_order = line.removeprefix("Frozen in order of:").strip()
        elif line.startswith("Parameters:") or (parameters and _PARAMETER_LINE.fullmatch(line)):
            parameters += [
                Parameter(found[1], _clean_default(found[2])) for found in _PARAMETER.finditer(line)
            ]
        elif line:
            about.append(line)
    body = "\n".join(lines[header_end:]).strip().rstrip(";").strip()
    if not body:
        raise UsageError(
            f"{place or f'warehouse/sql/{kind}/{name}.sql'} holds no statement. Write its SELECT below the header."
        )
    return Query(
        name,
        kind,
        about[0] if about else "",
        " ".join(about[1:]),
        tuple(parameters),
        _add_marks(body, marks_of) if marks_of else body,
        shown,
        no_rows,
        header=tuple(raw[1:]),
        frozen_order=frozen_order,
    )


def _add_marks(body: str, named_by: str) -> str:
    """The statement with what is to be known of the editions that each of its rows rests on.

    Where one month of every can be asked for, its editions are all that the rows rest on.
    """
    months = "coalesce($month::VARCHAR || ' ', 'every ')" if "$month" in body else "'every '"
    key = {
        "edition_id": "edition_id",
        "run_id": "'run ' || run_id",
        "month": "month || ' ' || is_simulated",
        "every month": f"{months} || is_simulated",
        "draws": "'draws of ' || month || ' ' || is_simulated",
    }[named_by]
    known = "(SELECT map(list(named_by), list(marks)) FROM edition_marks)"
    return f"SELECT *, {known}[{key}] AS marks\nFROM (\n{body}\n)"


def list_header_entries(query: Query) -> dict[str, str]:
    """The lists in a query's header: `name what it is` is an entry, `a, b what` are two."""
    return {
        name.strip(): about
        for line in query.header
        if (entry := split_entry(line)) is not None
        for names, about in [entry]
        for name in names.split(",")
    }


def split_entry(line: str) -> tuple[str, str] | None:
    """Name and meaning of a line of a header that is an entry of a list, else None."""
    name, gap, about = line.strip().partition("  ")
    return (name, about.strip()) if line.startswith("   ") and gap else None


def is_parameter_line(line: str) -> bool:
    """Whether a line of a header only declares parameters."""
    return _PARAMETER_LINE.fullmatch(line.strip()) is not None


def find_read(name: str) -> Query:
    """The query of that name under `reads`; raises UsageError where there is none."""
    try:
        return read_queries("reads")[name]
    except KeyError:
        raise UsageError(
            f"There is no warehouse/sql/reads/{name}.sql. Write it, or name one of those that are there."
        ) from None


def bind_parameters(query: Query, given: Mapping[str, object]) -> dict[str, object]:
    """The value of every declared parameter; UsageError for one unknown or missing."""
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


def render_query(query: Query, given: Mapping[str, object]) -> str:
    """The statement of a query with the values of its parameters written into it.

    It stands below the query's question.

    Raises UsageError as `bind_parameters` does.
    """
    values = bind_parameters(query, given)
    body = _PARAMETER_USED.sub(lambda found: _write_literal(values[found[1]]), query.body)
    return f"-- {query.question}\n{body}"


def order_by_dependency(queries: Mapping[str, Query]) -> list[Query]:
    """The queries so that each comes after those it reads; raises UsageError for a circle."""
    return [queries[name] for name in _order_names(tuple(queries.items()))]


# A process that makes several lakes asks for the same order each time.
@lru_cache(maxsize=8)
def _order_names(queries: tuple[tuple[str, Query], ...]) -> tuple[str, ...]:
    found = find_names_read(dict(queries))
    reads = {name: sorted(names & set(found) - {name}) for name, names in found.items()}
    try:
        return tuple(TopologicalSorter(reads).static_order())
    except CycleError as error:
        raise UsageError(f"The marts {', '.join(error.args[1])} read each other in a circle.") from None


def find_names_read(queries: Mapping[str, Query]) -> dict[str, set[str]]:
    """The tables and views that each query names, by the query's name."""
    # Without any table: where a view is there, DuckDB names what it reads in its place.
    with connect_duckdb() as connection:
        return {name: connection.get_table_names(write_nulls(query.body)) for name, query in queries.items()}


def find_tables_read(connection: duckdb.DuckDBPyConnection, sql: str) -> AbstractSet[str]:
    """The tables of the contract that a statement reads on a lake, itself and through views."""
    try:
        return set(connection.get_table_names(sql)) & set(TABLES)
    except duckdb.Error:  # it looks at some statements without the types of what they read
        return find_names(sql) & set(TABLES)


@lru_cache(maxsize=512)
def find_names(sql: str) -> frozenset[str]:
    """Every table and view whose name stands in a statement, or in the views that it names."""
    views = {**read_queries("marts"), **read_queries("staging")}
    found: set[str] = set()
    waiting = [sql]
    while waiting:
        named = set(_WORD.findall(waiting.pop())) & ({*TABLES, *views} - found)
        found |= named
        waiting += [views[name].body for name in named & set(views)]
    return frozenset(found)


def write_nulls(sql: str) -> str:
    """The statement with NULL for every parameter, to look at what it reads or returns."""
    return _PARAMETER.sub("NULL", sql)


def explain_error(error: duckdb.Error, sql: str) -> UsageError | StoreError:
    """DuckDB's error about a statement as ours; a table not there may be an analysis."""
    hint = _explain_analysis(sql) if isinstance(error, duckdb.CatalogException) else None
    return translate_error(error) if hint is None else UsageError(hint)


def _explain_analysis(sql: str) -> str | None:
    """What to write instead where a statement selects from an analysis as from a view."""
    try:
        named = find_names_read({"statement": parse_query("statement", "reads", sql)})["statement"]
    except duckdb.Error:
        return None
    for name in sorted(named & set(read_queries("analyses"))):
        try:
            reads = find_names_read({name: read_queries("analyses")[name]})[name]
        except duckdb.Error:  # some analyses cannot be bound without the types of what they read
            reads = set()
        views = ", ".join(sorted(reads & set(read_queries("marts"))))
        return f"{name} is an analysis, not a view: run it by its name (`proctor sql {name}`)" + (
            f", or select from what it reads: {views}." if views else "."
        )
    return None


def _write_literal(value: object) -> str:
    """A value as DuckDB reads it in a statement."""
    if value is None:
        return "NULL"
    if isinstance(value, bool | int | float):
        return str(value).lower()
    return quote_text(str(value))


def _clean_default(text: str | None) -> str | None:
    return None if text is None else text.strip().strip("`'\"")


def _parse_given(query: Query, name: str, default: str | None, value: object) -> object:
    """Text from a command line becomes what the default is, or what the statement takes it for."""
    if not isinstance(value, str):
        return value
    if value.lower() == "null":
        return None
    if name.endswith("month") and re.fullmatch(MONTH_PATTERN, value) is None:
        raise UsageError(
            f"--param {name}={value}: this is not a month. Write it as YYYY-MM, for example 2026-11."
        )
    model = _parse_default(default)
    cast = next((found[2] for found in _CAST.finditer(query.body) if found[1] == name), "")
    kind: type[int]  # A bool is an int, too
    if isinstance(model, bool) or cast == "BOOLEAN":
        kind, meant = bool, "true or false"
    elif isinstance(model, int) or cast:
        kind, meant = int, "a whole number"
    else:
        return value
    parsed = _parse_default(value)
    if type(parsed) is not kind:
        raise UsageError(f"--param {name}={value}: {name} of the query {query.name!r} is {meant}.")
    return parsed


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
