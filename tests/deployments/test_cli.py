"""The command line: help with examples, JSON for machines, one sentence for a mistake, exit codes as documented."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

PROCTOR = str(Path(sys.executable).with_name("proctor"))


def run(home: Path, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("PROCTOR_", "PREFECT_"))}
    return subprocess.run(
        [PROCTOR, *arguments],
        env=environment | {"PROCTOR_HOME": str(home)} | variables,
        cwd=home.parent,
        capture_output=True,
        text=True,
        timeout=300,
        stdin=subprocess.DEVNULL,
    )


def list_commands() -> Iterator[tuple[str, ...]]:
    import typer

    from deployments.cli import app

    def walk(command: Any, path: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
        if hasattr(command, "commands"):
            for name, below in command.commands.items():
                yield from walk(below, (*path, name))
        else:
            yield path

    yield from walk(typer.main.get_command(app), ())


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("cli") / "home"
    done = run(folder, "init", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["registry_is_new"] is True
    return folder


def test_every_command_has_help_with_an_example_and_json() -> None:
    import typer

    from deployments.cli import app

    group: Any = typer.main.get_command(app)
    without_json = {("exam", "serve"), ("shell",)}  # they stay until they are interrupted
    commands = list(list_commands())
    assert len(commands) >= 25
    for path in commands:
        command = group
        for name in path:
            command = command.commands[name]
        assert "Example: " in (command.help or ""), path
        assert "proctor " in (command.help or "").split("Example: ", 1)[1], path
        options = {option for parameter in command.params for option in parameter.opts}
        assert ("--json" in options) or path in without_json, path


def test_help_imports_nothing_heavy() -> None:
    script = "import sys, deployments.cli; print([m for m in ('prefect','polars','pandas','torch','duckdb','great_expectations','sqlalchemy','openai','pydantic') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_init_twice_changes_nothing(home: Path) -> None:
    registry = (home / "models.yaml").read_text()
    assert json.loads(run(home, "init", "--json").stdout)["registry_is_new"] is False
    assert (home / "models.yaml").read_text() == registry


@pytest.mark.parametrize(
    ("arguments", "variables", "exit_code", "says"),
    [
        (("ingest", "no-such-folder"), {}, 2, "no-such-folder"),
        (("evaluate", "--candidates", "nobody-7b", "--yes"), {}, 2, "nobody-7b"),
        (("evaluate", "--month", "November"), {}, 2, "YYYY-MM"),
        (("exam", "plan"), {}, 3, "No bank is published yet"),
        (("review", "assign"), {}, 3, "no annotators"),
        (("review", "import", "no-such.xlsx"), {}, 1, "no-such.xlsx"),
        (("sql", "no_such_query"), {}, 2, "no_such_query"),
        (("sql", "select * from no_such_table"), {}, 2, "no_such_table"),
        (("sql", "delete from bank"), {}, 2, ""),
        (("sql", "leaderboard", "--param", "month"), {}, 2, "name=value"),
        (("sql", "leaderboard", "--format", "xml"), {}, 2, "xml"),
        (("exam", "token", "nobody"), {}, 2, "nobody"),
        (("exam", "user", "add", "x", "--role", "wizard"), {}, 2, "wizard"),
        (("exam", "user", "add", "x", "--role", "annotator", "--discipline", "Alchemy"), {}, 2, "Alchemy"),
        (("gscore", "no-such.csv"), {}, 2, "no-such.csv"),
        (("restore", "no-such-folder"), {}, 2, "not a backup"),
        (("status",), {"PROCTOR_SET_SIZE": "many"}, 2, "set_size"),
        (("status",), {"PROCTOR_LEDGER_URL": "mysql://x"}, 1, "mysql"),
        (("no-such-command",), {}, 2, "no-such-command"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else None,
)
def test_a_mistake_gets_one_clear_error_and_no_stack_trace(
    home: Path, arguments: tuple[str, ...], variables: dict[str, str], exit_code: int, says: str
) -> None:
    done = run(home, *arguments, **variables)
    assert done.returncode == exit_code, done.stderr
    assert says in done.stderr
    assert "Traceback" not in done.stderr + done.stdout


def test_an_error_is_json_when_json_was_asked_for(home: Path) -> None:
    done = run(home, "exam", "plan", "--json")
    assert done.returncode == 3
    assert json.loads(done.stdout)["exit_code"] == 3


def test_a_missing_key_variable_is_named_before_anything_is_claimed(home: Path) -> None:
    registry = home / "keyless.yaml"
    registry.write_text(
        "providers:\n  lab: {base_url: 'http://127.0.0.1:9/v1', key_variable: PROCTOR_TEST_NO_SUCH_KEY}\n"
        "models:\n  lab-2: {provider: lab, organisation: Lab, is_open: false, roles: [candidate, reference]}\n"
    )
    script = """
import datetime, sys
from schemas.settings import load_settings
from schemas.errors import RegistryError
from tasks.exam.month import publish_month
from tasks.exam.plan.planning import plan_run
from tasks.models.registry import read_registry
from tests.tasks.exam.world import make_bank, DISCIPLINES
from warehouse.ledger.engine import open_ledger
from warehouse.ledger.exam import list_runs
settings = load_settings()
with open_ledger(settings.ledger_address) as ledger:
    plan = plan_run(ledger, settings, read_registry(settings.registry_path), make_bank(9), month="2026-11", is_simulated=False)
    try:
        publish_month(ledger, settings, plan)
    except RegistryError as error:
        print(error.exit_code, error)
    with ledger.read() as connection:
        print("runs", len(list_runs(connection)))
"""
    environment = os.environ | {
        "PROCTOR_HOME": str(home), "PROCTOR_REGISTRY": str(registry), "PROCTOR_SET_SIZE": "3", "PROCTOR_REPEATS": "1",
        "PROCTOR_DISCIPLINES": '["Engineering","Law","History"]',
    }  # fmt: skip
    root = Path(__file__).resolve().parents[2]
    done = subprocess.run(
        [sys.executable, "-c", script], env=environment, cwd=root, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("2 ")
    assert "PROCTOR_TEST_NO_SUCH_KEY" in done.stdout
    assert done.stdout.strip().endswith("runs 0")


def test_a_lake_that_does_not_exist_names_the_command_that_makes_it(tmp_path: Path) -> None:
    done = run(tmp_path / "nothing", "sql", "select 1 as one")
    assert done.returncode == 1
    assert "proctor init" in done.stderr


def test_formats_of_sql(home: Path) -> None:
    query = "select 1 as number, ['a', 'b'] as texts, null as nothing"
    assert run(home, "sql", query, "--format", "csv").stdout == 'number,texts,nothing\n1,"[""a"", ""b""]",\n'
    assert json.loads(run(home, "sql", query, "--json").stdout) == [
        {"number": 1, "texts": ["a", "b"], "nothing": None}
    ]
    assert "number" in run(home, "sql", query).stdout


def test_the_shell_answers_statements_and_survives_mistakes(home: Path) -> None:
    done = subprocess.run(
        [PROCTOR, "shell"],
        env=os.environ | {"PROCTOR_HOME": str(home)},
        input="select 40 + 2 as answer;\nselect nonsense;\nselect 7\n as seven;\n.quit\n",
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0
    assert "42" in done.stdout
    assert "seven" in done.stdout
    assert "nonsense" in done.stderr
