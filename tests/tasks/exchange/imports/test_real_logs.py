"""Logs that Inspect and lm-evaluation-harness write, as they are today.

Both programs ask our model server, and nothing is lost.

The programs have an environment of their own (`make test-long` makes it): `.venv-exchange`, or PROCTOR_TEST_EXCHANGE_PYTHON.
"""

from __future__ import annotations

import json
import os
import subprocess
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from deployments.model_server import RunningServer
from schemas.settings import Settings
from tasks.exchange.editions import iter_sittings, read_edition, write_inspect
from tasks.exchange.imports.landing import import_harness, import_inspect
from tests.fresh import open_new_lake
from tests.tasks.editions.kit import publish_run
from tests.tasks.judging.calibration.rated_run import RUN, open_rated_run
from tests.tasks.models.simulation import start_server
from warehouse.lake import Lake

pytestmark = pytest.mark.long

ROOT = Path(__file__).parents[4]
HERE = Path(__file__).parent / "exchange"
PYTHON = Path(os.environ.get("PROCTOR_TEST_EXCHANGE_PYTHON", ROOT / ".venv-exchange/bin/python"))
LETTERS = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0}
# The second has a separator of lines that JSON leaves as it is.
QUESTIONS = (
    ("2+2?", "T"),
    ("Which is larger,\u2028 7 or 9?", "X"),
    ("把三加四写成数字。", "就"),
    ("0.1+0.2?", "T"),
)


@pytest.fixture
def lake(tmp_path: Path) -> Iterator[Lake]:
    with open_new_lake(Settings(home=tmp_path / "home")) as opened:
        yield opened


@pytest.fixture
def server() -> Iterator[RunningServer]:
    if not PYTHON.exists():
        pytest.skip(f"{PYTHON} is not there: `make test-long` installs Inspect and lm-evaluation-harness.")
    with start_server() as started:
        yield started


