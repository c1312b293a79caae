"""`proctor exam sit --url` without a home, with an endpoint or a program."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from fastapi.testclient import TestClient
from typer.testing import CliRunner

from deployments.cli import app
from deployments.exam_api.app import create_app
from tests.deployments.exam_api.test_app import ask_token, bearer
from tests.tasks.exam.doors import serve_app
from tests.tasks.exam.kit import read_questions
from tests.tasks.exam.world import World
from tests.tasks.models.simulation import start_server

PASSWORD = "a password of alpha"


@pytest.fixture
def url(world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A server at which alpha has a password; this process is in an empty folder."""
    monkeypatch.chdir(tmp_path)
    for name in ("PROCTOR_HOME", "PROCTOR_EXAM_TOKEN", "PROCTOR_EXAM_PASSWORD"):
        monkeypatch.delenv(name, raising=False)
    application = create_app(world.settings, ledger=world.ledger)
    with TestClient(application) as client:
        admin = bearer(ask_token(client, "ada"))
        assert client.patch("/users/candidate:alpha", json={"password": PASSWORD}, headers=admin).is_success
    with serve_app(create_app(world.settings, ledger=world.ledger)) as address:
        yield address


def test_a_model_at_an_endpoint_sits_the_first_open_session_of_its_user(
    url: str, world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    session_id = world.sessions()[0]["session_id"]
    monkeypatch.setenv("PROCTOR_EXAM_PASSWORD", PASSWORD)
    with start_server() as server:
        words = ["exam", "sit", "--url", url, "--user", "candidate:alpha", "--json"]
        words += ["--endpoint", server.url, "--model", "sim", "--parameters", '{"max_tokens": 64}']
        done = CliRunner().invoke(app, words)
        assert done.exit_code == 0, done.output
        report = json.loads(done.stdout)
        assert (report["session_id"], report["answered_count"], report["is_finished"]) == (
            session_id,
            6,
            True,
        )
        again = CliRunner().invoke(app, [*words, "--session", session_id])
        assert json.loads(again.stdout)["sent_count"] == 0
        # From another folder nothing is known of it, and no count is made up.
        words.remove("--json")
        elsewhere = CliRunner().invoke(app, [*words, "--session", session_id, "--state", "elsewhere"])
        assert elsewhere.stdout == "The session is closed: nothing more is taken.\n"
    assert sorted(world.answers(session_id)) == list(range(1, 7))
    assert all(world.answers(session_id).values())
    folder = tmp_path / "proctor-exam" / session_id
    kept = [json.loads(line) for line in (folder / "answers.jsonl").read_text().splitlines()]
    assert {row["prompt_version"].split("/")[1] for row in kept} == {"zero_shot"}
    assert all(row["output_tokens"] > 0 for row in kept)
    assert PASSWORD not in "".join(path.read_text() for path in folder.iterdir())
    assert not (tmp_path / ".proctor").exists()


def test_a_program_practises_and_sees_what_was_right(
    url: str, world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.now = time.time() + 2  # the new password ended the tokens of before
    token = world.token("any", permissions=("sit", "list_own_sessions"))
    (tmp_path / "token").write_text(token)
    program = f"{sys.executable} -c \"print('true')\""
    words = ["exam", "sit", "--url", url, "--session", "practice", "--token-file", "token"]
    done = CliRunner().invoke(app, [*words, "--command", program])
    assert done.exit_code == 0, done.output
    count = len(read_questions())
    assert f"practice: {count} of {count} answered" in done.stdout
    assert f"question 1 of {count}: right" in done.output
    assert f"question 2 of {count}: wrong" in done.output
    assert f"question {count} of {count}: not marked" in done.output
    assert token not in done.output


@pytest.mark.parametrize(
    ("words", "advice"),
    [
        (["exam", "sit", "2026-11", "--url", "http://127.0.0.1:9"], "Name a run"),
        (["exam", "sit", "--url", "http://127.0.0.1:9"], "Say who answers"),
        (["exam", "sit", "--url", "http://127.0.0.1:9", "--command", "cat"], "There is no token"),
        *(
            (["exam", "sit", "--url", url, "--command", "cat", "--token-file", "token"], "is https://")
            for url in (
                "exam.example",
                "https://ada:secret@exam.example",
                "http://exam example",
                "http://h:99999",
            )
        ),
        (["exam", "sit", "--url", "u", "--endpoint", "ftp://x", "--model", "m"], "starts with http"),
        (["exam", "sit", "--url", "u", "--endpoint", "http://x"], "--endpoint needs --model"),
    ],
)
def test_what_is_missing_is_said_before_anybody_is_called(
    words: list[str], advice: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PROCTOR_HOME", str(tmp_path))
    monkeypatch.delenv("PROCTOR_EXAM_TOKEN", raising=False)
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 2, done.output
    assert advice in " ".join(done.output.split())
    assert "secret" not in done.output
