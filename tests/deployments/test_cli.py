"""The command line: help with examples, JSON for machines, one sentence for a mistake."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from deployments.command_line import listed_commands
from schemas.ledger.engine import FlowSchedule
from schemas.settings import load_settings
from warehouse.ledger.engine.opening import open_ledger
from warehouse.ledger.engine.runs.flow_runs import write_flow_schedules
from warehouse.ledger.exam.tokens import read_ended_tokens

ROOT = Path(__file__).resolve().parents[2]
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


def invoke(home: Path | None, *arguments: str, **variables: str) -> Result:
    """Run a command in this process, under an environment of its own."""
    from deployments.cli import app

    with pytest.MonkeyPatch.context() as patch:
        for name in list(os.environ):
            if name.startswith(("PROCTOR_", "PREFECT_")):
                patch.delenv(name)
        # A store that is away is waited for where a test says so.
        patch.setenv("PROCTOR_STORE_WAIT_S", "0")
        if home is not None:
            patch.setenv("PROCTOR_HOME", str(home))
        for name, value in variables.items():
            patch.setenv(name, value)
        load_settings.cache_clear()
        try:
            return CliRunner().invoke(app, list(arguments))
        finally:
            load_settings.cache_clear()


def list_commands() -> Iterator[tuple[str, ...]]:
    from deployments.cli import load_commands

    def walk(command: Any, path: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
        if hasattr(command, "commands"):
            for name, below in command.commands.items():
                yield from walk(below, (*path, name))
        else:
            yield path

    yield from walk(load_commands(), ())


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("cli") / "home"
    done = invoke(folder, "init", "--json")
    assert done.exit_code == 0, done.stderr
    assert json.loads(done.stdout)["registry_is_new"] is True
    return folder


def test_every_command_has_help_with_an_example_and_json() -> None:
    from deployments.cli import load_commands

    group: Any = load_commands()
    without_json = {
        ("exam", "serve"),
        ("shell",),
        ("start",),
        ("worker",),
    }  # they stay until they are interrupted
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


def test_the_list_says_of_each_command_what_its_own_help_begins_with() -> None:
    from deployments.cli import load_commands

    own = {
        name: " ".join(command.help.split("\n\n")[0].split())
        for name, command in load_commands().commands.items()
    }
    assert {listed.name: listed.summary for listed in listed_commands.COMMANDS} == own
    assert len({listed.name for listed in listed_commands.COMMANDS}) == len(listed_commands.COMMANDS)


def test_every_command_stands_in_one_section_of_the_help() -> None:
    from deployments.cli import app

    help_text = CliRunner().invoke(app, ["--help"]).output
    places = [help_text.index(f"{title}:") for title in listed_commands.SECTIONS]
    assert places == sorted(places)
    assert "..." not in help_text.split("Begin:")[1]


def test_every_function_with_an_example_is_a_command() -> None:
    """What nobody listed or put below a group would be a command that cannot be called."""
    from deployments.cli import load_commands

    called: set[str] = set()
    for words in list_commands():
        command: Any = load_commands()
        for word in words:
            command = command.commands[word]
        called.add(command.callback.__name__)
    written: set[str] = set()
    for path in sorted((ROOT / "deployments" / "commands").rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        written |= {
            node.name
            for node in tree.body
            if isinstance(node, ast.FunctionDef) and "Example: proctor " in (ast.get_docstring(node) or "")
        }
    assert written - called == set()
    assert len(written) > 50


# One interpreter runs commands one after the other, what imports least first: after each the modules that are there are told.
TELL = """
import contextlib, io, json, os, sys
from deployments.cli import app
heavy = sys.argv[1].split(",")
for arguments, variables in json.loads(sys.argv[2]):
    os.environ.update(variables)
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), contextlib.suppress(SystemExit):
        app(arguments, prog_name="proctor")
    for name in variables:
        del os.environ[name]
    here = [name for name in heavy if name in sys.modules]
    commands = sorted(name for name in sys.modules if name.startswith("deployments.commands."))
    print(json.dumps([printed.getvalue(), here, commands]))
