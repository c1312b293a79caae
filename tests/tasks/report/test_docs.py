from __future__ import annotations

import re
import shlex
from itertools import pairwise
from pathlib import Path

import pytest

from tasks.report.panels import NamedQuery
from tests.tasks.report.conftest import RunSql
from warehouse.lake.reading import find_query
from warehouse.lake.reading.queries import bind_parameters, read_queries

DOCS = Path(__file__).parents[3] / "docs"
ANALYST = (DOCS / "analyst.md").read_text("utf-8")
SQL_BLOCKS = re.findall(r"```sql\n(.*?)```", ANALYST, flags=re.DOTALL)
COMMANDS = re.findall(r"^\$ proctor sql (.*)$", ANALYST, flags=re.MULTILINE)


@pytest.mark.parametrize("sql", SQL_BLOCKS)
def test_every_query_of_the_analysts_page_returns_rows(sql: str, run_sql: RunSql) -> None:
    assert run_sql(sql).height > 0


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_of_the_analysts_page_returns_rows(
    command: str, season: NamedQuery, run_sql: RunSql
) -> None:
    name, *options = shlex.split(command)
    given = dict(option.split("=", 1) for flag, option in pairwise(options) if flag == "--param")

    if " " in name:
        assert run_sql(name).height > 0
    else:
        bind_parameters(find_query(name), given)
        assert season(name, dict(given)).height > 0


def test_every_query_that_the_analysts_page_names_exists() -> None:
    known = {*read_queries("analyses"), *read_queries("marts")}
    table = re.findall(r"^\| .* \| `(\w+)` \|", ANALYST, flags=re.MULTILINE)

    assert len(table) == 12
    assert set(table) <= known
