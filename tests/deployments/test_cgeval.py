"""`proctor cgeval` as it is typed, over real HTTP, killed and resumed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from openpyxl import load_workbook
from typer.testing import CliRunner

from deployments.cli import app
from deployments.model_server import RunningServer
from schemas.settings import Settings, load_settings
from tasks.gscore.people import compute_sample_agreement
from tests.fresh import open_new_lake
from tests.tasks.gscore.conftest import build_tiny_model
from tests.tasks.gscore.kit import QUESTION_HEADERS, read_cgeval_questions
from tests.tasks.gscore.world import write_question_file, write_reference_file, write_registry
from tests.tasks.models.simulation import start_server
from warehouse.lake import open_lake, share_lake

PROCTOR = str(Path(sys.executable).with_name("proctor"))
ROOT = Path(__file__).resolve().parents[2]
SHARED = Path(os.environ.get("PROCTOR_SHARED_DATA", ROOT.parent / "shared" / "data"))
REAL_QUESTIONS = SHARED / "bank" / "cgeval_questions.csv"
MODELS: dict[str, Any] = {
    "sim-good": {"accuracy": {"default": 0.9}},
    "sim-fair": {"accuracy": {"default": 0.55}},
    "sim-poor": {"accuracy": {"default": 0.2}},
}


@dataclass(frozen=True)
class World:
    """A home, its questions and references, and the simulated models that answer."""

    folder: Path
    questions: pl.DataFrame
    server: RunningServer
    variables: Mapping[str, str]

    @property
    def references(self) -> str:
        return str(self.folder / "references.csv")

    def run(self, *arguments: str, exit_code: int = 0) -> Any:
        """Run `cgeval` in this process with --json: what it printed, or the error's text."""
        with pytest.MonkeyPatch.context() as patch:
            for name, value in self.variables.items():
                patch.setenv(name, value)
            load_settings.cache_clear()
            try:
                done = CliRunner().invoke(app, ["cgeval", *arguments, "--json"])
            finally:
                load_settings.cache_clear()
        assert done.exit_code == exit_code, (arguments, done.output, done.exception)
        printed = json.loads(done.stdout)
        return printed["error"] if isinstance(printed, dict) and "error" in printed else printed

    def start(self, *arguments: str) -> subprocess.Popen[bytes]:
        """Start a command as a user would."""
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("PROCTOR_", "PREFECT_"))}
        return subprocess.Popen(
            [PROCTOR, "cgeval", *arguments],
            env=kept | dict(self.variables),
            cwd=self.folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )

    def query(self, name: str, **params: object) -> pl.DataFrame:
        with open_lake(Settings(home=self.folder / "home"), read_only=True) as lake:
            return lake.run_named(name, params)


def make_world(folder: Path, question_file: Path, server: RunningServer) -> World:
    questions = read_cgeval_questions(question_file)
    write_reference_file(folder / "references.csv", questions)
    write_registry(folder / "models.yaml", *MODELS)
    with open_new_lake(Settings(home=folder / "home")):
        pass  # A home: only `proctor init` and `proctor demo` make one
    variables = {
        "PROCTOR_HOME": str(folder / "home"),
        "PROCTOR_REGISTRY": str(folder / "models.yaml"),
        "PROCTOR_SIMULATED_URL": server.url,
        "PROCTOR_QUIET": "1",
        "PROCTOR_CALL_CONCURRENCY": "8",
    }
    return World(folder, questions, server, variables)


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    write_question_file(tmp_path / "questions.csv", per_subject=2)
    # Attached once for all commands of a test.
    with share_lake(), start_server(**MODELS) as server:
        made = make_world(tmp_path, tmp_path / "questions.csv", server)
        made.run("import", str(tmp_path / "questions.csv"))
        yield made