"""


def tell_imports(
    heavy: tuple[str, ...], *calls: tuple[list[str], dict[str, str]], **variables: str
) -> list[list[Any]]:
    """After each call: what it printed, the heavy modules that are there, and those of commands."""
    done = subprocess.run(
        [sys.executable, "-c", TELL, ",".join(heavy), json.dumps(calls)],
        env=os.environ | variables,
        capture_output=True,
        text=True,
        check=True,
    )
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_a_command_imports_its_own_module_and_no_other_s_and_help_nothing_heavy() -> None:
    own = ["deployments.commands.operate", "deployments.commands.operate.hosts"]
    heavy = (
        "prefect",
        "polars",
        "pandas",
        "torch",
        "duckdb",
        "great_expectations",
        "sqlalchemy",
        "openai",
        "pydantic",
    )
    asked: list[tuple[list[str], dict[str, str], list[str], str]] = [
        (["--help"], {}, [], "  models         The models of the registry, and whether they answer."),
        (["--version"], {}, [], "proctor "),
        ([], {"_PROCTOR_COMPLETE": "complete_bash", "COMP_WORDS": "proctor mo", "COMP_CWORD": "1"}, [], "models"),
        (["hosts", "--help"], {}, own, "Usage: proctor hosts"),
        ([], {"_PROCTOR_COMPLETE": "complete_bash", "COMP_WORDS": "proctor clock --c", "COMP_CWORD": "2"},
         own, "--confirm"),
    ]  # fmt: skip
    told = tell_imports(heavy, *((arguments, variables) for arguments, variables, *_ in asked))
    for (arguments, _, imported, says), (printed, _, commands) in zip(asked, told, strict=True):
        assert says in printed, (arguments, printed)
        assert commands == imported, arguments
    assert [here for _, here, _ in told[:2]] == [[], []]


def test_init_twice_changes_nothing(home: Path) -> None:
    registry = (home / "models.yaml").read_text()
    assert json.loads(invoke(home, "init", "--json").stdout)["registry_is_new"] is False
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
        (("judge", "--run", "no-such-run"), {}, 2, "The runs are: none yet"),
        (("exam", "sit", "no-such-run"), {}, 2, "no-such-run"),
        (("judge",), {"PROCTOR_REGISTRY": "/no/such/models.yaml"}, 2, "/no/such/models.yaml"),
        (("cgeval", "run", "--models", "nobody", "--references", "x.csv"), {}, 2, "nobody"),
        (("documents", "remove", "no-such-paper.pdf"), {}, 2, "no-such-paper.pdf"),
        (("documents", "list", "--status", "lost"), {}, 2, "lost"),
        (("status",), {"PROCTOR_BUDGET_US": "5"}, 2, "PROCTOR_BUDGET_USD"),
        (("exam", "serve", "--certificate", "no-such.pem"), {}, 2, "no-such.pem"),
        (("exam", "serve", "--port", "70000"), {}, 2, "from 1 to 65535"),
        (("exam", "sessions", "--run", "no-such-run"), {}, 2, "no-such-run"),
        (("exam", "user", "password", "nobody"), {}, 2, "nobody"),
        (("sql", "leaderboard", "--param", "month=2026-13"), {}, 2, "YYYY-MM"),
        (("sql", "select * from gscore_ratings"), {}, 2, "proctor sql gscore_ratings"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else None,
)
def test_a_mistake_gets_one_clear_error_and_no_stack_trace(
    home: Path, arguments: tuple[str, ...], variables: dict[str, str], exit_code: int, says: str
) -> None:
    done = invoke(home, *arguments, **variables)
    assert done.exit_code == exit_code, (done.output, done.exception)
    assert says in done.stderr
    assert "Traceback" not in done.output
    assert not (home / "prefect").exists(), "a server was started for a command that cannot run"


@pytest.mark.parametrize("command", ["status", "runs", "doctor"])
def test_whoever_looks_is_told_at_once_of_a_store_that_is_away(home: Path, command: str) -> None:
    away = {"PROCTOR_LEDGER_URL": "postgresql://proctor:hidden@127.0.0.1:1/x", "PROCTOR_STORE_WAIT_S": "3"}
    done = invoke(home, command, **away)
    assert done.exit_code == 1, (done.output, done.exception)
    assert "The ledger at postgresql://proctor:***@127.0.0.1:1/x cannot be opened" in done.output
    assert "waited for" not in done.output
    assert "Traceback" not in done.output


def test_status_names_a_month_that_passed_without_its_run_until_it_is_left_out(home: Path) -> None:
    since = datetime.now(UTC) - timedelta(days=70)
    with open_ledger(f"sqlite:///{home / 'ledger.sqlite'}") as ledger, ledger.write() as connection:
        write_flow_schedules(
            connection,
            [
                FlowSchedule(
                    deployment="monthly",
                    flow="monthly",
                    cron="0 2 1 * *",
                    timezone="UTC",
                    deployed_at=since.isoformat(),
                )
            ],
        )

    def name_missed() -> list[str]:
        missed: list[str] = json.loads(invoke(home, "status", "--json").stdout)["missed_runs"]
        return missed

    earlier, *later = name_missed()
    month = earlier.removeprefix("monthly did not run at ")[:7]
    assert f"(proctor monthly --month {month}, or proctor runs leave-out {month})" in earlier
    assert invoke(home, "runs", "leave-out", month).exit_code == 0
    assert name_missed() == later
    again = invoke(home, "runs", "leave-out", month)
    assert (again.exit_code, f"No run of {month} was missed" in again.stderr) == (2, True)
    with open_ledger(f"sqlite:///{home / 'ledger.sqlite'}") as ledger, ledger.write() as connection:
        write_flow_schedules(connection, [])


def test_a_token_is_for_a_session_that_its_user_has(home: Path) -> None:
    assert invoke(home, "exam", "user", "add", "eve", "--role", "examiner").exit_code == 0
    done = invoke(home, "exam", "token", "eve", "--session", "no-such-session")
    assert (done.exit_code, done.stdout) == (2, "")
    assert "eve has no session 'no-such-session'" in done.stderr


def test_tokens_are_ended_by_themselves_by_their_id_and_by_user(home: Path) -> None:
    assert invoke(home, "exam", "user", "add", "zoe", "--role", "annotator").exit_code == 0
    assert invoke(home, "exam", "user", "role", "zoe", "examiner").exit_code == 0
    token = invoke(home, "exam", "token", "zoe").stdout.strip()
    issued = json.loads(invoke(home, "exam", "token", "zoe", "--hours", "9999", "--json").stdout)
    assert issued["expires_at"] - time.time() == pytest.approx(14 * 86_400, abs=60)
    ended = json.loads(invoke(home, "exam", "token", "--revoke", token, "--json").stdout)["token_id"]
    assert invoke(home, "exam", "token", "--revoke", issued["token_id"]).exit_code == 0
    assert invoke(home, "exam", "token", "--revoke-user", "zoe").exit_code == 0
    with open_ledger(f"sqlite:///{home / 'ledger.sqlite'}") as ledger, ledger.read() as connection:
        found = read_ended_tokens(connection).read()
    assert {ended, issued["token_id"]} <= found.token_ids
    assert found.users["zoe"] == pytest.approx(time.time(), abs=60)
    for wrong in (("zoe", "--revoke", token), (), ("--revoke", "junk"), ("--revoke-user", "nobody")):
        assert invoke(home, "exam", "token", *wrong).exit_code == 2


def test_keys_are_changed_and_listed_without_their_secrets(home: Path) -> None:
    before = json.loads(invoke(home, "exam", "keys", "list", "--json").stdout)
    assert "is believed until" in invoke(home, "exam", "keys", "rotate").stdout
    after = json.loads(invoke(home, "exam", "keys", "list", "--json").stdout)
    assert after[1]["key_id"] == before[0]["key_id"]
    assert [key["is_signing"] for key in after] == [True] + [False] * len(before)
    assert "Every earlier token has ended." in invoke(home, "exam", "keys", "rotate", "--now").stdout
    done = invoke(home, "exam", "keys", "list")
    assert len(json.loads(invoke(home, "exam", "keys", "list", "--json").stdout)) == 1
    for key in json.loads((home / "secrets" / "exam-keys.json").read_text())["keys"]:
        assert key["key_id"] in done.stdout
        assert key["secret"] not in done.stdout


def test_a_weak_password_is_refused_at_the_terminal(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("typer.prompt", lambda *_, **__: "password123456")
    done = invoke(home, "exam", "user", "add", "yan", "--role", "annotator", "--password")
    assert (done.exit_code, done.stdout) == (2, "")
    assert "among the first that anybody would try" in done.stderr


def test_an_error_is_json_when_json_was_asked_for(home: Path) -> None:
    done = invoke(home, "exam", "plan", "--json")
    assert done.exit_code == 3
    assert json.loads(done.stdout)["exit_code"] == 3


def test_a_missing_key_variable_is_named_before_anything_is_claimed(home: Path, warm_python: str) -> None:
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
from tasks.models.registry.models import read_registry
from tests.tasks.exam.world import make_bank, plan_wished, DISCIPLINES
from warehouse.ledger.engine.opening import open_ledger
from warehouse.ledger.exam.sittings import list_run_ids
settings = load_settings()
with open_ledger(settings.ledger_address) as ledger:
    plan = plan_wished(ledger, settings, read_registry(settings.registry_path), make_bank(9), month="2026-11", is_simulated=False)
    try:
        publish_month(ledger, settings, plan)
    except RegistryError as error:
        print(error.exit_code, error)
    with ledger.read() as connection:
        print("runs", len(list_run_ids(connection)))
"""
    environment = os.environ | {
        "PROCTOR_HOME": str(home), "PROCTOR_REGISTRY": str(registry), "PROCTOR_SET_SIZE": "3", "PROCTOR_REPEATS": "1",
        "PROCTOR_DISCIPLINES": '["Engineering","Law","History"]',
    }  # fmt: skip
    done = subprocess.run(
        [warm_python, "-c", script], env=environment, cwd=ROOT, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("2 ")
    assert "PROCTOR_TEST_NO_SUCH_KEY" in done.stdout
    assert done.stdout.strip().endswith("runs 0")


def test_only_init_and_demo_make_a_home(tmp_path: Path) -> None:
    for arguments in (("sql", "select 1 as one"), ("status",), ("models",), ("judge",), ("up",)):
        done = invoke(tmp_path / "nothing", *arguments)
        assert done.exit_code == 2, arguments
        assert "proctor init" in done.stderr
        assert str(tmp_path / "nothing") in done.stderr
    assert list(tmp_path.iterdir()) == []
    assert "proctor init" in invoke(tmp_path / "nothing", "doctor").stdout


def test_a_home_is_found_from_a_folder_below_it(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / ".proctor").symlink_to(home)
    (tmp_path / "proctor.toml").write_text("set_size = 7\n", encoding="utf-8")
    below = tmp_path / "papers" / "2026"
    below.mkdir(parents=True)
    monkeypatch.chdir(below)
    done = invoke(None, "sql", "select 1 as one", "--json")
    assert json.loads(done.stdout) == [{"one": 1}]
    assert str(tmp_path / ".proctor") in done.stderr
    for name in list(os.environ):
        if name.startswith("PROCTOR_"):
            monkeypatch.delenv(name)
    load_settings.cache_clear()
    assert (load_settings().home, load_settings().set_size) == (tmp_path / ".proctor", 7)
    monkeypatch.chdir(tmp_path)
    assert "Using the home" not in invoke(None, "sql", "select 1 as one").stderr


def test_formats_of_sql(home: Path) -> None:
    query = "select 1 as number, ['a', 'b'] as texts, null as nothing"
    assert (
        invoke(home, "sql", query, "--format", "csv").stdout == 'number,texts,nothing\n1,"[""a"", ""b""]",\n'
    )
    link = "select '=HYPERLINK(1)' as link, '-1.5' as number, -2 as count"
    assert (
        invoke(home, "sql", link, "--format", "csv").stdout == "link,number,count\n'=HYPERLINK(1),-1.5,-2\n"
    )
    assert json.loads(invoke(home, "sql", link, "--json").stdout)[0]["link"] == "=HYPERLINK(1)"
    assert json.loads(invoke(home, "sql", query, "--json").stdout) == [
        {"number": 1, "texts": ["a", "b"], "nothing": None}
    ]
    assert "number" in invoke(home, "sql", query).stdout


def test_the_list_of_queries_names_each_with_its_question(home: Path) -> None:
    lines = invoke(home, "sql").stdout.splitlines()
    assert "leaderboard $month $simulated" in lines
    assert lines[lines.index("leaderboard $month $simulated") + 1].strip().endswith("?")


def test_what_people_ask_often_imports_neither_prefect_nor_pandas(home: Path) -> None:
    heavy = (
        "prefect",
        "pandas",
        "polars",
        "pyarrow",
        "numpy",
        "openpyxl",
        "scipy",
        "great_expectations",
        "torch",
    )
    # What asks the lake alone comes first: it does not wait for the ledger's library either.
    asked = (["sql"], ["sql", "select 1 as one"], ["sql", "leaderboard"], ["status"], ["models"], ["bank"])
    told = tell_imports((*heavy, "sqlalchemy"), *((words, {}) for words in asked), PROCTOR_HOME=str(home))
    assert [here for _, here, _ in told] == [[]] * 3 + [["sqlalchemy"]] * 3
    assert all(printed for printed, _, _ in told)


def test_the_version_names_the_commit_of_a_checkout_and_whether_it_was_changed(tmp_path: Path) -> None:
    from importlib.metadata import version

    from deployments.command_line import render_version

    def git(*arguments: str) -> str:
        own = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
        identity = ("-c", "user.name=t", "-c", "user.email=t@example.org")
        done = subprocess.run(
            ["git", *identity, *arguments], cwd=tmp_path, env=own, capture_output=True, text=True, check=True
        )
        return done.stdout.strip()

    assert invoke(None, "--version").stdout.startswith(f"proctor {version('proctor')}")
    assert render_version(tmp_path) == f"proctor {version('proctor')}"
    git("init", "--quiet")
    assert render_version(tmp_path) == f"proctor {version('proctor')}", "there is no commit yet"
    (tmp_path / "code.py").write_text("1")
    git("add", ".")
    git("commit", "--quiet", "--message", "first")
    commit = git("rev-parse", "--short", "HEAD")
    assert render_version(tmp_path) == f"proctor {version('proctor')} ({commit})"
    (tmp_path / "code.py").write_text("2")
    assert render_version(tmp_path) == f"proctor {version('proctor')} ({commit}+)"


def test_a_locale_of_another_encoding_is_no_reason_to_fail(home: Path) -> None:
    # As in zh_CN.GBK, which few machines have: a library reads stubs of ours as the locale has it.
    other = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    done = run(home, "runs", "list", **other)
    assert (done.returncode, "│ state │" in done.stdout) == (0, True), done.stderr


def test_the_shell_answers_statements_and_survives_mistakes(home: Path, warm: Path) -> None:
    done = subprocess.run(
        [str(warm / "proctor"), "shell"],
        env=os.environ | {"PROCTOR_HOME": str(home)},
        input="select 40 + 2 as answer;\nselect nonsense;\nselect 7\n as seven;\n.quit\n",
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 1, "a statement failed"
    assert "42" in done.stdout
    assert "seven" in done.stdout
    assert "nonsense" in done.stderr
    assert list((home / "duckdb").glob("shell-*")) == []


def test_sessions_that_stayed_open_are_counted_by_their_cause() -> None:
    from deployments.commands.exam.evaluate import render_exam
    from schemas.errors import GateError
    from tasks.running.flow_runs import check_published

    left_open = [
        {"session_id": f"s{number}", "model": model, "reason": reason}
        for number, (model, reason) in enumerate(
            [("north", "no reply"), ("south", "no reply"), ("south", "key")]
        )
    ]
    result = {"run_id": "r", "sessions": 3, "calls": {"sent": 3}, "open_sessions": left_open}
    assert render_exam(result) == [
        "run id: r",
        "sessions: 3",
        "calls: sent 3",
        "Sessions that stayed open: 3",
        "  2 of north, south: no reply",
        "  1 of south: key",
    ]
    with pytest.raises(
        GateError,
        match=r"(?s)^Not published: open\.\n.*: 3\n  2 of north, south: no reply\n  1 of south: key$",
    ):
        check_published({"refusal": "Not published: open.", **result})


@pytest.mark.parametrize(
    ("arguments", "name"), [(("sql", "select '\0'"), "query"), (("runs", "list", "--flow", "a\0b"), "flow")]
)
def test_the_character_zero_is_one_usage_error_wherever_it_stands(
    home: Path, arguments: tuple[str, ...], name: str
) -> None:
    done = invoke(home, *arguments)
    assert done.exit_code == 2
    assert done.stderr.strip().endswith(f"{name} holds the character zero. Take it out.")
    assert len(done.stderr.strip().splitlines()) == 1
    assert done.stdout == ""


def test_a_text_in_another_encoding_is_one_usage_error_and_a_path_in_one_is_a_path(home: Path) -> None:
    typed = os.fsdecode("历史".encode("gb18030"))
    done = invoke(home, "sql", f"select '{typed}'")
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr.startswith("Error: query is no text in UTF-8.")
    done = invoke(home, "ingest", str(home / typed), "--no-server")
    assert (done.exit_code, "does not exist" in done.stderr) == (2, True)