def run(arguments: list[str], folder: Path, **variables: str) -> str:
    """Run a program of that environment, without the network, and return what it printed."""
    offline = dict.fromkeys(("HF_HUB_OFFLINE", "HF_DATASETS_OFFLINE", "HF_EVALUATE_OFFLINE"), "1")
    done = subprocess.run(
        [str(PYTHON), *arguments],
        cwd=folder,
        env={**os.environ, **offline, "HF_HOME": str(folder / "hf"), **variables},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr[-3_000:]
    return done.stdout


def expect_rows(samples: list[dict[str, Any]]) -> dict[tuple[str, int], dict[str, Any]]:
    """By sample and epoch: the answer and all marks as Inspect's own reader gives them."""
    expected: dict[tuple[str, int], dict[str, Any]] = {}
    for sample in samples:
        marks: dict[str, tuple[float, str | None]] = {}
        for scorer, score in sample["scores"].items():
            value = score["value"]
            if isinstance(value, dict):
                marks |= {f"{scorer}/{name}": (float(one), score["answer"]) for name, one in value.items()}
            else:
                marks[scorer] = (LETTERS[value], score["answer"])
        expected[(sample["id"], sample["epoch"])] = {"response": sample["completion"], "marks": marks}
    return expected


def test_a_log_that_inspect_wrote_is_imported_as_inspect_reads_it(
    lake: Lake, tmp_path: Path, server: RunningServer
) -> None:
    logs = tmp_path / "logs"
    told = run([str(HERE / "sums.py"), str(logs)], tmp_path, LOCAL_BASE_URL=server.url, LOCAL_API_KEY="none")
    found = json.loads(told.splitlines()[-1])
    assert set(found) == {"eval", "json"}
    for form, own in found.items():
        imported = import_inspect(lake, Path(own["location"]), f"sums-{form}")
        expected = expect_rows(own["samples"])
        assert len(expected) == 10
        rows = lake.query(
            "select * from imported_marks where benchmark = $name order by row_number",
            {"name": f"sums-{form}"},
        ).to_dicts()
        assert imported.rows == len(rows) == sum(len(one["marks"]) for one in expected.values()) == 36
        kept: dict[tuple[str, int], dict[str, Any]] = defaultdict(lambda: {"marks": {}})
        for row in rows:
            place = kept[(row["item_id"], row["repeat"])]
            place["response"] = row["response"]
            place["marks"][row["metric"]] = (row["mark"], row["answer"])
        assert dict(kept) == expected
        assert {row["model"] for row in rows} == {own["model"]} == {"openai-api/local/sim"}
        assert {str(row["scored_on"]) for row in rows} == {own["created"][:10]}
        records = [json.loads(row["record"]) for row in rows if row["record"]]
        assert {
            (one["id"], one["epoch"], one["metadata"]["number"], "error" in one and one["error"] is not None)
            for one in records
        } == {
            (one["id"], one["epoch"], one["metadata"]["number"], one["has_error"]) for one in own["samples"]
        }
        assert sum(one["has_error"] for one in own["samples"]) == 2
        assert import_inspect(lake, Path(own["location"]), f"sums-{form}").is_unchanged
    assert server.state.requests["sim"] >= 10


def test_samples_that_the_harness_wrote_are_imported_and_average_to_its_own_results(
    lake: Lake, tmp_path: Path, server: RunningServer
) -> None:
    lines = [json.dumps({"question": text, "answer": key}, ensure_ascii=False) for text, key in QUESTIONS]
    (tmp_path / "questions.jsonl").write_text("".join(f"{line}\n" for line in lines), "utf-8")
    (tmp_path / "sums_own.yaml").write_text((HERE / "sums_own.yaml").read_text("utf-8"), "utf-8")
    arguments = {
        "--model": "local-chat-completions",
        "--model_args": f"model=sim,base_url={server.url}/chat/completions,num_concurrent=1,tokenizer_backend=none",
        "--tasks": "sums_own",
        "--include_path": ".",
        "--output_path": "out",
    }
    run(
        ["-m", "lm_eval", *(word for pair in arguments.items() for word in pair),
         "--apply_chat_template", "--log_samples"],
        tmp_path, OPENAI_API_KEY="none",
    )  # fmt: skip
    (samples,) = (tmp_path / "out").rglob("samples_*.jsonl")
    (results,) = (tmp_path / "out").rglob("results_*.json")
    imported = import_harness(lake, samples, "sim")
    written = [json.loads(line) for line in samples.read_text("utf-8").split("\n") if line]
    assert len(written) == 2 * len(QUESTIONS)
    assert (imported.benchmark, imported.rows, imported.without_mark) == ("sums_own", 16, 8)
    rows = lake.query("select * from imported_marks order by row_number").to_dicts()
    assert [json.loads(row["record"]) for row in rows if row["record"]] == written
    assert {(row["item_id"], row["metric"]) for row in rows} == {
        (str(number), f"{metric},{name}")
        for number in range(len(QUESTIONS))
        for metric in ("exact_match", "bleu")
        for name in ("whole", "first_letter")
    }
    own = json.loads(results.read_text("utf-8"))["results"]["sums_own"]
    for name in ("whole", "first_letter"):
        marks = [row["mark"] for row in rows if row["metric"] == f"exact_match,{name}"]
        assert sum(marks) / len(marks) == own[f"exact_match,{name}"]
    assert own["exact_match,first_letter"] == 0.75
    assert {json.loads(row["response"])[0] for row in rows} == {line["resps"][0][0] for line in written}
    assert import_harness(lake, samples, "sim").is_unchanged
    assert server.state.requests["sim"] == 2 * len(QUESTIONS)


def test_logs_that_we_write_are_opened_by_inspect(tmp_path: Path) -> None:
    """Inspect opens them: its reader checks every field, its viewer bundles them."""
    if not PYTHON.exists():
        pytest.skip(f"{PYTHON} is not there: `make test-long` installs Inspect and lm-evaluation-harness.")
    with open_rated_run(tmp_path / "home") as (settings, _, lake):
        disciplines = (
            lake.query("SELECT DISTINCT discipline FROM allocations ORDER BY 1").to_series().to_list()
        )
        publish_run(lake, settings, RUN, disciplines)
        edition = read_edition(lake, RUN)
        files = write_inspect(iter_sittings(lake, edition, with_answers=True), tmp_path / "logs")
    program = """
import json, sys
from inspect_ai.log import list_eval_logs, read_eval_log
logs = [read_eval_log(found) for found in list_eval_logs(sys.argv[1])]
print(json.dumps([
    {"model": log.eval.model, "status": log.status, "samples": len(log.samples),
     "stars": sum(one.scores["stars"].value for one in log.samples if one.scores)}
    for log in logs
]))
"""
    told = json.loads(run(["-c", program, str(tmp_path / "logs")], tmp_path).splitlines()[-1])
    assert len(told) == len(files) == 18
    assert {one["status"] for one in told} == {"success"}
    assert {one["samples"] for one in told} == {80}
    written = [json.loads(path.read_text("utf-8")) for path in files]
    stars = [score["value"] for log in written for one in log["samples"] for score in one["scores"].values()]
    assert sum(one["stars"] for one in told) == sum(stars)
    run(["-m", "inspect_ai", "view", "bundle", "--log-dir", "logs", "--output-dir", "page"], tmp_path)
    assert (tmp_path / "page" / "index.html").exists()
    assert len(list((tmp_path / "page" / "logs").glob("*.json"))) >= 18