@pytest.mark.slow
def test_from_the_questions_to_the_agreement_with_people(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    # No width of an interval is looked at: a thousand draws for each were most of the test.
    fewer = partial(compute_sample_agreement, resample_count=50)
    monkeypatch.setattr("deployments.commands.gscore.cgeval.compute_sample_agreement", fewer)
    count = world.questions.height
    for model in ("sim-good", "sim-poor"):
        answered = world.run("answer", "--model", model)
        assert (answered["answered"], answered["failed_calls"]) == (count, 0)
        scored = world.run("score", "--model", model, "--references", world.references, "--embedding", "none")
        # Without an embedding model only calculations have a Gscore, and nothing is made up for the rest.
        assert (scored["items"], scored["scored"], scored["with_gscore"]) == (count, count, 6)
        assert scored["similarity_model"] == "none"
    again = world.run("score", "--model", "sim-poor", "--references", world.references, "--embedding", "none")
    assert again["is_unchanged"] is True

    means = world.query("gscore_by_category")
    overall = means.filter(pl.col("category").is_null())
    assert overall["gscore"].to_list() == [None, None]
    assert overall.select("model", "category_count").rows() == [("sim-good", 6), ("sim-poor", 6)]
    costs = world.query("cost_by_model").filter(pl.col("purpose") == "cgeval")
    assert costs["call_count"].to_list() == [count, count]

    sample = world.run("sample", "--references", world.references, "--size", "20", "--seed", "7")
    assert (sample["answers"], set(sample["models"])) == (20, {"sim-good", "sim-poor"})
    workbook = world.folder / "ratings.xlsx"
    world.run("ratings", "export", str(workbook))
    rate_by_likeness(workbook)
    rated = world.run("ratings", "import", str(workbook), "--rater", "li")
    assert (rated["ratings"], rated["left_empty"]) == (20, 0)
    agreement = {row["metric"]: row for row in world.run("agreement")}
    assert agreement["chrf"]["kendall_tau"] > 0.5
    assert agreement["chrf"]["kendall_low"] <= agreement["chrf"]["kendall_tau"]

    # In another order what li gave would be other answers'; further questions at the end move nothing.
    printed, other = world.questions.select(QUESTION_HEADERS), world.folder / "other.csv"
    printed.reverse().write_csv(other)
    assert "of the sample 'human' have another place" in world.run("import", str(other), exit_code=2)
    pl.concat([printed, printed.head(1).with_columns(题目编号=pl.lit("99"))]).write_csv(other)
    assert world.run("import", str(other))["questions"] == count + 1
    world.run("import", str(world.folder / "questions.csv"))
    assert {row["metric"]: row for row in world.run("agreement")} == agreement

    # Answers of a model that is registered otherwise are not those that li scored.
    write_registry(world.folder / "models.yaml", *MODELS, endpoint_model="sim-fair")
    for run_id in ("cgeval", "warmer"):
        world.run("answer", "--model", "sim-poor", "--run", run_id)
    scoring = ("score", "--model", "sim-poor", "--references", world.references, "--embedding", "none")
    assert "of the sample 'human' have another answer" in world.run(*scoring, exit_code=2)
    world.run(*scoring, "--run", "warmer")
    assert {row["metric"]: row for row in world.run("agreement")} == agreement
    write_registry(world.folder / "models.yaml", *MODELS)

    submission = world.folder / "submission.csv"
    assert world.run("export", str(submission), "--model", "sim-good")["answers"] == count
    assert read_cgeval_questions(submission)["cgeval_id"].equals(world.questions["cgeval_id"])


def rate_by_likeness(workbook: Path) -> None:
    """A rater who counts how much of the reference's characters an answer has, in tenths."""
    book = load_workbook(workbook)
    for row in book["scores"].iter_rows(min_row=2):
        reference, response = set(str(row[3].value)), set(str(row[4].value or ""))
        row[5].value = round(len(reference & response) / len(reference), 1)
    book.save(workbook)


def test_mistakes_are_one_sentence_and_change_nothing(world: World, tmp_path: Path) -> None:
    references = world.references
    for arguments, exit_code, says in (
        (("answer", "--model", "nobody"), 2, "nobody"),
        (("answer", "--model", "sim-good", "--run", "a b"), 2, "not a name for a run"),
        (("score", "--model", "sim-good", "--references", references), 2, "has answered none"),
        (("sample", "--references", references), 2, "No model has answered"),
        (("sample", "--references", references, "--models", "sim-good"), 2, "has answered none"),
        (("ratings", "export", "x.xlsx", "--sample", "none"), 2, "no sample 'none'"),
        (("agreement",), 2, "No answer has both"),
        (("import", "no-such.csv"), 2, "no-such.csv"),
        (("export", "x.csv", "--model", "sim-good"), 2, "have no response"),
        (("export", "no/such/x.csv", "--model", "sim-good", "--partial"), 2, "does not exist"),
    ):
        assert says in world.run(*arguments, exit_code=exit_code), arguments
    assert world.server.state.requests.total() == 0


def test_the_budget_of_the_settings_stops_the_command_with_exit_code_3(world: World) -> None:
    poor = World(
        world.folder, world.questions, world.server, dict(world.variables) | {"PROCTOR_BUDGET_USD": "0.008"}
    )
    assert "budget" in poor.run("answer", "--model", "sim-good", exit_code=3).lower()
    sent = world.server.state.requests["sim-good"]
    assert 0 < sent < world.questions.height
    # What was answered until then can be scored; the command says that it is not all.
    scored = world.run(
        "score", "--model", "sim-good", "--references", world.references, "--embedding", "none", exit_code=1
    )
    assert scored["unanswered"] == world.questions.height - sent
    assert world.run("answer", "--model", "sim-good")["resumed"] == sent


@pytest.mark.long
@pytest.mark.slow
def test_answers_survive_kill_9_and_nothing_answered_is_asked_again(tmp_path: Path) -> None:
    write_question_file(tmp_path / "questions.csv", per_subject=12)
    slow: dict[str, Any] = {"sim-good": {"latency_ms": 40}}
    with start_server(**slow) as server:
        world = make_world(tmp_path, tmp_path / "questions.csv", server)
        world.run("import", str(tmp_path / "questions.csv"))
        sent = kill_and_resume(world, "sim-good", 30)
    assert sent <= world.questions.height + 8, "more than the calls in flight were sent twice"


def kill_and_resume(world: World, model: str, after: int) -> int:
    """Kill `cgeval answer` when so many are served, then run it again to its end.

    Returns how many calls were sent in all.
    """
    served = world.server.state.served
    process = world.start("answer", "--model", model)
    deadline = time.monotonic() + 180
    while served[model] < after:
        assert process.poll() is None, "the command ended before it could be killed"
        assert time.monotonic() < deadline, "the command never got that far"
        time.sleep(0.01)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    report = world.run("answer", "--model", model)
    assert report["answered"] == world.questions.height
    # Of what was served at the kill, only what was in flight can be missing in the ledger.
    assert after - 8 <= report["resumed"] < world.questions.height
    assert report["calls"]["sent"] == world.questions.height - report["resumed"]
    return int(world.server.state.requests[model])


@pytest.fixture(scope="module")
def real_world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """Every 37th of CG-Eval's own questions: 298 of all 55 subjects."""
    if not REAL_QUESTIONS.exists():
        pytest.skip(
            "needs CG-Eval's questions in ../shared/data/bank beside the checkout (or PROCTOR_SHARED_DATA)"
        )
    folder = tmp_path_factory.mktemp("real")
    table = pl.read_csv(REAL_QUESTIONS, infer_schema=False)
    table.gather_every(37).write_csv(folder / "questions.csv")
    build_tiny_model(folder / "tiny-zh", seed=1)
    models: dict[str, Any] = {name: {**profile, "latency_ms": 20} for name, profile in MODELS.items()}
    with start_server(**models) as server:
        world = make_world(folder, folder / "questions.csv", server)
        world.run("import", str(folder / "questions.csv"))
        yield world


@pytest.mark.long
def test_real_questions_from_a_killed_run_to_six_categories_and_55_subjects(real_world: World) -> None:
    world, count = real_world, real_world.questions.height
    assert (count, world.questions["subject"].n_unique()) == (298, 55)
    assert kill_and_resume(world, "sim-good", 100) <= count + 8
    for model in ("sim-fair", "sim-poor"):
        assert world.run("answer", "--model", model)["answered"] == count
    for model in MODELS:
        scored = world.run(
            "score", "--model", model, "--references", world.references, "--embedding", str(world.folder / "tiny-zh")
        )  # fmt: skip
        assert (scored["with_gscore"], scored["unanswered"], scored["quarantined"]) == (count, 0, 0)
        assert scored["similarity_model"].startswith("tiny-zh@")

    means = world.query("gscore_by_category")
    categories = means.filter(pl.col("category").is_not_null())
    assert categories["category"].n_unique() == 6
    expected = categories.group_by("model").agg(pl.col("gscore").mean()).sort("model")
    overall = means.filter(pl.col("category").is_null()).sort("model")
    assert overall["gscore"].to_list() == pytest.approx(expected["gscore"].to_list())
    order = overall.sort("gscore", descending=True)["model"].to_list()
    assert order == ["sim-good", "sim-fair", "sim-poor"]
    assert overall["is_simulated"].all()
    # Each category ranks them in the same way: what a candidate can do shows wherever it is asked.
    for _, rows in categories.group_by("category"):
        assert rows.sort("gscore", descending=True)["model"].to_list() == order
    subjects = world.query("gscore_by_subject", model="sim-good")
    assert subjects.height == 55
    assert subjects["scored_count"].sum() == count
    kinds = world.query("gscore_by_kind").filter(pl.col("model") == "sim-good")
    assert kinds["item_kind"].to_list() == ["arithmetic", "calculation", "definition", "short_answer"]
