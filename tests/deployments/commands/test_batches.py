"""`judge --batch` and `models batches` as they are typed."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from deployments.model_server import parse_profile, start_model_server
from schemas.settings import Settings
from tests.deployments.test_cli import invoke
from tests.fresh import open_new_lake
from tests.tasks.judging.test_batches import REGISTRY
from tests.tasks.judging.test_unparsed import QUESTIONS, land_session


def run(home: Path, url: str, *words: str, code: int = 0) -> Any:
    variables = {
        "PROCTOR_NO_SERVER": "true",
        "PROCTOR_JUDGES": '["first-judge"]',
        "PROCTOR_SIMULATED_URL": url,
        "PROCTOR_BATCH_POLL_S": "0.1",
    }
    done = invoke(home, *words, "--json", **variables)
    assert done.exit_code == code, f"{words}: {done.stdout}{done.stderr}"
    return json.loads(done.stdout) if done.stdout.strip() else None


@pytest.mark.long
def test_a_run_is_judged_in_batches_by_commands_alone(tmp_path: Path) -> None:
    settings = Settings(home=tmp_path / "home")
    with open_new_lake(settings) as lake:
        settings.registry_path.write_text(REGISTRY, "utf-8")
        land_session(lake)
    profile = parse_profile({"batches": {"seconds": 3600}, "models": {"first-judge": {"kind": "judge"}}})
    with start_model_server(profile, b"") as server:
        desk = server.state.batches

        def say(*words: str, code: int = 0) -> Any:
            return run(settings.home, server.url, *words, code=code)

        assert say("models", "batches") == []
        submitted = say("judge", "--run", "run-1", "--batch")
        assert (submitted["pending_calls"], submitted["judged_responses"]) == (QUESTIONS, 0)
        (batch,) = say("models", "batches", "--collect")
        assert (batch["state"], batch["provider_status"], batch["call_count"]) == (
            "created",
            "in_progress",
            QUESTIONS,
        )
        say("models", "batches", "--cancel", batch["batch_id"])
        # Nobody asks: the daily sweep does.
        swept = say("runs", "start", "sweep")
        assert (swept["open_batches"], swept["batch_problems"]) == (0, 0)
        assert swept["collected_calls"]["done"] == QUESTIONS // 2
        (batch,) = say("models", "batches")
        assert (batch["state"], batch["done_count"], batch["failed_count"]) == (
            "ended",
            QUESTIONS // 2,
            QUESTIONS // 2,
        )
        say("models", "batches", "--cancel", batch["batch_id"], code=1)
        desk.traits = replace(desk.traits, seconds=0)
        judged = say("judge", "--run", "run-1", "--batch", "--wait")
        assert (judged["pending_calls"], judged["judged_responses"]) == (0, QUESTIONS)
        assert (desk.created, server.state.requests["first-judge"]) == (2, 0)


@pytest.mark.parametrize(
    ("batch", "fault"),
    [
        ("batch: yes", "expected fields"),
        ("batch: {price_share: 2}", "above 1"),
        ("batch: {most_requests: 1.5}", "not a whole number"),
        ("batch: {size: 3}", "unknown field"),
    ],
)
def test_a_mistake_in_the_terms_of_batches_is_named(tmp_path: Path, batch: str, fault: str) -> None:
    home = tmp_path / "home"
    home.mkdir()
    (home / "models.yaml").write_text(REGISTRY.replace("batch: {}", batch), "utf-8")
    done = invoke(home, "models")
    assert done.exit_code == 2
    assert fault in done.stderr
    assert "next-judge" in done.stderr
