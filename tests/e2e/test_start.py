"""`proctor start` as a newcomer types it, from papers to a leaderboard."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import yaml

from deployments.model_server import build_answer_key
from schemas.settings import Settings
from tasks.exam.month import read_current_bank
from tests.deployments.demo.kit import fill_workbook, read_verdicts
from tests.tasks.models.simulation import start_server
from warehouse.lake import open_lake

pytestmark = pytest.mark.slow

DEMO = Path(__file__).resolve().parents[2] / "deployments" / "demo"
PAPERS = ("history", "law")
NOW = datetime.now(UTC)
THIS, NEXT, LAST = (
    f"{NOW.year + (NOW.month - 1 + later) // 12}-{(NOW.month - 1 + later) % 12 + 1:02d}" for later in range(3)
)
MODELS = {
    "my-model": {"kind": "candidate", "accuracy": 0.6},
    "my-other": {"kind": "candidate", "accuracy": 0.9},
    "my-judge": {"kind": "judge", "agreement": 1.0},
}


class Newcomer:
    """Somebody at a terminal in an empty folder."""

    def __init__(self, folder: Path, program: Path) -> None:
        self.folder = folder
        self.program = program
        self.papers = folder / "papers"
        self.papers.mkdir()
        (folder / "proctor.toml").write_text("repeats = 1\n")
        for name in PAPERS:
            shutil.copytree(DEMO / "papers" / name, self.papers / name)

    def type(self, *arguments: str, says: str = "", code: int = 0) -> str:
        """What the command prints; `says` is typed when it asks."""
        environment = {key: value for key, value in os.environ.items() if not key.startswith("PROCTOR_")}
        done = subprocess.run(
            [str(self.program), *arguments],
            cwd=self.folder,
            env={
                **environment,
                "PROCTOR_NO_SERVER": "true",
                "PATH": f"{self.program.parent}:{os.environ['PATH']}",
            },
            input=says,
            stdout=subprocess.PIPE,
            # As it is read on a terminal, one after the other.
            stderr=subprocess.PIPE if "--json" in arguments else subprocess.STDOUT,
            text=True,
            check=False,
        )
        assert done.returncode == code, done.stdout + str(done.stderr)
        return done.stdout

    def ask(self, *arguments: str) -> Any:
        """What the command answers as JSON."""
        return json.loads(self.type(*arguments, "--json"))

    def look(self, asked: str, **given: str) -> list[dict[str, Any]]:
        """Rows of the lake by a statement or a query's name, without a command for each."""
        with open_lake(Settings(home=self.folder / ".proctor"), read_only=True) as lake:
            return (lake.query(asked) if " " in asked else lake.run_named(asked, given)).to_dicts()

    def let_review(self) -> str:
        """Let the annotators decide in their workbooks; returns what the import said."""
        verdicts = read_verdicts(DEMO / "questions" / "review.yaml")
        for path in (self.folder / "workbooks").glob("*.xlsx"):
            fill_workbook(path, verdicts)
        return self.type("review", "import", "workbooks")


@pytest.fixture
def newcomer(tmp_path: Path, warm: Path) -> Newcomer:
    return Newcomer(tmp_path, warm / "proctor")


