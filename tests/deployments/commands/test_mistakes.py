"""Mistakes of a newcomer: each ends in one sentence that says what, where, and what to do."""

from __future__ import annotations

import json
import shutil
from functools import partial
from pathlib import Path

import pytest
from typer.testing import Result

from deployments.commands.options import ServingOptions
from schemas.errors import FlowError
from schemas.settings import Settings
from tasks.operations.packages import list_packages
from tasks.review import close_batch
from tasks.review.assigning import assign_batch
from tasks.review.channels import export_batch
from tests.deployments.conftest import copy_new_home
from tests.deployments.test_cli import invoke
from tests.tasks.review.conftest import make_frame, make_question
from tests.tasks.review.kit import Annotator
from warehouse.ledger.engine.moments import now_text
from warehouse.ledger.engine.opening import open_ledger
from warehouse.ledger.trust.users import add_user

PEOPLE = ("chen", "dai")


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home as `proctor init` makes it, with a batch that chen and dai review."""
    home = tmp_path_factory.mktemp("mistakes") / "home"
    copy_new_home(home)
    settings = Settings(home=home)
    with open_ledger(settings.ledger_address) as ledger:
        with ledger.write() as connection:
            for name in PEOPLE:
                add_user(connection, user_id=name, role="annotator")
        who = [Annotator(name) for name in PEOPLE]
        assign_batch(ledger, "b1", make_frame([make_question(1)]), who, settings, now_text())
    return home


@pytest.fixture
def home(template: Path, tmp_path: Path) -> Path:
    shutil.copytree(template, tmp_path / "home")
    return tmp_path / "home"


def check(done: Result, code: int, *says: str) -> None:
    """One sentence on standard error, no trace, and the exit code."""
    told = done.output
    assert done.exit_code == code, told
    assert "Traceback" not in told and (done.exception is None or isinstance(done.exception, SystemExit))
    assert told.count("Error: ") <= 1
    for one in says:
        assert one in told


@pytest.mark.parametrize(
    ("typed", "says"),
    [
        (("sql", "leaderbord"), "There is no query 'leaderbord'. Did you mean 'leaderboard'?"),
        (("sql", "STANDINGS"), "There is no query 'STANDINGS'. Did you mean 'standings'?"),
        (("models", "check", "sim-exmaple"), "Did you mean 'sim-example'?"),
        (("validate", "--table", "respnses"), "There is no table 'respnses'. Did you mean 'responses'?"),
        (("runs", "start", "monthy"), "There is no deployment 'monthy'. Did you mean 'monthly'?"),
        (("settings", "set", "set_sze", "3"), "There is no setting 'set_sze'. Did you mean 'set_size'?"),
        (("augment", "--methods", "paraphrases"), "Did you mean 'paraphrase'?"),
        (("bank", "export", "x", "--format", "jsnl"), "Did you mean 'jsonl'?"),
        (
            ("gscore", __file__, "--profile", "cgeval-papre"),
            "Did you mean 'cgeval-paper'?",
        ),
        (("documents", "list", "--status", "hld"), "--status 'hld' is unknown. Did you mean 'held'?"),
        (("attach", "pyhton"), "Did you mean 'python'?"),
        (("league", "season", "--language", "fr"), "--language 'fr' is unknown. Use one of"),
        (("exam", "user", "add", "zhao", "--role", "anotator"), "Did you mean 'annotator'?"),
        (
            ("exam", "user", "add", "zhao", "--role", "annotator", "--discipline", "Histroy"),
            "Discipline 'Histroy' is unknown. Did you mean 'History'?",
        ),
        (("review", "annotator", "chen", "--level", "Histroy=expert"), "Did you mean 'History'?"),
        (("review", "guidelines", "--chinese", "规则"), "--chinese goes with --publish"),
        (("evaluate", "--month", "2026-13"), "is not a month"),
        (("improvement", "--since", "2026-13"), "--since '2026-13' is not a month"),
        (("improvement", "--since", "2026-10"), "simulated ones are told with --simulated."),
        (("exam", "user", "add", "", "--role", "annotator"), "is no name of a user"),
        (("exam", "user", "add", "zhao\n", "--role", "annotator"), "is no name of a user"),
        (("exam", "token", "chen", "--hours", "nan"), "Invalid value for '--hours'"),
        (("exam", "token", "chen", "--hours", "-1"), "Invalid value for '--hours'"),
        (("runs", "budget", "2026-11", "--raise", "inf", "--reason", "x"), "Invalid value for '--raise'"),
        (("runs", "list", "--most", "9" * 20), "Invalid value for '--most'"),
        (("sql", "leaderboard", "--param", "simulated=maybe"), "is true or false."),
        (("sql", "exposure_by_lineage", "--param", "limit=1.5"), "is a whole number."),
        (("exam", "user", "add", "chen", "--role", "annotator"), "There is already a user 'chen'"),
        (
            ("models", "add", "sim-example", "--url", "http://127.0.0.1:9/v1", "--organisation", "Me"),
            "--again",
        ),
    ],
)
def test_what_is_misspelt_or_there_already_is_said_in_one_sentence(
    home: Path, typed: tuple[str, ...], says: str
) -> None:
    check(invoke(home, *typed), 2, says)


@pytest.mark.parametrize("has_registry", [True, False])
def test_the_demo_writes_nothing_into_a_home_of_something_else(home: Path, has_registry: bool) -> None:
    # Named here, what the demo sets is forgotten after it.
    sets = {"PROCTOR_SET_SIZE": "30", "PROCTOR_REPEATS": "1", "PROCTOR_NO_SERVER": "true"}
    if not has_registry:
        (home / "models.yaml").unlink()
    there = {path: path.read_bytes() for path in home.rglob("*") if path.is_file()}
    lack = "has no model 'sim-aurora-2'" if has_registry else "there is no "
    check(invoke(home, "demo", **sets), 2, str(home), lack, "PROCTOR_HOME")
    assert {path: path.read_bytes() for path in home.rglob("*") if path.is_file()} == there


@pytest.mark.parametrize("typed", [("sql", "--nosuch"), ("bank", "show"), ("approvals", "show", "three")])
def test_a_misused_option_is_a_json_document_with_json(home: Path, typed: tuple[str, ...]) -> None:
    done = invoke(home, *typed, "--json")
    said = json.loads(done.stdout)
    assert (done.exit_code, said["exit_code"], done.stderr) == (2, 2, "")
    assert said["error"]


@pytest.mark.parametrize(
    "typed",
    [
        ("packages", "sbom", "--out"),
        ("rules", "check", "--out"),
        ("report", "--no-server", "--out"),
        ("backup",),
    ],
)
def test_a_place_that_takes_nothing_is_named(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, typed: tuple[str, ...]
) -> None:
    # To list all that is installed takes most of a second.
    few = partial(list_packages, "typing_extensions")
    monkeypatch.setattr("deployments.commands.operate.packages.list_packages", few)
    (tmp_path / "file").write_text("x")
    done = invoke(home, *typed, str(tmp_path / "file" / "out"), "--json")
    said = json.loads(done.stdout)
    assert (done.exit_code, said["exit_code"]) == (2, 2)
    assert str(tmp_path / "file") in said["error"] and "cannot be used: Not a directory" in said["error"]


def test_every_value_of_a_statement_stands_in_json(home: Path, tmp_path: Path) -> None:
    statement = "select 'nan'::double as a, 2 as a, ['inf'::double, 1] as b"
    rows = [{"a": None, "a_1": 2, "b": [None, 1.0]}]
    done = invoke(home, "sql", statement, "--json")
    assert json.loads(done.stdout, parse_constant=pytest.fail) == rows
    path = tmp_path / "rows.json"
    assert invoke(home, "sql", statement, "--output", str(path)).exit_code == 0
    assert json.loads(path.read_text("utf-8"), parse_constant=pytest.fail) == rows


def test_a_benchmark_without_a_name_is_refused(home: Path, tmp_path: Path) -> None:
    table = tmp_path / "marks.csv"
    table.write_text("model,item_id,mark\nm,1,1\n")
    check(invoke(home, "import", "scores", str(table), "--benchmark", " "), 2, "name the benchmark")


def test_an_address_of_other_machines_without_tls_is_warned_of(capsys: pytest.CaptureFixture[str]) -> None:
    for host, proxy, is_warned in (("127.0.0.1", "", False), ("0.0.0.0", "", True), ("::", "::1", False)):
        ServingOptions(host=host, proxy=proxy).listen(8710)
        assert ("can be read on their way" in capsys.readouterr().err) is is_warned


def test_with_nothing_judged_publish_says_so_and_names_the_step_before(home: Path) -> None:
    check(invoke(home, "publish"), 0, "No run is judged", "Next: proctor evaluate, then proctor judge")


def test_a_workbook_that_is_open_in_a_spreadsheet_program_keeps_no_other_from_being_read(
    home: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "workbooks"
    with open_ledger(Settings(home=home).ledger_address) as ledger:
        first, *_ = export_batch(ledger, "b1", folder)
    mark = first.with_name(f"~${first.name}")
    mark.write_bytes(b"\x04chen")
    # As the shell spells out `workbooks/*.xlsx`.
    done = invoke(home, "review", "import", *sorted(map(str, folder.iterdir())))
    check(done, 0, f"{first} is open in another program: what is not saved there is not read.", "0 new")
    check(invoke(home, "review", "import", str(mark)), 2, "Name that one.")


def test_a_workbook_of_a_closed_batch_is_named_and_not_to_be_corrected(home: Path, tmp_path: Path) -> None:
    with open_ledger(Settings(home=home).ledger_address) as ledger:
        path, *_ = export_batch(ledger, "b1", tmp_path / "workbooks")
        close_batch(ledger, "b1", now_text(), early=True)
    check(
        invoke(home, "review", "import", str(path)),
        1,
        f"{path}: Review batch b1 was closed",
        "Next: proctor review status",
    )


def test_an_endpoint_at_a_closed_port_is_named_with_what_to_do(home: Path) -> None:
    url = "http://127.0.0.1:9/v1"
    check(invoke(home, "models", "add", "mine", "--url", url, "--organisation", "Me"), 0)
    done = invoke(home, "models", "check", "mine")
    check(
        done,
        1,
        f"Nothing answers at {url}: start what serves it, or correct its address",
        "0 of 1 models answer",
    )


def test_the_example_of_a_role_goes_when_an_own_model_comes_and_a_changed_one_stays(home: Path) -> None:
    registry = Settings(home=home).registry_path
    own = ("--url", "http://127.0.0.1:9/v1", "--organisation", "Me", "--simulated")
    assert "examples removed: sim-example" in invoke(home, "models", "add", "mine", *own).output
    assert "sim-judge-north:" in registry.read_text()
    changed = registry.read_text().replace("organisation: Example", "organisation: Mine by now")
    registry.write_text(changed)
    assert "examples removed: none" in invoke(home, "models", "add", "judge", *own, "--roles", "judge").output
    assert "sim-judge-north:" in registry.read_text() and "sim-example:" not in registry.read_text()


def test_init_says_what_it_makes_and_nothing_where_all_is_there(tmp_path: Path) -> None:
    first, second = (invoke(tmp_path / "home", "init").output for _ in range(2))
    assert "Making the ledger" in first and "tables of the lake" in first
    assert "Making" not in second


def test_a_worker_that_could_tell_nobody_is_not_started(home: Path) -> None:
    done = invoke(home, "up", PROCTOR_NOTIFY="ops@example.org")
    check(done, 2, "PROCTOR_NOTIFY names neither")
    assert not (home / "prefect").exists()


def test_a_deployment_whose_run_fails_ends_with_one_and_one_document(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import flows.seal as flow

    cases: list[tuple[dict[str, object], dict[str, object]]] = [
        ({"given": 1}, {"given": 1}),
        ({}, {"error": "Nobody was told.", "exit_code": 1}),
    ]
    for counted, printed in cases:

        def fail(counted: dict[str, object] = counted) -> None:
            raise FlowError("Nobody was told.", counted)

        monkeypatch.setattr(flow, "seal_log", fail)
        done = invoke(home, "runs", "start", "seal", "--no-server", "--json")
        assert (done.exit_code, json.loads(done.stdout)) == (1, printed)
        assert ("Error: Nobody was told." in done.stderr) is bool(counted)
