"""A third-party package, installed beside Proctor, that touches nothing of ours.

It brings a reader, a metric, a judge and an analysis.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

from tests.deployments.test_cli import run
from tests.tasks.judging.test_unparsed import QUESTIONS, SOUND, open_room
from tests.tasks.models.simulation import start_server

SOURCE = Path(__file__).parent / "third_party"
PAPER = r"""
\documentclass{exam}
\begin{document}
\begin{enumerate}
\item Which gas do plants take up for photosynthesis?
\choice oxygen
\choice carbon dioxide
\choice nitrogen
% answer: B
\item Which of these metals is liquid at room temperature?
\choice iron
\choice copper
\choice mercury
% answer: C
\end{enumerate}
\end{document}
"""


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with nothing but the package.

    The package is built and installed from its source tree without any network.
    """
    folder = tmp_path_factory.mktemp("third-party")
    # A build leaves folders beside the source.
    shutil.copytree(SOURCE, folder / "source")
    command = [
        sys.executable,
        "-m",
        "uv",
        "pip",
        "install",
        "--quiet",
        "--offline",
        "--no-index",
        "--no-deps",
    ]
    options = ["--no-build-isolation", "--python", sys.executable, "--target", str(folder / "site")]
    subprocess.run([*command, *options, str(folder / "source")], check=True)
    return folder / "site"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "papers").mkdir()
    (tmp_path / "papers" / "biology.tex").write_text(PAPER)
    return tmp_path / "home"


@pytest.mark.slow
def test_its_reader_reads_papers_that_its_analysis_counts(installed: Path, home: Path) -> None:
    """The conversion server and its children find the reader too."""
    folder = str(home.parent / "papers")
    assert run(home, "init", "--json").returncode == 0
    done = run(home, "ingest", folder, "--no-server", "--json", PYTHONPATH=str(installed))
    assert done.returncode == 0, done.stderr
    rows = "SELECT document_name, media_type, converter, status, question_count FROM documents"
    found = json.loads(run(home, "sql", rows, "--json").stdout)
    assert found == [
        {
            "document_name": "biology.tex",
            "media_type": "text/x-tex",
            "converter": "proctor-tex",
            "status": "parsed",
            "question_count": 2,
        }
    ]
    stems = json.loads(
        run(home, "sql", "SELECT stem, answer FROM questions ORDER BY position", "--json").stdout
    )
    assert stems == [
        {"stem": "Which gas do plants take up for photosynthesis?", "answer": ["B"]},
        {"stem": "Which of these metals is liquid at room temperature?", "answer": ["C"]},
    ]
    asked = run(
        home, "sql", "documents_by_converter", "--param", "least=1", "--json", PYTHONPATH=str(installed)
    )
    assert json.loads(asked.stdout) == [
        {"converter": "proctor-tex", "document_count": 1, "question_count": 2}
    ]
    listed = json.loads(run(home, "sql", "--json", PYTHONPATH=str(installed)).stdout)
    assert [one["question"] for one in listed if one["name"] == "documents_by_converter"] == [
        "How many documents, and questions, did each converter read?"
    ]
    described = run(home, "sql", "documents_by_converter", "--describe", "--json", PYTHONPATH=str(installed))
    assert {row["column"]: row["meaning"] for row in json.loads(described.stdout)}["document_count"] == (
        "documents that it read"
    )


@pytest.mark.slow
def test_its_metric_stands_beside_ours(installed: Path, home: Path) -> None:
    pairs = home.parent / "pairs.jsonl"
    rows = [("plants take up carbon dioxide", "plants take up"), ("", "anything"), ("same", "same")]
    pairs.write_text("".join(json.dumps({"reference": a, "response": b}) + "\n" for a, b in rows))
    scores = home.parent / "scores.parquet"
    command = ("gscore", str(pairs), "--model", "none", "--out", str(scores), "--json")
    plain = run(home, *command)
    assert plain.returncode == 0, plain.stderr
    without = pl.read_parquet(scores)
    done = run(home, *command, "--metric", "lengths", PYTHONPATH=str(installed))
    assert done.returncode == 0, done.stderr
    found = pl.read_parquet(scores)
    assert found["length_ratio"].to_list() == [pytest.approx(14 / 29), None, 1.0]
    assert found.drop("length_ratio").equals(without)


TERSE_REGISTRY = """
providers:
  simulated: {base_url: simulated}
models:
  first-judge: {provider: simulated, organisation: Lab, roles: [judge], judge_kind: KIND}
"""


@pytest.mark.slow
def test_its_judge_judges_a_run_beside_ours(
    installed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with open_room(tmp_path, monkeypatch, first_judge=SOUND) as room:
        assert room.judge().judged == QUESTIONS
    home = tmp_path / "home"
    with start_server(b"", models={"first-judge": SOUND}) as server:

        def judge(kind: str) -> subprocess.CompletedProcess[str]:
            (home / "models.yaml").write_text(TERSE_REGISTRY.replace("KIND", kind))
            return run(
                home,
                *("judge", "--run", "run-1", "--no-server", "--json"),
                PYTHONPATH=str(installed),
                PROCTOR_SIMULATED_URL=server.url,
            )

        refused = judge("blunt")
        assert refused.returncode == 2
        assert json.loads(refused.stdout)["error"] == (
            "Model 'first-judge', field `judge_kind`: There is no kind of judge 'blunt'; there are stars, terse. Correct the name, or "
            "install the package that brings it."
        )
        assert server.state.requests["first-judge"] == 0
        for _ in range(2):  # the second time there is nothing left to judge
            done = judge("terse")
            assert done.returncode == 0, done.stderr
        assert server.state.requests["first-judge"] == QUESTIONS
        ours = judge("stars")
        assert ours.returncode == 0, ours.stderr
        assert server.state.requests["first-judge"] == QUESTIONS, "our own judgements stand as they were"
    rows = "SELECT landing_unit, prompt_version, count(*) AS n FROM judgements GROUP BY ALL ORDER BY ALL"
    assert json.loads(run(home, "sql", rows, "--json").stdout) == [
        {"landing_unit": "s1/first-judge/prompt-1", "prompt_version": "1/zh", "n": QUESTIONS},
        {
            "landing_unit": "s1/first-judge/prompt-terse-2026.1",
            "prompt_version": "terse-2026.1/zh",
            "n": QUESTIONS,
        },
    ]
