"""The flow gscore through Prefect: answer, score, publish.

What passes through Prefect is ids and counts.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from schemas.settings import Settings
from tests.e2e.conftest import Demo
from tests.tasks.gscore.world import write_question_file, write_reference_file, write_registry
from tests.tasks.models.simulation import start_server
from warehouse.lake import open_lake

pytestmark = [pytest.mark.prefect, pytest.mark.long]


def test_one_command_answers_scores_and_publishes_and_prefect_sees_no_text(
    demo: Demo, tmp_path: Path
) -> None:
    questions = write_question_file(tmp_path / "questions.csv", per_subject=1)
    references = write_reference_file(tmp_path / "references.csv", questions)
    write_registry(tmp_path / "models.yaml", "sim-good", "sim-poor")
    abilities: dict[str, Any] = {
        "sim-good": {"accuracy": {"default": 1.0}},
        "sim-poor": {"accuracy": {"default": 0.1}},
    }
    with start_server(**abilities) as server:
        # The home shares the demo's Prefect server, whose files are searched below.
        home = demo.home.copy(
            tmp_path / "home",
            PROCTOR_REGISTRY=str(tmp_path / "models.yaml"),
            PROCTOR_SIMULATED_URL=server.url,
        )
        home.read_json("cgeval", "import", str(tmp_path / "questions.csv"))
        command = ("run", "--models", "sim-good,sim-poor", "--references", str(tmp_path / "references.csv"))
        result = home.read_json("cgeval", *command, "--embedding", "none")
        sent = server.state.requests.total()
    count = questions.height
    assert sent == 2 * count
    assert [(one["model"], one["answered"]) for one in result["answered"]] == [
        ("sim-good", count),
        ("sim-poor", count),
    ]
    assert "sim-good" in Path(result["report"]).with_name("gscore.html").read_text("utf-8")
    with open_lake(Settings(home=home.path), read_only=True) as lake:
        accuracy = lake.query("select model, avg(accuracy) from gscores group by model order by model").rows()
    assert accuracy[0] == ("sim-good", 1.0)
    assert accuracy[1][1] < 0.5

    seen = b"".join(path.read_bytes() for path in (demo.home.path / "prefect").rglob("*") if path.is_file())
    assert b"answer_cgeval" in seen, "Prefect's database was not found where it was looked for"
    for text in [*references["reference"].str.slice(0, 12), *questions["stem"]]:
        if len(text) >= 6:
            assert text.encode() not in seen
            assert json.dumps(text)[1:-1].encode() not in seen
