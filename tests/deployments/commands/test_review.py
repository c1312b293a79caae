"""`proctor review`: assign, export, import, status, agreement, in process and as typed."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import delete, select
from typer.testing import CliRunner, Result

from deployments.cli import app
from deployments.flow_runs.server import stop_server
from schemas.settings import Settings, load_settings
from tasks.review import open_waiting_batch
from tests.deployments.conftest import copy_new_home
from tests.deployments.demo.kit import Verdict, fill_workbook
from tests.tasks.review.channels.label_studio.filling import annotate, read_tasks, save
from tests.tasks.review.conftest import make_frame, make_question
from warehouse.lake import open_lake
from warehouse.ledger.engine.opening import open_ledger
from warehouse.ledger.engine.tables import review_assignments, users
from warehouse.ledger.trust.users import add_user

ANNOTATORS = ("chen", "dai", "eva")


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home of three annotators and four unread questions; a copy for each test."""
    settings = Settings(home=tmp_path_factory.mktemp("template") / "home")
    copy_new_home(settings.home)
    with open_ledger(settings.ledger_address) as ledger, ledger.write() as connection:
        for name in ANNOTATORS:
            add_user(connection, user_id=name, role="annotator")
    rows = [make_question(number) for number in (1, 2)]
    rows += [make_question(number, "History") for number in (3, 4)]
    with open_lake(settings) as lake:
        lake.land("questions", rows[0]["document_id"], make_frame(rows))
    return settings.home


