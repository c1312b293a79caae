"""`review assign --question`: questions of the bank are read again, and what follows."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from openpyxl import load_workbook

from schemas.settings import Settings
from tasks.bank.dedupe import land_bank
from tasks.review import close_batch
from tasks.review.decisions import Edit
from tests.deployments.demo.kit import Verdict, fill_workbook
from tests.deployments.test_cli import invoke
from tests.fresh import open_new_lake
from tests.tasks.bank.augment.conftest import make_accepted
from tests.tasks.bank.dedupe.test_landing import STEMS, land_batch
from warehouse.lake import open_lake
from warehouse.ledger.engine.opening import open_ledger
from warehouse.ledger.trust.users import add_user

DOUBTED, OTHER = make_accepted(STEMS[0]), make_accepted(STEMS[1], discipline="Law")
UUID = DOUBTED["question_uuid"]
ASSIGN = ("review", "assign", "--question", UUID[:8], "--reason", "The source says D.")
KEY = Verdict("", "", "edit", "see the source", edit=Edit.from_row({"answer": ["D"]}))
NONE = Verdict("", "", "reject", "no option is right", reject_reason="factual_error")
STANDS = Verdict("", "", "accept", "")


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("doubted") / "home"
    settings = Settings(home=folder)
    with open_new_lake(settings) as lake:
        land_batch(lake, "b1", DOUBTED, OTHER)
        land_bank(lake, settings)
    assert invoke(folder, "init", "--json").exit_code == 0
    with open_ledger(settings.ledger_address) as ledger, ledger.write() as connection:
        for name in ("chen", "dai", "eva", "fei"):
            add_user(connection, user_id=name, role="annotator")
    return folder


@pytest.fixture
def home(template: Path, tmp_path: Path) -> Path:
    shutil.copytree(template, tmp_path / "home")
    return tmp_path / "home"


def run_json(home: Path, *arguments: str) -> Any:
    done = invoke(home, *arguments, "--json", PROCTOR_NO_SERVER="true")
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


def read_bank(home: Path) -> list[tuple[Any, ...]]:
    with open_lake(Settings(home=home), read_only=True) as lake:
        return lake.query(
            "select revision, answer[1], count(*) from current_bank where lineage_uuid = $of group by all order by all",
            {"of": UUID},
        ).rows()


def fill(home: Path, verdict: Verdict) -> list[str]:
    """The workbooks of what is open, filled in by everybody alike."""
    paths: list[str] = run_json(home, "review", "export", str(home / "workbooks"))["workbooks"]
    for path in paths:
        fill_workbook(Path(path), [verdict])
    return paths


@pytest.mark.parametrize(
    ("verdict", "bank", "reviews"),
    [
        # The key, four statements of which another one is true, and all of them of another revision.
        (KEY, [(2, "D", 1), (2, "false", 3), (2, "true", 1)], [("accepted", 2, True)]),
        (STANDS, [(1, "C", 1), (1, "false", 3), (1, "true", 1)], [("accepted", 1, False)]),
        (NONE, [], [("rejected", 1, False)]),
    ],
    ids=["corrected", "found right", "rejected"],
)
def test_what_annotators_decide_is_the_next_version_of_the_bank(
    home: Path, verdict: Verdict, bank: list[tuple[Any, ...]], reviews: list[tuple[Any, ...]]
) -> None:
    given = run_json(home, *ASSIGN)
    assert (given["is_new"], given["question_count"], given["assignment_count"]) == (True, 1, 2)
    assert run_json(home, *ASSIGN)["is_new"] is False
    paths = fill(home, verdict)
    assert "The source says D." in str(list(load_workbook(paths[0]).worksheets[0].values))
    run_json(home, "review", "import", *paths)
    assert read_bank(home) == bank
    card = run_json(home, "bank", "show", UUID)
    assert [(row["outcome"], row["revision"], row["was_edited"]) for row in card["reviews"][1:]] == reviews
    assert [row["doubt"] for row in card["reviews"]] == [None, "The source says D."]
    log = home / "public" / "log.jsonl"
    noted = [json.loads(line)["body"] for line in log.read_text().splitlines()] if log.exists() else []
    left = {"count": 5, "bank_version": 2, "reason": "review rejected them"}
    assert [body for body in noted if "reason" in body] == ([left] if verdict is NONE else [])
    # Settled for this reason, it is given out again only where that is asked for, or for another one.
    assert run_json(home, *ASSIGN)["is_new"] is False
    for name, again in (
        ("by --again", [*ASSIGN, "--again"]),
        ("another reason", [*ASSIGN[:-1], "B after all."]),
    ):
        shutil.copytree(home, home.parent / name)
        batch = run_json(home.parent / name, *again)
        # Nobody who has read it reads it again.
        assert batch["is_new"] and not {Path(path).stem.split("-")[-1] for path in paths} & set(
            batch["loads"]
        )
        if verdict is NONE:
            run_json(home.parent / name, "review", "import", *fill(home.parent / name, STANDS))
            assert read_bank(home.parent / name) == [(1, "C", 1), (1, "false", 3), (1, "true", 1)]


def test_a_further_reason_for_a_question_in_an_open_batch_is_added_to_what_its_annotators_read(
    home: Path,
) -> None:
    batch = run_json(home, *ASSIGN)["batch_id"]
    first, second = fill(home, STANDS)
    run_json(home, "review", "import", "--no-continue", first)
    Path(second).unlink()
    other = (*ASSIGN[:-1], "B after all.")
    said = f"{UUID} is in open batch {batch}"
    added, again = invoke(home, *other), invoke(home, *other)
    assert said in added.stdout and "with 1 of 2 decisions: the reason was added" in added.stdout
    assert said in again.stdout and "its annotators know the reason" in again.stdout
    assert "its annotators know the reason" in invoke(home, *ASSIGN).stdout
    paths = fill(home, STANDS)
    shown = str(list(load_workbook(paths[-1]).worksheets[0].values))
    assert "The source says D." in shown and shown.count("B after all.") == 1
    run_json(home, "review", "import", *paths)
    assert run_json(home, "bank", "show", UUID)["reviews"][-1]["doubt"] == "The source says D.\nB after all."
    for reason in ("The source says D.", "B after all."):
        done = run_json(home, *ASSIGN[:-1], reason)
        assert [(one["state"], one["is_added"]) for one in done["read_before"]] == [("settled", False)]


def test_what_is_closed_and_has_not_landed_is_not_asked_again_and_lands(home: Path) -> None:
    batch = run_json(home, *ASSIGN)["batch_id"]
    run_json(home, "review", "import", "--no-continue", *fill(home, KEY))
    with open_ledger(Settings(home=home).ledger_address) as ledger:
        close_batch(ledger, batch, "2027-01-01T00:00:00.000000+00:00")
    other = (*ASSIGN[:-1], "Something else.")
    assert "is closed and has not landed: the reason was not kept" in invoke(home, *other).stdout
    assert read_bank(home)[0] == (1, "C", 1)
    run_json(home, "dedupe", "run", "--no-server")
    assert read_bank(home)[0] == (2, "D", 1)
    assert run_json(home, *other)["is_new"] is True


def test_a_statement_is_read_by_its_original_and_what_is_retired_stays_out_until_it_is_restored(
    home: Path,
) -> None:
    card = run_json(home, "bank", "show", UUID)
    statement = next(row["question_uuid"] for row in card["lineage"] if row["question_uuid"] != UUID)
    invoke(home, "bank", "retire", UUID, "--reason", "while it is read", "--yes")
    assigning = ("review", "assign", "--question", statement[:8], "--reason", "The source says D.")
    done = invoke(home, *assigning)
    assert f"{statement} is made of {UUID}: that is read again" in done.stdout
    assert (
        f"{UUID} is retired, and stays out as corrected until `proctor bank restore {UUID[:8]}`"
        in done.stdout
    )
    run_json(home, "review", "import", *fill(home, KEY))
    assert read_bank(home) == []
    invoke(home, "bank", "restore", UUID, "--reason", "it is right now", "--yes")
    assert read_bank(home) == [(2, "D", 1), (2, "false", 3), (2, "true", 1)]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--question", "0000aaaa", "--reason", "x"), "No question of the bank has a UUID that begins with"),
        (("--question", UUID), "Say in up to 4,000 characters what is doubted: --reason TEXT"),
        (("--question", UUID, "--reason", " "), "Say in up to 4,000 characters what is doubted"),
        (("--reason", "x"), "--reason goes with --question"),
        (("--question", UUID, "--reason", "x", "--gold-share", "0.1"), "--gold-share with neither"),
    ],
)
def test_what_cannot_be_read_again_is_refused_in_a_sentence(
    home: Path, arguments: tuple[str, ...], said: str
) -> None:
    done = invoke(home, "review", "assign", *arguments)
    assert (done.exit_code, said in done.stderr) == (2, True), done.stderr
