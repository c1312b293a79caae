"""What we write for Label Studio, checked with its own kit.

The kit is `label_interface` of label-studio-sdk.

The kit has an environment of its own (`make test-long` makes it): `.venv-exchange`, or PROCTOR_TEST_EXCHANGE_PYTHON.
"""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from schemas.settings import Settings
from tasks.review.assigning import Annotator, assign_batch
from tasks.review.channels.label_studio.reading import read_label_studio
from tasks.review.channels.label_studio.writing import export_label_studio
from tasks.review.recording import Submission, record
from tests.tasks.review.channels.label_studio.filling import annotate, read_tasks, save
from tests.tasks.review.conftest import NOW, give, make_frame, make_question, make_submission
from warehouse.ledger.engine.ledger import Ledger

ROOT = Path(__file__).resolve().parents[5]
PYTHON = Path(os.environ.get("PROCTOR_TEST_EXCHANGE_PYTHON", ROOT / ".venv-exchange/bin/python"))
CODE = """
import json, sys
from label_studio_sdk.label_interface import LabelInterface
config, tasks, *exports = sys.argv[1:]
interface = LabelInterface(open(config, encoding="utf-8").read())
interface.validate()
read = lambda path: json.load(open(path, encoding="utf-8"))
# Its check of a task calls that of annotations without any: they are held to it one by one.
found = {
    "controls": sorted(one.name for one in interface.controls),
    "tasks": [interface.validate_task({"data": task["data"]}) for task in read(tasks)],
    "annotations": [
        interface.validate_annotation(one) for path in (tasks, *exports) for task in read(path)
        for one in task.get("annotations", [])
    ],
    "made": interface.generate_sample_annotation(),
}
found["wrong"] = interface.validate_annotation(
    {"result": [{"from_name": "decision", "to_name": "card", "type": "choices", "value": {"choices": ["perhaps"]}}]}
)
print(json.dumps(found))
"""

pytestmark = pytest.mark.long


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_kit_of_label_studio_finds_nothing_wrong(
    language: Any, ledger: Ledger, settings: Settings, tmp_path: Path
) -> None:
    if not PYTHON.exists():
        pytest.skip(f"{PYTHON} is not there: `make test-long` installs label-studio-sdk.")
    rows = [make_question(number) for number in range(1, 4)]
    assign_batch(ledger, "b1", make_frame(rows), [Annotator("chen"), Annotator("dai")], settings, NOW)
    decided = [
        give(rows[0]["question_uuid"], "accept"),
        give(rows[1]["question_uuid"], "edit", answer=["A"], stem="Other ( )."),
    ]
    record(ledger, [make_submission("chen", *decided)], NOW)
    export_label_studio(ledger, tmp_path, language=language)
    tasks = tmp_path / "label-studio-b1-chen.json"
    fields = {
        "decision": "退回" if language == "zh" else "Reject",
        "reject_reason": "unclear",
        "comment": "x",
    }
    fields["reject_reason"] = "表述不清" if language == "zh" else "Unclear"
    export = save(tmp_path / "export.json", annotate(read_tasks(tasks), {3: fields}))
    found = _ask(tmp_path / f"label-studio-config-{language}.xml", tasks, export)
    assert found["tasks"] == [True] * 3
    assert found["annotations"] == [True] * 5
    assert found["wrong"] is False
    assert {"decision", "reject_reason", "comment", "new_answer", "new_stem"} <= set(found["controls"])
    # What the kit itself makes of the configuration is read as what a person chose.
    made = [task | {"id": 1, "annotations": [found["made"]]} for task in read_tasks(tasks)[2:]]
    (result,) = read_label_studio(ledger, [save(tmp_path / "made.json", made)])[:1]
    assert isinstance(result, Submission), result
    chosen = next(one for one in found["made"]["result"] if one["from_name"] == "decision")
    assert chosen["value"]["choices"]


def _ask(config: Path, *files: Path) -> dict[str, Any]:
    done = subprocess.run(
        [str(PYTHON), "-c", CODE, str(config), *map(str, files)], capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr[-3_000:]
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found