@pytest.fixture
def home(template: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder with a copy of the template as the home of this process."""
    for name in [name for name in os.environ if name.startswith(("PROCTOR_", "PREFECT_"))]:
        monkeypatch.delenv(name)
    shutil.copytree(template, tmp_path / "home")
    monkeypatch.setenv("PROCTOR_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    load_settings.cache_clear()
    yield tmp_path
    load_settings.cache_clear()


def run(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["review", *arguments])


def run_json(*arguments: str) -> Any:
    done = run(*arguments, "--json")
    assert done.exception is None, done.output
    return json.loads(done.stdout)


def export(verdicts: Sequence[Verdict] = ()) -> list[str]:
    """Open a batch, export it, and fill in every workbook; returns their paths."""
    run_json("assign")
    return fill(verdicts)


def fill(verdicts: Sequence[Verdict] = ()) -> list[str]:
    paths: list[str] = run_json("export", "workbooks")["workbooks"]
    for path in paths:
        fill_workbook(Path(path), verdicts)
    return paths


def reject(path: str, stem_start: str) -> None:
    """Reject one question in one workbook, before the rest is filled in."""
    fill_workbook(Path(path), [Verdict("paper.docx", stem_start, "reject", "which?", "unclear")])


def test_assigning_names_the_batch_the_loads_and_the_next_step(home: Path) -> None:
    lines = run("assign").stdout.splitlines()
    assert lines[0].startswith("Batch ")
    assert ": 4 questions, 8 assignments, due " in lines[0]
    assert [line.strip().split(":")[0] for line in lines[1:-1]] == list(ANNOTATORS)
    assert lines[-1] == "Next: proctor review export workbooks"
    again = run("assign").stdout.splitlines()
    assert again == [
        "Nothing new to assign: every question is in a batch already, or decided.",
        "Next: proctor review status",
    ]


def test_questions_that_came_with_an_answer_are_given_out_first(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = [make_question(number, "Law", answer=[]) for number in range(10, 20)]
    rows += [make_question(number, "Law") for number in range(20, 23)]
    with open_lake(load_settings()) as lake:
        lake.land("questions", rows[0]["document_id"], make_frame(rows))
    # Three people at four questions hold six questions of two reviews each: three with an answer, three without.
    monkeypatch.setenv("PROCTOR_REVIEW_DAILY_QUOTA", "4")
    monkeypatch.setenv("PROCTOR_REVIEW_DUE_DAYS", "1")
    load_settings.cache_clear()
    batch = run_json("assign")
    assert batch["question_count"] == 6
    with open_ledger(load_settings().ledger_address) as ledger, ledger.read() as connection:
        found = connection.execute(
            select(review_assignments.c.question_uuid, review_assignments.c.has_answer).distinct()
        ).all()
    assert sorted(bool(has_answer) for _, has_answer in found) == [False] * 3 + [True] * 3


def test_exporting_names_the_files_and_the_next_step(home: Path) -> None:
    run_json("assign")
    lines = run("export", "workbooks").stdout.splitlines()
    assert [Path(line).exists() for line in lines[:-1]] == [True] * 3
    assert lines[-1].endswith("proctor review import workbooks/*.xlsx")


def test_exporting_without_an_open_batch_sends_to_assigning(home: Path) -> None:
    assert run("export", "workbooks").stdout.splitlines() == [
        "No batch is open: nothing to export.",
        "Next: proctor review assign",
    ]


def test_exporting_an_unknown_batch_is_refused(home: Path) -> None:
    done = run("export", "workbooks", "--batch", "nothing")
    assert done.exit_code == 2
    assert "There is no review batch 'nothing'" in done.stderr


def test_importing_counts_what_came_in_and_doing_it_again_changes_nothing(home: Path) -> None:
    paths = export()
    first = run_json("import", paths[0])
    assert [(one["path"], one["is_complete"]) for one in first["imported"]] == [(paths[0], False)]
    assert first["imported"][0]["new_count"] > 0
    assert first["complete_batches"] == first["continued"] == first["refused"] == []
    again = run_json("import", paths[0])["imported"][0]
    assert (again["new_count"], again["changed_count"]) == (0, 0)
    assert again["unchanged_count"] == first["imported"][0]["new_count"]


def test_the_last_decision_completes_the_batch(home: Path) -> None:
    paths = export()
    lines = run("import", "--no-continue", *paths).stdout.splitlines()
    assert lines[0].startswith(f"{paths[0]}: ")
    assert lines[-2].endswith(" is complete.")
    assert lines[-1] == "Next: the same command without --no-continue starts what follows"
    done = run_json("import", "--no-continue", *paths)
    assert len(done["complete_batches"]) == 1
    assert done["continued"] == []
    assert run_json("status")["batches"][0]["states"] == {"accepted": 4}
    assert run("status").stdout.splitlines()[-1] == "Next: proctor review import workbooks/*.xlsx"


def test_a_dispute_is_given_out_and_its_workbook_is_the_next_step(home: Path) -> None:
    run_json("assign")
    paths: list[str] = run_json("export", "workbooks")["workbooks"]
    reject(paths[0], "A shelf")
    for path in paths[1:]:
        fill_workbook(Path(path), [])
    lines = run("import", *paths).stdout.splitlines()
    assert any(line.endswith("disputes given to an adjudicator") for line in lines)
    assert lines[-1] == "Next: proctor review export workbooks (the adjudicators' are among them)"
    new = [path for path in fill() if path.endswith("-adjudication.xlsx")]
    assert new
    done = run_json("import", "--no-continue", *new)
    assert len(done["complete_batches"]) == 1


def test_a_refused_file_records_nothing_and_the_others_are_recorded(home: Path) -> None:
    paths = export()
    damaged = Path(paths[0])
    damaged.write_bytes(damaged.read_bytes()[:2000])
    done = run("import", *paths)
    assert done.exit_code == 1
    assert f"Error: {damaged.name}: " in done.stderr
    assert done.stdout.splitlines()[-1] == ("Next: correct what is listed above and import those files again")
    people = run_json("status")["batches"][0]["annotators"]
    assert {one["annotator"]: one["decided_count"] > 0 for one in people} == {
        "chen": False,
        "dai": True,
        "eva": True,
    }


def test_status_shows_who_owes_decisions(home: Path) -> None:
    assert run("status").stdout.splitlines() == ["There is no review batch.", "Next: proctor review assign"]
    run_json("assign")
    lines = run("status").stdout.splitlines()
    assert lines[0].endswith("4 waiting")
    assert all(": 0 of " in line for line in lines[1:4])
    loads = [line.split(" open, quota 50 a day, 0 decided today; ")[1] for line in lines[4:-1]]
    assert len(loads) == 3
    assert all(" a day finish them by " in load and "BEHIND" not in load for load in loads)
    assert {one["annotator"] for one in run_json("status")["annotators"]} == set(ANNOTATORS)
    assert lines[-1] == "Next: proctor review import workbooks/*.xlsx"


def test_agreement_is_shown_per_batch_discipline_annotator_and_pair(home: Path) -> None:
    paths = export()
    run_json("import", "--no-continue", *paths)
    batch_id = run_json("status")["batches"][0]["batch_id"]
    rows = run_json("agreement", "--batch", batch_id)["agreement"]
    scopes = [(row["scope"], row["name"]) for row in rows if row["scope"] != "pair"]
    assert scopes == [
        ("batch", batch_id),
        ("discipline", "Engineering"),
        ("discipline", "History"),
        *[("annotator", name) for name in ANNOTATORS],
    ]
    first = rows[0]
    assert (first["question_count"], first["decision_count"], first["pair_count"]) == (4, 8, 4)
    assert (first["percent_agreement"], first["cohen_kappa"]) == (1.0, None)
    assert run_json("agreement")["agreement"] == rows
    table = run("agreement").stdout
    assert "Agreement of annotators" in table
    assert "kappa" in table
    assert table.splitlines()[-1] == "Next: proctor review status"


def test_agreement_of_nothing_says_so_and_of_an_unknown_batch_is_refused(home: Path) -> None:
    assert run("agreement").stdout.splitlines()[0] == "No decision is in yet."
    assert run_json("agreement") == {"agreement": [], "gold": []}
    assert run("agreement", "--batch", "nothing").exit_code == 2


def test_assigning_without_annotators_is_refused(home: Path) -> None:
    with open_ledger(load_settings().ledger_address) as ledger, ledger.write() as connection:
        connection.execute(delete(users))
    done = run("assign")
    assert done.exit_code == 3
    assert "proctor exam user add NAME --role annotator" in done.stderr


def test_what_has_no_place_is_named_and_waits(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PROCTOR_REVIEW_COUNT", "4")
    load_settings.cache_clear()
    refused = run("assign")
    assert (refused.exit_code, "wait for a later batch" in refused.stderr) == (3, True)
    # A paper that was read when everybody has enough to do: the ingest ended with this refusal and told nothing else.
    waiting = open_waiting_batch(load_settings())
    assert (waiting["batch_id"], waiting["assigned_questions"], waiting["assignments"]) == (None, 0, 0)
    assert f"{waiting['waiting_questions']} questions wait for a later batch" in refused.stderr
    monkeypatch.setenv("PROCTOR_REVIEW_COUNT", "3")
    monkeypatch.setenv("PROCTOR_REVIEW_DAILY_QUOTA", "1")
    monkeypatch.setenv("PROCTOR_REVIEW_DUE_DAYS", "3")
    load_settings.cache_clear()
    refused = run("assign", "--all-or-nothing")
    assert (refused.exit_code, "Nothing was assigned" in refused.stderr) == (3, True)
    lines = run("assign", "--gold-share", "0.1").stdout.splitlines()
    assert ": 2 questions, 6 assignments" in lines[0], "three questions each, and room for the known ones"
    assert any(line.startswith("No question with a known decision is among them") for line in lines)
    (left,) = [line for line in lines if "wait for a later batch" in line]
    assert left.endswith(": its 3 annotators have time for 6 reviews until the batch is due")


def test_work_is_moved_and_people_are_reminded(home: Path) -> None:
    run_json("assign")
    set_up = run_json("annotator", "chen", "--level", "novice", "--language", "zh", "--daily-quota", "9")
    assert (set_up["levels"], set_up["language"], set_up["daily_quota"]) == ({"*": "novice"}, "zh", 9)
    assert run_json("annotator", "chen") == set_up
    assert "chen，您好：" in run("remind").stdout
    unsent = run("remind", "--send")
    assert (unsent.exit_code, "PROCTOR_SMTP_HOST" in unsent.stderr) == (2, True)
    before = {one["annotator"]: one["open_count"] for one in run_json("status")["annotators"]}
    done = run("reassign", "dai")
    assert done.exit_code in (0, 1)
    (batch,) = run_json("reassign", "dai")["batches"] or [{"moved": {}}]
    assert batch["moved"] == {}, "what could move has moved"
    after = {one["annotator"]: one["open_count"] for one in run_json("status")["annotators"]}
    assert sum(after.values()) == sum(before.values())
    assert after["dai"] < before["dai"]


def test_label_studio_takes_the_tasks_and_gives_the_decisions_back(home: Path) -> None:
    assert "No batch is open" in run("label-studio", "export", "out").stdout
    run_json("assign")
    files = run_json("label-studio", "export", "out")["files"]
    assert [Path(one).name.rsplit("-", 1)[1] for one in files] == [
        "chen.json",
        "dai.json",
        "eva.json",
        "en.xml",
    ]
    for one in files[:-1]:
        tasks = read_tasks(Path(one))
        everything = {number: {"decision": "Accept"} for number in range(1, len(tasks) + 1)}
        save(Path(one), annotate(tasks, everything))
    done = run_json("label-studio", "import", "--no-continue", *files[:-1])
    assert (len(done["complete_batches"]), done["refused"]) == (1, [])
    wrong = run("label-studio", "import", files[0], "--person", "chen")
    assert (wrong.exit_code, "is not ACCOUNT=ANNOTATOR" in wrong.stderr) == (2, True)


@pytest.mark.long
def test_without_a_worker_what_follows_runs_in_the_command(home: Path) -> None:
    paths = export()
    proctor = str(Path(sys.executable).with_name("proctor"))
    try:
        done = subprocess.run(
            [proctor, "review", "import", *paths], capture_output=True, text=True, timeout=300, cwd=home
        )
    finally:
        stop_server(load_settings())  # The flow started one, and it would outlive the tests
    assert done.returncode == 0, done.stderr[-2000:]
    lines = done.stdout.splitlines()
    assert lines[-2].endswith(": closed; the bank is at version 1")
    assert lines[-1] == "Next: proctor start (models, a plan with its cost, the exam)"
    assert run_json("status")["batches"][0]["status"] == "closed"
    assert run("status").stdout.splitlines()[-1] == "Next: proctor start"
