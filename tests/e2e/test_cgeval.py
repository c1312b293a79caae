"""The flow gscore through Prefect: answer, score, publish; what passes through Prefect is ids and counts."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from deployments.local_server import stop_server
from schemas.settings import Settings
from tests.tasks.gscore.world import write_question_file, write_reference_file, write_registry
from tests.tasks.models.simulation import start_server
from warehouse.lake.store import open_lake

pytestmark = pytest.mark.prefect

PROCTOR = str(Path(sys.executable).with_name("proctor"))


def test_one_command_answers_scores_and_publishes_and_prefect_sees_no_text(tmp_path: Path) -> None:
    questions = write_question_file(tmp_path / "questions.csv", per_subject=1)
    references = write_reference_file(tmp_path / "references.csv", questions)
    write_registry(tmp_path / "models.yaml", "sim-good", "sim-poor")
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("PROCTOR_", "PREFECT_"))}

    def run(*arguments: str) -> Any:
        done = subprocess.run(
            [PROCTOR, "cgeval", *arguments, "--json"],
            env=kept
            | {
                "PROCTOR_HOME": str(tmp_path / "home"),
                "PROCTOR_REGISTRY": str(tmp_path / "models.yaml"),
                "PROCTOR_SIMULATED_URL": server.url,
            },
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=300,
            stdin=subprocess.DEVNULL,
        )
        assert done.returncode == 0, done.stderr[-3000:]
        return json.loads(done.stdout)

    abilities: dict[str, Any] = {
        "sim-good": {"accuracy": {"default": 1.0}},
        "sim-poor": {"accuracy": {"default": 0.1}},
    }
    with start_server(**abilities) as server:
        with open_lake(Settings(home=tmp_path / "home")):
            pass  # A home: only `proctor init` and `proctor demo` make one
        run("import", str(tmp_path / "questions.csv"))
        command = ("run", "--models", "sim-good,sim-poor", "--references", "references.csv")
        try:
            result = run(*command, "--embedding", "none")
        finally:
            # The command started a server and left it running, as it does for a user.
            stop_server(Settings(home=tmp_path / "home"))
        sent = server.state.requests.total()
    count = questions.height
    assert sent == 2 * count
    assert [(one["model"], one["answered"]) for one in result["answered"]] == [
        ("sim-good", count),
        ("sim-poor", count),
    ]
    assert "sim-good" in Path(result["report"]).with_name("gscore.html").read_text("utf-8")
    with open_lake(Settings(home=tmp_path / "home"), read_only=True) as lake:
        accuracy = lake.query("select model, avg(accuracy) from gscores group by model order by model").rows()
    assert accuracy[0] == ("sim-good", 1.0)
    assert accuracy[1][1] < 0.5

    seen = b"".join(
        path.read_bytes() for path in (tmp_path / "home" / "prefect").rglob("*") if path.is_file()
    )
    assert b"answer_cgeval" in seen, "Prefect's database was not found where it was looked for"
    for text in [*references["reference"].str.slice(0, 12), *questions["stem"]]:
        if len(text) >= 6:
            assert text.encode() not in seen
            assert json.dumps(text)[1:-1].encode() not in seen
