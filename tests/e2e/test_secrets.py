"""Nothing secret passes through Prefect, or into logs, outputs and exceptions.

Markers are planted and searched for.
"""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from tests.e2e.conftest import BIN, Demo

pytestmark = pytest.mark.prefect

STEM, ANSWER, KEY = "标记题干QZXWSTEM", "QZXWANSWER标记", "sk-QZXWKEY-0123456789"

FAULT = """
import os
from deployments.flow_runs.flow_runner import prepare_prefect
prepare_prefect()
from prefect import flow, task
from tasks.running.faults import hide_content

@task
@hide_content
def break_with_content(): raise KeyError(os.environ["MARKER"])

@flow(name="broken")
def broken(): break_with_content()

try:
    broken()
except Exception as error:
    print(type(error).__name__, error)
"""


def find_markers(folder: Path, *texts: str) -> list[str]:
    """Files below `folder`, and texts, that hold a marker in any of the usual encodings."""
    forms = [
        form for marker in (STEM, ANSWER, KEY) for form in (marker.encode(), marker.encode("unicode_escape"))
    ]
    forms += [b"QZXWSTEM", b"QZXWANSWER", b"QZXWKEY"]
    found = []
    for path in sorted(folder.rglob("*")):
        if path.is_file() and any(form in path.read_bytes() for form in forms):
            found.append(str(path))
    return found + [text[:80] for text in texts if any(form in text.encode() for form in forms)]


def test_markers_in_questions_answers_and_keys_never_reach_prefect_logs_or_output(
    demo: Demo, tmp_path: Path, warm_python: str
) -> None:
    home = demo.home.copy(tmp_path / "home", PROCTOR_TEST_MODEL_KEY=KEY)
    paper = tmp_path / "history-final.txt"
    paper.write_text(f"一、简答题\n1. {STEM}是什么？\n答案：{ANSWER}\n", encoding="utf-8")
    registry = (home.path / "models.yaml").read_text(encoding="utf-8")
    assert "providers:" in registry
    registry = (
        registry.replace(
            "providers:",
            "providers:\n  outside:\n    base_url: http://127.0.0.1:9/v1\n    key_variable: PROCTOR_TEST_MODEL_KEY",
            1,
        )
        .replace(
            "organisations:",
            "organisations:\n  Outside: {}",
            1,
        )
        .replace(
            "models:",
            "models:\n  outside-model:\n    provider: outside\n    organisation: Outside\n    is_open: false\n    roles: [generator]",
            1,
        )
    )
    (home.path / "models.yaml").write_text(registry, encoding="utf-8")

    outputs = [
        home.run("ingest", str(paper), "--json"),
        home.run("models"),
        home.run("status"),
        home.run("doctor", "--json"),
    ]
    # Beside that every check of the lake passes after the demo, and nothing else is wrong.
    findings = json.loads(outputs[-1].stdout)["findings"]
    assert len([one for one in findings if one["what"].startswith("check ")]) >= 8
    assert [one for one in findings if not one["is_fine"]] == []
    assert '"question_count": 1' in outputs[0].stdout
    landed = home.run("sql", f"select count(*) as n from questions where stem like '%{STEM}%'", "--json")
    assert '"n": 1' in landed.stdout, "the marker was not landed: the test would prove nothing"
    broken = subprocess.run(
        [warm_python, "-c", FAULT],
        env=home.environment() | {"MARKER": STEM},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert "InternalFault" in broken.stdout

    texts = [text for done in [*outputs, broken] for text in (done.stdout, done.stderr)]
    for server in (demo.home.path, home.path):
        assert find_markers(server / "prefect", *texts) == []
        assert find_markers(server / "logs") == []
    assert find_markers(home.path / "lake") != [] or find_markers(home.path / "archive") != []
    database = demo.home.path / "prefect" / "prefect.db"
    assert database.exists()
    assert b"ingest_documents" in database.read_bytes() + b"".join(
        path.read_bytes() for path in database.parent.glob("prefect.db-wal")
    ), "the flows did not run on this server: the search would prove nothing"


def test_secret_files_belong_to_their_owner_alone(demo: Demo) -> None:
    assert demo.home.path.stat().st_mode & 0o777 == 0o700
    for path in (demo.home.path / "prefect" / "server.json", *(demo.home.path / "secrets").iterdir()):
        assert path.stat().st_mode & 0o077 == 0, path


def test_the_installed_command_is_the_one_that_is_tested() -> None:
    assert os.access(BIN / "proctor", os.X_OK)
