"""`proctor start` as a newcomer types it, from papers to a leaderboard."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from deployments.model_server import build_answer_key
from schemas.settings import Settings
from tasks.exam.month import read_current_bank
from tests.deployments.demo.kit import fill_workbook, read_verdicts
from tests.tasks.models.simulation import start_server
from warehouse.lake import open_lake

pytestmark = pytest.mark.slow

DEMO = Path(__file__).resolve().parents[2] / "deployments" / "demo"
PAPERS = ("history", "law")
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
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == code, done.stdout + done.stderr
        return done.stdout + (done.stderr if code else "")

    def ask(self, *arguments: str) -> Any:
        """What the command answers as JSON."""
        return json.loads(self.type(*arguments, "--json"))

    def let_review(self) -> None:
        """Let the annotators decide, as they do in the demo, on all that waits."""
        self.type("review", "export", "workbooks")
        verdicts = read_verdicts(DEMO / "questions" / "review.yaml")
        for path in (self.folder / "workbooks").glob("*.xlsx"):
            fill_workbook(path, verdicts)
        self.type("review", "import", "workbooks")


@pytest.fixture(scope="module")
def newcomer(tmp_path_factory: pytest.TempPathFactory, warm: Path) -> Newcomer:
    return Newcomer(tmp_path_factory.mktemp("start"), warm / "proctor")


def test_own_papers_and_an_own_endpoint_come_to_a_leaderboard(newcomer: Newcomer) -> None:
    # The folder is asked for; two annotators have names by default; nobody has decided yet.
    told = newcomer.type("start", "--yes", "--papers", "papers")
    assert "$ proctor ingest papers" in told
    assert told.rstrip().endswith("When they have decided: proctor start")

    newcomer.let_review()

    with open_lake(Settings(home=newcomer.folder / ".proctor"), read_only=True) as lake:
        key = build_answer_key(read_current_bank(lake))
    with start_server(key, models=MODELS) as server:
        # Address, key, owner, prices, candidates, and that they are simulated; judge with its own; disciplines, questions, styles; the month.
        told = newcomer.type(
            "start",
            says=f"{server.url}\n\n\n\nmy-model, my-other\ny\nmy-judge\n\n\nJudges\n\ny\n\n\n\ny\n",
        )
    assert "There are: my-model, my-other, my-judge" in told
    assert "This is a simulation and no model" in told
    assert "Disciplines of the exam" in told
    disciplines = {row["discipline"] for row in newcomer.ask("sql", "SELECT DISTINCT discipline FROM sets")}
    assert disciplines == {"History", "Law"}
    # A set is as large as was chosen, and not cut so that the bank lasts for years.
    sizes = newcomer.ask("sql", "SELECT count(*) AS n FROM sets GROUP BY set_id")
    chosen = next(one["value"] for one in newcomer.ask("settings", "list") if one["setting"] == "set_size")
    assert {row["n"] for row in sizes} == {int(chosen)}
    board = newcomer.ask("sql", "leaderboard")
    assert [row["model"] for row in board] == ["my-other", "my-model"]
    assert all(row["is_simulated"] for row in board)
    assert (newcomer.folder / ".proctor" / "reports" / "index.html").is_file()

    before = newcomer.ask("status")["rows"]
    # The month is held: whoever types it again sees what came of it, and nothing is done twice.
    told = newcomer.type("start")
    assert "$ proctor monthly" not in told
    assert "proctor verdict my-other my-model" in told
    assert newcomer.ask("status")["rows"] == before


def test_what_nobody_can_answer_is_asked_for_by_its_option(tmp_path: Path) -> None:
    folder = tmp_path / "empty"
    folder.mkdir()
    environment = {key: value for key, value in os.environ.items() if not key.startswith("PROCTOR_")}
    done = subprocess.run(
        [sys.executable, "-m", "deployments.cli", "start", "--yes"],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert "give --papers" in done.stderr
    assert "Traceback" not in done.stderr
