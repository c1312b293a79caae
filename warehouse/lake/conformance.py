"""What every analysis keeps to, as a function for the tests of whoever writes some."""

from __future__ import annotations

from importlib.resources.abc import Traversable

from schemas import patterns as re
from schemas.errors import UsageError
from warehouse.lake.duck import duckdb
from warehouse.lake.reading import connect_trial, find_query, read_folder
from warehouse.lake.reading.queries import Query, list_queries, write_nulls

_USED = re.compile(r"\$([a-z_][a-z0-9_]*)")


def check_analyses(folder: Traversable) -> list[Query]:
    """Read every analysis of a folder and bind it on an empty lake of this version.

    Returns the analyses. Raises AssertionError naming file and rule: a question as the first line, a name that none of ours has,
    every parameter declared and used, one SELECT over tables and views that there are.
    """
    try:
        found = read_folder(folder, "the package")
    except UsageError as error:
        raise AssertionError(str(error)) from error
    assert found, f"{folder} holds no .sql file"
    ours = {query.name for query in list_queries(("analyses", "marts", "checks"))}
    with connect_trial() as connection:
        for query in found:
            assert query.question.endswith("?"), (
                f"{query.name}: the first line is the question that it answers"
            )
            assert query.name not in ours, (
                f"{query.name}: {find_query(query.name).kind} of Proctor's has this name"
            )
            declared = {parameter.name for parameter in query.parameters}
            used = set(_USED.findall(query.body))
            assert used == declared, (
                f"{query.name}: uses {sorted(used)}, declares {sorted(declared)} as Parameters:"
            )
            try:
                statements = connection.extract_statements(write_nulls(query.body))
                assert [one.type for one in statements] == [duckdb.StatementType.SELECT], (
                    f"{query.name}: is no one SELECT"
                )
                connection.execute(f"DESCRIBE {write_nulls(query.body)}")
            except duckdb.Error as error:
                raise AssertionError(f"{query.name}: {error}") from error
    return found