@pytest.mark.parametrize("goes_on", [False, pytest.param(True, marks=pytest.mark.long)])
def test_own_papers_and_an_own_endpoint_come_to_a_leaderboard(newcomer: Newcomer, goes_on: bool) -> None:
    # The folder is asked for; two annotators have names by default; nobody has decided yet.
    told = newcomer.type("start", "--yes", "papers")
    assert "$ proctor ingest papers" in told
    # What comes next is the guide's to say, and not each command's.
    assert "Next:" not in told
    assert told.rstrip().endswith("When they have decided: proctor start")

    # Annotators may decide in workbooks, in a language that is asked for.
    told = newcomer.type("start", says="workbooks\nzh\n")
    assert "$ proctor review export workbooks --language zh" in told
    said = newcomer.let_review()
    assert said.rstrip().endswith("Next: proctor start (models, a plan with its cost, the exam)")

    with open_lake(Settings(home=newcomer.folder / ".proctor"), read_only=True) as lake:
        key = build_answer_key(read_current_bank(lake))
    with start_server(key, models=MODELS) as server:
        # Address (one at which nothing answers is asked for again), key, that it is a simulation, owner, candidates; the judge's; disciplines,
        # questions, styles; the exam.
        told = newcomer.type(
            "start",
            says=f"http://127.0.0.1:9/v1\n{server.url}\n\ny\n\nmy-model, my-other\n\n\nJudges\nmy-judge\n\n\n\ny\n",
        )
        if goes_on:
            told_later = newcomer.type("start", "--month", NEXT, says="\n\n")
            told_last = newcomer.type("start", "--month", LAST, says="\n", code=3)
    assert "Nothing answers at http://127.0.0.1:9/v1" in told
    assert "There are: my-model, my-other, my-judge" in told
    assert "Dollars per million" not in told
    assert "Next:" not in told
    assert list(yaml.safe_load((newcomer.folder / ".proctor" / "models.yaml").read_text())["providers"]) == [
        "my-lab"
    ]
    # What a plan draws on trial is not what is put to candidates, and is not said to be.
    assert "chance level of set 1, in a trial draw: " in told
    assert "other months: this is the first" in told
    # A month ends with what was done, where it is to be seen, and what is not well.
    # The plan that was agreed to is not shown again.
    assert told.count("chance level of set 1") == 1
    ended = told[told.index("$ proctor monthly") :]
    done = ended[ended.index("\nRun sim-") : ended.index("7. What came of it")].strip()
    assert [line.split(" ")[0] for line in done.splitlines()] == ["Run", "Edition", "To", "Everything"]
    assert "32 answers in 2 sessions; 32 judged by my-judge beside control answers." in done
    assert "This is a simulation and no model" in told
    assert "Disciplines of the exam" in told
    disciplines = {row["discipline"] for row in newcomer.look("SELECT DISTINCT discipline FROM sets")}
    assert disciplines == {"History", "Law"}
    # A set is as large as was chosen, and not cut so that the bank lasts for years.
    sizes = newcomer.look("SELECT count(*) AS n FROM sets GROUP BY set_id")
    chosen = next(one["value"] for one in newcomer.ask("settings", "list") if one["setting"] == "set_size")
    assert {row["n"] for row in sizes} == {int(chosen)}
    board = newcomer.look("leaderboard")
    assert {row["model"] for row in board} == {"my-other", "my-model"}
    assert all(row["is_simulated"] for row in board)
    # What is planned of a run that was drawn is what is published of it.
    months = [THIS, NEXT] if goes_on else [THIS]
    for month in months:
        planned = newcomer.ask("exam", "plan", "--month", month, "--candidates", "my-model,my-other")
        assert planned["controls"] == []
        published = newcomer.look("leaderboard", month=month)
        assert {round(row["chance_score"], 1) for row in published} == {planned["keys"][0]["chance_score"]}
    assert {row["month"] for row in newcomer.look("editions_published")} == set(months)
    if goes_on:
        # The guide leads on from month to month, until the bank has too little that is new.
        assert "Folder with more papers" in told_later
        assert f"The bank has no set left that nobody has met. Before {LAST}: more papers" in told_later
        assert "Bring more papers: proctor start PAPERS" in told_last
    assert (newcomer.folder / ".proctor" / "reports" / "index.html").is_file()

    before = newcomer.ask("status")["rows"]
    # The month is held: whoever types it again sees what came of it, and nothing is done twice.
    told = newcomer.type("start", "--candidates", "another", "--styles", "few_shot")
    said = f"{THIS} is published and stays as it is: --candidates, --styles change nothing of it."
    assert said in told.replace("\n", " ")
    assert "$ proctor monthly" not in told
    if not goes_on:
        assert f"The next month, from {NEXT}-01 on:  proctor start" in told
    assert "Is one better than the other?  proctor verdict my-" in told
    assert newcomer.ask("status")["rows"] == before


def test_what_nobody_can_answer_is_asked_for_by_its_option(tmp_path: Path, warm: Path) -> None:
    folder = tmp_path / "empty"
    folder.mkdir()
    environment = {key: value for key, value in os.environ.items() if not key.startswith("PROCTOR_")}
    done = subprocess.run(
        [str(warm / "proctor"), "start", "--yes"],
        cwd=folder,
        env=environment | {"PATH": f"{warm}:{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert "give PAPERS" in done.stderr
    assert "Traceback" not in done.stderr
